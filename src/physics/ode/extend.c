// extend.c - joints of ODE's with what Webots' ODE adds: a method table of their own in which the methods that give
// rows are ours.
#include "physics/ode/extend.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_HEAD 2  // offset to the top and type information stand before the methods
#define TABLE_MAX 40
#define LMOTOR_AXES 3

// A joint's method table as ODE has it, and where the methods of interest are in it.
typedef struct MethodTable {
    dJointType type;
    const char *name;  // as the compiler writes it
    const void *const *entries;
    int count;
    int finish, destroy, info1, info2;
} MethodTable;

static MethodTable tables[] = {
    { .type = dJointTypeHinge, .name = "12dxJointHinge" },
    { .type = dJointTypeHinge2, .name = "13dxJointHinge2" },
    { .type = dJointTypeLMotor, .name = "13dxJointLMotor" },
};
static const char *problem;

// What a joint has beyond ODE. Its method table is part of it, so the joint itself leads to it.
typedef struct Extra {
    const MethodTable *original;
    dBodyID frame;          // what the axis is fixed to; never followed
    Vec3 axis, world_axis;  // in the frame, and as last seen in the world
    double erp, cfm;        // of a hinge; NAN: the world's
    double position[LMOTOR_AXES];
    bool has_position[LMOTOR_AXES];
    const void *table[TABLE_MAX];
} Extra;

// ---- ODE's tables ----

static int find_method(const MethodTable *table, const char *method)
{
    assert_debug(table->entries && table->count <= TABLE_MAX);
    char symbol[128];
    snprintf(symbol, sizeof symbol, "_ZN%s%s", table->name, method);
    const void *wanted = dlsym(RTLD_DEFAULT, symbol);
    for (int i = TABLE_HEAD; wanted && i < table->count; i++)
        if (table->entries[i] == wanted)
            return i;
    return -1;
}

static const char *measure_table(MethodTable *table)
{
    char symbol[128];
    snprintf(symbol, sizeof symbol, "_ZTV%s", table->name);
    void *found = dlsym(RTLD_DEFAULT, symbol);
    Dl_info place;
    void *entry = NULL;
    if (!found || !dladdr1(found, &place, &entry, RTLD_DL_SYMENT) || !entry)
        return "it does not export the method tables of its joints";
    table->entries = found;
    table->count = (int)(((const ElfW(Sym) *)entry)->st_size / sizeof(void *));
    if (table->count > TABLE_MAX)
        return "the method tables of its joints are longer than expected";
    table->finish = find_method(table, "D1Ev");
    table->destroy = find_method(table, "D0Ev");
    table->info1 = find_method(table, "8getInfo1EPN7dxJoint5Info1E");
    table->info2 = find_method(table, "8getInfo2EddiPdS0_iS0_S0_Pi");
    bool all = table->finish > 0 && table->destroy > 0 && table->info1 > 0 && table->info2 > 0;
    return all ? NULL : "the methods of its joints are not where they were expected";
}

static void measure(void)
{
    for (int i = 0; i < COUNT_OF(tables) && !problem; i++)
        problem = measure_table(&tables[i]);
}

const char *odeextra_problem(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, measure);
    return problem;
}

// ---- extended joints ----

static void finish_extended(dJointID joint);
static void destroy_extended(dJointID joint);
static void suspended_info2(dJointID joint, double fps, double erp, int row_skip, double *j1, double *j2, int pair_skip,
                            double *rhs_cfm, double *lo_hi, int *findex);
static void stopped_info1(dJointID joint, OdeJointInfo *info);
static void stopped_info2(dJointID joint, double fps, double erp, int row_skip, double *j1, double *j2, int pair_skip,
                          double *rhs_cfm, double *lo_hi, int *findex);

typedef void (*Destructor)(dJointID joint);

