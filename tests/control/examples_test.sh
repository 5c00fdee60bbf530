# Every example does what it is for, seen in what it prints.
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/control.examples
rm -rf "$scratch"
mkdir -p "$scratch"

# try NAME SECONDS AWK-CONDITION: the condition holds for the last line that the robots print.
try()
{
    local name=$1
    cp -r "examples/$name" "$scratch/"
    case $(ls "examples/$name/controllers/$name") in
        *.c) project_compile "$scratch/$name" "examples/$name/controllers/$name/$name.c" || return 1 ;;
        *) [ -z "$sanitize" ] || return 0  # python3 and what a user's compiler makes are not built with the sanitizer
           "$TALUS_PROGRAM" build "$scratch/$name" > "$scratch/$name.build" 2>&1 || { cat "$scratch/$name.build"; return 1; } ;;
    esac
    timeout 600 "$TALUS_PROGRAM" run "$scratch/$name/worlds/$name.wbt" --until "$2" > "$scratch/$name.log" 2>&1
    grep '^\[' "$scratch/$name.log" | tail -1 | sed 's/,//g' | awk "{ good = ($3) } END { exit !good }" && return 0
    tail -5 "$scratch/$name.log"
    return 1
}
# Fields count from 1, the robot's name in brackets is the first.
expect "obstacle_avoider keeps driving, touches nothing" try obstacle_avoider 10.2 '$3 > 2 && $6 > 0.02'
expect "line_follower stays on the line" try line_follower 10.2 '$3 > 1.5 && $8 < 0.02'
expect "randomizer is back where it began" try randomizer 20 '$7 * $7 < 1e-6 && $9 == 0.1 && $11 < 0.02'
expect "arm stays on its circle" try arm 10.2 '$9 < 0.003'
expect "talkers lose each other" try talkers 4 '$3 == 90 && $5 > 30 && $5 < 60'
expect "drone hovers at one metre" try drone 10.2 '$3 > 0.98 && $3 < 1.02 && $5 < 0.01'
expect "quadruped walks" try quadruped 10.2 '$3 > 1.2 && $6 > 0.3'
expect "camera_avoider roams and touches nothing" try camera_avoider 20.2 '$3 > 4 && $6 == 0'
expect "learner hits the mark" try learner 60 '$3 == "40:" && $6 < 0.05'
echo "$failures failed"
exit $((failures > 0))
