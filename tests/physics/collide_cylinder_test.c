// Cylinders with boxes and cylinders: against the least overlap over all directions (found by trying many), against
// what is known of special poses, and against ODE.
#include "physics/collide/collide.h"
#include "support/support.h"
#define COLLIDE_SEED 11
#include "physics/collide_random.h"

#include <math.h>
#include <ode/ode.h>
#include <string.h>

// ---- the truth ----

static double reach(const CollideShape *shape, const CollidePose *pose, const double n[3])
{
    const double *r = pose->rotation, *s = shape->size;
    double local[3];
    for (int k = 0; k < 3; k++)
        local[k] = r[k] * n[0] + r[3 + k] * n[1] + r[6 + k] * n[2];
    if (shape->type == GEOMETRY_BOX)
        return s[0] * fabs(local[0]) + s[1] * fabs(local[1]) + s[2] * fabs(local[2]);
    return s[1] * fabs(local[2]) + s[0] * hypot(local[0], local[1]);
}

typedef struct Scene {
    CollideShape a, b;
    CollidePose pa, pb;
} Scene;

static double separation(const Scene *s, const double n[3])
{
    double along = 0.0;
    for (int i = 0; i < 3; i++)
        along += n[i] * (s->pa.position[i] - s->pb.position[i]);
    return fabs(along) - reach(&s->a, &s->pa, n) - reach(&s->b, &s->pb, n);
}

// Climbs from a direction by trying eight neighbours, nearer and nearer.
static double climb(const Scene *s, double n[3])
{
    double best = separation(s, n);
    double step = 0.05;
    for (int turn = 0; turn < 300 && step > 1e-6; turn++) {
        double u[3] = { n[1], -n[0], 0.0 }, v[3], length = hypot(u[0], u[1]);
        if (length < 0.1)
            u[0] = n[2], u[1] = 0.0, u[2] = -n[0], length = hypot(n[2], n[0]);
        for (int i = 0; i < 3; i++)
            u[i] /= length;
        v[0] = n[1] * u[2] - n[2] * u[1], v[1] = n[2] * u[0] - n[0] * u[2], v[2] = n[0] * u[1] - n[1] * u[0];
        bool has_moved = false;
        for (int k = 0; k < 8; k++) {
            double m[3], x = step * cos(M_PI_4 * k), y = step * sin(M_PI_4 * k);
            for (int i = 0; i < 3; i++)
                m[i] = n[i] + x * u[i] + y * v[i];
            double norm = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
            for (int i = 0; i < 3; i++)
                m[i] /= norm;
            double found = separation(s, m);
            if (found > best) {
                best = found, has_moved = true;
                memcpy(n, m, sizeof m);
            }
        }
        if (!has_moved)
            step *= 0.5;
    }
    return best;
}

// The greatest separation over all directions, negative when the shapes overlap.
static double true_separation(const Scene *s)
{
    enum { DIRECTIONS = 1500, STARTS = 6 };
    double best[STARTS], starts[STARTS][3], most = -INFINITY;
    for (int k = 0; k < STARTS; k++)
        best[k] = -INFINITY;
    for (int i = 0; i < DIRECTIONS; i++) {
        double z = 1.0 - (i + 0.5) / DIRECTIONS, angle = 2.399963229728653 * i, r = sqrt(1.0 - z * z),
               n[3] = { r * cos(angle), r * sin(angle), z };
        double found = separation(s, n);
        int k = STARTS - 1;
        if (found <= best[k])
            continue;
        for (; k > 0 && found > best[k - 1]; k--) {
            best[k] = best[k - 1];
            memcpy(starts[k], starts[k - 1], sizeof n);
        }
        best[k] = found;
        memcpy(starts[k], n, sizeof n);
    }
    for (int k = 0; k < STARTS; k++)
        most = fmax(most, climb(s, starts[k]));
    return most;
}

static double deepest(const CollidePoint *points, int count)
{
    double depth = -INFINITY;
    for (int i = 0; i < count; i++)
        depth = fmax(depth, points[i].depth);
    return depth;
}

