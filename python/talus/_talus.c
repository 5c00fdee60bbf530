/* _talus.c - the library for Python: handles, numbers and buffers, on the stable ABI, so that one build serves every
 * Python from 3.11 on. What people call is written in Python around it (__init__.py). Blocks of batches are given out
 * through the buffer protocol: NumPy sees the library's own memory. The interpreter is free for other threads while
 * worlds are stepped or pictures are made; a handle that is in use on another thread refuses, as one thread at a time
 * works on a world. */
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <talus/batch.h>
#include <talus/controllers.h>
#include <talus/record.h>
#include <talus/talus.h>
#include <time.h>

static PyObject *error_type;

typedef enum HandleKind { HANDLE_WORLD, HANDLE_SNAPSHOT, HANDLE_VIEW, HANDLE_BATCH } HandleKind;
static const char *const handle_names[] = { "world", "snapshot", "view", "batch" };
static const char capsule_name[] = "talus._talus.handle";

/* What a capsule points to. */
typedef struct Handle {
    HandleKind kind;
    void *object;
    PyObject *keeper; /* of a world in a batch: the batch, which owns it; else NULL */
    int is_busy;      /* with the interpreter's lock given up */
} Handle;

static PyObject *fail(void)
{
    if (!PyErr_Occurred()) {
        const char *reason = talus_last_error();
        PyErr_SetString(error_type, *reason ? reason : "the library refused, and did not say why");
    }
    return NULL;
}

static PyObject *done(bool is_fine)
{
    if (!is_fine)
        return fail();
    Py_RETURN_NONE;
}

/* ---- handles ---- */

static void object_free(HandleKind kind, void *object)
{
    switch (kind) {
    case HANDLE_WORLD: talus_free(object); break;
    case HANDLE_SNAPSHOT: talus_snapshot_free(object); break;
    case HANDLE_VIEW: talus_view_free(object); break;
    case HANDLE_BATCH: talus_batch_free(object); break;
    }
}

static void handle_free(PyObject *capsule)
{
    Handle *handle = PyCapsule_GetPointer(capsule, capsule_name);
    if (!handle)
        return;
    if (!handle->keeper)
        object_free(handle->kind, handle->object);
    Py_XDECREF(handle->keeper);
    free(handle);
}

static PyObject *handle_new(HandleKind kind, void *object, PyObject *keeper)
{
    if (!object)
        return fail();
    Handle *handle = calloc(1, sizeof *handle);
    if (handle)
        *handle = (Handle){ kind, object, keeper, 0 };
    PyObject *capsule = handle ? PyCapsule_New(handle, capsule_name, handle_free) : PyErr_NoMemory();
    if (capsule) {
        Py_XINCREF(keeper);
        return capsule;
    }
    if (!keeper)
        object_free(kind, object);
    free(handle);
    return NULL;
}

/* Who is busy when the handle is: a world in a batch is one with it, since each look at it is a handle of its own. */
static Handle *owner_of(Handle *handle)
{
    return handle->keeper ? PyCapsule_GetPointer(handle->keeper, capsule_name) : handle;
}

static Handle *handle_of(PyObject *object, HandleKind kind)
{
    Handle *handle = PyCapsule_IsValid(object, capsule_name) ? PyCapsule_GetPointer(object, capsule_name) : NULL;
    if (!handle || handle->kind != kind) {
        PyErr_Format(PyExc_TypeError, "this is no %s", handle_names[kind]);
        return NULL;
    }
    if (owner_of(handle)->is_busy) {
        PyErr_Format(error_type, "the %s is in use on another thread: one at a time works on it", handle_names[kind]);
        return NULL;
    }
    return handle;
}

static int to_world(PyObject *object, void *to)
{
    Handle *handle = handle_of(object, HANDLE_WORLD);
    if (handle)
        *(TalusWorld **)to = handle->object;
    return handle != NULL;
}

static int to_view(PyObject *object, void *to)
{
    Handle *handle = handle_of(object, HANDLE_VIEW);
    if (handle)
        *(TalusView **)to = handle->object;
    return handle != NULL;
}

static int to_snapshot(PyObject *object, void *to)
{
    Handle *handle = handle_of(object, HANDLE_SNAPSHOT);
    if (handle)
        *(TalusSnapshot **)to = handle->object;
    return handle != NULL;
}

static int to_batch(PyObject *object, void *to)
{
    Handle *handle = handle_of(object, HANDLE_BATCH);
    if (handle)
        *(TalusBatch **)to = handle->object;
    return handle != NULL;
}

/* ---- words and numbers ---- */

static PyObject *text_or_none(const char *text)
{
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_FromString(text);
}

static PyObject *node_or_none(TalusNode node)
{
    if (node == TALUS_NONE)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLong(node);
}

static int to_node(PyObject *object, void *to)
{
    unsigned long value = TALUS_NONE;
    if (object != Py_None) {
        value = PyLong_AsUnsignedLong(object);
        if (PyErr_Occurred())
            return 0;
    }
    *(TalusNode *)to = value > TALUS_NONE ? TALUS_NONE : (TalusNode)value;
    return 1;
}

