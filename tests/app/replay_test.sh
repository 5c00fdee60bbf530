# `talus replay`: says where to open it, serves the recording to whoever shows the token and to nobody else, and ends when told to.
: "${TALUS_BUILD_DIR:=$PWD/build}" "${TALUS_PROGRAM:=$TALUS_BUILD_DIR/talus}"
scratch=$TALUS_BUILD_DIR/scratch/app.replay
rm -rf "$scratch" && mkdir -p "$scratch"
"$TALUS_PROGRAM" run scenes/hello.wbt --steps 100 -q --record "$scratch/run.talus" || exit 1
echo "no recording" > "$scratch/broken.talus"
"$TALUS_PROGRAM" replay "$scratch/broken.talus" 2> "$scratch/log"
[ $? = 3 ] && grep -q "is no recording" "$scratch/log" || { echo "FAILED: a broken recording"; exit 1; }
python3 - "$TALUS_PROGRAM" "$scratch/run.talus" <<'CHECK'
import re, signal, subprocess, sys, urllib.error, urllib.request
process = subprocess.Popen([sys.argv[1], 'replay', sys.argv[2]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
url = None
for line in process.stdout:
    found = re.search(r'(http://127\.0\.0\.1:\d+/)#token=(\w+)', line)
    if found:
        url, token = found.groups()
        break
if not url:
    words = process.stderr.read()
    if 'libwebsockets' in words or 'browser page' in words:
        print('skipped:', words)
        sys.exit(77)
    sys.exit('FAILED: no address: ' + words)
def get(path, headers={}):
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, headers=headers)) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, b''
status, data = get('recording', {'X-Talus-Token': token})
assert status == 200 and data == open(sys.argv[2], 'rb').read(), 'the recording as it is'
assert get('recording')[0] == 403 and get('recording', {'X-Talus-Token': 'x'})[0] == 403, 'not without the token'
assert get('')[0] in (200, 404), 'the page'
process.send_signal(signal.SIGTERM)
assert process.wait(60) == 0, 'ends when told to'
CHECK
