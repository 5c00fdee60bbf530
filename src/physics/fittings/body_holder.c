// body_holder.c - what the devices of a body that hold and are held ask of the world: the target of a Holder, and the
// switches of Conveyor, Attachment and Marker.
#include "physics/fittings/fittings.h"
#include "physics/physics_internal.h"

#include <assert.h>
#include <string.h>

static int body_of(const Physics *physics, int solid)
{
    while (solid >= 0 && physics->solids[solid].body < 0)
        solid = physics->solids[solid].parent;
    return solid >= 0 ? physics->solids[solid].body : -1;
}

// Whether one of the categories of a holder, separated by ';', is that of an attachment. None: any will do.
static bool category_fits(const char *categories, const char *category)
{
    if (!*categories)
        return true;
    size_t length = strlen(category);
    for (const char *at = categories; at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL)
        if (!strncmp(at, category, length) && (at[length] == ';' || !at[length]))
            return true;
    return false;
}

// The nearest Attachment in reach that is on and not part of the same rigid body.
static int nearest_attachment(const Physics *physics, const SceneNode *holder, int solid, int own)
{
    const char *categories = scene_string(holder, "category");
    double nearest = scene_float(holder, "maxDistance");
    int best = -1;
    for (int i = 0; i < physics->solid_count; i++) {
        const PhysicsSolid *row = &physics->solids[i];
        if (!row->is_alive || physics->solid_states[i].is_off || !scene_node_is(row->node, "Attachment")
            || body_of(physics, i) == own)
            continue;
        double distance = vec3_distance(physics->solid_world[i].t, physics->solid_world[solid].t);
        if (!category_fits(categories, scene_string(row->node, "category")) || distance > nearest
            || (distance == nearest && best >= 0))
            continue;
        best = i;
        nearest = distance;
    }
    return best;
}

// The moving solid that touches the holder's link deepest.
static int deepest_contact(const Physics *physics, int own, int link)
{
    int best = -1;
    double depth = -INFINITY;
    for (int i = 0; i < physics->contact_count; i++) {
        const PhysicsContact *contact = &physics->contacts[i];
        for (int side = 0; side < 2; side++) {
            bool is_mine = own >= 0 ? contact->body[side] == own : contact_solid(physics, contact, side) == link;
            int other = contact->body[1 - side];
            if (!is_mine || other < 0 || other == own || contact->depth <= depth)
                continue;
            best = contact_solid(physics, contact, 1 - side);
            depth = contact->depth;
        }
    }
    return best;
}

static int solid_named(const Physics *physics, const char *name, int own)
{
    for (int i = 0; i < physics->solid_count && *name; i++)
        if (physics->solids[i].is_alive && !strcmp(scene_string(physics->solids[i].node, "name"), name)
            && body_of(physics, i) != own)
            return i;
    return -1;
}

int body_holder_target(const Physics *physics, const SceneNode *holder, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    const char *condition = scene_string(holder, "condition");
    int own = body_of(physics, solid);
    if (!strcmp(condition, "collision"))
        return deepest_contact(physics, own, physics->solids[solid].parent);
    if (!strcmp(condition, "name"))
        return solid_named(physics, scene_string(holder, "targetName"), own);
    return nearest_attachment(physics, holder, solid, own);
}

// ---- switches ----

bool physics_solid_has_switch(const SceneNode *node)
{
    return scene_node_is(node, "Conveyor") || scene_node_is(node, "Attachment") || scene_node_is(node, "Marker");
}

bool physics_switch_is_on(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    return !physics->solid_states[solid].is_off;
}

void physics_switch_turn(Physics *physics, int solid, bool on)
{
    assert(solid >= 0 && solid < physics->solid_count);
    physics->solid_states[solid].is_off = !on;
    // What rests on a conveyor is to move with it.
    for (int i = 0; i < physics->contact_count; i++)
        for (int side = 0; side < 2; side++)
            if (contact_solid(physics, &physics->contacts[i], side) >= 0
                && physics->solids[contact_solid(physics, &physics->contacts[i], side)].conveyor == solid
                && physics->contacts[i].body[1 - side] >= 0)
                body_wake(physics, physics->contacts[i].body[1 - side]);
}

void body_switches_sync_scene(Physics *physics)
{
    for (int i = 0; i < physics->solid_count; i++) {
        SceneNode *node = physics->solids[i].node;
        if (physics->solids[i].is_alive && physics_solid_has_switch(node)
            && scene_bool(node, "on") == (physics->solid_states[i].is_off != 0))
            scene_set_bool(physics->scene, node, "on", !physics->solid_states[i].is_off);
    }
}
