// One step of an ODE world: find its bodies and joints, wake what is connected, ask the joints for their rows, solve,
// write poses, velocities and feedback back.
#include "physics/ode/solver_ode.h"

#include "base/memory.h"
#include "physics/ode/extend.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ROW_DOUBLES ((int)(sizeof(SolverRow) / sizeof(double)))
#define JOINT_ROWS_MAX 12
#define BODY_GRAIN 128  // bodies and joints that a worker takes at a time
#define JOINT_GRAIN 64

typedef struct BodyEntry {
    dBodyID body;
    // Inside ODE's body, valid while it lives.
    dReal *position, *quaternion, *rotation, *linear, *angular, *force, *torque;
} BodyEntry;

typedef struct JointEntry {
    dJointID joint;
    int type;
    int body1, body2;
} JointEntry;

struct SolverOde {
    dWorldID world;
    const OdeLayout *inside;
    Solver *solver;
    bool owns_solver;
    Pool *pool;
    double dt;
    bool is_primed;
    bool is_restored;  // what the solver remembers is of another run of steps than the bodies known here
    bool is_new;       // the list of bodies changed
    bool is_vouched;   // the awake bodies were told by the caller
    BodyEntry *entries;
    SolverBody *bodies;
    SolverMass *masses;       // beside bodies,
    SolverBodyExtra *extras;  // and what just ODE has
    int32_t *awake, *set;
    int32_t *table;  // hash: body -> index
    dBodyID *found;
    JointEntry *joints;  // of this step, contact joints last
    SolverJoint *solver_joints;
    SolverRow *rows;
    SolverContact *contacts;
    SolverSurface *surfaces;  // beside contacts,
    Vec3 *held;               // and beside the first of them
    dJointID *found_joints;
    int body_capacity, mass_capacity, extra_capacity, awake_capacity, set_capacity, table_capacity, found_capacity,
        joint_capacity;
    int solver_joint_capacity, row_capacity, contact_capacity, surface_capacity, found_joint_capacity;
    int held_count, held_capacity;
    int body_count, awake_count, table_size, found_count, joint_count, contact_joint_first, solver_joint_count,
        row_count;
    int contact_count, added_contact_count, found_joint_count;
};

const char *solver_ode_problem(void) { return ode_layout()->problem; }

SolverOde *solver_ode_create_on(dWorldID world, Solver *solver, Pool *pool)
{
    assert(world && solver);
    if (ode_layout()->problem)
        return NULL;
    SolverOde *self = memory_alloc(sizeof *self);
    self->world = world;
    self->inside = ode_layout();
    self->solver = solver;
    self->pool = pool;
    self->is_restored = true;
    return self;
}

SolverOde *solver_ode_create(dWorldID world, const SolverOptions *options)
{
    if (ode_layout()->problem)
        return NULL;
    SolverOde *self = solver_ode_create_on(world, solver_create(options), options ? options->pool : NULL);
    self->owns_solver = true;
    return self;
}

