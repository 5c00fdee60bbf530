/* camera_recognition_object.h - what a camera with recognition tells about one object. */
#ifndef WEBOTS_CAMERA_RECOGNITION_OBJECT_H
#define WEBOTS_CAMERA_RECOGNITION_OBJECT_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int id;
    double position[3];
    double orientation[4];
    double size[2];
    int position_on_image[2];
    int size_on_image[2];
    int number_of_colors;
    double *colors;
    char *model;
} WbCameraRecognitionObject;

#ifdef __cplusplus
}
#endif

#endif
