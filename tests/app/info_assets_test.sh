#!/usr/bin/env bash
# `talus info` tells for every asset which file was taken and how it was found.
set -u
talus=${TALUS_PROGRAM:-build/talus}
work=$(mktemp -d "${TALUS_BUILD_DIR:-build}/info_assets.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/worlds/meshes"
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > "$work/worlds/meshes/a.obj"
cat > "$work/worlds/w.wbt" <<'END'
#VRML_SIM R2023b utf8
WorldInfo { }
Solid { children [
  Shape { geometry Mesh { url "meshes/a.obj" } }
  Shape { geometry Mesh { url "meshes/a.obj" } }
  Shape { appearance Appearance { texture ImageTexture { url [ "meshes/none.png" ] } } geometry Box { } }
] }
END
out=$("$talus" info "$work/worlds/w.wbt")
grep -qE 'asset +meshes/a.obj +2 x +file: .*/worlds/meshes/a.obj$' <<<"$out" || { echo "$out"; echo "FAIL the mesh is listed once with its place"; exit 1; }
grep -qE 'asset +meshes/none.png +1 x +not found$' <<<"$out" || { echo "$out"; echo "FAIL the missing texture is listed"; exit 1; }
"$talus" info --json "$work/worlds/w.wbt" | python3 -c '
import json, sys
assets = json.load(sys.stdin)["assets"]
assert [a["uses"] for a in assets] == [2, 1], assets
assert assets[0]["origin"] == "file" and assets[1]["path"] is None, assets' || exit 1
