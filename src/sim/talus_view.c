// Many numbers of a world at once, for those who embed Talus: items are looked up when a view is made; reading and
// writing goes by index.
#include "sim/view_internal.h"

#include "base/arena.h"
#include "base/memory.h"
#include "physics/joints/motor.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Entries one after the other of the same quantity.
typedef struct ViewRun {
    const Quantity *quantity;
    int first, count;
} ViewRun;

struct TalusView {
    uint64_t number;  // no other view of the process has it
    Arena *arena;
    ViewEntry *entries;
    PhysicsAxisRef *axes;  // beside them, of those that are axes
    ViewRun *runs;
    int entry_count, entry_capacity, axis_count, axis_capacity, run_count, run_capacity;
    TalusChannel *channels;
    int channel_count, channel_capacity;
    int solid_count, joint_count;
    bool is_readable, is_writable;
    bool has_sensors;  // devices come and go beside the tree: such a view is looked at each time
};

// ---- from items to entries ----

typedef struct ViewMaker {
    TalusWorld *world;
    TalusView *view;
    const Quantity *quantity;
    const SceneNode *below;  // with "NAME.*": what the entries stand under
    int found;
} ViewMaker;

static bool is_below(const SceneNode *node, const SceneNode *top)
{
    const SceneNode *at = node;
    while (at && at != top)
        at = scene_parent(at);
    return !top || (at && node != top);
}

// "rad|m": the part of it that holds for the axis.
static const char *unit_of(TalusView *view, const ViewEntry *entry)
{
    assert_debug(entry->quantity && entry->quantity->unit);
    const char *unit = entry->quantity->unit, *bar = strchr(unit, '|');
    if (!bar)
        return unit;
    return entry->is_linear ? bar + 1 : arena_text(view->arena, unit, (size_t)(bar - unit));
}

static void add_channels(ViewMaker *maker, const ViewEntry *entry, const char *label)
{
    assert_debug(entry->count > 0 && entry->quantity);
    TalusView *view = maker->view;
    const Quantity *quantity = entry->quantity;
    memory_grow(&view->channels, &view->channel_capacity, view->channel_count + entry->count, sizeof *view->channels);
    for (int i = 0; i < entry->count; i++) {
        TalusChannel channel = { NULL, unit_of(view, entry), -INFINITY, INFINITY };
        if (quantity->suffixes)
            channel.name = arena_printf(view->arena, "%s %s.%c", quantity->name, label, quantity->suffixes[i]);
        else if (entry->count > 1)
            channel.name = arena_printf(view->arena, "%s %s[%d]", quantity->name, label, i);
        else
            channel.name = arena_printf(view->arena, "%s%s%s", quantity->name, *label ? " " : "", label);
        if (quantity->range)
            quantity->range(maker->world, entry, &channel.low, &channel.high);
        view->channels[view->channel_count++] = channel;
    }
}

static void add_entry(ViewMaker *maker, ViewEntry entry, const char *label)
{
    assert_debug(maker->quantity && label);
    TalusView *view = maker->view;
    entry.quantity = maker->quantity;
    entry.count = maker->quantity->count > 0 ? maker->quantity->count : entry.count;
    const Physics *physics = physics_in(maker->world);
    if (entry.quantity->target == OF_SOLID)
        entry.node = physics_solid_node(physics, entry.index)->id;
    else if (entry.quantity->target == OF_AXIS || entry.quantity->target == OF_MOTOR)
        entry.node = physics_joint_node(physics, entry.index)->id;
    assert_debug(entry.part >= 0 && (entry.quantity->target == OF_SENSOR || entry.part < PHYSICS_JOINT_AXES));
    assert(view->axis_count == view->entry_count);  // they are read side by side
    if (view->run_count == 0 || view->runs[view->run_count - 1].quantity != entry.quantity)
        *memory_push(view->runs, view->run_count, view->run_capacity) = (ViewRun){ entry.quantity, view->entry_count,
                                                                                   0 };
    view->runs[view->run_count - 1].count++;
    *memory_push(view->axes, view->axis_count, view->axis_capacity) = (PhysicsAxisRef){ entry.index, entry.part };
    *memory_push(view->entries, view->entry_count, view->entry_capacity) = entry;
    view->is_readable = view->is_readable && maker->quantity->read;
    view->is_writable = view->is_writable && maker->quantity->write;
    view->has_sensors = view->has_sensors || entry.quantity->target == OF_SENSOR;
    maker->found++;
    add_channels(maker, &entry, label);
}