/* A list of strings as C has it: freed by the caller, while the list lives. NULL with an exception. */
static const char **texts_of(PyObject *list, int *count)
{
    Py_ssize_t size = PyList_Check(list) ? PyList_Size(list) : -1;
    if (size < 0) {
        PyErr_SetString(PyExc_TypeError, "a list of strings is wanted");
        return NULL;
    }
    const char **texts = calloc((size_t)size + 1, sizeof *texts);
    for (Py_ssize_t i = 0; texts && i < size; i++) {
        PyObject *item = PyList_GetItem(list, i);
        texts[i] = PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        if (!texts[i]) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "a list of strings is wanted");
            free(texts);
            return NULL;
        }
    }
    *count = (int)size;
    return texts ? texts : (const char **)PyErr_NoMemory();
}

static PyObject *nodes_of(const TalusNode *nodes, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++)
        PyList_SetItem(list, i, PyLong_FromUnsignedLong(nodes[i]));
    return list;
}

/* ---- worlds ---- */

static PyObject *load(PyObject *self, PyObject *arguments)
{
    (void)self;
    const char *name, *text, *stepper;
    Py_ssize_t size = 0;
    PyObject *paths, *seed;
    int threads, is_untrusted, freezes, count = 0;
    if (!PyArg_ParseTuple(arguments, "sz#ziOOpp", &name, &text, &size, &stepper, &threads, &seed, &paths, &is_untrusted,
                          &freezes))
        return NULL;
    TalusOptions options = talus_options_defaults();
    options.stepper = stepper;
    options.threads = threads;
    options.is_untrusted = is_untrusted;
    options.freezes_on_nan = freezes;
    options.has_seed = seed != Py_None;
    if (options.has_seed)
        options.seed = PyLong_AsUnsignedLongLong(seed);
    const char **searched = PyErr_Occurred() ? NULL : texts_of(paths, &count);
    if (!searched)
        return NULL;
    options.search_paths = searched;
    TalusWorld *world;
    Py_BEGIN_ALLOW_THREADS world = text ? talus_load_text(name, text, (size_t)size, &options)
                                        : talus_load(name, &options);
    Py_END_ALLOW_THREADS free(searched);
    return handle_new(HANDLE_WORLD, world, NULL);
}

