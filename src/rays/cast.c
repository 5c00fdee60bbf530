// cast.c - rays through the tree of the world, in packets of eight: what they hit, how far it is, what they see first,
// and what stands in their way. Forms are met exactly, by their formula; of triangles the front alone counts, so a ray
// that met a back goes on from there.
#include "rays/shadows.h"

enum { PACKET = LANES, BACKS_MAX = 256 };

typedef struct Query {
    EmbreeContext context;  // first: Embree hands this back
    const Rays *rays;
    const Ray *queries;  // of the packet
    RaysFilter filter;
    void *filter_context;
    FormFound found[PACKET];
} Query;

bool rays_meet_form(const Visual *visual, const Ray *ray, FormHit *hit)
{
    Vec3 origin = mat3_apply(visual->inverse, vec3_sub(ray->origin, visual->world.t)),
         direction = mat3_apply(visual->inverse, ray->direction);
    bool is_met = visual->form.stroke_count > 0
                      ? strokes_hit(&visual->form, origin, direction, ray->near, ray->spread, hit)
                      : form_hit(&visual->form, origin, direction, ray->near, hit);
    return is_met && hit->distance <= ray->far;
}

// Keeps the nearest form of each ray, exactly; of two at the same distance the one that the file names first.
void cast_meet_forms(const struct RTCIntersectFunctionNArguments *arguments)
{
    Query *query = (Query *)arguments->context;
    const Visual *visual = &query->rays->visuals[arguments->primID];
    unsigned n = arguments->N;
    int index = (int)arguments->primID;
    assert_debug(index >= 0 && index < query->rays->visual_count);
    struct RTCRayN *rays = (struct RTCRayN *)arguments->rayhit;
    for (unsigned i = 0; i < n; i++) {
        FormHit hit;
        if (!arguments->valid[i])
            continue;
        int k = (int)embree_id(rays, n, i);
        assert(k >= 0 && k < PACKET);
        FormFound *best = &query->found[k];
        if ((query->filter && !query->filter(query->rays, index, query->filter_context))
            || !rays_meet_form(visual, &query->queries[k], &hit))
            continue;
        float *far = embree_tfar(rays, n, i);
        if ((float)hit.distance > *far)
            continue;
        if (best->visual >= 0
            && (hit.distance > best->hit.distance || (hit.distance == best->hit.distance && index > best->visual)))
            continue;
        *best = (FormFound){ index, hit };
        float beyond = (float)(hit.distance * (1.0 + 1e-6)) + 1e-9f;  // a little, for ties
        *far = beyond < *far ? beyond : *far;
        *embree_hit(arguments->rayhit, n, i, EMBREE_HIT_GEOM) = 0;
        *embree_hit(arguments->rayhit, n, i, EMBREE_HIT_PRIM) = arguments->primID;
        *embree_hit(arguments->rayhit, n, i, EMBREE_HIT_INST) = RTC_INVALID_GEOMETRY_ID;
    }
}

static void form_to_hit(const Rays *rays, const FormFound *found, RayHit *hit)
{
    assert_debug(found->visual >= 0 && found->visual < rays->visual_count);
    const Visual *visual = &rays->visuals[found->visual];
    // Normals go by the transposed inverse.
    Vec3 normal = vec3_normalized(mat3_apply(mat3_transposed(visual->inverse), found->hit.normal));
    *hit = (RayHit){ found->visual,  visual->solid, found->hit.distance, normal, normal, found->hit.u, found->hit.v, -1,
                     found->hit.face };
}

