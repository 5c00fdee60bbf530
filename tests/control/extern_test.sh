# A robot whose controller somebody else starts: the world waits for it, it can come back, and strangers are refused.
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/control.extern
project_make "$scratch"
project_compile "$scratch" tests/control/faults/faulty.c || exit 1
cat > "$scratch/worlds/extern.wbt" <<'WORLD'
#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 16 }
Robot { name "out side" controller "<extern>" }
WORLD
port=$((20000 + $$ % 20000))
program=$scratch/controllers/faulty/faulty
export LD_LIBRARY_PATH=$TALUS_BUILD_DIR:${LD_LIBRARY_PATH:-}
timeout 60 "$TALUS_PROGRAM" run "$scratch/worlds/extern.wbt" --steps 15 --port $port > "$scratch/log" 2>&1 &
talus=$!
for i in $(seq 100); do
    grep -q "WEBOTS_CONTROLLER_URL=ipc://$port/out%20side" "$scratch/log" && break
    sleep 0.1
done
expect "it says how to connect" grep -q "WEBOTS_CONTROLLER_URL=ipc://$port/out%20side (or tcp://127.0.0.1:$port/out%20side)" "$scratch/log"
refused()
{
    ! WEBOTS_CONTROLLER_URL=tcp://127.0.0.1:$port/nobody timeout 10 "$program" good never > "$scratch/refused" 2>&1 && grep -q "refused" "$scratch/refused"
}
expect "another name is refused" refused
# Noise on the port harms nobody.
printf 'GET / HTTP/1.0\r\n\r\n' > "/dev/tcp/127.0.0.1/$port"
expect "it waits" kill -0 $talus
# Ten steps, then the first one leaves; the world waits for the next.
expect "the first one runs" env "WEBOTS_CONTROLLER_URL=tcp://127.0.0.1:$port/out%20side" timeout 20 "$program" leave never
expect "it waits again" kill -0 $talus
WEBOTS_ROBOT_NAME="out side" TALUS_PORT=$port timeout 20 "$program" good never > /dev/null 2>&1 &
second=$!
wait $talus
expect "the run ends well" [ $? = 0 ]
wait $second
[ $failures = 0 ] || cat "$scratch/log"
exit $((failures > 0))
