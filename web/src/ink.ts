// ink.ts - what Pens wrote on shapes: tiles of pixels, as src/devices/devices.h has them, laid over the colour of the shape they are on.
import { BufferAttribute, Color, DataTexture, LinearFilter, SRGBColorSpace, type BufferGeometry, type MeshStandardMaterial } from 'three';

const SIDE = 32, HEAD_BYTES = 12, TILE_BYTES = HEAD_BYTES + 4 * SIDE * SIDE;
const LINEAR = Float32Array.from({ length: 256 }, (_, i) => new Color().setRGB(i / 255, 0, 0, SRGBColorSpace).r);

// Which side of its form a corner belongs to: of a box by the axis of its normal, of round forms the side, the top, the bottom.
function faceOf(form: string, normal: ArrayLike<number>, at: number): number {
  const n = [normal[at], normal[at + 1], normal[at + 2]];
  if (form === 'Box') {
    const axis = n.reduce((best, value, i) => (Math.abs(value) > Math.abs(n[best]) ? i : best), 0);
    return 2 * axis + (n[axis] > 0 ? 0 : 1);
  }
  return n[2] > 0.999 ? 1 : n[2] < -0.999 ? 2 : 0;
}

// Where the corners of a form lie on its paint: six faces of a box in two rows of three, of cylinders and cones the ends above the side.
function placeOnPaint(geometry: BufferGeometry, form: string): void {
  const uv = geometry.getAttribute('uv'), normal = geometry.getAttribute('normal');
  if (geometry.hasAttribute('inkUv') || !uv)
    return;
  const places = new Float32Array(2 * uv.count), isBox = form === 'Box', hasEnds = form === 'Cylinder' || form === 'Cone';
  for (let i = 0; i < uv.count; i++) {
    const u = uv.getX(i), v = 1 - uv.getY(i);  // rows of paint are counted from the bottom
    const face = isBox || hasEnds ? faceOf(form, [normal.getX(i), normal.getY(i), normal.getZ(i)], 0) : 0;
    places[2 * i] = isBox ? (face % 3 + u) / 3 : hasEnds && face > 0 ? (face - 1 + u) / 2 : u;
    places[2 * i + 1] = isBox ? (Math.floor(face / 3) + v) / 2 : hasEnds ? (v + (face > 0 ? 1 : 0)) / 2 : v;
  }
  geometry.setAttribute('inkUv', new BufferAttribute(places, 2));
}

export class Inks {
  private readonly paints = new Map<number, DataTexture>();  // by the node of the shape

  has(node: number): boolean {
    return this.paints.has(node);
  }

  // Returns whether a shape got its first ink.
  take(view: DataView): boolean {
    let isNew = false;
    for (let at = 0; at + TILE_BYTES <= view.byteLength; at += TILE_BYTES) {
      const node = view.getUint32(at, true), [width, height, left, bottom] = [4, 6, 8, 10].map((k) => view.getUint16(at + k, true));
      let paint = this.paints.get(node);
      if (!paint || paint.image.width !== width || paint.image.height !== height) {
        paint?.dispose();
        paint = new DataTexture(new Uint8Array(4 * width * height), width, height);
        paint.magFilter = paint.minFilter = LinearFilter;
        this.paints.set(node, paint);
        isNew = true;
      }
      const pixels = paint.image.data as Uint8Array, columns = Math.min(SIDE, width - left);
      for (let y = 0; y < SIDE && bottom + y < height; y++)
        for (let x = 0; x < columns; x++) {  // colours times density: between ink and none there is less of it, not a paler one
          const from = at + HEAD_BYTES + 4 * (SIDE * y + x), to = 4 * ((bottom + y) * width + left + x), density = view.getUint8(from + 3);
          for (let c = 0; c < 3; c++)
            pixels[to + c] = Math.round(LINEAR[view.getUint8(from + c)] * density);
          pixels[to + 3] = density;
        }
      paint.needsUpdate = true;
    }
    return isNew;
  }

  // All shapes are clean.
  forget(): void {
    for (const paint of this.paints.values()) {
      (paint.image.data as Uint8Array).fill(0);
      paint.needsUpdate = true;
    }
  }

  // The material, which is this shape's own, shows its ink.
  dress(material: MeshStandardMaterial, geometry: BufferGeometry, node: number, form: string): void {
    const paint = this.paints.get(node);
    placeOnPaint(geometry, form);
    if (!paint || !geometry.hasAttribute('inkUv'))
      return;
    material.onBeforeCompile = (shader) => {
      shader.uniforms.inkMap = { value: paint };
      shader.vertexShader = `attribute vec2 inkUv;\nvarying vec2 vInkUv;\n${shader.vertexShader.replace('#include <begin_vertex>', '#include <begin_vertex>\n\tvInkUv = inkUv;')}`;
      shader.fragmentShader = `uniform sampler2D inkMap;\nvarying vec2 vInkUv;\n${shader.fragmentShader.replace('#include <map_fragment>',
        '#include <map_fragment>\n\tvec4 ink = texture2D( inkMap, vInkUv );\n\tdiffuseColor.rgb = diffuseColor.rgb * ( 1.0 - ink.a ) + ink.rgb;')}`;
    };
    material.customProgramCacheKey = () => 'ink';
  }
}
