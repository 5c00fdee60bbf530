# wb_supervisor_export_image draws what `talus render` draws at that moment; with a bad name it says so. Movies: tests/record.
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/control.pictures
project_make "$scratch"
project_compile "$scratch" tests/control/pictures/pictures.c || exit 1
cat > "$scratch/worlds/fall.wbt" <<WORLD
#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 16 }
Viewpoint { position -6 0 1 follow "box" }
DirectionalLight { direction 1 0 -1 }
DEF BOX Solid { translation 0 0.5 1 name "box" boundingObject DEF SIZE Box { size 1 1 1 } physics Physics { }
  children [ Shape { appearance Appearance { material Material { diffuseColor 1 0 0 } } geometry USE SIZE } ] }
Shape { geometry Box { size 0.3 8 0.3 } }
Robot { name "boss" supervisor TRUE controller "pictures" controllerArgs [ "$scratch" ] }
WORLD
own=$scratch/controllers/pictures log=$scratch/log
timeout 600 "$TALUS_PROGRAM" run "$scratch/worlds/fall.wbt" --steps 25 > "$log" 2>&1
expect "the run ends well" [ $? = 0 ]
expect "the program ends well" grep -q '\] PASS' "$log"
said() { [ "$(grep -c "$1" "$log")" -ge "$2" ]; }
expect "four are refused" said 'no picture was made' 4
expect "the reason is named" said 'wants a name that ends with .png' 1
# The same moment, drawn from outside: the same bytes.
"$TALUS_PROGRAM" render "$scratch/worlds/fall.wbt" "$scratch/outside.png" --steps 20 --no-controllers -q
expect "as talus render" cmp "$scratch/moment.png" "$scratch/outside.png"
"$TALUS_PROGRAM" render "$scratch/worlds/fall.wbt" "$scratch/start.png" -q
expect "something moved" bash -c "! cmp -s '$scratch/moment.png' '$scratch/start.png'"
is_jpeg()
{
    [ "$(head -c 3 "$1" | od -An -tx1 | tr -d ' ')" = ffd8ff ]
}
expect "fine.jpg is a JPEG" is_jpeg "$own/fine.jpg"
expect "coarse.jpeg is a JPEG" is_jpeg "$own/coarse.jpeg"
expect "quality counts" [ "$(stat -c %s "$own/fine.jpg")" -gt "$(stat -c %s "$own/coarse.jpeg")" ]
expect "nothing else is written" [ "$(ls "$own" | tr '\n' ' ')" = "coarse.jpeg fine.jpg pictures " ]
[ $failures = 0 ] || cat "$log"
exit $((failures > 0))
