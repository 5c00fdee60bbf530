// A world as a glTF file: its frame, what is shared, poses and materials as written, motion, and the same bytes every
// time. The numbers are read back from the file's own tables.
#include "physics/world.h"

#include "record/glb.h"

static const char text[] =
    "WorldInfo { basicTimeStep 8 }"
    "DEF FLOOR Solid { name \"floor\" children [ Shape { appearance PBRAppearance { baseColor 0.5 0.25 1 metalness 0 roughness 0.75 } geometry Plane { size 4 4 } } ]"
    " boundingObject Plane { size 4 4 } }"
    "DEF A Solid { name \"a\" translation 1 2 3 children [ Shape { appearance DEF RED PBRAppearance { baseColor 1 0 0 transparency 0.5 } geometry DEF CUBE Box { size 0.2 0.4 0.6 } }"
    "  Pose { translation 0 0 1 children [ Shape { appearance USE RED geometry USE CUBE } ] } ] boundingObject USE CUBE physics Physics { } }"
    "Solid { name \"b <&\\\"> \" translation -1 0 1 children [ Shape { geometry Sphere { radius 0.3 } } ] boundingObject Sphere { radius 0.3 } physics Physics { } }";

typedef struct Glb {
    Text file;
    const char *json;
    uint32_t json_size;
    const uint8_t *bin;
    uint32_t bin_size;
} Glb;

static uint32_t number_at(const Text *file, size_t offset)
{
    uint32_t value;
    CHECK(offset + 4 <= file->length, "within the file");
    memcpy(&value, file->data + offset, 4);
    return value;
}

static Glb write_world(World *world, const GlbMotion *motion)
{
    Glb glb = { 0 };
    glb_write(world->sim, motion, &glb.file);
    CHECK(number_at(&glb.file, 0) == 0x46546c67 && number_at(&glb.file, 4) == 2, "header");
    CHECK(number_at(&glb.file, 8) == glb.file.length, "length");
    glb.json_size = number_at(&glb.file, 12);
    CHECK(number_at(&glb.file, 16) == 0x4e4f534a && glb.json_size % 4 == 0, "JSON");
    glb.json = glb.file.data + 20;
    glb.bin_size = number_at(&glb.file, 20 + glb.json_size);
    CHECK(number_at(&glb.file, 24 + glb.json_size) == 0x004e4942 && glb.bin_size % 4 == 0, "BIN");
    glb.bin = (const uint8_t *)glb.json + glb.json_size + 8;
    CHECK(28 + glb.json_size + glb.bin_size == glb.file.length, "all of it");
    return glb;
}

static int occurrences(const Glb *glb, const char *part)
{
    int count = 0;
    for (const char *at = glb->json; (at = memmem(at, (size_t)(glb->json + glb->json_size - at), part, strlen(part)));
         at += strlen(part))
        count++;
    return count;
}

static void what_is_seen_is_written_once(void **state)
{
    (void)state;
    World world = world_open(text);
    Glb glb = write_world(&world, NULL), again = write_world(&world, NULL);
    CHECK(glb.file.length == again.file.length && !memcmp(glb.file.data, again.file.data, glb.file.length),
          "the same bytes twice");
    CHECK(occurrences(&glb, "\"primitives\"") == 3, "the cube's triangles stand there once");
    CHECK(occurrences(&glb, "\"mesh\":") == 4, "four shapes");
    CHECK(occurrences(&glb, "\"pbrMetallicRoughness\"") == 3, "three materials");
    CHECK(occurrences(&glb, "\"BLEND\"") == 1, "one is transparent");
    CHECK(occurrences(&glb, "\"solid\":") == 3, "three solids");
    CHECK(occurrences(&glb, "\"translation\":[1,2,3]") == 1, "where the first one stands");
    CHECK(occurrences(&glb, "\"roughnessFactor\":0.75") == 1, "roughness");
    CHECK(occurrences(&glb, "\"animations\"") == 0, "nothing moves");
    CHECK(occurrences(&glb, "<&\\\">") == 1, "names are text");
    text_free(&glb.file);
    text_free(&again.file);
    world_close(&world);
}

static void motion_is_an_animation_of_what_moves(void **state)
{
    (void)state;
    enum { FRAMES = 5 };
    World world = world_open(text);
    int solids = physics_solid_count(world.physics);
    double times[FRAMES];
    Pose *poses = calloc((size_t)(FRAMES * solids), sizeof *poses);
    for (int f = 0; f < FRAMES; f++) {
        times[f] = sim_time(world.sim);
        for (int s = 0; s < solids; s++)
            poses[f * solids + s] = physics_solid_pose(world.physics, s);
        world_step(&world, 10);
    }
    Glb glb = write_world(&world, &(GlbMotion){ FRAMES, solids, times, poses });
    CHECK(occurrences(&glb, "\"animations\"") == 1, "one animation");
    CHECK(occurrences(&glb, "\"path\":\"translation\"") == 2 && occurrences(&glb, "\"path\":\"rotation\"") == 2,
          "of the two that fall");
    // Free fall of A is among the numbers of the buffer, frame after frame.
    int a = world_solid(&world, "A");
    float track[3 * FRAMES];
    for (int f = 0; f < FRAMES; f++) {
        Vec3 place = poses[f * solids + a].t;
        track[3 * f] = (float)place.x, track[3 * f + 1] = (float)place.y, track[3 * f + 2] = (float)place.z;
    }
    CHECK(memmem(glb.bin, glb.bin_size, track, sizeof track) != NULL, "its places");
    CHECK(track[3 * FRAMES - 1] < 2.9f, "it fell");
    free(poses);
    text_free(&glb.file);
    world_close(&world);
}

static void a_world_without_anything_is_a_file_too(void **state)
{
    (void)state;
    World world = world_open("WorldInfo { }");
    Text file = { 0 };
    glb_write(world.sim, NULL, &file);
    CHECK(number_at(&file, 8) == file.length && number_at(&file, 12) + 20 == file.length, "no buffer");
    text_free(&file);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_seen_is_written_once),
        cmocka_unit_test(motion_is_an_animation_of_what_moves),
        cmocka_unit_test(a_world_without_anything_is_a_file_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