void solver_ode_destroy(SolverOde *self)
{
    if (!self)
        return;
    void *owned[] = { self->held,          self->entries, self->masses,   self->extras,       self->bodies,
                      self->awake,         self->set,     self->table,    self->found,        self->joints,
                      self->solver_joints, self->rows,    self->contacts, self->found_joints, self->surfaces };
    for (int i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    if (self->owns_solver)
        solver_destroy(self->solver);
    free(self);
}

Solver *solver_ode_solver(SolverOde *self) { return self->solver; }

void solver_ode_restore(SolverOde *self, const void *buffer, size_t size)
{
    solver_state_restore(self->solver, buffer, size);
    self->is_restored = true;
}

// ---- bodies ----

static uint32_t body_hash(dBodyID body)
{
    return (uint32_t)(((uint64_t)(uintptr_t)body >> 4) * 0x9E3779B97F4A7C15u >> 32);
}

int solver_ode_body(const SolverOde *self, dBodyID body)
{
    if (!body)
        return -1;
    assert_debug(self->table_size > 0 && (self->table_size & (self->table_size - 1)) == 0);
    uint32_t mask = (uint32_t)self->table_size - 1;
    for (uint32_t slot = body_hash(body) & mask;; slot = (slot + 1) & mask) {
        int at = self->table[slot];
        if (at < 0 || self->entries[at].body == body)
            return at;
    }
}

static void table_build(SolverOde *self)
{
    self->table_size = 16;
    while (self->table_size < 2 * self->body_count)
        self->table_size *= 2;
    assert_debug(2 * self->body_count <= self->table_size);  // a search ends at an empty slot
    memory_grow(&self->table, &self->table_capacity, self->table_size, sizeof *self->table);
    memset(self->table, 0xff, (size_t)self->table_size * sizeof *self->table);
    uint32_t mask = (uint32_t)self->table_size - 1;
    for (int i = 0; i < self->body_count; i++) {
        uint32_t slot = body_hash(self->entries[i].body) & mask;
        while (self->table[slot] >= 0)
            slot = (slot + 1) & mask;
        self->table[slot] = i;
    }
}

static void entry_fill(BodyEntry *entry, dBodyID body)
{
    assert_debug(body);
    *entry = (BodyEntry){ .body = body,
                          .position = (dReal *)dBodyGetPosition(body),
                          .quaternion = (dReal *)dBodyGetQuaternion(body),
                          .rotation = (dReal *)dBodyGetRotation(body),
                          .linear = (dReal *)dBodyGetLinearVel(body),
                          .angular = (dReal *)dBodyGetAngularVel(body),
                          .force = (dReal *)dBodyGetForce(body),
                          .torque = (dReal *)dBodyGetTorque(body) };
}

// The bodies that are still there have new places; an address that was given to another body says no more than where to
// begin the search for a solution.
static void bodies_renumber(SolverOde *self, const BodyEntry *old, int old_count)
{
    assert_debug(old || old_count == 0);
    int32_t *new_index = memory_alloc_array((size_t)old_count + 1, sizeof *new_index);
    for (int i = 0; i < old_count; i++)
        new_index[i] = solver_ode_body(self, old[i].body);
    solver_renumber(self->solver, new_index, old_count);
    free(new_index);
}

// Bodies in the order of their creation; ODE's list has the newest first.
static void bodies_find(SolverOde *self)
{
    self->found_count = 0;
    for (dBodyID body = ode_layout_pointer(self->world, self->inside->first_body); body;
         body = ode_layout_pointer(body, self->inside->next_body)) {
        memory_grow(&self->found, &self->found_capacity, self->found_count + 1, sizeof *self->found);
        self->found[self->found_count++] = body;
    }
    int count = self->found_count, old_count = self->body_count;
    bool changed = count != old_count;
    for (int i = 0; i < count && !changed; i++)
        changed = self->entries[i].body != self->found[count - 1 - i];
    if (!changed)
        return;
    BodyEntry *old = self->entries;
    self->entries = memory_alloc_array((size_t)count + 1, sizeof *self->entries);
    self->body_count = count;
    for (int i = 0; i < count; i++)
        entry_fill(&self->entries[i], self->found[count - 1 - i]);
    memory_grow(&self->bodies, &self->body_capacity, count + 1, sizeof *self->bodies);
    memory_grow(&self->masses, &self->mass_capacity, count + 1, sizeof *self->masses);
    memory_grow(&self->extras, &self->extra_capacity, count + 1, sizeof *self->extras);
    memory_grow(&self->awake, &self->awake_capacity, count + 1, sizeof *self->awake);
    memory_grow(&self->set, &self->set_capacity, count + 1, sizeof *self->set);
    table_build(self);
    self->is_new = true;
    if (!self->is_restored)
        bodies_renumber(self, old, old_count);
    free(old);
}

static void copy3(double *to, const dReal *from) { to[0] = from[0], to[1] = from[1], to[2] = from[2]; }

// What ODE keeps as modes and thresholds of a body, which a plugin may change at any time.
static void body_read_flags(SolverOde *self, int index, dBodyID ode)
{
    SolverBody *body = &self->bodies[index];
    SolverMass *mass = &self->masses[index];
    SolverBodyExtra *extra = &self->extras[index];
    body->flags = 0;
    if (dBodyIsKinematic(ode))
        body->flags |= SOLVER_BODY_KINEMATIC;
    if (dBodyGetGravityMode(ode))
        body->flags |= SOLVER_BODY_GRAVITY;
    if (dBodyGetGyroscopicMode(ode))
        body->flags |= SOLVER_BODY_GYROSCOPIC;
    if (dBodyGetFiniteRotationMode(ode)) {
        dVector3 axis;
        dBodyGetFiniteRotationAxis(ode, axis);
        body->flags |= SOLVER_BODY_FINITE_ROTATION;
        if (axis[0] != 0.0 || axis[1] != 0.0 || axis[2] != 0.0)
            body->flags |= SOLVER_BODY_FINITE_AXIS;
        copy3(extra->finite_axis, axis);
    }
    mass->linear_damping = dBodyGetLinearDamping(ode);
    mass->angular_damping = dBodyGetAngularDamping(ode);
    if (mass->linear_damping != 0.0) {
        double threshold = dBodyGetLinearDampingThreshold(ode);
        extra->linear_damping_threshold = threshold * threshold;
        body->flags |= SOLVER_BODY_LINEAR_DAMPING;
    }
    if (mass->angular_damping != 0.0) {
        double threshold = dBodyGetAngularDampingThreshold(ode);
        extra->angular_damping_threshold = threshold * threshold;
        body->flags |= SOLVER_BODY_ANGULAR_DAMPING;
    }
    extra->max_angular_speed = dBodyGetMaxAngularSpeed(ode);
    if (extra->max_angular_speed < dInfinity)
        body->flags |= SOLVER_BODY_MAX_ANGULAR_SPEED;
}

static void body_read(SolverOde *self, int index)
{
    assert_debug(index >= 0 && index < self->body_count);
    const BodyEntry *entry = &self->entries[index];
    SolverBody *body = &self->bodies[index];
    dMass mass;
    copy3(body->position, entry->position);
    memcpy(body->quaternion, entry->quaternion, sizeof body->quaternion);
    copy3(body->velocity, entry->linear);
    copy3(body->velocity + 3, entry->angular);
    copy3(body->force, entry->force);
    copy3(body->force + 3, entry->torque);
    dBodyGetMass(entry->body, &mass);
    self->masses[index].mass = mass.mass;
    for (int i = 0; i < 3; i++) {
        copy3(body->rotation + 3 * i, entry->rotation + 4 * i);
        copy3(self->masses[index].inertia.m + 3 * i, mass.I + 4 * i);
    }
    body_read_flags(self, index, entry->body);
}

// ---- sleep, by ODE's rules ----

static int find_set(int32_t *set, int i)
{
    assert_debug(i >= 0);
    while (set[i] != i) {
        set[i] = set[set[i]];
        i = set[i];
    }
    return i;
}

// dBodyEnable() would start the body's timer of falling asleep anew, which the islands of ODE's own steps leave
// running.
static void ode_body_wake(const SolverOde *self, dBodyID body)
{
    unsigned flags;
    char *at = (char *)body + self->inside->body_flags;
    memcpy(&flags, at, sizeof flags);
    flags &= ~self->inside->disabled;
    memcpy(at, &flags, sizeof flags);
}

void solver_ode_wake_link(SolverOde *self, int body1, int body2)
{
    assert_debug(body1 < self->body_count && body2 < self->body_count);
    if (body1 < 0 || body2 < 0)
        return;
    int a = find_set(self->set, body1), b = find_set(self->set, body2);
    self->set[a > b ? a : b] = a > b ? b : a;
}

// A body that a joint connects to an awake one wakes, kinematic ones included, as in ODE.
bool solver_ode_wake_begin(SolverOde *self)
{
    bool any_asleep = false;
    for (int i = 0; i < self->body_count; i++) {
        self->set[i] = i;
        any_asleep |= !dBodyIsEnabled(self->entries[i].body);
    }
    for (int i = 0; any_asleep && i < self->joint_count; i++)
        solver_ode_wake_link(self, self->joints[i].body1, self->joints[i].body2);
    return any_asleep;
}

void solver_ode_wake_end(SolverOde *self)
{
    for (int i = 0; i < self->body_count; i++)
        self->awake[i] = 0;
    for (int i = 0; i < self->body_count; i++)
        if (dBodyIsEnabled(self->entries[i].body))
            self->awake[find_set(self->set, i)] = 1;
    for (int i = 0; i < self->body_count; i++)
        if (self->awake[find_set(self->set, i)] && !dBodyIsEnabled(self->entries[i].body))
            ode_body_wake(self, self->entries[i].body);
}

// ---- joints ----

static bool joint_acts(const SolverOde *self, dJointID joint, int body1, int body2)
{
    assert_debug(body1 < self->body_count && body2 < self->body_count);
    if (body1 < 0 || !dJointIsEnabled(joint))
        return false;
    return !dBodyIsKinematic(self->entries[body1].body) || (body2 >= 0 && !dBodyIsKinematic(self->entries[body2].body));
}

static void joint_add(SolverOde *self, dJointID joint, int type)
{
    assert_debug(self->joint_count < self->joint_capacity);
    int body1 = solver_ode_body(self, dJointGetBody(joint, 0)), body2 = solver_ode_body(self, dJointGetBody(joint, 1));
    // A joint attached to nothing first is reversed inside ODE: its rows are for the one body it has.
    if (body1 < 0) {
        body1 = body2;
        body2 = -1;
    }
    if (joint_acts(self, joint, body1, body2))
        self->joints[self->joint_count++] = (JointEntry){ joint, type, body1, body2 };
}

static void joints_find(SolverOde *self)
{
    self->found_joint_count = 0;
    for (dJointID joint = ode_layout_pointer(self->world, self->inside->first_joint); joint;
         joint = ode_layout_pointer(joint, self->inside->next_joint)) {
        memory_grow(&self->found_joints, &self->found_joint_capacity, self->found_joint_count + 1,
                    sizeof *self->found_joints);
        self->found_joints[self->found_joint_count++] = joint;
    }
    memory_grow(&self->joints, &self->joint_capacity, self->found_joint_count + 1, sizeof *self->joints);
    self->joint_count = 0;
    // The oldest first; contact joints gather at the end of the list meanwhile.
    int contacts_from = self->found_joint_count;
    for (int i = self->found_joint_count - 1; i >= 0; i--) {
        int type = dJointGetType(self->found_joints[i]);
        if (type == dJointTypeContact)
            self->found_joints[--contacts_from] = self->found_joints[i];
        else
            joint_add(self, self->found_joints[i], type);
    }
    assert_debug(contacts_from >= 0 && contacts_from <= self->found_joint_count);
    self->contact_joint_first = self->joint_count;
    for (int i = self->found_joint_count - 1; i >= contacts_from; i--)
        joint_add(self, self->found_joints[i], dJointTypeContact);
}

static void rows_reset(SolverRow *rows, int count, double cfm)
{
    assert_debug(count > 0 && count <= JOINT_ROWS_MAX);
    memset(rows, 0, (size_t)count * sizeof *rows);
    for (int i = 0; i < count; i++) {
        rows[i].cfm = cfm;
        rows[i].lo = -SOLVER_INFINITY;
        rows[i].hi = SOLVER_INFINITY;
    }
}

static void joint_rows(SolverOde *self, const JointEntry *entry, double erp, double cfm)
{
    assert_debug(self->solver_joint_count < self->solver_joint_capacity);
    assert(entry->type >= 0 && entry->type < ODE_JOINT_TYPES);
    OdeJointInfo info = { 0, 0 };
    OdeGetInfo1 info1 = self->inside->info1[entry->type];
    OdeGetInfo2 info2 = self->inside->info2[entry->type];
    odeextra_methods(entry->joint, &info1, &info2);
    info1(entry->joint, &info);
    assert(info.rows >= 0 && info.rows <= JOINT_ROWS_MAX);  // there is room for no more
    memory_grow(&self->rows, &self->row_capacity, self->row_count + JOINT_ROWS_MAX, sizeof *self->rows);
    SolverRow *rows = &self->rows[self->row_count];
    self->solver_joints[self->solver_joint_count++] = (SolverJoint){ entry->body1, entry->body2, self->row_count,
                                                                     info.rows };
    if (info.rows == 0)
        return;
    int findex[JOINT_ROWS_MAX];
    rows_reset(rows, info.rows, cfm);
    for (int i = 0; i < JOINT_ROWS_MAX; i++)
        findex[i] = -1;
    info2(entry->joint, 1.0 / self->dt, erp, ROW_DOUBLES, rows->j1, rows->j2, ROW_DOUBLES, &rows->rhs, &rows->lo,
          findex);
    for (int i = 0; i < info.rows; i++)
        rows[i].friction_of = findex[i];
    self->row_count += info.rows;
}

SolverContact *solver_ode_add_contacts(SolverOde *self, int count, SolverSurface **surfaces)
{
    assert(count >= 0 && surfaces);
    memory_grow(&self->contacts, &self->contact_capacity, self->contact_count + count, sizeof *self->contacts);
    memory_grow(&self->surfaces, &self->surface_capacity, self->contact_count + count, sizeof *self->surfaces);
    *surfaces = &self->surfaces[self->contact_count];
    self->contact_count += count;
    return &self->contacts[self->contact_count - count];
}

void solver_ode_hold(SolverOde *self, int contact, Vec3 impulse)
{
    assert(contact >= 0 && contact < self->contact_count);
    memory_grow(&self->held, &self->held_capacity, contact + 1, sizeof *self->held);
    while (self->held_count <= contact)
        self->held[self->held_count++] = VEC3_ZERO;
    self->held[contact] = impulse;
}

static double not_negative(double value) { return value > 0.0 ? value : 0.0; }

void solver_ode_read_contact(const dContact *from, double sign, int body1, int body2, SolverContact *contact,
                             SolverSurface *to)
{
    assert_debug(sign == 1.0 || sign == -1.0);
    const dSurfaceParameters *surface = &from->surface;
    int mode = surface->mode;
    const dReal *pos = from->geom.pos, *normal = from->geom.normal;
    *contact = (SolverContact){ .body = { body1, body2 },
                                .has_own_surface = true,
                                .point = vec3(pos[0], pos[1], pos[2]),
                                .normal = vec3(sign * normal[0], sign * normal[1], sign * normal[2]),
                                .depth = from->geom.depth };
    *to = (SolverSurface){ .fdir1 = vec3(from->fdir1[0], from->fdir1[1], from->fdir1[2]) };
    static const struct {
        int ode;
        uint32_t flag;
    } modes[] = {
        { dContactSoftERP, SOLVER_CONTACT_SOFT_ERP },    { dContactSoftCFM, SOLVER_CONTACT_SOFT_CFM },
        { dContactBounce, SOLVER_CONTACT_BOUNCE },       { dContactFDir1, SOLVER_CONTACT_FDIR1 },
        { dContactApprox1_1, SOLVER_CONTACT_APPROX1_1 }, { dContactApprox1_2, SOLVER_CONTACT_APPROX1_2 },
        { dContactApprox1_N, SOLVER_CONTACT_APPROX1_N }, { dContactRolling, SOLVER_CONTACT_ROLLING },
    };
    for (int i = 0; i < COUNT_OF(modes); i++)
        if (mode & modes[i].ode)
            to->flags |= modes[i].flag;
    // Without the axis-dependent mode ODE has either both friction rows or, with mu 0, none.
    to->mu = not_negative(surface->mu);
    to->mu2 = mode & dContactMu2 ? not_negative(surface->mu2) : to->mu;
    if (!(mode & dContactAxisDep) && to->mu == 0.0)
        to->mu2 = 0.0;
    to->rho = not_negative(surface->rho);
    to->rho2 = mode & dContactAxisDep ? not_negative(surface->rho2) : to->rho;
    to->rhoN = mode & dContactAxisDep ? not_negative(surface->rhoN) : to->rho;
    to->bounce = surface->bounce;
    to->bounce_velocity = surface->bounce_vel;
    to->soft_erp = surface->soft_erp;
    to->soft_cfm = surface->soft_cfm;
    to->motion1 = mode & dContactMotion1 ? surface->motion1 : 0.0;
    to->motion2 = mode & dContactMotion2 ? surface->motion2 : 0.0;
    contact->target_normal_speed = mode & dContactMotionN ? surface->motionN : 0.0;
    to->slip1 = mode & dContactSlip1 ? surface->slip1 : 0.0;
    to->slip2 = mode & dContactSlip2 ? surface->slip2 : 0.0;
}

static void contact_read(SolverOde *self, const JointEntry *entry)
{
    assert_debug(entry->type == dJointTypeContact);
    unsigned flags;
    SolverSurface *surface;
    memcpy(&flags, (const char *)entry->joint + self->inside->flags, sizeof flags);
    SolverContact *contact = solver_ode_add_contacts(self, 1, &surface);
    solver_ode_read_contact((const dContact *)((const char *)entry->joint + self->inside->contact),
                            flags & self->inside->reverse ? -1.0 : 1.0, entry->body1, entry->body2, contact, surface);
}

// ---- the step ----

// A motor at its stop makes ODE's joint lock a mutex that dWorldStep() creates: let it run once, on an empty world.
static void world_prime(SolverOde *self)
{
    assert(!self->is_primed);
    void *none = NULL, *heads[2] = { (char *)self->world + self->inside->first_body,
                                     (char *)self->world + self->inside->first_joint };
    void *kept[2];
    for (int i = 0; i < 2; i++) {
        memcpy(&kept[i], heads[i], sizeof kept[i]);
        memcpy(heads[i], &none, sizeof none);
    }
    dWorldStep(self->world, self->dt);
    for (int i = 0; i < 2; i++)
        memcpy(heads[i], &kept[i], sizeof kept[i]);
    self->is_primed = true;
}

void solver_ode_set_awake_list(SolverOde *self, const int32_t *awake, int count)
{
    assert(count >= 0 && count <= self->body_count);
    for (int i = 0; i < self->awake_count; i++)
        self->bodies[self->awake[i]].flags |= SOLVER_BODY_ASLEEP;
    memory_grow(&self->awake, &self->awake_capacity, count + 1, sizeof *self->awake);
    memcpy(self->awake, awake, (size_t)count * sizeof *awake);
    self->awake_count = count;
    self->is_vouched = true;
}

void solver_ode_begin(SolverOde *self, double dt)
{
    assert(dt > 0.0);
    self->dt = dt;
    if (!self->is_vouched)
        bodies_find(self);
    self->is_restored = false;
    if (!self->is_primed)
        world_prime(self);
    joints_find(self);
    if (!self->is_vouched)
        self->inside->fall_asleep(self->world, self->dt);
    self->contact_count = self->held_count = 0;
}

static void find_awake(SolverOde *self)
{
    assert_debug(!self->is_vouched && self->body_count <= self->awake_capacity);
    self->awake_count = 0;
    for (int i = 0; i < self->body_count; i++) {
        dBodyID body = self->entries[i].body;
        if (dBodyIsEnabled(body)) {
            self->awake[self->awake_count++] = i;
            continue;
        }
        if (self->is_new)
            body_read(self, i);
        self->bodies[i].flags = SOLVER_BODY_ASLEEP | (dBodyIsKinematic(body) ? SOLVER_BODY_KINEMATIC : 0);
    }
    self->is_new = false;
}

static void read_range(int begin, int end, int worker, void *context)
{
    SolverOde *self = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        body_read(self, self->awake[i]);
}

// After the rows: a motor at its stop adds its torque while it is asked for rows.
static void bodies_read(SolverOde *self)
{
    if (!self->is_vouched)
        find_awake(self);
    pool_for(self->pool, self->awake_count, BODY_GRAIN, read_range, self);
}

static bool is_awake(const SolverOde *self, int body) { return body >= 0 && dBodyIsEnabled(self->entries[body].body); }

static void joints_read(SolverOde *self)
{
    assert_debug(self->contact_joint_first <= self->joint_count);
    double erp = dWorldGetERP(self->world), cfm = dWorldGetCFM(self->world);
    memory_grow(&self->solver_joints, &self->solver_joint_capacity, self->joint_count + 1, sizeof *self->solver_joints);
    self->solver_joint_count = self->row_count = 0;
    self->added_contact_count = self->contact_count;
    for (int i = 0; i < self->joint_count; i++) {
        JointEntry *entry = &self->joints[i];
        bool acts = is_awake(self, entry->body1) || is_awake(self, entry->body2);
        if (i >= self->contact_joint_first) {
            if (acts)
                contact_read(self, entry);
            continue;
        }
        if (acts)
            joint_rows(self, entry, erp, cfm);
        else
            self->solver_joints[self->solver_joint_count++] = (SolverJoint){ entry->body1, entry->body2,
                                                                             self->row_count, 0 };
    }
    // Asleep contact joints took no place among the contacts; keep the two lists beside each other.
    int kept = self->contact_joint_first;
    for (int i = self->contact_joint_first; i < self->joint_count; i++)
        if (is_awake(self, self->joints[i].body1) || is_awake(self, self->joints[i].body2))
            self->joints[kept++] = self->joints[i];
    self->joint_count = kept;
}

static void forces_clear(const SolverOde *self)
{
    for (int i = 0; i < self->awake_count; i++) {
        dBodyID body = self->entries[self->awake[i]].body;
        dBodySetForce(body, 0, 0, 0);
        dBodySetTorque(body, 0, 0, 0);
    }
}

// As in ODE what a callback adds to the forces is lost with those of the step.
static void bodies_call_back(const SolverOde *self)
{
    for (int i = 0; i < self->awake_count; i++) {
        dBodyID body = self->entries[self->awake[i]].body;
        void *pointer = ode_layout_pointer(body, self->inside->moved_callback);
        if (!pointer)
            continue;
        void (*callback)(dBodyID);
        memcpy(&callback, &pointer, sizeof callback);
        callback(body);
    }
    forces_clear(self);
}

typedef struct WriteWork {
    const SolverOde *self;
    atomic_bool has_callbacks;
} WriteWork;

static void write_range(int begin, int end, int worker, void *context)
{
    WriteWork *work = context;
    const SolverOde *self = work->self;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const BodyEntry *entry = &self->entries[self->awake[i]];
        const SolverBody *body = &self->bodies[self->awake[i]];
        // dBodySetQuaternion() would normalise once more.
        memcpy(entry->quaternion, body->quaternion, sizeof body->quaternion);
        for (int k = 0; k < 3; k++)
            memcpy(entry->rotation + 4 * k, body->rotation + 3 * k, 3 * sizeof(double));
        memcpy(entry->position, body->position, 3 * sizeof(double));
        memcpy(entry->linear, body->velocity, 3 * sizeof(double));
        memcpy(entry->angular, body->velocity + 3, 3 * sizeof(double));
        if (body->flags & SOLVER_BODY_STOPPED)
            entry->linear[0] = NAN;  // whoever looks is told, as ODE's own steps tell him
        memset(entry->force, 0, 3 * sizeof(double));
        memset(entry->torque, 0, 3 * sizeof(double));
        if (ode_layout_pointer(entry->body, self->inside->moved_callback))
            atomic_store(&work->has_callbacks, true);
    }
}