static double distance_outside(const CollideShape *shape, const CollidePose *pose, const double p[3])
{
    double local[3], sum = 0.0;
    for (int k = 0; k < 3; k++) {
        local[k] = 0.0;
        for (int i = 0; i < 3; i++)
            local[k] += pose->rotation[3 * i + k] * (p[i] - pose->position[i]);
    }
    if (shape->type == GEOMETRY_CYLINDER)
        return hypot(fmax(hypot(local[0], local[1]) - shape->size[0], 0.0), fmax(fabs(local[2]) - shape->size[1], 0.0));
    for (int k = 0; k < 3; k++)
        sum += pow(fmax(fabs(local[k]) - shape->size[k], 0.0), 2.0);
    return sqrt(sum);
}

static const struct {
    const char *name;
    CollideShape a, b;
} pairs[] = {
    { "cylinder box", { GEOMETRY_CYLINDER, { 0.2, 0.15 } }, { GEOMETRY_BOX, { 0.2, 0.3, 0.1 } } },
    { "rod box", { GEOMETRY_CYLINDER, { 0.05, 0.4 } }, { GEOMETRY_BOX, { 0.3, 0.3, 0.3 } } },
    { "coin box", { GEOMETRY_CYLINDER, { 0.3, 0.04 } }, { GEOMETRY_BOX, { 0.1, 0.1, 0.4 } } },
    { "cylinder cylinder", { GEOMETRY_CYLINDER, { 0.2, 0.15 } }, { GEOMETRY_CYLINDER, { 0.15, 0.25 } } },
    { "rod rod", { GEOMETRY_CYLINDER, { 0.08, 0.4 } }, { GEOMETRY_CYLINDER, { 0.1, 0.3 } } },
    { "coin coin", { GEOMETRY_CYLINDER, { 0.3, 0.05 } }, { GEOMETRY_CYLINDER, { 0.25, 0.08 } } },
    { "coin rod", { GEOMETRY_CYLINDER, { 0.3, 0.05 } }, { GEOMETRY_CYLINDER, { 0.06, 0.3 } } },
};

static double least_size(const CollideShape *shape)
{
    return fmin(fmin(shape->size[0], shape->size[1]), shape->type == GEOMETRY_BOX ? shape->size[2] : INFINITY);
}

// What the kernel says with a wide margin also proves a separation; climbing may stop at an edge.
static double best_separation(const Scene *s)
{
    CollidePoint points[COLLIDE_POINTS];
    double apart = true_separation(s);
    int count = collide_pair(&s->a, &s->pa, &s->b, &s->pb, 1.0, points);
    for (int i = 0; i < count; i++)
        apart = fmax(apart, separation(s, points[i].normal));
    return apart;
}

// A direction with four points is kept while one with a single point is less than a tenth, and a thousandth of the
// smallest size, better; the polygon that stands for a cap loses less than that.
static double close_to(double truth, double least) { return 0.12 * truth + 2e-3 * least; }

typedef struct Tally {
    int touched, rough;
} Tally;

// Where several directions are about as good the search may end in the second best: rarely, and not far off.
static void check_depths(const char *name, const Scene *s, Tally *tally)
{
    CollidePoint points[COLLIDE_POINTS];
    double truth = -best_separation(s), least = fmin(least_size(&s->a), least_size(&s->b));
    int count = collide_pair(&s->a, &s->pa, &s->b, &s->pb, 0.0, points);
    CHECK((count > 0) == (truth > 0.0) || fabs(truth) < 5e-3 * least, name);
    if (count == 0 || truth <= 0.0)
        return;
    tally->touched++;
    double depth = deepest(points, count), close = close_to(truth, least), loose = 0.6 * truth + 0.02 * least;
    bool is_rough = fabs(depth - truth) > close;
    CHECK_NEAR(depth, truth, loose, name);
    for (int i = 0; i < count; i++) {
        const double *n = points[i].normal;
        CHECK_NEAR(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1.0, 1e-9, name);
        CHECK_NEAR(-separation(s, n), truth, loose, name);
        double far = fmax(distance_outside(&s->a, &s->pa, points[i].position),
                          distance_outside(&s->b, &s->pb, points[i].position));
        is_rough |= far > 0.5 * truth + close;
    }
    tally->rough += is_rough;
}

