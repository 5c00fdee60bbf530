// plugin.ts - what a physics plugin draws (webots_physics_draw): points, lines and triangles in the world, as src/viewer/drawing.h lays
// them out. They stay until the next ones come.
import { BufferAttribute, BufferGeometry, Color, DoubleSide, Group, Mesh, MeshBasicMaterial, Points, PointsMaterial, SRGBColorSpace, type Material } from 'three';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';

const POINTS = 1, LINES = 2, ON_TOP = 1, HEAD_BYTES = 8, CORNER_BYTES = 16;

export interface Run { kind: number; isOnTop: boolean; width: number; positions: Float32Array; colors: Float32Array; alpha: number }

// Colours of OpenGL are those of the screen; ours are linear.
const LINEAR = Float32Array.from({ length: 256 }, (_, i) => new Color().setRGB(i / 255, 0, 0, SRGBColorSpace).r);

export function readRuns(view: DataView): Run[] {
  const runs: Run[] = [];
  for (let at = 0; at + HEAD_BYTES <= view.byteLength;) {
    const count = Math.min(view.getUint32(at + 4, true), Math.floor((view.byteLength - at - HEAD_BYTES) / CORNER_BYTES));
    const run: Run = { kind: view.getUint8(at), isOnTop: (view.getUint8(at + 1) & ON_TOP) !== 0, width: view.getUint8(at + 2), positions: new Float32Array(3 * count), colors: new Float32Array(3 * count), alpha: 1 };
    at += HEAD_BYTES;
    for (let i = 0; i < count; i++, at += CORNER_BYTES)
      for (let k = 0; k < 3; k++) {
        run.positions[3 * i + k] = view.getFloat32(at + 4 * k, true);
        run.colors[3 * i + k] = LINEAR[view.getUint8(at + 12 + k)];
      }
    if (count > 0)
      run.alpha = view.getUint8(at - 1) / 255;
    runs.push(run);
  }
  return runs;
}

function objectOf(run: Run): Mesh | Points {
  const looks = { vertexColors: true, toneMapped: false, depthTest: !run.isOnTop, transparent: run.isOnTop || run.alpha < 1, opacity: run.alpha };
  if (run.kind === LINES) {
    const corners = new LineSegmentsGeometry();
    corners.setPositions(run.positions);
    corners.setColors(run.colors);
    return new LineSegments2(corners, new LineMaterial({ ...looks, linewidth: run.width }));
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(run.positions, 3));
  geometry.setAttribute('color', new BufferAttribute(run.colors, 3));
  return run.kind === POINTS ? new Points(geometry, new PointsMaterial({ ...looks, size: run.width, sizeAttenuation: false }))
                             : new Mesh(geometry, new MeshBasicMaterial({ ...looks, side: DoubleSide }));
}

export class PluginDrawing {
  readonly group = new Group();

  show(runs: Run[]): void {
    for (const child of [...this.group.children] as (Mesh | Points)[]) {
      child.geometry.dispose();
      (child.material as Material).dispose();
      this.group.remove(child);
    }
    for (const run of runs.filter((one) => one.positions.length > 0)) {
      const object = objectOf(run);
      object.frustumCulled = false;
      object.renderOrder = run.isOnTop ? 9 : 0;
      this.group.add(object);
    }
  }
}
