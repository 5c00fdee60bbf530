// webots_animation.h - what wb_supervisor_animation_start_recording leaves, under the names that users of Webots know:
// NAME.html, which is a replay of ours in one file, and beside it NAME.json (the motion, as Webots' own pages read it),
// NAME.w3d (the scene as X3D nodes with the ids that the JSON names) and NAME.css.
#ifndef TALUS_RECORD_WEBOTS_ANIMATION_H
#define TALUS_RECORD_WEBOTS_ANIMATION_H

#include "record/recording.h"
#include "sim/sim.h"

// The scene is the Sim's of now; the motion that of the recording. False when anything could not be written (reported).
bool webots_animation_write(Sim *sim, Recording *recording, const char *html_path);

#endif
