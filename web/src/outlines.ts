// outlines.ts - outlines of bounding objects, instanced: white, pink while colliding, blue while asleep; told apart by dashes too, so
// that nobody needs the colours.
import { BoxGeometry, BufferAttribute, BufferGeometry, EdgesGeometry, Group, InstancedBufferAttribute, InstancedBufferGeometry, LineSegments, Matrix4,
         PlaneGeometry, Quaternion, ShaderMaterial, Vector3, WireframeGeometry } from 'three';
import type { ShapeMeta } from './source';
import type { BoundingPart, World } from './world';

const SHARP_DEG = 15;
export const COLLIDING = 1, ASLEEP = 2;

const VERTEX = `
attribute vec4 column0; attribute vec4 column1; attribute vec4 column2; attribute vec4 column3;
attribute float state; attribute float along;
varying float vState; varying float vAlong;
void main() {
  vState = state;
  mat4 place = mat4(column0, column1, column2, column3);
  vAlong = along;
  gl_Position = projectionMatrix * viewMatrix * place * vec4(position, 1.0);
  gl_Position.z -= 0.0002 * gl_Position.w;
}`;
// Plain line, long dashes while colliding, dots while asleep; the periods are those of the pattern over the shape's lines.
const FRAGMENT = `
varying float vState; varying float vAlong;
void main() {
  float phase = fract(vAlong);
  if (vState > 1.5 && phase > 0.35) discard;
  if (vState > 0.5 && vState < 1.5 && phase > 0.8) discard;
  vec3 color = vState > 1.5 ? vec3(0.35, 0.55, 1.0) : vState > 0.5 ? vec3(1.0, 0.30, 0.65) : vec3(1.0);
  gl_FragColor = vec4(color, 1.0);
}`;

interface Row { solid: number; local: Matrix4 }
interface Batch { lines: LineSegments; geometry: InstancedBufferGeometry; rows: Row[]; matrices: Float32Array; columns: InstancedBufferAttribute[]; states: InstancedBufferAttribute }

const CIRCLE = 24;  // segments

// Arcs as line segments: each from a point (x along `from`, y along `to`) through an angle.
function arcs(list: { center: Vector3; from: Vector3; to: Vector3; angle: number }[], lines: [Vector3, Vector3][] = []): BufferGeometry {
  const points = lines.flat();
  for (const { center, from, to, angle } of list) {
    const at = (t: number): Vector3 => center.clone().addScaledVector(from, Math.cos(t)).addScaledVector(to, Math.sin(t));
    for (let i = 0; i < CIRCLE; i++)
      points.push(at(angle * i / CIRCLE), at(angle * (i + 1) / CIRCLE));
  }
  return new BufferGeometry().setFromPoints(points);
}

function capsuleLines(radius: number, height: number): BufferGeometry {
  const x = new Vector3(radius, 0, 0), y = new Vector3(0, radius, 0), up = new Vector3(0, 0, radius), ends = [1, -1].map((sign) => new Vector3(0, 0, sign * height / 2));
  return arcs(ends.flatMap((center, i) => [{ center, from: x, to: y, angle: 2 * Math.PI }, ...[x, y].map((from) => ({ center, from, to: up.clone().multiplyScalar(i ? -1 : 1), angle: Math.PI }))]),
    [x, y, x.clone().negate(), y.clone().negate()].map((side) => [ends[0].clone().add(side), ends[1].clone().add(side)]));
}

function cylinderLines(): BufferGeometry {
  const x = new Vector3(1, 0, 0), y = new Vector3(0, 1, 0), ends = [0.5, -0.5].map((z) => new Vector3(0, 0, z));
  return arcs(ends.map((center) => ({ center, from: x, to: y, angle: 2 * Math.PI })), [x, y, x.clone().negate(), y.clone().negate()].map((side) => [ends[0].clone().add(side), ends[1].clone().add(side)]));
}

function sphereLines(): BufferGeometry {
  const axes = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];
  return arcs(axes.map((from, i) => ({ center: new Vector3(), from, to: axes[(i + 1) % 3], angle: 2 * Math.PI })));
}

interface UnitShape { edges: BufferGeometry; scale: (size: number[]) => Vector3 }

// Unit shapes along z, to be scaled; a capsule keeps its own proportions.
function unitShape(kind: string, [a, b]: number[]): UnitShape | null {
  switch (kind) {
    case 'box': return { edges: new EdgesGeometry(new BoxGeometry(1, 1, 1)), scale: ([x, y, z]) => new Vector3(x, y, z) };
    case 'sphere': return { edges: sphereLines(), scale: ([r]) => new Vector3(r, r, r) };
    case 'cylinder': return { edges: cylinderLines(), scale: ([r, height]) => new Vector3(r, r, height) };
    case 'capsule': return { edges: capsuleLines(a, b), scale: () => new Vector3(1, 1, 1) };
    case 'plane': return { edges: new EdgesGeometry(new PlaneGeometry(20, 20)), scale: () => new Vector3(1, 1, 1) };
    default: return null;
  }
}

function edgesOf(part: BoundingPart): BufferGeometry {
  if (part.isLines)
    return part.geometry.index ? part.geometry.toNonIndexed() : part.geometry;
  const edges = new EdgesGeometry(part.geometry, SHARP_DEG);
  return edges.getAttribute('position').count >= 24 ? edges : new WireframeGeometry(part.geometry);
}