static const void *destructor_address(Destructor function)
{
    const void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

static const void *info1_address(OdeGetInfo1 function)
{
    const void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

static const void *info2_address(OdeGetInfo2 function)
{
    const void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

static Extra *inside_of(dJointID joint)
{
    char *methods = ode_layout_pointer(joint, 0);
    assert_debug(methods);
    return (Extra *)(methods - TABLE_HEAD * (int)sizeof(void *) - (int)offsetof(Extra, table));
}

static const MethodTable *table_of(dJointID joint)
{
    assert_debug(joint);
    dJointType type = dJointGetType(joint);
    for (int i = 0; i < COUNT_OF(tables); i++)
        if (tables[i].type == type)
            return &tables[i];
    return NULL;
}

static Extra *extra_of(dJointID joint)
{
    const MethodTable *table = odeextra_problem() ? NULL : table_of(joint);
    if (!table)
        return NULL;
    const void *method = ode_layout_pointer(ode_layout_pointer(joint, 0),
                                            (table->destroy - TABLE_HEAD) * (int)sizeof(void *));
    return method == destructor_address(destroy_extended) ? inside_of(joint) : NULL;
}

static dBodyID frame_of(dJointID joint)
{
    dBodyID first = dJointGetBody(joint, 0);
    return first ? first : dJointGetBody(joint, 1);
}

static Vec3 to_world(dBodyID frame, Vec3 axis)
{
    dVector3 turned = { axis.x, axis.y, axis.z };
    if (frame)
        dBodyVectorToWorld(frame, axis.x, axis.y, axis.z, turned);
    return vec3(turned[0], turned[1], turned[2]);
}

static Vec3 from_world(dBodyID frame, Vec3 axis)
{
    dVector3 turned = { axis.x, axis.y, axis.z };
    if (frame)
        dBodyVectorFromWorld(frame, axis.x, axis.y, axis.z, turned);
    return vec3(turned[0], turned[1], turned[2]);
}

static void place_axis(Extra *extra, dJointID joint, Vec3 world)
{
    extra->frame = frame_of(joint);
    extra->axis = from_world(extra->frame, world);
    extra->world_axis = world;
}

// A joint that was attached to other bodies keeps the direction it had in the world, as ODE's own axes do.
static Vec3 axis_now(Extra *extra, dJointID joint)
{
    if (extra->frame != frame_of(joint))
        place_axis(extra, joint, extra->world_axis);
    extra->world_axis = to_world(extra->frame, extra->axis);
    return extra->world_axis;
}

static Vec3 first_axis(dJointID joint)
{
    dVector3 axis = { 1.0, 0.0, 0.0 };
    if (dJointGetType(joint) == dJointTypeHinge2)
        dJointGetHinge2Axis1(joint, axis);
    else
        return to_world(frame_of(joint), vec3(1, 0, 0));
    return vec3(axis[0], axis[1], axis[2]);
}

static Extra *extend(dJointID joint)
{
    Extra *extra = extra_of(joint);
    if (extra)
        return extra;
    const MethodTable *table = odeextra_problem() ? NULL : table_of(joint);
    if (!table)
        return NULL;
    assert(table->count <= TABLE_MAX && table->finish != table->destroy);
    extra = memory_alloc(sizeof *extra);
    extra->original = table;
    memcpy(extra->table, table->entries, (size_t)table->count * sizeof *table->entries);
    extra->table[table->finish] = destructor_address(finish_extended);
    extra->table[table->destroy] = destructor_address(destroy_extended);
    if (table->type == dJointTypeLMotor) {
        extra->table[table->info1] = info1_address(stopped_info1);
        extra->table[table->info2] = info2_address(stopped_info2);
    } else {
        extra->table[table->info2] = info2_address(suspended_info2);
        extra->erp = extra->cfm = NAN;
        place_axis(extra, joint, first_axis(joint));
    }
    const void *methods = extra->table + TABLE_HEAD;
    memcpy((void *)joint, &methods, sizeof methods);
    return extra;
}

// The end of a joint: it becomes ODE's own again and ends as such.
static void end_extended(dJointID joint, bool is_freed)
{
    Extra *extra = inside_of(joint);
    assert_debug(extra->original == table_of(joint));  // the memory is that of an extended joint
    const MethodTable *table = extra->original;
    const void *methods = table->entries + TABLE_HEAD;
    memcpy((void *)joint, &methods, sizeof methods);
    free(extra);
    Destructor destructor;
    memcpy(&destructor, &table->entries[is_freed ? table->destroy : table->finish], sizeof destructor);
    destructor(joint);
}

static void finish_extended(dJointID joint) { end_extended(joint, false); }

static void destroy_extended(dJointID joint) { end_extended(joint, true); }

static OdeGetInfo2 original_info2(const Extra *extra)
{
    assert_debug(extra->original && extra->original->info2 >= TABLE_HEAD);
    OdeGetInfo2 function;
    memcpy(&function, &extra->original->entries[extra->original->info2], sizeof function);
    return function;
}

bool odeextra_methods(dJointID joint, OdeGetInfo1 *info1, OdeGetInfo2 *info2)
{
    const Extra *extra = extra_of(joint);
    if (!extra)
        return false;
    memcpy(info1, &extra->table[extra->original->info1], sizeof *info1);
    memcpy(info2, &extra->table[extra->original->info2], sizeof *info2);
    return true;
}

// ---- suspension ----

static Vec3 joint_point(dJointID joint, void (*get_hinge)(dJointID, dVector3), void (*get_hinge2)(dJointID, dVector3))
{
    assert_debug(dJointGetType(joint) == dJointTypeHinge || dJointGetType(joint) == dJointTypeHinge2);
    dVector3 point;
    (dJointGetType(joint) == dJointTypeHinge ? get_hinge : get_hinge2)(joint, point);
    return vec3(point[0], point[1], point[2]);
}

// From the anchor on the body that ODE has first to that on the other.
static Vec3 anchor_gap(dJointID joint)
{
    Vec3 first = joint_point(joint, dJointGetHingeAnchor, dJointGetHinge2Anchor);
    Vec3 second = joint_point(joint, dJointGetHingeAnchor2, dJointGetHinge2Anchor2);
    return dJointGetBody(joint, 0) ? vec3_sub(second, first) : vec3_sub(first, second);
}

// Three rows that hold a point, along other axes: each is a sum of the old ones.
static void turn_rows(double *rows, int skip, double parts[3][3])
{
    double old[3][6];
    for (int i = 0; i < 3; i++)
        memcpy(old[i], rows + i * skip, sizeof old[i]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 6; k++)
            rows[i * skip + k] = parts[i][0] * old[0][k] + parts[i][1] * old[1][k] + parts[i][2] * old[2][k];
}

// The first three rows hold the anchors together. They are laid along the suspension, with its softness, and across it.
// The anchor on the other body may be far along the axis: what holds it across acts on the first body there, not at its
// own anchor.
static void suspended_info2(dJointID joint, double fps, double erp, int row_skip, double *j1, double *j2, int pair_skip,
                            double *rhs_cfm, double *lo_hi, int *findex)
{
    assert_debug(row_skip >= 6 && pair_skip >= 2);
    Extra *extra = inside_of(joint);
    original_info2(extra)(joint, fps, erp, row_skip, j1, j2, pair_skip, rhs_cfm, lo_hi, findex);
    bool is_hinge = extra->original->type == dJointTypeHinge;
    double soft_erp = is_hinge ? extra->erp : dJointGetHinge2Param(joint, dParamSuspensionERP);
    double soft_cfm = is_hinge ? extra->cfm : dJointGetHinge2Param(joint, dParamSuspensionCFM);
    soft_erp = isnan(soft_erp) ? erp : soft_erp;
    Vec3 axes[3], gap = anchor_gap(joint);
    axes[0] = axis_now(extra, joint);
    dVector3 along = { axes[0].x, axes[0].y, axes[0].z }, p, q;
    dPlaneSpace(along, p, q);
    axes[1] = vec3(p[0], p[1], p[2]);
    axes[2] = vec3(q[0], q[1], q[2]);
    double parts[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            parts[i][k] = vec3_dot(axes[i], vec3(j1[k * row_skip], j1[k * row_skip + 1], j1[k * row_skip + 2]));
    turn_rows(j1, row_skip, parts);
    if (dJointGetBody(joint, 0) && dJointGetBody(joint, 1))
        turn_rows(j2, row_skip, parts);
    for (int i = 0; i < 3; i++) {
        Vec3 turn = vec3_cross(gap, axes[i]);
        double *angular = j1 + i * row_skip + 3;
        angular[0] += turn.x, angular[1] += turn.y, angular[2] += turn.z;
        rhs_cfm[i * pair_skip] = fps * (i == 0 ? soft_erp : erp) * vec3_dot(axes[i], gap);
    }
    if (!isnan(soft_cfm))
        rhs_cfm[1] = soft_cfm;
}

bool odeextra_set_suspension_axis(dJointID joint, Vec3 axis)
{
    double length = vec3_length(axis);
    Extra *extra = length > 0.0 && isfinite(length) ? extend(joint) : NULL;
    if (extra)
        place_axis(extra, joint, vec3_scale(axis, 1.0 / length));
    return extra != NULL;
}

Vec3 odeextra_suspension_axis(dJointID joint)
{
    Extra *extra = extra_of(joint);
    return extra ? axis_now(extra, joint) : first_axis(joint);
}

bool odeextra_set_hinge_suspension(dJointID hinge, int parameter, double value)
{
    Extra *extra = isfinite(value) ? extend(hinge) : NULL;
    if (extra)
        *(parameter == dParamSuspensionERP ? &extra->erp : &extra->cfm) = value;
    return extra != NULL;
}

double odeextra_hinge_suspension(dJointID hinge, int parameter)
{
    bool is_erp = parameter == dParamSuspensionERP;
    const Extra *extra = extra_of(hinge);
    double value = !extra ? NAN : is_erp ? extra->erp : extra->cfm;
    dBodyID body = frame_of(hinge);
    if (!isnan(value) || !body)
        return isnan(value) ? 0.0 : value;
    return is_erp ? dWorldGetERP(dBodyGetWorld(body)) : dWorldGetCFM(dBodyGetWorld(body));
}

// ---- positions of a linear motor ----

static double motor_param(dJointID motor, int axis, int parameter)
{
    assert_debug(axis >= 0 && axis < LMOTOR_AXES);
    return dJointGetLMotorParam(motor, parameter + axis * dParamGroup);
}

// Like the limits of ODE's other joints: -1 at the low stop, 1 at the high one, 0 between them.
static int stop_at(const Extra *extra, dJointID motor, int axis)
{
    assert_debug(extra->original->type == dJointTypeLMotor);
    double low = motor_param(motor, axis, dParamLoStop), high = motor_param(motor, axis, dParamHiStop);
    if (!extra->has_position[axis] || low > high)
        return 0;
    return extra->position[axis] <= low ? -1 : extra->position[axis] >= high ? 1 : 0;
}

// ODE gives a row to powered axes only: one at a stop counts as powered while it is asked.
static void power_stopped(const Extra *extra, dJointID motor, double powers[LMOTOR_AXES])
{
    assert(dJointGetLMotorNumAxes(motor) <= LMOTOR_AXES);
    for (int i = 0; i < dJointGetLMotorNumAxes(motor); i++) {
        powers[i] = motor_param(motor, i, dParamFMax);
        if (powers[i] <= 0.0 && stop_at(extra, motor, i))
            dJointSetLMotorParam(motor, dParamFMax + i * dParamGroup, 1.0);
    }
}

static void power_back(dJointID motor, const double powers[LMOTOR_AXES])
{
    for (int i = 0; i < dJointGetLMotorNumAxes(motor); i++)
        dJointSetLMotorParam(motor, dParamFMax + i * dParamGroup, powers[i]);
}

static void stopped_info1(dJointID joint, OdeJointInfo *info)
{
    const Extra *extra = inside_of(joint);
    double powers[LMOTOR_AXES];
    OdeGetInfo1 original;
    memcpy(&original, &extra->original->entries[extra->original->info1], sizeof original);
    power_stopped(extra, joint, powers);
    original(joint, info);
    power_back(joint, powers);
}

// The row of an axis at a stop. Both stops at one place are a spring and damper by their ERP and CFM, and a motor does
// nothing there; at one of two stops a motor still drives away from it, and the stop holds what it cannot.
static void stop_row(const Extra *extra, dJointID motor, int axis, double power, double fps, double *rhs_cfm,
                     double *lo_hi)
{
    int side = stop_at(extra, motor, axis);
    assert_debug(side != 0);  // asked of an axis at a stop alone
    double low = motor_param(motor, axis, dParamLoStop), high = motor_param(motor, axis, dParamHiStop);
    double back = fps * motor_param(motor, axis, dParamStopERP) * ((side < 0 ? low : high) - extra->position[axis]);
    double velocity = motor_param(motor, axis, dParamVel);
    bool leaves = power > 0.0 && low < high && (side < 0 ? velocity > back : velocity < back);
    if (leaves)
        return;
    double force = low < high ? power : dInfinity;
    rhs_cfm[0] = back;
    rhs_cfm[1] = motor_param(motor, axis, dParamStopCFM);
    lo_hi[0] = side < 0 ? -force : -dInfinity;
    lo_hi[1] = side < 0 ? dInfinity : force;
}

static void stopped_info2(dJointID joint, double fps, double erp, int row_skip, double *j1, double *j2, int pair_skip,
                          double *rhs_cfm, double *lo_hi, int *findex)
{
    const Extra *extra = inside_of(joint);
    double powers[LMOTOR_AXES];
    power_stopped(extra, joint, powers);
    original_info2(extra)(joint, fps, erp, row_skip, j1, j2, pair_skip, rhs_cfm, lo_hi, findex);
    power_back(joint, powers);
    int row = 0;
    for (int i = 0; i < dJointGetLMotorNumAxes(joint); i++) {
        bool is_stopped = stop_at(extra, joint, i) != 0;
        if (is_stopped)
            stop_row(extra, joint, i, powers[i], fps, rhs_cfm + row * pair_skip, lo_hi + row * pair_skip);
        row += is_stopped || powers[i] > 0.0;
    }
}

bool odeextra_set_lmotor_position(dJointID motor, int axis, double position)
{
    Extra *extra = axis >= 0 && axis < LMOTOR_AXES && isfinite(position) ? extend(motor) : NULL;
    if (!extra)
        return false;
    extra->position[axis] = position;
    extra->has_position[axis] = true;
    return true;
}

double odeextra_lmotor_position(dJointID motor, int axis)
{
    const Extra *extra = axis >= 0 && axis < LMOTOR_AXES ? extra_of(motor) : NULL;
    return extra ? extra->position[axis] : 0.0;
}