// Brings A to where the two overlap by `depth`, along the line between their centres.
static void bring_together(Scene *s, double depth)
{
    double direction[3], length = 0.0;
    for (int k = 0; k < 3; k++) {
        direction[k] = s->pa.position[k] - s->pb.position[k];
        length += direction[k] * direction[k];
    }
    for (int turn = 0; turn < 3; turn++) {
        double apart = true_separation(s);
        for (int k = 0; k < 3; k++)
            s->pa.position[k] -= (apart + depth) * direction[k] / sqrt(length);
    }
}

static void test_depth_is_the_least_overlap(void **state)
{
    (void)state;
    for (int p = 0; p < COUNT_OF(pairs); p++) {
        Tally tally = { 0 };
        for (int n = 0; n < 600; n++) {
            Scene s = { .a = pairs[p].a, .b = pairs[p].b };
            double q[4];
            random_pose(0.6, &s.pa, q);
            random_pose(0.6, &s.pb, q);
            if (n % 2 == 0)
                bring_together(&s, 2e-3);  // as bodies at rest do
            check_depths(pairs[p].name, &s, &tally);
        }
        CHECK(tally.touched > 200, pairs[p].name);
        CHECK(tally.rough <= tally.touched / 50, pairs[p].name);
    }
}

// ---- poses whose contact is known ----

static void pose_set(CollidePose *pose, double x, double y, double z, double ax, double ay, double az, double angle)
{
    dQuaternion q;
    dQFromAxisAndAngle(q, ax, ay, az, angle);
    pose_from_quaternion(q, pose);
    pose->position[0] = x, pose->position[1] = y, pose->position[2] = z;
}

