// Any bytes as edits of a running world through the library: every field set to any value, nodes put in and taken out,
// moves, commands, readings, resets, snapshots, clones, saves and reloads, with steps between. Whatever they are, the
// world stays sound: what it says of itself is finite, and what it saves can be loaded again with the same solids.
#include "base/common.h"
#include "run_fuzz.h"
#include "scene/schema.h"
#include "support/any_node.h"
#include "support/everything.h"

#include "talus/talus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    EDITS_MAX = 30,    // of one input, so that each is short
    SOLIDS_MAX = 100,  // more are not put in
    NODES_MAX = 1024,
    NUMBERS_MAX = 64,
};

typedef struct Run {
    TalusWorld *world;
    TalusSnapshot *snapshot;
    bool has_snapshot;
    const uint8_t *data;
    size_t size, at;
} Run;

// ---- what the bytes choose; all zero once they are used up ----

static int take(Run *run, int count)
{
    uint8_t byte = run->at < run->size ? run->data[run->at++] : 0;
    return count > 0 ? byte % count : 0;
}

// Small ones that mean something, and those at which arithmetic breaks.
static double take_number(Run *run)
{
    static const double tempting[] = { 0.0,    -0.0,     1.0,       -1.0,         0.5,           1e-3,         1e-12,
                                       1e-300, 5e-324,   1e3,       1e6,          1e9,           1e12,         1e30,
                                       -1e9,   1e300,    -1e308,    2147483647.0, -2147483648.0, 4294967296.0, 65535.0,
                                       NAN,    INFINITY, -INFINITY, M_PI,         255.0 };
    int choice = take(run, 256);
    return choice < COUNT_OF(tempting) ? tempting[choice] : (choice - 140) / 16.0;
}

static TalusVector take_vector(Run *run)
{
    TalusVector vector = { take_number(run), take_number(run), take_number(run) };
    return vector;
}

typedef struct Nodes {
    TalusNode ids[NODES_MAX];
    int count;
} Nodes;

static void collect(const TalusWorld *world, TalusNode node, Nodes *nodes)
{
    TalusNode children[64];
    int count = talus_children(world, node, children, COUNT_OF(children));
    count = count < COUNT_OF(children) ? count : COUNT_OF(children);
    for (int i = 0; i < count && nodes->count < NODES_MAX; i++) {
        nodes->ids[nodes->count++] = children[i];
        collect(world, children[i], nodes);
    }
}

static TalusNode take_node(Run *run)
{
    Nodes nodes = { .ids = { TALUS_ROOT }, .count = 1 };
    collect(run->world, TALUS_ROOT, &nodes);
    int high = take(run, 4);
    return nodes.ids[(256 * high + take(run, 256)) % nodes.count];
}

static TalusNode take_solid(Run *run)
{
    TalusNode solids[SOLIDS_MAX];
    int count = talus_solids(run->world, solids, SOLIDS_MAX);
    count = count < SOLIDS_MAX ? count : SOLIDS_MAX;
    return count > 0 ? solids[take(run, count)] : TALUS_NONE;
}

static const FieldType *take_field(Run *run, TalusNode node)
{
    const char *name = talus_node_type(run->world, node);
    const NodeType *type = name ? schema_type(name) : NULL;
    return type && type->field_count > 0 ? &type->fields[take(run, type->field_count)] : NULL;
}

// ---- edits ----

static void set_word(Run *run, TalusNode node, const FieldType *field)
{
    static const char *const words[] = { "",     "solid",  "a name", "../../etc/passwd", "\xff\xfe", "\"",
                                         "%s%n", "<none>", "ball" };
    talus_set_string(run->world, node, field->name, words[take(run, COUNT_OF(words))]);
}

static void set_field(Run *run)
{
    TalusNode node = take_node(run);
    const FieldType *field = take_field(run, node);
    if (!field)
        return;
    double numbers[NUMBERS_MAX];
    int count;
    switch (field->kind) {
    case FIELD_SF_BOOL: talus_set_bool(run->world, node, field->name, take(run, 2)); break;
    case FIELD_SF_INT32:
        talus_set_int(run->world, node, field->name, take(run, 2) ? take(run, 9) - 1 : INT32_MAX - take(run, 3));
        break;
    case FIELD_SF_STRING: set_word(run, node, field); break;
    default:
        count = talus_get_numbers(run->world, node, field->name, numbers, NUMBERS_MAX);
        if (field_kind_is_list(field->kind) && take(run, 4) == 0)
            count = take(run, NUMBERS_MAX);
        for (int i = 0; i < count && i < NUMBERS_MAX; i++)
            if (i == 0 || take(run, 2))
                numbers[i] = take_number(run);
            else
                numbers[i] = numbers[i - 1];
        if (count >= 0 && count <= NUMBERS_MAX)
            talus_set_numbers(run->world, node, field->name, numbers, count);
    }
}

