// builders.h - worlds of any size for benchmarks and tests, written as text: humanoids, chains, piles, pyramids, vehicles,
// terrain. All are functions of their arguments alone.
#ifndef TALUS_SCENES_BUILDERS_H
#define TALUS_SCENES_BUILDERS_H

#include "base/text.h"
#include "base/vec.h"

typedef struct SceneLink {
    int parent;            // -1: free
    const char *shape;     // geometry as text, NULL: massive but untouchable
    Vec3 position;         // world
    Vec3 anchor, axis;     // of the hinge to the parent, world
    double mass;
    Vec3 box;              // edges of the solid box that gives its inertia
    double torque;         // of the motor, 0: none
    double velocity;       // of the motor: 0 holds the position
    const char *rotation;  // of the boundingObject, NULL: none
} SceneLink;

static inline void scene_link_open(Text *out, const SceneLink *links, int index, const char *prefix)
{
    const SceneLink *link = &links[index];
    Vec3 at = link->position;
    double m = link->mass / 12.0, x = link->box.x, y = link->box.y, z = link->box.z;
    if (link->parent >= 0) {
        Vec3 from = links[link->parent].position, anchor = vec3_sub(link->anchor, from);
        at = vec3_sub(at, from);
        text_printf(out, "HingeJoint { jointParameters HingeJointParameters { axis %g %g %g anchor %.17g %.17g %.17g } ", link->axis.x, link->axis.y, link->axis.z,
                    anchor.x, anchor.y, anchor.z);
        if (link->torque > 0.0)
            text_printf(out, "device DEF %s%d_MOTOR RotationalMotor { name \"m%d\" maxTorque %g maxVelocity 20 } ", prefix, index, index, link->torque);
        text_add_string(out, "endPoint ");
    }
    text_printf(out, "DEF %s%d %s { name \"%s%d\" translation %.17g %.17g %.17g ", prefix, index, link->parent < 0 ? "Robot" : "Solid", prefix, index, at.x, at.y, at.z);
    if (link->shape && link->rotation)
        text_printf(out, "boundingObject Pose { rotation %s children %s } ", link->rotation, link->shape);
    else if (link->shape)
        text_printf(out, "boundingObject %s ", link->shape);
    text_printf(out, "physics Physics { density -1 mass %g centerOfMass [ 0 0 0 ] inertiaMatrix [ %.17g %.17g %.17g, 0 0 0 ] } children [\n", link->mass,
                m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y));
}

// Links must stand after their parents.
static inline void scene_links(Text *out, const SceneLink *links, int count, int index, const char *prefix)
{
    scene_link_open(out, links, index, prefix);
    for (int i = index + 1; i < count; i++)
        if (links[i].parent == index)
            scene_links(out, links, count, i, prefix);
    text_add_string(out, links[index].parent >= 0 ? "] } }\n" : "] }\n");
}

static inline void scene_header(Text *out, double step_ms, bool has_floor)
{
    text_printf(out, "#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep %g physicsDisableTime 0 }\nViewpoint { }\n", step_ms);
    if (has_floor)
        text_add_string(out, "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n");
}

