# A supervisor goes from world to world and ends the run with its own status.
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/control.worlds
project_make "$scratch"
project_compile "$scratch" tests/control/worlds/walker.c || exit 1
for world in first second; do
    printf '#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 32 }\nRobot { name "walker" controller "walker" supervisor TRUE }\n' > "$scratch/worlds/$world.wbt"
done
timeout 600 "$TALUS_PROGRAM" run "$scratch/worlds/first.wbt" --until 10 > "$scratch/log" 2>&1
expect "the supervisor's status" [ $? = 7 ]
expect "five worlds in order" [ "$(sed -n 's/^\[walker\] in //p' "$scratch/log" | tr '\n' ' ')" = "first.wbt second.wbt second.wbt second.wbt first.wbt " ]
[ $failures = 0 ] || cat "$scratch/log"
exit $((failures > 0))
