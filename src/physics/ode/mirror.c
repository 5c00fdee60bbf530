// mirror.c - the twins in ODE of bodies and shapes, and the world that holds them.
#include "physics/mirror.h"

#include "formats/shape/shape.h"

#include <assert.h>
#include <string.h>

// ---- the world ----

void mirror_settings(const Physics *physics)
{
    if (!mirror_is_open(physics))
        return;
    dWorldSetGravity(physics->world, physics->gravity.x, physics->gravity.y, physics->gravity.z);
    dWorldSetERP(physics->world, physics->erp);
    dWorldSetCFM(physics->world, physics->cfm);
    dWorldSetContactSurfaceLayer(physics->world, physics->contact_surface_layer);
    dWorldSetAutoDisableFlag(physics->world, 0);
    dWorldSetLinearDampingThreshold(physics->world, 0.0);
    dWorldSetAngularDampingThreshold(physics->world, 0.0);
    dWorldSetMaxAngularSpeed(physics->world, SOLVER_MAX_ANGULAR_SPEED);
}

static void make_world(Physics *physics)
{
    physics->world = dWorldCreate();
    // ODE's default is one implementation of threading for all worlds, which two threads must not enter at once.
    physics->threading = dThreadingAllocateSelfThreadedImplementation();
    dWorldSetStepThreadingImplementation(physics->world, dThreadingImplementationGetFunctions(physics->threading),
                                         physics->threading);
    physics->space = dSimpleSpaceCreate(NULL);
    dSpaceSetCleanup(physics->space, 0);
    physics->contact_group = dJointGroupCreate(0);
    mirror_settings(physics);
}

void mirror_open(Physics *physics)
{
    if (mirror_is_open(physics))
        return;
    physics_own_rows(physics);
    joints_refresh(physics);
    solids_refresh(physics);
    odelib_start();
    make_world(physics);
    odelib_begin(physics);
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive) {
            mirror_body_make(physics, i);
            body_set_force(physics, i, physics->body_states[i].force, physics->body_states[i].torque);
        }
    for (int i = 0; i < physics->shape_count; i++)
        if (physics->shapes[i].is_alive)
            mirror_shape_make(physics, i);
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive)
            mirror_body_group(physics, i);
    for (int i = 0; i < physics->constraint_count; i++)
        mirror_constraint_make(physics, physics->constraints[i]);
    contacts_recreate(physics);
    odelib_end();
}

void mirror_close(Physics *physics)
{
    if (!mirror_is_open(physics))
        return;
    for (int i = 0; i < physics->constraint_count; i++)
        if (physics->constraints[i]->ode)
            mirror_constraint_destroy(physics->constraints[i]);
    for (int i = 0; i < physics->shape_count; i++)
        mirror_shape_destroy(physics, i);
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].space)
            dSpaceDestroy(physics->bodies[i].space);
    dJointGroupDestroy(physics->contact_group);
    dSpaceDestroy(physics->space);
    dWorldDestroy(physics->world);
    dThreadingFreeImplementation(physics->threading);
    mirror_meshes_destroy(physics);
    physics->world = NULL;
}

// ---- bodies ----

void mirror_body_make(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->body_count);
    if (!mirror_is_open(physics))
        return;
    Body *body = &physics->bodies[index];
    body->ode = dBodyCreate(physics->world);
    mirror_body_settings(physics, index);
    mirror_body_state(physics, index);
    mirror_body_enabled(physics, index);
    if (physics->body_states[index].is_frozen)
        mirror_body_frozen(physics, index, true);
}

void mirror_body_destroy(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->body_count);
    Body *body = &physics->bodies[index];
    if (body->space)
        dSpaceDestroy(body->space);
    if (body->ode)
        dBodyDestroy(body->ode);
    body->ode = NULL;
    body->space = NULL;
}

