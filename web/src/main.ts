// main.ts - the page: finds its source (a recording in the document, one that the server has, or a running simulation), lays out
// bar, picture and panels, and ties them together.
import { Matrix4, Vector3 } from 'three';
import { button, download, h, keep, setIcon, setting, toggle } from './dom';
import { Drawings, RENDERINGS } from './drawings';
import { readContacts, readImmersions, readJoints, readStates, readJson, type Frame } from './frame';
import { Embedding } from './embed';
import { decodeBase64, Ghost, recordingIn } from './ghost';
import { GESTURES, Handle, type Tool } from './handle';
import { Joints } from './joints';
import { Keys, type Command } from './keys';
import { LiveSource } from './live';
import { menuButton, openMenu, type Item } from './menu';
import { FOLLOWS, Navigator, STEPS, STYLES, type Follow, type Style } from './navigate';
import { Outlines } from './outlines';
import { Overlays } from './overlays';
import { Console, Inspector, Tree } from './panels';
import { Plots } from './plots';
import { readRuns } from './plugin';
import { Recording } from './recording';
import { Resizer } from './resize';
import { FileSource } from './replay';
import { RobotInput } from './robots';
import { Sound } from './sound';
import type { Answer, Listener, Meta, Picture, Request, Source, State, TreeNode } from './source';
import { Timeline } from './timeline';
import { View } from './view';
import { RobotWindows } from './windows';
import { World } from './world';

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 0];  // 0: as fast as it goes
const TOOLS: [Tool, string, string][] = [['select', 'cursor', 'Select and look around'], ['translate', 'move', 'Move by handles'], ['rotate', 'rotate', 'Rotate by handles'],
  ['resize', 'resize', 'Resize by handles'], ['force', 'force', 'Push with a force'], ['torque', 'torque', 'Twist with a torque'], ['pull', 'pull', 'Pull by an elastic']];

// #key=value&… of the address, read once and again when it changes.
function fragment(): Map<string, string> {
  return new Map(location.hash.slice(1).split('&').filter(Boolean).map((part) => {
    const at = part.indexOf('=');
    return at < 0 ? [part, ''] : [part.slice(0, at), decodeURIComponent(part.slice(at + 1))];
  }));
}

class App implements Listener {
  readonly canvas = h('canvas', { class: 'picture', tabindex: 0, role: 'application', 'aria-label': 'World; arrow keys turn the view, plus and minus zoom, ? for help' });
  readonly world = new World();
  readonly view = new View(this.canvas, this.world);
  readonly navigator = new Navigator(this.view, this.world);
  readonly outlines = new Outlines(this.world);
  readonly drawings = new Drawings(this.view, this.world, this.outlines);
  readonly overlays = new Overlays(this.view, this.world);
  readonly sounds = new Sound(this.view, this.world);
  readonly ghost = new Ghost(() => this.view.dirty());
  readonly embedding = new Embedding(this);
  readonly resizer = new Resizer(this.world, (message) => this.act(message));
  readonly handle = new Handle(this.view, this.world, this.navigator, this.drawings, this.overlays, this.resizer, () => this.source);
  readonly tree = new Tree((message) => this.ask(message));
  readonly inspector = new Inspector((message) => this.ask(message), (words, isError) => this.overlays.toast(words, isError));
  readonly joints = new Joints((message) => this.act(message), () => this.frames);
  readonly console = new Console();
  readonly timeline = new Timeline(() => this.source, (words, isError) => this.overlays.toast(words, isError));
  readonly robots = new RobotInput(this.view, this.world, (message) => void this.ask(message));
  readonly windows = new RobotWindows((message) => this.ask(message), (words) => this.overlays.toast(words, true));
  readonly plots: Plots;
  readonly keys: Keys;
  source!: Source;
  worldMeta: Meta = {};
  time = 0;
  step = -1;          // of the frame shown last
  speed = 0;
  frames = 0;         // shown so far
  scenes = 0;
  contactCount = 0;
  onFirst: () => void = () => undefined;  // the first picture is there
  private unacknowledged = -1;
  private hasViewpoint = false;
  private sceneLoad: Promise<void> = Promise.resolve();
  private scrubTick = 0;
  private readonly watched = new Set<string>();  // devices, for drawings and pictures
  private readonly plotted = new Set<string>();  // devices, as they are watched
  private watchesJoints = false;
  private plotsJoints = false;
  private speedsAsked = 0;  // without an answer yet: the pace that a state tells is older
  private readonly parts = {
    title: h('span', { class: 'title' }, 'Talus'), play: button('play', 'Play', () => this.run('play')), time: h('output', { class: 'time', 'aria-label': 'Simulated time' }, '0.000 s'),
    factor: h('span', { class: 'stat', title: 'Simulated by real time' }), contacts: h('span', { class: 'stat contacts', title: 'Contact points' }),
    warnings: h('button', { type: 'button', class: 'stat', title: 'Warnings: open the console', hidden: true, onclick: () => this.panel('console', true) }),
    speed: h('select', { class: 'speed', 'aria-label': 'Speed', title: 'Speed' }), status: h('div', { class: 'status', role: 'status', hidden: true }),
    role: h('button', { type: 'button', class: 'role', hidden: true, onclick: () => void this.act({ do: 'take' }) }),
    left: h('aside', { class: 'panel left', 'aria-label': 'Scene tree' }), right: h('aside', { class: 'panel right', 'aria-label': 'Inspector' }), drawer: h('section', { class: 'drawer', 'aria-label': 'Console', hidden: true }),
    stage: h('div', { class: 'stage' }), tools: h('div', { class: 'tools', role: 'toolbar', 'aria-label': 'Tools', 'aria-orientation': 'vertical' }),
    sound: button('mute', 'Sound on', () => void this.toggleSound()), keyboard: button('keyboard', 'Send keys, mouse and gamepad to the robots', () => this.keys.setToRobot(!this.keys.toRobot)),
    tree: button('tree', 'Scene tree', () => this.panel('left')), inspect: button('sliders', 'Inspector and plots', () => this.panel('right')), terminal: button('terminal', 'Console', () => this.panel('console')),
    undo: button('undo', 'Undo', () => void this.act({ do: 'undo' })), redo: button('redo', 'Redo', () => void this.act({ do: 'redo' })),
    windows: menuButton(button('window', 'Robot windows', () => undefined, { hidden: true }), 'Robot windows', () => this.windows.items()),
    ghost: button('ghost', 'The second run', () => this.run('ghost'), { hidden: true }), apart: h('div', { class: 'apart', title: 'How far the second run is from this one: the selected solid, else the one furthest off', hidden: true }),
    progress: h('div', { class: 'progress', hidden: true, role: 'status' }),
  };

