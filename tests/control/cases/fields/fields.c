#include "check.h"

#include <unistd.h>

#include <webots/console.h>
#include <webots/supervisor.h>
#include <webots/utils/string.h>
#include <webots/utils/system.h>

static WbNodeRef node(const char *def) { return wb_supervisor_node_get_from_def(def); }

static WbFieldRef field(const char *def, const char *name) { return wb_supervisor_node_get_field(node(def), name); }

static void check_lists(void)
{
    WbFieldRef battery = field("ARM", "battery"), points = field("POINTS", "point"),
               texture = field("TEXTURE", "point");
    WbFieldRef indices = field("FACES", "coordIndex"), sky = field("SKY", "skyColor");
    CHECK_NEAR(wb_supervisor_field_get_mf_float(battery, 1), 2, 0);
    wb_supervisor_field_set_mf_float(battery, 1, 7);
    CHECK_NEAR(wb_supervisor_field_get_mf_float(battery, 1), 7, 0);
    wb_supervisor_field_insert_mf_float(battery, -1, 9);
    CHECK(wb_supervisor_field_get_count(battery) == 4);
    CHECK_VECTOR(wb_supervisor_field_get_mf_vec3f(points, 2), 1, 1, 0, 0);
    wb_supervisor_field_set_mf_vec3f(points, 2, (const double[3]){ 2, 2, 2 });
    CHECK_VECTOR(wb_supervisor_field_get_mf_vec3f(points, -1), 2, 2, 2, 0);
    wb_supervisor_field_insert_mf_vec3f(points, 0, (const double[3]){ 3, 3, 3 });
    CHECK_VECTOR(wb_supervisor_field_get_mf_vec3f(points, 0), 3, 3, 3, 0);
    CHECK_NEAR(wb_supervisor_field_get_mf_vec2f(texture, 2)[1], 1, 0);
    wb_supervisor_field_set_mf_vec2f(texture, 0, (const double[2]){ 0.5, 0.25 });
    CHECK_NEAR(wb_supervisor_field_get_mf_vec2f(texture, 0)[1], 0.25, 0);
    wb_supervisor_field_insert_mf_vec2f(texture, 1, (const double[2]){ 0.75, 0.25 });
    CHECK(wb_supervisor_field_get_count(texture) == 4);
    CHECK(wb_supervisor_field_get_mf_int32(indices, 3) == -1);
    wb_supervisor_field_set_mf_int32(indices, 0, 2);
    CHECK(wb_supervisor_field_get_mf_int32(indices, 0) == 2);
    wb_supervisor_field_insert_mf_int32(indices, 0, 1);
    CHECK(wb_supervisor_field_get_count(indices) == 5);
    CHECK_VECTOR(wb_supervisor_field_get_mf_color(sky, 0), 0.1, 0.2, 0.3, 1e-12);
    wb_supervisor_field_set_mf_color(sky, 0, (const double[3]){ 0, 0, 1 });
    CHECK_VECTOR(wb_supervisor_field_get_mf_color(sky, 0), 0, 0, 1, 0);
    wb_supervisor_field_insert_mf_color(sky, 0, (const double[3]){ 1, 0, 0 });
    CHECK(wb_supervisor_field_get_count(sky) == 2);
}

static void check_single_nodes(void)
{
    WbFieldRef appearance = field("FORM", "appearance"), geometry = field("FORM", "geometry");
    CHECK(wb_supervisor_field_get_sf_node(appearance) == NULL);
    wb_supervisor_field_import_sf_node_from_string(appearance, "DEF LOOK Appearance { }");
    CHECK(wb_supervisor_field_get_sf_node(appearance) == node("LOOK") && node("LOOK") != NULL);
    wb_supervisor_field_import_sf_node_from_string(geometry, "DEF ROUND Sphere { }");
    CHECK(wb_supervisor_field_get_sf_bool(field("ROUND", "ico")));
    wb_supervisor_field_remove_sf(geometry);
    CHECK(wb_supervisor_field_get_sf_node(geometry) == NULL && node("ROUND") == NULL);
    wb_supervisor_field_remove_mf_node(field("EMPTY", "children"), 0);
    CHECK(wb_supervisor_field_get_count(field("EMPTY", "children")) == 0);
}

