#!/usr/bin/env bash
# The tree shows the data flow: a folder of src/ includes only folders that stand before it, ODE is included by physics/
# and plugins/ alone and called in physics/ode/, Embree by rays/ alone. The rooms of physics/ and formats/ have an order of their
# own, and an internal header is included by the files of its folder alone. Every file opens with what it is for.
set -u
order="base assets scene formats physics rays devices sound plugins sim protocol control record viewer many app"
# Rooms of a stage, in their order; what lies in the folder of the stage itself may be included by all of them.
physics_rooms="collide solver fluids joints contacts fittings ode"
formats_rooms="text template proto upgrade check shape yaml body"
alone="physics/collide physics/solver formats/yaml" # these know nothing of a world: no header of the stage itself
failures=0
complain() { echo "$1"; failures=$((failures + 1)); }
rank() { local i=0 name=$1; shift; for folder in "$@"; do [ "$folder" = "$name" ] && { echo $i; return; }; i=$((i + 1)); done; echo -1; }
while IFS=: read -r file include; do
  from=${file#src/}; from=${from%%/*}; to=${include%%/*}
  case $include in */*) ;; *) complain "$file: include \"$include\" with its folder"; continue ;; esac
  case $to in talus | webots | plugins_api) continue ;; esac
  a=$(rank "$from" $order); b=$(rank "$to" $order)
  [ "$a" -ge 0 ] || complain "$file: folder $from is not in the list of stages"
  [ "$b" -ge 0 ] || { [ -d "include/$to" ] && continue; complain "$file: includes \"$include\", which is no stage"; continue; }
  [ "$b" -le "$a" ] || complain "$file: $from includes $to, which stands after it"
done < <(grep -rnoE '^#include "[^"]+"' src --include='*.[ch]' | sed -E 's/^([^:]+):[0-9]+:#include "([^"]+)"/\1:\2/')
room() { case $1 in */*/*) local rest=${1#*/}; echo "${rest%%/*}" ;; *) echo "" ;; esac; }
for stage in physics formats; do
  rooms=${stage}_rooms; rooms=${!rooms}
  while IFS=: read -r file include; do
    from=$(room "${file#src/}"); to=$(room "$include")
    [ -z "$from" ] || [ "$(rank "$from" $rooms)" -ge 0 ] || complain "$file: $from is not in the list of rooms"
    case " $alone " in *" $stage/$from "*) [ -n "$to" ] || complain "$file: $from includes \"$include\", but stands by itself" ;; esac
    [ -z "$from" ] || [ -z "$to" ] || [ "$(rank "$to" $rooms)" -le "$(rank "$from" $rooms)" ] \
      || complain "$file: $from includes $to, which stands after it"
  done < <(grep -rnoE "^#include \"$stage/[^\"]+\"" src/$stage --include='*.[ch]' | sed -E 's/^([^:]+):[0-9]+:#include "([^"]+)"/\1:\2/')
done
while IFS=: read -r file include; do
  case $file:$include in src/control/*:devices/devices_internal.h) continue ;; esac # they exchange what devices/ keeps
  case $file in "src/$(dirname "$include")"/*) ;; *) complain "$file: includes \"$include\", which is of its folder alone" ;; esac
done < <(grep -rnoE '^#include "[^"]+_internal.h"' src --include='*.[ch]' | sed -E 's/^([^:]+):[0-9]+:#include "([^"]+)"/\1:\2/')
while IFS=: read -r file _; do
  case $file in src/physics/* | src/plugins/*) ;; *) complain "$file: includes ODE" ;; esac
done < <(grep -rnE '^#include <ode/' src --include='*.[ch]')
while IFS=: read -r file _; do
  case $file in src/physics/ode/*) ;; *) complain "$file: calls ODE outside of physics/ode/" ;; esac
done < <(grep -rnE '(^|[^A-Za-z0-9_])d[A-Z][A-Za-z0-9]+\(' src/physics --include='*.[ch]')
while IFS=: read -r file _; do
  case $file in src/rays/*) ;; *) complain "$file: includes Embree" ;; esac
done < <(grep -rnE '^#include <embree' src --include='*.[ch]')
while read -r file; do
  complain "$file: does not open with what it is for"
done < <(find src controller include template movie -name '*.[ch]' -exec awk 'FNR == 1 && !/^\/[\/*]/ { print FILENAME }' {} +)
[ $failures = 0 ] && echo "layout: $(find src -name '*.[ch]' | wc -l) files in order"
exit $((failures > 0))
