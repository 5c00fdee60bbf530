// view.ts - the picture: renderer, light, sky, shadows, the camera in perspective or parallel projection. Draws on demand alone.
import { ACESFilmicToneMapping, AmbientLight, BackSide, Box3, BufferAttribute, Color, DirectionalLight, HemisphereLight, Mesh, MeshBasicMaterial,
         OrthographicCamera, PCFShadowMap, PerspectiveCamera, PMREMGenerator, Quaternion, Raycaster, Scene, SphereGeometry, SRGBColorSpace, Vector2, Vector3,
         WebGLRenderer, type Camera } from 'three';
import type { World } from './world';

const ENVIRONMENT_SIZE = 64;  // pixels
const PLAIN_LIGHT = 1.7, SKY_LIGHT = 0.9;  // of the hemisphere, without and beside a sky that is mirrored
const SKIES = {
  light: ['#4f8bd0', '#bcd7f2', '#eaf1f7', '#c3cbd3'],  // zenith, above the horizon, at it, below
  dark: ['#0d131c', '#1d2836', '#2a3542', '#12161c'],
};

export class View {
  readonly scene = new Scene();
  readonly perspective = new PerspectiveCamera(45, 1, 0.02, 2000);
  readonly parallel = new OrthographicCamera(-1, 1, 1, -1, -1000, 2000);
  readonly renderer: WebGLRenderer;
  readonly sun = new DirectionalLight(0xfff4e6, 2.4);
  readonly up = new Vector3(0, 0, 1);
  readonly sunward = new Vector3();  // towards the sun of the world; none where it is zero
  isParallel = false;
  parallelHeight = 4;  // m, of the view in parallel projection
  focusDistance = 5;   // m, from the eye to what is looked at
  width = 1;
  height = 1;
  beforeDraw: (() => void)[] = [];
  afterDraw: (() => void)[] = [];
  jsMilliseconds = 0;  // of the last frame drawn, without the graphics processor's part
  firstPicture = 0;    // ms after the page was opened when the first one was on the screen; 0: not yet
  isWhole = false;     // shadows and mirrored sky are drawn too: the first picture is there before their programs are made
  private isDirty = true;
  private readonly hemisphere = new HemisphereLight(0xdfeaf5, 0x8a8378, PLAIN_LIGHT);
  private readonly sky: Mesh<SphereGeometry, MeshBasicMaterial>;
  private theme: 'light' | 'dark' = 'light';
  private background: Color | null = null;
  private hasShadows = true;
  private isSkyNew = true;
  private isYUp = false;
  private readonly isSoftware: boolean;
  private bounds = new Box3();
  private boundsAge = -Infinity;

