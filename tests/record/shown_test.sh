# What LEDs, displays and pens show is in movies of recordings as in those of runs: the same places have the same colours, and what lights
# up lights up what stands beside it; so are belts of Tracks and Skins that a program bends.
. tests/control/project.sh
project=$TALUS_BUILD_DIR/scratch/record.shown
[ -x "$TALUS_BUILD_DIR/talus-movie" ] || { echo "skipped: built without FFmpeg's libraries"; exit 77; }
command -v ffmpeg > /dev/null || { echo "skipped: no ffmpeg"; exit 77; }
project_make "$project"
# Seen from above, 4 m wide: a lamp at the left that also lights the floor, a screen at the right, and a robot that draws a line below.
cat > "$project/worlds/shown.wbt" <<'WORLD'
#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 8 gravity 0 }
Viewpoint { position 0 0 6 orientation 0.5773502691896258 -0.5773502691896258 -0.5773502691896258 -2.0943951023931953 fieldOfView 0.8 }
Background { skyColor [ 0 0 0 ] luminosity 0 }
DirectionalLight { direction 0 0 -1 intensity 0.4 }
Solid { name "floor" children [ Shape { appearance PBRAppearance { baseColor 1 1 1 metalness 0 roughness 1 } geometry Plane { size 8 8 } } ] }
Robot {
  name "painter"
  translation -1 -0.8 0.2
  controller "shown"
  linearVelocity 2 0 0
  physics Physics { density -1 mass 1 }
  boundingObject Sphere { radius 0.05 }
  children [
    Pen { name "pen" write FALSE leadSize 0.1 inkColor 0 0 1 maxDistance 1 }
  ]
}
Robot {
  name "shower"
  controller "shown"
  children [
    LED { name "led" translation -1 0.6 0.3 color [ 1 0 0 ] children [ Group { children [
      Shape { appearance PBRAppearance { baseColor 0 0 0 metalness 0 roughness 1 } geometry Sphere { radius 0.15 } }
      PointLight { on FALSE attenuation 0 0 4 intensity 1 }
    ] } ] }
    Display { name "display" translation 1 0.6 0.2 width 64 height 64 children [ Shape {
      appearance PBRAppearance { baseColorMap ImageTexture { } emissiveColorMap ImageTexture { } emissiveColor 1 1 1 metalness 0 roughness 1 }
      geometry Plane { size 0.8 0.8 } } ] }
  ]
}
Robot {
  name "roller"
  translation 0.9 -0.7 0.1
  controller "shown"
  physics Physics { density -1 mass 1 }
  boundingObject Sphere { radius 0.02 }
  children [
    Track {
      device LinearMotor { name "belt" maxVelocity 10 }
      geometriesCount 1
      animatedGeometry Shape { appearance PBRAppearance { baseColor 0 0 0 emissiveColor 1 0 1 metalness 0 } geometry Box { size 0.2 0.3 0.05 } }
      children [ TrackWheel { position -0.4 0 radius 0.05 inner TRUE } TrackWheel { position 0.4 0 radius 0.05 inner TRUE } ]
    }
    Skin { name "worm" translation -1 1.6 0 rotation 0 1 0 0 modelUrl "worm.gltf" appearance [ Appearance { material Material { diffuseColor 0 0 0 emissiveColor 1 1 0 } } ] }
  ]
}
WORLD
cp tests/control/cases/skin/worm.gltf "$project/worlds/"
mkdir -p "$project/controllers/shown"
cat > "$project/controllers/shown/shown.c" <<'SOURCE'
#include <webots/display.h>
#include <webots/led.h>
#include <webots/motor.h>
#include <webots/pen.h>
#include <webots/robot.h>
#include <webots/skin.h>
#include <string.h>
int main(void)
{
    wb_robot_init();
    int paints = !strcmp(wb_robot_get_name(), "painter"), rolls = !strcmp(wb_robot_get_name(), "roller");
    if (rolls) {
        wb_motor_set_position(wb_robot_get_device("belt"), 1e9);
        wb_motor_set_velocity(wb_robot_get_device("belt"), 0.5);
    }
    for (int step = 0; wb_robot_step(8) != -1; step++) {
        if (rolls && step == 30)
            wb_skin_set_bone_orientation(wb_robot_get_device("worm"), 1, (const double[4]){ 0, 1, 0, 1.5708 }, 0);
        if (rolls)
            continue;
        if (paints && step == 12)
            wb_pen_write(wb_robot_get_device("pen"), 1);
        if (paints && step == 75)
            wb_pen_write(wb_robot_get_device("pen"), 0);
        if (paints)
            continue;
        if (step == 25)
            wb_led_set(wb_robot_get_device("led"), 1);
        if (step == 40) {
            WbDeviceTag display = wb_robot_get_device("display");
            wb_display_set_color(display, 0x00ff00);
            wb_display_fill_rectangle(display, 0, 0, 64, 64);
        }
    }
    wb_robot_cleanup();
    return 0;
}
SOURCE
expect "compile" project_compile "$project" "$project/controllers/shown/shown.c"
timeout 600 "$TALUS_PROGRAM" run "$project/worlds/shown.wbt" --until 1 --controller-timeout 60000 --movie "$project/run.mp4" \
    --movie-size 320x240 --movie-rate 25 --record "$project/run.talus" > "$project/log" 2>&1
