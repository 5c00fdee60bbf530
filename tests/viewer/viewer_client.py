# viewer_client.py - a WebSocket client of plain Python for the tests of the viewer: speaks to `talus view` as the page does, and can
# also misbehave. Every wait is for bytes, with a limit that only a failure reaches. Nothing here sleeps, but for TALUS_TEST_LAG, which makes
# the link slow on purpose.
import base64
import json
import os
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time

# A wait counts as a failure after so many silent spells of so many seconds. They are counted, not summed by a clock: a machine that
# stands still for a minute, or whose clock jumps, costs one of them.
SPELL, SPELLS = 5.0, int(os.environ.get("VIEWER_SPELLS", 48))
LIMIT = SPELL * SPELLS

# TALUS_TEST_LAG=milliseconds[:seed], as for the tests in a browser: each message goes and comes late by a random time below that.
LAG_MS, LAG_SEED = (list(map(int, os.environ.get("TALUS_TEST_LAG", "0").split(":"))) + [1])[:2]
LAGS = random.Random(LAG_SEED)


def be_late():
    if LAG_MS:
        time.sleep(LAGS.uniform(0, LAG_MS / 1000))


class Closed(Exception):
    pass


class Run:
    """A `talus` that shows a world, with its links."""

    def __init__(self, *arguments, verb="view"):
        program = os.environ.get("TALUS_PROGRAM", "build/talus")
        self.process = subprocess.Popen([program, verb, *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.lines = []
        self.links = {}
        while len(self.links) < 2:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError("no links were printed: " + "".join(self.lines))
            self.lines.append(line)
            found = re.match(r"(open|look) +http://([^/]+)/#token=([0-9a-f]{32})$", line)
            if found:
                self.links[found.group(1)] = found.group(3)
                self.host = found.group(2)
        name, port = self.host.rsplit(":", 1)
        self.address = (name, int(port))
        # What is printed is read at once: a program never waits for room in the pipe.
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True)
        self.reader.start()

    def client(self, link="open", **options):
        return Client(self, token=self.links[link], **options)

    def end(self, signal_number=2):
        """Interrupts the run; returns its exit code and everything it printed."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        return self.wait()

    def wait(self):
        self.process.wait(timeout=LIMIT)
        self.reader.join(timeout=LIMIT)
        return self.process.returncode, "".join(self.lines)


def raw_request(run, text, read=True):
    """Sends bytes as they are; returns everything until the server closes or has sent a whole head."""
    connection = socket.create_connection(run.address, timeout=LIMIT)
    connection.sendall(text.encode() if isinstance(text, str) else text)
    data = b""
    try:
        while read:
            piece = connection.recv(65536)
            if not piece:
                break
            data += piece
            head = data.split(b"\r\n\r\n", 1)
            length = re.search(rb"content-length: *(\d+)", head[0], re.I) if len(head) == 2 else None
            if length and len(head[1]) >= int(length.group(1)):
                break
            if len(head) == 2 and b" 101 " in head[0].split(b"\r\n")[0]:
                break
    except ConnectionResetError:
        pass
    connection.close()
    return data


def get(run, path, host=None, method="GET", extra=""):
    data = raw_request(run, f"{method} {path} HTTP/1.1\r\nHost: {host or run.host}\r\nConnection: close\r\n{extra}\r\n")
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    status = int(lines[0].split()[1]) if len(lines[0].split()) > 1 else 0
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    return status, headers, body


def upgrade(run, host=None, origin="same", path="/socket", protocol="talus", wanted="websocket"):
    key = base64.b64encode(b"0123456789abcdef").decode()
    lines = [f"GET {path} HTTP/1.1", f"Host: {host or run.host}", f"Upgrade: {wanted}", "Connection: Upgrade",
             f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
    if protocol:
        lines.append(f"Sec-WebSocket-Protocol: {protocol}")
    if origin == "same":
        lines.append(f"Origin: http://{host or run.host}")
    elif origin:
        lines.append(f"Origin: {origin}")
    return "\r\n".join(lines) + "\r\n\r\n"


class Frame:
    """A frame of poses; see record/frame.h."""

    def __init__(self, data):
        (magic, self.version, self.flags, sections, self.revision, self.step, self.time, self.speed,
         count) = struct.unpack_from("<4sBBHIQdfI", data, 0)
        assert magic == b"TFRM"
        origin = struct.unpack_from("<3f", data, 36)
        (unit,) = struct.unpack_from("<f", data, 48)
        self.is_key = bool(self.flags & 1)
        self.size = len(data)
        self.poses = {}
        at = 52
        for _ in range(count):
            if self.is_key:
                solid, *numbers = struct.unpack_from("<I7f", data, at)
                self.poses[solid] = numbers
                at += 32
            else:
                (solid,) = struct.unpack_from("<H", data, at)
                counts = [int.from_bytes(data[at + 2 + 3 * k:at + 5 + 3 * k], "little", signed=True) for k in range(3)]
                self.poses[solid] = [origin[k] + unit * counts[k] for k in range(3)]
                at += 17
        self.sections = {}
        for _ in range(sections):
            tag, size = struct.unpack_from("<4sI", data, at)
            self.sections[tag.decode()] = data[at + 8:at + 8 + size]
            at += 8 + size
        assert at == len(data), "the frame has its announced size"


class Client:
    def __init__(self, run, token=None, hello=True, acks=True):
        self.run = run
        self.socket = socket.create_connection(run.address, timeout=LIMIT)
        self.socket.settimeout(SPELL)
        self.buffer = b""
        self.number = 0
        self.acks = acks
        self.frames, self.scenes, self.pushes, self.pictures, self.inks = [], [], [], [], []
        self.poses = {}
        self.socket.sendall(upgrade(run).encode())
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.receive_bytes()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        assert b" 101 " in head.split(b"\r\n")[0], head
        if hello:
            self.send({"do": "hello", "token": token, "protocol": 1})
            self.welcome = self.wait_push("welcome")

    def receive_bytes(self):
        for _ in range(SPELLS):
            try:
                data = self.socket.recv(1 << 20)
            except TimeoutError:
                continue
            except (ConnectionResetError, BrokenPipeError):
                data = b""
            if not data:
                raise Closed()
            return data
        raise AssertionError(f"silence for {LIMIT:g} s; {self.account()}")

    def account(self):
        """What came so far, and what each thread of the program does: for whoever has to find out why nothing more does."""
        frames = [(frame.step, frame.revision, sorted(frame.sections)) for frame in self.frames[-3:]]
        threads = []
        folder = f"/proc/{self.run.process.pid}/task"
        for thread in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            with open(f"{folder}/{thread}/stat") as stat, open(f"{folder}/{thread}/wchan") as place:
                threads.append((thread, stat.read().rpartition(") ")[2].split()[0], place.read()))
        return f"last frames {frames}, last news {self.pushes[-3:]}, threads {threads}"

    def send_raw(self, payload, opcode=1, final=True):
        mask = b"\1\2\3\4"
        head = bytes([(0x80 if final else 0) | opcode])
        size = len(payload)
        head += bytes([0x80 | size]) if size < 126 else (
            b"\xfe" + struct.pack(">H", size) if size < 65536 else b"\xff" + struct.pack(">Q", size))
        masked = bytes(byte ^ mask[i & 3] for i, byte in enumerate(payload))
        be_late()
        try:
            self.socket.sendall(head + mask + masked)
        except (ConnectionResetError, BrokenPipeError) as error:
            raise Closed() from error

    def send(self, message):
        self.send_raw(json.dumps(message).encode())

    def take(self, size):
        while len(self.buffer) < size:
            self.buffer += self.receive_bytes()
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def message(self):
        """The next whole message: (is_binary, bytes). Pings are answered, a close raises Closed."""
        data, opcode = b"", None
        while True:
            first, second = self.take(2)
            size = second & 0x7f
            if size == 126:
                (size,) = struct.unpack(">H", self.take(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self.take(8))
            payload = self.take(size)
            if first & 0xf == 8:
                raise Closed()
            if first & 0xf == 9:
                self.send_raw(payload, 10)
                continue
            opcode = opcode or first & 0xf
            data += payload
            if first & 0x80:
                be_late()
                return opcode == 2, data

    def read(self):
        """Takes one message: a JSON object is returned, a frame acknowledged and kept."""
        is_binary, data = self.message()
        if not is_binary:
            message = json.loads(data)
            if "is" in message:
                self.pushes.append(message)
            return message
        if data[:4] == b"SCNE":
            self.scenes.append(data)
        elif data[:4] == b"PICT":
            self.pictures.append(data)
        elif data[:4] == b"INKS":
            self.inks.append(data)
        else:
            frame = Frame(data)
            self.frames.append(frame)
            self.poses.update(frame.poses)
            if self.acks:
                self.send({"do": "ack", "step": frame.step})
        return None

    def wait_push(self, kind, **wanted):
        while True:
            message = self.read()
            if message and message.get("is") == kind and all(message.get(k) == v for k, v in wanted.items()):
                return message
            if message and message.get("is") == "bye":
                raise AssertionError(message["text"])

    def wait_frame(self, test=lambda frame: True):
        while True:
            count = len(self.frames)
            self.read()
            if len(self.frames) > count and test(self.frames[-1]):
                return self.frames[-1]

    def until(self, test):
        """Reads until the test holds of what has come so far."""
        while not test():
            self.read()

    def wait_step(self, step):
        """Reads until the world has come to a step; with no more steps asked for it then stands there."""
        self.until(lambda: self.frames and self.frames[-1].step >= step)

    def read_to_end(self):
        """Takes everything until the program closes the connection."""
        try:
            while True:
                self.read()
        except Closed:
            pass

    def ask(self, act, **arguments):
        self.number += 1
        self.send({"do": act, "id": self.number, **arguments})
        while True:
            message = self.read()
            if message and message.get("re") == self.number:
                return message

    def do(self, act, **arguments):
        answer = self.ask(act, **arguments)
        assert answer["ok"], str((act, answer, arguments))[:1000]
        return answer

    def refused(self, act, **arguments):
        answer = self.ask(act, **arguments)
        assert not answer["ok"] and answer["error"], str((act, answer, arguments))[:1000]
        return answer["error"]

    def close(self):
        self.socket.close()


def check(condition, words):
    if not condition:
        print("FAILED:", words)
        sys.exit(1)


def hash_of(text):
    found = re.search(r"^hash ([0-9a-f]{16})$", text, re.M)
    check(found, "the run printed no hash:\n" + text)
    return found.group(1)
