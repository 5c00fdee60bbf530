// SR1 walks its whole pattern under a torque controller written against the public C API, beside Choreonoid's own
// recording.
#include "talus/talus.h"

#include "formats/yaml/yaml.h"
#include "support/support.h"

#include <math.h>

enum { JOINTS = 29 };

typedef struct Walker {
    TalusWorld *world;
    TalusNode joints[JOINTS];
    const YamlNode *frames;
    double last[JOINTS], torque[JOINTS];
    int frame;
} Walker;

static char *read_text(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", support_corpus() ? support_corpus() : "", name);
    return support_corpus() ? support_read(path) : NULL;
}

static const YamlNode *find_frames(const YamlDocument *document)
{
    const YamlNode *components = yaml_get(yaml_root(document), "components");
    for (int i = 0; yaml_is_list(components) && i < components->count; i++)
        if (yaml_is_scalar(yaml_get(components->items[i], "content"))
            && !strcmp(yaml_get(components->items[i], "content")->text, "JointDisplacement"))
            return yaml_get(components->items[i], "frames");
    return NULL;
}

static double wanted(const Walker *walker, int frame, int joint)
{
    double value = 0.0;
    frame = frame < 0 ? 0 : frame < walker->frames->count ? frame : walker->frames->count - 1;
    CHECK(yaml_double(walker->frames->items[frame]->items[joint], &value), "motion");
    return value;
}

static double position(const Walker *walker, int joint)
{
    double value;
    CHECK(talus_joint_position(walker->world, walker->joints[joint], 0, &value), "joint");
    return value;
}

// Torques act one step late, as in the recording.
static void control(Walker *walker)
{
    double dt = talus_time_step(walker->world);
    for (int i = 0; i < JOINTS; i++) {
        bool is_arm = (i >= 6 && i < 13) || (i >= 19 && i < 26);
        double q = position(walker, i), target = wanted(walker, walker->frame, i);
        double rate = (target - wanted(walker, walker->frame - 1, i)) / dt - (q - walker->last[i]) / dt;
        CHECK(talus_motor_set_force(walker->world, walker->joints[i], 0, walker->torque[i]), "torque");
        walker->torque[i] = (is_arm ? 3000.0 : 8000.0) * (target - q) + 100.0 * rate;
        walker->last[i] = q;
    }
    walker->frame++;
}

static void sr1_walks(void **state)
{
    (void)state;
    static const char *const names[JOINTS] = {
        "RLEG_HIP_R",      "RLEG_HIP_P",      "RLEG_HIP_Y",      "RLEG_KNEE",       "RLEG_ANKLE_P", "RLEG_ANKLE_R",
        "RARM_SHOULDER_P", "RARM_SHOULDER_R", "RARM_SHOULDER_Y", "RARM_ELBOW",      "RARM_WRIST_Y", "RARM_WRIST_P",
        "RARM_WRIST_R",    "LLEG_HIP_R",      "LLEG_HIP_P",      "LLEG_HIP_Y",      "LLEG_KNEE",    "LLEG_ANKLE_P",
        "LLEG_ANKLE_R",    "LARM_SHOULDER_P", "LARM_SHOULDER_R", "LARM_SHOULDER_Y", "LARM_ELBOW",   "LARM_WRIST_Y",
        "LARM_WRIST_P",    "LARM_WRIST_R",    "WAIST_P",         "WAIST_R",         "CHEST",
    };
    char *record = read_text("../reference/choreonoid-runs/sr1-walk-aist.csv"),
         *motion = read_text("choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern1.seq");
    if (!record || !motion)
        SUPPORT_SKIP("Choreonoid's recordings are not on this machine");
    DiagSink *diags = diag_create();
    YamlDocument *document = yaml_parse("motion", motion, strlen(motion), NULL, diags);
    char path[4096];
    snprintf(path, sizeof path, "%s/choreonoid+choreonoid/sample/SimpleController/SR1Walk.cnoid", support_corpus());
    Walker walker = { .world = talus_load(path, NULL), .frames = find_frames(document) };
    CHECK(walker.world && walker.frames, "world and motion");
    for (int i = 0; i < JOINTS; i++) {
        walker.joints[i] = talus_find(walker.world, names[i]);
        CHECK(walker.joints[i] != TALUS_NONE, names[i]);
        walker.last[i] = position(&walker, i);
    }
    TalusNode root = talus_find(walker.world, "SR1");
    double worst_place = 0.0, worst_joint = 0.0;
    int rows = 0;
    for (char *line = strchr(record, '\n'); line && line[1]; line = strchr(line + 1, '\n'), rows++) {
        double cells[8 + JOINTS];
        char *at = line + 1;
        for (int i = 0; i < COUNT_OF(cells); i++, at += *at == ',')
            cells[i] = strtod(at, &at);
        while (talus_time(walker.world) < cells[0] - 0.25 * talus_time_step(walker.world)) {
            control(&walker);
            CHECK(talus_step(walker.world, 1), "step");
        }
        TalusPose pose;
        CHECK(talus_pose(walker.world, root, &pose), "pose");
        worst_place = fmax(worst_place, sqrt(pow(pose.position.x - cells[1], 2) + pow(pose.position.y - cells[2], 2)
                                             + pow(pose.position.z - cells[3], 2)));
        for (int i = 0; i < JOINTS; i++)
            worst_joint = fmax(worst_joint, fabs(position(&walker, i) - cells[8 + i]));
    }
    printf("%d rows: %.4f m, %.4f rad\n", rows, worst_place, worst_joint);
    CHECK(rows > 200 && worst_place < 0.025 && worst_joint < 0.02, "SR1 beside its recording");
    talus_free(walker.world);
    yaml_destroy(document);
    diag_destroy(diags);
    free(record);
    free(motion);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sr1_walks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
