// world.ts - what is seen of a world: the meshes of a GLB file, drawn instanced, with the pose of every solid. Meshes that differ by
// place, box size or plain colour alone become instances of one draw call, so that a thousand bodies cost a handful of calls.
import { Box3, BufferGeometry, Color, DataTexture, DoubleSide, Group, InstancedMesh, LinearFilter, Matrix4, Mesh, MeshStandardMaterial, Object3D, Quaternion,
         Raycaster, SRGBColorSpace, Vector3,
         type BufferAttribute, type Intersection, type Material, type SkinnedMesh, type Texture } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { readBones, readGlows, readScreens, type Frame, type Screen } from './frame';
import { Inks } from './ink';
import { Lamps } from './lamps';
import { Skins } from './skins';

const GHOST_HUE = 0x3d7bff;
const MAX_HASHED_VERTICES = 3000;  // larger meshes are told apart by identity

interface Instance { batch: Batch; index: number; local: Matrix4 }
interface Glow { light: [number, number, number] | null; materials: MeshStandardMaterial[] }
interface Display { picture: DataTexture | null; materials: MeshStandardMaterial[] }
interface Batch { mesh: InstancedMesh; solids: number[]; isDirty: boolean }
interface Part { geometry: BufferGeometry; material: Material; solid: number; local: Matrix4; glow: number; screen: number; ink: number; form: string }
export interface BoundingPart { geometry: BufferGeometry; solid: number; local: Matrix4; isLines: boolean }
export interface Hit { solid: number; point: Vector3; distance: number; normal: Vector3 | null }

const matrix = new Matrix4(), vector = new Vector3(), one = new Vector3(1, 1, 1), quaternion = new Quaternion();

// Meshes of one shape: equal corners after their boxes are laid over each other, equal normals, texture places and triangles.
interface Shape { geometry: BufferGeometry; center: Vector3; size: Vector3 }

function boxOf(geometry: BufferGeometry): [Vector3, Vector3] {
  geometry.computeBoundingBox();
  const center = geometry.boundingBox!.getCenter(new Vector3()), size = geometry.boundingBox!.getSize(new Vector3());
  return [center, size.set(size.x || 1, size.y || 1, size.z || 1)];
}

function shapeKey(geometry: BufferGeometry, center: Vector3, size: Vector3): string {
  const position = geometry.getAttribute('position');
  if (position.count > MAX_HASHED_VERTICES)
    return geometry.uuid;
  let hash = 2166136261;
  const mix = (value: number): void => { hash = Math.imul(hash ^ Math.round(value), 16777619); };
  for (let i = 0; i < position.count; i++) {
    mix((position.getX(i) - center.x) / size.x * 16384);
    mix((position.getY(i) - center.y) / size.y * 16384);
    mix((position.getZ(i) - center.z) / size.z * 16384);
  }
  // Normals as they are on the shape of unit size: stretched forms of one kind agree, as those of instances do that are stretched.
  const normal = geometry.getAttribute('normal') as BufferAttribute | undefined;
  for (let i = 0; normal && i < normal.count; i++) {
    vector.fromBufferAttribute(normal, i).multiply(size).normalize();
    mix(vector.x * 1024);
    mix(vector.y * 1024);
    mix(vector.z * 1024);
  }
  const uv = geometry.getAttribute('uv') as BufferAttribute | undefined;
  for (let i = 0; uv && i < uv.count * uv.itemSize; i++)
    mix((uv.array as Float32Array)[i] * 1024);
  const index = geometry.getIndex();
  for (let i = 0; index && i < index.count; i++)
    mix(index.getX(i));
  return `${position.count} ${index?.count ?? 0} ${geometry.hasAttribute('uv')} ${hash}`;
}

// Materials that differ by colour alone share a key; the colour goes to the instance.
function materialKey(material: Material): string {
  if (!(material instanceof MeshStandardMaterial))
    return material.uuid;
  const maps = [material.map, material.normalMap, material.roughnessMap, material.metalnessMap, material.emissiveMap, material.aoMap];
  return [material.type, material.metalness, material.roughness, material.emissive.getHex(), material.emissiveIntensity, material.opacity,
          material.transparent, material.side, material.alphaTest, material.vertexColors, ...maps.map((map) => map?.uuid ?? '')].join(' ');
}

