// body_elements.c - the tree of nodes below `elements`: frames, mass, Visual and Collision, resources; shapes and
// devices are handed on.
#include "formats/body/body_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void read_element(BodyReader *reader, const char *type, const YamlNode *map, ElementScope scope);

// Mass

void body_mass_add(BodyMassSum *sum, BodyMassPart part)
{
    assert_debug(sum);
    *memory_push(sum->parts, sum->count, sum->capacity) = part;
}

static BodyMassPart read_mass_part(BodyReader *reader, const YamlNode *map)
{
    assert_debug(yaml_is_map(map));
    BodyMassPart part = { 0 };
    body_hard_double(reader, map, "mass", NULL, &part.mass);
    body_vec3(reader, map, "center_of_mass", "centerOfMass", &part.com);
    body_mass_matrix(reader, map, &part.inertia);
    if (part.mass < 0.0) {
        diag_error(reader->diags, yaml_get(map, "mass")->pos, "mass %g is negative; using 0", part.mass);
        part.mass = 0.0;
    }
    return part;
}

void body_mass_set(BodyLink *link, const BodyMassSum *sum)
{
    assert(sum->count > 0);
    double mass = 0.0;
    Vec3 moment = VEC3_ZERO;
    for (int i = 0; i < sum->count; i++) {
        mass += sum->parts[i].mass;
        moment = vec3_mad(moment, sum->parts[i].com, sum->parts[i].mass);
    }
    link->mass = mass;
    link->com = VEC3_ZERO;
    link->inertia = (Mat3){ { 0 } };
    if (mass <= 0.0)
        return;
    link->com = vec3_scale(moment, 1.0 / mass);
    for (int i = 0; i < sum->count; i++) {
        const BodyMassPart *part = &sum->parts[i];
        Mat3 shifted = mat3_point_inertia(part->mass, vec3_sub(link->com, part->com));
        link->inertia = mat3_add(link->inertia, mat3_add(part->inertia, shifted));
    }
}

void body_link_mass(BodyReader *reader, const YamlNode *map, BodyLink *link, const BodyMassSum *sum)
{
    bool has_own = body_key(map, "center_of_mass", "centerOfMass") || yaml_get(map, "mass") || yaml_get(map, "inertia");
    link->has_mass_data = has_own || sum->count > 0;
    if (sum->count > 0) {
        BodyMassSum all = { 0 };
        for (int i = 0; i < sum->count; i++)
            body_mass_add(&all, sum->parts[i]);
        if (has_own)
            body_mass_add(&all, read_mass_part(reader, map));
        body_mass_set(link, &all);
        free(all.parts);
        return;
    }
    body_hard_double(reader, map, "mass", NULL, &link->mass);
    body_vec3(reader, map, "center_of_mass", "centerOfMass", &link->com);
    body_mass_matrix(reader, map, &link->inertia);
    if (link->mass < 0.0) {
        diag_error(reader->diags, yaml_get(map, "mass")->pos, "mass %g is negative; using 0", link->mass);
        link->mass = 0.0;
    }
}

static void read_rigid_body(BodyReader *reader, const YamlNode *map, ElementScope scope)
{
    BodyMassPart part = read_mass_part(reader, map);
    part.com = body_frame_apply(scope.frame, part.com);
    part.inertia = mat3_mul(mat3_mul(scope.frame.m, part.inertia), mat3_transposed(scope.frame.m));
    if (!scope.ignores_mass)
        body_mass_add(scope.sum, part);
    else
        diag_warning(reader->diags, map->pos, "a RigidBody in the entry of a sub-body does not count");
}

// Resources

const char *body_resolve(BodyReader *reader, const char *uri, const char *what, SourcePos pos)
{
    Resolved result;
    if (resolve_url(reader->resolver, uri, reader->path, reader->arena, &result))
        return result.path;
    resolve_report_missing(&result, what, uri, reader->diags, pos);
    return NULL;
}

