# Which program runs, in which environment, and what is said when there is none: one row of the tables below for each case.
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/control.launch
project_make "$scratch"
project_compile "$scratch" tests/control/launch/shows.c || exit 1
cat > "$scratch/controllers/shows/runtime.ini" <<'INI'
; what is set here, and what is not
[environment variables with paths]
PATHS=one/two:three
[environment variables]
PLAIN = blue ;a comment
;HIDDEN = never
QUOTED = "red; green" ; another
HOME_OF = $(PLAIN)/sea
[environment variables for Windows]
WINDOWS = yes
[Environment Variables for Linux]
LINUX = $(PATHS):four
[environment variables for Linux 64]
LINUX_64 = yes
INI

# world NAME CONTROLLER ARGUMENTS...
world()
{
    local file=$scratch/worlds/$1.wbt controller=$2
    shift 2
    printf '#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 16 }\nRobot { name "r" controller "%s" controllerArgs [ %s ] }\n' "$controller" \
        "$(printf '"%s" ' "$@")" > "$file"
}

world ini shows PATHS PLAIN HIDDEN QUOTED HOME_OF WINDOWS LINUX LINUX_64 WEBOTS_CONTROLLER_URL
WEBOTS_CONTROLLER_URL=tcp://127.0.0.1:9/nobody "$TALUS_PROGRAM" run "$scratch/worlds/ini.wbt" --steps 3 2> "$scratch/err" | grep '^\[r\]' > "$scratch/ini"
diff "$scratch/ini" - <<'INI' || expect "runtime.ini" false
[r] PATHS=one/two:three
[r] PLAIN=blue
[r] HIDDEN=(none)
[r] QUOTED=red; green
[r] HOME_OF=blue/sea
[r] WINDOWS=(none)
[r] LINUX=one/two:three:four
[r] LINUX_64=yes
[r] WEBOTS_CONTROLLER_URL=(none)
INI

# home VALUE PATTERN: WEBOTS_HOME as programs see it, which may look for their own files below it.
home()
{
    world home shows WEBOTS_HOME
    env ${1:+WEBOTS_HOME="$1"} "$TALUS_PROGRAM" run "$scratch/worlds/home.wbt" --steps 3 2> "$scratch/err" | grep -q "^\[r\] WEBOTS_HOME=$2\$"
}
expect "a home of its own is left alone" home /opt/mine /opt/mine
unset WEBOTS_HOME
expect "otherwise it is that of Talus" home "" "/.*[a-z]"

# said CONTROLLER STATUS TEXT OPTIONS...: what a run says, and how it ends.
said()
{
    local controller=$1 wanted=$2 text=$3 status
    shift 3
    world said "$controller"
    "$TALUS_PROGRAM" run "$scratch/worlds/said.wbt" --steps 3 "$@" > "$scratch/log" 2>&1
    status=$?
    [ $status = "$wanted" ] && grep -q "$text" "$scratch/log" && return 0
    echo "--- $controller: status $status, not $wanted, or without '$text'"
    cat "$scratch/log"
    return 1
}
# file PATH: an empty one among the controllers.
file()
{
    mkdir -p "$scratch/controllers/$(dirname "$1")"
    echo > "$scratch/controllers/$1"
}
mkdir "$scratch/controllers/empty"
file java/java.java
file jar/jar.jar
file matlab/matlab.m
file source/source.c
file plus/plus.cpp
file made/Makefile
file plain/plain
printf 'no program\n' > "$scratch/controllers/plain/plain"
mkdir "$scratch/controllers/old"
printf 'from controller import Robot\nprint "old"\n' > "$scratch/controllers/old/old.py"
mkdir "$scratch/outside"
echo 'open("started", "w")' > "$scratch/outside/outside.py"

expect "a missing one is an error, and the run goes on" said nowhere 0 "error: controller 'nowhere' of robot 'r' is not in"
expect "a missing one ends the run when asked to" said nowhere 1 "controller 'nowhere' of robot 'r' failed" --stop-on-controller-failure
default_of_library()
{
    printf '#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 16 }\nE-puck { name "e" }\n' > "$scratch/worlds/default.wbt"
    "$TALUS_PROGRAM" run "$scratch/worlds/default.wbt" --steps 3 > "$scratch/log" 2>&1 || return 1
    grep -q "default.wbt:3:1: warning: controller 'e-puck_avoid_obstacles', the default of this robot, comes with Webots" "$scratch/log" || return 1
    "$TALUS_PROGRAM" check "$scratch/worlds/default.wbt" > "$scratch/log" 2>&1
}
expect "the default of a robot of the library is nobody's mistake" default_of_library
expect "none is started when none is wanted" said nowhere 0 "0 warnings, 0 errors" --no-controllers
expect "an empty folder" said empty 0 "nor a source to build it from"
expect "Java" said java 0 "is a Java program (java.java), which Talus cannot run"
expect "a jar" said jar 0 "is a Java program (jar.jar)"
expect "MATLAB" said matlab 0 "is a MATLAB program"
expect "ROS" said ros 0 "controller 'ros' of robot 'r' is a ROS node, which Talus cannot run"
expect "C" said source 0 "is not built: .*source.c alone"
expect "C++" said plus 0 "hint: talus build"
expect "a Makefile" said made 0 "controller 'made' of robot 'r' is not built"
expect "a file that may not be executed" said plain 0 "may not be executed"
chmod +x "$scratch/controllers/plain/plain"
expect "a file that is no program" said plain 0 "is no program of this system"
if command -v python3 > /dev/null && [ -z "$sanitize" ]; then
    expect "Python 2" said old 0 "is written for Python 2"
fi
file doubling/doubling.c
cp tests/fuzz/corpus/runtime/doubling "$scratch/controllers/doubling/runtime.ini"
expect "a runtime.ini that doubles what it has" said doubling 0 "doubling/runtime.ini:15:1: warning: variables take more than 262144 bytes; this one and what follows is not set"
# A variable takes its name, its value and 10 bytes around them of the 256 KiB.
fill() { printf '[environment variables]\nA=%0*d\n' "$1" 0 > "$scratch/controllers/doubling/runtime.ini"; }
fill $((262144 - 11))
expect "a runtime.ini at the limit" bash -c "! grep -q 'variables take' <('$TALUS_PROGRAM' run '$scratch/worlds/said.wbt' --steps 1 2>&1)"
fill $((262144 - 10))
expect "one past it" said doubling 0 "doubling/runtime.ini:2:1: warning: variables take more than 262144 bytes"
expect "a path is no name" said ../outside 0 "is a path, not the name of a program"
expect "an absolute path is no name" said "$scratch/outside" 0 "is a path, not the name of a program"
expect "files of unknown origin start nothing" said shows 0 "code of unknown origin is not run" --untrusted
expect "and print nothing" bash -c "! grep -q '^\[r\]' '$scratch/log'"
expect "nothing outside of the project ran" [ -z "$(find "$scratch" -name started)" ]
expect "an empty token" said shows 2 "controller-token is empty" --controller-token ""

# A file that lay there without the right to run, as some repositories have it, does not keep the built one from running.
builds_anew()
{
    mkdir "$scratch/controllers/stale"
    cp tests/control/launch/shows.c "$scratch/controllers/stale/stale.c"
    echo old > "$scratch/controllers/stale/stale"
    chmod 644 "$scratch/controllers/stale/stale"
    "$TALUS_PROGRAM" build "$scratch/controllers/stale" > "$scratch/log" 2>&1 && [ -x "$scratch/controllers/stale/stale" ]
}
expect "what is built can be run" builds_anew
exit $((failures > 0))
