// shape_io.c - the way back from the rim: where ODE's geom of a shape stands, how large it is, on which body. A plugin may have
// changed all of it.
#include "physics/mirror.h"

#include "physics/collide/convex.h"
#include "physics/contacts/contact_narrow.h"
#include "physics/contacts/sleep.h"

Pose mirror_shape_pose(const Shape *shape)
{
    const dReal *p = dGeomGetPosition(shape->ode);
    dQuaternion q;
    dGeomGetQuaternion(shape->ode, q);
    return (Pose){ { p[0], p[1], p[2] }, { q[0], q[1], q[2], q[3] } };
}

void mirror_narrow_size(const Shape *shape, Vec3 *size)
{
    dReal radius, length;
    dVector3 sides;
    switch (shape->kind) {
    case PHYSICS_SHAPE_SPHERE:
        *size = vec3(dGeomSphereGetRadius(shape->ode), 0, 0);
        break;
    case PHYSICS_SHAPE_BOX:
        dGeomBoxGetLengths(shape->ode, sides);
        *size = vec3(sides[0], sides[1], sides[2]);
        break;
    case PHYSICS_SHAPE_CAPSULE:
        dGeomCapsuleGetParams(shape->ode, &radius, &length);
        *size = vec3(radius, length, 0);
        break;
    case PHYSICS_SHAPE_CYLINDER:
        dGeomCylinderGetParams(shape->ode, &radius, &length);
        *size = vec3(radius, length, 0);
        break;
    default:
        break;
    }
}

void mirror_narrow_bounds(const Shape *shape, BroadBox *box)
{
    dReal bounds[6];
    dGeomGetAABB(shape->ode, bounds);
    for (int k = 0; k < 3; k++) {
        box->low[k] = bounds[2 * k];
        box->high[k] = bounds[2 * k + 1];
    }
}

bool mirror_narrow_has_own_surface(const Shape *shape)
{
    const void *data = NULL;
    if (!shape->ode)
        return true;
    if (shape->kind == PHYSICS_SHAPE_MESH)
        data = dGeomTriMeshGetTriMeshDataID(shape->ode);
    else if (shape->kind == PHYSICS_SHAPE_HEIGHTS)
        data = dGeomHeightfieldGetHeightfieldData(shape->ode);
    return data && data == shape->ode_data;
}

static void read_plane(dGeomID geom, CollidePose *pose)
{
    dVector4 plane;
    dVector3 p, q;
    dGeomPlaneGetParams(geom, plane);
    dPlaneSpace(plane, p, q);
    for (int i = 0; i < 3; i++) {
        pose->position[i] = plane[3] * plane[i];
        pose->rotation[3 * i] = p[i];
        pose->rotation[3 * i + 1] = q[i];
        pose->rotation[3 * i + 2] = plane[i];
    }
}

void mirror_narrow_pose(const Shape *shape, CollidePose *pose)
{
    if (shape->kind == PHYSICS_SHAPE_PLANE) {
        read_plane(shape->ode, pose);
        return;
    }
    // Copies made by ODE itself: it hands pose records from one world's thread to another's by means of its own.
    dVector3 position;
    dMatrix3 rotation;
    dGeomCopyPosition(shape->ode, position);
    dGeomCopyRotation(shape->ode, rotation);
    for (int i = 0; i < 3; i++) {
        pose->position[i] = position[i];
        for (int k = 0; k < 3; k++)
            pose->rotation[3 * i + k] = rotation[4 * i + k];
    }
}

bool mirror_is_enabled(const Shape *shape)
{
    return dBodyIsEnabled(shape->on);
}

// ---- what others did to a geom ----

static int body_of_ode(const Physics *physics, dBodyID ode)
{
    for (int i = 0; ode && i < physics->body_count; i++)
        if (physics->bodies[i].is_alive && physics->bodies[i].ode == ode)
            return i;
    return -1;
}

static bool is_in_world(const Physics *physics, dGeomID geom)
{
    for (; geom && dGeomIsEnabled(geom); geom = (dGeomID)dGeomGetSpace(geom))
        if (geom == (dGeomID)physics->space)
            return true;
    return false;
}

// What was made once from a form that it no longer has.
static void forget_form(const Physics *physics, Shape *shape)
{
    if (shape->kind == PHYSICS_SHAPE_BOX) {
        convex_destroy(shape->convex);
        shape->convex = NULL;
    }
    if (shape->kind != PHYSICS_SHAPE_MESH)
        return;
    shape->convex = NULL;
    for (int i = 0; i < physics->mesh_count; i++)
        if (physics->meshes[i].data == dGeomTriMeshGetTriMeshDataID(shape->ode) && physics->meshes[i].data == shape->ode_data)
            shape->convex = physics->meshes[i].convex;
}

bool shape_follow(Physics *physics, int index)
{
    Shape *shape = &physics->shapes[index];
    dBodyID on = dGeomGetBody(shape->ode);
    bool is_away = !is_in_world(physics, shape->ode), is_given = on != shape->on;
    if (is_given) {
        shape->on = on;
        shape->body = body_of_ode(physics, on);
        shape->is_outside = on && shape->body < 0;
        sleep_forget(physics);  // it lists the shapes of bodies
    }
    BroadBox box;
    bool has_other_form = narrow_follow(physics, index, &box);
    if (is_given)
        shape_enter(physics, index);
    else
        broadphase_move(physics->broadphase, index, &box);
    if (has_other_form)
        forget_form(physics, shape);
    if (!has_other_form && !is_given && is_away == shape->is_away)
        return false;
    shape->is_away = is_away;
    shape->was_changed = physics->has_changed_shapes = true;
    return true;
}