static PyObject *clone(PyObject *self, PyObject *object)
{
    (void)self;
    TalusWorld *world;
    return to_world(object, &world) ? handle_new(HANDLE_WORLD, talus_clone(world), NULL) : NULL;
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Steps in pieces of about 50 ms, so that Ctrl-C is heard between them. */
static PyObject *step(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *object;
    long long steps;
    if (!PyArg_ParseTuple(arguments, "OL", &object, &steps))
        return NULL;
    Handle *handle = handle_of(object, HANDLE_WORLD);
    if (!handle)
        return NULL;
    if (steps < 0) {
        PyErr_SetString(PyExc_ValueError, "a world cannot make a negative number of steps");
        return NULL;
    }
    bool goes_on = true;
    while (goes_on && steps > 0) {
        owner_of(handle)->is_busy = 1;
        Py_BEGIN_ALLOW_THREADS for (double end = seconds() + 0.05; goes_on && steps > 0 && seconds() < end; steps--)
            goes_on = talus_step(handle->object, 1);
        Py_END_ALLOW_THREADS owner_of(handle)->is_busy = 0;
        if (PyErr_CheckSignals())
            return NULL;
    }
    return done(goes_on);
}

static PyObject *state_of(PyObject *self, PyObject *object)
{
    (void)self;
    TalusWorld *world;
    if (!to_world(object, &world))
        return NULL;
    return Py_BuildValue("dKdz", talus_time(world), (unsigned long long)talus_steps(world), talus_time_step(world),
                         talus_failure(world));
}

static PyObject *hash_of(PyObject *self, PyObject *object)
{
    (void)self;
    TalusWorld *world;
    return to_world(object, &world) ? PyLong_FromUnsignedLongLong(talus_hash(world)) : NULL;
}

static PyObject *reset(PyObject *self, PyObject *object)
{
    (void)self;
    TalusWorld *world;
    return to_world(object, &world) ? done(talus_reset(world)) : NULL;
}

static PyObject *save(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    const char *path;
    return PyArg_ParseTuple(arguments, "O&s", to_world, &world, &path) ? done(talus_save(world, path)) : NULL;
}

static PyObject *snapshot(PyObject *self, PyObject *object)
{
    (void)self;
    TalusWorld *world;
    if (!to_world(object, &world))
        return NULL;
    TalusSnapshot *taken = talus_snapshot_create();
    talus_snapshot_take(world, taken);
    return handle_new(HANDLE_SNAPSHOT, taken, NULL);
}

static PyObject *restore(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    TalusSnapshot *taken;
    return PyArg_ParseTuple(arguments, "O&O&", to_world, &world, to_snapshot, &taken)
               ? done(talus_snapshot_restore(world, taken))
               : NULL;
}

static PyObject *snapshot_file(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    const char *path;
    int is_read;
    if (!PyArg_ParseTuple(arguments, "O&sp", to_world, &world, &path, &is_read))
        return NULL;
    return done(is_read ? talus_snapshot_read(world, path) : talus_snapshot_write(world, path));
}

static PyObject *diagnostics(PyObject *self, PyObject *object)
{
    (void)self;
    TalusWorld *world;
    static const char *const severities[] = { "note", "warning", "error" };
    if (!to_world(object, &world))
        return NULL;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < talus_diagnostic_count(world); i++) {
        TalusDiagnostic said;
        talus_diagnostic_at(world, i, &said);
        PyObject *row = Py_BuildValue("ssIIszi", severities[said.severity], said.file, said.line, said.column,
                                      said.message, said.hint, said.count);
        if (!row || PyList_Append(list, row))
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *record_start(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    const char *path;
    TalusRecordOptions options = talus_record_options_defaults();
    int with_contacts;
    if (!PyArg_ParseTuple(arguments, "O&sip", to_world, &world, &path, &options.every, &with_contacts))
        return NULL;
    options.with_contacts = with_contacts;
    return done(talus_record_start(world, path, &options));
}

static PyObject *record_stop(PyObject *self, PyObject *object)
{
    (void)self;
    TalusWorld *world;
    return to_world(object, &world) ? done(talus_record_stop(world)) : NULL;
}

/* Programs of the robots (is_plugin 0) or the physics plugin of the world: on, off. */
static PyObject *programs(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *object;
    int is_plugin, is_on, is_quiet;
    if (!PyArg_ParseTuple(arguments, "Oppp", &object, &is_plugin, &is_on, &is_quiet))
        return NULL;
    Handle *handle = handle_of(object, HANDLE_WORLD);
    if (!handle)
        return NULL;
    TalusControllerOptions controllers = talus_controller_options_defaults();
    TalusPluginOptions plugin = talus_plugin_options_defaults();
    controllers.is_quiet = plugin.is_quiet = is_quiet;
    bool is_fine;
    owner_of(handle)->is_busy = 1;
    Py_BEGIN_ALLOW_THREADS if (is_plugin) is_fine = is_on ? talus_plugin_start(handle->object, &plugin)
                                                          : talus_plugin_stop(handle->object);
    else is_fine = is_on ? talus_controllers_start(handle->object, &controllers)
                         : talus_controllers_stop(handle->object);
    Py_END_ALLOW_THREADS owner_of(handle)->is_busy = 0;
    return done(is_fine);
}

/* ---- nodes ---- */

static PyObject *find(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    const char *name;
    return PyArg_ParseTuple(arguments, "O&s", to_world, &world, &name) ? node_or_none(talus_find(world, name)) : NULL;
}

static PyObject *device(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    TalusNode robot;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "O&O&s", to_world, &world, to_node, &robot, &name))
        return NULL;
    return node_or_none(talus_device(world, robot, name));
}

static PyObject *describe(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    TalusNode node;
    if (!PyArg_ParseTuple(arguments, "O&O&", to_world, &world, to_node, &node))
        return NULL;
    const char *type = talus_node_type(world, node);
    if (!type)
        return fail();
    PyObject *parent = node_or_none(talus_node_parent(world, node));
    return parent ? Py_BuildValue("szzN", type, talus_node_def(world, node), talus_solid_label(world, node), parent)
                  : NULL;
}

enum { LIST_SOLIDS, LIST_JOINTS, LIST_MOTORS, LIST_ROBOTS, LIST_DEVICES, LIST_CHILDREN };

static int list_into(TalusWorld *world, int what, TalusNode node, TalusNode *nodes, int capacity)
{
    switch (what) {
    case LIST_SOLIDS: return talus_solids(world, nodes, capacity);
    case LIST_JOINTS: return talus_joints(world, nodes, capacity);
    case LIST_MOTORS: return talus_motors(world, nodes, capacity);
    case LIST_ROBOTS: return talus_robots(world, nodes, capacity);
    case LIST_DEVICES: return talus_devices(world, node, nodes, capacity);
    default: return talus_children(world, node, nodes, capacity);
    }
}

static PyObject *list(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    TalusNode node;
    int what;
    if (!PyArg_ParseTuple(arguments, "O&iO&", to_world, &world, &what, to_node, &node))
        return NULL;
    int count = list_into(world, what, node, NULL, 0);
    if (count < 0)
        return fail();
    TalusNode *nodes = calloc((size_t)count + 1, sizeof *nodes);
    if (!nodes)
        return PyErr_NoMemory();
    list_into(world, what, node, nodes, count);
    PyObject *result = nodes_of(nodes, count);
    free(nodes);
    return result;
}

