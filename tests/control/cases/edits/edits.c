// Changes a robot while it runs, and what may be imported and removed at all.
#include "check.h"

#include <webots/gps.h>
#include <webots/supervisor.h>

static WbNodeRef def(const char *name) { return wb_supervisor_node_get_from_def(name); }

static WbFieldRef children(const char *name) { return wb_supervisor_node_get_field(def(name), "children"); }

int main(void)
{
    wb_robot_init();
    check_steps(20);
    wb_supervisor_field_import_mf_node_from_string(
        children("CART"), -1,
        "Solid { name \"load\" translation 0 0 0.2 boundingObject Sphere { radius 0.01 } physics Physics { } }");
    check_steps(20);
    wb_supervisor_field_set_sf_float(wb_supervisor_node_get_field(def("EYE"), "far"), 5);
    check_steps(20);
    wb_supervisor_field_import_mf_node_from_string(
        children("CART"), -1, "DistanceSensor { name \"late\" translation 0.2 0 0.05 lookupTable [ 0 0 0 10 10 0 ] }");
    check_steps(20);
    WbNodeRef wheel = def("LOOSE");
    wb_supervisor_node_remove(wheel);
    CHECK(wb_supervisor_node_get_id(wheel) == -1);
    check_steps(45);
    wb_supervisor_node_remove(def("DISK_PHYSICS"));
    check_steps(10);
    wb_supervisor_field_remove_mf(wb_supervisor_node_get_field(def("WHEEL"), "device"), 0);
    check_steps(5);

    // What the world has can be used again, and one text may have several nodes.
    WbNodeRef root = wb_supervisor_node_get_root();
    WbFieldRef top = wb_supervisor_node_get_field(root, "children");
    int count = wb_supervisor_field_get_count(top);
    wb_supervisor_field_import_mf_node_from_string(
        top, -1,
        "DEF ONE Solid { name \"one\" children [ USE TAG ] boundingObject USE DISC } DEF TWO Solid { name \"two\" }");
    CHECK(wb_supervisor_field_get_count(top) == count + 2);
    CHECK(wb_supervisor_field_get_mf_node(top, count) == def("ONE"));
    CHECK(wb_supervisor_field_get_mf_node(top, count + 1) == def("TWO"));
    CHECK(wb_supervisor_field_get_count(children("ONE")) == 1);
    // PROTOs that the world declares can be imported, those that it does not declare cannot, wherever they stand in the
    // text.
    wb_supervisor_field_import_mf_node_from_string(top, -1,
                                                   "DEF SEES Robot { controller \"<none>\" children [ Eye { } ] }");
    CHECK(def("SEES") != NULL);
    wb_supervisor_field_import_mf_node_from_string(top, -1, "DEF LIT Lamp { }");
    wb_supervisor_field_import_mf_node_from_string(top, -1, "DEF LIT Pose { children [ Shape { } Lamp { } ] }");
    wb_supervisor_field_import_mf_node_from_string(top, -1, "DEF LIT E-puck { }");
    CHECK(def("LIT") == NULL);
    wb_supervisor_node_remove(def("SEES"));
    // A device that comes into the robot itself is there at once, and can be enabled before the next step.
    int devices = wb_robot_get_number_of_devices();
    wb_supervisor_field_import_mf_node_from_string(
        wb_supervisor_node_get_field(wb_supervisor_node_get_self(), "children"), 0,
        "Pose { translation 1 0 0 children [ GPS { name \"mine\" } ] }");
    WbDeviceTag gps = wb_robot_get_device("mine");
    CHECK(gps != 0 && wb_robot_get_number_of_devices() == devices + 1);
    wb_gps_enable(gps, 16);
    check_steps(1);
    CHECK(wb_gps_get_values(gps)[0] == 1.0 && wb_gps_get_values(gps)[1] == 10.0);
    // A world keeps its WorldInfo; what stood in a removed node is no node any more.
    wb_supervisor_node_remove(wb_supervisor_field_get_mf_node(top, 0));
    CHECK(wb_supervisor_field_get_count(top) == count + 2);
    WbNodeRef inside = def("BASE.TAG");
    CHECK(wb_supervisor_node_get_id(inside) > 0);
    wb_supervisor_node_remove(def("BASE"));
    CHECK(wb_supervisor_node_get_id(inside) == -1);
    check_steps(5);
    return check_done();
}