static BodyFile *open_yaml(BodyReader *reader, const char *path, SourcePos pos)
{
    assert_debug(path);
    for (BodyFile *file = reader->files; file; file = file->next)
        if (!strcmp(file->path, path))
            return file;
    BodyFile *file = arena_alloc(reader->arena, sizeof *file);
    file->path = path;
    file->next = reader->files;
    reader->files = file;
    FileData data;
    if (!file_read(path, (size_t)reader->limits->file_bytes, &data, reader->diags, pos))
        return file;
    YamlOptions options = { .limits = reader->limits, .outer = reader->document };
    file->document = yaml_parse(path, data.data, data.size, &options, reader->diags);
    file_release(&data);
    if (file->document) {
        BodyModel *model = reader->model;
        *memory_push(model->documents, model->document_count, model->document_capacity) = file->document;
    }
    return file;
}

// Reads `elements`, which stand in another file, as if they stood here. Angles stay those of the main file unless told.
static void read_foreign(BodyReader *reader, BodyFile *file, const YamlNode *elements, double angle, SourcePos pos,
                         ElementScope scope)
{
    assert(elements && angle > 0.0);
    if (file->is_open) {
        diag_error(reader->diags, pos, "%s names itself as a resource", path_name(file->path));
        return;
    }
    const char *path = reader->path;
    double own_angle = reader->angle;
    file->is_open = true;
    reader->path = file->path;
    reader->angle = angle;
    body_elements_read(reader, elements, scope);
    reader->path = path;
    reader->angle = own_angle;
    file->is_open = false;
}

static void read_yaml_resource(BodyReader *reader, const char *path, const char *node, SourcePos pos,
                               ElementScope scope)
{
    BodyFile *file = open_yaml(reader, path, pos);
    if (!file->document)
        return;
    if (!node) {
        diag_error(reader->diags, pos, "a resource in YAML needs 'node', the anchor of what is meant");
        return;
    }
    const YamlNode *elements = yaml_anchor(file->document, node);
    if (!elements)
        diag_error(reader->diags, pos, "%s has no anchor '&%s'", path_name(path), node);
    else
        read_foreign(reader, file, elements, reader->angle, pos, scope);
}

static void read_scene_resource(BodyReader *reader, const char *path, SourcePos pos, ElementScope scope)
{
    BodyFile *file = open_yaml(reader, path, pos);
    if (!file->document)
        return;
    const YamlNode *root = yaml_root(file->document);
    const char *unit = "degree";
    body_string(reader, root, "angle_unit", "angleUnit", &unit);
    const YamlNode *elements = yaml_get(root, "scene");
    if (elements)
        read_foreign(reader, file, elements, !strcmp(unit, "radian") ? 1.0 : 3.14159265358979323846 / 180.0, pos,
                     scope);
    else
        diag_error(reader->diags, pos, "%s holds no 'scene'", path_name(path));
}

