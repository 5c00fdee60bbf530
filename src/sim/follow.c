// follow.c - the Viewpoint goes along with the solid that it follows. Its fields say where it stands whenever the scene
// is brought up to date: for supervisors that read them, for pictures and sound, and for saving.
#include "sim/sim_internal.h"

#include <string.h>

static SceneNode *viewpoint_of(const Sim *sim)
{
    const FieldList *top = scene_list(scene_root(sim->scene), "children");
    for (int i = 0; i < top->count; i++) {
        SceneNode *node = scene_actual(scene_list_node(top, i));
        if (node && node->type && scene_node_is(node, "Viewpoint"))
            return node;
    }
    return NULL;
}

// The nearest solid of that name below a node.
typedef struct NameSearch {
    const char *name;
    size_t length;
    const SceneNode *above, *found;
} NameSearch;

static bool has_name(SceneNode *node, void *context)
{
    NameSearch *search = context;
    if (node != search->above && node->type && scene_node_is(node, "Solid")) {
        const char *name = scene_string(node, "name");
        if (strlen(name) == search->length && !strncmp(name, search->name, search->length))
            search->found = node;
    }
    return !search->found;
}

// "robot:arm:camera": names from the outside inwards. A name may hold colons too.
static const SceneNode *solid_at_path(const Scene *scene, const char *path)
{
    assert_debug(path);
    const SceneNode *at = scene_find_solid(scene, path);
    if (at)
        return at;
    at = scene_root(scene);
    for (const char *name = path; at && *name;) {
        size_t length = strcspn(name, ":");
        NameSearch search = { name, length, at, NULL };
        scene_walk((SceneNode *)at, false, has_name, &search);
        at = search.found;
        name += length + (name[length] == ':');
    }
    return at;
}

static int followed_solid(const Sim *sim, const SceneNode *viewpoint)
{
    assert_debug(scene_node_is(viewpoint, "Viewpoint"));
    const char *path = scene_string(viewpoint, "follow");
    if (!*path || !strcmp(scene_string(viewpoint, "followType"), "None"))
        return -1;
    const SceneNode *node = solid_at_path(sim->scene, path);
    return node ? physics_solid_of(sim->physics, scene_actual(node)) : -1;
}

static Pose pose_of(const SceneNode *viewpoint)
{
    return (Pose){ scene_vec3(viewpoint, "position"), quat_from_rotation(scene_rotation(viewpoint, "orientation")) };
}

// As the view stood to the solid at `before`, it stands to it now.
static Pose followed(const char *type, Pose view, Pose before, Pose now)
{
    if (!strcmp(type, "Mounted Shot"))
        return pose_mul(now, pose_mul(pose_inverse(before), view));
    if (!strcmp(type, "Pan and Tilt Shot")) {
        // Turned by what takes the old direction of the solid to the new one, kept upright.
        Vec3 to = vec3_sub(now.t, view.t);
        double level = sqrt(to.x * to.x + to.y * to.y);
        view.q = quat_mul(quat_from_axis_angle(vec3(0, 0, 1), atan2(to.y, to.x)),
                          quat_from_axis_angle(vec3(0, 1, 0), -atan2(to.z, level)));
        return view;
    }
    view.t = vec3_add(view.t, vec3_sub(now.t, before.t));
    return view;
}

void sim_follow_begin(Sim *sim)
{
    const SceneNode *viewpoint = viewpoint_of(sim);
    sim->follow = (SimFollow){ .solid = viewpoint ? followed_solid(sim, viewpoint) : -1,
                               .edits = physics_edit_count(sim->physics) };
    if (sim->follow.solid >= 0)
        sim->follow.before = physics_solid_pose(sim->physics, sim->follow.solid);
}

// Who is followed, anew when the world was edited or the Viewpoint written. A view that was put somewhere by hand goes
// along from there; a solid that was made anew under its name is the same to it.
static void look_again(Sim *sim, const SceneNode *viewpoint)
{
    SimFollow *follow = &sim->follow;
    uint64_t edits = physics_edit_count(sim->physics);
    if (!follow->is_touched && follow->edits == edits)
        return;
    int solid = followed_solid(sim, viewpoint);
    bool is_other = follow->is_touched || follow->solid < 0;
    if (solid >= 0 && is_other)
        follow->before = physics_solid_pose(sim->physics, solid);
    follow->has_view &= !is_other;
    follow->solid = solid;
    follow->edits = edits;
    follow->is_touched = false;
}

void sim_follow(Sim *sim)
{
    assert_debug(sim->ignores_own_writes);  // a reset would take the view for an edit otherwise
    SimFollow *follow = &sim->follow;
    bool is_settled = !follow->is_touched && follow->edits == physics_edit_count(sim->physics);
    SceneNode *viewpoint = (is_settled && follow->solid < 0) || scene_is_frozen(sim->scene) ? NULL : viewpoint_of(sim);
    if (!viewpoint)
        return;
    look_again(sim, viewpoint);
    assert_debug(follow->solid < physics_solid_count(sim->physics));
    if (follow->solid < 0)
        return;
    if (!follow->has_view) {
        follow->view = pose_of(viewpoint);
        follow->has_turned = false;
    }
    follow->has_view = true;
    const char *type = scene_string(viewpoint, "followType");
    Pose now = followed(type, follow->view, follow->before, physics_solid_pose(sim->physics, follow->solid));
    if (!vec3_is_equal(now.t, scene_vec3(viewpoint, "position")))
        scene_set_vec3(sim->scene, viewpoint, "position", now.t);
    // A view that never turned keeps the numbers of the file.
    Rotation turn = quat_to_rotation(now.q), was = scene_rotation(viewpoint, "orientation");
    follow->has_turned |= memcmp(&now.q, &follow->view.q, sizeof now.q) != 0;
    if (follow->has_turned && memcmp(&turn, &was, sizeof turn) != 0)
        scene_set_rotation(sim->scene, viewpoint, "orientation", turn);
}

void sim_follow_touched(Sim *sim, const SceneNode *node, const FieldType *type)
{
    assert_debug(node && type);
    static const char *const names[] = { "position", "orientation", "follow", "followType" };
    if (!scene_actual(node) || !scene_node_is(node, "Viewpoint"))
        return;
    for (int i = 0; i < COUNT_OF(names); i++)
        sim->follow.is_touched |= !strcmp(type->name, names[i]);
}

void sim_follow_settle(Sim *sim)
{
    if (!sim->follow.is_touched)
        return;
    bool was_deaf = sim->ignores_own_writes;
    sim->ignores_own_writes = true;
    sim_follow(sim);
    sim->ignores_own_writes = was_deaf;
}