// dBodySetQuaternion would normalise once more and change the last bit of a state that is to be restored exactly.
void mirror_body_state(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->body_count);
    const Body *body = &physics->bodies[index];
    const BodyState *state = &physics->body_states[index];
    if (!body->ode)
        return;
    dBodySetPosition(body->ode, state->position.x, state->position.y, state->position.z);
    dReal *q = (dReal *)dBodyGetQuaternion(body->ode), *rotation = (dReal *)dBodyGetRotation(body->ode);
    q[0] = state->orientation.w, q[1] = state->orientation.x, q[2] = state->orientation.y, q[3] = state->orientation.z;
    dRfromQ(rotation, q);
    dBodySetLinearVel(body->ode, state->linear.x, state->linear.y, state->linear.z);
    dBodySetAngularVel(body->ode, state->angular.x, state->angular.y, state->angular.z);
}

void mirror_body_mass(const Physics *physics, int index)
{
    assert(index >= 0 && index < physics->body_count);
    const Body *body = &physics->bodies[index];
    const double *m = physics->masses[index].inertia.m;
    if (!body->ode)
        return;
    dMass mass;
    dMassSetParameters(&mass, physics->masses[index].mass, 0, 0, 0, m[0], m[4], m[8], m[1], m[2], m[5]);
    dBodySetMass(body->ode, &mass);
}

void mirror_body_settings(const Physics *physics, int index)
{
    assert(index >= 0 && index < physics->body_count);
    const Body *body = &physics->bodies[index];
    if (!body->ode)
        return;
    mirror_body_mass(physics, index);
    dBodySetDamping(body->ode, physics->masses[index].linear_damping, physics->masses[index].angular_damping);
    dBodySetAutoDisableFlag(body->ode, 0);
    dBodySetData(body->ode, (void *)(intptr_t)index);  // for us alone, while no plugin is there to change it
}

void mirror_body_enabled(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->body_count);
    dBodyID ode = physics->bodies[index].ode;
    if (!ode)
        return;
    if (physics->body_states[index].is_disabled)
        dBodyDisable(ode);
    else
        dBodyEnable(ode);
}

void mirror_body_frozen(Physics *physics, int index, bool is_frozen)
{
    assert(index >= 0 && index < physics->body_count);
    dBodyID ode = physics->bodies[index].ode;
    if (!ode)
        return;
    if (is_frozen)
        dBodySetKinematic(ode);
    else
        dBodySetDynamic(ode);
}

// Plugins get the space as "the geom" of the solid.
void mirror_body_group(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->body_count);
    if (!mirror_is_open(physics))
        return;
    Body *body = &physics->bodies[index];
    int end = physics->solids[body->solid].end, count = 0;
    for (int i = body->solid; i < end; i++)
        count += physics->solids[i].body == index ? physics->solids[i].shape_count : 0;
    if (!body->space && count < 2)
        return;
    if (!body->space) {
        body->space = dSimpleSpaceCreate(physics->space);
        dSpaceSetCleanup(body->space, 0);
    }
    for (int i = body->solid; i < end; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        for (int k = solid->first_shape; solid->body == index && k < solid->first_shape + solid->shape_count; k++) {
            const Shape *shape = &physics->shapes[k];
            if (shape->body != index || !shape->is_alive || dGeomGetSpace(shape->ode) != physics->space)
                continue;
            dSpaceRemove(physics->space, shape->ode);
            dSpaceAdd(body->space, shape->ode);
        }
    }
}

// ---- shapes ----

static MeshEntry *entry_of(Physics *physics, const Shape *shape)
{
    for (int i = 0; i < physics->mesh_count; i++)
        if (physics->meshes[i].surface && physics->meshes[i].surface == shape->surface)
            return &physics->meshes[i];
    return NULL;
}

static dTriMeshDataID mesh_data(MeshEntry *entry)
{
    if (entry->data)
        return entry->data;
    entry->data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildDouble(entry->data, entry->vertices, 3 * sizeof(double), entry->vertex_count, entry->indices,
                                3 * entry->triangle_count, 3 * sizeof(dTriIndex));
    dGeomTriMeshDataPreprocess2(entry->data, 1u << dTRIDATAPREPROCESS_BUILD_CONCAVE_EDGES, NULL);
    return entry->data;
}