// How far along its polyline each end of a segment is, in periods: six to the size of the shape.
function dashPhases(position: BufferGeometry['attributes'][string]): Float32Array<ArrayBuffer> {
  const phases = new Float32Array(position.count), a = new Vector3(), b = new Vector3(), last = new Vector3(NaN, NaN, NaN);
  let size = 1e-9, along = 0;
  for (let i = 0; i < position.count; i++)
    size = Math.max(size, a.fromBufferAttribute(position, i).length());
  for (let i = 0; i + 1 < position.count; i += 2) {
    a.fromBufferAttribute(position, i);
    b.fromBufferAttribute(position, i + 1);
    along = a.distanceTo(last) < 1e-6 * size ? along : 0;
    phases[i] = along;
    along += a.distanceTo(b) / size * 4;
    phases[i + 1] = along;
    last.copy(b);
  }
  return phases;
}

export class Outlines {
  readonly group = new Group();
  isOn = false;
  only = -1;  // one solid alone, when not all are shown
  private batches: Batch[] = [];
  private revision = -1;
  private shapes: ShapeMeta[] = [];
  private readonly material = new ShaderMaterial({ vertexShader: VERTEX, fragmentShader: FRAGMENT, toneMapped: false });
  private readonly matrix = new Matrix4();

  constructor(private readonly world: World) {
    this.group.visible = false;
  }

  private build(): void {
    for (const batch of this.batches) {
      this.group.remove(batch.lines);
      batch.geometry.dispose();
    }
    this.batches = [];
    this.revision = this.world.revision;
    const groups = new Map<BufferGeometry, { edges: BufferGeometry; rows: Row[] }>();
    for (const part of this.world.boundings) {
      if (!groups.has(part.geometry))
        groups.set(part.geometry, { edges: edgesOf(part), rows: [] });
      groups.get(part.geometry)!.rows.push({ solid: part.solid, local: part.local });
    }
    this.addShapes();
    if (groups.size === 0 && this.batches.length === 0)
      this.addBoxes(groups);
    for (const { edges, rows } of groups.values())
      this.addBatch(edges, rows);
  }

  setShapes(shapes: ShapeMeta[]): void {
    this.shapes = shapes;
    this.revision = -1;
  }

  private addShapes(): void {
    const groups = new Map<string, { shape: UnitShape | null; rows: Row[] }>();
    for (const [kind, solid, ...numbers] of this.shapes) {
      const key = kind === 'capsule' ? `${kind} ${numbers[0]} ${numbers[1]}` : kind;
      if (!groups.has(key))
        groups.set(key, { shape: unitShape(kind, numbers), rows: [] });
      const { shape, rows } = groups.get(key)!;
      if (!shape)
        continue;
      const [px, py, pz, qx, qy, qz, qw] = numbers.slice(3);
      const local = new Matrix4().compose(new Vector3(px, py, pz), new Quaternion(qx, qy, qz, qw), shape.scale(numbers));
      rows.push({ solid, local });
    }
    for (const { shape, rows } of groups.values())
      if (shape)
        this.addBatch(shape.edges, rows);
  }

  // A scene without bounding objects shows the boxes of what is seen.
  private addBoxes(groups: Map<BufferGeometry, { edges: BufferGeometry; rows: Row[] }>): void {
    const box = new BoxGeometry(1, 1, 1), rows: Row[] = [];
    for (let i = 0; i < this.world.solidCount; i++) {
      const bounds = this.world.localBox(i);
      if (!bounds.isEmpty()) {
        const scale = bounds.getSize(new Vector3());
        rows.push({ solid: i, local: new Matrix4().makeScale(scale.x, scale.y, scale.z).setPosition(bounds.getCenter(new Vector3())) });
      }
    }
    groups.set(box, { edges: new EdgesGeometry(box), rows });
  }

  private addBatch(edges: BufferGeometry, rows: Row[]): void {
    const geometry = new InstancedBufferGeometry();
    const position = edges.getAttribute('position');
    geometry.setAttribute('position', position);
    geometry.setAttribute('along', new BufferAttribute(dashPhases(position), 1));
    const matrices = new Float32Array(16 * rows.length);
    const columns = [0, 1, 2, 3].map(() => new InstancedBufferAttribute(new Float32Array(4 * rows.length), 4));
    columns.forEach((column, i) => geometry.setAttribute(`column${i}`, column));
    const states = new InstancedBufferAttribute(new Float32Array(rows.length), 1);
    geometry.setAttribute('state', states);
    geometry.instanceCount = rows.length;
    const lines = new LineSegments(geometry, this.material);
    lines.frustumCulled = false;
    this.group.add(lines);
    this.batches.push({ lines, geometry, rows, matrices, columns, states });
  }

  // Before a draw: places and states of now.
  update(states: Uint8Array): void {
    this.group.visible = this.isOn || this.only >= 0;
    if (!this.group.visible)
      return;
    if (this.revision !== this.world.revision)
      this.build();
    for (const batch of this.batches) {
      batch.rows.forEach((row, i) => {
        const isShown = (this.isOn || row.solid === this.only) && (row.solid < 0 || this.world.isThere[row.solid]);
        if (row.solid >= 0)
          this.world.pose(row.solid, this.matrix).multiply(row.local);
        else
          this.matrix.copy(row.local);
        const elements = this.matrix.elements;
        for (let column = 0; column < 4; column++)
          for (let k = 0; k < 4; k++)
            batch.columns[column].array[4 * i + k] = isShown ? elements[4 * column + k] : 0;
        const state = row.solid >= 0 ? states[row.solid] ?? 0 : 0;
        batch.states.array[i] = state & COLLIDING ? 1 : state & ASLEEP ? 2 : 0;
      });
      for (const column of batch.columns)
        column.needsUpdate = true;
      batch.states.needsUpdate = true;
    }
  }
}