/* A field as what it is: bool, int, text, a node, or numbers. */
static PyObject *get_field(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    TalusNode node;
    const char *field;
    bool flag;
    int integer;
    double number;
    if (!PyArg_ParseTuple(arguments, "O&O&s", to_world, &world, to_node, &node, &field))
        return NULL;
    if (talus_get_bool(world, node, field, &flag))
        return PyBool_FromLong(flag);
    if (talus_get_int(world, node, field, &integer))
        return PyLong_FromLong(integer);
    if (talus_get_double(world, node, field, &number))
        return PyFloat_FromDouble(number);
    const char *text = talus_get_string(world, node, field);
    if (text)
        return PyUnicode_FromString(text);
    int count = talus_get_numbers(world, node, field, NULL, 0);
    if (count >= 0) {
        double *values = calloc((size_t)count + 1, sizeof *values);
        if (!values)
            return PyErr_NoMemory();
        talus_get_numbers(world, node, field, values, count);
        PyObject *result = PyList_New(count);
        for (int i = 0; result && i < count; i++)
            PyList_SetItem(result, i, PyFloat_FromDouble(values[i]));
        free(values);
        return result;
    }
    TalusNode child = talus_get_node(world, node, field, 0);
    return child == TALUS_NONE ? fail() : node_or_none(child);
}

static bool set_numbers(TalusWorld *world, TalusNode node, const char *field, PyObject *value)
{
    PyObject *items = PySequence_List(value);
    Py_ssize_t count = items ? PyList_Size(items) : 0;
    double *values = items ? calloc((size_t)count + 1, sizeof *values) : NULL;
    for (Py_ssize_t i = 0; values && i < count && !PyErr_Occurred(); i++)
        values[i] = PyFloat_AsDouble(PyList_GetItem(items, i));
    bool is_set = values && !PyErr_Occurred() && talus_set_numbers(world, node, field, values, (int)count);
    free(values);
    Py_XDECREF(items);
    return is_set;
}

static PyObject *set_field(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    TalusNode node;
    const char *field;
    PyObject *value;
    if (!PyArg_ParseTuple(arguments, "O&O&sO", to_world, &world, to_node, &node, &field, &value))
        return NULL;
    if (PyUnicode_Check(value)) {
        const char *text = PyUnicode_AsUTF8AndSize(value, NULL);
        return text ? done(talus_set_string(world, node, field, text)) : NULL;
    }
    if (PySequence_Check(value))
        return done(set_numbers(world, node, field, value));
    double number = PyFloat_AsDouble(value);
    return PyErr_Occurred() ? NULL : done(talus_set_numbers(world, node, field, &number, 1));
}

static PyObject *get_path(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    const char *path;
    double value;
    if (!PyArg_ParseTuple(arguments, "O&s", to_world, &world, &path))
        return NULL;
    return talus_get_path(world, path, &value) ? PyFloat_FromDouble(value) : fail();
}

static PyObject *set_path(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    const char *path;
    double value;
    if (!PyArg_ParseTuple(arguments, "O&sd", to_world, &world, &path, &value))
        return NULL;
    return done(talus_set_path(world, path, value));
}

static PyObject *insert(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    TalusNode parent;
    const char *field, *text;
    int index;
    if (!PyArg_ParseTuple(arguments, "O&O&sis", to_world, &world, to_node, &parent, &field, &index, &text))
        return NULL;
    TalusNode node = talus_insert(world, parent, field, index, text);
    return node == TALUS_NONE ? fail() : node_or_none(node);
}

static PyObject *take_out(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    TalusNode node;
    return PyArg_ParseTuple(arguments, "O&O&", to_world, &world, to_node, &node) ? done(talus_remove(world, node))
                                                                                 : NULL;
}

/* ---- contacts and rays ---- */

static PyObject *contacts(PyObject *self, PyObject *object)
{
    (void)self;
    TalusWorld *world;
    if (!to_world(object, &world))
        return NULL;
    int count = talus_contact_forces(world, NULL, 0);
    TalusContactForce *forces = calloc((size_t)count + 1, sizeof *forces);
    if (!forces)
        return PyErr_NoMemory();
    count = talus_contact_forces(world, forces, count);
    PyObject *result = PyList_New(0);
    for (int i = 0; result && i < count; i++) {
        const TalusContactForce *f = &forces[i];
        PyObject *row = Py_BuildValue("II(ddd)(ddd)(ddd)", f->solid[0], f->solid[1], f->point.x, f->point.y, f->point.z,
                                      f->normal.x, f->normal.y, f->normal.z, f->force.x, f->force.y, f->force.z);
        if (!row || PyList_Append(result, row))
            Py_CLEAR(result);
        Py_XDECREF(row);
    }
    free(forces);
    return result;
}

static PyObject *contact_events(PyObject *self, PyObject *object)
{
    (void)self;
    TalusWorld *world;
    if (!to_world(object, &world))
        return NULL;
    PyObject *result = PyList_New(0);
    TalusContactEvent events[64];
    for (int count; result && (count = talus_contact_events(world, events, 64)) > 0;)
        for (int i = 0; result && i < count; i++) {
            PyObject *row = Py_BuildValue("KIIN", (unsigned long long)events[i].step, events[i].solid[0],
                                          events[i].solid[1], PyBool_FromLong(events[i].begins));
            if (!row || PyList_Append(result, row))
                Py_CLEAR(result);
            Py_XDECREF(row);
        }
    return result;
}

