// Our narrow phase against ODE's: the same pairs touch, with about the same depth and normal; the cache follows motion.
#include "physics/collide/collide.h"
#include "physics/collide/collide_cache.h"
#include "support/support.h"
#define COLLIDE_SEED 5
#include "physics/collide_random.h"

#include <math.h>
#include <ode/ode.h>

static dGeomID geom_of(const CollideShape *shape)
{
    switch (shape->type) {
    case GEOMETRY_SPHERE: return dCreateSphere(NULL, shape->size[0]);
    case GEOMETRY_CAPSULE: return dCreateCapsule(NULL, shape->size[0], 2 * shape->size[1]);
    case GEOMETRY_CYLINDER: return dCreateCylinder(NULL, shape->size[0], 2 * shape->size[1]);
    case GEOMETRY_BOX: return dCreateBox(NULL, 2 * shape->size[0], 2 * shape->size[1], 2 * shape->size[2]);
    case GEOMETRY_PLANE: return dCreatePlane(NULL, 0, 0, 1, 0);
    default: break;
    }
    return NULL;
}

static double deepest(const CollidePoint *points, int count)
{
    double depth = 0.0;
    for (int i = 0; i < count; i++)
        depth = fmax(depth, points[i].depth);
    return depth;
}

static void test_against_ode(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        CollideShape a, b;
        double tolerance;
    } pairs[] = {
        { "sphere sphere", { GEOMETRY_SPHERE, { 0.2 } }, { GEOMETRY_SPHERE, { 0.3 } }, 1e-9 },
        { "sphere capsule", { GEOMETRY_SPHERE, { 0.2 } }, { GEOMETRY_CAPSULE, { 0.1, 0.3 } }, 1e-9 },
        { "capsule capsule", { GEOMETRY_CAPSULE, { 0.12, 0.2 } }, { GEOMETRY_CAPSULE, { 0.1, 0.3 } }, 2e-3 },
        { "sphere box", { GEOMETRY_SPHERE, { 0.2 } }, { GEOMETRY_BOX, { 0.2, 0.3, 0.1 } }, 1e-9 },
        { "box box", { GEOMETRY_BOX, { 0.3, 0.1, 0.2 } }, { GEOMETRY_BOX, { 0.2, 0.3, 0.1 } }, 0.02 },
        { "sphere cylinder", { GEOMETRY_SPHERE, { 0.2 } }, { GEOMETRY_CYLINDER, { 0.15, 0.25 } }, 2e-3 },
        { "box plane", { GEOMETRY_BOX, { 0.3, 0.1, 0.2 } }, { GEOMETRY_PLANE, { 0 } }, 1e-9 },
        { "sphere plane", { GEOMETRY_SPHERE, { 0.3 } }, { GEOMETRY_PLANE, { 0 } }, 1e-9 },
        { "capsule plane", { GEOMETRY_CAPSULE, { 0.1, 0.3 } }, { GEOMETRY_PLANE, { 0 } }, 1e-9 },
        { "cylinder plane", { GEOMETRY_CYLINDER, { 0.1, 0.3 } }, { GEOMETRY_PLANE, { 0 } }, 1e-6 },
    };
    for (int p = 0; p < COUNT_OF(pairs); p++) {
        dGeomID ga = geom_of(&pairs[p].a), gb = geom_of(&pairs[p].b);
        int touched = 0;
        for (int n = 0; n < 2000; n++) {
            CollidePose pa, pb;
            double qa[4], qb[4];
            random_pose(0.8, &pa, qa);
            random_pose(0.8, &pb, qb);
            bool plane = pairs[p].b.type == GEOMETRY_PLANE;
            if (plane)
                pb = (CollidePose){ .rotation = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
            dGeomSetPosition(ga, pa.position[0], pa.position[1], pa.position[2]);
            dGeomSetQuaternion(ga, qa);
            if (!plane) {
                dGeomSetPosition(gb, pb.position[0], pb.position[1], pb.position[2]);
                dGeomSetQuaternion(gb, qb);
            }
            dContactGeom found[8];
            CollidePoint points[COLLIDE_POINTS];
            int theirs = dCollide(ga, gb, 8, found, sizeof found[0]),
                ours = collide_pair(&pairs[p].a, &pa, &pairs[p].b, &pb, 0.0, points);
            double their_depth = 0.0, our_depth = deepest(points, ours);
            for (int i = 0; i < theirs; i++)
                their_depth = fmax(their_depth, found[i].depth);
            touched += ours > 0;
            bool deep = their_depth > 0.05 || our_depth > 0.05;  // far inside there is more than one way out
            CHECK((theirs > 0) == (ours > 0) || fmax(our_depth, their_depth) < 1e-3, pairs[p].name);
            CHECK(deep || fabs(our_depth - their_depth) <= pairs[p].tolerance, pairs[p].name);
            // A ball's point stands where ODE has it, so that it rolls as far.
            bool is_ball = pairs[p].a.type == GEOMETRY_SPHERE
                           && (pairs[p].b.type == GEOMETRY_BOX || pairs[p].b.type == GEOMETRY_PLANE);
            for (int i = 0; is_ball && theirs == 1 && ours == 1 && i < 3; i++)
                CHECK_NEAR(points[0].position[i], found[0].pos[i], 1e-12, pairs[p].name);
            for (int i = 0; i < ours; i++) {
                const double *m = points[i].normal;
                CHECK(fabs(m[0] * m[0] + m[1] * m[1] + m[2] * m[2] - 1.0) < 1e-9, pairs[p].name);
            }
        }
        CHECK(touched > 50, pairs[p].name);
        dGeomDestroy(ga);
        dGeomDestroy(gb);
    }
}

