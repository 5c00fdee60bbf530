# Robots whose controllers somebody else starts: the world waits for them, they can come back, every way to name the simulator works,
# strangers and clients that misbehave hold nobody.
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/control.extern
project_make "$scratch"
project_compile "$scratch" tests/control/extern/outsider.c || exit 1
project_compile "$scratch" tests/control/extern/loud.c || exit 1
export LD_LIBRARY_PATH=$TALUS_BUILD_DIR:${LD_LIBRARY_PATH:-}
outsider=$scratch/controllers/outsider/outsider
log=$scratch/log

# world NAME ROBOTS...: each robot is written as its fields.
world()
{
    local file=$scratch/worlds/$1.wbt robot
    shift
    printf '#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 16 }\n' > "$file"
    for robot in "$@"; do
        echo "${robot%%:*}Robot { ${robot#*:} }" >> "$file"
    done
}

# start WORLD OPTIONS...: runs it on a port that nobody has, in the background; sets port and talus.
start()
{
    local name=$1
    shift
    port=$((20000 + RANDOM % 20000))
    while :; do
        "$TALUS_PROGRAM" run "$scratch/worlds/$name.wbt" --port $port "$@" > "$log" 2>&1 &
        talus=$!
        until grep -q "WEBOTS_CONTROLLER_URL=ipc://$port\|cannot be opened" "$log" || ! kill -0 $talus 2> /dev/null; do
            read -rt 0.02 <> <(:)
        done
        grep -q "cannot be opened" "$log" || return 0
        wait $talus
        port=$((port + 1))
    done
}
# until TEXT FILE: waits for it as long as the simulator runs.
until_said()
{
    until grep -q "$1" "$2" || ! kill -0 $talus 2> /dev/null; do
        read -rt 0.02 <> <(:)
    done
    grep -q "$1" "$2"
}
ends_with()
{
    wait $talus
    local status=$?
    [ $status = "$1" ] && return 0
    echo "--- the run ends with $status, not $1"
    cat "$log"
    return 1
}

world one ':name "out side" controller "<extern>"'

# Every way to say where the simulator is, and for which robot.
says_where()
{
    start one --steps 20
    grep -q "WEBOTS_CONTROLLER_URL=ipc://$port/out%20side (or tcp://127.0.0.1:$port/out%20side)" "$log" || return 1
    # shellcheck disable=SC2046
    env $(printf '%s' "$1" | sed "s/@/$port/g") "$outsider" count > "$scratch/out" 2>&1 || { cat "$scratch/out"; kill $talus; return 1; }
    grep -q "^20 steps" "$scratch/out" && ends_with 0
}
for way in WEBOTS_CONTROLLER_URL=ipc://@/out%20side WEBOTS_CONTROLLER_URL=tcp://127.0.0.1:@/out%20side WEBOTS_CONTROLLER_URL=tcp://localhost:@ \
    WEBOTS_CONTROLLER_URL=ipc://@ WEBOTS_CONTROLLER_URL=@/out%20side WEBOTS_CONTROLLER_URL=@ \
    "WEBOTS_CONTROLLER_URL=out%20side TALUS_PORT=@" TALUS_PORT=@ \
    "TALUS_CHANNEL=3 WEBOTS_CONTROLLER_URL=ipc://@"; do
    expect "$way" says_where "$way"
done
# launches HOW ARGUMENTS...: the same by the launcher.
launches()
{
    local program=$1
    shift
    start one --steps 20
    "$program" "$@" --port $port "$outsider" count --steps > "$scratch/out" 2>&1 || { cat "$scratch/out"; kill $talus; return 1; }
    grep -q "controls out side, argument --steps" "$scratch/out" && grep -q "^20 steps" "$scratch/out" && ends_with 0
}
expect "talus controller" launches "$TALUS_PROGRAM" controller --robot-name "out side"
expect "talus controller over TCP" launches "$TALUS_PROGRAM" controller --robot-name="out side" --protocol tcp --ip-address 127.0.0.1
expect "webots-controller" launches "$TALUS_BUILD_DIR/webots-controller" --protocol=ipc
not_there()
{
    "$TALUS_PROGRAM" controller "$scratch/nothing" 2> "$scratch/out"
    [ $? = 3 ] && grep -q "there is no program" "$scratch/out"
}
expect "a program that is not there" not_there

