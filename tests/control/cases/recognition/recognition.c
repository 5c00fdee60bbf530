// Cameras recognise solids that have recognitionColors, where they are, how large, and where on the image.
#include "check.h"

#include <webots/camera.h>
#include <webots/supervisor.h>

static const WbCameraRecognitionObject *find(WbDeviceTag camera, const char *model)
{
    const WbCameraRecognitionObject *objects = wb_camera_recognition_get_objects(camera);
    for (int i = 0; i < wb_camera_recognition_get_number_of_objects(camera); i++)
        if (!strcmp(objects[i].model, model))
            return &objects[i];
    return NULL;
}

int main(void)
{
    static const char *const names[4] = { "camera", "clear", "two", "around" };
    static const int counts[4] = { 4, 5, 2, 7 };
    wb_robot_init();
    WbDeviceTag tags[4], none = wb_robot_get_device("none");
    for (int i = 0; i < 4; i++) {
        tags[i] = wb_robot_get_device(names[i]);
        CHECK(wb_camera_has_recognition(tags[i]));
        wb_camera_enable(tags[i], 32);
        wb_camera_recognition_enable(tags[i], 64);
    }
    CHECK(!wb_camera_has_recognition(none));
    check_steps(1);
    CHECK(wb_camera_recognition_get_number_of_objects(tags[0]) == 0
          && wb_camera_recognition_get_objects(tags[0]) == NULL);
    check_steps(1);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(wb_camera_recognition_get_number_of_objects(tags[i]), counts[i], 0);
    WbNodeRef ball = wb_supervisor_node_get_from_def("BALL");
    const WbCameraRecognitionObject *object = find(tags[0], "red ball");
    CHECK(object && object->id == wb_supervisor_node_get_id(ball));
    if (object) {
        CHECK_VECTOR(object->position, 2, 0.5, 0, 1e-9);
        CHECK_NEAR(object->orientation[3], 0.3, 1e-9);
        CHECK_NEAR(object->size[0], 0.2, 1e-9);
        CHECK_NEAR(object->size[1], 0.2, 1e-9);
        CHECK(object->position_on_image[0] == 75
              && object->position_on_image[1] == 50);  // a quarter of the way to the left edge
        CHECK_NEAR(object->size_on_image[0], 10, 1);   // edges between two pixels
        CHECK_NEAR(object->size_on_image[1], 10, 1);
        CHECK(object->number_of_colors == 1 && object->colors[0] == 1);
    }
    object = find(tags[0], "a box with a model name that is longer than a number");
    CHECK(object && object->number_of_colors == 2 && object->colors[1] == 1 && object->colors[5] == 1);
    if (object) {
        CHECK_VECTOR(object->position, 4, -1, 0.5, 1e-9);
        CHECK_NEAR(object->size[0], 0.2, 1e-9);  // along the view and across it
        CHECK_NEAR(object->size[1], 0.4, 1e-9);
        CHECK(object->position_on_image[0] == 125 && object->position_on_image[1] == 37);
        CHECK(object->size_on_image[0] == 11 && object->size_on_image[1] == 16);
    }
    CHECK(!find(tags[0], "hidden") && find(tags[1], "hidden"));
    object = find(tags[0], "edge");  // reaches out of the image to the left
    CHECK(object && object->size[0] < 0.4 && object->position_on_image[0] < 10);
    CHECK(find(tags[3], "behind") && !find(tags[3], "far"));
    object = find(tags[1], "seen");  // has no bounding object: by the ball around its shapes
    CHECK(object != NULL);
    if (object) {
        CHECK_VECTOR(object->position, 5, 0, 0.25, 1e-9);
        CHECK_NEAR(object->size[0], 1.5, 1e-9);
        CHECK_NEAR(object->size[1], 1.5, 1e-9);
    }
    WbFieldRef segmentation = wb_supervisor_node_get_field(wb_supervisor_node_get_from_def("CLEAR"), "segmentation");
    CHECK(!wb_camera_recognition_has_segmentation(tags[1]));
    wb_supervisor_field_set_sf_bool(segmentation, true);
    check_steps(1);
    CHECK(wb_camera_recognition_has_segmentation(tags[1]) && !wb_camera_recognition_has_segmentation(tags[2]));
    wb_supervisor_field_set_sf_bool(segmentation, false);
    check_steps(1);
    CHECK(!wb_camera_recognition_has_segmentation(tags[1]));
    wb_supervisor_node_remove(ball);
    check_steps(2);
    CHECK(!find(tags[0], "red ball") && find(tags[0], "hidden"));
    wb_camera_recognition_disable(tags[0]);
    CHECK(wb_camera_recognition_get_sampling_period(tags[0]) == 0);
    return check_done();
}