// How far a point is from a solid cylinder or box; 0 inside.
static double solid_distance(const CollideShape *solid, const CollidePose *pose, const double p[3])
{
    double local[3], away[3];
    for (int k = 0; k < 3; k++) {
        local[k] = 0.0;
        for (int i = 0; i < 3; i++)
            local[k] += pose->rotation[3 * i + k] * (p[i] - pose->position[i]);
        away[k] = fmax(fabs(local[k]) - solid->size[k], 0.0);
    }
    if (solid->type == GEOMETRY_BOX)
        return sqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2]);
    return hypot(fmax(hypot(local[0], local[1]) - solid->size[0], 0.0), fmax(fabs(local[2]) - solid->size[1], 0.0));
}

// ODE's iterative solver gives more depth than there is; here the truth is found by trying points of the capsule's
// axis.
static void test_capsule_on_solid(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        CollideShape capsule, solid;
    } cases[] = {
        { "on a cylinder", { GEOMETRY_CAPSULE, { 0.1, 0.2 } }, { GEOMETRY_CYLINDER, { 0.15, 0.25 } } },
        { "on a box", { GEOMETRY_CAPSULE, { 0.1, 0.2 } }, { GEOMETRY_BOX, { 0.15, 0.25, 0.1 } } },
        { "short on a box", { GEOMETRY_CAPSULE, { 0.2, 0.01 } }, { GEOMETRY_BOX, { 0.05, 0.2, 0.1 } } },
        { "long on a coin", { GEOMETRY_CAPSULE, { 0.05, 0.4 } }, { GEOMETRY_CYLINDER, { 0.3, 0.02 } } },
    };
    for (int c = 0; c < COUNT_OF(cases); c++) {
        const CollideShape *capsule = &cases[c].capsule, *solid = &cases[c].solid;
        int touched = 0;
        for (int n = 0; n < 2000; n++) {
            CollidePose pa, pb;
            double q[4], nearest = INFINITY;
            random_pose(0.7, &pa, q);
            random_pose(0.7, &pb, q);
            for (int k = 0; k <= 1000; k++) {
                double p[3];
                for (int i = 0; i < 3; i++)
                    p[i] = pa.position[i] + (0.002 * k - 1.0) * capsule->size[1] * pa.rotation[3 * i + 2];
                nearest = fmin(nearest, solid_distance(solid, &pb, p));
            }
            CollidePoint points[COLLIDE_POINTS];
            int count = collide_pair(capsule, &pa, solid, &pb, 0.0, points);
            CHECK((count > 0) == (nearest < capsule->size[0]) || fabs(nearest - capsule->size[0]) < 1e-5,
                  cases[c].name);
            for (int i = 0; i < count; i++) {
                const double *m = points[i].normal;
                CHECK_NEAR(m[0] * m[0] + m[1] * m[1] + m[2] * m[2], 1.0, 1e-9, cases[c].name);
                CHECK(points[i].depth > 0.02 || solid_distance(solid, &pb, points[i].position) < 1e-9,
                      cases[c].name);  // half the depth inside it
            }
            if (nearest == 0.0 || count == 0)
                continue;  // the axis itself is inside: more than one way out
            touched++;
            double deeper = deepest(points, count)
                            - (capsule->size[0] - nearest);  // by at most half a step of the trial
            CHECK(deeper > -1e-9 && deeper < 0.001 * capsule->size[1], cases[c].name);
        }
        CHECK(touched > 200, cases[c].name);
    }
}