static PyObject *ray(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    TalusVector o, d;
    double range;
    TalusHit hit;
    if (!PyArg_ParseTuple(arguments, "O&(ddd)(ddd)d", to_world, &world, &o.x, &o.y, &o.z, &d.x, &d.y, &d.z, &range))
        return NULL;
    int found = talus_rays(world, 1, &o, &d, range, &hit);
    if (found < 0)
        return fail();
    if (found == 0)
        Py_RETURN_NONE;
    return Py_BuildValue("Id(ddd)(ddd)", hit.solid, hit.distance, hit.point.x, hit.point.y, hit.point.z, hit.normal.x,
                         hit.normal.y, hit.normal.z);
}

/* ---- buffers ---- */

/* A buffer of so many doubles, contiguous. False with an exception. */
static bool doubles_of(PyObject *object, Py_buffer *buffer, int count, bool is_written)
{
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, buffer, flags))
        return false;
    if (buffer->format && !strcmp(buffer->format, "d") && buffer->len == (Py_ssize_t)sizeof(double) * count)
        return true;
    PyErr_Format(PyExc_ValueError, "%d numbers of type float64 are wanted, not %zd bytes of type '%s'", count,
                 buffer->len, buffer->format ? buffer->format : "B");
    PyBuffer_Release(buffer);
    return false;
}

static PyObject *picture(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *object, *pixels;
    TalusNode camera;
    int width, height;
    Py_buffer buffer;
    if (!PyArg_ParseTuple(arguments, "OO&iiO", &object, to_node, &camera, &width, &height, &pixels))
        return NULL;
    Handle *handle = handle_of(object, HANDLE_WORLD);
    if (!handle || PyObject_GetBuffer(pixels, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE))
        return NULL;
    bool is_made = false;
    if (width > 0 && height > 0 && buffer.len == (Py_ssize_t)4 * width * height) {
        owner_of(handle)->is_busy = 1;
        Py_BEGIN_ALLOW_THREADS is_made = talus_picture(handle->object, camera, width, height, buffer.buf);
        Py_END_ALLOW_THREADS owner_of(handle)->is_busy = 0;
    } else {
        PyErr_SetString(PyExc_ValueError, "a picture takes 4 bytes for each pixel, and has one at least");
    }
    PyBuffer_Release(&buffer);
    return done(is_made);
}

static PyObject *view_new(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    PyObject *items;
    int count;
    if (!PyArg_ParseTuple(arguments, "O&O", to_world, &world, &items))
        return NULL;
    const char **texts = texts_of(items, &count);
    if (!texts)
        return NULL;
    TalusView *view = talus_view_create(world, texts, count);
    free(texts);
    return handle_new(HANDLE_VIEW, view, NULL);
}

static PyObject *channels_of(const TalusView *view)
{
    PyObject *result = PyList_New(talus_view_count(view));
    for (int i = 0; result && i < talus_view_count(view); i++) {
        TalusChannel channel;
        talus_view_channel(view, i, &channel);
        PyObject *row = Py_BuildValue("ssdd", channel.name, channel.unit, channel.low, channel.high);
        if (row)
            PyList_SetItem(result, i, row);
        else
            Py_CLEAR(result);
    }
    return result;
}

static PyObject *view_channels(PyObject *self, PyObject *object)
{
    (void)self;
    TalusView *view;
    return to_view(object, &view) ? channels_of(view) : NULL;
}

static PyObject *view_move(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusWorld *world;
    TalusView *view;
    PyObject *object;
    int is_written;
    Py_buffer buffer;
    if (!PyArg_ParseTuple(arguments, "O&O&Op", to_world, &world, to_view, &view, &object, &is_written)
        || !doubles_of(object, &buffer, talus_view_count(view), !is_written))
        return NULL;
    bool is_fine = talus_view_use(world, view)
                   && (is_written ? talus_view_write(world, view, buffer.buf)
                                  : talus_view_read(world, view, buffer.buf));
    PyBuffer_Release(&buffer);
    return done(is_fine);
}

/* ---- blocks of a batch ---- */

typedef struct Block {
    PyObject_HEAD PyObject *batch;
    void *data;
    Py_ssize_t shape[2], strides[2];
    int dimensions;
    const char *format;
    Py_ssize_t item_size;
    int is_read_only;
} Block;

static int block_buffer(PyObject *object, Py_buffer *buffer, int flags)
{
    Block *block = (Block *)object;
    if ((flags & PyBUF_WRITABLE) && block->is_read_only) {
        PyErr_SetString(PyExc_BufferError, "this block is read alone");
        return -1;
    }
    Py_ssize_t count = block->shape[0] * (block->dimensions == 2 ? block->shape[1] : 1);
    buffer->obj = object;
    Py_INCREF(object);
    buffer->buf = block->data;
    buffer->len = count * block->item_size;
    buffer->itemsize = block->item_size;
    buffer->readonly = block->is_read_only;
    buffer->ndim = block->dimensions;
    buffer->format = (char *)block->format;
    buffer->shape = block->shape;
    buffer->strides = block->strides;
    buffer->suboffsets = NULL;
    buffer->internal = NULL;
    return 0;
}

