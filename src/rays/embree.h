// embree.h - the search library behind one set of names: Embree 3 and 4 differ in how a query carries its context and
// its function calls. Whoever includes this names no other header of Embree.
#ifndef TALUS_RAYS_EMBREE_H
#define TALUS_RAYS_EMBREE_H

#include "base/vec.h"

#include <stdbool.h>

#if TALUS_EMBREE == 4
#include <embree4/rtcore.h>
typedef struct RTCRayQueryContext EmbreeContext;
#else
#include <embree3/rtcore.h>
typedef struct RTCIntersectContext EmbreeContext;
#endif

#if TALUS_EMBREE == 4
#define EMBREE_OPTIONS(name, kind, coherent, given)                                                                    \
    struct RTC##kind##Arguments name;                                                                                  \
    rtcInit##kind##Arguments(&name);                                                                                   \
    name.flags = (coherent) ? RTC_RAY_QUERY_FLAG_COHERENT : RTC_RAY_QUERY_FLAG_INCOHERENT;                             \
    name.context = (given)

static inline void embree_begin(EmbreeContext *context, bool is_coherent)
{
    (void)is_coherent;
    rtcInitRayQueryContext(context);
}
static inline void embree_intersect1(RTCScene scene, EmbreeContext *context, bool is_coherent, struct RTCRayHit *ray)
{
    EMBREE_OPTIONS(options, Intersect, is_coherent, context);
    rtcIntersect1(scene, ray, &options);
}
static inline void embree_intersect8(const int *valid, RTCScene scene, EmbreeContext *context, bool is_coherent,
                                     struct RTCRayHit8 *rays)
{
    EMBREE_OPTIONS(options, Intersect, is_coherent, context);
    rtcIntersect8(valid, scene, rays, &options);
}
static inline void embree_occluded8(const int *valid, RTCScene scene, EmbreeContext *context, bool is_coherent,
                                    struct RTCRay8 *rays)
{
    EMBREE_OPTIONS(options, Occluded, is_coherent, context);
    rtcOccluded8(valid, scene, rays, &options);
}
#undef EMBREE_OPTIONS
#else
static inline void embree_begin(EmbreeContext *context, bool is_coherent)
{
    rtcInitIntersectContext(context);
    context->flags = is_coherent ? RTC_INTERSECT_CONTEXT_FLAG_COHERENT : RTC_INTERSECT_CONTEXT_FLAG_INCOHERENT;
}
static inline void embree_intersect1(RTCScene scene, EmbreeContext *context, bool is_coherent, struct RTCRayHit *ray)
{
    (void)is_coherent;
    rtcIntersect1(scene, context, ray);
}
static inline void embree_intersect8(const int *valid, RTCScene scene, EmbreeContext *context, bool is_coherent,
                                     struct RTCRayHit8 *rays)
{
    (void)is_coherent;
    rtcIntersect8(valid, scene, context, rays);
}
static inline void embree_occluded8(const int *valid, RTCScene scene, EmbreeContext *context, bool is_coherent,
                                    struct RTCRay8 *rays)
{
    (void)is_coherent;
    rtcOccluded8(valid, scene, context, rays);
}
#endif

// Members of packets of n rays, which lie as one array after the other; the header names them for C++ alone.
enum {
    EMBREE_RAY_TFAR = 8,
    EMBREE_RAY_ID = 10,
    EMBREE_RAY_MEMBERS = 12,
    EMBREE_HIT_PRIM = 5,
    EMBREE_HIT_GEOM = 6,
    EMBREE_HIT_INST = 7
};
static inline float *embree_tfar(struct RTCRayN *rays, unsigned n, unsigned i)
{
    return (float *)rays + EMBREE_RAY_TFAR * n + i;
}
static inline Vec3 embree_origin(struct RTCRayN *rays, unsigned n, unsigned i)
{
    const float *all = (const float *)rays;
    return vec3((double)all[i], (double)all[n + i], (double)all[2 * n + i]);
}
static inline Vec3 embree_direction(struct RTCRayN *rays, unsigned n, unsigned i)
{
    const float *all = (const float *)rays + 4 * n;
    return vec3((double)all[i], (double)all[n + i], (double)all[2 * n + i]);
}
static inline unsigned embree_id(struct RTCRayN *rays, unsigned n, unsigned i)
{
    return ((unsigned *)rays)[EMBREE_RAY_ID * n + i];
}
static inline unsigned *embree_hit(struct RTCRayHitN *hits, unsigned n, unsigned i, unsigned member)
{
    return (unsigned *)hits + (EMBREE_RAY_MEMBERS + member) * n + i;
}

#endif
