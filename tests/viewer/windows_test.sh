#!/usr/bin/env bash
# Robot windows without a browser: words between a page and a robot's program, their log, and how page files are served; see windows.py.
cd "$(dirname "$0")/../.." || exit 1
. tests/control/project.sh
"$TALUS_PROGRAM" doctor | grep -q 'viewer *libwebsockets' || { echo "built without libwebsockets"; exit 77; }
scratch=$TALUS_BUILD_DIR/scratch/viewer_windows
project_make "$scratch"
project_compile "$scratch" tests/viewer/windows/talks.c || exit 1
cp tests/viewer/windows/windows.wbt "$scratch/worlds/"
pages=$scratch/plugins/robot_windows
mkdir -p "$pages/other"
cp -r tests/viewer/windows/talks "$pages/"
echo "secret" >"$pages/other/other.html"
ln -s ../other/other.html "$pages/talks/out.html"
ln -s ../other "$pages/talks/out"
ln -s talks.css "$pages/talks/within.css"
echo "hidden" >"$pages/talks/.hidden"
mkfifo "$pages/talks/pipe.txt"
truncate -s 9M "$pages/talks/huge.bin"
truncate -s 7M "$pages/talks/large.bin"
printf 'https://cyberbotics.com/wwi/R2023b/RobotWindow.js https://cyberbotics.com/wwi/testing/RobotWindow.js h https://cyberbotics.com/wwi/a/b/RobotWindow.js https://cyberbotics.com/wwi/' >"$pages/talks/odd.js"
exec python3 tests/viewer/windows.py "$scratch/worlds/windows.wbt" "$scratch/acts.log"