function ghostly(material: Material): MeshStandardMaterial {
  const opacity = 0.4 * material.opacity;
  return new MeshStandardMaterial({ color: GHOST_HUE, emissive: GHOST_HUE, emissiveIntensity: 0.25, roughness: 1, metalness: 0, opacity, transparent: true, depthWrite: false,
    polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 4 });
}

// Meshes that bones bend stand beside the world: only their joints place them.
function skinnedBeside(scene: Object3D, top: Object3D): SkinnedMesh[] {
  const found: SkinnedMesh[] = [];
  for (const object of scene.children)
    if (object !== top)
      object.traverse((one) => { if ((one as SkinnedMesh).isSkinnedMesh) found.push(one as SkinnedMesh); });
  return found;
}

export class World {
  readonly root = new Group();
  revision = -1;
  solidCount = 0;
  positions = new Float32Array(0);   // 3 a solid
  rotations = new Float32Array(0);   // 4 a solid
  isThere = new Uint8Array(0);
  names: string[] = [];
  boundings: BoundingPart[] = [];
  isYUp = false;
  isGhost = false;  // drawn through: a hue instead of colours, no shadow, and nothing where the same stands in front
  metalness = 1;  // part of it that is shown; less where no sky is mirrored, since bare metal would be black
  readonly skins = new Skins(this.root);
  readonly lamps = new Lamps(this.root);
  onRemade: () => void = () => undefined;  // meshes are other objects now
  private readonly inks = new Inks();
  private parts: Part[] = [];  // of what is drawn instanced
  private batches: Batch[] = [];
  private instances: Instance[][] = [];  // by solid
  private blended: { frame: Frame; from: Float32Array } | null = null;
  private localBoxes: Box3[] = [];       // of what is seen of a solid, in its frame
  private glows = new Map<number, Glow>();  // what LEDs light up, by the node that says how it glows
  private displays = new Map<number, Display>();  // by their nodes
  private glowRevision = -1;                // of the scene whose lights were told

  private reserve(count: number): void {
    if (count <= this.solidCount)
      return;
    const grow = <T extends Float32Array | Uint8Array>(old: T, made: T): T => { made.set(old); return made; };
    this.positions = grow(this.positions, new Float32Array(3 * count));
    const first = this.solidCount;
    this.rotations = grow(this.rotations, new Float32Array(4 * count));
    this.isThere = grow(this.isThere, new Uint8Array(count));
    for (let i = first; i < count; i++) {
      this.rotations[4 * i + 3] = 1;
      this.isThere[i] = 1;
      this.instances[i] = [];
      this.localBoxes[i] = new Box3();
    }
    this.solidCount = count;
  }

  async load(revision: number, glb: ArrayBuffer): Promise<void> {
    const gltf = await new GLTFLoader().parseAsync(glb, '');
    const top = gltf.scene.getObjectByName('talus') ?? gltf.scene;
    this.isYUp = Math.abs(top.quaternion.x) < 0.5;
    top.quaternion.identity();
    gltf.scene.updateMatrixWorld(true);
    this.clear();
    let highest = -1;
    top.traverse((object) => { highest = Math.max(highest, (object.userData.solid as number | undefined) ?? -1); });
    const firstNew = this.solidCount;  // from here on their poses come from the file
    this.reserve(highest + 1);
    this.parts = [];
    this.collect(top, -1, new Matrix4(), this.parts, firstNew);
    for (const mesh of skinnedBeside(gltf.scene, top))
      this.addSkin(mesh);
    this.revision = revision;
    this.fill();
  }

  private fill(): void {
    this.makeBatches(this.parts);
    this.showGlows();
    this.showDisplays();
    for (let i = 0; i < this.solidCount; i++)
      this.place(i);
    this.upload();
  }

  private clearBatches(): void {
    for (const batch of this.batches) {
      this.root.remove(batch.mesh);
      batch.mesh.dispose();
    }
    this.batches = [];
    for (const glow of this.glows.values())
      glow.materials = [];
    for (const display of this.displays.values())
      display.materials = [];
    this.instances = this.instances.map(() => []);
  }

