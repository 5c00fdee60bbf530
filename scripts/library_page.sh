#!/usr/bin/env bash
# Writes docs/library.md from the comments at the top of the PROTO files of the library; prints it with --stdout.
set -eu
cd "$(dirname "$0")/.."

page()
{
    cat <<'HEAD'
# The PROTO library

Worlds name PROTOs that came with Webots. `library/protos/` holds models of our own with the same names, parameters and
device names, so that such worlds open and run offline. They are written from published figures (sizes, masses, joints,
limits, sensor tables) of the Webots releases they stand for; no mesh, texture or text is taken over. Where a bounding
object was published as primitives, its sizes and places are used. What "all" means below: everything that this PROTO has.

Some files were written from general knowledge of the machine rather than from its published model, so their figures are
estimates and some device names may differ: the UR arms, TIAGo's arm and head, Moose, JetBot, Robotino3,
Ned, Irb4600, ScaraT6, P-Rob3, Panda, Robotiq3f, Crazyflie, RpLidarA2, Astra, the Sprinter van, animals, bathroom and hospital
objects, FireExtinguisher, Forklift, GasCanister, some buildings, and the box sizes of Mavic2Pro, TurtleBot3 and TIAGo's base.

How a name is found: first the world's own project, then the folders given with `--path`, then this library. A URL such
as `https://raw.githubusercontent.com/cyberbotics/webots/R2023b/projects/objects/floors/protos/Floor.proto` or
`webots://projects/.../Floor.proto` means the library's file of that name. `talus info WORLD` tells which one was taken.

All files have z up and x to the front. In worlds from before R2022a their instances are turned, and their sizes, points
and slots with them, so that they stand where the world put them; the `# old ...` comments in a file tell how its
predecessor looked (`src/formats/upgrade/library_axes.c` reads them). A sensor that an old PROTO mounted without any turn reads
in the new axes.

Parameters that only choose pictures are read and, unless a world gives a picture of its own, have no effect.

This page is made by `scripts/library_page.sh` from the files.
HEAD
    local folder
    for folder in $(find library/protos -type d | LC_ALL=C sort); do
        ls "$folder"/*.proto >/dev/null 2>&1 || continue
        printf '\n## %s\n\n| PROTO | what it is | faithful | simplified |\n|---|---|---|---|\n' "${folder#library/protos/}"
        for file in $(ls "$folder"/*.proto | LC_ALL=C sort); do
            awk -v name="$(basename "$file" .proto)" '
                NR == 2 { what = substr($0, 3) }
                /^# faithful: / { faithful = substr($0, 13) }
                /^# simplified: / { simplified = substr($0, 15) }
                /^PROTO / { exit }
                END { printf "| %s | %s | %s | %s |\n", name, what, faithful, simplified }' "$file"
        done
    done
}

if [ "${1:-}" = --stdout ]; then
    page
else
    page > docs/library.md
fi
