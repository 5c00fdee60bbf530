// sound.ts - plays the sound events of a run by WebAudio with the laws of the mixer (src/sound/): inverse distance from one metre,
// pan, Doppler by pitch, gains that ramp. Off until clicked; silent when time does not run at about its own pace.
import { Vector3 } from 'three';
import type { SoundEvent } from './source';
import type { View } from './view';
import type { World } from './world';

const RAMP_S = 0.015;
const SPEED_OF_SOUND = 343.3;  // m/s
const MAX_VOICES = 32;

interface Voice { source: AudioBufferSourceNode; gain: GainNode; panner: PannerNode; event: SoundEvent; distance: number; time: number }

export class Sound {
  isOn = false;
  startedCount = 0;  // voices so far
  private context: AudioContext | null = null;
  private master: GainNode | null = null;
  private readonly clips = new Map<string, ArrayBuffer>();
  private readonly buffers = new Map<string, Promise<AudioBuffer>>();
  private readonly voices = new Map<number, Voice>();

  constructor(private readonly view: View, private readonly world: World) {}

  addClip(name: string, wav: ArrayBuffer): void {
    this.clips.set(name, wav);
  }

  get hasClips(): boolean {
    return this.clips.size > 0;
  }

  async setOn(on: boolean): Promise<void> {
    this.isOn = on;
    if (!on) {
      this.silence();
      await this.context?.suspend();
      return;
    }
    if (!this.context) {
      this.context = new AudioContext();
      this.master = new GainNode(this.context, { gain: 0.8 });
      this.master.connect(this.context.destination);
    }
    await this.context.resume();
  }

  silence(): void {
    for (const id of [...this.voices.keys()])
      this.stop(id);
  }

  // Time runs that much faster than the clock on the wall.
  setFactor(factor: number): void {
    if (!this.master || !this.context)
      return;
    const isHeard = factor > 0.5 && factor < 2;
    this.master.gain.setTargetAtTime(isHeard ? 0.8 : 0, this.context.currentTime, RAMP_S);
  }

  handle(event: SoundEvent): void {
    if (!this.isOn || !this.context)
      return;
    if (event.do === 'stop')
      this.stop(event.id);
    else if (event.do === 'set')
      this.set(event);
    else
      void this.start(event);
  }

  private buffer(name: string): Promise<AudioBuffer> | null {
    const clip = this.clips.get(name);
    if (!clip)
      return null;
    if (!this.buffers.has(name))
      this.buffers.set(name, this.context!.decodeAudioData(clip.slice(0)));
    return this.buffers.get(name)!;
  }

  private async start(event: SoundEvent): Promise<void> {
    const buffer = await this.buffer(event.clip ?? '')?.catch(() => null);
    if (!buffer || !this.context || !this.isOn)
      return;
    this.stop(event.id);
    if (this.voices.size >= MAX_VOICES)
      this.stop(this.voices.keys().next().value!);
    const source = new AudioBufferSourceNode(this.context, { buffer, loop: event.loop ?? false, playbackRate: event.pitch ?? 1 });
    const gain = new GainNode(this.context, { gain: event.gain ?? 1 });
    const panner = new PannerNode(this.context, { distanceModel: 'inverse', refDistance: 1, rolloffFactor: 1, panningModel: 'equalpower' });
    source.connect(gain).connect(panner).connect(this.master!);
    const voice: Voice = { source, gain, panner, event, distance: -1, time: 0 };
    this.voices.set(event.id, voice);
    source.onended = () => { if (this.voices.get(event.id) === voice) this.voices.delete(event.id); };
    this.place(voice, 0);
    source.start();
    this.startedCount++;
  }

  private set(event: SoundEvent): void {
    const voice = this.voices.get(event.id);
    if (!voice || !this.context)
      return;
    Object.assign(voice.event, event);
    if (event.gain !== undefined)
      voice.gain.gain.setTargetAtTime(event.gain, this.context.currentTime, RAMP_S);
  }

  private stop(id: number): void {
    const voice = this.voices.get(id);
    if (!voice || !this.context)
      return;
    this.voices.delete(id);
    voice.gain.gain.setTargetAtTime(0, this.context.currentTime, RAMP_S);
    voice.source.stop(this.context.currentTime + 5 * RAMP_S);
  }

  private place(voice: Voice, now: number): void {
    const at = new Vector3();
    const { event, panner } = voice;
    if (event.at)
      at.set(...event.at);
    else if (event.solid !== undefined && event.solid >= 0 && event.solid < this.world.solidCount)
      this.world.position(event.solid, at);
    [panner.positionX.value, panner.positionY.value, panner.positionZ.value] = [at.x, at.y, at.z];
    const distance = at.distanceTo(this.view.camera.position), dt = now - voice.time;
    const approach = voice.distance >= 0 && dt > 0 && dt < 0.5 ? (voice.distance - distance) / dt : 0;
    const doppler = Math.min(Math.max(SPEED_OF_SOUND / (SPEED_OF_SOUND - Math.max(Math.min(approach, 200), -200)), 0.5), 2);
    voice.source.playbackRate.value = (event.pitch ?? 1) * doppler;
    voice.distance = distance;
    voice.time = now;
  }

  // Once a display frame: the listener is the eye.
  tick(nowMs: number): void {
    if (!this.isOn || !this.context || this.voices.size === 0)
      return;
    const { position, quaternion } = this.view.camera, listener = this.context.listener;
    const ahead = new Vector3(0, 0, -1).applyQuaternion(quaternion), up = new Vector3(0, 1, 0).applyQuaternion(quaternion);
    if (listener.positionX) {
      [listener.positionX.value, listener.positionY.value, listener.positionZ.value] = position.toArray();
      [listener.forwardX.value, listener.forwardY.value, listener.forwardZ.value] = ahead.toArray();
      [listener.upX.value, listener.upY.value, listener.upZ.value] = up.toArray();
    }
    for (const voice of this.voices.values())
      this.place(voice, nowMs / 1000);
  }
}