static void block_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(((Block *)object)->batch);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyTypeObject *block_type;
static PyType_Slot block_slots[] = { { Py_bf_getbuffer, block_buffer }, { Py_tp_dealloc, block_free }, { 0, NULL } };
static PyType_Spec block_spec = { "talus._talus.Block", sizeof(Block), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, block_slots };

static PyObject *block_new(PyObject *batch, const void *data, Py_ssize_t rows, Py_ssize_t columns, char format)
{
    allocfunc make = (allocfunc)PyType_GetSlot(block_type, Py_tp_alloc);
    Block *block = (Block *)make(block_type, 0);
    if (!block)
        return NULL;
    Py_INCREF(batch);
    block->batch = batch;
    block->data = (void *)data;
    block->dimensions = columns < 0 ? 1 : 2;
    block->format = format == 'd' ? "d" : format == 'Q' ? "Q" : "?";
    block->item_size = format == '?' ? 1 : 8;
    block->shape[0] = rows;
    block->shape[1] = columns;
    block->strides[0] = block->item_size * (columns < 0 ? 1 : columns);
    block->strides[1] = block->item_size;
    return (PyObject *)block;
}

/* ---- batches ---- */

static PyObject *batch_new(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *object;
    int count, threads;
    if (!PyArg_ParseTuple(arguments, "Oii", &object, &count, &threads))
        return NULL;
    Handle *handle = handle_of(object, HANDLE_WORLD);
    if (!handle)
        return NULL;
    TalusBatch *batch;
    owner_of(handle)->is_busy = 1;
    Py_BEGIN_ALLOW_THREADS batch = talus_batch_create(handle->object, count, threads);
    Py_END_ALLOW_THREADS owner_of(handle)->is_busy = 0;
    return handle_new(HANDLE_BATCH, batch, NULL);
}

static PyObject *batch_items(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusBatch *batch;
    PyObject *items;
    int count, are_actions;
    if (!PyArg_ParseTuple(arguments, "O&Op", to_batch, &batch, &items, &are_actions))
        return NULL;
    const char **texts = texts_of(items, &count);
    if (!texts)
        return NULL;
    bool is_set = are_actions ? talus_batch_set_actions(batch, texts, count)
                              : talus_batch_set_observations(batch, texts, count);
    free(texts);
    if (!is_set)
        return fail();
    return channels_of(are_actions ? talus_batch_action_view(batch) : talus_batch_observation_view(batch));
}

/* Every block by its name, made anew after items were set. */
static PyObject *batch_block(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *object;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "Os", &object, &name))
        return NULL;
    TalusBatch *batch;
    if (!to_batch(object, &batch))
        return NULL;
    int rows = talus_batch_count(batch), actions = talus_view_count(talus_batch_action_view(batch));
    int observations = talus_view_count(talus_batch_observation_view(batch));
    if (!strcmp(name, "actions"))
        return block_new(object, talus_batch_actions(batch), rows, actions, 'd');
    if (!strcmp(name, "observations"))
        return block_new(object, talus_batch_observations(batch), rows, observations, 'd');
    if (!strcmp(name, "final_observations"))
        return block_new(object, talus_batch_final_observations(batch), rows, observations, 'd');
    if (!strcmp(name, "terminated"))
        return block_new(object, talus_batch_terminated(batch), rows, -1, '?');
    if (!strcmp(name, "truncated"))
        return block_new(object, talus_batch_truncated(batch), rows, -1, '?');
    if (!strcmp(name, "failed"))
        return block_new(object, talus_batch_failed(batch), rows, -1, '?');
    if (!strcmp(name, "episode_steps"))
        return block_new(object, talus_batch_episode_steps(batch), rows, -1, 'Q');
    PyErr_Format(PyExc_ValueError, "a batch has no block '%s'", name);
    return NULL;
}

static PyObject *batch_step(PyObject *self, PyObject *object)
{
    (void)self;
    Handle *handle = handle_of(object, HANDLE_BATCH);
    if (!handle)
        return NULL;
    bool is_fine;
    handle->is_busy = 1;
    Py_BEGIN_ALLOW_THREADS is_fine = talus_batch_step(handle->object);
    Py_END_ALLOW_THREADS handle->is_busy = 0;
    if (is_fine && PyErr_CheckSignals())
        return NULL;
    return done(is_fine);
}

/* Which buffers a rollout has: actions in, the others out. */
enum { ROLLOUT_ACTIONS, ROLLOUT_OBSERVATIONS, ROLLOUT_TERMINATED, ROLLOUT_TRUNCATED, ROLLOUT_FAILED, ROLLOUT_BUFFERS };

