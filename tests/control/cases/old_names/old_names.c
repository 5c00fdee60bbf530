// Names that newer releases replaced, and recordings, which are not made: the start fails and says so, nothing is under
// way.
#include <webots/supervisor.h>

#include "check.h"

static void contacts(void)
{
    WbNodeRef box = wb_supervisor_node_get_from_def("BOX");
    wb_supervisor_node_enable_contact_point_tracking(box, 16, false);
    check_steps(3);
    int count = wb_supervisor_node_get_number_of_contact_points(box, false);
    CHECK(count >= 3);
    CHECK_NEAR(wb_supervisor_node_get_contact_point(box, 0)[2], 0, 0.01);
    CHECK(wb_supervisor_node_get_contact_point_node(box, 0) == box);
    CHECK(isnan(wb_supervisor_node_get_contact_point(box, count)[0])
          && !wb_supervisor_node_get_contact_point_node(box, -1));
    wb_supervisor_node_disable_contact_point_tracking(box, false);
    wb_supervisor_node_enable_contact_point_tracking(NULL, 16, false);
    wb_supervisor_node_disable_contact_point_tracking(NULL, false);
    check_steps(1);
    CHECK(wb_supervisor_node_get_number_of_contact_points(box, true) >= 3);
}

// Those of the node itself come first, those of what is below it after them, solid by solid.
static void contacts_of_descendants(void)
{
    WbNodeRef table = wb_supervisor_node_get_from_def("TABLE");
    int own = wb_supervisor_node_get_number_of_contact_points(table, false), count;
    const WbContactPoint *points = wb_supervisor_node_get_contact_points(table, true, &count);
    CHECK(own >= 3 && count >= own + 6);
    double places[3] = { 2, 2.3, 1.7 };
    for (int i = 0, at = 0; i < count; i++) {
        at += i > 0 && points[i].node_id != points[i - 1].node_id;
        CHECK(at < 3 && (i < own) == (at == 0));
        if (at < 3)
            CHECK_NEAR(points[i].point[0], places[at], 0.06);
    }
}

// Movies and animations of a kind that cannot be written fail; tests/record/ makes those that can.
static void recordings(void)
{
    CHECK(wb_supervisor_movie_is_ready() && !wb_supervisor_movie_failed()
          && wb_supervisor_get_movie_status() == WB_SUPERVISOR_MOVIE_READY);
    wb_supervisor_movie_start_recording("film.avi", 320, 240, 0, 90, 1, false);
    CHECK(wb_supervisor_movie_is_ready() && wb_supervisor_movie_failed());
    wb_supervisor_movie_stop_recording();
    wb_supervisor_start_movie("film.avi", 320, 240, 0, 90, 1, false);
    CHECK(wb_supervisor_get_movie_status() == WB_SUPERVISOR_MOVIE_SIMULATION_ERROR);
    wb_supervisor_stop_movie();
    FILE *film = fopen("film.avi", "r");
    CHECK(!film);
    CHECK(!wb_supervisor_animation_start_recording("animation.avi") && !wb_supervisor_animation_stop_recording());
}

int main(void)
{
    wb_robot_init();
    contacts();
    contacts_of_descendants();
    recordings();
    CHECK(wb_supervisor_save_world("saved.wbt"));
    FILE *file = fopen("saved.wbt", "r");
    CHECK(file != NULL);
    CHECK(!wb_supervisor_save_world("/nowhere/at/all.wbt"));
    return check_done();
}