// The exact place on a triangle. False when it is seen from behind.
static bool triangle_to_hit(const Rays *rays, const Ray *ray, int index, unsigned triangle, double b, double c,
                            RayHit *hit)
{
    assert_debug(index >= 0 && index < rays->visual_count && rays->visuals[index].mesh >= 0);
    const Visual *visual = &rays->visuals[index];
    const Mesh *mesh = rays->meshes[visual->mesh].mesh;
    assert_debug(triangle < (unsigned)mesh->triangle_count);
    Vec3 origin = mat3_apply(visual->inverse, vec3_sub(ray->origin, visual->world.t)),
         direction = mat3_apply(visual->inverse, ray->direction);
    Vec3 normal = mesh_face_normal(mesh, triangle), smooth = normal;
    double along = vec3_dot(normal, direction), a = 1.0 - b - c;
    if (along >= 0.0)
        return false;
    const float *n = mesh->normals ? mesh->normals + 9 * (size_t)triangle : NULL;
    if (n)
        smooth = vec3(a * (double)n[0] + b * (double)n[3] + c * (double)n[6],
                      a * (double)n[1] + b * (double)n[4] + c * (double)n[7],
                      a * (double)n[2] + b * (double)n[5] + c * (double)n[8]);
    Mat3 turn = mat3_transposed(visual->inverse);
    *hit = (RayHit){ .visual = index,
                     .solid = visual->solid,
                     .distance = vec3_dot(normal, vec3_sub(mesh_corner(mesh, triangle, 0), origin)) / along,
                     .normal = vec3_normalized(mat3_apply(turn, normal)),
                     .triangle = (int)triangle };
    hit->smooth = n ? vec3_normalized(mat3_apply(turn, smooth)) : hit->normal;
    mesh_texture_place(mesh, (int)triangle, b, c, &hit->u, &hit->v);
    return true;
}

static bool is_castable(const Ray *ray)
{
    double length2 = vec3_length2(ray->direction);
    return vec3_length2(ray->origin) <= RAYS_COORDINATE_MAX * RAYS_COORDINATE_MAX && ray->far > ray->near
           && length2 > 0.0 && length2 <= RAYS_COORDINATE_MAX * RAYS_COORDINATE_MAX;
}

static void set_ray(struct RTCRayHit8 *to, int k, const Ray *ray, float near)
{
    assert_debug(k >= 0 && k < PACKET);
    to->ray.org_x[k] = (float)ray->origin.x, to->ray.org_y[k] = (float)ray->origin.y,
    to->ray.org_z[k] = (float)ray->origin.z;
    to->ray.dir_x[k] = (float)ray->direction.x, to->ray.dir_y[k] = (float)ray->direction.y,
    to->ray.dir_z[k] = (float)ray->direction.z;
    to->ray.tnear[k] = near;
    to->ray.tfar[k] = (float)(ray->far * (1.0 + 1e-6));
    to->ray.mask[k] = MASK_SEEN;
    to->ray.id[k] = (unsigned)k;
    to->ray.flags[k] = 0;
    to->ray.time[k] = 0.0f;
    to->hit.geomID[k] = to->hit.primID[k] = to->hit.instID[0][k] = RTC_INVALID_GEOMETRY_ID;
}

// Which of what a ray met counts. False: it met the back of something, or something that may not be hit, and must go on
// from there.
static bool judge_hit(const Query *query, const struct RTCRayHit8 *packet, int k, void *out)
{
    RayHit *hit = (RayHit *)out + k;
    const Ray *ray = &query->queries[k];
    const FormFound *form = &query->found[k];
    RayHit met = { .visual = -1 };
    if (packet->hit.instID[0][k] != RTC_INVALID_GEOMETRY_ID) {
        int index = (int)packet->hit.instID[0][k] - 1;
        double t = (double)packet->ray.tfar[k];
        bool may_be_nearest = form->visual < 0 || t <= form->hit.distance * (1.0 + 2e-6) + 1e-9;
        bool is_front = (!query->filter || query->filter(query->rays, index, query->filter_context))
                        && triangle_to_hit(query->rays, ray, index, packet->hit.primID[k], (double)packet->hit.u[k],
                                           (double)packet->hit.v[k], &met);
        if (!is_front && may_be_nearest && t < ray->far)
            return false;
        if (!is_front || !(met.distance <= ray->far))
            met.visual = -1;
    }
    if (form->visual >= 0
        && (met.visual < 0 || form->hit.distance < met.distance
            || (form->hit.distance == met.distance && form->visual < met.visual)))
        form_to_hit(query->rays, form, hit);
    else if (met.visual >= 0)
        *hit = met;
    return true;
}

// Puts the rays into the packet; returns how many of them can be cast.
static int fill_packet(Query *query, int count, struct RTCRayHit8 *packet, int valid[PACKET])
{
    assert_debug(count > 0 && count <= PACKET);
    static const Ray harmless = { .direction = { 1, 0, 0 }, .far = 1 };  // in places without a ray
    int left = 0;
    for (int k = 0; k < PACKET; k++) {
        bool is_valid = k < count && is_castable(&query->queries[k]);
        const Ray *ray = is_valid ? &query->queries[k] : &harmless;
        query->found[k].visual = -1;
        valid[k] = is_valid ? -1 : 0;
        left += is_valid;
        set_ray(packet, k, ray, (float)ray->near);
    }
    return left;
}

