#!/usr/bin/env bash
# Instructions of whole steps and of the solver in them, counted by callgrind: exact on a noisy machine.
# usage: bench/count_steps.sh [path of step_bench]
# Rows: scene, size, steps before, steps counted, promise in thousand instructions a step ("-": none).
set -u
program=${1:-build/bench/step_bench}
command -v valgrind >/dev/null || { echo "count_steps: valgrind is not installed"; exit 0; }
while read -r scene size before steps promise; do
  count() {
    valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=/dev/null "$@" "$program" "$scene" "$size" "$before" "$steps" 2>&1 |
      sed -n 's/.*Collected : *\([0-9]*\).*/\1/p'
  }
  echo "$(count) $(count --toggle-collect=solver_step) $steps" | awk -v name="$scene $size" -v promise="$promise" '{
    whole = $1 / $3 / 1000; solver = $2 / $3 / 1000
    printf "%-14s %10.1f thousand instructions a step, promised %s; the solver %.1f", name, whole, promise, solver
    if (solver > 0) printf ", whole / solver %.2f", whole / solver
    print "" }'
done <<'TABLE'
chain 10 20 20 -
chain 100 20 20 340
humanoid 1 100 40 190
ragdoll 1 250 40 300
swarm 200 20 5 17000
pile 10 200 20 90
pile 100 200 20 800
pile 1000 100 5 9500
stack 10 100 20 850
towers 25 100 10 -
rest 10000 300 100 20
TABLE
