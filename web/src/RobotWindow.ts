// RobotWindow.ts - the class that pages of robot windows import, with the members that Webots gives it. A page of ours talks with the page
// that shows it, which hands everything on; windows.ts is the other end.
export default class RobotWindow {
  readonly name = new URLSearchParams(location.search).get('name') ?? '';

  constructor(onready?: () => void) {
    window.addEventListener('message', (event) => {
      const text = (event.data as { text?: unknown } | null)?.text;
      if (event.source === window.parent && typeof text === 'string')
        this.receive(text, this.name);
    });
    this.send('init robot window');  // programs wait for it
    if (onready)
      queueMicrotask(onready);
  }

  send(message: unknown): void {
    window.parent.postMessage({ is: 'say', text: String(message) }, '*');
  }

  receive(message: string, robot: string): void {  // pages put their own here
    console.log(`${robot} says: ${message}`);
  }

  setTitle(title: string): void {
    document.title = title;
    window.parent.postMessage({ is: 'title', text: String(title) }, '*');
  }
}
