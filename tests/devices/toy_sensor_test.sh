#!/usr/bin/env bash
# A new sensor takes six places (docs/extending.md): here a Thermometer is added in a copy of just these, built into a second program
# and library, and read by a C and a Python program.
set -u
toy=$PWD/tests/devices/toy
case $TALUS_BUILD_DIR in *san) echo "toy sensor: skipped: the release build shows it"; exit 77 ;; esac
scratch=$TALUS_BUILD_DIR/scratch/devices.toy_sensor
rm -rf "$scratch"; mkdir -p "$scratch"/src/{devices,scene} "$scratch"/out "$scratch"/worlds "$scratch"/controllers/{reads,pythonic}
fail() { echo "toy sensor: $*"; exit 1; }
# insert FILE BEFORE TEXT: one line before the first that matches; each call is one of the six places
insert() { sed -i "0,/$2/s//$3\n&/" "$1" && grep -qF "${4:-$3}" "$1" || fail "nothing like '$2' in $1"; }
cp -r api include python "$scratch"; cp src/scene/schema_devices.c "$scratch/src/scene"; cp src/devices/registry.[ch] "$scratch/src/devices"

# 1. the node's fields and type   2. its code   3. the list of kinds   4. the device   5. its header in C   6. what C++ and Python have
insert "$scratch/src/scene/schema_devices.c" '^static const NodeType types' \
  'static const FieldType thermometer[] = { DEVICE_NAME("thermometer"), LOOKUP_TABLE("[]"), FIELD("offset", SF_FLOAT, "0", NULL, "K", "error") };'
insert "$scratch/src/scene/schema_devices.c" '    TYPE("Accelerometer"' '    TYPE("Thermometer", "Solid", NODE_DEVICE, thermometer, "Measures warmth."),'
sed -i 's/^    WB_NODE_RADIO$/&,\n    WB_NODE_THERMOMETER/' "$scratch/include/webots/nodes.h"
insert "$scratch/src/devices/registry.h" '    X(gyro) ' '    X(thermometer) \\'  'X(thermometer)'
cp "$toy/thermometer.c" "$scratch/src/devices"
cp "$toy/thermometer.h" "$scratch/include/webots"
printf '\nclass Thermometer : Sensor\n    prefix wb_thermometer_\n    plain\n    double getValue()\n    double[] getLookupTable()\n    property value = getValue -\n' \
  >> "$scratch/api/webots.api"

# The program: the files that changed, linked as the build links it with all the others.
flags=$(ninja -C "$TALUS_BUILD_DIR" -t commands talus | sed -n 's/ -MD .*schema_devices.c$//p' | head -1)
[ -n "$flags" ] || fail "the build does not tell how it compiles"
objects=
for file in scene/schema_devices.c devices/registry.c devices/thermometer.c; do
  object=$scratch/out/$(basename "$file" .c).o
  (cd "$TALUS_BUILD_DIR" && ${flags/ -I/ -I$scratch/src -I$scratch/include -I} -o "$object" -c "$scratch/src/$file") || fail "$file does not compile"
  objects="$objects $object"
done
link=$(ninja -C "$TALUS_BUILD_DIR" -t commands talus | tail -1 | sed -E 's# [^ ]*/(schema_devices|registry)\.c\.o##g')
link=${link/ -o talus / -o $scratch/out/talus $objects }
(cd "$TALUS_BUILD_DIR" && eval "$link") || fail "the program does not link"

# The library and the languages.
for part in c python; do python3 -B "$scratch/api/generate.py" "$scratch/api/webots.api" "$scratch/out" $part || fail "api: $part"; done
cp python/controller/_*.py "$scratch/out/python/controller"
cc -std=gnu17 -D_GNU_SOURCE -O1 -fPIC -shared -ffp-contract=off -I "$scratch/include" -I src -I controller -I "$scratch/out/controller" \
  controller/*.c "$scratch/out/controller/plain_sensors.c" src/protocol/protocol.c src/protocol/channel.c src/base/memory.c -lm -lpthread \
  -Wl,--version-script=cmake/exports/controller.map -o "$scratch/out/libController.so" || fail "the library does not build"
cc -I "$scratch/include" "$toy/reads.c" -L "$scratch/out" -lController -Wl,-rpath,"$scratch/out" -o "$scratch/controllers/reads/reads" || fail "reads.c"
cat > "$scratch/controllers/pythonic/pythonic.py" <<'PY'
from controller import Robot
robot = Robot()
sensor = robot.getDevice('thermometer')
sensor.enable(16)
robot.step(16)
robot.step(16)
print(type(sensor).__name__, '%.4f' % sensor.getValue(), len(sensor.getLookupTable()), robot.getThermometer('thermometer') is sensor)
PY

cat > "$scratch/worlds/toy.wbt" <<'W'
#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 16 }
Robot { name "c" translation 0 0 1000 controller "reads" children [ Thermometer { offset 2 } ] }
Robot { name "p" controller "pythonic" children [ Thermometer { lookupTable [ 0 0 0, 100 200 0 ] } ] }
W
export TALUS_CONTROLLER_PATH=$scratch/out PYTHONPATH=$scratch/out/python
"$scratch/out/talus" run "$scratch/worlds/toy.wbt" --steps 5 > "$scratch/said" 2>&1 || { cat "$scratch/said"; fail "it does not run"; }
grep -q '^\[c\] Thermometer 15.5000 every 16 ms$' "$scratch/said" && grep -q '^\[p\] Thermometer 40.0000 6 True$' "$scratch/said" ||
  { cat "$scratch/said"; fail "it reads something else"; }
echo "toy sensor: six places, read from C and Python"
