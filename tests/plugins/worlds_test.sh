#!/usr/bin/env bash
# One process, several worlds: a supervisor resets, reloads and goes on to a world with another plugin. Each plugin is cleaned up before
# the next is started, starts with its variables as the compiler left them, and hears and is heard by the controllers of its world.
if ! grep -q '^TALUS_SANITIZE:STRING=$' "$TALUS_BUILD_DIR/CMakeCache.txt"; then
  echo "skipped: plain builds run controllers"
  exit 77
fi
set -u
scratch=$TALUS_BUILD_DIR/tests/scratch-plugin-worlds
rm -rf "$scratch"; mkdir -p "$scratch/worlds" "$scratch/controllers/director"
cd "$scratch" || exit 1
for name in first second; do
  mkdir -p plugins/physics/$name
  cat >plugins/physics/$name/$name.c <<C
#include <plugins/physics.h>
static int inits, steps;
DLLEXPORT void webots_physics_init(void) { dWebotsConsolePrintf("init %d", ++inits); }
DLLEXPORT void webots_physics_step(void)
{
  int size;
  const char *text = (const char *)dWebotsReceive(&size);
  if (text)
    dWebotsSend(1, text, size);
  steps++;
}
DLLEXPORT void webots_physics_cleanup(void) { dWebotsConsolePrintf("cleanup %d", inits); }
C
  cat >worlds/$name.wbt <<W
#VRML_SIM R2025a utf8
WorldInfo { physics "$name" basicTimeStep 10 }
DEF BOX Solid { translation 0 0 5 boundingObject Box { } physics Physics { } }
Robot { name "$name" supervisor TRUE controller "director" children [ Emitter { } Receiver { channel 1 } ] }
W
done
cat >controllers/director/director.c <<'C'
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <webots/emitter.h>
#include <webots/receiver.h>
#include <webots/robot.h>
#include <webots/supervisor.h>
int main(void)
{
  wb_robot_init();
  WbDeviceTag emitter = wb_robot_get_device("emitter"), receiver = wb_robot_get_device("receiver");
  wb_receiver_enable(receiver, 10);
  const char *name = wb_robot_get_name();
  for (int step = 1; wb_robot_step(10) != -1; step++) {
    if (step == 1)
      wb_emitter_send(emitter, name, (int)strlen(name) + 1);
    if (wb_receiver_get_queue_length(receiver) > 0) {
      printf("answer %s\n", (const char *)wb_receiver_get_data(receiver));
      wb_receiver_next_packet(receiver);
    }
    if (step != 5)
      continue;
    fflush(stdout);
    if (!strcmp(name, "second"))
      wb_supervisor_simulation_quit(0);
    else if (access("reloaded", F_OK))
      fclose(fopen("reloaded", "w")), wb_supervisor_world_reload();
    else if (access("reset", F_OK))
      fclose(fopen("reset", "w")), step = 0, wb_supervisor_simulation_reset();
    else
      wb_supervisor_world_load("second.wbt");
  }
  wb_robot_cleanup();
  return 0;
}
C
timeout 600 "$TALUS_PROGRAM" build . >build.log 2>&1 || { cat build.log; exit 1; }
timeout 600 "$TALUS_PROGRAM" run worlds/first.wbt --until 5 >out.txt 2>err.txt || { echo "the run ends with $?"; cat err.txt; exit 1; }
cat >expected.txt <<'T'
[first] init 1
[first] answer first
[first] cleanup 1
[first] init 1
[first] answer first
[first] cleanup 1
[first] init 2
[first] answer first
[first] cleanup 2
[second] init 1
[second] answer second
[second] cleanup 1
T
grep '^\[' out.txt | diff expected.txt - || { echo "the plugins say something else"; exit 1; }