// A robot of 29 bodies and 28 hinges, 1.6 m, about 50 kg, standing with its motors holding, or limp without any.
static inline void scene_humanoid(Text *out, double x0, double y0, const char *prefix, bool is_limp)
{
    enum { MOST = 32 };
    SceneLink links[MOST];
    int count = 0;
#define LINK(p, s, px, py, pz, ax, ay, az, dx, dy, dz, m, bx, by, bz, t)                                                            \
    (links[count] = (SceneLink){ p, s, { x0 + (px), y0 + (py), 0.002 + (pz) }, { x0 + (ax), y0 + (ay), 0.002 + (az) }, { dx, dy, dz }, m, \
                                 { bx, by, bz }, t, 0.0, NULL }, count++)
    int pelvis = LINK(-1, "Box { size 0.2 0.28 0.14 }", 0, 0, 0.87, 0, 0, 0, 0, 0, 1, 8, 0.2, 0.28, 0.14, 0);
    int waist = LINK(pelvis, NULL, 0, 0, 0.97, 0, 0, 0.96, 0, 0, 1, 1.5, 0.1, 0.1, 0.1, 200);
    int torso = LINK(waist, "Box { size 0.2 0.32 0.36 }", 0, 0, 1.18, 0, 0, 0.98, 0, 1, 0, 14, 0.2, 0.32, 0.36, 200);
    int neck = LINK(torso, NULL, 0, 0, 1.38, 0, 0, 1.37, 0, 0, 1, 0.4, 0.06, 0.06, 0.06, 30);
    LINK(neck, "Sphere { radius 0.1 }", 0, 0, 1.5, 0, 0, 1.39, 0, 1, 0, 3, 0.15, 0.15, 0.15, 30);
    for (int side = -1; side <= 1; side += 2) {
        double y = 0.09 * side, h = 0.22 * side;
        int h1 = LINK(pelvis, NULL, 0, y, 0.8, 0, y, 0.8, 0, 0, 1, 0.8, 0.08, 0.08, 0.08, 150);
        int h2 = LINK(h1, NULL, 0, y, 0.78, 0, y, 0.78, 1, 0, 0, 0.8, 0.08, 0.08, 0.08, 200);
        int thigh = LINK(h2, "Capsule { radius 0.06 height 0.24 }", 0, y, 0.6, 0, y, 0.77, 0, 1, 0, 4, 0.1, 0.1, 0.36, 200);
        int shin = LINK(thigh, "Capsule { radius 0.05 height 0.26 }", 0, y, 0.26, 0, y, 0.43, 0, 1, 0, 2.5, 0.08, 0.08, 0.36, 200);
        int ankle = LINK(shin, NULL, 0, y, 0.08, 0, y, 0.08, 0, 1, 0, 0.5, 0.06, 0.06, 0.06, 120);
        LINK(ankle, "Box { size 0.24 0.1 0.05 }", 0.03, y, 0.025, 0, y, 0.07, 1, 0, 0, 1, 0.24, 0.1, 0.05, 120);
        int s1 = LINK(torso, NULL, 0, h, 1.32, 0, 0.19 * side, 1.32, 0, 1, 0, 0.8, 0.08, 0.08, 0.08, 80);
        int s2 = LINK(s1, NULL, 0, h, 1.29, 0, h, 1.3, 1, 0, 0, 0.6, 0.08, 0.08, 0.08, 80);
        int upper = LINK(s2, "Capsule { radius 0.045 height 0.18 }", 0, h, 1.16, 0, h, 1.26, 0, 0, 1, 1.8, 0.08, 0.08, 0.27, 60);
        int fore = LINK(upper, "Capsule { radius 0.04 height 0.18 }", 0, h, 0.89, 0, h, 1.03, 0, 1, 0, 1.2, 0.07, 0.07, 0.26, 60);
        int wrist = LINK(fore, NULL, 0, h, 0.76, 0, h, 0.76, 0, 0, 1, 0.3, 0.04, 0.04, 0.04, 30);
        LINK(wrist, "Box { size 0.06 0.04 0.1 }", 0, h, 0.69, 0, h, 0.75, 1, 0, 0, 0.4, 0.06, 0.04, 0.1, 30);
    }
#undef LINK
    for (int i = 0; is_limp && i < count; i++)
        links[i].torque = 0.0;
    scene_links(out, links, count, 0, prefix);
}

static inline void scene_crowd(Text *out, double step_ms, int count, bool is_limp)
{
    scene_header(out, step_ms, true);
    for (int i = 0; i < count; i++) {
        char prefix[16];
        snprintf(prefix, sizeof(prefix), "H%d_", i);
        scene_humanoid(out, 3.0 * (i % 10), 3.0 * (i / 10), prefix, is_limp);
    }
}

static inline void scene_humanoids(Text *out, int count)
{
    scene_crowd(out, 2, count, false);
}

// They collapse.
static inline void scene_ragdolls(Text *out, int count)
{
    scene_crowd(out, 8, count, true);
}

// Links that hang on a static post and swing down from the horizontal, hinges turned by a right angle each.
static inline void scene_chain(Text *out, int count)
{
    scene_header(out, 2, false);
    text_add_string(out, "DEF POST Robot { name \"post\" children [\n");
    for (int i = 0; i < count; i++)
        text_printf(out, "HingeJoint { jointParameters HingeJointParameters { axis 0 %d %d anchor %g 0 0 } endPoint DEF L%d Solid { name \"l%d\" translation %g 0 0 "
                    "boundingObject Box { size 0.08 0.03 0.03 } physics Physics { density -1 mass 0.1 } children [\n", i % 2 ? 0 : 1, i % 2, i == 0 ? 0.0 : 0.05, i, i,
                    i == 0 ? 0.05 : 0.1);
    for (int i = 0; i < count; i++)
        text_add_string(out, "] } }\n");
    text_add_string(out, "] }\n");
}

static inline double scene_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) / 9007199254740992.0;
}

// Boxes (or boxes, balls, capsules and cylinders in turn) that fall into a pit.
static inline void scene_pile_of_side(Text *out, int count, bool is_mixed, int side)
{
    uint64_t state = 88172645463325252ull;
    scene_header(out, 8, true);
    double cell = 0.3, half = side * cell / 2 + 0.05, height = 0.3 * (count / (side * side) + 2);
    for (int i = 0; i < 4; i++) {
        double x = (i == 0) - (i == 1), y = (i == 2) - (i == 3);
        text_printf(out, "Solid { name \"wall %d\" translation %g %g %g boundingObject Box { size %g %g %g } }\n", i, x * (half + 0.5), y * (half + 0.5), height / 2,
                    x != 0 ? 1.0 : 2 * half + 2, y != 0 ? 1.0 : 2 * half + 2, height);
    }
    for (int i = 0; i < count; i++) {
        double x = (i % side - (side - 1) * 0.5) * cell + 0.02 * (scene_random(&state) - 0.5);
        double y = (i / side % side - (side - 1) * 0.5) * cell + 0.02 * (scene_random(&state) - 0.5);
        double z = 0.2 + i / (side * side) * cell, e = 0.075 + 0.05 * scene_random(&state), f = 0.075 + 0.05 * scene_random(&state);
        text_printf(out, "DEF B%d Solid { name \"b%d\" translation %.17g %.17g %.17g rotation %.17g %.17g %.17g %.17g physics Physics { density 500 } boundingObject ", i, i, x, y, z,
                    scene_random(&state) - 0.5, scene_random(&state) - 0.5, scene_random(&state) + 0.1, 0.3 * scene_random(&state));
        int kind = is_mixed ? i % 4 : 0;
        if (kind == 0)
            text_printf(out, "Box { size %.17g %.17g 0.2 } }\n", 2 * e, 2 * f);
        else if (kind == 1)
            text_printf(out, "Sphere { radius %.17g } }\n", e);
        else if (kind == 2)
            text_printf(out, "Capsule { radius 0.06 height %.17g } }\n", 2 * (e - 0.03));
        else
            text_printf(out, "Cylinder { radius 0.08 height %.17g } }\n", 2 * e);
    }
}

