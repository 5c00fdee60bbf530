// skins.ts - meshes that bones bend. A joint of a Skin stands in the frame of a solid, and moves with it; or a program of a robot moves it,
// and frames tell where it is. The graphics processor does the bending.
import { Bone, DetachedBindMode, Matrix4, MeshStandardMaterial, Quaternion, Vector3, type Group, type Intersection, type Object3D, type Raycaster, type SkinnedMesh } from 'three';
import type { Bones } from './frame';

interface Joint { bone: Bone; solid: number; local: Matrix4; anchor: Matrix4; rest: Matrix4; number: number; above: number }  // number: of a bone that programs move, else -1
interface Skin { mesh: SkinnedMesh; node: number; carrier: number; joints: Joint[] }
type PoseOf = (solid: number, out: Matrix4) => Matrix4;

const one = new Vector3(1, 1, 1);

// Where a joint stands: the solid above it, and its place there.
function jointOf(bone: Bone): Joint {
  const anchor = new Matrix4(), number = (bone.userData.bone as number | undefined) ?? -1;
  let object: Object3D | null = number >= 0 ? bone.parent : bone;
  for (; object && object.userData.solid === undefined && object.name !== 'talus'; object = object.parent)
    anchor.premultiply(object.matrix);
  const rest = number >= 0 ? bone.matrix.clone() : new Matrix4();
  return { bone, solid: (object?.userData.solid as number | undefined) ?? -1, local: anchor.clone().multiply(rest), anchor, rest, number, above: (bone.userData.above as number | undefined) ?? -1 };
}

export class Skins {
  private all: Skin[] = [];
  private readonly moved = new Map<number, Float32Array>();  // what programs did, by the Skin's node: it outlasts scenes

  constructor(private readonly root: Group) {}

  clear(): void {
    for (const { mesh } of this.all) {
      this.root.remove(mesh);
      mesh.geometry.dispose();
      mesh.skeleton.dispose();
    }
    this.all = [];
  }

  // Returns where it stands in the frame of the solid that carries it.
  add(mesh: SkinnedMesh, material: MeshStandardMaterial): Matrix4 {
    mesh.material = material;
    mesh.bindMode = DetachedBindMode;
    mesh.matrixAutoUpdate = mesh.frustumCulled = false;
    mesh.matrix.identity();
    mesh.castShadow = material.opacity > 0.5;
    mesh.receiveShadow = true;
    const told = (name: string): number => Number(mesh.userData[name] ?? mesh.parent?.userData[name] ?? -1);
    const skin: Skin = { mesh, node: told('skin'), carrier: told('carrier'), joints: mesh.skeleton.bones.map(jointOf) };
    this.all.push(skin);
    this.root.add(mesh);
    this.bend(skin);
    return skin.joints[skin.joints.length - 1].local;
  }

  get count(): number {
    return this.all.length;
  }

  get materials(): MeshStandardMaterial[] {
    return this.all.map(({ mesh }) => mesh.material as MeshStandardMaterial);
  }

  take(told: Bones[]): void {
    for (const { node, poses } of told)
      this.moved.set(node, poses);
    this.all.forEach((skin) => this.bend(skin));
  }

  private bend({ node, joints }: Skin): void {
    const poses = this.moved.get(node), pose = new Matrix4();
    for (const joint of joints) {
      if (joint.number < 0)
        continue;
      const at = 7 * joint.number;
      if (poses && at + 7 <= poses.length)
        pose.compose(new Vector3().fromArray(poses, at), new Quaternion().fromArray(poses, at + 3), one);
      else
        pose.copy(joint.rest);
      joint.local.multiplyMatrices(joint.anchor, pose);
    }
  }

  // Puts every joint where its solid is now.
  place(poseOf: PoseOf, isThere: (solid: number) => boolean): void {
    for (const { mesh, carrier, joints } of this.all) {
      mesh.visible = carrier < 0 || isThere(carrier);
      for (const { bone, solid, local } of joints)
        if (solid < 0)
          bone.matrixWorld.copy(local);
        else
          poseOf(solid, bone.matrixWorld).multiply(local);
      Object.assign(mesh, { boundingSphere: null, boundingBox: null });  // made again when somebody points at it
    }
  }

  // Of the solid that carries it.
  pick(ray: Raycaster, hits: Intersection[]): void {
    for (const { mesh } of this.all)
      if (mesh.visible)
        mesh.raycast(ray, hits);
  }

  solidOf(object: Object3D): number {
    return this.all.find(({ mesh }) => mesh === object)?.carrier ?? -1;
  }

  // Bones that programs move, from the one above each.
  eachBone(tell: (from: Vector3 | null, to: Vector3) => void): void {
    const place = (joint: Joint): Vector3 => new Vector3().setFromMatrixPosition(joint.bone.matrixWorld);
    const seen = new Set<number>();  // a Skin of several parts has each bone in all of them
    for (const { node, joints } of this.all) {
      if (seen.has(node))
        continue;
      seen.add(node);
      for (const joint of joints)
        if (joint.number >= 0)
          tell(joint.above >= 0 ? place(joints[joint.above]) : null, place(joint));
    }
  }
}
