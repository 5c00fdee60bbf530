# Reads what `talus export` has written by the formats' own rules, and compares it with the table of the same run.
# usage: export_check.py FOLDER: run.csv (of the run), export.csv, export.mcap, export.glb, export.html
import base64, csv, json, os, re, struct, sys, zlib

folder = sys.argv[1]


def path(name):
    return os.path.join(folder, name)


def check(condition, what):
    if not condition:
        sys.exit('FAILED: ' + what)


def near(a, b, tolerance=1e-4):
    return all(abs(x - y) <= tolerance for x, y in zip(a, b))


with open(path('run.csv')) as file:
    truth = {row['time']: row for row in csv.DictReader(file)}
with open(path('export.csv')) as file:
    table = list(csv.DictReader(file))
PLACE = ['BALL.x', 'BALL.y', 'BALL.z']
TURN = ['BALL.qx', 'BALL.qy', 'BALL.qz', 'BALL.qw']


def place(row, columns=PLACE):
    return [float(row[c]) for c in columns]


def at(time):
    return min(truth.values(), key=lambda row: abs(float(row['time']) - time))


# ---- the table ----
check(len(table) == 64, f'frames in the table: {len(table)}')  # 500 ms in steps of 8, and the start: every one
check(all(near(place(row), place(at(float(row['time'])))) for row in table), 'table: where the ball was')
check(all(abs(float(row['ARM.position']) - float(at(float(row['time']))['ARM.position'])) < 1e-6 for row in table), 'joint')

# ---- MCAP, by its specification ----
data = open(path('export.mcap'), 'rb').read()
MAGIC = b'\x89MCAP0\r\n'
check(data[:8] == MAGIC and data[-8:] == MAGIC, 'mcap: magic')


def records(blob, start=0, end=None):
    while start < (len(blob) if end is None else end):
        op, size = struct.unpack_from('<BQ', blob, start)
        yield op, blob[start + 9:start + 9 + size], start
        start += 9 + size


def text(blob, offset):
    size, = struct.unpack_from('<I', blob, offset)
    return blob[offset + 4:offset + 4 + size].decode(), offset + 4 + size


footer = len(data) - 8 - 29
op, size = struct.unpack_from('<BQ', data, footer)
summary_start, offset_start, summary_crc = struct.unpack_from('<QQI', data, footer + 9)
check(op == 2 and size == 20, 'mcap: footer')
check(zlib.crc32(data[summary_start:footer + 9 + 16]) == summary_crc, 'mcap: check sum of the summary')
topics, counts, transforms, logs, chunks = {}, {}, [], [], []
for op, body, start in records(data, 8, summary_start):
    if op == 1:
        check(text(body, text(body, 0)[1])[0] == 'talus', 'mcap: header')
    elif op == 6:
        first, last, raw, crc = struct.unpack_from('<QQQI', body)
        compression, offset = text(body, 28)
        size, = struct.unpack_from('<Q', body, offset)
        inside = body[offset + 8:offset + 8 + size]
        check(compression == '' and size == raw and zlib.crc32(inside) == crc, 'mcap: check sum of a chunk')
        chunks.append((start, first, last, inside))
        for op2, item, _ in records(inside):
            if op2 == 3:
                name, offset = text(item, 2)
                encoding, offset = text(item, offset)
                check(encoding == 'jsonschema' and json.loads(text(item, offset)[0])['type'] == 'object', 'mcap: schema')
            elif op2 == 4:
                topics[struct.unpack_from('<H', item)[0]] = text(item, 4)[0]
            elif op2 == 5:
                channel, sequence, log, publish = struct.unpack_from('<HIQQ', item)
                topic = topics[channel]
                check(sequence == counts.get(topic, 0) and first <= log <= last, 'mcap: order and times')
                counts[topic] = sequence + 1
                message = json.loads(item[22:])
                if topic == '/tf':
                    transforms.append((log, message))
                if topic == '/log':
                    logs.append(message['message'])
    elif op == 7:
        channel, size = struct.unpack_from('<HI', body)
        for i in range(size // 16):
            time, offset = struct.unpack_from('<QQ', body, 6 + 16 * i)
            op2, _ = struct.unpack_from('<BQ', chunks[-1][3], offset)
            check(op2 == 5 and struct.unpack_from('<H', chunks[-1][3], offset + 9)[0] == channel, 'mcap: message index')
    elif op == 15:
        crc, = struct.unpack_from('<I', body)
        check(crc == zlib.crc32(data[:start]), 'mcap: check sum of the data')
found = 0
for op, body, start in records(data, summary_start, footer):
    if op == 8:
        chunk_start, = struct.unpack_from('<Q', body, 16)
        check(chunk_start == chunks[found][0], 'mcap: chunk index')
        found += 1
    if op == 11:
        total, schemas, channels = struct.unpack_from('<QHI', body)
        check(total == sum(counts.values()) and channels == len(topics) == schemas, 'mcap: statistics')
check(found == len(chunks) > 0, 'mcap: all chunks are in the index')
check(counts['/tf'] == 64 and counts['/joints'] == 64, f'mcap: messages {counts}')
check(logs == ['hello'], f'mcap: what was printed: {logs}')
for time, message in transforms:
    for transform in message['transforms']:
        if transform['child_frame_id'] == 'BALL':
            t, r = transform['translation'], transform['rotation']
            row = at(time / 1e9)
            check(near([t['x'], t['y'], t['z']], place(row)), 'mcap: where the ball was')
            q = place(row, TURN)
            check(abs(abs(sum(a * b for a, b in zip(q, [r['x'], r['y'], r['z'], r['w']]))) - 1) < 1e-6, 'mcap: its turn')

# ---- glTF ----
glb = open(path('export.glb'), 'rb').read()
magic, version, length, size, kind = struct.unpack_from('<IIIII', glb)
check(magic == 0x46546C67 and version == 2 and length == len(glb) and kind == 0x4E4F534A, 'glb: head')
gltf = json.loads(glb[20:20 + size])
binary = glb[28 + size:]
ball = next(i for i, node in enumerate(gltf['nodes']) if node.get('name') == 'BALL')
animation = gltf['animations'][0]


def numbers(index, width):
    accessor = gltf['accessors'][index]
    view = gltf['bufferViews'][accessor['bufferView']]
    flat = struct.unpack_from(f"<{accessor['count'] * width}f", binary, view['byteOffset'])
    return [flat[i:i + width] for i in range(0, len(flat), width)]


channel = next(c for c in animation['channels'] if c['target'] == {'node': ball, 'path': 'translation'})
sampler = animation['samplers'][channel['sampler']]
times, places = numbers(sampler['input'], 1), numbers(sampler['output'], 3)
check(len(times) == len(places) == 64, 'glb: frames')
check(all(near(p, place(at(t[0]))) for t, p in zip(times, places)), 'glb: where the ball was')
check(gltf['buffers'][0]['byteLength'] == len(binary), 'glb: all of the buffer')

# ---- HTML ----
if os.path.exists(path('export.html')):
    html = open(path('export.html'), encoding='utf-8').read()
    inside = [s for s in re.findall(r'[A-Za-z0-9+/=\s]{200,}', html) if s.strip().startswith(base64.b64encode(b'TALUSREC')[:10].decode())]
    check(len(inside) == 1, 'html: one recording inside')
    recording = base64.b64decode(inside[0])
    check(recording[:8] == b'TALUSREC' and recording[-8:] == b'TALUSEND', 'html: whole')
    check('http://' not in re.sub(r'http://www\.w3\.org/[^"\']*', '', html.replace(inside[0], '')[:2000]), 'html: nothing from elsewhere')
print('exports read back')
