// shape_io.c - the way back from the rim: where ODE's geom of a shape stands, how large it is, on which body. A plugin
// may have changed all of it.
#include "physics/mirror.h"

#include "physics/collide/convex.h"
#include "physics/contacts/contact_narrow.h"
#include "physics/contacts/sleep.h"
#include "physics/ode/ode.h"

#include <assert.h>

Pose mirror_shape_pose(const Shape *shape)
{
    assert_debug(shape->ode);
    const dReal *p = dGeomGetPosition(shape->ode);
    dQuaternion q;
    dGeomGetQuaternion(shape->ode, q);
    return (Pose){ { p[0], p[1], p[2] }, { q[0], q[1], q[2], q[3] } };
}

// ---- forms: the kinds that ODE has, how a geom of each is made, and how its size is read ----

static dGeomID make_sphere(Vec3 size) { return dCreateSphere(NULL, size.x); }
static dGeomID make_box(Vec3 size) { return dCreateBox(NULL, size.x, size.y, size.z); }
static dGeomID make_capsule(Vec3 size) { return dCreateCapsule(NULL, size.x, size.y); }
static dGeomID make_cylinder(Vec3 size) { return dCreateCylinder(NULL, size.x, size.y); }
static void read_sphere(dGeomID geom, Vec3 *size) { *size = vec3(dGeomSphereGetRadius(geom), 0, 0); }

static void read_box(dGeomID geom, Vec3 *size)
{
    dVector3 sides;
    dGeomBoxGetLengths(geom, sides);
    *size = vec3(sides[0], sides[1], sides[2]);
}

static void read_capsule(dGeomID geom, Vec3 *size)
{
    *size = VEC3_ZERO;
    dGeomCapsuleGetParams(geom, &size->x, &size->y);
}

static void read_cylinder(dGeomID geom, Vec3 *size)
{
    *size = VEC3_ZERO;
    dGeomCylinderGetParams(geom, &size->x, &size->y);
}

static dGeomID make_plane(Vec3 size)
{
    (void)size;
    return dCreatePlane(NULL, 0, 0, 1, 0);
}

static const struct OdeForm {
    GeometryKind kind;
    int ode_class;
    dGeomID (*make)(Vec3 size);
    void (*read)(dGeomID geom, Vec3 *size);  // NULL: it has no size
} forms[] = {
    { GEOMETRY_SPHERE, dSphereClass, make_sphere, read_sphere },
    { GEOMETRY_BOX, dBoxClass, make_box, read_box },
    { GEOMETRY_CAPSULE, dCapsuleClass, make_capsule, read_capsule },
    { GEOMETRY_CYLINDER, dCylinderClass, make_cylinder, read_cylinder },
    { GEOMETRY_PLANE, dPlaneClass, make_plane, NULL },
};

dGeomID mirror_make_form(GeometryKind kind, Vec3 size)
{
    for (int i = 0; i < COUNT_OF(forms); i++)
        if (forms[i].kind == kind)
            return forms[i].make(size);
    return NULL;
}

GeometryKind physics_geom_form(dGeomID geom, Vec3 *size)
{
    *size = VEC3_ZERO;
    for (int i = 0; i < COUNT_OF(forms); i++)
        if (forms[i].ode_class == dGeomGetClass(geom)) {
            if (forms[i].read)
                forms[i].read(geom, size);
            return forms[i].kind;
        }
    return GEOMETRY_NONE;
}

void mirror_narrow_size(const Shape *shape, Vec3 *size)
{
    for (int i = 0; i < COUNT_OF(forms); i++)
        if (forms[i].kind == shape->kind && forms[i].read)
            forms[i].read(shape->ode, size);
}

void mirror_narrow_bounds(const Shape *shape, BroadBox *box)
{
    assert_debug(shape->ode);
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
    if (shape->kind == GEOMETRY_MESH)
        data = dGeomTriMeshGetTriMeshDataID(shape->ode);
    else if (shape->kind == GEOMETRY_HEIGHTS)
        data = dGeomHeightfieldGetHeightfieldData(shape->ode);
    return data && data == shape->twin->data;
}

static void read_plane(dGeomID geom, CollidePose *pose)
{
    assert_debug(dGeomGetClass(geom) == dPlaneClass);
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
    assert_debug(shape->ode && pose);
    if (shape->kind == GEOMETRY_PLANE) {
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

bool mirror_is_enabled(const Shape *shape) { return dBodyIsEnabled(shape_on(shape)); }

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
    if (shape->kind == GEOMETRY_BOX) {
        convex_destroy(shape->convex);
        shape->convex = NULL;
    }
    if (shape->kind != GEOMETRY_MESH)
        return;
    shape->convex = NULL;
    for (int i = 0; i < physics->mesh_count; i++)
        if (physics->meshes[i].data == dGeomTriMeshGetTriMeshDataID(shape->ode)
            && physics->meshes[i].data == shape->twin->data)
            shape->convex = physics->meshes[i].convex;
}

bool shape_follow(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->shape_count);
    Shape *shape = &physics->shapes[index];
    assert_debug(shape->is_alive && shape->ode);
    dBodyID on = dGeomGetBody(shape->ode);
    bool is_away = !is_in_world(physics, shape->ode), is_given = on != shape->twin->on;
    if (is_given) {
        shape->twin->on = on;
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