/* Steps `first` to `first` + `count` of the rollout whose buffers have `stride` steps. */
static bool rollout_part(TalusBatch *batch, const Py_buffer *buffers, int stride, int first, int count)
{
    TalusRollout rollout = talus_rollout_defaults();
    rollout.steps = count;
    rollout.stride = stride;
    rollout.actions = (const double *)buffers[ROLLOUT_ACTIONS].buf
                      + (ptrdiff_t)first * talus_view_count(talus_batch_action_view(batch));
    rollout.observations = (double *)buffers[ROLLOUT_OBSERVATIONS].buf
                           + (ptrdiff_t)first * talus_view_count(talus_batch_observation_view(batch));
    rollout.terminated = (uint8_t *)buffers[ROLLOUT_TERMINATED].buf + first;
    rollout.truncated = (uint8_t *)buffers[ROLLOUT_TRUNCATED].buf + first;
    rollout.failed = (uint8_t *)buffers[ROLLOUT_FAILED].buf + first;
    return talus_batch_rollout(batch, &rollout);
}

/* In parts that grow until one takes a twentieth of a second, so that Ctrl-C is soon heard. */
static PyObject *run_rollout(Handle *handle, const Py_buffer *buffers, int steps)
{
    bool is_fine = true;
    for (int first = 0, part = 1; first < steps && is_fine;) {
        int count = part < steps - first ? part : steps - first;
        double took = -seconds();
        handle->is_busy = 1;
        Py_BEGIN_ALLOW_THREADS is_fine = rollout_part(handle->object, buffers, steps, first, count);
        Py_END_ALLOW_THREADS handle->is_busy = 0;
        took += seconds();
        first += count;
        part = took < 0.025 && part < steps ? 2 * part : part;
        if (is_fine && PyErr_CheckSignals())
            return NULL;
    }
    return done(is_fine);
}

static PyObject *batch_rollout(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *object, *arrays[ROLLOUT_BUFFERS], *result = NULL;
    int steps, got = 0;
    if (!PyArg_ParseTuple(arguments, "OiOOOOO", &object, &steps, &arrays[0], &arrays[1], &arrays[2], &arrays[3],
                          &arrays[4]))
        return NULL;
    Handle *handle = handle_of(object, HANDLE_BATCH);
    if (!handle)
        return NULL;
    Py_ssize_t rows = (Py_ssize_t)talus_batch_count(handle->object) * (steps > 0 ? steps : 0);
    Py_ssize_t sizes[ROLLOUT_BUFFERS] = {
        rows * (Py_ssize_t)sizeof(double) * talus_view_count(talus_batch_action_view(handle->object)),
        rows * (Py_ssize_t)sizeof(double) * talus_view_count(talus_batch_observation_view(handle->object)), rows, rows,
        rows
    };
    Py_buffer buffers[ROLLOUT_BUFFERS];
    for (; got < ROLLOUT_BUFFERS; got++) {
        int flags = PyBUF_C_CONTIGUOUS | (got == ROLLOUT_ACTIONS ? 0 : PyBUF_WRITABLE);
        if (PyObject_GetBuffer(arrays[got], &buffers[got], flags))
            goto release;
        if (buffers[got].len != sizes[got]) {
            PyErr_Format(PyExc_ValueError, "an array of this rollout has %zd bytes, not %zd", sizes[got],
                         buffers[got].len);
            got++;
            goto release;
        }
    }
    result = run_rollout(handle, buffers, steps);
release:
    while (got > 0)
        PyBuffer_Release(&buffers[--got]);
    return result;
}

static PyObject *batch_reset(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *object, *mask, *seeds;
    if (!PyArg_ParseTuple(arguments, "OOO", &object, &mask, &seeds))
        return NULL;
    Handle *handle = handle_of(object, HANDLE_BATCH);
    Py_buffer masks = { 0 }, numbers = { 0 };
    if (!handle || (mask != Py_None && PyObject_GetBuffer(mask, &masks, PyBUF_C_CONTIGUOUS)))
        return NULL;
    bool is_fine = false;
    int count = talus_batch_count(handle->object);
    if (seeds != Py_None && PyObject_GetBuffer(seeds, &numbers, PyBUF_C_CONTIGUOUS)) {
        if (masks.obj)
            PyBuffer_Release(&masks);
        return NULL;
    }
    if ((masks.obj && masks.len != count) || (numbers.obj && numbers.len != 8 * (Py_ssize_t)count)) {
        PyErr_Format(PyExc_ValueError, "a mask has one bool and seeds one uint64 for each of the %d worlds", count);
    } else {
        handle->is_busy = 1;
        Py_BEGIN_ALLOW_THREADS is_fine = talus_batch_reset(handle->object, masks.buf, numbers.buf);
        Py_END_ALLOW_THREADS handle->is_busy = 0;
    }
    if (masks.obj)
        PyBuffer_Release(&masks);
    if (numbers.obj)
        PyBuffer_Release(&numbers);
    if (is_fine && PyErr_CheckSignals())
        return NULL;
    return done(is_fine);
}

static PyObject *batch_rules(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusBatch *batch;
    int autoreset, repeat;
    long long limit;
    unsigned long long seed;
    if (!PyArg_ParseTuple(arguments, "O&iiLK", to_batch, &batch, &autoreset, &repeat, &limit, &seed))
        return NULL;
    return done(talus_batch_set_autoreset(batch, (TalusAutoreset)autoreset) && talus_batch_set_repeat(batch, repeat)
                && talus_batch_set_limit(batch, limit) && talus_batch_set_seed(batch, seed));
}