# It waits for a simulator that comes later, and gives up on one that does not.
comes_later()
{
    local late=$((20000 + RANDOM % 20000)) program
    while :; do
        WEBOTS_CONTROLLER_URL=ipc://$late "$outsider" count > "$scratch/out" 2>&1 &
        program=$!
        talus=$program
        until_said "no simulator answers at ipc://$late; waiting for it" "$scratch/out" || return 1
        "$TALUS_PROGRAM" run "$scratch/worlds/one.wbt" --port $late --steps 20 > "$log" 2>&1 && break
        grep -q "cannot be opened" "$log" || return 1
        kill $program  # somebody else has the port: another one
        wait $program
        late=$((late + 1))
    done
    wait $program && grep -q "^20 steps" "$scratch/out"
}
expect "a simulator that comes later" comes_later
gives_up()
{
    ! TALUS_CONNECT_SECONDS=0 WEBOTS_CONTROLLER_URL=ipc://9 "$outsider" > "$scratch/out" 2>&1 && grep -q "there is no simulator to talk to" "$scratch/out"
}
expect "no simulator" gives_up
bad_address()
{
    ! WEBOTS_CONTROLLER_URL=tcp://host:port/robot "$outsider" > "$scratch/out" 2>&1 && grep -q "is no address such as" "$scratch/out"
}
expect "no address" bad_address