static void check_protos(void)
{
    WbNodeRef thing = node("THING");
    WbProtoRef proto = wb_supervisor_node_get_proto(thing);
    CHECK(proto != NULL && wb_supervisor_node_get_proto(node("BOX")) == NULL);
    CHECK_TEXT(wb_supervisor_proto_get_type_name(proto), "Thing");
    CHECK(!wb_supervisor_proto_is_derived(proto) && wb_supervisor_proto_get_parent(proto) == NULL);
    CHECK(wb_supervisor_proto_get_number_of_fields(proto) == 3);
    CHECK_TEXT(wb_supervisor_field_get_name(wb_supervisor_proto_get_field_by_index(proto, 2)), "size");
    CHECK(wb_supervisor_proto_get_field(proto, "rotation") != NULL
          && wb_supervisor_proto_get_field(proto, "none") == NULL);
    CHECK_TEXT(wb_supervisor_field_get_name(wb_supervisor_node_get_base_node_field_by_index(thing, 0)), "translation");
    CHECK(wb_supervisor_node_get_proto_field(thing, "name") != NULL);
    CHECK(wb_supervisor_node_get_proto_number_of_fields(thing) > 10
          && wb_supervisor_node_get_proto_field_by_index(thing, 1) != NULL);
    CHECK(wb_supervisor_field_get_actual_field(wb_supervisor_node_get_field(thing, "size")) != NULL);
}

static void check_tracking(void)
{
    WbNodeRef box = node("BOX");
    wb_supervisor_node_enable_pose_tracking(box, 32, NULL);
    wb_supervisor_node_enable_contact_points_tracking(box, 32, false);
    check_steps(3);
    const double *pose = wb_supervisor_node_get_pose(box, NULL);
    CHECK_NEAR(pose[7], 5, 1e-3);
    int count = wb_supervisor_node_get_number_of_contact_points(box, false);
    CHECK(count >= 3);
    CHECK_NEAR(wb_supervisor_node_get_contact_point(box, 0)[2], 0, 0.01);
    CHECK(wb_supervisor_node_get_contact_point_node(box, 0) != NULL);
    wb_supervisor_node_disable_pose_tracking(box, NULL);
    wb_supervisor_node_disable_contact_points_tracking(box);
    wb_supervisor_field_disable_sf_tracking(field("BOX", "translation"));
    wb_supervisor_node_set_joint_position(node("JOINT"), 0.5, 1);
    check_steps(1);
    WbNodeRef link = wb_supervisor_field_get_sf_node(field("JOINT", "endPoint"));
    CHECK_VECTOR(wb_supervisor_node_get_position(link), 3 + 0.2 * cos(0.5), 3 + 0.2 * sin(0.5), 1, 1e-6);
}

static void check_world(void)
{
    CHECK(wb_supervisor_world_save("saved.wbt"));
    FILE *file = fopen("saved.wbt", "r");
    CHECK(file != NULL);
    if (file)
        fclose(file);
    wb_supervisor_simulation_set_mode(WB_SUPERVISOR_SIMULATION_MODE_REAL_TIME);
    CHECK(wb_supervisor_simulation_get_mode() == WB_SUPERVISOR_SIMULATION_MODE_REAL_TIME);
    wb_supervisor_simulation_set_mode(WB_SUPERVISOR_SIMULATION_MODE_FAST);
    wb_supervisor_simulation_physics_reset();
    wb_supervisor_node_move_viewpoint(node("BOX"));
    wb_supervisor_node_set_visibility(node("BOX"), node("BOSS"), false);
    CHECK(!wb_supervisor_virtual_reality_headset_is_used());
    wb_console_print("printed by the console\n", WB_STDOUT);
}

static void task(void *parameter) { *(volatile int *)parameter = 1; }

static void check_rest(void)
{
    volatile int is_done = 0;
    wb_robot_task_new(task, (void *)&is_done);
    for (int i = 0; i < 100000 && !is_done; i++)
        usleep(1000);
    CHECK(is_done);
    WbMutexRef mutex = wb_robot_mutex_new();
    wb_robot_mutex_lock(mutex);
    wb_robot_mutex_unlock(mutex);
    wb_robot_mutex_delete(mutex);
    wb_robot_set_data("data");
    CHECK_TEXT(wb_robot_get_data(), "data");
    CHECK_TEXT(wb_robot_get_controller_name(), "fields");
    CHECK(wb_robot_get_type() == WB_NODE_SUPERVISOR || wb_robot_get_type() == WB_NODE_ROBOT);
    CHECK(wbu_system_getenv("WEBOTS_ROBOT_NAME") != NULL && wbu_system_tmpdir() != NULL);
    char text[] = "a,b", *rest = text;
    CHECK_TEXT(wbu_string_strsep(&rest, ","), "a");
    CHECK_TEXT(rest, "b");
    char *replaced = wbu_string_replace("one two one", "one", "1");
    CHECK_TEXT(replaced, "1 two 1");
    free(replaced);
    wb_robot_battery_sensor_disable();
}

int main(void)
{
    wb_robot_init();
    check_lists();
    check_single_nodes();
    check_protos();
    check_tracking();
    check_world();
    check_rest();
    return check_done();
}