// A capsule that lies on something touches it at both ends of what they share.
static void test_lying_capsule(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        CollideShape solid;
        double centre[3], axis[3];
        int count;
        double ends[2][3];
    } cases[] = {
        { "within a face",
          { GEOMETRY_BOX, { 0.5, 0.5, 0.1 } },
          { 0.1, 0, 0.199 },
          { 1, 0, 0 },
          2,
          { { -0.1, 0, 0.0995 }, { 0.3, 0, 0.0995 } } },
        { "over an edge",
          { GEOMETRY_BOX, { 0.2, 0.5, 0.1 } },
          { 0.2, 0.1, 0.199 },
          { 1, 0, 0 },
          2,
          { { 0, 0.1, 0.0995 }, { 0.2, 0.1, 0.0995 } } },
        { "across a bar",
          { GEOMETRY_BOX, { 0.05, 0.5, 0.1 } },
          { 0, 0, 0.199 },
          { 1, 0, 0 },
          2,
          { { -0.05, 0, 0.0995 }, { 0.05, 0, 0.0995 } } },
        { "on a cap",
          { GEOMETRY_CYLINDER, { 0.1, 0.1 } },
          { 0, 0, 0.199 },
          { 1, 0, 0 },
          2,
          { { -0.1, 0, 0.0995 }, { 0.1, 0, 0.0995 } } },
        { "along a mantle",
          { GEOMETRY_CYLINDER, { 0.1, 0.1 } },
          { 0.199, 0, 0.2 },
          { 0, 0, 1 },
          2,
          { { 0.0995, 0, 0 }, { 0.0995, 0, 0.1 } } },
        { "standing on a face",
          { GEOMETRY_BOX, { 0.5, 0.5, 0.1 } },
          { 0, 0, 0.399 },
          { 0, 0, 1 },
          1,
          { { 0, 0, 0.0995 } } },
        { "across a mantle",
          { GEOMETRY_CYLINDER, { 0.1, 0.4 } },
          { 0.199, 0, 0 },
          { 0, 1, 0 },
          1,
          { { 0.0995, 0, 0 } } },
    };
    CollideShape capsule = { GEOMETRY_CAPSULE, { 0.1, 0.2 } };
    for (int c = 0; c < COUNT_OF(cases); c++) {
        CollidePose pa = { { cases[c].centre[0], cases[c].centre[1], cases[c].centre[2] }, { 0 } },
                    pb = { .rotation = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                pa.rotation[3 * i + k] = cases[c].axis[(i + 2 - k) % 3];  // a turn of the axes that takes z to the axis
        CollidePoint points[COLLIDE_POINTS];
        int count = collide_pair(&capsule, &pa, &cases[c].solid, &pb, 0.0, points);
        CHECK(count == cases[c].count, cases[c].name);
        for (int n = 0; n < count; n++) {
            CHECK_NEAR(points[n].depth, 1e-3, 1e-9, cases[c].name);
            for (int i = 0; i < 3; i++)
                CHECK_NEAR(points[n].position[i], cases[c].ends[n][i], 1e-6, cases[c].name);
        }
    }
}

// A capsule that leans over an edge touches where the line of its axis comes closest to it, however flat it lies.
static void test_capsule_over_edge(void **state)
{
    (void)state;
    const double radius = 0.1, length = 0.2, depth = 0.01;
    CollideShape capsule = { GEOMETRY_CAPSULE, { radius, length } }, box = { GEOMETRY_BOX, { 0.5, 0.15, 0.1 } };
    for (int n = 0; n < 2000; n++) {
        double lean = 0.2 * random_unit() + 1e-4, across = random_unit() - 0.5, at = 0.2 + 0.6 * random_unit(),
               along = 0.4 * random_unit() - 0.2;
        double k = 1.0 / sqrt(across * across + 1.0 + lean * lean), axis[3] = { k * across, k, -k * lean };
        double normal[3] = { 0.0, lean / sqrt(1.0 + lean * lean), 1.0 / sqrt(1.0 + lean * lean) },
               edge[3] = { along, 0.15, 0.1 };
        CollidePose pa = { .rotation = { 0 } }, pb = { .rotation = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
        for (int i = 0; i < 3; i++) {
            pa.position[i] = edge[i] + (radius - depth) * normal[i] - at * length * axis[i];
            pa.rotation[3 * i + 2] = axis[i];
        }
        CollidePoint points[COLLIDE_POINTS];
        int count = collide_pair(&capsule, &pa, &box, &pb, 0.0, points), deep = 0;
        CHECK(count > 0, "touches");
        for (int i = 1; i < count; i++)
            deep = points[i].depth > points[deep].depth ? i : deep;
        CHECK_NEAR(points[deep].depth, depth, 1e-12, "depth");
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(points[deep].normal[i], normal[i], 1e-9, "normal");
    }
}

static void test_order_of_shapes(void **state)
{
    (void)state;
    CollideShape sphere = { GEOMETRY_SPHERE, { 0.2 } }, box = { GEOMETRY_BOX, { 0.2, 0.2, 0.2 } };
    CollidePose low = { .rotation = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } }, high = low;
    high.position[2] = 0.39;
    CollidePoint up[COLLIDE_POINTS], down[COLLIDE_POINTS];
    assert_int_equal(collide_pair(&sphere, &high, &box, &low, 0.0, up), 1);
    assert_int_equal(collide_pair(&box, &low, &sphere, &high, 0.0, down), 1);
    CHECK_NEAR(up[0].normal[2], 1.0, 1e-12, "into the first shape");
    CHECK_NEAR(down[0].normal[2], -1.0, 1e-12, "into the first shape");
    CHECK_NEAR(up[0].depth, 0.01, 1e-12, "depth");
}