  constructor() {
    this.keys = new Keys(this.commands());
    this.keys.onRobotKeys = (codes) => void this.ask({ do: 'key', codes });
    this.keys.onRobotSwitch = (on) => {
      toggle(this.parts.keyboard, on);
      this.robots.isOn = on;
      this.overlays.toast(on ? 'Keys, mouse and gamepad go to the robots. Shift+Escape takes them back.' : 'Keys are for the viewer again.', false);
    };
    this.plots = new Plots(h('div', { class: 'plot-bar' }, menuButton(h('button', { type: 'button', class: 'text-button' }, 'Add a plot'), 'Plots', () => this.plotItems())));
    this.layOut();
    this.applyTheme(setting('theme', 'auto'));
    this.navigator.style = setting('style', 'webots') as Style;
    const still = matchMedia('(prefers-reduced-motion: reduce)');
    this.navigator.hasMotion = !still.matches;
    still.addEventListener('change', () => { this.navigator.hasMotion = !still.matches; });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.applyTheme(setting('theme', 'auto')));
    window.addEventListener('hashchange', () => this.readLink());
    this.handle.onSelect = (solid) => this.selected(solid);
    this.handle.onHandles = () => this.loadSizes();
    this.canvas.addEventListener('dblclick', (event) => this.openWindow(event));
    this.handle.onMenu = (x, y, solid) => this.contextMenu(x, y, solid);
    this.tree.onSelect = (node) => this.chosen(node);
    this.inspector.onPlot = (node, field) => this.plotField(node, field);
    this.inspector.onPlotReading = (node) => this.plotReading(node);
    this.inspector.onChanged = () => void this.tree.load();
    this.windows.onList = () => { this.parts.windows.hidden = this.windows.isEmpty; };
    this.overlays.onTrouble = (text) => this.console.print({ text, error: true });
    this.console.onJump = (node) => this.jump(node);
    new ResizeObserver(() => this.view.resize(this.parts.stage.clientWidth, this.parts.stage.clientHeight)).observe(this.parts.stage);
    this.view.afterDraw.push(() => this.overlays.drawNames(this.drawings.on.has('names'), (solid) => this.nameOf(solid)));
    // A ring around the picture is for those who came by keyboard.
    window.addEventListener('keydown', () => { document.documentElement.dataset.input = 'keyboard'; }, true);
    window.addEventListener('pointerdown', () => { document.documentElement.dataset.input = 'pointer'; }, true);
    for (const type of ['keydown', 'keyup', 'blur'] as const)
      window.addEventListener(type, (event) => this.stepKey(event), true);
    this.world.onRemade = () => this.drawings.restore();
    this.view.scene.add(this.ghost.world.root);
    this.ghost.world.metalness = this.world.metalness;
    document.documentElement.dataset.ui = fragment().get('ui') ?? 'all';
    this.setTool('select');
    requestAnimationFrame((now) => this.loop(now));
  }

  // ---- layout

  private layOut(): void {
    const { parts } = this;
    parts.speed.append(...SPEEDS.map((speed) => h('option', { value: speed, selected: speed === 1 }, speed === 0 ? 'max' : `${speed}×`)));
    parts.speed.addEventListener('change', () => void this.askSpeed());
    const bar = h('header', { class: 'bar' },
      h('div', { class: 'bar-group' }, parts.tree, h('span', { class: 'logo', 'aria-hidden': 'true' }), parts.title),
      h('div', { class: 'bar-group transport', role: 'toolbar', 'aria-label': 'Run' }, button('reset', 'Reset to the start', () => this.run('reset')), button('back', 'Step back', () => this.run('stepback')), parts.play,
        button('step', 'Step', () => this.run('step')), parts.speed, parts.time, parts.factor),
      h('div', { class: 'bar-group end' }, parts.status, parts.role, parts.ghost, parts.contacts, parts.warnings, parts.undo, parts.redo,
        menuButton(button('eye', 'What is shown', () => undefined), 'Optional renderings', () => this.renderingItems()),
        menuButton(button('camera', 'Views and cameras', () => undefined), 'Views', () => this.viewItems()),
        parts.windows, parts.sound, parts.keyboard, parts.terminal, parts.inspect,
        menuButton(button('more', 'More', () => undefined), 'More', () => this.moreItems()), button('help', 'Help', () => this.run('help'))));
    for (const [tool, name, words] of TOOLS)
      parts.tools.append(button(name, words, () => this.setTool(tool), { 'data-tool': tool, 'aria-pressed': 'false' }));
    parts.left.append(h('h2', {}, 'Scene'), this.tree.element);
    const tabs = h('div', { class: 'tabs', role: 'tablist' }), bodies: [string, HTMLElement][] = [['Inspector', this.inspector.element], ['Joints', this.joints.element], ['Plots', this.plots.element]];
    for (const [words, body] of bodies)
      tabs.append(h('button', { type: 'button', role: 'tab', 'aria-selected': 'false', onclick: () => this.tab(words) }, words)), body.dataset.tab = words;
    parts.right.append(tabs, ...bodies.map(([, body]) => body));
    parts.drawer.append(this.console.element);
    parts.stage.append(this.canvas, this.overlays.labels, this.overlays.names, this.overlays.pictures, this.windows.element, this.overlays.toasts, this.overlays.tip, parts.tools, this.resizer.element, parts.apart, parts.progress);
    const wide = window.innerWidth > 1000;
    parts.left.hidden = setting('left', wide ? 'open' : 'shut') !== 'open';
    parts.right.hidden = true;
    document.getElementById('app')!.append(bar, h('main', { class: 'middle' }, parts.left, h('div', { class: 'center' }, parts.stage, parts.drawer), parts.right), this.timeline.element);
    this.tab('Inspector');
    this.showPanels();
  }

  private tab(words: string): void {
    for (const element of this.parts.right.querySelectorAll<HTMLElement>('[role=tab]'))
      element.setAttribute('aria-selected', String(element.textContent === words));
    for (const element of this.parts.right.querySelectorAll<HTMLElement>('[data-tab]'))
      element.hidden = element.dataset.tab !== words;
  }

  panel(name: 'left' | 'right' | 'console', on?: boolean): void {
    const element = name === 'console' ? this.parts.drawer : this.parts[name];
    element.hidden = on === undefined ? !element.hidden : !on;
    keep(name, element.hidden ? 'shut' : 'open');
    this.showPanels();
  }

  private showPanels(): void {
    toggle(this.parts.tree, !this.parts.left.hidden);
    toggle(this.parts.inspect, !this.parts.right.hidden);
    toggle(this.parts.terminal, !this.parts.drawer.hidden);
  }

  private applyTheme(theme: string): void {
    const isDark = theme === 'dark' || (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
    this.view.scene.userData.isDark = isDark;
    this.view.setTheme(isDark ? 'dark' : 'light');
    keep('theme', theme);
  }

  // ---- menus

  private renderingItems(): Item[] {
    return RENDERINGS.map((one) => ({ words: one.words, help: one.help, isOn: this.drawings.on.has(one.id), keys: this.keys.keysOf(`show-${one.id}`), act: () => this.rendering(one.id, !this.drawings.on.has(one.id)) }));
  }

  rendering(id: string, on: boolean): void {
    this.drawings.set(id, on);
    if (id === 'labels')
      this.overlays.labels.hidden = !on;
    for (const watch of RENDERINGS.find((one) => one.id === id)?.watch ?? [])
      void this.ask({ do: 'watch', what: watch, on: this.isNeeded(watch) });
    if (!this.isNeeded('contacts'))
      this.drawings.contacts = [];
    if (!this.isNeeded('buoyancy'))
      this.drawings.immersions = [];
    if (!this.isNeeded('drawing'))
      this.drawings.plugin.show([]);
    this.watchDevices();
  }

  private isNeeded(watch: string): boolean {
    return RENDERINGS.some((one) => one.watch?.includes(watch) && this.drawings.on.has(one.id)) || (watch === 'joints' && (this.watchesJoints || this.plotsJoints));
  }

  // Asks for what devices measure while it is drawn or their picture is open, and for nothing else.
  private watchDevices(): void {
    const pictures = [...this.worldMeta.cameras ?? [], ...this.worldMeta.devices ?? []].map((one) => one.node!).filter((node) => this.overlays.hasPicture(node));
    const wanted = new Set([...[...this.drawings.devices.wanted(this.drawings.on, this.worldMeta), ...pictures].map((node) => `device:${node}`), ...this.plotted]);
    for (const what of [...this.watched])
      if (!wanted.has(what)) {
        this.watched.delete(what);
        void this.ask({ do: 'watch', what, on: false });
      }
    for (const what of wanted)
      if (!this.watched.has(what)) {
        this.watched.add(what);
        void this.act({ do: 'watch', what, on: true });
      }
  }

  private viewItems(): Item[] {
    const axes: [string, string][] = [['corner', 'Corner'], ['top', 'Top'], ['bottom', 'Bottom'], ['north', 'North'], ['south', 'South'], ['east', 'East'], ['west', 'West']];
    const items: Item[] = [{ words: 'Fit all', keys: this.keys.keysOf('fit'), act: () => this.run('fit') }, { words: 'Fit the selected', keys: this.keys.keysOf('fit-selected'), act: () => this.run('fit-selected') },
      { words: 'As the world says', keys: this.keys.keysOf('home'), act: () => this.run('home') }, { words: 'Orthographic', isOn: this.view.isParallel, keys: this.keys.keysOf('parallel'), act: () => this.run('parallel') },
      { words: 'From', isHead: true }, ...axes.map(([id, words]) => ({ words, keys: this.keys.keysOf(`view-${id}`), act: () => this.navigator.axisView(id) }))];
    const viewpoints = this.worldMeta.viewpoints ?? [];
    if (viewpoints.length > 0)
      items.push({ words: 'Viewpoints', isHead: true }, ...viewpoints.map((one, i) => ({ words: one.name ?? `Viewpoint ${i + 1}`, act: () => this.navigator.viewpoint(one, false) })));
    items.push({ words: 'Follow the selected', isHead: true }, ...(Object.entries(FOLLOWS) as [Follow, string][]).map(([mode, words]) => ({ words, isOn: this.navigator.followMode === mode, isRadio: true,
      act: () => this.follow(mode) })));
    const cameras = this.worldMeta.cameras ?? [];
    if (cameras.length > 0)
      items.push({ words: 'Cameras', isHead: true }, ...cameras.flatMap((camera, i): Item[] => {
        const name = camera.name ?? `camera ${i}`;
        const look: Item = { words: `Through ${name}`, act: () => this.lookThrough(i) };
        return camera.node === undefined || this.source.kind === 'file' ? [look] : [look, { words: `Picture of ${name}`, isOn: this.overlays.hasPicture(camera.node), act: () => this.togglePicture(camera.node!, name) }];
      }));
    const screens = this.source.kind === 'file' ? [] : (this.worldMeta.devices ?? []).filter((one) => one.kind === 'Display' || one.kind === 'Lidar');
    if (screens.length > 0)
      items.push({ words: 'Displays and lidars', isHead: true }, ...screens.map((one) => ({ words: `Picture of ${one.name || one.kind}`, isOn: this.overlays.hasPicture(one.node),
        act: () => this.togglePicture(one.node, one.name || one.kind) })));
    return items;
  }

  private follow(mode: Follow): void {
    const solid = this.handle.selected >= 0 ? this.handle.selected : this.navigator.followed;
    if (mode !== 'none' && solid < 0)
      this.overlays.toast('Select what to follow first.', false);
    this.navigator.follow(mode, mode === 'none' ? -1 : solid);
  }

  private lookThrough(index: number): void {
    const camera = this.worldMeta.cameras![index];
    if (camera.solid === undefined || camera.solid >= this.world.solidCount)
      return;
    const pose = this.world.pose(camera.solid, new Matrix4());
    const position = new Vector3(...(camera.position ?? [0, 0, 0])).applyMatrix4(pose);
    const turn = this.world.rotation(camera.solid, this.canvas ? this.view.camera.quaternion.clone() : this.view.camera.quaternion);
    const [w, angle] = [Math.sqrt(Math.max(0, 1 - turn.w * turn.w)), 2 * Math.acos(Math.min(Math.max(turn.w, -1), 1))];
    this.navigator.follow('none', -1);
    this.navigator.viewpoint({ position: position.toArray(), orientation: w < 1e-9 ? [0, 0, 1, 0] : [turn.x / w, turn.y / w, turn.z / w, angle], fov: camera.fov }, true);
    this.navigator.follow('mounted', camera.solid);
  }

  private togglePicture(node: number, name: string): void {
    if (this.overlays.hasPicture(node))
      this.overlays.closePicture(node);
    else
      this.overlays.openPicture(node, name, () => this.watchDevices());
    this.watchDevices();
  }

  private moreItems(): Item[] {
    const theme = setting('theme', 'auto'), isLive = this.source.kind === 'live';
    return [
      ...(isLive ? [{ words: 'Reload the world', keys: this.keys.keysOf('reload'), act: () => this.run('reload') }, { words: 'Save the world as…', act: () => this.save() }] : []),
      { words: 'Copy a link to this view', keys: this.keys.keysOf('link'), act: () => this.run('link') }, { words: 'Save a picture', keys: this.keys.keysOf('shot'), act: () => this.run('shot') },
      { words: 'Compare with a recording…', act: () => this.chooseGhost() },
      ...(this.ghost.name ? [{ words: 'Show the second run', help: this.ghost.name, isOn: this.ghost.isShown, keys: this.keys.keysOf('ghost'), act: () => this.run('ghost') }, { words: 'Compare no more', act: () => { this.ghost.close(); this.showGhost(); } }] : []),
      { words: 'Navigation', isHead: true }, ...(Object.entries(STYLES) as [Style, { words: string }][]).map(([style, { words }]) => ({ words: style === 'walk' ? `${words}: W A S D, E and Q` : `As in ${words === 'CAD' ? 'CAD programs' : words}`, isRadio: true, isOn: this.navigator.style === style,
        act: () => { this.navigator.style = style; this.navigator.steps.clear(); keep('style', style); } })),
      { words: 'Colours', isHead: true }, ...[['auto', 'As the system'], ['light', 'Light'], ['dark', 'Dark']].map(([id, words]) => ({ words, isRadio: true, isOn: theme === id, act: () => this.applyTheme(id) })),
    ];
  }

  // ---- a second run

  private chooseGhost(): void {
    const input = h('input', { type: 'file', accept: '.talus,.html' });
    input.addEventListener('change', () => {
      const file = input.files?.[0];
      if (file)
        void recordingIn(file).then((bytes) => this.openGhost(bytes, file.name)).catch((error: unknown) => this.overlays.toast(`${file.name}: ${error instanceof Error ? error.message : String(error)}`, true));
    });
    input.click();
  }

  openGhost(bytes: Uint8Array<ArrayBuffer>, name: string): void {
    this.ghost.open(bytes, name, this.worldMeta, this.time);
    this.showGhost();
  }

  private showGhost(): void {
    this.parts.ghost.hidden = this.parts.apart.hidden = this.ghost.name === '';
    this.parts.ghost.title = this.ghost.trouble || `The second run: ${this.ghost.name}`;
    toggle(this.parts.ghost, this.ghost.isShown);
  }

  title(): string { return this.parts.title.textContent ?? ''; }

  private save(): void {
    const path = window.prompt('Save the world as (empty: over its own file)', '');
    if (path !== null)
      void this.ask(path ? { do: 'save', path } : { do: 'save' }).then((answer) => this.overlays.toast(answer.ok ? `Saved ${String(answer.path ?? path)}` : answer.error ?? 'not saved', !answer.ok));
  }

  private contextMenu(x: number, y: number, solid: number): void {
    if (solid >= 0)
      this.handle.select(this.handle.selected === solid ? solid : this.drawings.topOf(solid));
    const robot = this.windows.of(this.handle.selected);
    const node = this.nodeOf(solid), isEditable = this.source.kind === 'live' && node !== undefined && !this.handle.isFrozen;
    openMenu(solid < 0 ? [{ words: 'Fit all', act: () => this.run('fit') }, { words: 'As the world says', act: () => this.run('home') }, { words: 'Copy a link to this view', act: () => this.run('link') }] : [
      { words: this.nameOf(this.handle.selected), isHead: true }, { words: 'Fit', act: () => this.run('fit-selected') },
      { words: 'Follow', isOn: this.navigator.followed === this.handle.selected && this.navigator.followMode === 'tracking', act: () => this.follow('tracking') },
      { words: 'Inspect', act: () => this.panel('right', true) }, { words: 'Plot its place', act: () => this.plotSolid(this.handle.selected) },
      ...(this.handle.isBumper(solid) && !this.handle.isFrozen ? [{ words: 'Touch it', act: () => this.handle.touch(solid) }] : []),
      ...(robot ? [{ words: 'Its window', isOn: this.windows.opened.has(robot.node), act: () => this.windows.toggle(robot) }] : []),
      ...(isEditable ? [{ words: 'Duplicate', act: () => void this.act({ do: 'duplicate', node }) }, { words: 'Delete', act: () => void this.act({ do: 'delete', node }) }] : []),
    ], x, y, null, 'Solid');
  }

  // A double click on a robot opens its window, where it has one.
  private openWindow(event: MouseEvent): void {
    const box = this.canvas.getBoundingClientRect(), hit = this.handle.pick(event.clientX - box.left, event.clientY - box.top);
    const robot = hit && hit.solid >= 0 ? this.windows.of(hit.solid) ?? this.windows.of(this.drawings.topOf(hit.solid)) : undefined;
    if (robot && !this.windows.opened.has(robot.node))
      this.windows.toggle(robot);
  }

  private plotItems(): Item[] {
    const solid = this.handle.selected, joints = this.worldMeta.joints ?? [];
    return [...(this.ghost.name ? [{ words: solid >= 0 ? `Distance of ${this.nameOf(solid)} from the second run` : 'Distance from the second run', act: () => this.openPlot('distance from the second run', ['m'], (add) => add('m', this.ghost.apart(this.world, solid))) }] : []),
      { words: 'Speed of the run', act: () => this.openPlot('speed', ['factor'], (add) => add('factor', this.speed)) },
      { words: 'Number of contacts', act: () => { this.openPlot('contacts', ['contacts'], (add) => add('contacts', this.contactCount)); } },
      ...(solid >= 0 ? [{ words: `Place of ${this.nameOf(solid)}`, act: () => this.plotSolid(solid) }, { words: `Speed of ${this.nameOf(solid)}`, act: () => this.plotVelocity(solid) }] : []),
      ...joints.slice(0, 40).map((joint, i) => ({ words: `Joint ${joint.name || i}`, act: () => this.plotJoint(i) }))];
  }

  private openPlot(title: string, names: string[], sample: string | ((add: (name: string, value: number) => void) => void), onClose?: () => void): void {
    this.panel('right', true);
    this.tab('Plots');
    this.plots.open(title, names, sample, onClose);
    this.plots.sample(this.time);
  }

  plotSolid(solid: number): void {
    this.openPlot(`Place of ${this.nameOf(solid)}`, ['x', 'y', 'z'], (add) => ['x', 'y', 'z'].forEach((name, i) => add(name, this.world.positions[3 * solid + i])));
  }

  private plotVelocity(solid: number): void {
    const last = new Vector3(), now = new Vector3();
    let time = NaN;
    this.openPlot(`Speed of ${this.nameOf(solid)}`, ['m/s'], (add) => {
      this.world.position(solid, now);
      if (this.time > time)
        add('m/s', now.distanceTo(last) / (this.time - time));
      last.copy(now);
      time = this.time;
    });
  }

  private plotJoint(index: number): void {
    const joints = this.worldMeta.joints ?? [];
    const at = joints.slice(0, index).reduce((sum, joint) => sum + (joint.axes ?? 1), 0);  // frames hold the axes of all joints in order
    this.plotsJoints = true;
    void this.ask({ do: 'watch', what: 'joints', on: true });
    this.openPlot(`Joint ${joints[index]?.name || index}`, ['position'], (add) => { if (this.drawings.joints.has(at)) add('position', this.drawings.joints.get(at)!); });
  }

  private plotField(node: number, field: string): void {
    const what = `value:${node}.${field}`, of = this.inspector.node, title = `${field} of ${of?.def || of?.name || of?.type || node}`;
    void this.act({ do: 'watch', what, on: true }).then((answer) => {
      if (answer.ok)
        this.openPlot(title, [], what, () => void this.ask({ do: 'watch', what, on: false }));
    });
  }

  private plotReading(node: TreeNode): void {
    const what = `device:${node.node}`;
    this.plotted.add(what);
    this.openPlot(`Reading of ${node.def || node.name || node.type}`, [], what, () => { this.plotted.delete(what); this.watchDevices(); });
    this.watchDevices();
  }

  // ---- commands

  private commands(): Command[] {
    const command = (id: string, words: string, group: string, keys: string[], act: () => void): Command => ({ id, words, group, keys, act });
    const orbit = (dx: number, dy: number) => (): void => this.navigator.orbit(dx, dy, false);
    return [
      command('play', 'Play or pause', 'Run', ['Space'], () => void this.act({ do: this.source.state.running ? 'pause' : 'play' })),
      command('step', 'One step', 'Run', ['.'], () => void this.act({ do: 'step', n: 1 })), command('stepback', 'One step back', 'Run', [','], () => void this.act({ do: 'stepback' })),
      command('reset', 'Reset to the start', 'Run', ['Shift+R'], () => void this.act({ do: 'reset' })), command('reload', 'Reload the world', 'Run', ['Ctrl+Shift+L'], () => void this.act({ do: 'reload' })),
      command('faster', 'Faster', 'Run', [']'], () => this.changeSpeed(1)), command('slower', 'Slower', 'Run', ['['], () => this.changeSpeed(-1)),
      command('undo', 'Undo', 'Handle', ['Ctrl+Z'], () => void this.act({ do: 'undo' })), command('redo', 'Redo', 'Handle', ['Ctrl+Y', 'Ctrl+Shift+Z'], () => void this.act({ do: 'redo' })),
      ...TOOLS.map(([tool, , words], i) => command(`tool-${tool}`, words, 'Handle', [['V', 'G', 'R', 'Shift+S', 'F', 'T', 'P'][i]], () => this.setTool(tool))),
      command('larger', 'Larger, with the tool that resizes', 'Handle', ['Ctrl+ArrowUp'], () => this.nudge(1.1)), command('smaller', 'Smaller, likewise', 'Handle', ['Ctrl+ArrowDown'], () => this.nudge(1 / 1.1)),
      command('touch', 'Touch the selected bumper', 'Handle', ['Enter'], () => this.touch(this.handle.selected)),
      command('delete', 'Delete the selected', 'Handle', ['Delete'], () => this.removeSelected()), command('escape', 'Select nothing', 'Handle', ['Escape'], () => this.handle.select(-1)),
      command('fit', 'Fit all', 'View', ['A'], () => this.navigator.fit(this.world.bounds())), command('fit-selected', 'Fit the selected', 'View', ['Z'], () => { if (this.handle.selected >= 0) this.navigator.fit(this.world.bounds(this.handle.selected)); }),
      command('home', 'View of the world', 'View', ['H', 'Home'], () => this.navigator.home()), command('parallel', 'Orthographic or perspective', 'View', ['O', 'F10'], () => this.view.setParallel(!this.view.isParallel)),
      ...[['corner', '7'], ['top', '5'], ['bottom', '6'], ['north', '3'], ['south', '4'], ['east', '1'], ['west', '2']].map(([id, key]) => command(`view-${id}`, `From ${id}`, 'View', [key], () => this.navigator.axisView(id))),
      command('left', 'Turn left', 'View', ['ArrowLeft'], orbit(-12, 0)), command('right', 'Turn right', 'View', ['ArrowRight'], orbit(12, 0)), command('up', 'Turn up', 'View', ['ArrowUp'], orbit(0, -12)), command('down', 'Turn down', 'View', ['ArrowDown'], orbit(0, 12)),
      command('nearer', 'Nearer', 'View', ['+', '='], () => this.navigator.zoom(0.1)), command('farther', 'Farther', 'View', ['-'], () => this.navigator.zoom(-0.1)),
      command('follow', 'Follow the selected or not', 'View', ['X'], () => this.follow(this.navigator.followMode === 'none' ? 'tracking' : 'none')),
      command('next', 'Select the next solid', 'View', ['N'], () => this.selectNext(1)), command('previous', 'Select the solid before', 'View', ['Shift+N'], () => this.selectNext(-1)),
      ...([['bounding', 'B', 'Ctrl+F2'], ['contacts', 'C', 'Ctrl+F3'], ['forces', 'Shift+F', ''], ['joints', 'J', 'Ctrl+F5'], ['mass', 'M', 'Shift+F2'], ['wireframe', 'W', 'F12'], ['coordinates', 'K', 'Ctrl+F1'], ['shadows', 'S', ''], ['names', 'L', ''], ['cameras', 'Q', 'Ctrl+F9'], ['support', 'U', 'Shift+F4'],
        ['connectors', '', 'Ctrl+F4'], ['lidar', '', 'Ctrl+F7'], ['cloud', '', 'Ctrl+F8'], ['distance', 'D', 'Ctrl+F10'], ['lightrays', '', 'Ctrl+F11'], ['lights', '', 'Ctrl+F12'], ['pens', '', 'Shift+F1'], ['inertia', 'Y', ''], ['limits', 'E', ''], ['islands', '', 'Shift+F8'], ['buoyancy', '', 'Shift+F3'], ['skeleton', '', 'Shift+F9'], ['plugin', '', '']] as const)
        .map(([id, key, other]) => command(`show-${id}`, RENDERINGS.find((one) => one.id === id)!.words, 'Show', [key, other].filter(Boolean), () => this.rendering(id, !this.drawings.on.has(id)))),
      command('ghost', 'Show the second run or not', 'Show', ['Shift+G'], () => { this.ghost.show(!this.ghost.isShown); this.showGhost(); }),
      command('help', 'This help', 'Page', ['?', 'F1'], () => this.keys.help(GESTURES)), command('tree', 'Scene tree', 'Page', ['Ctrl+B'], () => this.panel('left')), command('inspector', 'Inspector', 'Page', ['I'], () => this.panel('right')),
      command('console', 'Console', 'Page', ['`'], () => this.panel('console')), command('robot', 'Keys to the robots', 'Page', ['Ctrl+Enter'], () => this.keys.setToRobot(true)),
      command('link', 'Copy a link to this view', 'Page', ['Ctrl+L'], () => this.copyLink()), command('shot', 'Save a picture', 'Page', ['Shift+P'], () => this.canvas.toBlob((blob) => { if (blob) download('talus.png', blob, 'image/png'); })),
    ];
  }

  run(id: string): void {
    this.keys.run(id);
  }

  private selectNext(by: number): void {
    const count = this.world.solidCount;
    for (let i = 1; i <= count; i++) {
      const solid = ((this.handle.selected < 0 ? (by > 0 ? -1 : 0) : this.handle.selected) + by * i + 2 * count) % count;
      if (this.world.isThere[solid] && !this.world.localBox(solid).isEmpty()) {
        this.handle.select(solid);
        this.overlays.toast(this.nameOf(solid), false);
        return;
      }
    }
  }

  private removeSelected(): void {
    const node = this.nodeOf(this.handle.selected);
    if (node !== undefined && !this.handle.isFrozen)
      void this.act({ do: 'delete', node });
  }

  private changeSpeed(by: number): void {
    const at = SPEEDS.indexOf(Number(this.parts.speed.value)), to = Math.min(Math.max(at + by, 0), SPEEDS.length - 1);
    this.parts.speed.value = String(SPEEDS[to]);
    void this.askSpeed();
  }

  private async askSpeed(): Promise<void> {
    this.speedsAsked++;
    await this.act({ do: 'speed', factor: Number(this.parts.speed.value) });
    this.speedsAsked--;
  }

  // In the style of one who walks some keys are his while the picture has the focus, and come to nobody else.
  private stepKey(event: Event): void {
    const { navigator, keys } = this, { code = '', ctrlKey, altKey, metaKey, shiftKey = false } = event as Partial<KeyboardEvent>;
    navigator.isRunning = shiftKey;
    if (event.type === 'blur')
      navigator.steps.clear();
    else if (event.type === 'keyup')
      navigator.steps.delete(code);
    else if (navigator.style === 'walk' && code in STEPS && !ctrlKey && !altKey && !metaKey && !keys.toRobot && document.activeElement === this.canvas) {
      navigator.steps.add(code);
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }

  private nudge(factor: number): void {
    if (this.handle.handles === 'scale')
      this.resizer.nudge(factor);
  }

  private touch(solid: number): void {
    if (this.handle.isBumper(solid) && !this.handle.isFrozen)
      this.handle.touch(solid);
    else
      this.overlays.toast('Select the bumper of a robot first.', false);
  }

  // What of the selected solid can be resized, while handles for it are wanted.
  private loadSizes(): void {
    const isWanted = this.handle.handles === 'scale' && this.handle.selected >= 0 && !this.handle.isFrozen;
    void this.resizer.load(this.handle.selected, isWanted ? this.nodeOf(this.handle.selected) : undefined);
  }

  setTool(tool: Tool): void {
    this.handle.setTool(tool);
    if (this.source)
      this.loadSizes();
    for (const element of this.parts.tools.querySelectorAll<HTMLElement>('[data-tool]'))
      toggle(element, element.dataset.tool === tool);
  }

  private async toggleSound(): Promise<void> {
    await this.sounds.setOn(!this.sounds.isOn);
    setIcon(this.parts.sound, this.sounds.isOn ? 'sound' : 'mute', this.sounds.isOn ? 'Sound off' : 'Sound on');
    toggle(this.parts.sound, this.sounds.isOn);
  }

  private copyLink(): void {
    const kept = [...fragment()].filter(([key]) => !['t', 'cam', 'sel', 'token'].includes(key));
    const parts = [...kept, ['t', this.time.toFixed(3)], ['cam', this.navigator.toText()], ...(this.handle.selected >= 0 ? [['sel', String(this.handle.selected)]] : [])];
    const link = `${location.href.split('#')[0]}#${parts.map(([key, value]) => `${key}=${value}`).join('&')}`;
    void copyText(link).then((ok) => this.overlays.toast(ok ? 'Link copied.' : link, false));
  }

  // What the address says about time, eye and choice.
  readLink(): void {
    const link = fragment(), time = Number(link.get('t'));
    if (link.has('t') && Number.isFinite(time) && this.frames > 0)
      this.timeline.seek(time);
    if (link.has('cam'))
      this.hasViewpoint = this.navigator.fromText(link.get('cam')!) || this.hasViewpoint;
    const solid = Number(link.get('sel'));
    if (link.has('sel') && solid >= 0 && solid < this.world.solidCount)
      this.handle.select(solid);
  }

  ask(message: Request): Promise<Answer> {
    return this.source.request(message);
  }

  // Asks, and says why where it is refused.
  async act(message: Request): Promise<Answer> {
    const answer = await this.ask(message);
    if (!answer.ok)
      this.overlays.toast(answer.error ?? `${message.do} was refused`, true);
    else if (this.timeline.isPast && ['play', 'step', 'reset', 'reload'].includes(message.do))
      await this.timeline.now();
    return answer;
  }

  // ---- choosing

  nameOf(solid: number): string {
    const meta = this.worldMeta.solids?.[solid];
    return meta?.def || meta?.name || this.world.names[solid] || `solid ${solid}`;
  }

  private nodeOf(solid: number): number | undefined {
    return this.source.kind === 'file' ? (solid >= 0 ? solid + 1 : undefined) : this.worldMeta.solids?.[solid]?.node;
  }

  private selected(solid: number): void {
    this.outlines.only = solid >= 0 && this.source.kind === 'live' ? solid : -1;
    const node = this.nodeOf(solid);
    this.showJoints();
    this.loadSizes();
    if (solid < 0) {
      this.inspector.clear();
      this.tree.clear();
      return;
    }
    if (node !== undefined) {
      const meta = this.worldMeta.solids?.[solid];
      this.tree.showSolid(solid, (one) => this.worldMeta.solids?.[one]?.parent ?? -1);
      void this.inspector.show({ node, type: meta?.type ?? 'Solid', def: meta?.def, name: meta?.name, solid });
      if (window.innerWidth > 1000 && setting('right', 'open') === 'open')
        this.panel('right', true);
    }
  }

  // The joints of the robot that is selected, with their sliders; watched while they are looked at.
  private showJoints(): void {
    const top = this.handle.selected >= 0 ? this.drawings.topOf(this.handle.selected) : -1;
    this.joints.canEdit = !this.handle.isFrozen;
    this.joints.show(this.worldMeta, (joint) => top < 0 || (joint.solid !== undefined && joint.solid >= 0 && this.drawings.topOf(joint.solid) === top));
  }

  private refreshJoints(): void {
    if (this.joints.isShown !== this.watchesJoints) {
      this.watchesJoints = this.joints.isShown;
      void this.ask({ do: 'watch', what: 'joints', on: this.isNeeded('joints') });
    }
    if (this.watchesJoints)
      this.joints.refresh(this.drawings.joints);
  }

  private chosen(node: TreeNode): void {
    if (node.solid !== undefined && node.solid >= 0 && node.solid !== this.handle.selected)
      this.handle.select(node.solid);
    this.resizer.prefer(node.node);
    void this.inspector.show(node);
    if (window.innerWidth > 1000)
      this.panel('right', true);
  }

  // To the node that a diagnostic is about: its number, or the path of its solid.
  private jump(node: number | string): void {
    const solid = this.worldMeta.solids?.findIndex((one) => one.node === node || one.name === node || one.def === node) ?? -1;
    if (solid >= 0)
      this.handle.select(solid);
    else if (typeof node === 'number' && this.tree.show(node))
      void this.inspector.show({ node, type: 'node' });
  }

  // ---- what the source tells

  meta(meta: Meta): void {
    this.worldMeta = meta;
    this.ghost.pair(meta);
    this.drawings.meta = meta;
    this.parts.title.textContent = meta.title || meta.file || 'Talus';
    document.title = `${meta.title || meta.file || 'world'} · Talus`;
    this.view.setBackground(meta.background?.color);
    this.outlines.setShapes(meta.shapes ?? []);
    this.world.lamps.setDevices(meta.devices ?? []);
    this.view.sunward.set(...(meta.sun ?? [0, 0, 0])).negate();
    this.drawings.devices.forget();
    this.watchDevices();
    this.showJoints();
    void this.tree.load();
    if (this.source.kind === 'live')
      void this.windows.load();
    void this.ask({ do: 'watch', what: 'info', on: true });
    if (this.isNeeded('drawing'))
      void this.ask({ do: 'watch', what: 'drawing', on: true });
  }

  scene(revision: number, glb: ArrayBuffer): void {
    this.sceneLoad = this.sceneLoad.then(() => this.world.load(revision, glb)).then(() => this.sceneLoaded()).catch((error: unknown) => {
      this.overlays.toast(`The scene cannot be shown: ${error instanceof Error ? error.message : String(error)}`, true);
    });
  }

  private sceneLoaded(): void {
    this.scenes++;
    this.parts.progress.hidden = true;
    this.view.setUp(this.worldMeta.up === 'y' || (this.worldMeta.up === undefined && this.world.isYUp));
    this.drawings.restore();
    if (this.drawings.states.length < this.world.solidCount)
      this.drawings.states = new Uint8Array(this.world.solidCount);
    if (this.handle.selected >= this.world.solidCount)
      this.handle.select(-1);
    if (!this.hasViewpoint)
      this.firstLook();
    if (!this.handle.gizmo?.dragging)
      this.loadSizes();
    this.view.dirty();
  }

  private firstLook(): void {
    this.hasViewpoint = true;
    const viewpoint = this.worldMeta.viewpoint;
    this.navigator.fit(this.world.bounds(), this.navigator.defaultDirection(), true);
    if (viewpoint?.position)
      this.navigator.viewpoint(viewpoint, true);
    const modes: Record<string, Follow> = { 'Tracking Shot': 'tracking', 'Mounted Shot': 'mounted', 'Pan and Tilt Shot': 'pan-tilt' };
    if (viewpoint?.follow !== undefined && viewpoint.follow >= 0) {
      this.navigator.smoothness = viewpoint.smoothness ?? 0.5;
      this.navigator.follow(modes[viewpoint.followType ?? 'Tracking Shot'] ?? 'none', viewpoint.follow);
    }
    this.readLink();
  }

  frame(frame: Frame): void {
    this.world.apply(frame);
    if (this.drawings.states.length < this.world.solidCount) {
      const grown = new Uint8Array(this.world.solidCount);
      grown.set(this.drawings.states);
      this.drawings.states = grown;
    }
    const { sections } = frame, isWanted = (watch: string): boolean => this.source.kind === 'file' || this.isNeeded(watch);  // one that is late may have more
    if (sections.has('CONT') && isWanted('contacts'))
      this.drawings.contacts = readContacts(sections.get('CONT')!);
    if (sections.has('STAT'))
      readStates(sections.get('STAT')!, this.drawings.states);
    if (sections.has('JNTS'))
      readJoints(sections.get('JNTS')!, this.drawings.joints);
    if (sections.has('DRAW') && isWanted('drawing'))
      this.drawings.plugin.show(readRuns(sections.get('DRAW')!));
    if (sections.has('BUOY') && isWanted('buoyancy'))
      this.drawings.immersions = readImmersions(sections.get('BUOY')!);
    if (sections.has('INFO'))
      this.info(sections.get('INFO')!);
    else if (sections.has('CONT'))
      this.contactCount = this.drawings.contacts.length;
    this.time = frame.time;
    this.step = frame.step;
    this.speed = frame.speed;
    this.frames++;
    this.ghost.follow(frame.time);
    this.navigator.followStep(frame.time);
    this.plots.sample(frame.time);
    this.unacknowledged = frame.step;
    this.view.dirty();
  }

  // Between two frames of a recording that plays.
  blend(next: Frame, part: number, time: number): void {
    this.world.blend(next, part);
    this.time = time;
    this.ghost.follow(time);
    this.navigator.followStep(time);
    this.view.dirty();
  }

  private info(view: DataView): void {
    const info = readJson(view) as Record<string, unknown> | null;
    if (info && typeof info.contacts === 'number')
      this.contactCount = info.contacts;
    if (info && typeof info.warnings === 'number')
      this.console.warningCount = Math.max(info.warnings, this.console.warningCount);
  }

  state(state: State): void {
    setIcon(this.parts.play, state.running ? 'pause' : 'play', state.running ? 'Pause' : 'Play');
    const isSpectator = state.role === 'spectator';
    this.handle.isFrozen = isSpectator || this.source.kind === 'file';
    this.inspector.canEdit = !this.handle.isFrozen;
    if (this.joints.canEdit !== !this.handle.isFrozen)
      this.showJoints();
    this.parts.role.hidden = !isSpectator;
    this.parts.role.disabled = state.mayControl === false;
    this.parts.role.textContent = state.mayControl === false ? 'Watching' : 'Watching · take control';
    if (state.pace !== undefined && SPEEDS.includes(state.pace) && this.speedsAsked === 0)
      this.parts.speed.value = String(state.pace);
    if (state.live !== undefined) {
      if (!state.live)  // of past moments the poses alone are kept
        this.forgetDrawn();
      this.timeline.told(!state.live);
    }
    this.parts.tools.hidden = this.handle.isFrozen;
    this.parts.undo.hidden = this.parts.redo.hidden = this.parts.keyboard.hidden = this.handle.isFrozen;
    document.documentElement.dataset.source = this.source.kind;
    this.sounds.setFactor(state.running ? this.source.kind === 'file' ? state.factor : this.speed || 1 : 1);
    if (!state.running)
      this.sounds.silence();
  }

  label(label: Parameters<Listener['label']>[0]): void { this.overlays.setLabel(label); }
  sound(event: Parameters<Listener['sound']>[0]): void { this.sounds.handle(event); }
  clip(name: string, wav: ArrayBuffer): void { this.sounds.addClip(name, wav); }
  print(event: Parameters<Listener['print']>[0]): void { this.console.print(event); }
  diagnostic(event: Parameters<Listener['diagnostic']>[0]): void { this.console.diagnostic(event); }
  value(name: string, time: number, values: number[]): void {
    this.plots.value(name, Number.isFinite(time) ? time : this.time, values);
    if (name.startsWith('device:'))
      this.drawings.devices.values.set(Number(name.slice(7)), values);
    this.view.dirty();
  }

  picture(picture: Picture): void {
    this.overlays.setPicture(picture);
    if (picture.kind === 1)
      this.drawings.devices.pictures.set(picture.node, picture);
    this.view.dirty();
  }

  windowed(node: number, text: string): void { this.windows.receive(node, text); }
  ink(tiles: DataView): void {
    this.world.takeInk(tiles);
    this.view.dirty();
  }

  private forgetDrawn(): void {
    this.drawings.contacts = [];
    this.drawings.immersions = [];
    this.drawings.plugin.show([]);
  }

  scrubbed(): void {
    this.forgetDrawn();
    this.world.takeInk(new DataView(new ArrayBuffer(0)));
    this.drawings.states.fill(0);
    this.overlays.clearLabels();
    this.sounds.silence();
  }

  status(words: string, isError: boolean): void {
    this.parts.status.hidden = words === '';
    this.parts.status.textContent = words;
    this.parts.status.classList.toggle('error', isError);
    if (this.scenes === 0) {
      this.parts.progress.hidden = words === '';
      this.parts.progress.textContent = words;
    }
  }

  // ---- the loop

  private loop(now: number): void {
    requestAnimationFrame((next) => this.loop(next));
    if (!this.source)
      return;
    this.source.tick(now);
    this.navigator.tick(now);
    this.handle.tick();
    this.robots.tick();
    this.sounds.tick(now);
    this.embedding.tick(now);
    const wasDrawn = this.scenes > 0 && this.frames > 0 && this.view.draw();
    if (this.view.firstPicture > 0 && Number.isFinite(this.view.firstPicture)) {
      this.onFirst();
      this.onFirst = () => undefined;
    }
    if (this.unacknowledged >= 0 && (wasDrawn || this.view.isFresh)) {
      this.source.drawn(this.unacknowledged);
      this.unacknowledged = -1;
    }
    if (now - this.scrubTick > 60) {
      this.scrubTick = now;
      this.showNumbers();
      this.plots.draw();
      if (this.source.kind === 'live')
        void this.inspector.refresh(now);
      this.refreshJoints();
    }
  }

  private showNumbers(): void {
    const { parts } = this;
    const set = (element: HTMLElement, text: string): void => { if (element.textContent !== text) element.textContent = text; };
    set(parts.time, `${this.time.toFixed(3)} s`);
    set(parts.factor, this.speed > 0 ? `${this.speed >= 10 ? this.speed.toFixed(0) : this.speed.toFixed(2)}×` : '');
    set(parts.contacts, this.contactCount > 0 ? `${this.contactCount} contact${this.contactCount === 1 ? '' : 's'}` : '');
    if (this.ghost.name)
      set(parts.apart, length(this.ghost.apart(this.world, this.handle.selected)));
    set(parts.warnings, this.console.warningCount > 0 ? `${this.console.warningCount} ⚠` : '');
    parts.warnings.hidden = this.console.warningCount === 0;
    this.timeline.show(this.source.state, this.time);
  }

  progress(words: string): void {
    this.parts.progress.hidden = words === '';
    this.parts.progress.textContent = words;
  }

  begin(source: Source): void {
    this.source = source;
    source.start(this);
    this.state(source.state);
  }
}

// A length as people say it.
function length(metres: number): string {
  return Number.isNaN(metres) ? '' : metres < 0.001 ? `${(1e6 * metres).toFixed(0)} µm apart` : metres < 1 ? `${(1e3 * metres).toFixed(metres < 0.1 ? 1 : 0)} mm apart` : `${metres.toFixed(2)} m apart`;
}

async function copyText(text: string): Promise<boolean> {
  try {
    await window.navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

// The second run: in the document, or the server's.
async function findGhost(app: App, token: string): Promise<void> {
  const inside = document.getElementById('talus-ghost');
  if (inside)
    app.openGhost(decodeBase64(inside.textContent!), inside.dataset.name ?? 'second run');
  if (inside || document.getElementById('talus-recording'))
    return;
  const answer = await fetch('ghost', { headers: { 'X-Talus-Token': token } });
  if (answer.status === 200)
    app.openGhost(new Uint8Array(await answer.arrayBuffer()), 'second run');
}

// The bytes of the recording that the server has, told as they come.
async function fetchRecording(app: App, token: string): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch('recording', { headers: { 'X-Talus-Token': token } });
  if (!answer.ok || !answer.body)
    throw new Error(`the server refused the recording (${answer.status})`);
  const total = Number(answer.headers.get('Content-Length')), chunks: Uint8Array[] = [], reader = answer.body.getReader();
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value);
    size += part.value.byteLength;
    app.progress(total > 0 ? `Loading the recording… ${Math.round(100 * size / total)} %` : 'Loading the recording…');
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

async function main(): Promise<void> {
  const link = fragment(), token = link.get('token') ?? '', time = link.has('t') ? Number(link.get('t')) : null;
  const inside = document.getElementById('talus-recording');
  // Asked before the page is made, which takes longer than the answer.
  const head = inside ? null : fetch('recording', { method: 'HEAD', headers: { 'X-Talus-Token': token } }).catch(() => null);
  let app: App;
  try {
    app = new App();
  } catch (error) {
    document.body.textContent = `The world cannot be drawn: this browser has no WebGL 2, or it is switched off. (${error instanceof Error ? error.message : String(error)})`;
    return;
  }
  (window as unknown as { talus: App }).talus = app;
  try {
    const bytes = inside ? decodeBase64(inside.textContent!) : (await head)?.ok ? await fetchRecording(app, token) : null;
    app.begin(bytes ? new FileSource(new Recording(bytes), time) : new LiveSource(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/socket`, token));
    app.onFirst = () => void findGhost(app, token).catch((error: unknown) => app.overlays.toast(`The second run cannot be shown: ${error instanceof Error ? error.message : String(error)}`, true));
  } catch (error) {
    app.progress(error instanceof Error ? error.message : String(error));
  }
}
void main();
