// body_link.c - the keys of one entry of `links`.
#include "formats/body/body_internal.h"

#include <string.h>

const char *const body_link_keys[] = { "type",
                                       "name",
                                       "joint_name",
                                       "parent",
                                       "translation",
                                       "rotation",
                                       "joint_type",
                                       "jointType",
                                       "joint_id",
                                       "jointId",
                                       "joint_axis",
                                       "jointAxis",
                                       "actuation_mode",
                                       "actuationMode",
                                       "joint_angle",
                                       "jointAngle",
                                       "joint_displacement",
                                       "jointDisplacement",
                                       "joint_range",
                                       "jointRange",
                                       "max_joint_velocity",
                                       "maxJointVelocity",
                                       "joint_velocity_range",
                                       "jointVelocityRange",
                                       "max_joint_effort",
                                       "maxJointEffort",
                                       "joint_axis_inertia",
                                       "rotor_inertia",
                                       "rotorInertia",
                                       "gear_ratio",
                                       "gearRatio",
                                       "material",
                                       "center_of_mass",
                                       "centerOfMass",
                                       "mass",
                                       "inertia",
                                       "elements",
                                       "import",
                                       NULL };

void body_link_init(BodyLink *link)
{
    *link = (BodyLink){ .name = "",
                        .joint_name = "",
                        .material = "Default",
                        .parent = -1,
                        .rotation = MAT3_IDENTITY,
                        .joint_id = -1,
                        .axis = { 0, 0, 1 },
                        .q_lower = -BODY_UNLIMITED,
                        .q_upper = BODY_UNLIMITED,
                        .dq_lower = -BODY_UNLIMITED,
                        .dq_upper = BODY_UNLIMITED,
                        .effort_limit = BODY_UNLIMITED,
                        .gear_ratio = 1.0,
                        .mass = 1.0,
                        .inertia = MAT3_IDENTITY };
}

typedef struct Word {
    const char *word;
    int value;
} Word;

// What a key may say.
typedef struct WordKey {
    const char *key, *old_key;
    const Word *words;
    int count;
} WordKey;

static bool read_word(BodyReader *reader, const YamlNode *map, const WordKey *key, int *value)
{
    assert_debug(key->words && key->count > 0);
    const YamlNode *node = body_key(map, key->key, key->old_key);
    if (!node)
        return false;
    for (int i = 0; yaml_is_scalar(node) && i < key->count; i++) {
        if (!strcmp(node->text, key->words[i].word)) {
            *value = key->words[i].value;
            return true;
        }
    }
    const char *names[24];
    int name_count = 0;
    for (int i = 0; i < key->count && name_count < COUNT_OF(names); i++)
        names[name_count++] = key->words[i].word;
    const char *text = yaml_is_scalar(node) ? node->text : "a list or map";
    diag_error(reader->diags, node->pos, "%s: '%.60s' is none of its words", key->key, text);
    const char *closest = text_closest(text, names, name_count);
    if (closest)
        diag_hint(reader->diags, "did you mean '%s'?", closest);
    return false;
}

static void read_joint_type(BodyReader *reader, const YamlNode *map, BodyLink *link)
{
    static const Word types[] = {
        { "fixed", BODY_JOINT_FIXED },
        { "free", BODY_JOINT_FREE },
        { "revolute", BODY_JOINT_REVOLUTE },
        { "prismatic", BODY_JOINT_PRISMATIC },
        { "slide", BODY_JOINT_PRISMATIC },
        { "pseudo_continuous_track", BODY_JOINT_TRACK },
        { "pseudoContinuousTrack", BODY_JOINT_TRACK },
    };
    static const WordKey key = { "joint_type", "jointType", types, COUNT_OF(types) };
    int type;
    if (!read_word(reader, map, &key, &type))
        return;
    link->joint_type = (BodyJointType)type;
    if (type == BODY_JOINT_TRACK)
        link->actuation = BODY_ACTUATION_VELOCITY;
}

