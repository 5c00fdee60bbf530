# Movies: the right length, rate, size and a sound track; asked for by a supervisor too; the same end of the run with and without;
# nothing under the final name when it is cut, cannot be written or there is no encoder.
. tests/control/project.sh
project=$TALUS_BUILD_DIR/scratch/record.movie
[ -x "$TALUS_BUILD_DIR/talus-movie" ] || { echo "skipped: built without FFmpeg's libraries"; exit 77; }
command -v ffprobe > /dev/null || { echo "skipped: no ffprobe"; exit 77; }
project_make "$project"
cat > "$project/worlds/fall.wbt" <<'WORLD'
#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 8 }
Viewpoint { position -4 0 1 orientation 0 1 0 0.2 }
DirectionalLight { direction 1 1 -2 intensity 3 }
Solid { name "floor" children [ Shape { appearance PBRAppearance { baseColor 0.6 0.6 0.6 metalness 0 roughness 1 } geometry Plane { size 8 8 } } ] boundingObject Plane { size 8 8 } }
DEF BALL Solid { name "ball" translation 0 0 1 children [ Shape { appearance PBRAppearance { baseColor 1 0 0 metalness 0 roughness 1 } geometry Sphere { radius 0.2 } } ] boundingObject Sphere { radius 0.2 } physics Physics { } }
WORLD
run() { timeout 600 "$TALUS_PROGRAM" run "$project/worlds/fall.wbt" --hash "$@" > "$project/log" 2>&1; }
# probe FILE STREAM ENTRY
probe() { ffprobe -v error -count_frames -select_streams "$2" -show_entries "stream=$3" -of csv=p=0 "$1" | head -1 | tr -d ','; }

expect "without" run --until 1
plain=$(grep '^hash' "$project/log")
for kind in webm mp4; do
    expect "$kind" run --until 1 --movie "$project/fall.$kind" --movie-size 64x48 --movie-rate 25
    expect "$kind: same hash" test "$plain" = "$(grep '^hash' "$project/log")"
    expect "$kind: pictures" test "$(probe "$project/fall.$kind" v nb_read_frames)" = 26  # at 0, 0.04 ... 1
    expect "$kind: width" test "$(probe "$project/fall.$kind" v width)" = 64
    expect "$kind: height" test "$(probe "$project/fall.$kind" v height)" = 48
    expect "$kind: rate" test "$(probe "$project/fall.$kind" v r_frame_rate)" = 25/1
    expect "$kind: sound" test -n "$(probe "$project/fall.$kind" a codec_name)"
    length=$(ffprobe -v error -show_entries format=duration -of csv=p=0 "$project/fall.$kind")
    expect "$kind: length $length" awk "BEGIN { exit !($length > 1.0 && $length < 1.1) }"
done
# Twice as fast: half the pictures and no sound. An odd size loses a row and a column.
expect "faster" run --until 1 --movie "$project/fast.mp4" --movie-size 65x49 --movie-rate 25 --movie-speed 2
expect "faster: pictures" test "$(probe "$project/fast.mp4" v nb_read_frames)" = 13
expect "faster: silent" test -z "$(probe "$project/fast.mp4" a codec_name)"
expect "odd width" test "$(probe "$project/fast.mp4" v width)" = 64
# The ball falls out of the upper part of the picture.
pixel() { ffmpeg -v error -i "$project/fall.mp4" -vf "select=eq(n\\,$1),format=rgb24,crop=2:2:$2:$3" -frames:v 1 -f rawvideo - | od -An -tu1 -N3; }
read -r r g b < <(pixel 0 31 8)
expect "red at first ($r $g $b)" test "$r" -gt $((g + 30))
read -r r g b < <(pixel 25 31 8)
expect "not red at last ($r $g $b)" test "$r" -lt $((g + 30))

