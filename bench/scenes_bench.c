// scenes_bench.c - time per step and per phase on the scenes of scenes/builders.h, next to a bare ODE loop of the same
// bodies, shapes, joints and contact surfaces in the same run: the same solver, ODE's hash space, no scene, no checks.
// Runs are interleaved and the best of several counts, in processor time. Quality figures say whether the scene still
// does what it should: robots stand, chains hold, piles do not sink.
#include "physics/joints/motor.h"
#include "physics/ode/ode.h"
#include "physics/physics_internal.h"
#include "sim/sim.h"

#include "../scenes/builders.h"

#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- the bare loop ----

typedef struct Bare {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID *bodies;
    bool is_quick;
    double dt;
    int contact_count;
} Bare;

static void bare_near(void *data, dGeomID a, dGeomID b)
{
    Bare *bare = data;
    dBodyID ba = dGeomGetBody(a), bb = dGeomGetBody(b);
    if ((!ba && !bb) || (dGeomGetData(a) && dGeomGetData(a) == dGeomGetData(b)))
        return;
    if (ba && bb && dAreConnectedExcluding(ba, bb, dJointTypeContact))
        return;
    dContact found[10];
    int count = dCollide(a, b, COUNT_OF(found), &found[0].geom, sizeof(dContact));
    for (int i = 0; i < count; i++) {
        dSurfaceParameters *s = &found[i].surface;
        s->mode = dContactApprox1 | dContactSoftCFM | dContactSoftERP | dContactBounce;
        s->mu = 1.0, s->bounce = 0.5, s->bounce_vel = 0.01, s->soft_erp = 0.2, s->soft_cfm = 0.001;
        dJointAttach(dJointCreateContact(bare->world, bare->contacts, &found[i]), ba, bb);
    }
    bare->contact_count += count;
}

static void bare_collide(Bare *bare)
{
    bare->contact_count = 0;
    dSpaceCollide(bare->space, bare, bare_near);
}

static void bare_step(Bare *bare)
{
    if (bare->is_quick)
        dWorldQuickStep(bare->world, bare->dt);
    else
        dWorldStep(bare->world, bare->dt);
    dJointGroupEmpty(bare->contacts);
    bare_collide(bare);
}

static dTriMeshDataID bare_mesh(const MeshEntry *mesh)
{
    dTriMeshDataID data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildDouble(data, mesh->vertices, 3 * sizeof(double), mesh->vertex_count, mesh->indices,
                                3 * mesh->triangle_count, 3 * sizeof(dTriIndex));
    return data;
}

static dGeomID bare_geom(const Shape *shape, const Physics *physics)
{
    switch (shape->kind) {
    case GEOMETRY_BOX: return dCreateBox(NULL, shape->size.x, shape->size.y, shape->size.z);
    case GEOMETRY_SPHERE: return dCreateSphere(NULL, shape->size.x);
    case GEOMETRY_CAPSULE: return dCreateCapsule(NULL, shape->size.x, shape->size.y);
    case GEOMETRY_CYLINDER: return dCreateCylinder(NULL, shape->size.x, shape->size.y);
    case GEOMETRY_PLANE: return dCreatePlane(NULL, 0, 0, 1, 0);
    default:
        for (int i = 0; i < physics->mesh_count; i++)
            if (physics->meshes[i].geometry == shape->geometry)
                return dCreateTriMesh(NULL, bare_mesh(&physics->meshes[i]), NULL, NULL, NULL);
        return NULL;
    }
}

static void place_geom(dGeomID geom, const Shape *shape, const Physics *physics, dBodyID body)
{
    Pose solid = shape->body >= 0 ? solid_in_body(&physics->solids[shape->solid]) : physics->solid_world[shape->solid];
    Pose pose = pose_mul(solid, shape_local(shape));
    dQuaternion q = { pose.q.w, pose.q.x, pose.q.y, pose.q.z };
    if (body) {
        dGeomSetBody(geom, body);
        dGeomSetOffsetPosition(geom, pose.t.x, pose.t.y, pose.t.z);
        dGeomSetOffsetQuaternion(geom, q);
    } else if (shape->kind != GEOMETRY_PLANE) {
        dGeomSetPosition(geom, pose.t.x, pose.t.y, pose.t.z);
        dGeomSetQuaternion(geom, q);
    }
}