static void test_known_poses(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        CollideShape a, b;
        double position[3], axis[3], angle, normal[3], depth;
        int count;
    } cases[] = {
        { "cap on a face",
          { GEOMETRY_CYLINDER, { 0.1, 0.2 } },
          { GEOMETRY_BOX, { 0.5, 0.5, 0.1 } },
          { 0.1, 0.2, 0.299 },
          { 0, 0, 1 },
          0.3,
          { 0, 0, 1 },
          1e-3,
          4 },
        { "cap over an edge",
          { GEOMETRY_CYLINDER, { 0.1, 0.2 } },
          { GEOMETRY_BOX, { 0.5, 0.5, 0.1 } },
          { 0.45, 0.2, 0.299 },
          { 0, 0, 1 },
          0.3,
          { 0, 0, 1 },
          1e-3,
          4 },
        { "cap wider than the box",
          { GEOMETRY_CYLINDER, { 0.5, 0.1 } },
          { GEOMETRY_BOX, { 0.1, 0.1, 0.1 } },
          { 0, 0, 0.199 },
          { 0, 0, 1 },
          0.3,
          { 0, 0, 1 },
          1e-3,
          4 },
        { "lying on a face",
          { GEOMETRY_CYLINDER, { 0.1, 0.2 } },
          { GEOMETRY_BOX, { 0.5, 0.5, 0.1 } },
          { 0, 0, 0.199 },
          { 1, 0, 0 },
          M_PI_2,
          { 0, 0, 1 },
          1e-3,
          2 },
        { "lying askew on a face",
          { GEOMETRY_CYLINDER, { 0.1, 0.2 } },
          { GEOMETRY_BOX, { 0.5, 0.5, 0.1 } },
          { 0.1, 0, 0.199 },
          { 1, 1, 0 },
          M_PI_2,
          { 0, 0, 1 },
          1e-3,
          2 },
        { "lying over an edge",
          { GEOMETRY_CYLINDER, { 0.1, 0.2 } },
          { GEOMETRY_BOX, { 0.5, 0.5, 0.1 } },
          { 0, 0.5, 0.199 },
          { 1, 0, 0 },
          M_PI_2,
          { 0, 0, 1 },
          1e-3,
          2 },
        { "rim on a face",
          { GEOMETRY_CYLINDER, { 0.1, 0.1 } },
          { GEOMETRY_BOX, { 0.5, 0.5, 0.1 } },
          { 0, 0, 0.1 + 0.1 * M_SQRT2 - 1e-3 },
          { 1, 0, 0 },
          M_PI_4,
          { 0, 0, 1 },
          1e-3,
          1 },
        { "mantle on an edge",
          { GEOMETRY_CYLINDER, { 0.1, 0.3 } },
          { GEOMETRY_BOX, { 0.2, 0.5, 0.2 } },
          { 0.2 + 0.099 * M_SQRT1_2, 0, 0.2 + 0.099 * M_SQRT1_2 },
          { -1, 0, 1 },
          M_PI_2,
          { M_SQRT1_2, 0, M_SQRT1_2 },
          1e-3,
          -1 },
        { "cap on a cap",
          { GEOMETRY_CYLINDER, { 0.1, 0.2 } },
          { GEOMETRY_CYLINDER, { 0.3, 0.1 } },
          { 0.1, 0.1, 0.299 },
          { 0, 0, 1 },
          0.3,
          { 0, 0, 1 },
          1e-3,
          4 },
        { "equal caps askew",
          { GEOMETRY_CYLINDER, { 0.2, 0.2 } },
          { GEOMETRY_CYLINDER, { 0.2, 0.1 } },
          { 0.2, 0, 0.299 },
          { 0, 0, 1 },
          0.3,
          { 0, 0, 1 },
          1e-3,
          -3 },
        { "side by side",
          { GEOMETRY_CYLINDER, { 0.1, 0.2 } },
          { GEOMETRY_CYLINDER, { 0.2, 0.3 } },
          { 0.299, 0, 0.2 },
          { 0, 0, 1 },
          0.3,
          { 1, 0, 0 },
          1e-3,
          2 },
        { "crossed",
          { GEOMETRY_CYLINDER, { 0.1, 0.3 } },
          { GEOMETRY_CYLINDER, { 0.2, 0.3 } },
          { 0.299, 0.05, 0.1 },
          { 1, 0, 0 },
          1.0,
          { 1, 0, 0 },
          1e-3,
          1 },
        { "lying on a cap",
          { GEOMETRY_CYLINDER, { 0.1, 0.3 } },
          { GEOMETRY_CYLINDER, { 0.2, 0.3 } },
          { 0, 0.05, 0.399 },
          { 1, 0, 0 },
          M_PI_2,
          { 0, 0, 1 },
          1e-3,
          2 },
        { "one inside the other",
          { GEOMETRY_CYLINDER, { 0.1, 0.1 } },
          { GEOMETRY_CYLINDER, { 0.5, 0.5 } },
          { 0, 0, 0.3 },
          { 1, 0, 0 },
          0.0,
          { 0, 0, 1 },
          0.3,
          4 },
        { "a disc of no height",
          { GEOMETRY_CYLINDER, { 0.2, 0.0 } },
          { GEOMETRY_BOX, { 0.5, 0.5, 0.1 } },
          { 0, 0, 0.099 },
          { 0, 0, 1 },
          0.3,
          { 0, 0, 1 },
          1e-3,
          4 },
        { "a drum on a floor of a kilometre",
          { GEOMETRY_CYLINDER, { 0.1, 0.2 } },
          { GEOMETRY_BOX, { 500, 500, 0.5 } },
          { 300, -200, 0.699 },
          { 0, 0, 1 },
          0.3,
          { 0, 0, 1 },
          1e-3,
          4 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        CollidePose pa, pb;
        pose_set(&pa, cases[i].position[0], cases[i].position[1], cases[i].position[2], cases[i].axis[0],
                 cases[i].axis[1], cases[i].axis[2], cases[i].angle);
        pose_set(&pb, 0, 0, 0, 0, 0, 1, 0);
        for (int swapped = 0; swapped < 2; swapped++) {
            CollidePoint points[COLLIDE_POINTS];
            int count = swapped ? collide_pair(&cases[i].b, &pb, &cases[i].a, &pa, 0.0, points)
                                : collide_pair(&cases[i].a, &pa, &cases[i].b, &pb, 0.0, points);
            // A negative number: at least so many.
            CHECK(cases[i].count > 0 ? count == cases[i].count : count >= -cases[i].count, cases[i].name);
            CHECK_NEAR(deepest(points, count), cases[i].depth, 2e-5, cases[i].name);
            for (int n = 0; n < count; n++)
                for (int k = 0; k < 3; k++)
                    CHECK_NEAR(points[n].normal[k], swapped ? -cases[i].normal[k] : cases[i].normal[k], 1e-6,
                               cases[i].name);
        }
    }
}