// What becomes of ray k, written to its place in `out`. False: it must go on from where it met something.
typedef bool Judge(const Query *query, const struct RTCRayHit8 *packet, int k, void *out);

// Casts a packet until each ray is judged. Inlined for each judge, which runs for every ray.
static inline __attribute__((always_inline)) void trace_packet(Query *query, int count, bool is_coherent, Judge *judge,
                                                               void *out)
{
    struct RTCRayHit8 packet;
    _Alignas(32) int valid[PACKET];
    int left = fill_packet(query, count, &packet, valid);
    for (int round = 0; left > 0 && round < BACKS_MAX; round++) {
        embree_begin(&query->context, is_coherent);
        embree_intersect8(valid, query->rays->scene, &query->context, is_coherent, &packet);
        for (int k = 0; k < count; k++) {
            if (!valid[k])
                continue;
            if (judge(query, &packet, k, out)) {
                valid[k] = 0;
                left--;
            } else {
                set_ray(&packet, k, &query->queries[k], nextafterf(packet.ray.tfar[k] * (1.0f + 1e-6f), INFINITY));
            }
        }
    }
}

static void cast_packet(Query *query, int count, bool is_coherent, RayHit *hits)
{
    for (int k = 0; k < count; k++)
        hits[k] = (RayHit){ .visual = -1, .solid = -1, .triangle = -1 };
    trace_packet(query, count, is_coherent, judge_hit, hits);
}

void rays_cast(const Rays *rays, const Ray *queries, int count, RaysFilter filter, void *context, RayHit *hits)
{
    assert_debug(count == 0 || (queries && hits));
    Query query;
    query.rays = rays;
    query.filter = filter;
    query.filter_context = context;
    for (int first = 0; first < count; first += PACKET) {
        query.queries = queries + first;
        cast_packet(&query, int_min(count - first, PACKET), count > 1, hits + first);
    }
}

// ---- distances alone ----

// Whether the triangle turns its front to the ray: the geometric normal comes in the frame of the mesh.
static bool is_front(const Visual *visual, const struct RTCRayHit8 *packet, int k)
{
    const float *m = visual->inverse_float;
    float x = packet->ray.dir_x[k], y = packet->ray.dir_y[k], z = packet->ray.dir_z[k];
    return packet->hit.Ng_x[k] * (m[0] * x + m[1] * y + m[2] * z)
               + packet->hit.Ng_y[k] * (m[3] * x + m[4] * y + m[5] * z)
               + packet->hit.Ng_z[k] * (m[6] * x + m[7] * y + m[8] * z)
           < 0.0f;
}

// As judge_hit, of the distance alone.
static bool judge_distance(const Query *query, const struct RTCRayHit8 *packet, int k, void *out)
{
    double *distance = (double *)out + k;
    const FormFound *form = &query->found[k];
    double met = INFINITY;
    if (packet->hit.instID[0][k] != RTC_INVALID_GEOMETRY_ID) {
        int index = (int)packet->hit.instID[0][k] - 1;
        met = (double)packet->ray.tfar[k];
        bool counts = (!query->filter || query->filter(query->rays, index, query->filter_context))
                      && is_front(&query->rays->visuals[index], packet, k);
        if (!counts && (form->visual < 0 || met <= form->hit.distance))
            return false;
        if (!counts)
            met = INFINITY;
    }
    *distance = form->visual >= 0 && form->hit.distance < met ? form->hit.distance : met;
    return true;
}

static void measure_packet(Query *query, int count, double *distances)
{
    for (int k = 0; k < count; k++)
        distances[k] = INFINITY;
    trace_packet(query, count, true, judge_distance, distances);
}

void rays_distances(const Rays *rays, const Ray *queries, int count, RaysFilter filter, void *context,
                    double *distances)
{
    assert_debug(count == 0 || (queries && distances));
    Query query;
    query.rays = rays;
    query.filter = filter;
    query.filter_context = context;
    for (int first = 0; first < count; first += PACKET) {
        query.queries = queries + first;
        measure_packet(&query, int_min(count - first, PACKET), distances + first);
    }
}

// ---- what is seen ----