static PyObject *batch_seed(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusBatch *batch;
    unsigned long long seed;
    return PyArg_ParseTuple(arguments, "O&K", to_batch, &batch, &seed) ? done(talus_batch_set_seed(batch, seed)) : NULL;
}

static PyObject *batch_terminate(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusBatch *batch;
    const char *item;
    double low, high;
    if (!PyArg_ParseTuple(arguments, "O&sdd", to_batch, &batch, &item, &low, &high))
        return NULL;
    return done(talus_batch_terminate(batch, item, low, high));
}

static PyObject *batch_randomise(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusBatch *batch;
    const char *what;
    int change, spread;
    double a, b;
    if (!PyArg_ParseTuple(arguments, "O&siidd", to_batch, &batch, &what, &change, &spread, &a, &b))
        return NULL;
    return done(talus_batch_randomise(batch, what, (TalusChange)change, (TalusSpread)spread, a, b));
}

static PyObject *batch_world(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *object;
    int index;
    TalusBatch *batch;
    if (!PyArg_ParseTuple(arguments, "Oi", &object, &index) || !to_batch(object, &batch))
        return NULL;
    return handle_new(HANDLE_WORLD, talus_batch_world(batch, index), object);
}

static PyObject *batch_about(PyObject *self, PyObject *arguments)
{
    (void)self;
    TalusBatch *batch;
    int index;
    if (!PyArg_ParseTuple(arguments, "O&i", to_batch, &batch, &index))
        return NULL;
    return Py_BuildValue("iKs", talus_batch_threads(batch), (unsigned long long)talus_batch_seed(batch, index),
                         talus_batch_failure(batch, index));
}

static PyObject *version(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return text_or_none(talus_version());
}

static PyMethodDef methods[] = {
    { "version", version, METH_NOARGS, NULL },
    { "load", load, METH_VARARGS, NULL },
    { "clone", clone, METH_O, NULL },
    { "step", step, METH_VARARGS, NULL },
    { "state", state_of, METH_O, NULL },
    { "hash", hash_of, METH_O, NULL },
    { "reset", reset, METH_O, NULL },
    { "save", save, METH_VARARGS, NULL },
    { "snapshot", snapshot, METH_O, NULL },
    { "restore", restore, METH_VARARGS, NULL },
    { "snapshot_file", snapshot_file, METH_VARARGS, NULL },
    { "record_start", record_start, METH_VARARGS, NULL },
    { "record_stop", record_stop, METH_O, NULL },
    { "programs", programs, METH_VARARGS, NULL },
    { "diagnostics", diagnostics, METH_O, NULL },
    { "find", find, METH_VARARGS, NULL },
    { "device", device, METH_VARARGS, NULL },
    { "describe", describe, METH_VARARGS, NULL },
    { "list", list, METH_VARARGS, NULL },
    { "get_field", get_field, METH_VARARGS, NULL },
    { "set_field", set_field, METH_VARARGS, NULL },
    { "get_path", get_path, METH_VARARGS, NULL },
    { "set_path", set_path, METH_VARARGS, NULL },
    { "insert", insert, METH_VARARGS, NULL },
    { "remove", take_out, METH_VARARGS, NULL },
    { "contacts", contacts, METH_O, NULL },
    { "contact_events", contact_events, METH_O, NULL },
    { "ray", ray, METH_VARARGS, NULL },
    { "picture", picture, METH_VARARGS, NULL },
    { "view_new", view_new, METH_VARARGS, NULL },
    { "view_channels", view_channels, METH_O, NULL },
    { "view_move", view_move, METH_VARARGS, NULL },
    { "batch_new", batch_new, METH_VARARGS, NULL },
    { "batch_items", batch_items, METH_VARARGS, NULL },
    { "batch_block", batch_block, METH_VARARGS, NULL },
    { "batch_step", batch_step, METH_O, NULL },
    { "batch_rollout", batch_rollout, METH_VARARGS, NULL },
    { "batch_reset", batch_reset, METH_VARARGS, NULL },
    { "batch_rules", batch_rules, METH_VARARGS, NULL },
    { "batch_seed", batch_seed, METH_VARARGS, NULL },
    { "batch_terminate", batch_terminate, METH_VARARGS, NULL },
    { "batch_randomise", batch_randomise, METH_VARARGS, NULL },
    { "batch_world", batch_world, METH_VARARGS, NULL },
    { "batch_about", batch_about, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "talus._talus", NULL, -1, methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit__talus(void);
PyMODINIT_FUNC PyInit__talus(void)
{
    PyObject *module = PyModule_Create(&definition);
    error_type = PyErr_NewExceptionWithDoc("talus.Error", "What the library refused, in its own words.",
                                           PyExc_RuntimeError, NULL);
    block_type = (PyTypeObject *)PyType_FromSpec(&block_spec);
    if (!module || !error_type || !block_type || PyModule_AddObjectRef(module, "Error", error_type)) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
