/* mouse_state.h - where the mouse is and what is pressed. */
#ifndef WEBOTS_MOUSE_STATE_H
#define WEBOTS_MOUSE_STATE_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    bool left, middle, right;
    double u, v;    /* on the view, 0 to 1 from the top left */
    double x, y, z; /* in the world, NaN when there is nothing below it */
} WbMouseState;

#ifdef __cplusplus
}
#endif

#endif