// Four points that a standing cylinder needs: its centre is inside them.
static void test_points_hold_the_cylinder(void **state)
{
    (void)state;
    CollideShape drum = { GEOMETRY_CYLINDER, { 0.1, 0.2 } }, table = { GEOMETRY_BOX, { 0.5, 0.5, 0.1 } };
    for (int n = 0; n < 100; n++) {
        CollidePose pa, pb;
        CollidePoint points[COLLIDE_POINTS];
        double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
        pose_set(&pb, 0, 0, 0, 0, 0, 1, 0);
        pose_set(&pa, 0.2 * random_unit(), 0.2 * random_unit(), 0.2995, 0, 0, 1, 6.0 * random_unit());
        int count = collide_pair(&drum, &pa, &table, &pb, 0.0, points);
        assert_int_equal(count, 4);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 2; k++) {
                low[k] = fmin(low[k], points[i].position[k] - pa.position[k]);
                high[k] = fmax(high[k], points[i].position[k] - pa.position[k]);
            }
        for (int k = 0; k < 2; k++)
            CHECK(low[k] < -0.06 && high[k] > 0.06, "spread");
    }
}

// ---- with other shapes ----

// What ODE finds we find. Where we find more (it does not see some rims and edges that overlap by centimetres), the
// least overlap over all directions decides, with the limits of the first test.
static void test_against_ode(void **state)
{
    (void)state;
    for (int p = 0; p < COUNT_OF(pairs); p++) {
        const CollideShape *a = &pairs[p].a, *b = &pairs[p].b;
        dGeomID ga = dCreateCylinder(NULL, a->size[0], 2 * a->size[1]);
        dGeomID gb = b->type == GEOMETRY_BOX ? dCreateBox(NULL, 2 * b->size[0], 2 * b->size[1], 2 * b->size[2])
                                             : dCreateCylinder(NULL, b->size[0], 2 * b->size[1]);
        int both = 0, missed = 0, deeper = 0, wrong = 0;
        double least = fmin(least_size(a), least_size(b));
        for (int n = 0; n < support_trials(2000); n++) {
            CollidePose pa, pb;
            double qa[4], qb[4];
            random_pose(0.8, &pa, qa);
            random_pose(0.8, &pb, qb);
            dGeomSetPosition(ga, pa.position[0], pa.position[1], pa.position[2]);
            dGeomSetQuaternion(ga, qa);
            dGeomSetPosition(gb, pb.position[0], pb.position[1], pb.position[2]);
            dGeomSetQuaternion(gb, qb);
            dContactGeom found[8];
            CollidePoint points[COLLIDE_POINTS];
            int theirs = dCollide(ga, gb, 8, found, sizeof found[0]), ours = collide_pair(a, &pa, b, &pb, 0.0, points);
            both += theirs > 0 && ours > 0;
            missed += ours == 0 && theirs > 0;
            double their_depth = 0.0;
            for (int i = 0; i < theirs; i++)
                their_depth = fmax(their_depth, found[i].depth);
            if (ours == 0 || deepest(points, ours) <= 1.25 * their_depth + 0.02)
                continue;
            double truth = -true_separation(&(Scene){ *a, *b, pa, pb });
            deeper++;
            wrong += deepest(points, ours) > close_to(truth, least) + truth;
        }
        CHECK(both > support_trials(100) && missed == 0, pairs[p].name);
        print_message("%s: %d of %d deeper than in ODE, %d of them wrong\n", pairs[p].name, deeper, both, wrong);
        CHECK(wrong == 0, pairs[p].name);
        dGeomDestroy(ga);
        dGeomDestroy(gb);
    }
}

