// A running world takes nothing from the heap once it is warm: malloc and friends are counted for the whole process,
// ODE included.
#include "physics/world.h"

#if COMMON_HAS_SANITIZER
int main(void)
{
    printf("skipped: a sanitizer owns the heap\n");
    return 77;
}
#else

#include <malloc.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *data, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static long allocations;
static bool is_counting;

static void count(void) { allocations += is_counting; }
void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}
void *calloc(size_t number, size_t size)
{
    count();
    return __libc_calloc(number, size);
}
void *realloc(void *data, size_t size)
{
    count();
    return __libc_realloc(data, size);
}
void *memalign(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

// A pile that stays awake, a chain of motors, a pool with something afloat.
static void build(Text *out)
{
    text_add_string(
        out,
        "WorldInfo { basicTimeStep 8 physicsDisableTime 0 } Solid { name \"floor\" boundingObject Plane { } }\n"
        "Fluid { translation 10 0 0.5 boundingObject Box { size 4 4 1 } }\n"
        "Solid { name \"cork\" translation 10 0 0.9 immersionProperties ImmersionProperties { fluidName \"fluid\" } "
        "boundingObject Sphere { radius 0.2 } physics Physics { density 400 } }\n");
    for (int i = 0; i < 12; i++)
        text_printf(out, "Solid { name \"s%d\" translation %g 0 %g boundingObject %s physics Physics { } }\n", i,
                    0.05 * (i % 3), 0.3 + 0.45 * i,
                    i % 3 == 0   ? "Box { size 0.4 0.4 0.4 }"
                    : i % 3 == 1 ? "Cylinder { radius 0.2 height 0.4 }"
                                 : "Capsule { radius 0.15 height 0.2 }");
    text_add_string(out, "Robot { name \"arm\" translation 0 6 1 children [\n");
    for (int i = 0; i < 5; i++)
        text_printf(
            out,
            "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 dampingConstant 0.1 springConstant 1 } device RotationalMotor { name \"m%d\" } "
            "endPoint Solid { name \"l%d\" translation 0.3 0 0 boundingObject Box { size 0.2 0.1 0.1 } physics Physics { } children [\n",
            i, i);
    for (int i = 0; i < 5; i++)
        text_add_string(out, "] } }\n");
    text_add_string(out, "] }\n");
}

static void steps_do_not_allocate(void **state)
{
    (void)state;
    Text text = { 0 };
    build(&text);
    for (const char *const *stepper = physics_stepper_names(); *stepper; stepper++) {
        allocations = 0;
        is_counting = true;
        World world = world_open_with(text.data, &(SimOptions){ .physics.stepper = *stepper });
        is_counting = false;
        CHECK(allocations > 100, "loading is counted");
        SimSnapshot snapshot = { 0 };
        world_step(&world, 1200);
        sim_snapshot(world.sim, &snapshot);
        allocations = 0;
        is_counting = true;
        world_step(&world, 600);
        sim_snapshot(world.sim, &snapshot);
        sim_restore(world.sim, &snapshot);
        is_counting = false;
        printf("%s: %ld allocations in 600 steps, %d contacts\n", *stepper, allocations,
               physics_statistics(world.physics).contacts);
        CHECK(allocations == 0, *stepper);
        sim_snapshot_free(&snapshot);
        world_close(&world);
    }
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(steps_do_not_allocate) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