static void bodies_write(SolverOde *self)
{
    WriteWork work = { .self = self };
    pool_for(self->pool, self->awake_count, BODY_GRAIN, write_range, &work);
    // This tells the body's geoms that it moved, which the lists of their spaces learn one by one.
    for (int i = 0; i < self->awake_count; i++) {
        const BodyEntry *entry = &self->entries[self->awake[i]];
        dBodySetPosition(entry->body, entry->position[0], entry->position[1], entry->position[2]);
    }
    if (work.has_callbacks)
        bodies_call_back(self);
}

static void feedback_add(dJointFeedback *feedback, const double *j1, const double *j2, double force)
{
    for (int i = 0; i < 3; i++) {
        feedback->f1[i] += j1[i] * force;
        feedback->t1[i] += j1[3 + i] * force;
        feedback->f2[i] += j2[i] * force;
        feedback->t2[i] += j2[3 + i] * force;
    }
}

// As ODE tells it: on each body the force and its moment about the centre of mass, with what rolling friction turns.
static void contact_feedback(const SolverOde *self, int index, dJointFeedback *feedback)
{
    assert_debug(index >= 0 && index < self->contact_count);
    const SolverContact *contact = &self->contacts[index];
    double axes[3][3], forces[6], force[3] = { 0.0 }, turn[3] = { 0.0 };
    const SolverInput input = {
        .dt = self->dt, .contacts = self->contacts, .own_surfaces = self->surfaces, .contact_count = self->contact_count
    };
    solver_contact_axes(contact, &self->surfaces[index], axes);
    solver_contact_forces(self->solver, &input, index, forces);
    static const int rolling_axes[3] = { 1, 2, 0 };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            force[k] += axes[i][k] * forces[i];
            turn[k] += axes[rolling_axes[i]][k] * forces[3 + i];
        }
    for (int side = 0; side < 2; side++) {
        int body = contact->body[side];
        dReal *f = side ? feedback->f2 : feedback->f1, *t = side ? feedback->t2 : feedback->t1;
        if (body < 0)
            continue;
        double sign = side ? -1.0 : 1.0, arm[3];
        for (int k = 0; k < 3; k++)
            arm[k] = (&contact->point.x)[k] - self->bodies[body].position[k];
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            f[k] = sign * force[k];
            t[k] = sign * (arm[a] * force[b] - arm[b] * force[a] + turn[k]);
        }
    }
}