// What is found hardly changes when the pose hardly does, save where another direction becomes the best.
static void test_small_changes_stay_small(void **state)
{
    (void)state;
    int jumps = 0, touched = 0;
    for (int p = 0; p < COUNT_OF(pairs); p++)
        for (int n = 0; n < support_trials(300); n++) {
            Scene s = { .a = pairs[p].a, .b = pairs[p].b };
            CollidePoint before[COLLIDE_POINTS], after[COLLIDE_POINTS];
            double q[4], moved = 0.0;
            random_pose(0.6, &s.pa, q);
            random_pose(0.6, &s.pb, q);
            bring_together(&s, 1e-3);
            int count = collide_pair(&s.a, &s.pa, &s.b, &s.pb, 0.0, before);
            for (int k = 0; k < 3; k++)
                s.pa.position[k] += 1e-12 * (random_unit() - 0.5);
            int again = collide_pair(&s.a, &s.pa, &s.b, &s.pb, 0.0, after);
            for (int i = 0; i < count && i < again; i++)
                for (int k = 0; k < 3; k++)
                    moved = fmax(moved, fabs(before[i].position[k] - after[i].position[k]));
            touched += count > 0;
            jumps += count != again || moved > 1e-7;
        }
    CHECK(touched > support_trials(1500) && jumps <= 2, "jumps");
}

// Any sizes, poses that are exactly aligned as often as not: finite, few, unit normals, and the same with the shapes
// swapped.
static void test_any_sizes(void **state)
{
    (void)state;
    static const double sizes[] = { 0.0, 1e-9, 1e-4, 0.01, 0.1, 1.0, 50.0, 1e4 };
    for (int n = 0; n < support_trials(60000); n++) {
        CollideShape shapes[2] = { { .type = GEOMETRY_CYLINDER },
                                   { .type = n % 2 ? GEOMETRY_BOX : GEOMETRY_CYLINDER } };
        CollidePose poses[2];
        for (int k = 0; k < 2; k++) {
            double q[4];
            for (int i = 0; i < 3; i++)
                shapes[k].size[i] = sizes[(int)(random_unit() * COUNT_OF(sizes))];
            random_pose(random_unit() < 0.2 ? 0.0 : 2.0 * (shapes[0].size[0] + shapes[0].size[1]), &poses[k], q);
            if (random_unit() < 0.5)
                pose_set(&poses[k], poses[k].position[0], poses[k].position[1], poses[k].position[2],
                         random_unit() < 0.5, random_unit() < 0.5, 1.0, M_PI_4 * (int)(8.0 * random_unit()));
        }
        CollidePoint points[COLLIDE_POINTS], swapped[COLLIDE_POINTS];
        int count = collide_pair(&shapes[0], &poses[0], &shapes[1], &poses[1], 1e-4, points);
        int other = collide_pair(&shapes[1], &poses[1], &shapes[0], &poses[0], 1e-4, swapped);
        assert_true(count >= 0 && count <= COLLIDE_POINTS && other >= 0 && other <= COLLIDE_POINTS);
        for (int i = 0; i < count; i++) {
            const double *m = points[i].normal;
            CHECK_NEAR(m[0] * m[0] + m[1] * m[1] + m[2] * m[2], 1.0, 1e-6, "unit");
            CHECK(isfinite(points[i].depth)
                      && isfinite(points[i].position[0] + points[i].position[1] + points[i].position[2]),
                  "finite");
        }
        if (n % 2 && count > 0) {
            assert_int_equal(count, other);
            CHECK_NEAR(points[0].depth, swapped[0].depth, 0.0, "swapped");
        }
    }
}

int main(void)
{
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth_is_the_least_overlap), cmocka_unit_test(test_known_poses),
        cmocka_unit_test(test_points_hold_the_cylinder),   cmocka_unit_test(test_against_ode),
        cmocka_unit_test(test_small_changes_stay_small),   cmocka_unit_test(test_any_sizes)
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return result;
}