# A movie of a recording, drawn from the world: the same pictures as of the run, and its sounds. Without the world it is said and nothing is there.
expect "recorded" run --until 1 --record "$project/fall.talus"
export_to() { timeout 600 "$TALUS_PROGRAM" export "$@" > "$project/log" 2>&1; }
expect "exported" export_to "$project/fall.talus" "$project/fall.mp4" --size 64x48 --rate 25
expect "exported: pictures" test "$(probe "$project/fall.mp4" v nb_read_frames)" = 26
expect "exported: sound" test -n "$(probe "$project/fall.mp4" a codec_name)"
# loudness FILE FROM SECONDS: RMS of the sound. The ball falls 0.8 m: it hits the floor after 0.404 s, and is heard then, not before.
loudness() {
    ffmpeg -v error -ss "$2" -t "$3" -i "$1" -vn -ac 1 -f s16le - | od -An -v -td2 -w2 | awk '{ s += $1 * $1 } END { print (NR ? int(sqrt(s / NR)) : -1) }'
}
expect "exported: quiet before the hit ($(loudness "$project/fall.mp4" 0 0.3))" test "$(loudness "$project/fall.mp4" 0 0.3)" -lt 20
expect "exported: loud at the hit ($(loudness "$project/fall.mp4" 0.4 0.15))" test "$(loudness "$project/fall.mp4" 0.4 0.15)" -gt 500
length=$(ffprobe -v error -show_entries format=duration -of csv=p=0 "$project/fall.mp4")
expect "exported: length $length" awk "BEGIN { exit !($length > 1.0 && $length < 1.1) }"
expect "a part of it" export_to "$project/fall.talus" "$project/part.mp4" --size 64x48 --rate 25 --from 0.5 --to 0.9
length=$(ffprobe -v error -show_entries format=duration -of csv=p=0 "$project/part.mp4")
expect "a part: length $length" awk "BEGIN { exit !($length > 0.38 && $length < 0.52) }"
# A damaged recording claims that a frame is of a far time: the movie up to it is not drawn.
python3 - "$project/fall.talus" "$project/far.talus" <<'PROGRAM'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
out, at, changed = data[:16], 16, False
while data[at:at + 4] == b"BLCK":
    kind, stored, raw = struct.unpack_from("<4sII", data, at + 4)
    payload = data[at + 40:at + 40 + stored]
    if kind == b"FRMS" and not changed:
        text = bytearray(payload if stored == raw else zlib.decompress(payload))
        second = 8 + struct.unpack_from("<I", text, 4)[0]  # behind the size of the rest (pose_filter.h) and a key frame
        struct.pack_into("<d", text, second + 4 + 20, 1e12)
        payload, changed = zlib.compress(bytes(text)), True
    out += b"BLCK" + struct.pack("<4sIII", kind, len(payload), raw, zlib.crc32(payload)) + data[at + 20:at + 40] + payload
    at += 40 + stored
open(sys.argv[2], "wb").write(out)
sys.exit(not changed)
PROGRAM
expect "a frame of a far time is refused" test "$(export_to "$project/far.talus" "$project/far.mp4" --size 64x48; echo $?)" = 1
expect "in words" grep -q "a movie lasts at most" "$project/log"
expect "without a file" test ! -e "$project/far.mp4"
expect "slower" export_to "$project/fall.talus" "$project/slow.mp4" --size 64x48 --rate 25 --speed 0.5
expect "slower: silent" test -z "$(probe "$project/slow.mp4" a codec_name)"
read -r r g b < <(pixel 0 31 8)
expect "exported: red at first ($r $g $b)" test "$r" -gt $((g + 30))
read -r r g b < <(pixel 25 31 8)
expect "exported: not red at last ($r $g $b)" test "$r" -lt $((g + 30))
sed 's/name "ball"/name "other"/; s/DEF BALL//' "$project/worlds/fall.wbt" > "$project/worlds/other.wbt"
for world in "$project/missing.wbt" "$project/worlds/other.wbt"; do
    export_to "$project/fall.talus" "$project/none.webm" --world "$world"
    expect "the world is another" test $? = 1
done
expect "said whose" grep -q "is not the world that was recorded" "$project/log"