static const char *lower_extension(BodyReader *reader, const char *path)
{
    char *extension = arena_string(reader->arena, path_extension(path));
    for (char *c = extension; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    return extension;
}

static const char *const resource_keys[] = { "uri",
                                             "url",
                                             "node",
                                             "fragment",
                                             "metadata",
                                             "creaseAngle",
                                             "crease_angle",
                                             "removeRedundantVertices",
                                             "remove_redundant_vertices",
                                             "exclude",
                                             NULL };

static void read_resource(BodyReader *reader, const YamlNode *map, ElementScope scope)
{
    body_check_keys(reader, map, "Resource", body_transform_keys, resource_keys, NULL);
    const char *uri = NULL, *node = NULL;
    if (!body_string(reader, map, "uri", "url", &uri)) {
        diag_error(reader->diags, map->pos, "Resource needs 'uri'");
        return;
    }
    if (!body_string(reader, map, "node", NULL, &node))
        body_string(reader, map, "fragment", NULL, &node);
    scope.frame = body_frame_mul(scope.frame, body_transform(reader, map));
    const char *path = body_resolve(reader, uri, "resource", map->pos);
    const char *extension = lower_extension(reader, path ? path : uri);
    if (!strcmp(extension, ".yaml") || !strcmp(extension, ".yml")) {
        if (path)
            read_yaml_resource(reader, path, node, map->pos, scope);
    } else if (!strcmp(extension, ".scen")) {
        if (path)
            read_scene_resource(reader, path, map->pos, scope);
    } else {
        body_mesh_file_add(reader, map, path, scope);
    }
}

// Nodes

static void read_children(BodyReader *reader, const YamlNode *map, ElementScope scope)
{
    const YamlNode *elements = yaml_get(map, "elements");
    if (elements)
        body_elements_read(reader, elements, scope);
}

static void read_view(BodyReader *reader, const char *type, const YamlNode *map, ElementScope scope)
{
    static const char *const keys[] = { "resource", "shape", NULL };
    body_check_keys(reader, map, type, body_transform_keys, keys, NULL);
    bool is_visual = !strcmp(type, "Visual");
    if (is_visual ? !scope.is_visual : !scope.is_collision) {
        diag_error(reader->diags, map->pos, "%s inside %s", type, is_visual ? "Collision" : "Visual");
        return;
    }
    scope.is_visual = is_visual;
    scope.is_collision = !is_visual;
    const YamlNode *resource = yaml_get(map, "resource"), *shape = yaml_get(map, "shape");
    if (resource && resource->kind == YAML_MAP)
        read_resource(reader, resource, scope);
    if (shape && shape->kind == YAML_MAP)
        body_shape_read(reader, shape, scope);
    read_children(reader, map, scope);
}

// Node types that plug-ins of Choreonoid bring, and which plug-in that is.
static const struct {
    const char *type, *plugin;
} plugin_types[] = {
    { "SmokeDevice", "SceneEffects" },
    { "FireDevice", "SceneEffects" },
    { "FountainDevice", "SceneEffects" },
    { "RainDevice", "SceneEffects" },
    { "SnowDevice", "SceneEffects" },
    { "CompetitorMarker", "WRS2018" },
    { "RotorDevice", "Multicopter" },
    { "Rotor", "Fluid dynamics" },
    { "Thruster", "Fluid dynamics" },
    { "LivoxMid360", "Livox" },
    { "PxContinuousTrack", "PhysX" },
    { "AGXBreakableJointDevice", "AGXDynamics" },
    { "AGXWireDevice", "AGXDynamics" },
    { "AGXMagneticJointDevice", "AGXDynamics" },
    { "AGXVehicleContinuousTrackDevice", "AGXDynamics" },
    { "StdActionController", "an external" },
};
static const char *const scene_only_types[] = {
    "LineSet", "Text", "Node", "DirectionalLight", "PerspectiveCamera", "OrthographicCamera", "Fog", NULL
};
static const char *const element_types[] = {
    "Group",    "Transform",    "RigidBody",          "Visual",         "Collision", "Resource",
    "Skip",     "Shape",        "AccelerationSensor", "RateGyroSensor", "IMU",       "ForceSensor",
    "Camera",   "RangeSensor",  "SpotLight",          "PointLight",     "Holder",    "Attachment",
    "Conveyor", "MarkerDevice", "DigitalIO",          "ZmpDevice"
};

static void skip_unknown(BodyReader *reader, const char *type, const YamlNode *map)
{
    if (body_key_is(type, scene_only_types)) {
        diag_note(reader->diags, map->pos, "%s is only for Choreonoid's window; left out", type);
        return;
    }
    bool is_optional = false;
    body_bool(reader, map, "is_optional", "isOptional", &is_optional);
    for (int i = 0; i < COUNT_OF(plugin_types); i++) {
        if (!strcmp(type, plugin_types[i].type)) {
            diag_warning(reader->diags, map->pos, "%s needs %s plug-in of Choreonoid; left out with what is in it",
                         type, plugin_types[i].plugin);
            return;
        }
    }
    diag_warning(reader->diags, map->pos, "unknown node type '%.60s'; left out with what is in it", type);
    const char *closest = text_closest(type, element_types, COUNT_OF(element_types));
    if (closest)
        diag_hint(reader->diags, "did you mean '%s'?", closest);
    else if (!is_optional)
        diag_hint(reader->diags, "Choreonoid refuses such a file unless the node says is_optional: true");
}

static bool is_budget_left(BodyReader *reader, const YamlNode *map)
{
    if (++*reader->element_count <= reader->limits->nodes)
        return true;
    if (*reader->element_count == reader->limits->nodes + 1)
        diag_error(reader->diags, map->pos, "more than %lld elements; the rest is left out",
                   (long long)reader->limits->nodes);
    return false;
}

// What only groups or turns passes its frame on; shapes, resources and views end the descent. Unknown types are
// skipped with all below them, for their keys mean nothing here.
static void read_element(BodyReader *reader, const char *type, const YamlNode *map, ElementScope scope)
{
    assert(scope.depth >= 0);
    static const char *const mass_keys[] = { "mass", "center_of_mass", "centerOfMass", "inertia", NULL };
    if (!is_budget_left(reader, map) || !strcmp(type, "Skip"))
        return;
    if (scope.depth >= reader->limits->nesting) {
        diag_error(reader->diags, map->pos, "elements nested deeper than %lld levels",
                   (long long)reader->limits->nesting);
        return;
    }
    scope.depth++;
    if (!strcmp(type, "Shape")) {
        body_shape_read(reader, map, scope);
        return;
    }
    if (!strcmp(type, "Resource")) {
        read_resource(reader, map, scope);
        return;
    }
    bool is_group = !strcmp(type, "Group");
    bool is_rigid_body = !strcmp(type, "RigidBody");
    bool is_view = !strcmp(type, "Visual") || !strcmp(type, "Collision");
    bool is_device = body_device_is(type);
    if (!is_group && !is_rigid_body && !is_view && !is_device && strcmp(type, "Transform")) {
        skip_unknown(reader, type, map);
        return;
    }
    if (!is_group)
        scope.frame = body_frame_mul(scope.frame, body_transform(reader, map));
    if (is_view) {
        read_view(reader, type, map, scope);
        return;
    }
    if (is_rigid_body)
        read_rigid_body(reader, map, scope);
    if (is_device)
        scope.device = body_device_read(reader, type, map, scope);
    else
        body_check_keys(reader, map, type, body_transform_keys, is_rigid_body ? mass_keys : NULL, NULL);
    read_children(reader, map, scope);
}

static const char *type_of(BodyReader *reader, const YamlNode *map)
{
    const YamlNode *type = yaml_get(map, "type");
    if (!type) {
        diag_error(reader->diags, map->pos, "an element needs 'type'");
        return NULL;
    }
    if (type->kind != YAML_SCALAR) {
        diag_error(reader->diags, type->pos, "'type' wants a word");
        return NULL;
    }
    return type->text;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp((*(const YamlPair *const *)a)->key, (*(const YamlPair *const *)b)->key);
}

// One element per type: Choreonoid keeps maps sorted by key, and so the order of elements is that of their types.
static void read_keyed(BodyReader *reader, const YamlNode *map, ElementScope scope)
{
    assert_debug(yaml_is_map(map));
    const YamlPair **pairs = memory_alloc_array((size_t)map->count, sizeof *pairs);
    for (int i = 0; i < map->count; i++)
        pairs[i] = &map->pairs[i];
    if (map->count > 1)
        qsort(pairs, (size_t)map->count, sizeof *pairs, compare_keys);
    for (int i = 0; i < map->count; i++) {
        const YamlNode *value = pairs[i]->value;
        const YamlNode *type = yaml_get(value, "type");
        if (!yaml_is_map(value)) {
            if (value->kind == YAML_SCALAR && !*value->text)
                continue;
            diag_error(reader->diags, pairs[i]->pos, "element '%.60s' wants a map of its keys", pairs[i]->key);
        } else if (type && (type->kind != YAML_SCALAR || strcmp(type->text, pairs[i]->key))) {
            diag_error(reader->diags, type->pos, "an element that stands under '%.60s' cannot have another type",
                       pairs[i]->key);
        } else {
            read_element(reader, pairs[i]->key, value, scope);
        }
    }
    free(pairs);
}

void body_elements_read(BodyReader *reader, const YamlNode *elements, ElementScope scope)
{
    assert_debug(elements);
    if (elements->kind == YAML_LIST) {
        for (int i = 0; i < elements->count; i++) {
            const YamlNode *item = elements->items[i];
            if (!yaml_is_map(item)) {
                diag_error(reader->diags, item->pos, "an element wants a map of its keys");
                continue;
            }
            const char *type = type_of(reader, item);
            if (type)
                read_element(reader, type, item, scope);
        }
    } else if (elements->kind == YAML_MAP) {
        if (yaml_get(elements, "type")) {
            const char *type = type_of(reader, elements);
            if (type)
                read_element(reader, type, elements, scope);
        } else {
            read_keyed(reader, elements, scope);
        }
    } else if (*elements->text) {
        diag_error(reader->diags, elements->pos, "elements wants a list or a map, found '%.60s'", elements->text);
    }
}