static void bare_joint(Bare *bare, const Physics *physics, int index)
{
    const PhysicsJoint *joint = &physics->joints[index];
    if (!joint->constraint || joint->constraint->kind != CONSTRAINT_HINGE)
        return;
    dJointID hinge = dJointCreateHinge(bare->world, NULL);
    Vec3 anchor = joint->constraint->place.anchor, axis = joint->constraint->place.axis;
    dJointAttach(hinge, joint->body[0] >= 0 ? bare->bodies[joint->body[0]] : NULL, bare->bodies[joint->body[1]]);
    dJointSetHingeAnchor(hinge, anchor.x, anchor.y, anchor.z);
    dJointSetHingeAxis(hinge, axis.x, axis.y, axis.z);
    if (joint->axes[0].motor) {
        PhysicsMotor motor = physics_motor(physics, index, 0);
        dJointSetHingeParam(hinge, dParamFMax, motor.available_force);
        dJointSetHingeParam(hinge, dParamVel, isinf(motor.target_position) ? -motor.target_velocity : 0.0);
    }
}

static Bare *bare_create(const Physics *physics, bool is_quick)
{
    odelib_start();
    Bare *bare = calloc(1, sizeof(*bare));
    *bare = (Bare){ dWorldCreate(), dHashSpaceCreate(NULL), dJointGroupCreate(0), NULL, is_quick, physics->dt, 0 };
    dHashSpaceSetLevels(bare->space, -3, 6);
    dWorldSetGravity(bare->world, 0, 0, -9.81);
    dWorldSetERP(bare->world, physics->erp);
    dWorldSetCFM(bare->world, physics->cfm);
    bare->bodies = calloc((size_t)physics->body_count + 1, sizeof(dBodyID));
    for (int i = 0; i < physics->body_count; i++) {
        const BodyState *state = &physics->body_states[i];
        dMass mass;
        dBodyGetMass(physics->bodies[i].ode, &mass);
        bare->bodies[i] = dBodyCreate(bare->world);
        dBodySetMass(bare->bodies[i], &mass);
        dBodySetPosition(bare->bodies[i], state->position.x, state->position.y, state->position.z);
        dBodySetQuaternion(bare->bodies[i], (dQuaternion){ state->orientation.w, state->orientation.x,
                                                           state->orientation.y, state->orientation.z });
    }
    for (int i = 0; i < physics->shape_count; i++) {
        const Shape *shape = &physics->shapes[i];
        dGeomID geom = bare_geom(shape, physics);
        place_geom(geom, shape, physics, shape->body >= 0 ? bare->bodies[shape->body] : NULL);
        dGeomSetData(geom, (void *)(intptr_t)(physics->solids[shape->solid].robot + 1));
        dSpaceAdd(bare->space, geom);
    }
    for (int i = 0; i < physics->joint_count; i++)
        bare_joint(bare, physics, i);
    bare_collide(bare);
    return bare;
}

static void bare_destroy(Bare *bare)
{
    dJointGroupDestroy(bare->contacts);
    dSpaceDestroy(bare->space);
    dWorldDestroy(bare->world);
    free(bare->bodies);
    free(bare);
}

// ---- scenes ----

static void build_pile(Text *out, int count) { scene_pile(out, count, false); }
static void build_mixed(Text *out, int count) { scene_pile(out, count, true); }

static const struct {
    const char *name;
    void (*build)(Text *out, int count);
    int size;
    int steps;
    bool is_quick, drives;
} scenes[] = {
    { "humanoid", scene_humanoids, 1, 400, false, false }, { "humanoid", scene_humanoids, 10, 60, false, false },
    { "chain", scene_chain, 10, 2000, false, false },      { "chain", scene_chain, 100, 40, false, false },
    { "pile", build_pile, 100, 400, true, false },         { "pile", build_pile, 1000, 100, true, false },
    { "mixed", build_mixed, 100, 400, true, false },       { "stack", scene_stack, 10, 250, true, false },
    { "swarm", scene_swarm, 20, 250, false, true },        { "swarm", scene_swarm, 200, 40, false, true },
    { "terrain", scene_terrain, 20, 250, true, false },    { "terrain", scene_terrain, 200, 100, true, false },
};

