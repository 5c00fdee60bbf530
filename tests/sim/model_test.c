// Snapshots know the world they are of: each fact that a step depends on, changed by itself, makes another world refuse
// them and say which it is. What is refused leaves no trace.
#include "physics/world.h"

static const char base[] =
    "WorldInfo { basicTimeStep 16 gravity 9.81 CFM 1e-05 ERP 0.2 physicsDisableTime 1\n"
    "  contactProperties [ ContactProperties { material1 \"grip\" coulombFriction [ 0.7 ] bounce 0.1 } ] }\n"
    "Solid { name \"floor\" boundingObject Box { size 9 9 0.1 } }\n"
    "Solid { name \"rock\" translation 3 0 1 boundingObject Mesh2 physics Physics { density 900 } }\n"
    "Fluid { translation 0 5 0 boundingObject Box { size 1 1 1 } density 1000 viscosity 0.5 }\n"
    "Solid { name \"boat\" translation 0 5 0.4 immersionProperties ImmersionProperties { fluidName \"fluid\" dragForceCoefficients 0.1 0 0 }\n"
    "  boundingObject Sphere { radius 0.1 } physics Physics { } }\n"
    "Robot { name \"robot\" controller \"<none>\" translation 0 0 0.5 contactMaterial \"grip\" boundingObject Box { size 0.4 0.2 0.1 }\n"
    "  physics Physics { mass 5 density -1 damping Damping { linear 0.3 angular 0.4 } } children [\n"
    "  HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0.2 0.3 0 minStop -2 maxStop 2 springConstant 3\n"
    "    suspensionSpringConstant 500 suspensionDampingConstant 50 suspensionAxis 0 0 1 }\n"
    "    device RotationalMotor { name \"motor\" maxVelocity 7 maxTorque 8 }\n"
    "    endPoint Solid { name \"wheel\" translation 0.2 0.3 0 boundingObject Sphere { radius 0.1 } physics Physics { density 333 } } }\n"
    "  Connector { name \"hook\" translation -0.2 0 0 distanceTolerance 0.01 }\n"
    "] }\n";

static const struct {
    const char *from, *to, *says;
} changes[] = {
    { "basicTimeStep 16", "basicTimeStep 8", "the time step" },
    { "gravity 9.81", "gravity 9.80", "gravity" },
    { "CFM 1e-05", "CFM 2e-05", "ERP or CFM" },
    { "ERP 0.2", "ERP 0.3", "ERP or CFM" },
    { "physicsDisableTime 1", "physicsDisableTime 2", "when bodies sleep" },
    { "coulombFriction [ 0.7 ]", "coulombFriction [ 0.8 ]", "contact properties" },
    { "bounce 0.1", "bounce 0.2", "contact properties" },
    { "contactMaterial \"grip\"", "contactMaterial \"slip\"", "contact materials" },
    { "mass 5", "mass 6", "masses" },
    { "density 333", "density 334", "masses" },
    { "linear 0.3", "linear 0.31", "damping" },
    { "size 9 9 0.1", "size 9 9 0.2", "shapes" },
    { "boundingObject Box { size 9 9 0.1 }", "boundingObject Pose { translation 0 0 -1 children Box { size 9 9 0.1 } }",
      "shapes" },
    { "0 0 1 ] }", "0 0 2 ] }", "meshes" },
    { "HingeJoint {", "BallJoint {", "joints" },
    { "anchor 0.2 0.3 0", "anchor 0.2 0.31 0", "joint anchors" },
    { "axis 0 1 0", "axis 0 1 0.1", "joint axes" },
    { "maxStop 2", "maxStop 1.5", "joint stops" },
    { "springConstant 3\n", "springConstant 4\n", "joint springs" },
    { "suspensionSpringConstant 500", "suspensionSpringConstant 600", "suspensions" },
    { "suspensionAxis 0 0 1", "suspensionAxis 0 1 1", "suspensions" },
    { "maxTorque 8", "maxTorque 9", "motors or brakes" },
    { "maxVelocity 7", "maxVelocity 6", "motors or brakes" },
    { "distanceTolerance 0.01", "distanceTolerance 0.02", "connectors" },
    { "density 1000", "density 1100", "fluids" },
    { "viscosity 0.5", "viscosity 0.4", "fluids" },
    { "dragForceCoefficients 0.1 0 0", "dragForceCoefficients 0.2 0 0", "fluids" },
    { "name \"boat\"", "name \"ship\"", NULL },  // words change nothing that moves
};

static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("the world has no '%s'", from);
    char *out = NULL;
    if (asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) < 0)
        abort();
    return out;
}

static char *base_world(void)
{
    return replaced(
        base, "Mesh2",
        "IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0, 0 0 1 ] } coordIndex [ 0 2 1 -1 0 1 3 -1 1 2 3 -1 0 3 2 -1 ] }");
}