  private clear(): void {
    this.clearBatches();
    this.skins.clear();
    this.boundings = [];
    this.localBoxes = this.localBoxes.map(() => new Box3());
  }

  // A shape that is written on for the first time is drawn by itself from then on.
  takeInk(tiles: DataView): void {
    if (tiles.byteLength === 0)
      this.inks.forget();
    else if (this.inks.take(tiles) && this.parts.some((part) => this.inks.has(part.ink))) {
      this.clearBatches();
      this.fill();
      this.onRemade();
    }
  }

  // Walks down to meshes; `local` is from the solid's frame (or the world's).
  private collect(object: Object3D, solid: number, local: Matrix4, parts: Part[], firstNew: number): void {
    const own = object.userData.solid as number | undefined;
    if (own !== undefined && own >= 0) {
      solid = own;
      this.names[own] = String(object.userData.name ?? object.name);
      if (own >= firstNew)
        this.setPose(own, object.position.toArray(), 0, object.quaternion.toArray(), 0);
      local = new Matrix4();
    } else {
      local = local.clone().multiply(object.matrix);
    }
    const mesh = object as Mesh;
    if (object.userData.bounding || object.parent?.userData.bounding) {
      if (mesh.geometry)
        this.boundings.push({ geometry: mesh.geometry, solid, local, isLines: !mesh.isMesh });
    } else if (mesh.isMesh) {
      const told = (name: string): number => Number(object.userData[name] ?? object.parent?.userData[name] ?? 0);
      parts.push({ geometry: mesh.geometry, material: mesh.material as Material, solid, local, glow: told('glow'), screen: told('screen'), ink: told('ink'),
        form: String(object.userData.form ?? object.parent?.userData.form ?? '') });
    }
    for (const child of object.children)
      this.collect(child, solid, local, parts, firstNew);
  }

  // What bones bend is no instance of anything.
  private addSkin(mesh: SkinnedMesh): void {
    const material = this.isGhost ? ghostly(mesh.material as Material) : (mesh.material as MeshStandardMaterial).clone(), carrier = Number(mesh.userData.carrier ?? mesh.parent?.userData.carrier ?? -1);
    material.metalness *= this.metalness;
    const local = this.skins.add(mesh, material);
    mesh.geometry.computeBoundingBox();
    if (carrier >= 0 && carrier < this.localBoxes.length)
      this.localBoxes[carrier].union(mesh.geometry.boundingBox!.clone().applyMatrix4(local));
  }

  private makeBatches(parts: Part[]): void {
    const shapes = new Map<string, Shape>(), shapeOf = new Map<BufferGeometry, { key: string; fit: Matrix4 }>();
    const groups = new Map<string, { shape: Shape; material: Material; parts: { part: Part; fit: Matrix4 }[] }>();
    for (const part of parts) {
      let known = shapeOf.get(part.geometry);
      if (!known) {
        const [center, size] = boxOf(part.geometry);
        const key = shapeKey(part.geometry, center, size);
        if (!shapes.has(key))
          shapes.set(key, { geometry: part.geometry, center, size });
        const shape = shapes.get(key)!, ratio = size.clone().divide(shape.size);
        const fit = new Matrix4().compose(center.clone().sub(shape.center.clone().multiply(ratio)), new Quaternion(), ratio);
        shapeOf.set(part.geometry, known = { key, fit });
      }
      const key = this.isGhost ? known.key : `${known.key} ${part.glow} ${part.screen} ${this.inks.has(part.ink) ? part.ink : 0} ${materialKey(part.material)}`;
      if (!groups.has(key))
        groups.set(key, { shape: shapes.get(known.key)!, material: this.ownMaterial(part, shapes.get(known.key)!.geometry), parts: [] });
      groups.get(key)!.parts.push({ part, fit: known.fit });
    }
    for (const group of groups.values())
      this.makeBatch(group.shape, group.material, group.parts);
  }

  // What is drawn in one call has a material of its own: LEDs light it up, displays show themselves on it, Pens write on it.
  private ownMaterial(part: Part, geometry: BufferGeometry): Material {
    const material = this.isGhost ? ghostly(part.material) : part.material.clone();
    if (!(material instanceof MeshStandardMaterial) || this.isGhost)
      return material;
    if (this.inks.has(part.ink))
      this.inks.dress(material, geometry, part.ink, part.form);
    if (part.glow !== 0)
      this.glowOf(part.glow).materials.push(material);
    if (part.screen !== 0)
      this.displayOf(part.screen).materials.push(material);
    return material;
  }

