/* contact_point.h - one contact point of a node. */
#ifndef WEBOTS_CONTACT_POINT_H
#define WEBOTS_CONTACT_POINT_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    double point[3];
    int node_id;
} WbContactPoint;

#ifdef __cplusplus
}
#endif

#endif