static void joint_feedback(const SolverOde *self, int index, dJointFeedback *feedback)
{
    assert_debug(index >= 0 && index < self->solver_joint_count);
    const SolverJoint *joint = &self->solver_joints[index];
    assert_debug(joint->first_row + joint->row_count <= self->row_count);
    for (int k = 0; k < joint->row_count; k++) {
        const SolverRow *row = &self->rows[joint->first_row + k];
        feedback_add(feedback, row->j1, row->j2, row->force);
    }
}

static void feedback_range(int begin, int end, int worker, void *context)
{
    const SolverOde *self = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const JointEntry *entry = &self->joints[i];
        dJointFeedback *feedback = dJointGetFeedback(entry->joint);
        if (!feedback || !(is_awake(self, entry->body1) || is_awake(self, entry->body2)))
            continue;
        memset(feedback, 0, sizeof *feedback);
        if (i < self->contact_joint_first)
            joint_feedback(self, i, feedback);
        else
            contact_feedback(self, self->added_contact_count + i - self->contact_joint_first, feedback);
    }
}

// Before the bodies move: contact arms are those of the solved step.
static void feedback_write(SolverOde *self)
{
    pool_for(self->pool, self->joint_count, JOINT_GRAIN, feedback_range, self);
}

void solver_ode_finish(SolverOde *self)
{
    dVector3 gravity;
    joints_read(self);
    assert_debug(self->solver_joint_count == self->contact_joint_first);  // beside each other: see feedback
    bodies_read(self);
    self->is_vouched = false;
    // The world is asked in every step, since a plugin may have set any of it. ODE's infinity is our "no limit", 0.
    dWorldGetGravity(self->world, gravity);
    double max_velocity = dWorldGetContactMaxCorrectingVel(self->world);
    SolverInput input = { .dt = self->dt,
                          .gravity = { gravity[0], gravity[1], gravity[2] },
                          .erp = dWorldGetERP(self->world),
                          .cfm = dWorldGetCFM(self->world),
                          .contact_surface_layer = dWorldGetContactSurfaceLayer(self->world),
                          .contact_max_velocity = max_velocity < dInfinity ? max_velocity : 0.0,
                          .bodies = self->bodies,
                          .masses = self->masses,
                          .extras = self->extras,
                          .joints = self->solver_joints,
                          .rows = self->rows,
                          .contacts = self->contacts,
                          .own_surfaces = self->surfaces,
                          .held = self->held,
                          .held_count = self->held_count,
                          .body_count = self->body_count,
                          .joint_count = self->solver_joint_count,
                          .row_count = self->row_count,
                          .contact_count = self->contact_count,
                          .awake = self->awake,
                          .awake_count = self->awake_count };
    // Feedback is of the forces of this step, so it is written before bodies move on.
    solver_solve(self->solver, &input);
    feedback_write(self);
    solver_integrate(self->solver, &input);
    bodies_write(self);
}

void solver_ode_step(SolverOde *self, double dt)
{
    solver_ode_begin(self, dt);
    if (!self->is_vouched && solver_ode_wake_begin(self))
        solver_ode_wake_end(self);
    solver_ode_finish(self);
}

const SolverContact *solver_ode_contacts(const SolverOde *self, int *count)
{
    *count = self->contact_count;
    return self->contacts;
}