# The one that leaves, by a word, without one or by a signal, makes room for the next; what was lost is said.
comes_and_goes()
{
    start one --steps 35
    export WEBOTS_CONTROLLER_URL=$1$port
    "$outsider" say > /dev/null && "$outsider" leave > /dev/null || return 1
    (exec "$outsider" die) > /dev/null 2>&1
    "$outsider" forever > /dev/null || return 1
    unset WEBOTS_CONTROLLER_URL
    ends_with 0 && [ "$(grep -c "the connection to the controller of robot 'out side' is lost at" "$log")" = 2 ]
}
expect "comes and goes in shared memory" comes_and_goes ipc://
expect "comes and goes over TCP" comes_and_goes tcp://127.0.0.1:
dies()
{
    start one --steps 35 --stop-on-controller-failure
    (WEBOTS_CONTROLLER_URL=ipc://$port exec "$outsider" die) > /dev/null 2>&1
    ends_with 1
}
expect "one that dies is a failure" dies

refused()
{
    start one --steps 5
    WEBOTS_CONTROLLER_URL=ipc://$port/nobody "$outsider" > "$scratch/out" 2>&1 && return 1
    grep -q "no robot named 'nobody' waits for a controller; these do: 'out side'" "$scratch/out" || return 1
    WEBOTS_CONTROLLER_URL=ipc://$port "$outsider" > /dev/null && ends_with 0
}
expect "another name is refused" refused
taken()
{
    start one --steps 5
    "$TALUS_PROGRAM" run "$scratch/worlds/one.wbt" --port $port --steps 5 > "$scratch/out" 2>&1
    [ $? = 1 ] && grep -q "error: port $port cannot be opened" "$scratch/out" || return 1
    WEBOTS_CONTROLLER_URL=ipc://$port "$outsider" > /dev/null && ends_with 0
}
expect "a port that is taken" taken
says_who()
{
    start one --steps 5
    until_said "waiting for the controller of robot 'out side' (<extern>, port $port) to connect" "$log" || return 1
    WEBOTS_CONTROLLER_URL=ipc://$port "$outsider" > /dev/null && ends_with 0
}
expect "it says for whom it waits" says_who

# Another user needs the token, and may name files of the project alone. Only root can play two users.
world boss ':name "out side" supervisor TRUE controller "<extern>"'
stranger()
{
    setpriv --reuid=65534 --regid=65534 --clear-groups env "$@"
}
needs_token()
{
    start one --steps 5
    stranger WEBOTS_CONTROLLER_URL="$1$port" "$outsider" > "$scratch/out" 2>&1 && return 1
    grep -q "another user needs the token" "$scratch/out" || return 1
    WEBOTS_CONTROLLER_URL=ipc://$port "$outsider" > /dev/null && ends_with 0
}
shows_token()
{
    start boss --steps 5 --controller-token secret
    stranger TALUS_TOKEN=wrong WEBOTS_CONTROLLER_URL="$1$port" "$outsider" > "$scratch/out" 2>&1 && return 1
    grep -q "the token is wrong" "$scratch/out" || return 1
    stranger TALUS_TOKEN=secret WEBOTS_CONTROLLER_URL="$1$port" "$outsider" save "$TALUS_BUILD_DIR/scratch/outside.wbt" > "$scratch/out" 2>&1 && ends_with 0 &&
        grep -q "may name files of the project alone" "$scratch/out" && [ ! -e "$TALUS_BUILD_DIR/scratch/outside.wbt" ]
}
may_save()
{
    start boss --steps 5 --controller-token secret
    stranger TALUS_TOKEN=secret WEBOTS_CONTROLLER_URL="tcp://127.0.0.1:$port" "$outsider" save "$scratch/worlds/inside.wbt" > /dev/null && ends_with 0 &&
        [ -s "$scratch/worlds/inside.wbt" ]
}
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null && stranger test -x "$outsider"; then
    for kind in ipc:// tcp://127.0.0.1:; do
        expect "another user by $kind" needs_token "$kind"
        expect "another user with the token by $kind" shows_token "$kind"
    done
    expect "another user saves in the project" may_save
fi

# Clients that say nothing, noise, or a byte at a time, hold nobody: the other robot makes all its steps meanwhile.
world two ':name "inside" controller "outsider" controllerArgs [ "count" ]' ':name "out side" controller "<extern>"'
noise()
{
    local i handles=()
    start two --steps 3000
    for i in $(seq 80); do
        exec {handle}<> "/dev/tcp/127.0.0.1/$port" || return 1
        handles+=("$handle")
    done
    printf 'GET / HTTP/1.0\r\n\r\n' >&"${handles[0]}"
    for i in $(seq 20); do
        printf '\1' >&"${handles[1]}"
    done 2> /dev/null
    WEBOTS_CONTROLLER_URL=ipc://$port "$outsider" count > "$scratch/out" && grep -q "^3000 steps" "$scratch/out" && ends_with 0
    local ok=$?
    for handle in "${handles[@]}"; do
        exec {handle}>&-
    done
    [ $ok = 0 ] && grep -q '\[inside\] 3000 steps' "$log"
}
trap '' PIPE
expect "clients that say nothing" noise

# One that stops reading in the middle of a large message is dropped in its time, and the simulator ends as always.
world loud 'DEF OTHER :name "out side" controller "<extern>"' ':name "loud" supervisor TRUE controller "loud"'
stalls()
{
    start loud --steps 20 --controller-timeout 5000 --timeout 600
    WEBOTS_CONTROLLER_URL=tcp://127.0.0.1:$port "$outsider" stall > /dev/null 2>&1 &
    local program=$!
    # The world waits for the next one when this one was dropped.
    until_said "did not answer in time" "$log" || return 1
    kill -9 $program
    WEBOTS_CONTROLLER_URL=ipc://$port "$outsider" count > /dev/null && ends_with 0 && grep -q '\[loud\] 20 steps' "$log"
}
expect "one that stops reading" stalls
[ $failures = 0 ] || cat "$log"
exit $((failures > 0))