// Which of what a ray met counts, without its details. False: it must go on, as with judge_hit.
static bool judge_seen(const Query *query, const struct RTCRayHit8 *packet, int k, void *out)
{
    Found *found = out;
    assert_debug(k >= 0 && k < PACKET);
    const FormFound *form = &query->found[k];
    float met = packet->ray.tfar[k];
    int index = -1;
    if (packet->hit.instID[0][k] != RTC_INVALID_GEOMETRY_ID) {
        index = (int)packet->hit.instID[0][k] - 1;
        bool counts = (!query->filter || query->filter(query->rays, index, query->filter_context))
                      && is_front(&query->rays->visuals[index], packet, k);
        if (!counts && (form->visual < 0 || (double)met <= form->hit.distance))
            return false;
        if (!counts)
            index = -1;
    }
    if (form->visual >= 0
        && (index < 0 || form->hit.distance < (double)met
            || (form->hit.distance == (double)met && form->visual < index))) {
        found->visual[k] = form->visual;
        found->distance[k] = (float)form->hit.distance;
        found->form[k] = *form;
        return true;
    }
    if (index < 0)
        return true;
    found->visual[k] = index;
    found->triangle[k] = (int)packet->hit.primID[k];
    found->distance[k] = met;
    found->b[k] = packet->hit.u[k], found->c[k] = packet->hit.v[k];
    found->normal[0][k] = packet->hit.Ng_x[k];
    found->normal[1][k] = packet->hit.Ng_y[k];
    found->normal[2][k] = packet->hit.Ng_z[k];
    return true;
}

void rays_search(const Rays *rays, const Ray *queries, int count, RaysFilter filter, void *context, Found *found)
{
    Query query;
    query.rays = rays;
    query.queries = queries;
    query.filter = filter;
    query.filter_context = context;
    for (int k = 0; k < PACKET; k++)
        found->visual[k] = found->triangle[k] = -1;
    trace_packet(&query, count, count > 1, judge_seen, found);
}

RayHit rays_hit_of(const Rays *rays, const Ray *query, const Found *found, int lane)
{
    assert_debug(lane >= 0 && lane < LANES);
    RayHit hit;
    int visual = found->visual[lane];
    assert_debug(visual < rays->visual_count);
    assert(visual >= 0);
    if (found->triangle[lane] < 0)
        form_to_hit(rays, &found->form[lane], &hit);
    else if (!triangle_to_hit(rays, query, visual, (unsigned)found->triangle[lane], (double)found->b[lane],
                              (double)found->c[lane], &hit))  // edge-on, where the search saw its front by a rounding
        hit = (RayHit){ .visual = visual,
                        .solid = rays->visuals[visual].solid,
                        .distance = (double)found->distance[lane],
                        .normal = vec3_neg(query->direction),
                        .smooth = vec3_neg(query->direction),
                        .triangle = found->triangle[lane] };
    return hit;
}

// ---- shadows ----

bool shadow_form_darkens(const Visual *visual, Vec3 origin, Vec3 direction, double far)
{
    FormHit hit;
    origin = mat3_apply(visual->inverse, vec3_sub(origin, visual->world.t));
    direction = mat3_apply(visual->inverse, direction);
    return form_hit(&visual->form, origin, direction, 0.0, &hit) && hit.distance <= far;
}

void cast_darken_forms(const struct RTCOccludedFunctionNArguments *arguments)
{
    const Rays *rays = arguments->geometryUserPtr;
    assert_debug((int)arguments->primID < rays->visual_count);
    const Visual *visual = &rays->visuals[arguments->primID];
    unsigned n = arguments->N;
    if (!visual->casts_shadow)
        return;
    for (unsigned i = 0; i < n; i++) {
        if (!arguments->valid[i])
            continue;
        float *far = embree_tfar(arguments->ray, n, i);
        if (shadow_form_darkens(visual, embree_origin(arguments->ray, n, i), embree_direction(arguments->ray, n, i),
                                (double)*far))
            *far = -INFINITY;
    }
}

void rays_occluded(const Rays *rays, const int *valid, struct RTCRay8 *packet)
{
    EmbreeContext context;
    for (int k = 0; k < PACKET; k++) {
        packet->tnear[k] = 0.0f;
        packet->mask[k] = MASK_SHADOW;
        packet->id[k] = (unsigned)k;
        packet->flags[k] = 0;
        packet->time[k] = 0.0f;
    }
    embree_begin(&context, true);
    embree_occluded8(valid, rays->scene, &context, true, packet);
}