static void add_solids(ViewMaker *maker)
{
    const Physics *physics = physics_in(maker->world);
    for (int i = 0; i < physics_solid_count(physics); i++)
        if (physics_solid_exists(physics, i) && is_below(physics_solid_node(physics, i), maker->below))
            add_entry(maker, (ViewEntry){ .index = i }, physics_solid_label(physics, i));
}

static bool axis_is_linear(const Physics *physics, int joint, const SceneNode *motor)
{
    PhysicsJointKind kind = physics_joint_kind(physics, joint);
    return kind == PHYSICS_JOINT_SLIDER || kind == PHYSICS_JOINT_TRACK
           || (motor && scene_node_is(motor, "LinearMotor"));
}

static const char *axis_label(ViewMaker *maker, int joint, int axis)
{
    const Physics *physics = physics_in(maker->world);
    assert_debug(axis >= 0 && axis < physics_joint_axis_count(physics, joint));
    const SceneNode *node = physics_joint_node(physics, joint);
    int child = physics_joint_child(physics, joint);
    const char *name = node && node->def ? node->def
                       : child >= 0      ? physics_solid_label(physics, child)
                                         : arena_printf(maker->view->arena, "joint%d", joint);
    return physics_joint_axis_count(physics, joint) > 1 ? arena_printf(maker->view->arena, "%s[%d]", name, axis) : name;
}

static void add_axis(ViewMaker *maker, int joint, int axis)
{
    assert_debug(joint >= 0 && axis >= 0);
    ViewEntry entry = { .index = joint,
                        .part = axis,
                        .is_linear = axis_is_linear(physics_in(maker->world), joint, NULL) };
    add_entry(maker, entry, axis_label(maker, joint, axis));
}

static void add_joint(ViewMaker *maker, int joint)
{
    assert_debug(joint >= 0);
    for (int axis = 0; axis < physics_joint_axis_count(physics_in(maker->world), joint); axis++)
        add_axis(maker, joint, axis);
}

static void add_joints(ViewMaker *maker)
{
    const Physics *physics = physics_in(maker->world);
    for (int i = 0; i < physics_joint_count(physics); i++)
        if (physics_joint_exists(physics, i) && is_below(physics_joint_node(physics, i), maker->below))
            add_joint(maker, i);
}

static bool add_motor(SceneNode *node, void *context)
{
    ViewMaker *maker = context;
    int joint, axis;
    if (!scene_node_is(node, "Motor") || !physics_axis_of(physics_in(maker->world), node, &joint, &axis))
        return true;
    const char *name = scene_string(node, "name");
    ViewEntry entry = { .index = joint,
                        .part = axis,
                        .is_linear = axis_is_linear(physics_in(maker->world), joint, node) };
    add_entry(maker, entry, *name ? name : axis_label(maker, joint, axis));
    return true;
}

// How many numbers a sensor gives is seen by asking one: of a clone, which forgets it.
static int sensor_size(TalusWorld *world, TalusNode device)
{
    TalusWorld *probe = talus_clone(world);
    int period_ms = (int)ceil(1000.0 * talus_time_step(world)), count = 1;
    if (probe && talus_device_enable(probe, device, period_ms) && talus_step(probe, 2)) {
        int read = talus_device_read(probe, device, NULL, 0);
        count = read > 0 ? read : 1;
    }
    talus_free(probe);
    return count;
}

static void add_sensor(ViewMaker *maker, int robot, int tag)
{
    assert_debug(robot >= 0 && tag >= 1);
    const DeviceInfo *info = devices_info(maker->world->devices, robot, tag);
    add_entry(maker,
              (ViewEntry){ .index = robot,
                           .part = tag,
                           .node = devices_robot_serial(maker->world->devices, robot),
                           .count = sensor_size(maker->world, info->node->id) },
              arena_string(maker->view->arena, info->name));
}

