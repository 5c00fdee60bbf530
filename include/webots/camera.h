/* camera.h - camera: images as BGRA bytes, top row first, and recognised objects. */
#ifndef WEBOTS_CAMERA_H
#define WEBOTS_CAMERA_H

#include <webots/types.h>
#include <webots/camera_recognition_object.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_camera_enable(WbDeviceTag tag, int sampling_period);
void wb_camera_disable(WbDeviceTag tag);
int wb_camera_get_sampling_period(WbDeviceTag tag);

const unsigned char *wb_camera_get_image(WbDeviceTag tag);
int wb_camera_get_width(WbDeviceTag tag);
int wb_camera_get_height(WbDeviceTag tag);
double wb_camera_get_fov(WbDeviceTag tag);
double wb_camera_get_max_fov(WbDeviceTag tag);
double wb_camera_get_min_fov(WbDeviceTag tag);
void wb_camera_set_fov(WbDeviceTag tag, double fov);
double wb_camera_get_exposure(WbDeviceTag tag);
void wb_camera_set_exposure(WbDeviceTag tag, double exposure);
double wb_camera_get_focal_length(WbDeviceTag tag);
double wb_camera_get_focal_distance(WbDeviceTag tag);
double wb_camera_get_max_focal_distance(WbDeviceTag tag);
double wb_camera_get_min_focal_distance(WbDeviceTag tag);
void wb_camera_set_focal_distance(WbDeviceTag tag, double focal_distance);
/* Until V8.3 a Camera could be a range finder: these, and what all cameras have, work on a RangeFinder. */
const float *wb_camera_get_range_image(WbDeviceTag tag);
double wb_camera_get_max_range(WbDeviceTag tag);
#define wb_camera_range_image_get_depth(image, width, x, y) ((image)[(y) * (width) + (x)])
double wb_camera_get_near(WbDeviceTag tag);
int wb_camera_save_image(WbDeviceTag tag, const char *filename, int quality);

bool wb_camera_has_recognition(WbDeviceTag tag);
void wb_camera_recognition_enable(WbDeviceTag tag, int sampling_period);
void wb_camera_recognition_disable(WbDeviceTag tag);
int wb_camera_recognition_get_sampling_period(WbDeviceTag tag);
int wb_camera_recognition_get_number_of_objects(WbDeviceTag tag);
const WbCameraRecognitionObject *wb_camera_recognition_get_objects(WbDeviceTag tag);
bool wb_camera_recognition_has_segmentation(WbDeviceTag tag);
void wb_camera_recognition_enable_segmentation(WbDeviceTag tag);
void wb_camera_recognition_disable_segmentation(WbDeviceTag tag);
bool wb_camera_recognition_is_segmentation_enabled(WbDeviceTag tag);
const unsigned char *wb_camera_recognition_get_segmentation_image(WbDeviceTag tag);
int wb_camera_recognition_save_segmentation_image(WbDeviceTag tag, const char *filename, int quality);

#define wb_camera_image_get_blue(image, width, x, y) ((image)[4 * ((y) * (width) + (x))])
#define wb_camera_image_get_green(image, width, x, y) ((image)[4 * ((y) * (width) + (x)) + 1])
#define wb_camera_image_get_red(image, width, x, y) ((image)[4 * ((y) * (width) + (x)) + 2])
#define wb_camera_image_get_gray(image, width, x, y)                                                                   \
    (((int)wb_camera_image_get_red(image, width, x, y) + (int)wb_camera_image_get_green(image, width, x, y)            \
      + (int)wb_camera_image_get_blue(image, width, x, y))                                                             \
     / 3)
#define wb_camera_image_get_grey(image, width, x, y) wb_camera_image_get_gray(image, width, x, y)

#ifdef __cplusplus
}
#endif

#endif