static dHeightfieldDataID field_data(MeshEntry *entry)
{
    if (entry->field)
        return entry->field;
    const MeshHeights *grid = &entry->grid;
    entry->field = dGeomHeightfieldDataCreate();
    dGeomHeightfieldDataBuildDouble(entry->field, entry->heights, 0, (grid->count[0] - 1) * grid->spacing[0],
                                    (grid->count[1] - 1) * grid->spacing[1], grid->count[0], grid->count[1], 1.0, 0.0,
                                    grid->thickness, 0);
    dGeomHeightfieldDataSetBounds(entry->field, grid->low, grid->high);
    return entry->field;
}

static ShapeTwin *shape_twin(const Physics *physics, Shape *shape)
{
    if (!shape->twin)
        shape->twin = arena_alloc(physics->arena, sizeof *shape->twin);
    return shape->twin;
}

dGeomID mirror_make_geom(Physics *physics, Shape *shape)
{
    MeshEntry *entry = entry_of(physics, shape);
    if (shape->kind == GEOMETRY_MESH) {
        shape_twin(physics, shape)->data = mesh_data(entry);
        return dCreateTriMesh(NULL, entry->data, NULL, NULL, NULL);
    }
    if (shape->kind == GEOMETRY_HEIGHTS) {
        shape_twin(physics, shape)->data = field_data(entry);
        return dCreateHeightfield(NULL, entry->field, 1);
    }
    return mirror_make_form(shape->kind, shape->size);
}

bool mirror_grid_counts(Physics *physics, const Shape *grid, dGeomID geom, dGeomID other)
{
    assert(grid->kind == GEOMETRY_HEIGHTS);
    enum { CELLS_MAX = 1000000000 };
    const double *spacing = entry_of(physics, grid)->grid.spacing;
    const dReal *at = dGeomGetPosition(geom);
    dReal box[6];
    dGeomGetAABB(other, box);
    double reach = 0.0;
    for (int i = 0; i < 6; i++)
        reach += fabs(box[i] - at[i / 2]);
    return reach < CELLS_MAX * double_min(spacing[0], spacing[1]);
}

static void set_geom_pose(dGeomID geom, GeometryKind kind, Pose world)
{
    if (kind == GEOMETRY_PLANE) {
        Vec3 normal = quat_rotate(world.q, vec3(0, 0, 1));
        dGeomPlaneSetParams(geom, normal.x, normal.y, normal.z, vec3_dot(normal, world.t));
        return;
    }
    dGeomSetPosition(geom, world.t.x, world.t.y, world.t.z);
    dGeomSetQuaternion(geom, (dQuaternion){ world.q.w, world.q.x, world.q.y, world.q.z });
}

void mirror_shape_make(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->shape_count);
    if (!mirror_is_open(physics))
        return;
    Shape *shape = &physics->shapes[index];
    *shape_twin(physics, shape) = (ShapeTwin){ .tag = { SHAPE_MAGIC, physics, index } };
    shape->ode = mirror_make_geom(physics, shape);
    dGeomSetData(shape->ode, &shape->twin->tag);
    dSpaceAdd(physics->space, shape->ode);
    if (shape->body >= 0) {
        shape->twin->on = physics->bodies[shape->body].ode;
        dGeomSetBody(shape->ode, shape->twin->on);
    }
    mirror_shape_place(physics, index);
}

void mirror_shape_destroy(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->shape_count);
    Shape *shape = &physics->shapes[index];
    if (shape->ode)
        dGeomDestroy(shape->ode);
    shape->ode = NULL;
}

void mirror_shape_place(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->shape_count);
    const Shape *shape = &physics->shapes[index];
    if (!shape->ode)
        return;
    if (shape->home < 0) {
        set_geom_pose(shape->ode, shape->kind, shape_placed(shape));
        return;
    }
    Pose offset = shape_placed(shape);
    dGeomSetOffsetPosition(shape->ode, offset.t.x, offset.t.y, offset.t.z);
    dGeomSetOffsetQuaternion(shape->ode, (dQuaternion){ offset.q.w, offset.q.x, offset.q.y, offset.q.z });
}

void mirror_meshes_destroy(Physics *physics)
{
    for (int i = 0; i < physics->mesh_count; i++) {
        MeshEntry *entry = &physics->meshes[i];
        if (entry->data)
            dGeomTriMeshDataDestroy(entry->data);
        if (entry->field)
            dGeomHeightfieldDataDestroy(entry->field);
        entry->data = NULL;
        entry->field = NULL;
    }
}