static bool find_sensors(ViewMaker *maker, const char *name)
{
    Devices *devices = library_devices(maker->world);
    const char *slash = strchr(name, '/');
    bool is_any = !strcmp(slash ? slash + 1 : name, "*");
    for (int robot = 0; robot < devices_robot_count(devices); robot++) {
        if (!devices_robot_exists(devices, robot))
            continue;
        const SceneNode *node = devices_robot_node(devices, robot);
        const char *its_name = scene_string(node, "name");
        size_t length = slash ? (size_t)(slash - name) : 0;
        bool is_named = slash && strlen(its_name) == length && !strncmp(its_name, name, length);
        bool is_def = slash && node->def && strlen(node->def) == length && !strncmp(node->def, name, length);
        if (slash && !is_named && !is_def)
            continue;
        int wanted = is_any ? 0 : devices_find(devices, robot, slash ? slash + 1 : name);
        for (int tag = 1; tag <= devices_count(devices, robot); tag++)
            if ((is_any && devices_due_image(devices, robot, tag, 0) < 0
                 && strstr(devices_info(devices, robot, tag)->node->type->name, "Motor") == NULL)
                || tag == wanted)
                add_sensor(maker, robot, tag);
        if (wanted > 0)
            break;
    }
    return maker->found > 0 || library_failed("there is no device '%s'", name);
}

static void add_all(ViewMaker *maker)
{
    switch (maker->quantity->target) {
    case OF_SOLID: add_solids(maker); break;
    case OF_AXIS: add_joints(maker); break;
    case OF_MOTOR:
        scene_walk(maker->below ? (SceneNode *)maker->below : scene_root(sim_scene(maker->world->sim)), false,
                   add_motor, maker);
        break;
    default: break;
    }
}

static const SceneNode *node_named(TalusWorld *world, const char *name)
{
    const SceneNode *node = scene_find_def(sim_scene(world->sim), name);
    if (!node)
        node = scene_find_solid(sim_scene(world->sim), name);
    return scene_actual(node);
}

static int solid_labelled(const Physics *physics, const char *label)
{
    for (int i = 0; i < physics_solid_count(physics); i++)
        if (physics_solid_exists(physics, i) && !strcmp(physics_solid_label(physics, i), label))
            return i;
    return -1;
}

static const SceneNode *device_named(TalusWorld *world, const char *name)
{
    TalusNode device = talus_device(world, TALUS_NONE, name);
    return device == TALUS_NONE ? NULL : scene_actual(library_node(world, device));
}

// A name may be that of a solid, a joint, a motor or another device on a joint's axis: people name what they see.
// Devices that were only made to look are freed again, or the world would sample them.
static bool add_one(ViewMaker *maker, const char *name)
{
    Physics *physics = physics_in(maker->world);
    const SceneNode *node = node_named(maker->world, name);
    if (maker->quantity->target == OF_SOLID) {
        int solid = node ? physics_solid_of(physics, node) : solid_labelled(physics, name);
        if (solid < 0)
            return library_failed("there is no solid '%s'", name);
        add_entry(maker, (ViewEntry){ .index = solid }, name);
        return true;
    }
    bool had_devices = maker->world->devices;
    if (!node) {
        node = device_named(maker->world, name);
        if (!had_devices)
            library_devices_free(maker->world);
    }
    if (!node)
        return library_failed("there is no joint, motor or solid '%s'", name);
    int joint, axis;
    if (physics_axis_of(physics, node, &joint, &axis)) {
        if (maker->quantity->target == OF_MOTOR)
            add_motor((SceneNode *)node, maker);
        else
            add_axis(maker, joint, axis);
    } else {
        int solid = physics_solid_of(physics, node);
        joint = solid >= 0 ? physics_solid_joint(physics, solid) : physics_joint_of(physics, node);
        if (joint >= 0 && maker->quantity->target == OF_AXIS)
            add_joint(maker, joint);
        else if (joint >= 0)
            scene_walk(physics_joint_node(physics, joint), false, add_motor, maker);
    }
    return maker->found > 0 || library_failed("'%s' has no %s", name, maker->quantity->name);
}

