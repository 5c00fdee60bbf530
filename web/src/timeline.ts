// timeline.ts - the scrubber under the picture: where in the kept history one looks, and the way back to now.
import { h } from './dom';
import type { Answer, Request, Source, State } from './source';

export class Timeline {
  readonly slider = h('input', { type: 'range', class: 'scrubber', min: 0, max: 1, step: 'any', value: 0, 'aria-label': 'Time' });
  private readonly from = h('span', { class: 'timeline-end' });
  private readonly to = h('span', { class: 'timeline-end' });
  private readonly past = h('span', { class: 'timeline-past', hidden: true });
  readonly element: HTMLElement;
  isPast = false;  // a moment before now is looked at (live)
  private isHeld = false;
  private shown = 0;
  private wanted: number | null = null;
  private isAsking = false;
  private underWay = 0;  // requests whose answer is not there: what a state says is older than what they want

  constructor(private readonly source: () => Source, private readonly tell: (words: string, isError: boolean) => void) {
    this.past.append(h('button', { type: 'button', class: 'text-button primary', onclick: () => void this.resume(), title: 'Run on from this moment' }, 'Go on from here'),
      h('button', { type: 'button', class: 'text-button', onclick: () => void this.now(), title: 'Back to the present' }, 'Now'));
    this.element = h('div', { class: 'timeline', role: 'group', 'aria-label': 'History' }, this.from, this.slider, this.to, this.past);
    this.slider.addEventListener('pointerdown', () => { this.isHeld = true; });
    this.slider.addEventListener('pointerup', () => { this.isHeld = false; });
    this.slider.addEventListener('input', () => this.seek(Number(this.slider.value)));
  }

  seek(time: number): void {
    this.wanted = time;
    if (this.source().kind === 'live')
      this.setPast(true);
    void this.ask();
  }

  // One question at a time; the newest wins.
  private async ask(): Promise<void> {
    if (this.isAsking)
      return;
    this.isAsking = true;
    while (this.wanted !== null) {
      const time = this.wanted;
      this.wanted = null;
      const answer = await this.request({ do: 'seek', time });
      if (!answer.ok) {
        this.tell(answer.error ?? 'cannot go there', true);
        this.setPast(false);
      }
    }
    this.isAsking = false;
  }

  private async request(message: Request): Promise<Answer> {
    this.underWay++;
    const answer = await this.source().request(message);
    this.underWay--;
    return answer;
  }

  // The source says whether a past moment is looked at.
  told(isPast: boolean): void {
    if (this.underWay === 0)
      this.setPast(isPast);
  }

  private setPast(on: boolean): void {
    this.isPast = on;
    this.past.hidden = !on;
    this.element.classList.toggle('is-past', on);
  }

  async now(): Promise<void> {
    this.wanted = null;
    this.setPast(false);
    await this.request({ do: 'live' });
  }

  // From the moment that was asked for last, whether its frame is there or not: the server knows it unless it still waits here.
  private async resume(): Promise<void> {
    const time = this.wanted;
    this.wanted = null;
    const answer = await this.request({ do: 'resume', ...(time === null ? {} : { time }) });
    if (answer.ok)
      this.setPast(false);
    else
      this.tell(answer.error ?? 'cannot go on from there', true);
  }

  // The history is given by the source's state, the place by the last frame shown.
  show(state: State, time: number): void {
    const [from, to] = state.history, end = Math.max(to, time, from + 1e-3);
    const key = from + 7 * end + 13 * time;
    if (key === this.shown)
      return;
    this.shown = key;
    this.slider.min = String(from);
    this.slider.max = String(end);
    if (!this.isHeld && this.underWay === 0)
      this.slider.value = String(time);
    this.slider.setAttribute('aria-valuetext', `${time.toFixed(2)} seconds`);
    this.slider.style.setProperty('--part', `${100 * (time - from) / (end - from)}%`);
    this.from.textContent = `${from.toFixed(1)} s`;
    this.to.textContent = `${end.toFixed(1)} s`;
  }
}
