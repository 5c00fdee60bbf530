// lines.ts - lines and points of one display frame, each kind in one draw call: pads that are filled anew for every frame.
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, LineBasicMaterial, LineSegments, Points, PointsMaterial, Vector3, type Material } from 'three';

type Numbers = Float32Array<ArrayBuffer>;

// Corners with their colours in buffers that grow.
class Pad<Shape extends LineSegments | Points> {
  private positions: Numbers = new Float32Array(3 * 4096);
  private colors: Numbers = new Float32Array(3 * 4096);
  private count = 0;

  constructor(readonly object: Shape) {
    this.object.frustumCulled = false;
    this.attach();
  }

  private attach(): void {
    this.object.geometry.dispose();
    this.object.geometry = new BufferGeometry();
    for (const [name, array] of [['position', this.positions], ['color', this.colors]] as const)
      this.object.geometry.setAttribute(name, new BufferAttribute(array, 3).setUsage(DynamicDrawUsage));
  }

  begin(): void {
    this.count = 0;
  }

  protected add(point: Vector3, color: number[]): void {
    if (3 * (this.count + 1) > this.positions.length) {
      const grow = (old: Numbers): Numbers => { const made = new Float32Array(2 * old.length); made.set(old); return made; };
      this.positions = grow(this.positions);
      this.colors = grow(this.colors);
      this.attach();
    }
    point.toArray(this.positions, 3 * this.count);
    this.colors.set(color, 3 * this.count++);
  }

  end(): void {
    this.object.geometry.setDrawRange(0, this.count);
    for (const name of ['position', 'color'])
      this.object.geometry.getAttribute(name).needsUpdate = true;
    this.object.visible = this.count > 0;
  }
}

const overAll = <M extends Material>(material: M, isOnTop: boolean): M => Object.assign(material, { depthTest: !isOnTop, transparent: isOnTop, toneMapped: false });

export class LinePad extends Pad<LineSegments> {
  constructor(isOnTop: boolean) {
    super(new LineSegments(new BufferGeometry(), overAll(new LineBasicMaterial({ vertexColors: true }), isOnTop)));
    this.object.renderOrder = isOnTop ? 10 : 0;
  }

  line(a: Vector3, b: Vector3, color: number[]): void {
    this.add(a, color);
    this.add(b, color);
  }
}

export class PointPad extends Pad<Points> {
  constructor() {
    super(new Points(new BufferGeometry(), overAll(new PointsMaterial({ vertexColors: true, size: 3, sizeAttenuation: false }), false)));
  }

  point(at: Vector3, color: number[]): void {
    this.add(at, color);
  }
}