  constructor(readonly canvas: HTMLCanvasElement, private readonly world: World) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true, powerPreference: 'high-performance' });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.05;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.sky = new Mesh(new SphereGeometry(900, 24, 24), new MeshBasicMaterial({ vertexColors: true, side: BackSide, depthWrite: false, fog: false, toneMapped: false }));
    this.sky.frustumCulled = false;
    this.sky.renderOrder = -10;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.02;
    this.scene.add(this.sky, this.hemisphere, new AmbientLight(0xffffff, 0.15), this.sun, this.sun.target, world.root);
    this.setUp(false);
    const info = this.renderer.getContext().getExtension('WEBGL_debug_renderer_info');
    this.isSoftware = info !== null && /swiftshader|llvmpipe|softpipe|software/i.test(String(this.renderer.getContext().getParameter(info.UNMASKED_RENDERER_WEBGL)));
    if (this.isSoftware)
      world.metalness = 0.2;
    this.setTheme('light');
  }

  get camera(): Camera & { position: Vector3; quaternion: Quaternion } {
    return this.isParallel ? this.parallel : this.perspective;
  }

  setUp(isYUp: boolean): void {
    this.up.set(0, isYUp ? 1 : 0, isYUp ? 0 : 1);
    this.perspective.up.copy(this.up);
    this.hemisphere.position.copy(this.up);
    this.sky.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), this.up);
    this.isSkyNew ||= this.isYUp !== isYUp;
    this.isYUp = isYUp;
    this.dirty();
  }

  setTheme(theme: 'light' | 'dark'): void {
    this.theme = theme;
    this.paintSky();
  }

  // The world's own colour of the sky; null for ours.
  setBackground(color: string | number[] | undefined): void {
    this.background = color === undefined ? null : typeof color === 'string' ? new Color(color) : new Color().setRGB(color[0], color[1], color[2], SRGBColorSpace);
    this.paintSky();
  }

  private paintSky(): void {
    const colors = this.background ? skyAround(this.background) : SKIES[this.theme].map((text) => new Color(text));
    const position = this.sky.geometry.getAttribute('position');
    const paint = new Float32Array(3 * position.count), color = new Color();
    for (let i = 0; i < position.count; i++) {
      const height = position.getY(i) / 900;
      if (height >= 0)
        color.lerpColors(colors[2], colors[1], Math.min(height * 6, 1)).lerp(colors[0], Math.max(0, Math.min((height - 0.05) * 1.3, 1)));
      else
        color.lerpColors(colors[2], colors[3], Math.min(-height * 5, 1));
      color.toArray(paint, 3 * i);
    }
    this.sky.geometry.setAttribute('color', new BufferAttribute(paint, 3));
    this.isSkyNew = true;
    this.dirty();
  }

  // Light from the sky for what mirrors it. Its filter takes seconds without a graphics processor; there more plain light stands in.
  private makeEnvironment(): void {
    this.isSkyNew = false;
    this.hemisphere.intensity = this.isSoftware ? PLAIN_LIGHT : SKY_LIGHT;
    if (this.isSoftware)
      return;
    const pmrem = new PMREMGenerator(this.renderer), scene = new Scene(), dome = this.sky.clone();
    dome.position.set(0, 0, 0);
    scene.add(dome);
    this.scene.environment?.dispose();
    this.scene.environment = pmrem.fromScene(scene, 0, 1, 1000, { size: ENVIRONMENT_SIZE }).texture;
    this.scene.environmentIntensity = this.theme === 'dark' && !this.background ? 0.9 : 0.55;
    pmrem.dispose();
  }

  setShadows(on: boolean): void {
    this.hasShadows = on;
    this.dirty();
  }

  resize(width: number, height: number): void {
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
    this.renderer.setPixelRatio(this.isSoftware ? 1 : Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(this.width, this.height, false);
    this.perspective.aspect = this.width / this.height;
    this.dirty();
  }

  dirty(): void {
    this.isDirty = true;
  }

  // What is to be seen is on the canvas.
  get isFresh(): boolean {
    return !this.isDirty;
  }

  // Bounds of the world, not older than half a second: they are for shadows, and cost a walk over all solids.
  private recentBounds(): Box3 {
    const now = performance.now();
    if (now - this.boundsAge > 500) {
      this.boundsAge = now;
      this.bounds = this.world.bounds();
    }
    return this.bounds.clone();
  }

  private placeSun(): void {
    const bounds = this.recentBounds();
    const center = new Vector3(), size = new Vector3();
    if (bounds.isEmpty())
      bounds.setFromCenterAndSize(center, size.set(4, 4, 4));
    bounds.getCenter(center);
    const radius = Math.min(Math.max(bounds.getSize(size).length() * 0.65, 0.5), 4 * this.focusDistance + 5);
    if (radius < bounds.getSize(size).length() * 0.5)  // a large world: shadows where one looks
      center.copy(this.camera.position).add(new Vector3(0, 0, -this.focusDistance).applyQuaternion(this.camera.quaternion));
    const aim = this.sunward.clone();
    if (aim.dot(this.up) < 0.15)  // the world has no light from above
      aim.set(0.45, this.up.y ? 0.9 : -0.35, this.up.y ? 0.35 : 0.9).normalize();
    this.sun.target.position.copy(center);
    this.sun.position.copy(center).addScaledVector(aim, 3 * radius);
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -radius;
    camera.right = camera.top = radius;
    camera.near = radius;
    camera.far = 6 * radius;
    camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = radius * 0.002;
  }

  private placeCamera(): void {
    const eye = this.camera.position;
    this.perspective.near = Math.min(Math.max(this.focusDistance * 0.005, 0.002), 0.5);
    this.perspective.far = Math.max(2000, this.focusDistance * 50);
    this.perspective.updateProjectionMatrix();
    if (this.isParallel) {
      const half = this.parallelHeight / 2, aspect = this.width / this.height;
      this.parallel.left = -half * aspect;
      this.parallel.right = half * aspect;
      this.parallel.top = half;
      this.parallel.bottom = -half;
      this.parallel.updateProjectionMatrix();
    }
    this.sky.position.copy(eye);
    this.camera.updateMatrixWorld();
  }

  // After the display frame with the first picture comes all that makes it fine.
  private shownFirst(): void {
    this.firstPicture = Infinity;  // it is under way
    requestAnimationFrame(() => requestAnimationFrame((now) => {
      this.firstPicture = now;
      this.isWhole = true;
      this.dirty();
    }));
  }

  // Draws if something changed since the last time. Returns whether it did.
  draw(): boolean {
    if (!this.isDirty)
      return false;
    this.isDirty = false;
    const start = performance.now();
    if (this.isSkyNew && this.isWhole)
      this.makeEnvironment();
    this.placeCamera();
    this.placeSun();
    this.sun.castShadow = this.hasShadows && this.isWhole;
    for (const prepare of this.beforeDraw)
      prepare();
    this.renderer.render(this.scene, this.camera);
    this.jsMilliseconds = performance.now() - start;
    for (const after of this.afterDraw)
      after();
    if (!this.isWhole && this.firstPicture === 0)
      this.shownFirst();
    return true;
  }

  ray(x: number, y: number, ray = new Raycaster()): Raycaster {
    this.camera.updateMatrixWorld();
    ray.setFromCamera(new Vector2(2 * x / this.width - 1, 1 - 2 * y / this.height), this.camera as PerspectiveCamera);
    return ray;
  }

  // Pixel of a point of the world; null when it is behind the eye.
  project(point: Vector3): [number, number] | null {
    const at = point.clone().project(this.camera);
    return at.z > 1 ? null : [(at.x + 1) / 2 * this.width, (1 - at.y) / 2 * this.height];
  }

  setParallel(on: boolean): void {
    if (on === this.isParallel)
      return;
    const from = this.camera;
    const tangent = 2 * Math.tan(this.perspective.fov * Math.PI / 360);
    if (on)
      this.parallelHeight = this.focusDistance * tangent;
    else
      this.focusDistance = this.parallelHeight / tangent;
    this.isParallel = on;
    this.camera.position.copy(from.position);
    this.camera.quaternion.copy(from.quaternion);
    this.dirty();
  }
}

// A sky of one colour, lighter towards the horizon.
function skyAround(color: Color): Color[] {
  const pale = color.clone().lerp(new Color(1, 1, 1), 0.35);
  return [color, color.clone().lerp(pale, 0.5), pale, color.clone().multiplyScalar(0.85)];
}

