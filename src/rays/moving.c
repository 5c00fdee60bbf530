// moving.c - what moves without being a solid: the pieces of a track's belt and the image on it, and the two helices of
// a propeller. Their drives say how far the belt has run and how fast the propeller turns.
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <stdlib.h>

enum { WHEELS_MAX = 64 };

typedef struct Wheel {
    double x, z;
    double radius;  // negative: the belt runs along its other side
} Wheel;

typedef struct Span {
    double start[2], normal[2];  // where the straight part begins; outwards
    double angle;                // by which the arc before it turns
    double length;               // of the straight part
    Wheel wheel;                 // that the arc before it runs around
} Span;

static int wheels_of(const SceneNode *track, Wheel wheels[WHEELS_MAX])
{
    int count = 0;
    const FieldList *children = scene_list(track, "children");
    for (int i = 0; i < children->count && count < WHEELS_MAX; i++) {
        const SceneNode *node = scene_list_node(children, i);
        if (!node || !node->type || !scene_node_is(node, "TrackWheel"))
            continue;
        Vec2 place = scene_vec2(node, "position");
        double radius = scene_float(node, "radius");
        wheels[count++] = (Wheel){ place.x, place.y, scene_bool(node, "inner") ? -radius : radius };
    }
    return count;
}

// The belt touches both wheels where the same normal n leads from their middles: n . (b - a) = Ra - Rb, and n lies to
// the left of the way from a to b, so that the belt runs clockwise around wheels that are named from left to right
// above.
static void tangent(const Wheel *a, const Wheel *b, double normal[2])
{
    double dx = b->x - a->x, dz = b->z - a->z, length = hypot(dx, dz);
    double along = length > 0.0 ? double_clamp((a->radius - b->radius) / length, -1.0, 1.0) : 0.0,
           across = sqrt(1.0 - along * along);
    dx /= fmax(length, 1e-12), dz /= fmax(length, 1e-12);
    normal[0] = along * dx - across * dz;
    normal[1] = along * dz + across * dx;
}

static double turn_between(const double from[2], const double to[2], bool is_inner)
{
    double angle = atan2(from[0] * to[1] - from[1] * to[0], from[0] * to[0] + from[1] * to[1]);
    if (!is_inner && angle > 1e-9)
        angle -= 2.0 * M_PI;
    if (is_inner && angle < -1e-9)
        angle += 2.0 * M_PI;
    return angle;
}

static int spans_of(const Wheel *wheels, int count, Span spans[WHEELS_MAX])
{
    assert_debug(count >= 2 && count <= WHEELS_MAX);
    for (int i = 0; i < count; i++) {
        const Wheel *a = &wheels[i], *b = &wheels[(i + 1) % count];
        Span *span = &spans[i];
        tangent(a, b, span->normal);
        span->wheel = *a;
        span->start[0] = a->x + a->radius * span->normal[0];
        span->start[1] = a->z + a->radius * span->normal[1];
        span->length = hypot(b->x + b->radius * span->normal[0] - span->start[0],
                             b->z + b->radius * span->normal[1] - span->start[1]);
    }
    for (int i = 0; i < count; i++)
        spans[i].angle = turn_between(spans[(i + count - 1) % count].normal, spans[i].normal,
                                      spans[i].wheel.radius < 0.0);
    return count;
}

static double belt_length(const Span *spans, int count)
{
    double length = 0.0;
    for (int i = 0; i < count; i++)
        length += spans[i].length + fabs(spans[i].angle * spans[i].wheel.radius);
    return length;
}

// The place at a distance along the belt, and its outward normal.
static void belt_place(const Span *spans, int count, double distance, double place[2], double normal[2])
{
    assert(count > 0);
    for (int i = 0; i < count; i++) {
        const Span *span = &spans[i];
        double arc = fabs(span->angle * span->wheel.radius);
        if (distance < arc || (i == count - 1 && distance > arc + span->length)) {
            double share = arc > 0.0 ? 1.0 - distance / arc : 0.0, back = -span->angle * share, c = cos(back),
                   s = sin(back);
            normal[0] = c * span->normal[0] - s * span->normal[1];
            normal[1] = s * span->normal[0] + c * span->normal[1];
            place[0] = span->wheel.x + span->wheel.radius * normal[0];
            place[1] = span->wheel.z + span->wheel.radius * normal[1];
            return;
        }
        distance -= arc;
        if (distance <= span->length) {
            normal[0] = span->normal[0], normal[1] = span->normal[1];
            place[0] = span->start[0] + distance * span->normal[1];
            place[1] = span->start[1] - distance * span->normal[0];
            return;
        }
        distance -= span->length;
    }
}

bool belt_frame(const SceneNode *track, int piece, int pieces, double travelled, Affine *frame)
{
    assert_debug(pieces > 0 && piece >= 0 && piece < pieces);
    Wheel wheels[WHEELS_MAX];
    Span spans[WHEELS_MAX];
    int count = wheels_of(track, wheels);
    if (count < 2)
        return false;
    spans_of(wheels, count, spans);
    double length = belt_length(spans, count);
    if (!(length > 0.0) || !isfinite(travelled))
        return false;
    double distance = fmod(piece * length / pieces + travelled, length), place[2] = { 0 }, normal[2] = { 0, 1 };
    belt_place(spans, count, distance < 0.0 ? distance + length : distance, place, normal);
    // z outwards, x along the belt.
    frame->m = (Mat3){ { normal[1], 0, normal[0], 0, 1, 0, -normal[0], 0, normal[1] } };
    frame->t = vec3(place[0], 0, place[1]);
    return true;
}

void rays_set_drive(Rays *rays, const SceneNode *node, double value)
{
    static const double fast = 24.0 * M_PI;  // rad/s: from then on the fast helix is shown
    for (int i = 0; i < rays->visual_count; i++) {
        Visual *visual = &rays->visuals[i];
        if (visual->drive != node)
            continue;
        bool was_off = visual->is_off;
        Affine frame;
        if (visual->slide.x != 0.0 || visual->slide.y != 0.0)
            visual->look.translation = (Vec2){ visual->slide_from.x + visual->slide.x * value,
                                               visual->slide_from.y + visual->slide.y * value };
        else if (visual->pieces > 0 && belt_frame(node, visual->piece, visual->pieces, value, &frame)) {
            visual->local = affine_mul(affine_mul(visual->belt, frame), visual->in_piece);
            visual->is_stale = true;
        } else if (visual->pieces == 0) {
            visual->is_off = visual->is_alone ? false : (fabs(value) > fast) != visual->is_fast;
            visual->is_stale |= was_off != visual->is_off;
        }
    }
}
