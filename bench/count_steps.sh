#!/usr/bin/env bash
# Instructions of whole steps, and of the function solver_step in them, counted by callgrind: exact on a noisy machine.
# What a whole step takes beside solver, broad phase and narrow phase alone, on one and the same scene, is counted by
# `bench/peers/run.py BUILD DOCS --whole`, a part of `make bench-peers`.
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
    printf "%-14s %10.1f thousand instructions a step, promised %s; in solver_step %.1f\n", name, whole, promise, solver }'
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
