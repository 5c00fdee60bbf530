#!/usr/bin/env bash
# `talus fetch` against a server on loopback: listing, transitive download, cache layout, resuming, limits, redirects,
# and that a second run, and every other verb, needs no network.
set -u
talus=${TALUS_PROGRAM:-build/talus}
work=$(mktemp -d "${TALUS_BUILD_DIR:-build}/fetch_test.XXXXXX") || exit 1
work=$(cd "$work" && pwd)
server=
trap '[ -n "$server" ] && kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
failures=0
check() { # text, condition as a command
  local what=$1; shift
  if "$@"; then echo "ok   $what"; else echo "FAIL $what"; failures=$((failures + 1)); fi
}
contains() { grep -qF -- "$2" <<<"$1"; }

mkdir -p "$work/www/protos/textures" "$work/www/protos/meshes" "$work/world/worlds"
python3 tests/app/fetch_server.py "$work/www" "$work/port" "$work/log" & server=$!
until [ -s "$work/port" ] || ! kill -0 "$server" 2>/dev/null; do sleep 0.1; done
[ -s "$work/port" ] || { echo "the server does not start"; exit 1; }
base="http://127.0.0.1:$(cat "$work/port")"

cat > "$work/www/protos/Thing.proto" <<END
#VRML_SIM R2023b utf8
# "textures/in_a_comment.png"
EXTERNPROTO "Part.proto"
PROTO Thing [ field MFString url "textures/thing.png" ] { Part { } }
END
cat > "$work/www/protos/Part.proto" <<END
#VRML_SIM R2023b utf8
PROTO Part [ ] { Shape { geometry Mesh { url [ "meshes/part.obj" ] } } }
END
printf 'mtllib part.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > "$work/www/protos/meshes/part.obj"
printf 'newmtl m\nmap_Kd -s 1 1 1 part.png\n' > "$work/www/protos/meshes/part.mtl"
printf 'a picture' > "$work/www/protos/textures/thing.png"
cp "$work/www/protos/textures/thing.png" "$work/www/protos/meshes/part.png"
cat > "$work/world/worlds/w.wbt" <<END
#VRML_SIM R2023b utf8
EXTERNPROTO "$base/protos/Thing.proto"
WorldInfo { }
Thing { }
END
export TALUS_CACHE="$work/cache"
unset WEBOTS_HOME WEBOTS_EXTRA_PROJECT_PATH TALUS_PATH

out=$("$talus" fetch --dry-run "$work/world/worlds/w.wbt"); status=$?
check "a dry run succeeds" [ $status = 0 ]
check "a dry run lists the address" contains "$out" "wanted   $base/protos/Thing.proto"
check "a dry run opens no connection" [ ! -e "$work/log" ]
check "a dry run writes no cache" [ ! -e "$work/cache" ]

"$talus" fetch --quiet "$work/world/worlds/w.wbt" 2> "$work/err"; status=$?
check "plain http is refused" [ $status = 3 ]
check "and it is said" grep -q "only https is fetched" "$work/err"
check "without a connection" [ ! -e "$work/log" ]

out=$("$talus" fetch --allow-http-loopback --json "$work/world/worlds/w.wbt"); status=$?
check "fetching succeeds" [ $status = 0 ]
tree="$work/cache/tree/http/${base#http://}"; tree=${tree/:/%3A}; tree="$work/cache/tree/http/127.0.0.1%3A${base##*:}"
for file in protos/Thing.proto protos/Part.proto protos/meshes/part.obj protos/meshes/part.mtl protos/meshes/part.png protos/textures/thing.png; do
  check "$file is there, whole" cmp -s "$work/www/$file" "$tree/$file"
done
check "what a comment names is not fetched" [ ! -e "$tree/protos/textures/in_a_comment.png" ]
check "equal files are stored once" [ "$(stat -c %i "$tree/protos/meshes/part.png")" = "$(stat -c %i "$tree/protos/textures/thing.png")" ]
sha=$(sha256sum "$work/www/protos/meshes/part.obj" | cut -c1-64)
check "objects are named by their content" [ -e "$work/cache/objects/${sha:0:2}/${sha:2}" ]
check "the digest is printed" contains "$out" "$sha"
before=$(wc -l < "$work/log")
out=$("$talus" fetch --allow-http-loopback "$work/world/worlds/w.wbt"); status=$?
check "a second run succeeds" [ $status = 0 ]
check "with nothing to do" contains "$out" "0 fetched, 6 cached"
check "and without a connection" [ "$(wc -l < "$work/log")" = "$before" ]