static void insert(Run *run, TalusNode parent, const FieldType *field, const char *text, int index)
{
    const char *name = field ? field->name : "children";
    if (getenv("TALUS_SHOW_EDITS"))
        fprintf(stderr, "%s.%s: %s\n", parent == TALUS_ROOT ? "root" : talus_node_type(run->world, parent), name, text);
    talus_insert(run->world, parent, name, index, text);
}

static void insert_row(Run *run)
{
    static const char *const rows[] = {
        "Solid { name \"box\" translation 0 0 2 boundingObject Box { size 0.2 0.3 0.1 } physics Physics { } }",
        "Solid { name \"ball\" boundingObject Sphere { radius 0.1 } physics Physics { mass 1 density -1 } children [ Solid { boundingObject Box { } physics Physics { } } ] }",
        "Robot { name \"r\" children [ GPS { } Camera { width 2 height 2 } TouchSensor { boundingObject Sphere { } } Emitter { } Receiver { } Pen { } Display { width 2 height 2 } ] }",
        "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 minStop -1 maxStop 1 } device [ RotationalMotor { } PositionSensor { } Brake { } ] endPoint Solid { boundingObject Box { } physics Physics { } } }",
        "SliderJoint { device LinearMotor { } endPoint SolidReference { solidName \"stone\" } }",
        "HingeJoint { endPoint SolidReference { solidName \"<static environment>\" } }",
        "Track { device LinearMotor { name \"belt\" } boundingObject Box { } physics Physics { } }",
        "Connector { autoLock TRUE }",
        "Physics { }",
        "Box { size 1 2 3 }",
        "Shape { geometry Mesh { } }",
        "Group { children [ USE STONE ] }",
        "ContactProperties { material1 \"soft\" bounce 1 }",
        "Fluid { boundingObject Sphere { radius 9 } }",
        "Charger { battery [ 1 2 3 ] }",
        "PointSet { coord Coordinate { point [ 0 0 0 1 1 1 ] } }",
        "Transform { scale 2 1 0.001 children [ Shape { geometry Capsule { } } ] }",
        "ElevationGrid { xDimension 2 yDimension 2 height [ 0 1 0 1 ] }",
        "Charger { ",
        "USE BALL",
        "DEF STONE Solid { }",
        "Skin { }",
        "WorldInfo { }",
    };
    TalusNode solids[1], parent = take(run, 2) ? take_node(run) : TALUS_ROOT;
    const FieldType *field = parent == TALUS_ROOT ? NULL : take_field(run, parent);
    if (talus_solids(run->world, solids, 1) >= SOLIDS_MAX)
        return;
    int index = take(run, 4) - 1;  // in this order, whatever compiler
    insert(run, parent, field, rows[take(run, COUNT_OF(rows))], index);
}

static int choose(void *context, int count) { return take(context, count); }

// A node of any type, in a field of another.
static void insert_any(Run *run)
{
    const AnyNode any = { choose, run, 600 };
    TalusNode solids[1], parent = take(run, 2) ? take_node(run) : TALUS_ROOT;
    const FieldType *field = parent == TALUS_ROOT ? NULL : take_field(run, parent);
    Text text = { 0 };
    any_node_add(&text, &any, NULL, field && field_kind_item(field->kind) == FIELD_SF_NODE ? field : NULL);
    if (talus_solids(run->world, solids, 1) < SOLIDS_MAX)
        insert(run, parent, field, text.data ? text.data : "", take(run, 4) - 1);
    text_free(&text);
}

// Text of the input's own.
static void insert_text(Run *run)
{
    char text[160];
    size_t length = 0;
    while (length + 1 < sizeof text && run->at < run->size && run->data[run->at] != '\n')
        text[length++] = (char)run->data[run->at++];
    text[length] = '\0';
    run->at++;
    talus_insert(run->world, take(run, 2) ? take_node(run) : TALUS_ROOT, "children", -1, text);
}

static void remove_node(Run *run) { talus_remove(run->world, take_node(run)); }

static void set_velocity(Run *run, TalusNode solid)
{
    TalusVector linear = take_vector(run), angular = take_vector(run);
    talus_set_velocity(run->world, solid, linear, angular);
}

static void move_solid(Run *run)
{
    TalusNode solid = take_solid(run);
    TalusPose pose = { take_vector(run), { take_number(run), take_number(run), take_number(run), 0.5 } };
    if (take(run, 2))
        talus_set_pose(run->world, solid, pose);
    else
        set_velocity(run, solid);
    talus_add_force_at(run->world, solid, take_vector(run), pose.position);
    if (take(run, 2))
        talus_reset_motion(run->world, solid);
}