// Twice as high as wide.
static inline void scene_pile(Text *out, int count, bool is_mixed)
{
    scene_pile_of_side(out, count, is_mixed, (int)ceil(cbrt(count / 2.0)));
}

// As high as a pile of a thousand and wider: what lies on a body, and how long it falls, is the same for any number.
static inline void scene_pit(Text *out, int count) { scene_pile_of_side(out, count, false, (int)ceil(sqrt(count / 16.0))); }

// A pyramid, one box thick.
static inline void scene_stack(Text *out, int rows)
{
    scene_header(out, 8, true);
    for (int r = 0, i = 0; r < rows; r++)
        for (int c = 0; c < rows - r; c++, i++)
            text_printf(out, "DEF B%d Solid { name \"b%d\" translation %.17g 0 %.17g boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density -1 mass 4 } }\n", i, i,
                        (c - (rows - r - 1) * 0.5) * 0.21, 0.1 + 0.2 * r);
}

// Vehicles of a box and four driven wheels.
static inline void scene_swarm(Text *out, int count)
{
    scene_header(out, 8, true);
    int side = (int)ceil(sqrt(count));
    for (int i = 0; i < count; i++) {
        double x = i % side * 3.0, y = i / side * 1.5;
        SceneLink links[5] = { { -1, "Box { size 0.8 0.4 0.16 }", { x, y, 0.2 }, { 0 }, { 0, 0, 1 }, 10, { 0.8, 0.4, 0.16 }, 0, 0, NULL } };
        for (int w = 0; w < 4; w++) {
            Vec3 at = vec3(x + (w & 1 ? 0.28 : -0.28), y + (w & 2 ? 0.28 : -0.28), 0.15);
            links[w + 1] = (SceneLink){ 0, "Cylinder { radius 0.15 height 0.08 }", at, at, { 0, 1, 0 }, 1, { 0.2, 0.08, 0.2 }, 3, 5, "1 0 0 1.5707963267948966" };
        }
        char prefix[16];
        snprintf(prefix, sizeof(prefix), "V%d_", i);
        scene_links(out, links, 5, 0, prefix);
    }
}

static inline double scene_terrain_height(double x, double y)
{
    return 0.5 * sin(0.9 * x) * cos(0.7 * y) + 0.15 * sin(2.3 * x + 1) * sin(2.9 * y);
}

// Loose bodies on a hilly mesh of 225 by 225 points.
static inline void scene_terrain(Text *out, int count)
{
    enum { N = 225 };
    const double size = 40;
    uint64_t state = 1234567;
    scene_header(out, 8, false);
    text_add_string(out, "DEF GROUND Solid { name \"ground\" boundingObject IndexedFaceSet { coord Coordinate { point [\n");
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double x = (i / (N - 1.0) - 0.5) * size, y = (j / (N - 1.0) - 0.5) * size;
            text_printf(out, "%.9g %.9g %.9g\n", x, y, scene_terrain_height(x, y));
        }
    text_add_string(out, "] } coordIndex [\n");
    for (int j = 0; j < N - 1; j++)
        for (int i = 0; i < N - 1; i++) {
            int a = j * N + i;
            text_printf(out, "%d %d %d -1 %d %d %d -1\n", a, a + 1, a + N + 1, a, a + N + 1, a + N);
        }
    text_add_string(out, "] } }\n");
    int side = (int)ceil(sqrt(count));
    static const char *const shapes[] = { "Box { size 0.4 0.3 0.2 }", "Sphere { radius 0.2 }", "Capsule { radius 0.12 height 0.3 }" };
    for (int i = 0; i < count; i++)
        text_printf(out, "DEF B%d Solid { name \"b%d\" translation %g %g 1.3 rotation 1 0 0 %g boundingObject %s physics Physics { density -1 mass 5 } }\n", i, i,
                    (i % side - (side - 1) * 0.5) * 1.5, (i / side - (side - 1) * 0.5) * 1.5, 3 * scene_random(&state), shapes[i % 3]);
}

#endif
