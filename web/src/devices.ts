// devices.ts - what devices of robots see and reach, as lines and points over the picture: rays, frusta, point clouds; and lights. What a
// device measured comes while it is watched; without it the drawing is grey.
import { Matrix4, Quaternion, Vector3 } from 'three';
import type { LinePad, PointPad } from './lines';
import type { DeviceMeta, Meta, Picture } from './source';
import type { World } from './world';

export interface Canvas { on: Set<string>; meta: Meta; world: World; top: LinePad; deep: LinePad; points: PointPad; unit: (part: number) => number }

const RED = [1, 0.15, 0.1], GREEN = [0.2, 0.9, 0.3], GREY = [0.55, 0.55, 0.55], CYAN = [0, 0.9, 0.9], YELLOW = [1, 0.9, 0.1], VIOLET = [0.65, 0.2, 0.9], BLUE = [0.2, 0.4, 1];
const MAX_RAYS = 2500;  // a lidar with more points than that shows them alone, as in Webots

// Which renderings need what a device of that kind measures.
const NEEDS: Record<string, string[]> = { DistanceSensor: ['distance'], Lidar: ['lidar', 'cloud'] };

// How far a distance sensor saw, from what it read: its lookup table backwards.
export function distanceOf(table: number[], reading: number): number {
  for (let i = 0; i + 5 < table.length; i += 3) {
    const [d0, v0, , d1, v1] = table.slice(i, i + 5);
    if ((reading - v0) * (reading - v1) <= 0 && v0 !== v1)
      return d0 + (d1 - d0) * (reading - v0) / (v1 - v0);
  }
  if (table.length < 6)
    return reading;
  const last = table.length - 3;
  return Math.abs(reading - table[1]) < Math.abs(reading - table[last + 1]) ? table[0] : table[last];
}

export class DeviceDrawings {
  readonly values = new Map<number, number[]>();     // last readings, by node
  readonly pictures = new Map<number, Picture>();    // last distances, by node

  // The nodes of the devices whose readings are wanted for what is on.
  wanted(on: Set<string>, meta: Meta): number[] {
    return (meta.devices ?? []).filter((one) => NEEDS[one.kind]?.some((id) => on.has(id))).map((one) => one.node);
  }

  forget(): void {
    this.values.clear();
    this.pictures.clear();
  }

  draw(canvas: Canvas): void {
    const { on, meta, world } = canvas;
    for (const device of meta.devices ?? []) {
      if (device.solid >= world.solidCount || (device.solid >= 0 && !world.isThere[device.solid]))
        continue;
      const place = new Matrix4().makeRotationFromQuaternion(new Quaternion(...device.rotation)).setPosition(...device.position);
      if (device.solid >= 0)
        place.premultiply(world.pose(device.solid, new Matrix4()));
      this.one(canvas, device, place, on);
    }
  }

  private one(canvas: Canvas, device: DeviceMeta, place: Matrix4, on: Set<string>): void {
    switch (device.kind) {
      case 'DistanceSensor': if (on.has('distance')) this.distance(canvas, device, place); break;
      case 'Lidar': this.lidar(canvas, device, place); break;
      case 'Radar': if (on.has('cameras')) frustum(canvas, place, device.horizontalFieldOfView ?? 0.8, device.verticalFieldOfView ?? 0.1, device.maxRange ?? 50, BLUE); break;
      case 'LightSensor': if (on.has('lightrays')) this.lightRays(canvas, place); break;
      case 'Connector': if (on.has('connectors')) connector(canvas, device, place); break;
      case 'Pen': if (on.has('pens')) ray(canvas, place, new Vector3(0, 0, -1), 0, device.maxDistance! > 0 ? device.maxDistance! : canvas.unit(0.3), VIOLET); break;
      case 'PointLight': case 'SpotLight': case 'DirectionalLight': if (on.has('lights')) light(canvas, device, place); break;
    }
  }

  private distance(canvas: Canvas, device: DeviceMeta, place: Matrix4): void {
    const table = device.lookupTable ?? [], reach = Math.max(0.01, ...table.filter((_, i) => i % 3 === 0)), reading = this.values.get(device.node)?.[0];
    const hit = reading === undefined ? null : Math.min(distanceOf(table, reading), reach), half = (device.aperture ?? 0) / 2;
    const ways = [new Vector3(1, 0, 0)];
    if ((device.numberOfRays ?? 1) > 1 && half > 0)
      for (let i = 0; i < 4; i++)
        ways.push(new Vector3(Math.cos(half), Math.sin(half) * Math.cos(i * Math.PI / 2), Math.sin(half) * Math.sin(i * Math.PI / 2)));
    for (const way of ways) {
      ray(canvas, place, way, 0, hit ?? reach, hit === null ? GREY : RED);
      if (hit !== null)
        ray(canvas, place, way, hit, reach, GREEN);
    }
  }