  private glowOf(node: number): Glow {
    if (!this.glows.has(node))
      this.glows.set(node, { light: null, materials: [] });
    return this.glows.get(node)!;
  }

  private displayOf(node: number): Display {
    if (!this.displays.has(node))
      this.displays.set(node, { picture: null, materials: [] });
    return this.displays.get(node)!;
  }

  // Without a picture the image of the file is there again.
  private showDisplays(): void {
    for (const { picture, materials } of this.displays.values())
      for (const material of materials) {
        material.userData.map ??= { own: material.map };
        const map = picture ?? (material.userData.map as { own: Texture | null }).own;
        if (material.map === map)
          continue;
        material.map = map;
        material.needsUpdate = true;
      }
  }

  private takeScreen({ node, width, height, rgb }: Screen): void {
    const display = this.displayOf(node);
    if (display.picture && (display.picture.image.width !== width || display.picture.image.height !== height)) {
      display.picture.dispose();
      display.picture = null;
    }
    if (width === 0 || height === 0)
      return;
    if (!display.picture) {
      display.picture = new DataTexture(new Uint8Array(4 * width * height).fill(255), width, height);
      display.picture.colorSpace = SRGBColorSpace;
      display.picture.magFilter = LinearFilter;
    }
    const pixels = display.picture.image.data as Uint8Array;
    for (let i = 0, k = 0; i < rgb.length; i += 3, k += 4) {
      pixels[k] = rgb[i];
      pixels[k + 1] = rgb[i + 1];
      pixels[k + 2] = rgb[i + 2];
    }
    display.picture.needsUpdate = true;
  }

  private showGlows(): void {
    for (const { light, materials } of this.glows.values())
      for (const material of light ? materials : [])
        material.emissive.setRGB(...light!);
  }

  // The lights of a new scene are all told anew.
  private takeGlows(revision: number, section: DataView): void {
    if (revision !== this.glowRevision)
      for (const glow of this.glows.values())
        glow.light = null;
    this.glowRevision = revision;
    for (const [node, light] of readGlows(section)) {
      this.glowOf(node).light = light;
      this.lamps.set(node, light);
    }
    this.showGlows();
  }

  private makeBatch(shape: Shape, material: Material, parts: { part: Part; fit: Matrix4 }[]): void {
    const mesh = new InstancedMesh(shape.geometry, material, parts.length);
    if (material instanceof MeshStandardMaterial)
      material.metalness *= this.metalness;
    mesh.frustumCulled = false;
    mesh.matrixAutoUpdate = false;
    mesh.castShadow = material.opacity > 0.5;
    mesh.receiveShadow = !this.isGhost;
    const batch: Batch = { mesh, solids: parts.map(({ part }) => part.solid), isDirty: true };
    const [, size] = boxOf(shape.geometry);
    if (material instanceof MeshStandardMaterial && (size.x === 1 || size.y === 1 || size.z === 1) && shape.geometry.getAttribute('position').count <= 4)
      material.side = DoubleSide;
    const isColored = material instanceof MeshStandardMaterial && !this.isGhost &&
      parts.some(({ part }) => !(part.material as MeshStandardMaterial).color.equals(material.color));
    parts.forEach(({ part, fit }, index) => {
      const local = part.local.clone().multiply(fit);
      if (isColored)
        mesh.setColorAt(index, (part.material as MeshStandardMaterial).color);
      if (part.solid >= 0) {
        this.instances[part.solid].push({ batch, index, local });
        this.localBoxes[part.solid].union(shape.geometry.boundingBox!.clone().applyMatrix4(local));
      }
      mesh.setMatrixAt(index, local);
    });
    if (isColored)
      (material as MeshStandardMaterial).color = new Color(1, 1, 1);
    this.batches.push(batch);
    this.root.add(mesh);
  }

