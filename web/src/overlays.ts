// overlays.ts - what lies flat over the picture: labels of supervisors, names of solids, pictures of cameras, short messages.
import { Vector3 } from 'three';
import { button, h } from './dom';
import type { Label, Picture } from './source';
import type { View } from './view';
import type { World } from './world';

const MAX_NAMES = 200;
const TOAST_MS = 4000;

export class Overlays {
  readonly labels = h('div', { class: 'labels', 'aria-live': 'off' });
  readonly names = h('div', { class: 'names', 'aria-hidden': 'true' });
  readonly pictures = h('div', { class: 'pictures' });
  readonly toasts = h('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' });
  readonly tip = h('div', { class: 'drag-tip', hidden: true });
  private readonly byLabel = new Map<number, HTMLElement>();
  private readonly byCamera = new Map<number, { box: HTMLElement; canvas: HTMLCanvasElement }>();
  private nameRows: HTMLElement[] = [];
  onTrouble: (words: string) => void = () => undefined;  // hears the toasts about what went wrong, which stay for seconds only

  constructor(private readonly view: View, private readonly world: World) {}

  setLabel(label: Label): void {
    let row = this.byLabel.get(label.id);
    if (!label.text) {
      row?.remove();
      this.byLabel.delete(label.id);
      return;
    }
    if (!row) {
      row = h('div', { class: 'label' });
      this.byLabel.set(label.id, row);
      this.labels.append(row);
    }
    row.textContent = label.text;
    row.style.left = `${100 * label.x}%`;
    row.style.top = `${100 * label.y}%`;
    row.style.fontSize = `${Math.max(0.6 * label.size * this.view.height, 9)}px`;
    row.style.fontFamily = label.font ? `"${label.font.replace(/["\\]/g, '')}", system-ui, sans-serif` : '';
    row.style.color = /^#[0-9a-f]{6,8}$/i.test(label.color ?? '') ? label.color : '#ffffff';
  }

  clearLabels(): void {
    this.byLabel.clear();
    this.labels.replaceChildren();
  }

  drawNames(isOn: boolean, name: (solid: number) => string): void {
    this.names.hidden = !isOn;
    if (!isOn)
      return;
    const at = new Vector3();
    let used = 0;
    for (let i = 0; i < this.world.solidCount && used < MAX_NAMES; i++) {
      const pixel = this.world.isThere[i] ? this.view.project(this.world.position(i, at)) : null;
      if (!pixel || pixel[0] < 0 || pixel[1] < 0 || pixel[0] > this.view.width || pixel[1] > this.view.height)
        continue;
      const row = this.nameRows[used] ??= this.names.appendChild(h('span', { class: 'name' }));
      row.textContent = name(i);
      row.style.transform = `translate(${pixel[0].toFixed(1)}px, ${pixel[1].toFixed(1)}px)`;
      row.hidden = false;
      used++;
    }
    for (let i = used; i < this.nameRows.length; i++)
      this.nameRows[i].hidden = true;
  }

  openPicture(node: number, title: string, onClose: () => void): void {
    if (this.byCamera.has(node))
      return;
    const canvas = h('canvas', { width: 160, height: 120, role: 'img', 'aria-label': `Picture of ${title}` });
    const box = h('figure', { class: 'camera' }, h('figcaption', {}, title, button('close', `Close ${title}`, () => { this.closePicture(node); onClose(); })), canvas);
    this.byCamera.set(node, { box, canvas });
    this.pictures.append(box);
  }

  closePicture(node: number): void {
    this.byCamera.get(node)?.box.remove();
    this.byCamera.delete(node);
  }

  hasPicture(node: number): boolean {
    return this.byCamera.has(node);
  }

  // Kinds: 0 red green blue alpha, 1 distances as floats (near is bright), 2 blue green red alpha.
  setPicture(picture: Picture): void {
    const canvas = this.byCamera.get(picture.node)?.canvas, count = picture.width * picture.height;
    if (!canvas || picture.bytes.byteLength < count * 4 || count === 0)
      return;
    const pixels = new Uint8ClampedArray(4 * count);
    if (picture.kind === 1) {
      const view = new DataView(picture.bytes.buffer, picture.bytes.byteOffset);
      let far = 1e-6;
      for (let i = 0; i < count; i++) {
        const value = view.getFloat32(4 * i, true);
        if (Number.isFinite(value))
          far = Math.max(far, value);
      }
      for (let i = 0; i < count; i++) {
        const value = view.getFloat32(4 * i, true), shade = Number.isFinite(value) ? 255 * (1 - value / far) : 0;
        pixels.set([shade, shade, shade, 255], 4 * i);
      }
    } else {
      pixels.set(picture.bytes.subarray(0, 4 * count));
      for (let i = 0; i < count; i++) {
        if (picture.kind === 2)
          [pixels[4 * i], pixels[4 * i + 2]] = [pixels[4 * i + 2], pixels[4 * i]];
        pixels[4 * i + 3] = 255;
      }
    }
    canvas.width = picture.width;
    canvas.height = picture.height;
    canvas.getContext('2d')!.putImageData(new ImageData(pixels, picture.width, picture.height), 0, 0);
  }

  toast(words: string, isError: boolean): void {
    const row = h('div', { class: isError ? 'toast error' : 'toast' }, words);
    this.toasts.append(row);
    if (isError)
      this.onTrouble(words);
    while (this.toasts.childElementCount > 4)
      this.toasts.firstElementChild!.remove();
    setTimeout(() => row.remove(), TOAST_MS);
  }

  setTip(words: string, x: number, y: number): void {
    this.tip.hidden = words === '';
    this.tip.textContent = words;
    this.tip.style.left = `${x + 16}px`;
    this.tip.style.top = `${y + 8}px`;
  }
}