// "quantity name", "quantity *" for all and "quantity name.*" for all below it; each item must find something, else
// a slip would give a shorter view.
static bool add_item(ViewMaker *maker, const char *item)
{
    if (!item)
        return library_failed("an item of a view is NULL");
    size_t length = strcspn(item, " ");
    const char *name = item + length + strspn(item + length, " ");
    maker->quantity = quantity_find(item, length);
    maker->below = NULL;
    maker->found = 0;
    if (!maker->quantity)
        return library_failed("'%s': there is no quantity '%.*s'", item, (int)length, item);
    if (maker->quantity->target == OF_WORLD) {
        add_entry(maker, (ViewEntry){ 0 }, "");
        return true;
    }
    if (!*name)
        return library_failed("'%s' does not say of what; \"%s *\" means all", item, item);
    if (maker->quantity->target == OF_SENSOR)
        return find_sensors(maker, name);
    size_t end = strlen(name);
    if (!strcmp(name, "*")) {
        add_all(maker);
    } else if (end > 2 && !strcmp(name + end - 2, ".*")) {
        char *top = arena_text(maker->view->arena, name, end - 2);
        maker->below = node_named(maker->world, top);
        if (!maker->below)
            return library_failed("'%s': there is no node '%s'", item, top);
        add_all(maker);
    } else if (!add_one(maker, name)) {
        return false;
    }
    return maker->found > 0 || library_failed("'%s': the world has none", item);
}

TalusView *talus_view_create(TalusWorld *world, const char *const *items, int count)
{
    if (!library_given(world, count > 0 ? (const void *)items : "", "items") || count < 0)
        return NULL;
    static atomic_uint_fast64_t numbers;
    TalusView *view = memory_alloc(sizeof *view);
    view->number = atomic_fetch_add(&numbers, 1) + 1;
    view->arena = arena_create();
    view->is_readable = view->is_writable = true;
    view->solid_count = physics_solid_count(physics_in(world));
    view->joint_count = physics_joint_count(physics_in(world));
    ViewMaker maker = { .world = world, .view = view };
    for (int i = 0; i < count; i++)
        if (!add_item(&maker, items[i])) {
            talus_view_free(view);
            return NULL;
        }
    talus_view_use(world, view);
    return view;
}

void talus_view_free(TalusView *view)
{
    if (!view)
        return;
    arena_destroy(view->arena);
    free(view->entries);
    free(view->axes);
    free(view->runs);
    free(view->channels);
    free(view);
}

bool library_view_is_readable(const TalusView *view) { return view->is_readable; }
bool library_view_has_sensors(const TalusView *view) { return view->has_sensors; }
bool library_view_is_writable(const TalusView *view) { return view->is_writable; }

int talus_view_count(const TalusView *view) { return view ? view->channel_count : 0; }

bool talus_view_channel(const TalusView *view, int index, TalusChannel *channel)
{
    if (!view || index < 0 || index >= view->channel_count)
        return library_failed("a view has no channel %d", index);
    if (channel)
        *channel = view->channels[index];
    return true;
}

// ---- reading and writing ----

static bool entry_fits(const TalusWorld *world, const ViewEntry *entry)
{
    const Physics *physics = physics_in(world);
    switch (entry->quantity->target) {
    case OF_SOLID:
        return physics_solid_exists(physics, entry->index)
               && physics_solid_node(physics, entry->index)->id == entry->node;
    case OF_AXIS:
    case OF_MOTOR:
        return physics_joint_exists(physics, entry->index)
               && physics_joint_node(physics, entry->index)->id == entry->node;
    case OF_SENSOR:
        return world->devices && entry->index < devices_robot_count(world->devices)
               && devices_robot_exists(world->devices, entry->index)
               && devices_robot_serial(world->devices, entry->index) == entry->node
               && entry->part <= devices_count(world->devices, entry->index);
    default: return true;
    }
}

// What fitted once does so until the tree changes: then nothing is known any more.
static inline bool is_known_to_fit(const TalusWorld *world, const TalusView *view)
{
    if (world->fits_tree != sim_tree_version(world->sim))
        return false;
    for (int i = 0; i < LIBRARY_VIEWS; i++)
        if (world->fitting[i] == view->number)
            return true;
    return false;
}

