// source.ts - where a world comes from: a running simulation (live.ts) or a recording (replay.ts). The page talks to both alike.
import type { Frame } from './frame';

export type Vec = [number, number, number];

export interface SolidMeta { name?: string; def?: string; type?: string; parent?: number; locked?: boolean; mass?: number; com?: Vec; node?: number; inertia?: number[] }
export interface JointMeta { axes?: number; name?: string; type?: string; solid?: number; parent?: number; axis?: Vec; anchor?: Vec; min?: number; max?: number; node?: number }
export interface CameraMeta {
  name?: string; type?: string; solid?: number; position?: Vec; orientation?: [number, number, number, number]; fov?: number;
  width?: number; height?: number; node?: number; near?: number; far?: number;
}
// What of devices and lights can be drawn: where it stands in its solid (-1: the world), and fields of its node.
export interface DeviceMeta {
  kind: string; node: number; name?: string; solid: number; position: Vec; rotation: [number, number, number, number]; type?: string;
  fieldOfView?: number; horizontalFieldOfView?: number; verticalFieldOfView?: number; minRange?: number; maxRange?: number; aperture?: number; numberOfRays?: number;
  lookupTable?: number[]; numberOfRotations?: number; maxDistance?: number; location?: Vec; direction?: Vec; color?: Vec; intensity?: number; attenuation?: Vec; radius?: number; cutOffAngle?: number; width?: number; height?: number;
  bones?: number[];  // solids that move those of a Skin
}
export interface ViewpointMeta {
  name?: string; position?: Vec; orientation?: [number, number, number, number]; fov?: number; follow?: number; followType?: string;
  smoothness?: number; near?: number;
}
// kind (box sphere capsule cylinder plane), solid, size of three, place of three, quaternion x y z w
export type ShapeMeta = [string, number, ...number[]];
export interface Meta {
  shapes?: ShapeMeta[];
  title?: string; file?: string; timestep?: number; up?: string;
  solids?: SolidMeta[]; joints?: JointMeta[]; cameras?: CameraMeta[]; devices?: DeviceMeta[];
  viewpoint?: ViewpointMeta; viewpoints?: ViewpointMeta[];
  sun?: Vec;  // the way its light goes
  background?: { color?: string | number[]; sky?: string };
  scales?: { force?: number; torque?: number; line?: number };
}

export interface Label { id: number; text: string; x: number; y: number; size: number; color: string; font?: string }
export interface SoundEvent {
  id: number; clip?: string; gain?: number; pitch?: number; loop?: boolean; at?: Vec; solid?: number; do: 'start' | 'set' | 'stop';
}
export interface PrintEvent { from?: string; text: string; error?: boolean; t?: number }
export interface Diagnostic { severity?: string; file?: string; line?: number; text: string; hint?: string; node?: number | string | null }
export interface Picture { node: number; width: number; height: number; kind: number; bytes: Uint8Array }
export interface State {
  running: boolean; time: number; factor: number; history: [number, number]; role: string; clients: number;
  pace?: number;        // wanted factor, 0: as fast as it goes
  live?: boolean;       // false while a past moment is looked at
  mayControl?: boolean; // the link allows to take control
  canResume?: boolean;  // snapshots of the past are kept
}
export interface TreeNode { node: number; type: string; def?: string; name?: string; field?: string; count?: number; solid?: number }
export interface FieldRow {
  field: string; type?: string; text: string; default?: string; unit?: string; help?: string; file?: string; line?: number; live?: boolean; given?: boolean; editable?: boolean;
}

export type Request = { do: string } & Record<string, unknown>;
export type Answer = { ok: boolean; error?: string } & Record<string, unknown>;

// What a source tells; each is called on the page's thread.
export interface Listener {
  meta(meta: Meta): void;
  scene(revision: number, glb: ArrayBuffer): void;
  frame(frame: Frame): void;
  blend(next: Frame, part: number, time: number): void;  // part of the way from the frame shown last to the next
  state(state: State): void;
  label(label: Label): void;
  sound(event: SoundEvent): void;
  clip(name: string, wav: ArrayBuffer): void;
  print(event: PrintEvent): void;
  diagnostic(event: Diagnostic): void;
  value(name: string, time: number, values: number[]): void;
  picture(picture: Picture): void;
  ink(tiles: DataView): void;  // none: all shapes are clean
  windowed(node: number, text: string): void;  // a robot's program to its window
  scrubbed(): void;  // time jumped: what was shown of the moments between is void
  status(words: string, isError: boolean): void;  // of the connection; empty when all is well
}

export interface Source {
  readonly kind: 'live' | 'file';
  readonly state: State;
  start(listener: Listener): void;
  drawn(step: number): void;                  // the frame is on the screen
  tick(now: number): void;                    // once a display frame, ms
  request(message: Request): Promise<Answer>;
}

export const emptyState = (): State => ({ running: false, time: 0, factor: 1, history: [0, 0], role: 'spectator', clients: 0 });

// Events that travel in a frame or by themselves, handed to the listener by what they are.
export function dispatchEvent(event: Record<string, unknown>, listener: Listener): boolean {
  switch (event.is) {
    case 'label': listener.label(event as unknown as Label); return true;
    case 'sound': listener.sound(event as unknown as SoundEvent); return true;
    case 'print': listener.print(event as unknown as PrintEvent); return true;
    case 'diagnostic': listener.diagnostic(event as unknown as Diagnostic); return true;
    case 'window': listener.windowed(Number(event.node), String(event.text)); return true;
    case 'value': listener.value(String(event.name), Number(event.t), [event.v].flat().map(Number)); return true;
    default: return false;
  }
}