static World open_changed(int change)
{
    char *whole = base_world(), *text = change < 0 ? NULL : replaced(whole, changes[change].from, changes[change].to);
    World world = world_open_with(text ? text : whole, NULL);
    free(text);
    free(whole);
    return world;
}

static void each_change_is_named(void **state)
{
    (void)state;
    World world = open_changed(-1);
    world_step(&world, 20);
    SimSnapshot snapshot = { 0 };
    sim_snapshot(world.sim, &snapshot);
    World same = open_changed(-1);
    CHECK(sim_restore(same.sim, &snapshot) && sim_hash(same.sim) == sim_hash(world.sim), "the same file");
    world_close(&same);
    for (int i = 0; i < COUNT_OF(changes); i++) {
        World other = open_changed(i);
        uint64_t before = sim_hash(other.sim);
        bool is_taken = sim_restore(other.sim, &snapshot);
        CHECK(is_taken == !changes[i].says, changes[i].to);
        CHECK(is_taken || sim_hash(other.sim) == before, changes[i].to);
        if (changes[i].says)
            CHECK(world_said(&other, changes[i].says) == 1, changes[i].to);
        world_close(&other);
    }
    sim_snapshot_free(&snapshot);
    world_close(&world);
}

// A field that is set and set back leaves the model what it was.
static void edits_count_while_they_last(void **state)
{
    (void)state;
    World world = open_changed(-1);
    SimSnapshot snapshot = { 0 };
    world_step(&world, 5);
    sim_snapshot(world.sim, &snapshot);
    SceneNode *info = scene_list_node(scene_list(scene_root(sim_scene(world.sim)), "children"), 0);
    static const double gravities[] = { 3.7, 9.81 };
    for (int i = 0; i < COUNT_OF(gravities); i++) {
        scene_set_float(sim_scene(world.sim), info, "gravity", gravities[i]);
        physics_field_changed(world.physics, info, "gravity");
        CHECK(sim_restore(world.sim, &snapshot) == (i == 1), "9.81 is that of the snapshot");
    }
    sim_snapshot_free(&snapshot);
    world_close(&world);
}

// ---- a part that refuses ----

typedef struct Counter {
    uint64_t value;
    bool refuses;
} Counter;

static size_t counter_size(void *context)
{
    (void)context;
    return sizeof(uint64_t);
}
static void counter_save(void *context, void *buffer)
{
    memcpy(buffer, &((Counter *)context)->value, sizeof(uint64_t));
}
static uint64_t counter_hash(void *context) { return ((Counter *)context)->value; }
static bool counter_restore(void *context, const void *buffer, size_t size)
{
    Counter *counter = context;
    if (counter->refuses || size != sizeof(uint64_t))
        return false;
    memcpy(&counter->value, buffer, sizeof(uint64_t));
    return true;
}

// Whichever part refuses, and when the bytes of physics themselves do, everything is as it was.
static void refused_means_untouched(void **state)
{
    (void)state;
    World world = open_changed(-1);
    Counter counters[2] = { { 1, false }, { 2, false } };
    for (int i = 0; i < 2; i++)
        sim_add_state(world.sim, &(SimStatePart){ "counter", &counters[i], counter_size, counter_save, counter_restore,
                                                  counter_hash });
    SimSnapshot snapshot = { 0 };
    sim_snapshot(world.sim, &snapshot);
    world_step(&world, 10);
    counters[0].value = 3, counters[1].value = 4;
    uint64_t now = sim_hash(world.sim);
    for (int i = 0; i < 2; i++) {
        counters[i].refuses = true;
        CHECK(!sim_restore(world.sim, &snapshot) && sim_hash(world.sim) == now, "a part refuses");
        counters[i].refuses = false;
    }
    unsigned char *bytes = snapshot.data;
    size_t bodies = 0;  // somewhere behind the heads: a coordinate that is none
    for (size_t i = snapshot.size / 4; i < snapshot.size / 2 && !bodies; i += 8) {
        unsigned char old[8];
        memcpy(old, bytes + i, 8);
        memset(bytes + i, 0xff, 8);
        bool is_taken = sim_restore(world.sim, &snapshot);
        CHECK(is_taken || sim_hash(world.sim) == now, "bytes that are none of this world");
        bodies = is_taken ? 0 : i;
        memcpy(bytes + i, old, 8);
        if (is_taken) {
            CHECK(sim_restore(world.sim, &snapshot), "sound again");
            now = sim_hash(world.sim);
        }
    }
    CHECK(bodies > 0, "some bytes are refused");
    CHECK(sim_restore(world.sim, &snapshot) && counters[0].value == 1 && counters[1].value == 2, "taken in the end");
    sim_snapshot_free(&snapshot);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_is_named),
        cmocka_unit_test(edits_count_while_they_last),
        cmocka_unit_test(refused_means_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