// A surface that moves is a kind of joint here, not a way to drive one.
static void read_actuation(BodyReader *reader, const YamlNode *map, BodyLink *link)
{
    enum { SURFACE = 100 };
    static const Word modes[] = {
        { "joint_effort", BODY_ACTUATION_EFFORT },
        { "jointEffort", BODY_ACTUATION_EFFORT },
        { "jointTorque", BODY_ACTUATION_EFFORT },
        { "jointForce", BODY_ACTUATION_EFFORT },
        { "joint_torque", BODY_ACTUATION_EFFORT },
        { "joint_displacement", BODY_ACTUATION_DISPLACEMENT },
        { "jointDisplacement", BODY_ACTUATION_DISPLACEMENT },
        { "jointAngle", BODY_ACTUATION_DISPLACEMENT },
        { "joint_angle", BODY_ACTUATION_DISPLACEMENT },
        { "joint_velocity", BODY_ACTUATION_VELOCITY },
        { "jointVelocity", BODY_ACTUATION_VELOCITY },
        { "link_position", BODY_ACTUATION_LINK_POSITION },
        { "linkPosition", BODY_ACTUATION_LINK_POSITION },
        { "jointSurfaceVelocity", SURFACE },
    };
    static const WordKey key = { "actuation_mode", "actuationMode", modes, COUNT_OF(modes) };
    int mode;
    if (!read_word(reader, map, &key, &mode))
        return;
    if (mode == SURFACE) {
        link->joint_type = BODY_JOINT_TRACK;
        mode = BODY_ACTUATION_VELOCITY;
    }
    link->actuation = (BodyActuation)mode;
}

static void read_axis(BodyReader *reader, const YamlNode *map, BodyLink *link)
{
    const YamlNode *node = body_key(map, "joint_axis", "jointAxis");
    if (!node)
        return;
    if (node->kind != YAML_SCALAR) {
        Vec3 axis;
        if (!body_vec3(reader, map, "joint_axis", "jointAxis", &axis))
            return;
        if (!(vec3_length(axis) >= 1e-9))
            diag_error(reader->diags, node->pos, "joint_axis is zero; using 0 0 1");
        else
            link->axis = axis;
        return;
    }
    const char *word = node->text;
    double sign = *word == '-' ? -1.0 : 1.0;
    word += *word == '-' || *word == '+';
    if (strlen(word) == 1 && strchr("XYZxyz", *word)) {
        int k = (*word | 0x20) - 'x';
        link->axis = vec3(k == 0 ? sign : 0.0, k == 1 ? sign : 0.0, k == 2 ? sign : 0.0);
    } else {
        diag_error(reader->diags, node->pos, "joint_axis: '%.60s' is no axis (X, Y, Z, -X, -Y, -Z or three numbers)",
                   node->text);
    }
}

// Words for no limit: that of the format, and those that its reader of numbers takes.
static bool is_unlimited(const char *text)
{
    static const char *const words[] = { "unlimited", "inf",   "+inf",     "-inf",      ".inf",
                                         "+.inf",     "-.inf", "infinity", "+infinity", "-infinity" };
    for (int i = 0; i < COUNT_OF(words); i++)
        if (!strcasecmp(text, words[i]))
            return true;
    return false;
}

// One end of a range: a number or "unlimited".
static bool read_limit(BodyReader *reader, const YamlNode *node, const char *key, double unit, double sign,
                       double *value)
{
    assert_debug(sign == 1.0 || sign == -1.0);
    if (yaml_is_scalar(node) && is_unlimited(node->text)) {
        *value = (*node->text == '-' ? -1.0 : *node->text == '+' ? 1.0 : sign) * BODY_UNLIMITED;
        return true;
    }
    double number;
    if (!yaml_double_prefix(node, &number)) {
        diag_error(reader->diags, node->pos, "%s wants numbers or 'unlimited'", key);
        return false;
    }
    *value = number * unit;
    return true;
}

typedef struct RangeKey {
    const char *key, *old_key;
    bool takes_scalar;  // one number for both ways
} RangeKey;

// Both limits are read before either is set, so that a bad one leaves the defaults. Exchanged ends are a common
// slip.
static void read_range(BodyReader *reader, const YamlNode *map, RangeKey range, double unit, double *lower,
                       double *upper)
{
    const char *key = range.key;
    const YamlNode *node = body_key(map, key, range.old_key);
    if (!node)
        return;
    if (node->kind == YAML_SCALAR && range.takes_scalar) {
        double value;
        if (!read_limit(reader, node, key, unit, 1.0, &value))
            return;
        *upper = value;
        *lower = -value;
    } else if (yaml_is_list(node) && node->count == 2) {
        double low, high;
        if (!read_limit(reader, node->items[0], key, unit, -1.0, &low)
            || !read_limit(reader, node->items[1], key, unit, 1.0, &high))
            return;
        *lower = low;
        *upper = high;
    } else {
        diag_error(reader->diags, node->pos, "%s wants a list of two limits%s", key,
                   range.takes_scalar ? " or one for both ways" : "");
        return;
    }
    if (*lower > *upper) {
        diag_warning(reader->diags, node->pos, "%s: lower end %g above upper end %g; exchanged", key, *lower, *upper);
        double low = *lower;
        *lower = *upper;
        *upper = low;
    }
}