  setPose(solid: number, position: ArrayLike<number>, p: number, rotation: ArrayLike<number>, q: number): void {
    this.reserve(solid + 1);
    for (let k = 0; k < 3; k++)
      this.positions[3 * solid + k] = position[p + k];
    for (let k = 0; k < 4; k++)
      this.rotations[4 * solid + k] = rotation[q + k];
  }

  // Takes the poses of a frame; a key frame names every solid that is there.
  apply(frame: Frame): void {
    this.blended = null;
    const glows = frame.sections.get('GLOW');
    if (glows)
      this.takeGlows(frame.revision, glows);
    const bones = frame.sections.get('BONE');
    if (bones)
      this.skins.take(readBones(bones));
    const ink = frame.sections.get('INKS');
    if (ink)
      this.takeInk(ink);
    const screens = frame.sections.get('SCRN');
    if (screens) {
      readScreens(screens).forEach((screen) => this.takeScreen(screen));
      this.showDisplays();
    }
    this.reserve(frame.ids.reduce((highest, id) => Math.max(highest, id + 1), 0));  // at once: growing by one is slow
    if (frame.isKey) {
      const was = this.isThere.slice();
      this.isThere.fill(0);
      for (let i = 0; i < frame.count; i++)
        if (frame.ids[i] < this.isThere.length)
          this.isThere[frame.ids[i]] = 1;
      for (let i = 0; i < was.length; i++)
        if (was[i] && !this.isThere[i])
          this.place(i);
    }
    for (let i = 0; i < frame.count; i++) {
      const solid = frame.ids[i];
      this.setPose(solid, frame.poses, 7 * i, frame.poses, 7 * i + 3);
      this.isThere[solid] = 1;
      this.place(solid);
    }
    this.upload();
  }

  // Places what the next frame moves at that part of its way there.
  blend(next: Frame, part: number): void {
    if (this.blended?.frame !== next) {
      const from = new Float32Array(7 * next.count);
      for (let i = 0; i < next.count; i++) {
        from.set(this.positions.subarray(3 * next.ids[i], 3 * next.ids[i] + 3), 7 * i);
        from.set(this.rotations.subarray(4 * next.ids[i], 4 * next.ids[i] + 4), 7 * i + 3);
      }
      this.blended = { frame: next, from };
    }
    const { from } = this.blended, position = [0, 0, 0], rotation = [0, 0, 0, 1];
    for (let i = 0; i < next.count; i++) {
      for (let k = 0; k < 3; k++)
        position[k] = from[7 * i + k] + part * (next.poses[7 * i + k] - from[7 * i + k]);
      Quaternion.slerpFlat(rotation, 0, from as unknown as number[], 7 * i + 3, next.poses as unknown as number[], 7 * i + 3, part);
      this.setPose(next.ids[i], position, 0, rotation, 0);
      this.place(next.ids[i]);
    }
    this.upload();
  }

  // Writes the matrices of a solid's instances from its pose.
  place(solid: number): void {
    const p = this.positions, r = this.rotations;
    const x = r[4 * solid], y = r[4 * solid + 1], z = r[4 * solid + 2], w = r[4 * solid + 3];
    const there = this.isThere[solid];
    const a = there * (1 - 2 * (y * y + z * z)), b = there * 2 * (x * y - z * w), c = there * 2 * (x * z + y * w);
    const d = there * 2 * (x * y + z * w), e = there * (1 - 2 * (x * x + z * z)), f = there * 2 * (y * z - x * w);
    const g = there * 2 * (x * z - y * w), h = there * 2 * (y * z + x * w), i = there * (1 - 2 * (x * x + y * y));
    const tx = p[3 * solid], ty = p[3 * solid + 1], tz = p[3 * solid + 2];
    for (const instance of this.instances[solid]) {
      const l = instance.local.elements, out = instance.batch.mesh.instanceMatrix.array as Float32Array;
      const to = 16 * instance.index;
      for (let column = 0; column < 16; column += 4) {
        const u = l[column], v = l[column + 1], s = l[column + 2], isPoint = column === 12 ? 1 : 0;
        out[to + column] = a * u + b * v + c * s + isPoint * tx;
        out[to + column + 1] = d * u + e * v + f * s + isPoint * ty;
        out[to + column + 2] = g * u + h * v + i * s + isPoint * tz;
        out[to + column + 3] = isPoint;
      }
      instance.batch.isDirty = true;
    }
  }

