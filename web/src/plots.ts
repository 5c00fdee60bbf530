// plots.ts - values over time: of solids (from the frames themselves), of contacts and speed, and of any field the server is asked to
// watch. Each plot can be saved as CSV.
import { button, download, h } from './dom';

const MAX_SAMPLES = 6000;
const COLORS = ['#2f81f7', '#e5534b', '#3fb950', '#d29922', '#a371f7', '#39c5cf'];

interface Series { name: string; times: number[]; values: number[] }

export class Plot {
  readonly element: HTMLElement;
  readonly series: Series[];
  isDirty = true;
  private readonly canvas = h('canvas', { class: 'plot-canvas', role: 'img' });
  private readonly legend = h('div', { class: 'plot-legend' });

  constructor(readonly title: string, names: string[], onClose: () => void) {
    this.series = names.map((name) => ({ name, times: [], values: [] }));
    this.canvas.setAttribute('aria-label', `Plot of ${title}`);
    this.element = h('figure', { class: 'plot' },
      h('figcaption', {}, h('strong', {}, title), h('button', { type: 'button', class: 'text-button', onclick: () => this.save() }, 'CSV'), button('close', `Close the plot of ${title}`, onClose)),
      this.canvas, this.legend);
  }

  add(name: string, time: number, value: number, mayBeNew = false): void {
    let series = this.series.find((one) => one.name === name);
    if (!series && mayBeNew)
      this.series.push(series = { name, times: [], values: [] });
    if (!series || !Number.isFinite(value))
      return;
    const last = series.times[series.times.length - 1];
    if (last !== undefined && time < last)  // time went back: what was after it is void
      while (series.times.length > 0 && series.times[series.times.length - 1] >= time) {
        series.times.pop();
        series.values.pop();
      }
    if (last === time && series.times.length > 0)
      return;
    series.times.push(time);
    series.values.push(value);
    if (series.times.length > MAX_SAMPLES) {
      series.times.shift();
      series.values.shift();
    }
    this.isDirty = true;
  }

  csv(): string {
    const rows = new Map<number, (number | '')[]>();
    this.series.forEach((series, column) => series.times.forEach((time, i) => {
      if (!rows.has(time))
        rows.set(time, this.series.map(() => ''));
      rows.get(time)![column] = series.values[i];
    }));
    const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    return [`time,${this.series.map((series) => quote(series.name)).join(',')}`,
            ...[...rows].sort((a, b) => a[0] - b[0]).map(([time, values]) => `${time},${values.join(',')}`)].join('\n') + '\n';
  }

  private save(): void {
    download(`${this.title.replace(/[^\w.-]+/g, '_')}.csv`, this.csv(), 'text/csv');
  }

  draw(): void {
    if (!this.isDirty || this.canvas.offsetParent === null)
      return;
    this.isDirty = false;
    const ratio = window.devicePixelRatio, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const paint = this.canvas.getContext('2d')!, style = getComputedStyle(this.canvas);
    paint.scale(ratio, ratio);
    const times = this.series.flatMap((series) => [series.times[0], series.times[series.times.length - 1]]).filter((time) => time !== undefined);
    let low = Infinity, high = -Infinity;
    for (const series of this.series)
      for (const value of series.values) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    if (times.length === 0 || low > high)
      return;
    if (high - low < 1e-9)
      [low, high] = [low - 0.5, high + 0.5];
    const from = Math.min(...times), to = Math.max(...times, from + 1e-6), left = 44, bottom = height - 16;
    const x = (time: number): number => left + (time - from) / (to - from) * (width - left - 6);
    const y = (value: number): number => bottom - (value - low) / (high - low) * (bottom - 8);
    paint.strokeStyle = paint.fillStyle = style.color;
    paint.globalAlpha = 0.65;
    paint.font = '10px system-ui, sans-serif';
    const number = (value: number): string => Math.abs(value) >= 1e4 || (value !== 0 && Math.abs(value) < 1e-2) ? value.toExponential(1) : value.toFixed(2);
    for (const value of [low, (low + high) / 2, high]) {
      paint.fillText(number(value), 2, y(value) + 3);
      paint.globalAlpha = 0.15;
      paint.strokeRect(left, y(value), width - left - 6, 0);
      paint.globalAlpha = 0.65;
    }
    paint.fillText(`${from.toFixed(2)} s`, left, height - 3);
    paint.fillText(`${to.toFixed(2)} s`, width - 44, height - 3);
    paint.globalAlpha = 1;
    paint.lineWidth = 1.5;
    this.series.forEach((series, i) => {
      paint.strokeStyle = COLORS[i % COLORS.length];
      paint.beginPath();
      series.times.forEach((time, k) => paint.lineTo(x(time), y(series.values[k])));
      paint.stroke();
    });
    this.legend.replaceChildren(...this.series.map((series, i) => {
      const mark = h('span', { class: 'plot-mark' });
      mark.style.background = COLORS[i % COLORS.length];
      return h('span', {}, mark, `${series.name} ${series.values.length ? number(series.values[series.values.length - 1]) : ''}`);
    }));
  }
}

type Sampler = (add: (name: string, value: number) => void) => void;

export class Plots {
  readonly list = h('div', { class: 'plots' });
  readonly element: HTMLElement;
  private plots: { plot: Plot; sample: string | Sampler }[] = [];

  constructor(bar: HTMLElement) {
    this.element = h('div', { class: 'plots-panel' }, bar, this.list);
  }

  // A plot. `sample` is called at every frame for those that are read off the picture, else it is what the server was asked to watch.
  open(title: string, names: string[], sample: string | Sampler, onClose: () => void = () => undefined): Plot {
    const known = this.plots.find((one) => one.plot.title === title);
    if (known)
      return known.plot;
    const plot = new Plot(title, names, () => {
      plot.element.remove();
      this.plots = this.plots.filter((one) => one.plot !== plot);
      onClose();
    });
    this.plots.push({ plot, sample });
    this.list.append(plot.element);
    return plot;
  }

  sample(time: number): void {
    for (const { plot, sample } of this.plots)
      if (typeof sample !== 'string')
        sample((name, value) => plot.add(name, time, value));
  }

  // Numbers that came by themselves; a plot has as many lines as there are.
  value(what: string, time: number, values: number[]): void {
    for (const { plot, sample } of this.plots)
      if (sample === what)
        values.forEach((value, i) => plot.add(values.length === 1 ? 'value' : ['x', 'y', 'z', 'angle'][i] ?? `${i}`, time, value, true));
  }

  draw(): void {
    for (const { plot } of this.plots)
      plot.draw();
  }

  get count(): number {
    return this.plots.length;
  }
}
