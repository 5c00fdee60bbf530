// lamps.ts - lights that LEDs switch: they shine on what is near them, as bright as frames say. The page has its own sun and sky for all else.
import { Matrix4, PointLight, Quaternion, SpotLight, Vector3, type Object3D } from 'three';
import type { DeviceMeta } from './source';

const MAX_LAMPS = 8;  // each costs all materials a little
const NEAR = 0.3;     // m: there light falls off exactly as the file has it

interface Lamp { light: PointLight | SpotLight; solid: number; place: Matrix4; aim: Vector3; brightness: number }

const matrix = new Matrix4();

// The file has 1 / (a + b d + c d²), the graphics library a power of d: that of the term that counts most where lamps shine.
function falloff([a, b, c]: number[]): { decay: number; share: number } {
  const terms = [a, b * NEAR, c * NEAR * NEAR], decay = terms.indexOf(Math.max(...terms));
  return { decay, share: NEAR ** decay / Math.max(terms[0] + terms[1] + terms[2], 1e-9) };
}

export class Lamps {
  private readonly lamps = new Map<number, Lamp>();
  private known = new Map<number, DeviceMeta>();

  constructor(private readonly root: Object3D) {}

  get count(): number {
    return this.lamps.size;
  }

  setDevices(devices: DeviceMeta[]): void {
    this.known = new Map(devices.filter((one) => one.kind === 'PointLight' || one.kind === 'SpotLight').map((one) => [one.node, one]));
    for (const [node, { light }] of [...this.lamps]) {
      this.root.remove(light);
      this.lamps.delete(node);
    }
  }

  private make(device: DeviceMeta): Lamp {
    const { decay, share } = falloff(device.attenuation ?? [1, 0, 0]), radius = device.radius ?? 100;
    const light = device.kind === 'SpotLight' ? new SpotLight(0xffffff, 0, radius, device.cutOffAngle ?? 0.785, 0.3, decay) : new PointLight(0xffffff, 0, radius, decay);
    this.root.add(light);
    if (light instanceof SpotLight)
      this.root.add(light.target);
    const place = new Matrix4().compose(new Vector3(...device.position), new Quaternion(...device.rotation), new Vector3(1, 1, 1))
      .multiply(new Matrix4().makeTranslation(new Vector3(...(device.location ?? [0, 0, 0]))));
    const lamp = { light, solid: device.solid, place, aim: new Vector3(...(device.direction ?? [0, 0, -1])), brightness: Math.PI * share * (device.intensity ?? 1) };
    this.lamps.set(device.node, lamp);
    return lamp;
  }

  // What an LED gives its light; nodes that are no lights are left alone.
  set(node: number, [red, green, blue]: [number, number, number]): void {
    const device = this.known.get(node), lamp = this.lamps.get(node) ?? (device && this.lamps.size < MAX_LAMPS ? this.make(device) : undefined);
    if (!lamp)
      return;
    lamp.light.color.setRGB(red, green, blue);
    lamp.light.intensity = red + green + blue > 0 ? lamp.brightness : 0;
  }

  place(poseOf: (solid: number, out: Matrix4) => Matrix4): void {
    for (const { light, solid, place, aim } of this.lamps.values()) {
      (solid >= 0 ? poseOf(solid, matrix) : matrix.identity()).multiply(place);
      light.position.setFromMatrixPosition(matrix);
      if (light instanceof SpotLight)
        light.target.position.copy(aim).applyMatrix4(matrix);
    }
  }
}