static Sim *load(const char *text, size_t size, const char *stepper, bool drives, DiagSink *diags)
{
    Sim *sim = sim_load_text("bench.wbt", text, size, &(SimOptions){ .physics.stepper = stepper }, diags);
    if (!sim) {
        diag_print(diags, stderr, 0, DIAG_NOTE);
        exit(1);
    }
    sim_time_phases(sim);
    Physics *physics = sim_physics(sim);
    for (int i = 0; drives && i < physics_joint_count(physics); i++) {
        physics_motor_set_position(physics, i, 0, INFINITY);
        physics_motor_set_velocity(physics, i, 0, 5.0);
    }
    return sim;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// What the scene looks like at the end.
static void print_quality(const Sim *sim)
{
    const Physics *physics = sim_physics(sim);
    int count;
    const PhysicsContact *contacts = physics_contacts(physics, &count);
    double *depths = calloc((size_t)count + 1, sizeof(double));
    for (int i = 0; i < count; i++)
        depths[i] = contacts[i].depth;
    qsort(depths, (size_t)count, sizeof(double), by_value);
    double lowest = INFINITY, highest = -INFINITY, travelled = 0.0, gap = 0.0;
    for (int i = 0; i < physics_body_count(physics); i++) {
        Pose pose = physics_body_pose(physics, i);
        lowest = fmin(lowest, pose.t.z);
        highest = fmax(highest, pose.t.z);
        travelled = fmax(travelled,
                         hypot(physics_body_linear_velocity(physics, i).x, physics_body_linear_velocity(physics, i).y));
    }
    for (int i = 0; i < physics->joint_count; i++) {
        const PhysicsJoint *joint = &physics->joints[i];
        const Constraint *hinge = joint->constraint;
        if (!hinge || hinge->kind != CONSTRAINT_HINGE)
            continue;
        Vec3 ends[2];
        for (int k = 0; k < 2; k++)
            ends[k] = pose_apply(hinge->solved[k] >= 0 ? physics_body_pose(physics, hinge->solved[k]) : POSE_IDENTITY,
                                 constraint_frames(hinge)->anchor[k]);
        gap = fmax(gap, vec3_distance(ends[0], ends[1]));
    }
    printf(
        "    bodies between %.3f and %.3f m, fastest %.3g m/s, depth p95 %.3g mm (%d points), joints open by %.3g mm\n",
        lowest, highest, travelled, count ? 1e3 * depths[count * 95 / 100] : 0.0, count, 1e3 * gap);
    free(depths);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    int rounds = argc > 2 ? atoi(argv[2]) : 3, failures = 0;
    printf("%-14s %10s %10s %8s %10s   time per step: us of processor time, best of %d interleaved runs\n", "scene",
           "bare ODE", "same step", "ratio", "'talus'", rounds);
    for (int s = 0; s < COUNT_OF(scenes); s++) {
        if (only && strcmp(only, scenes[s].name))
            continue;
        Text text = { 0 };
        scenes[s].build(&text, scenes[s].size);
        DiagSink *diags = diag_create();
        const char *stepper = scenes[s].is_quick ? "ode-quick" : "ode-exact";
        double best[3] = { INFINITY, INFINITY, INFINITY };
        Sim *shown = NULL;
        for (int round = 0; round < rounds; round++) {
            Sim *sims[2] = { load(text.data, text.length, stepper, scenes[s].drives, diags),
                             load(text.data, text.length, "talus", scenes[s].drives, diags) };
            Bare *bare = bare_create(sim_physics(sims[0]), scenes[s].is_quick);
            double start = now();
            for (int i = 0; i < scenes[s].steps; i++)
                bare_step(bare);
            best[0] = fmin(best[0], (now() - start) / scenes[s].steps);
            for (int k = 0; k < 2; k++) {
                start = now();
                for (int i = 0; i < scenes[s].steps && sim_step(sims[k]); i++)
                    ;
                best[k + 1] = fmin(best[k + 1], (now() - start) / scenes[s].steps);
            }
            bare_destroy(bare);
            sim_destroy(sims[1]);
            sim_destroy(shown);
            shown = sims[0];
        }
        char name[32];
        snprintf(name, sizeof(name), "%s %d", scenes[s].name, scenes[s].size);
        double ratio = best[1] / best[0];
        failures += ratio > 1.10;
        printf("%-14s %10.1f %10.1f %8.3f %10.1f\n   ", name, 1e6 * best[0], 1e6 * best[1], ratio, 1e6 * best[2]);
        double total = 0.0;
        for (int i = 0; i < SIM_PHASE_COUNT; i++)
            total += sim_phase_seconds(shown)[i];
        for (int i = 0; i < SIM_PHASE_COUNT; i++)
            if (sim_phase_seconds(shown)[i] > 0.002 * total)
                printf(" %s %.1f%%", sim_phase_name((SimPhase)i), 100.0 * sim_phase_seconds(shown)[i] / total);
        printf("\n");
        print_quality(shown);
        sim_destroy(shown);
        diag_destroy(diags);
        text_free(&text);
    }
    printf("%d scenes above the limit of 1.10\n", failures);
    return failures > 0;
}