world() { printf '#VRML_SIM R2023b utf8\nWorldInfo { info [ "%s" ] }\n' "$1" > "$work/world/worlds/one.wbt"; }
head -c 300000 /dev/urandom > "$work/www/interrupt.png"
world "$base/interrupt.png"
"$talus" fetch --allow-http-loopback --quiet "$work/world/worlds/one.wbt" 2>/dev/null; status=$?
check "an interrupted download fails" [ $status = 3 ]
check "and leaves nothing in the tree" [ ! -e "$tree/interrupt.png" ]
"$talus" fetch --allow-http-loopback --quiet "$work/world/worlds/one.wbt"; status=$?
check "the next try goes on" [ $status = 0 ]
check "from where it stopped" grep -q '^/interrupt.png bytes=[1-9][0-9]*-' "$work/log"
check "to the whole file" cmp -s "$work/www/interrupt.png" "$tree/interrupt.png"

head -c 300000 /dev/urandom > "$work/www/interrupt2.png"
world "$base/interrupt2.png"
"$talus" fetch --allow-http-loopback --quiet "$work/world/worlds/one.wbt" 2>/dev/null
head -c 200000 /dev/urandom > "$work/www/interrupt2.png"
"$talus" fetch --allow-http-loopback --quiet "$work/world/worlds/one.wbt"
check "a file that changed meanwhile starts anew" cmp -s "$work/www/interrupt2.png" "$tree/interrupt2.png"

head -c 2000000 /dev/zero > "$work/www/big.png"
world "$base/big.png"
"$talus" fetch --allow-http-loopback --max-file-mb 1 --quiet "$work/world/worlds/one.wbt" 2> "$work/err"; status=$?
check "a file above the limit is refused" [ $status = 3 ]
check "by its announced size" grep -q "larger than the limit" "$work/err"
world "$base/endless.png"
timeout 600 "$talus" fetch --allow-http-loopback --max-file-mb 1 --quiet "$work/world/worlds/one.wbt" 2> "$work/err"; status=$?
check "an endless file is refused" [ $status = 3 ]
check "once it passes the limit" grep -q "larger than the limit" "$work/err"
for name in loop.png away.png none.png; do
  world "$base/$name"
  timeout 600 "$talus" fetch --allow-http-loopback --quiet "$work/world/worlds/one.wbt" 2> "$work/err"; status=$?
  check "$name fails" [ $status = 3 ]
  check "$name is named with a reason" grep -q "cannot fetch $base/$name: ." "$work/err"
done
world "$base/redirect/big.png"
"$talus" fetch --allow-http-loopback --quiet "$work/world/worlds/one.wbt"; status=$?
check "a redirect is followed" [ $status = 0 ]
check "nothing is left half done" [ -z "$(ls "$work/cache/partial")" ]

if command -v openssl >/dev/null; then
  openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/cert.pem" -days 1 -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 2>/dev/null
  python3 - "$work" <<'END' & tls=$!
import http.server, os, ssl, sys
work = sys.argv[1]
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(work + "/cert.pem", work + "/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
open(work + "/tls.tmp", "w").write(str(server.server_address[1]))
os.rename(work + "/tls.tmp", work + "/tls")
server.serve_forever()
END
  until [ -s "$work/tls" ] || ! kill -0 "$tls" 2>/dev/null; do sleep 0.1; done
  world "https://127.0.0.1:$(cat "$work/tls")/x.png"
  timeout 600 "$talus" fetch --quiet "$work/world/worlds/one.wbt" 2> "$work/err"; status=$?
  check "a certificate that nobody vouches for is refused" [ $status = 3 ]
  check "because of the certificate" grep -qi "certificate\|SSL" "$work/err"
  kill $tls 2>/dev/null
fi

check "only one file of the program knows the network library" [ "$(grep -rl '#include <curl/' src include | sort | tr '\n' ' ')" = "src/app/download.c " ]
"$talus" fetch "$work/none.wbt" 2>/dev/null; check "a missing world is an input error" [ $? = 3 ]
"$talus" fetch 2>/dev/null; check "no world is a usage error" [ $? = 2 ]
[ $failures = 0 ] || { echo "$failures failed"; exit 1; }
