// boot.ts - starts the page inside a single-file replay: its script is kept gzipped in the document and unpacked here.
async function start(): Promise<void> {
  const text = document.getElementById('talus-page')!.textContent!;
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const script = document.createElement('script');
  script.textContent = await new Response(stream).text();
  document.body.append(script);
}
start().catch((error: unknown) => {
  document.body.textContent = `This replay needs a newer browser: ${String(error)}`;
});