  private lidar(canvas: Canvas, device: DeviceMeta, place: Matrix4): void {
    const { on } = canvas, wide = device.type === 'rotating' ? 2 * Math.PI : device.fieldOfView ?? 1, high = device.verticalFieldOfView ?? 0.2;
    if (on.has('cameras'))
      frustum(canvas, place, Math.min(wide, 3), high, device.maxRange ?? 1, CYAN);
    const picture = this.pictures.get(device.node);
    if (!picture || !(on.has('lidar') || on.has('cloud')))
      return;
    const { width, height } = picture, data = new DataView(picture.bytes.buffer, picture.bytes.byteOffset), at = new Vector3(), eye = new Vector3().setFromMatrixPosition(place);
    for (let row = 0; row < height; row++) {
      const up = high * (height > 1 ? 0.5 - row / (height - 1) : 0), part = height > 1 ? row / (height - 1) : 0, color = [part, 0.1, 1 - part];
      for (let column = 0; column < width; column++) {
        const distance = data.getFloat32(4 * (row * width + column), true), angle = wide * ((device.type === 'rotating' ? 0 : 0.5) - (column + 0.5) / width);
        if (!Number.isFinite(distance))
          continue;
        at.set(Math.cos(up) * Math.cos(angle), Math.cos(up) * Math.sin(angle), Math.sin(up)).multiplyScalar(distance).applyMatrix4(place);
        if (on.has('cloud'))
          canvas.points.point(at, color);
        if (on.has('lidar') && width * height <= MAX_RAYS)
          canvas.deep.line(eye, at, CYAN);
      }
    }
  }

  private lightRays(canvas: Canvas, place: Matrix4): void {
    const eye = new Vector3().setFromMatrixPosition(place), { meta, world } = canvas;
    for (const one of meta.devices ?? []) {
      if (!one.kind.endsWith('Light'))
        continue;
      const stand = one.solid >= 0 && one.solid < world.solidCount ? world.pose(one.solid, new Matrix4()) : new Matrix4();
      const frame = stand.multiply(new Matrix4().makeRotationFromQuaternion(new Quaternion(...one.rotation)).setPosition(...one.position));
      const to = one.kind === 'DirectionalLight' ? eye.clone().addScaledVector(new Vector3(...one.direction!).transformDirection(frame), -canvas.unit(0.5)) : new Vector3(...one.location!).applyMatrix4(frame);
      canvas.top.line(eye, to, YELLOW);
    }
  }
}

function ray(canvas: Canvas, place: Matrix4, way: Vector3, from: number, to: number, color: number[]): void {
  canvas.top.line(way.clone().multiplyScalar(from).applyMatrix4(place), way.clone().multiplyScalar(to).applyMatrix4(place), color);
}

function frustum(canvas: Canvas, place: Matrix4, wide: number, high: number, far: number, color: number[]): void {
  const reach = Math.min(far, canvas.unit(0.3)), eye = new Vector3().setFromMatrixPosition(place);
  const corners = [[1, 1], [-1, 1], [-1, -1], [1, -1]].map(([u, v]) => {
    const angle = u * wide / 2, up = v * high / 2;
    return new Vector3(Math.cos(up) * Math.cos(angle), Math.cos(up) * Math.sin(angle), Math.sin(up)).multiplyScalar(reach).applyMatrix4(place);
  });
  corners.forEach((corner, i) => {
    canvas.top.line(eye, corner, color);
    canvas.top.line(corner, corners[(i + 1) % 4], color);
  });
}

// The docking axis, and around it the directions that fit another connector; z, the first of them, is blue.
function connector(canvas: Canvas, device: DeviceMeta, place: Matrix4): void {
  const size = canvas.unit(0.06), count = Math.min(Math.max(device.numberOfRotations ?? 4, 0), 32);
  ray(canvas, place, new Vector3(1, 0, 0), 0, size, RED);
  for (let i = 0; i < Math.max(count, 1); i++) {
    const angle = 2 * Math.PI * i / Math.max(count, 1);
    ray(canvas, place, new Vector3(0, Math.sin(angle), Math.cos(angle)), 0, size * 0.7, i === 0 ? BLUE : GREY);
  }
}

function light(canvas: Canvas, device: DeviceMeta, place: Matrix4): void {
  const size = canvas.unit(0.02), color = (device.color ?? [1, 1, 1]).map((part) => 0.35 + 0.65 * part);
  const at = device.location ? new Vector3(...device.location).applyMatrix4(place) : new Vector3(0, 0, canvas.unit(0.25)).applyMatrix4(place);
  for (const [x, y, z] of [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.7, 0.7, 0], [0.7, -0.7, 0]])
    canvas.top.line(at.clone().add(new Vector3(x, y, z).multiplyScalar(-size)), at.clone().add(new Vector3(x, y, z).multiplyScalar(size)), color);
  if (device.direction)
    canvas.top.line(at, at.clone().addScaledVector(new Vector3(...device.direction).transformDirection(place), 4 * size), color);
}
