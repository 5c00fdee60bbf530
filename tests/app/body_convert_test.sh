# A body as a PROTO or a world moves as the body itself; what a body file cannot say of a world is listed.
set -u
: "${TALUS_BUILD_DIR:=$PWD/build}" "${TALUS_PROGRAM:=$TALUS_BUILD_DIR/talus}"
scratch=$TALUS_BUILD_DIR/scratch/app.body_convert
rm -rf "$scratch"
mkdir -p "$scratch"
cp tests/control/body/arm.body "$scratch/arm.body"
cd "$scratch" || exit 1
failures=0
fail()
{
    echo "FAILED: $1"
    failures=$((failures + 1))
}

head='#VRML_SIM R2025a utf8'
world='WorldInfo { basicTimeStep 1 gravity 9.80665 } Viewpoint { }'
"$TALUS_PROGRAM" convert arm.body Arm.proto > log 2>&1 || fail "to a PROTO"
printf '%s\n%s\nBody { url "arm.body" name "X" }\n' "$head" "$world" > body.wbt
printf '%s\nEXTERNPROTO "Arm.proto"\n%s\nArm { name "X" }\n' "$head" "$world" > proto.wbt
"$TALUS_PROGRAM" run body.wbt --steps 300 -q --record body.csv > log 2>&1 || fail "Body runs"
"$TALUS_PROGRAM" run proto.wbt --steps 300 -q --record proto.csv > log 2>&1 || fail "PROTO runs"
cmp body.csv proto.csv || fail "a PROTO moves as the body"
[ "$(wc -l < body.csv)" -gt 100 ] || fail "rows"

"$TALUS_PROGRAM" convert arm.body arm.wbt > log 2>&1 || fail "to a world"
"$TALUS_PROGRAM" run arm.body --steps 300 -q --record alone.csv > log 2>&1 || fail "body runs"
"$TALUS_PROGRAM" run arm.wbt --steps 300 -q --record world.csv > log 2>&1 || fail "world runs"
cmp alone.csv world.csv || fail "a world moves as the body"

cat > all.wbt <<'X'
#VRML_SIM R2025a utf8
WorldInfo { }
Viewpoint { }
Robot { name "r" children [
  Hinge2Joint { endPoint Solid { name "h2" physics Physics { mass 1 } boundingObject Box { } } }
  HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 springConstant 5 dampingConstant 2 staticFriction 1 suspensionSpringConstant 3 }
    device [ RotationalMotor { name "m3" } Brake { name "b" } ] endPoint Solid { name "h" physics Physics { mass 1 } boundingObject Box { } } }
  BallJoint { jointParameters BallJointParameters { springConstant 2 } device [ RotationalMotor { name "bm" } ] endPoint Solid { name "ball" physics Physics { mass 1 } boundingObject Box { } } }
  Propeller { device RotationalMotor { name "prop" } }
  GPS { }
] physics Physics { density 500 damping Damping { } } boundingObject Box { } }
X
"$TALUS_PROGRAM" convert all.wbt all.body > log 2>&1
for word in Hinge2Joint springConstant dampingConstant staticFriction suspensionSpringConstant 'Brake b' 'RotationalMotor bm' Propeller GPS 'Physics damping'; do
    grep -q "$word.*cannot be said in a body file" log || fail "$word is lost silently"
done
[ "$(grep -c 'springConstant cannot' log)" = 2 ] || fail "springs of both joints"
"$TALUS_PROGRAM" check -q all.body > log 2>&1 || fail "what was written is a body"
exit $((failures > 0))