static void remember_fit(TalusWorld *world, const TalusView *view)
{
    assert_debug(view->number > 0 && !view->has_sensors);
    uint64_t tree = sim_tree_version(world->sim);
    if (world->fits_tree != tree)
        memset(world->fitting, 0, sizeof world->fitting);
    world->fits_tree = tree;
    memmove(world->fitting + 1, world->fitting, sizeof world->fitting - sizeof *world->fitting);
    world->fitting[0] = view->number;
}

static bool find_fit(TalusWorld *world, const TalusView *view)
{
    bool fits = physics_solid_count(physics_in(world)) >= view->solid_count
                && physics_joint_count(physics_in(world)) >= view->joint_count;
    for (int i = 0; fits && i < view->entry_count; i++)
        fits = entry_fits(world, &view->entries[i]);
    if (fits && !view->has_sensors)
        remember_fit(world, view);
    return fits || library_failed("the view does not fit: nodes of the world were added or removed since it was made");
}

static inline bool view_fits(TalusWorld *world, const TalusView *view)
{
    if (!world || !view)
        return library_given(world, view, "view");
    return is_known_to_fit(world, view) || find_fit(world, view);
}

bool talus_view_use(TalusWorld *world, const TalusView *view)
{
    if (!library_given(world, view, "view"))
        return false;
    int period_ms = (int)ceil(1000.0 * talus_time_step(world));
    for (int i = 0; i < view->entry_count; i++) {
        const ViewEntry *entry = &view->entries[i];
        if (entry->quantity->target == OF_SENSOR)
            library_devices(world);
        if (!entry_fits(world, entry))
            return view_fits(world, view);
        if (entry->quantity->wants_forces)
            physics_want_contact_forces(physics_in(world), true);
        if (entry->quantity->wants_effort)
            physics_motor_want_feedback(physics_in(world), entry->index, true);
        if (entry->quantity->target == OF_SENSOR && devices_period(world->devices, entry->index, entry->part, 0) == 0)
            devices_enable(world->devices, entry->index, entry->part, 0, period_ms);
    }
    return true;
}

bool talus_view_read(TalusWorld *world, const TalusView *view, double *values)
{
    if (!view_fits(world, view) || (!values && !library_given(world, values, "values")))
        return false;
    if (!view->is_readable)
        return library_failed("an item of the view is only written");
    for (int r = 0; r < view->run_count; r++) {
        const ViewRun *run = &view->runs[r];
        if (run->quantity->read_axes) {
            assert_debug(run->quantity->count == 1 && run->first + run->count <= view->axis_count);
            run->quantity->read_axes(physics_in(world), view->axes + run->first, run->count, values);
            values += run->count;
            continue;
        }
        for (int i = run->first; i < run->first + run->count; i++) {
            run->quantity->read(world, &view->entries[i], values);
            values += view->entries[i].count;
        }
    }
    return true;
}

static bool values_are_numbers(const TalusView *view, const double *values)
{
    for (int i = 0; i < view->channel_count; i++)
        if (isnan(values[i]))
            return library_failed("number %d, %s, is not a number", i, view->channels[i].name);
    return true;
}

bool talus_view_write(TalusWorld *world, const TalusView *view, const double *values)
{
    if (!view_fits(world, view) || (!values && !library_given(world, values, "values")))
        return false;
    if (!view->is_writable)
        return library_failed("an item of the view is only read");
    if (!values_are_numbers(view, values))
        return false;
    for (int r = 0; r < view->run_count; r++) {
        const ViewRun *run = &view->runs[r];
        if (run->quantity->write_axes) {
            assert_debug(run->quantity->count == 1 && run->first + run->count <= view->axis_count);
            run->quantity->write_axes(physics_in(world), view->axes + run->first, run->count, values);
            values += run->count;
            continue;
        }
        for (int i = run->first; i < run->first + run->count; i++) {
            run->quantity->write(world, &view->entries[i], values);
            values += view->entries[i].count;
        }
    }
    return true;
}