static void read_limits(BodyReader *reader, const YamlNode *map, BodyLink *link)
{
    assert(reader->angle > 0.0);
    double unit = link->joint_type == BODY_JOINT_REVOLUTE ? reader->angle : 1.0;
    read_range(reader, map, (RangeKey){ "joint_range", "jointRange", true }, unit, &link->q_lower, &link->q_upper);
    RangeKey max_velocity = { "max_joint_velocity", "maxJointVelocity", true },
             velocities = { "joint_velocity_range", "jointVelocityRange", false };
    bool has_max = body_key(map, max_velocity.key, max_velocity.old_key) != NULL;
    read_range(reader, map, has_max ? max_velocity : velocities, unit, &link->dq_lower, &link->dq_upper);
    const YamlNode *effort = body_key(map, "max_joint_effort", "maxJointEffort");
    double limit;
    if (effort && read_limit(reader, effort, "max_joint_effort", 1.0, 1.0, &limit))
        link->effort_limit = fabs(limit);
}

static void read_displacement(BodyReader *reader, const YamlNode *map, BodyLink *link)
{
    double q;
    if (body_hard_double(reader, map, "joint_angle", "jointAngle", &q))
        link->q_initial = q * reader->angle;
    if (body_hard_double(reader, map, "joint_displacement", "jointDisplacement", &q))
        link->q_initial = link->joint_type == BODY_JOINT_REVOLUTE ? q * reader->angle : q;
}

static void read_rotor(BodyReader *reader, const YamlNode *map, BodyLink *link)
{
    double value;
    body_hard_double(reader, map, "rotor_inertia", "rotorInertia", &link->rotor_inertia);
    body_hard_double(reader, map, "gear_ratio", "gearRatio", &link->gear_ratio);
    link->axis_inertia = link->gear_ratio * link->gear_ratio * link->rotor_inertia;
    if (body_hard_double(reader, map, "joint_axis_inertia", NULL, &value)) {
        link->axis_inertia = value;
        link->rotor_inertia = value;
        link->gear_ratio = 1.0;
    }
    if (!(link->axis_inertia >= 0.0) || !isfinite(link->axis_inertia)) {
        diag_error(reader->diags, map->pos, "inertia %g of the rotor cannot be; using 0", link->axis_inertia);
        link->axis_inertia = link->rotor_inertia = 0.0;
    }
}

void body_link_read(BodyReader *reader, const YamlNode *map, BodyLink *link, bool is_sub_body)
{
    assert_debug(yaml_is_map(map));
    if (!is_sub_body) {
        link->pos = map->pos;
        body_string(reader, map, "name", NULL, &link->name);
        link->joint_name = link->name;
        body_string(reader, map, "joint_name", NULL, &link->joint_name);
    } else {
        // What the sub-body's own file says of these is lost in Choreonoid as well.
        link->q_lower = link->dq_lower = -BODY_UNLIMITED;
        link->q_upper = link->dq_upper = BODY_UNLIMITED;
        link->rotor_inertia = link->axis_inertia = 0.0;
        link->gear_ratio = 1.0;
    }
    body_translation(reader, map, "translation", &link->translation);
    body_rotation(reader, map, "rotation", &link->rotation);
    read_joint_type(reader, map, link);
    body_hard_int(reader, map, "joint_id", "jointId", &link->joint_id);
    if (link->joint_id < -1)
        link->joint_id = -1;
    read_axis(reader, map, link);
    read_actuation(reader, map, link);
    read_limits(reader, map, link);
    read_displacement(reader, map, link);
    read_rotor(reader, map, link);
    body_string(reader, map, "material", NULL, &link->material);
    if (!*link->material || !strcmp(link->material, "default"))
        link->material = "Default";
}