static void test_cache(void **state)
{
    (void)state;
    CollideShape box = { GEOMETRY_BOX, { 0.2, 0.2, 0.2 } };
    CollidePose low = { .rotation = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } }, high = low;
    CollideLimit limit = collide_cache_limit(&box, &box);
    CollidePoint points[COLLIDE_POINTS];
    CollideCache *cache = collide_cache_create();
    BroadPair pair = { 0, 1 };
    collide_cache_begin(cache, &pair, 1, NULL);
    high.position[2] = 0.398;
    assert_int_equal(collide_cache_reuse(cache, 0, &high, &low, limit, points), -1);
    int count = collide_pair(&box, &high, &box, &low, 0.0, points);
    assert_int_equal(count, 4);
    collide_cache_store(cache, 0, &high, &low, points, count);
    collide_cache_begin(cache, &pair, 1, NULL);
    high.position[2] = 0.3979;
    high.position[0] = 5.0;
    low.position[0] = 5.0001;
    assert_int_equal(collide_cache_reuse(cache, 0, &high, &low, limit, points), 4);
    CHECK_NEAR(points[0].depth, 0.0021, 1e-6, "the depth follows");
    high.position[2] = 0.397;
    assert_int_equal(collide_cache_reuse(cache, 0, &high, &low, limit, points), -1);

    // A corner that comes down while the pair hardly moves is known before it touches.
    high.position[0] = low.position[0] = 0.0;
    high.position[2] = 0.4001;
    count = collide_pair(&box, &high, &box, &low, limit.shift, points);
    assert_int_equal(collide_cache_store(cache, 0, &high, &low, points, count), 0);
    assert_int_equal(collide_cache_reuse(cache, 0, &high, &low, limit, points), 0);
    high.position[2] = 0.39995;
    assert_int_equal(collide_cache_reuse(cache, 0, &high, &low, limit, points), 4);
    CHECK_NEAR(points[0].depth, 5e-5, 1e-7, "it touches now");

    // As bytes and back; wrong bytes are seen.
    size_t size = collide_cache_size(cache);
    unsigned char bytes[1024];
    assert_true(size > 0 && size <= sizeof bytes);
    collide_cache_save(cache, bytes);
    assert_true(collide_cache_is_sound(bytes, size, 2));
    assert_false(collide_cache_is_sound(bytes, size, 1));
    assert_false(collide_cache_is_sound(bytes, size - 1, 2));
    CollideCache *copy = collide_cache_create();
    collide_cache_restore(copy, bytes, size);
    collide_cache_begin(copy, &pair, 1, NULL);
    assert_int_equal(collide_cache_reuse(copy, 0, &high, &low, limit, points), 4);
    for (size_t i = 0; i < 12; i++)
        bytes[12 + i] = 0xff;  // not a number
    assert_false(collide_cache_is_sound(bytes, size, 2));
    collide_cache_destroy(copy);
    collide_cache_destroy(cache);
}

int main(void)
{
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_ode),     cmocka_unit_test(test_capsule_on_solid),
        cmocka_unit_test(test_lying_capsule),   cmocka_unit_test(test_capsule_over_edge),
        cmocka_unit_test(test_order_of_shapes), cmocka_unit_test(test_cache)
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return result;
}