static void command_joint(Run *run)
{
    TalusNode joints[64];
    int count = talus_joints(run->world, joints, COUNT_OF(joints));
    if (count <= 0)
        return;
    TalusNode joint = joints[take(run, count < COUNT_OF(joints) ? count : COUNT_OF(joints))];
    int axis = take(run, 3);
    double number = take_number(run);
    switch (take(run, 7)) {
    case 0: talus_motor_set_position(run->world, joint, axis, number); break;
    case 1: talus_motor_set_velocity(run->world, joint, axis, number); break;
    case 2: talus_motor_set_force(run->world, joint, axis, number); break;
    case 3: talus_motor_set_acceleration(run->world, joint, axis, number); break;
    case 4: {
        double integral = take_number(run), derivative = take_number(run);
        talus_motor_set_gains(run->world, joint, axis, number, integral, derivative);
        break;
    }
    case 5: talus_joint_set_position(run->world, joint, axis, number); break;
    default: talus_brake_set_damping(run->world, joint, axis, number);
    }
}

static void use_device(Run *run)
{
    TalusNode devices[64];
    double values[NUMBERS_MAX];
    int count = talus_devices(run->world, TALUS_NONE, devices, COUNT_OF(devices));
    if (count <= 0)
        return;
    TalusNode device = devices[take(run, count < COUNT_OF(devices) ? count : COUNT_OF(devices))];
    talus_device_enable(run->world, device, take(run, 4) * 16);
    talus_device_read(run->world, device, values, NUMBERS_MAX);
    talus_device_switch(run->world, device, take(run, 2));
}

static void step(Run *run) { talus_step(run->world, 1 + take(run, 4)); }
static void reset(Run *run) { talus_reset(run->world); }

static void snapshot(Run *run)
{
    if (run->has_snapshot && take(run, 2))
        talus_snapshot_restore(run->world, run->snapshot);
    else
        talus_snapshot_take(run->world, run->snapshot);
    run->has_snapshot = true;
}

// The run goes on with the clone, and the first goes.
static void clone(Run *run)
{
    TalusWorld *other = talus_clone(run->world);
    if (!other)
        return;
    if (take(run, 2))
        talus_step(run->world, 1);
    talus_free(run->world);
    run->world = other;
}

static void look(Run *run)
{
    TalusContact contacts[8];
    TalusHit hit;
    uint8_t pixels[4 * 4 * 4];
    talus_contacts(run->world, contacts, COUNT_OF(contacts));
    TalusVector from = take_vector(run), to = take_vector(run);
    talus_ray(run->world, from, to, take_number(run), &hit);
    if (take(run, 4) == 0)
        talus_picture(run->world, TALUS_NONE, 4, 4, pixels);
}

// ---- what must hold ----

// A folder of this process, gone again after each input.
static char folder[64], path[80];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/talus-edits-%d", (int)getpid());
    snprintf(path, sizeof path, "%s/world.wbt", folder);
    mkdir(folder, 0700);
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static void print_solids(const TalusWorld *world, const char *when)
{
    TalusNode solids[SOLIDS_MAX];
    int count = talus_solids(world, solids, SOLIDS_MAX);
    for (int i = 0; i < count && i < SOLIDS_MAX; i++)
        fprintf(stderr, "%s: %s %s\n", when, talus_node_type(world, solids[i]), talus_solid_label(world, solids[i]));
}

static void reload(Run *run)
{
    TalusNode solids[1];
    if (talus_failure(run->world))
        return;
    int before = talus_solids(run->world, solids, 1);
    if (!talus_save(run->world, path))
        abort();
    TalusWorld *saved = talus_load(path, &run_fuzz_options);
    if (!saved)
        abort();
    int after = talus_solids(saved, solids, 1);
    if (before != after) {
        fprintf(stderr, "%d solids are saved as %d\n", before, after);
        print_solids(run->world, "before");
        print_solids(saved, "after");
        abort();
    }
    talus_free(run->world);
    run->world = saved;
}

static void (*const edits[])(Run *run) = { set_field,  set_field,     set_field,  insert_row, insert_text, remove_node,
                                           move_solid, command_joint, use_device, step,       step,        reset,
                                           snapshot,   clone,         look,       reload };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Run run = { .data = data, .size = size, .snapshot = talus_snapshot_create() };
    make_folder();
    run.world = talus_load_text("everything.wbt", everything_text, strlen(everything_text), &run_fuzz_options);
    for (int i = 0; i < EDITS_MAX && run.at < run.size; i++) {
        int choice = take(&run, 256);
        if (choice >= 240)
            insert_any(&run);
        else
            edits[choice % COUNT_OF(edits)](&run);
        run_fuzz_check(run.world);
    }
    talus_step(run.world, 2);
    run_fuzz_check(run.world);
    reload(&run);
    talus_step(run.world, 1);
    talus_snapshot_free(run.snapshot);
    talus_free(run.world);
    remove_folder();
    return 0;
}
