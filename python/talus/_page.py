"""Pictures for notebooks: PNG from arrays, and a page that plays a run, with nothing but Python's own library."""
import base64
import html
import struct
import zlib


def png(pixels) -> bytes:
    """An array of uint8, height by width by 4, as a PNG file."""
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + pixels[y].tobytes() for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 6 if channels == 4 else 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")


_PAGE = """<div class="talus-run"><img style="display:block" alt="a run"><input type="range" min="0" max="{last}" value="0" style="width:{width}px">
<script>(() => {{ const here = document.currentScript.parentElement, frames = {frames};
const image = here.querySelector("img"), slider = here.querySelector("input"); let at = 0, held = false;
const show = i => {{ at = i % frames.length; image.src = "data:image/png;base64," + frames[at]; slider.value = at; }};
slider.oninput = () => {{ held = true; show(+slider.value); }}; image.onclick = () => {{ held = !held; }};
show(0); setInterval(() => {{ if (!held) show(at + 1); }}, {period}); }})()</script></div>"""


def frames_page(pictures, period_ms: float) -> str:
    """A piece of HTML that plays pictures; a click holds it, the slider goes to a moment."""
    if not len(pictures):
        return "<p>no pictures were taken: Recorder(world, ..., frames=60) takes some</p>"
    frames = "[" + ",".join('"' + base64.b64encode(png(p)).decode() + '"' for p in pictures) + "]"
    return _PAGE.format(last=len(pictures) - 1, width=pictures[0].shape[1], frames=frames, period=max(20, round(period_ms)))


def inside_page(page: str, height: int = 480) -> str:
    """A whole HTML page as a frame of another."""
    return f'<iframe style="width:100%;height:{height}px;border:0" srcdoc="{html.escape(page)}"></iframe>'
