# A robot's URDF, parsed back: its chain of joints puts the tip where the simulation had it.
. tests/control/project.sh
command -v python3 > /dev/null || exit 77
scratch=$TALUS_BUILD_DIR/scratch/control.urdf
project_make "$scratch"
project_compile "$scratch" tests/control/urdf/urdf.c || exit 1
cp tests/control/urdf/urdf.wbt "$scratch/worlds/"
timeout 600 "$TALUS_PROGRAM" run "$scratch/worlds/urdf.wbt" --until 6 --controller-timeout 20000 > "$scratch/log" 2>&1
expect "the controller" grep -q '\] PASS' "$scratch/log"
expect "reading it back" python3 tests/control/urdf/parse.py "$scratch/controllers/urdf/robot.urdf" "$scratch/log"
cat > "$scratch/worlds/free.wbt" << 'END'
#VRML_SIM R2025a utf8
WorldInfo { }
Viewpoint { }
Robot { children [ FreeJoint { endPoint Solid { name "loose" translation 1 0 0 boundingObject Box { } physics Physics { } } } ] }
END
expect "a free link" "$TALUS_PROGRAM" convert --quiet "$scratch/worlds/free.wbt" "$scratch/free.urdf"
expect "is floating" grep -q 'name="loose joint" type="floating"' "$scratch/free.urdf"
[ $failures = 0 ] || cat "$scratch/log"
exit $((failures > 0))