expect "run" test $? = 0
expect "export" timeout 600 "$TALUS_PROGRAM" export "$project/run.talus" "$project/recorded.mp4" --size 320x240 --rate 25
# picture FILE NUMBER: as raw red, green, blue.
picture() { ffmpeg -v error -i "$1" -vf "select=eq(n\\,$2),format=rgb24" -frames:v 1 -f rawvideo -; }
for number in 2 9 24; do
    picture "$project/run.mp4" $number > "$project/run-$number.rgb"
    picture "$project/recorded.mp4" $number > "$project/recorded-$number.rgb"
done
cat > "$project/compare.py" <<'PYTHON'
import sys
W, H = 320, 240
folder = sys.argv[1]
def load(name):
    data = open(folder + "/" + name + ".rgb", "rb").read()
    assert len(data) == 3 * W * H, "%s has %d bytes" % (name, len(data))
    return data
def mean(data, box):
    left, top, right, bottom = box
    places = [3 * (y * W + x) for y in range(top, bottom) for x in range(left, right)]
    return [sum(data[p + c] for p in places) / len(places) for c in range(3)]
lamp, beside, screen = (97, 79, 103, 85), (112, 95, 120, 103), (215, 75, 230, 90)
for number in 2, 9, 24:
    run, recorded = load("run-%d" % number), load("recorded-%d" % number)
    differ = sum(abs(a - b) > 24 for a, b in zip(run, recorded)) / len(run)
    print("picture %d: %.3f %% differ" % (number, 100 * differ), [[round(v) for v in mean(recorded, box)] for box in (lamp, beside, screen)])
    assert differ < 0.005, "picture %d differs in %.2f %%" % (number, 100 * differ)
dark, bright = load("recorded-2"), load("recorded-24")
assert mean(bright, lamp)[0] > mean(dark, lamp)[0] + 100, "the lamp is on"
assert mean(bright, beside)[0] > mean(dark, beside)[0] + 20, "the lamp lights the floor"
assert mean(bright, screen)[1] > mean(dark, screen)[1] + 80 and mean(bright, screen)[0] < 60, "the screen is green"
# Below the middle somewhere a line of blue, without a gap over the width that the pen went in 0.5 s.
blue = {x for y in range(H // 2, H) for x in range(W) if bright[3 * (y * W + x) + 2] > bright[3 * (y * W + x)] + 20}
print(min(blue, default=-1), max(blue, default=-1), len(blue))
assert max(blue) - min(blue) > 50 and len(blue) == max(blue) - min(blue) + 1, "a line"
def places(data, fits):
    return [x for y in range(H) for x in range(W) if fits(*data[3 * (y * W + x):3 * (y * W + x) + 3])]
belts = [places(load("recorded-%d" % number), lambda r, g, b: r > 150 and b > 150 and g < 100) for number in (2, 24)]
worms = [places(load("recorded-%d" % number), lambda r, g, b: r > 150 and g > 150 and b < 100) for number in (2, 24)]
print([sum(belt) / len(belt) for belt in belts], [len(worm) for worm in worms])
assert abs(sum(belts[0]) / len(belts[0]) - sum(belts[1]) / len(belts[1])) > 5, "the belt runs"
assert len(worms[1]) > 1.5 * len(worms[0]) > 0, "the worm is bent: it stood, now its length is seen"
PYTHON
expect "same pictures" python3 "$project/compare.py" "$project"
exit $((failures > 0))