# What cannot be done: said, the right exit code, no file.
TALUS_MOVIE=$project/none run --until 1 --movie "$project/none.webm"
expect "no encoder" test $? = 1
expect "said" grep -q 'talus-movie is not installed' "$project/log"
run --until 1 --movie "$project/nowhere/x.webm"
expect "no folder" test $? = 1
expect "said where" grep -q "cannot write .*nowhere/x.webm" "$project/log"
"$TALUS_PROGRAM" run "$project/worlds/fall.wbt" --until 1 --movie "$project/x.gif" > "$project/log" 2>&1
expect "other ending" test $? = 2
run --until 1 --movie "$project/none.webm" --movie-camera nobody
expect "no such camera" test $? = 1
# Killed in the middle: the encoder notices and leaves nothing.
"$TALUS_PROGRAM" run "$project/worlds/fall.wbt" --movie "$project/cut.webm" --movie-size 64x48 --realtime > "$project/log" 2>&1 &
pid=$!
for _ in $(seq 600); do ls "$project"/cut.webm.*.tmp > /dev/null 2>&1 && break; sleep 0.1; done
kill -9 $pid
wait $pid 2> /dev/null
for _ in $(seq 600); do ls "$project"/cut.webm* > /dev/null 2>&1 || break; sleep 0.1; done
expect "nothing of a cut movie" test -z "$(ls "$project" | grep -E 'cut|tmp|none')"

# A supervisor's movie: not ready until it is written.
mkdir -p "$project/controllers/film"
cat > "$project/controllers/film/film.c" <<'SOURCE'
#include "check.h"
#include <webots/supervisor.h>
#include <unistd.h>
int main(void)
{
    wb_robot_init();
    CHECK(wb_supervisor_movie_is_ready() && !wb_supervisor_movie_failed());
    wb_supervisor_set_label(0, "MMMMMM", 0, 0.5, 0.5, 0x00ff00, 0, "Arial");
    wb_supervisor_movie_start_recording("film.webm", 64, 48, 0, 60, 1, false);
    CHECK(!wb_supervisor_movie_is_ready() && !wb_supervisor_movie_failed());
    wb_supervisor_movie_start_recording("second.webm", 64, 48, 0, 60, 1, false);
    check_steps(50);
    wb_supervisor_movie_stop_recording();
    CHECK(!wb_supervisor_movie_is_ready());
    while (!wb_supervisor_movie_is_ready())
        usleep(1000);
    CHECK(access("film.webm", R_OK) == 0 && access("second.webm", R_OK) != 0);
    wb_supervisor_movie_start_recording("film.xyz", 64, 48, 0, 60, 1, false);
    CHECK(wb_supervisor_movie_failed());
    wb_supervisor_movie_start_recording("film.webm", -1, 48, 0, 60, 1, false);
    return check_done();
}
SOURCE
expect "compile" project_compile "$project" "$project/controllers/film/film.c"
sed 's/^DEF BALL/Robot { name "film" supervisor TRUE controller "film" }\nDEF BALL/' "$project/worlds/fall.wbt" > "$project/worlds/film.wbt"
timeout 600 "$TALUS_PROGRAM" run "$project/worlds/film.wbt" --until 2 > "$project/log" 2>&1
expect "supervisor" grep -q '\] PASS' "$project/log"
expect "no mistakes" test -z "$(grep FAIL "$project/log")"
expect "its sound" test -n "$(probe "$project/controllers/film/film.webm" a codec_name)"
# 50 steps of 8 ms, a picture for every fifth: 25 a second.
expect "its pictures" test "$(probe "$project/controllers/film/film.webm" v nb_read_frames)" = 11
# The label is seen: green in the lower half of the picture.
green=$(ffmpeg -v error -i "$project/controllers/film/film.webm" -vf "format=rgb24,crop=64:20:0:26" -frames:v 1 -f rawvideo - | od -An -v -tu1 -w3 |
    awk '$2 > $1 + 60 && $2 > $3 + 60 { n++ } END { print n + 0 }')
expect "its label ($green pixels)" test "$green" -gt 40
[ $failures = 0 ] || cat "$project/log"
exit $((failures > 0))