  upload(): void {
    if (this.skins.count > 0)
      this.skins.place((solid, out) => this.pose(solid, out), (solid) => this.isThere[solid] === 1);
    if (this.lamps.count > 0)
      this.lamps.place((solid, out) => this.pose(solid, out));
    for (const batch of this.batches) {
      if (!batch.isDirty)
        continue;
      batch.mesh.instanceMatrix.needsUpdate = true;
      batch.mesh.boundingSphere = null;
      batch.isDirty = false;
    }
  }

  pose(solid: number, out: Matrix4): Matrix4 {
    const p = 3 * solid, q = 4 * solid;
    return out.compose(vector.set(this.positions[p], this.positions[p + 1], this.positions[p + 2]),
      quaternion.set(this.rotations[q], this.rotations[q + 1], this.rotations[q + 2], this.rotations[q + 3]), one);
  }

  position(solid: number, out: Vector3): Vector3 {
    return out.fromArray(this.positions, 3 * solid);
  }

  rotation(solid: number, out: Quaternion): Quaternion {
    return out.fromArray(this.rotations, 4 * solid);
  }

  localBox(solid: number): Box3 {
    return this.localBoxes[solid] ?? new Box3();
  }

  // Of one solid, or of all that moves where that is something, else of everything.
  bounds(solid = -1): Box3 {
    if (solid >= 0)
      return this.localBox(solid).clone().applyMatrix4(this.pose(solid, matrix));
    const all = new Box3(), small = new Box3(), sizes: number[] = [];
    const boxes: Box3[] = [];
    for (let i = 0; i < this.solidCount; i++) {
      if (!this.isThere[i] || this.localBoxes[i].isEmpty())
        continue;
      const box = this.bounds(i);
      boxes.push(box);
      sizes.push(box.getSize(vector).length());
      all.union(box);
    }
    const typical = sizes.slice().sort((a, b) => a - b)[Math.floor(sizes.length / 2)] ?? 0;
    boxes.forEach((box, i) => { if (sizes[i] <= 8 * typical) small.union(box); });
    return small.isEmpty() ? all : small;
  }

  pick(ray: Raycaster): Hit | null {
    const hits: Intersection[] = [];
    for (const batch of this.batches)
      batch.mesh.raycast(ray, hits);
    this.skins.pick(ray, hits);
    hits.sort((a, b) => a.distance - b.distance);
    const hit = hits[0];
    if (!hit)
      return null;
    const batch = this.batches.find((one) => one.mesh === hit.object);
    return { solid: batch ? batch.solids[hit.instanceId!] : this.skins.solidOf(hit.object), point: hit.point, distance: hit.distance, normal: hit.normal ?? null };
  }

  // Place and direction of the normals at the corners of what is seen, so many at most.
  eachNormal(tell: (at: Vector3, normal: Vector3) => void, most = 20000): void {
    const at = new Vector3(), normal = new Vector3();
    let left = most;
    for (const { mesh } of this.batches) {
      const position = mesh.geometry.getAttribute('position'), given = mesh.geometry.getAttribute('normal');
      for (let i = 0; given && i < mesh.count; i++) {
        mesh.getMatrixAt(i, matrix);
        for (let k = 0; k < position.count && left > 0; k++, left--)
          tell(at.fromBufferAttribute(position, k).applyMatrix4(matrix), normal.fromBufferAttribute(given, k).transformDirection(matrix));
      }
    }
  }

  get batchCount(): number {
    return this.batches.length;
  }

  private get materials(): MeshStandardMaterial[] {
    return [...this.batches.map((batch) => batch.mesh.material as MeshStandardMaterial), ...this.skins.materials];
  }

  setWireframe(on: boolean): void {
    for (const material of this.materials)
      material.wireframe = on;
  }

  setTransparent(on: boolean): void {
    for (const material of this.materials) {
      material.userData.opacity ??= [material.opacity, material.transparent];
      [material.opacity, material.transparent] = on ? [0.35, true] : material.userData.opacity as [number, boolean];
      material.depthWrite = !on;
      material.needsUpdate = true;
    }
  }
}
