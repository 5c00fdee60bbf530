// shadows.c - sharp shadows of lights that are infinitely far away, without a search: all their rays are parallel, so
// seen along the light each is a point, and what may stand in its way are the few triangles of the cell in which it
// lies. Meshes have a grid each, and above them lies one over all casters. Grids stay until their mesh is turned.
// Asking them is in shadows_query.c.
#include "rays/shadows.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 512, CROWD_MAX = 48 };  // cells along a side; entries that are looked at for one point, on average

static int cell_of(double place, float low, float scale, int count)
{
    assert_debug(count > 0);
    return (int)double_clamp(floor((place - (double)low) * (double)scale), 0.0, count - 1.0);
}

// Cells that are about square, as many as asked for.
static void divide(const float low[2], const float high[2], double cells, int count[2], float scale[2])
{
    assert_debug(cells > 0.0);
    double width = fmax((double)high[0] - (double)low[0], 1e-9), height = fmax((double)high[1] - (double)low[1], 1e-9);
    double columns = double_clamp(round(sqrt(cells * width / height)), 1.0, CELLS_MAX),
           rows = double_clamp(round(cells / columns), 1.0, CELLS_MAX);
    count[0] = (int)columns, count[1] = (int)rows;
    scale[0] = (float)(columns / width), scale[1] = (float)(rows / height);
}

static BinBox box_of(const double low[2], const double high[2], const float from[2], const float scale[2],
                     const int count[2])
{
    // A little more, for what rounding does to places.
    double slack[2] = { 0.01 / (double)scale[0], 0.01 / (double)scale[1] };
    return (BinBox){ (int16_t)cell_of(low[0] - slack[0], from[0], scale[0], count[0]),
                     (int16_t)cell_of(high[0] + slack[0], from[0], scale[0], count[0]),
                     (int16_t)cell_of(low[1] - slack[1], from[1], scale[1], count[1]),
                     (int16_t)cell_of(high[1] + slack[1], from[1], scale[1], count[1]) };
}

// ---- meshes ----

static void add_triangle(ShadowGrid *grid, const Vec3 *a, const Vec3 *b, const Vec3 *c, const int count[2])
{
    assert_debug(grid->triangle_count < grid->triangle_capacity && grid->triangle_count < grid->box_capacity);
    Vec3 normal = vec3_cross(vec3_sub(*b, *a), vec3_sub(*c, *a));
    double length = vec3_length(normal), side = normal.z < 0.0 ? -1.0 : 1.0;
    if (!(fabs(normal.z) > 1e-9 * length))
        return;  // along the light it is a line
    const Vec3 *corners[4] = { a, b, c, a };
    double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
    ShadowTriangle *to = &grid->triangles[grid->triangle_count];
    for (int i = 0; i < 3; i++) {
        const Vec3 *from = corners[i], *next = corners[i + 1];
        to->edge[i][0] = (float)(side * (from->y - next->y));
        to->edge[i][1] = (float)(side * (next->x - from->x));
        to->edge[i][2] = (float)(side * (from->x * next->y - from->y * next->x));
        low[0] = double_min(low[0], from->x), high[0] = double_max(high[0], from->x);
        low[1] = double_min(low[1], from->y), high[1] = double_max(high[1], from->y);
    }
    side /= length;
    to->plane[0] = (float)(side * normal.x), to->plane[1] = (float)(side * normal.y),
    to->plane[2] = (float)(side * normal.z), to->plane[3] = (float)(-side * vec3_dot(normal, *a));
    grid->boxes[grid->triangle_count++] = box_of(low, high, grid->low, grid->scale, count);
}

static void turn_corners(Shadows *shadows, ShadowGrid *grid, const Mesh *mesh)
{
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    memory_grow(&shadows->corners, &shadows->corner_capacity, mesh->vertex_count, sizeof *shadows->corners);
    for (int i = 0; i < mesh->vertex_count; i++) {
        Vec3 p = mat3_apply(grid->turn, mesh_position(mesh, (uint32_t)i));
        shadows->corners[i] = p;
        low[0] = double_min(low[0], p.x), low[1] = double_min(low[1], p.y), low[2] = double_min(low[2], p.z);
        high[0] = double_max(high[0], p.x), high[1] = double_max(high[1], p.y), high[2] = double_max(high[2], p.z);
    }
    for (int i = 0; i < 3; i++) {
        double slack = 1e-6 * (fabs(low[i]) + fabs(high[i])) + 1e-9;
        grid->low[i] = (float)(low[i] - slack), grid->high[i] = (float)(high[i] + slack);
    }
}

static void fill_grid(Shadows *shadows, ShadowGrid *grid, const Mesh *mesh)
{
    int count[2];
    turn_corners(shadows, grid, mesh);
    divide(grid->low, grid->high, 2.0 * mesh->triangle_count, count, grid->scale);
    memory_grow(&grid->triangles, &grid->triangle_capacity, mesh->triangle_count, sizeof *grid->triangles);
    memory_grow(&grid->boxes, &grid->box_capacity, mesh->triangle_count, sizeof *grid->boxes);
    grid->triangle_count = 0;
    for (int i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *at = mesh->triangles + 3 * (size_t)i;
        add_triangle(grid, &shadows->corners[at[0]], &shadows->corners[at[1]], &shadows->corners[at[2]], count);
    }
    bins_fill(&grid->bins, count[0], count[1], grid->boxes, grid->triangle_count);
    grid->is_crowded = bins_crowding(&grid->bins) > CROWD_MAX;
}

static bool is_grid_of(const ShadowGrid *grid, int mesh, unsigned version, const Mat3 *turn)
{
    return grid->mesh == mesh && grid->version == version && !memcmp(&grid->turn, turn, sizeof *turn);
}

// The grid of a mesh turned so, -1: there is none; the one that `last` names is looked at first.
static int known_grid(const Rays *rays, int mesh, const Mat3 *turn, int last)
{
    assert_debug(mesh >= 0 && mesh < rays->mesh_count);
    const Shadows *shadows = rays->shadows;
    unsigned version = rays->meshes[mesh].version;
    if (last >= 0 && last < shadows->grid_count && is_grid_of(&shadows->grids[last], mesh, version, turn))
        return last;
    for (int i = 0; i < shadows->grid_count; i++)
        if (is_grid_of(&shadows->grids[i], mesh, version, turn))
            return i;
    return -1;
}

// In the place of one that nobody uses.
static int new_grid(Rays *rays, int mesh, const Mat3 *turn)
{
    assert_debug(mesh >= 0 && mesh < rays->mesh_count);
    Shadows *shadows = rays->shadows;
    int at = 0;
    while (at < shadows->grid_count && shadows->grids[at].users > 0)
        at++;
    if (at == shadows->grid_count) {
        memory_grow(&shadows->grids, &shadows->grid_capacity, at + 1, sizeof *shadows->grids);
        shadows->grids[shadows->grid_count++] = (ShadowGrid){ 0 };
    }
    ShadowGrid *grid = &shadows->grids[at];
    grid->mesh = mesh, grid->version = rays->meshes[mesh].version, grid->turn = *turn;
    fill_grid(shadows, grid, rays->meshes[mesh].mesh);
    return at;
}

// ---- casters ----

static void set_box(ShadowCaster *caster, const ShadowSide *side, const Visual *visual)
{
    const double *m = side->along.m;
    Vec3 half = vec3(0.5 * ((double)visual->high[0] - (double)visual->low[0]),
                     0.5 * ((double)visual->high[1] - (double)visual->low[1]),
                     0.5 * ((double)visual->high[2] - (double)visual->low[2]));
    Vec3 middle = mat3_apply(
        side->along, vec3_add(half, vec3((double)visual->low[0], (double)visual->low[1], (double)visual->low[2])));
    const double centre[3] = { middle.x, middle.y, middle.z };
    for (int i = 0; i < 3; i++) {
        double reach = fabs(m[3 * i]) * half.x + fabs(m[3 * i + 1]) * half.y + fabs(m[3 * i + 2]) * half.z,
               slack = 1e-6 * (fabs(centre[i]) + reach) + 1e-9;
        caster->low[i] = (float)(centre[i] - reach - slack), caster->high[i] = (float)(centre[i] + reach + slack);
    }
}

static Mat3 turn_of(const Rays *rays, const ShadowSide *side, const ShadowCaster *caster)
{
    return mat3_mul(side->along, rays->visuals[caster->visual].world.m);
}

// With a grid if there is one from before.
static void add_caster(Rays *rays, ShadowSide *side, int index, int last_grid)
{
    assert_debug(index >= 0 && index < rays->visual_count && rays->visuals[index].casts_shadow);
    const Visual *visual = &rays->visuals[index];
    ShadowCaster caster = { .visual = index, .grid = -1 };
    set_box(&caster, side, visual);
    if (visual->mesh >= 0) {
        Mat3 turn = turn_of(rays, side, &caster);
        caster.grid = known_grid(rays, visual->mesh, &turn, last_grid);
        if (caster.grid >= 0)
            rays->shadows->grids[caster.grid].users++;
    }
    *memory_push(side->casters, side->caster_count, side->caster_capacity) = caster;
}

// False: a search costs less.
static bool complete_caster(Rays *rays, const ShadowSide *side, ShadowCaster *caster)
{
    assert_debug(caster->visual >= 0 && caster->visual < rays->visual_count);
    const Visual *visual = &rays->visuals[caster->visual];
    if (visual->mesh < 0)
        return true;
    if (caster->grid < 0) {
        Mat3 turn = turn_of(rays, side, caster);
        caster->grid = known_grid(rays, visual->mesh, &turn, -1);  // of one before it in the list
        if (caster->grid < 0)
            caster->grid = new_grid(rays, visual->mesh, &turn);
        rays->shadows->grids[caster->grid].users++;
    }
    const ShadowGrid *grid = &rays->shadows->grids[caster->grid];
    assert_debug(caster->grid < rays->shadows->grid_count && grid->users > 0);
    Vec3 shift = mat3_apply(side->along, visual->world.t);
    const double by[3] = { shift.x, shift.y, shift.z };
    for (int i = 0; i < 3; i++) {
        caster->shift[i] = (float)by[i];
        caster->low[i] = fmaxf(caster->low[i], nextafterf((float)(by[i] + (double)grid->low[i]), -INFINITY));
        caster->high[i] = fminf(caster->high[i], nextafterf((float)(by[i] + (double)grid->high[i]), INFINITY));
    }
    return !grid->is_crowded;
}

static void sort_casters(ShadowSide *side)
{
    int count[2];
    for (int k = 0; k < 2; k++)
        side->low[k] = INFINITY, side->high[k] = -INFINITY;
    for (int i = 0; i < side->caster_count; i++)
        for (int k = 0; k < 2; k++) {
            side->low[k] = fminf(side->low[k], side->casters[i].low[k]);
            side->high[k] = fmaxf(side->high[k], side->casters[i].high[k]);
        }
    if (side->caster_count == 0)
        side->low[0] = side->low[1] = 0.0f, side->high[0] = side->high[1] = -1.0f;
    divide(side->low, side->high, 16.0 * side->caster_count + 1.0, count, side->scale);
    memory_grow(&side->boxes, &side->box_capacity, side->caster_count + 1, sizeof *side->boxes);
    for (int i = 0; i < side->caster_count; i++) {
        const ShadowCaster *caster = &side->casters[i];
        side->boxes[i] = box_of((double[2]){ (double)caster->low[0], (double)caster->low[1] },
                                (double[2]){ (double)caster->high[0], (double)caster->high[1] }, side->low, side->scale,
                                count);
    }
    bins_fill(&side->bins, count[0], count[1], side->boxes, side->caster_count);
    side->is_usable = bins_crowding(&side->bins) <= CROWD_MAX;
}

// Two directions across the light and the one towards it (Duff and others, 2017).
static Mat3 along_light(Vec3 direction)
{
    Vec3 n = vec3_neg(direction);
    double sign = n.z < 0.0 ? -1.0 : 1.0, a = -1.0 / (sign + n.z), b = n.x * n.y * a;
    return (
        Mat3){ { 1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x, b, sign + n.y * n.y * a, -n.y, n.x, n.y, n.z } };
}

static void list_casters(Rays *rays, ShadowSide *side, const Light *light)
{
    int before = side->caster_count;  // whose grids are likely the same
    side->along = along_light(light->direction);
    side->caster_count = 0;
    for (int i = 0; i < rays->visual_count; i++) {
        const Visual *visual = &rays->visuals[i];
        if (visual->casts_shadow && visual->low[0] <= visual->high[0])
            add_caster(rays, side, i, side->caster_count < before ? side->casters[side->caster_count].grid : -1);
    }
}

static void complete_side(Rays *rays, ShadowSide *side)
{
    bool is_usable = true;
    for (int i = 0; i < side->caster_count; i++)
        is_usable &= complete_caster(rays, side, &side->casters[i]);
    if (is_usable)
        sort_casters(side);
}

static bool is_sun(const Light *light)
{
    return light->is_directional && light->casts_shadows && vec3_length2(light->direction) > 0.5;
}

static int64_t caster_triangles(const Rays *rays)
{
    int64_t count = 0;
    for (int i = 0; i < rays->visual_count; i++)
        if (rays->visuals[i].mesh >= 0 && rays->visuals[i].casts_shadow)
            count += rays->meshes[rays->visuals[i].mesh].mesh->triangle_count;
    return count;
}

void rays_prepare_shadows(Rays *rays, int pixel_count)
{
    assert_debug(pixel_count > 0);
    if (!rays->shadows)
        rays->shadows = memory_alloc(sizeof *rays->shadows);
    Shadows *shadows = rays->shadows;
    // By what the world and the picture are, never by what was looked at before: pictures do not depend on each other.
    shadows->is_usable = caster_triangles(rays) <= pixel_count;
    if (!shadows->is_usable || shadows->placings == rays->placings)
        return;
    shadows->placings = rays->placings;
    int count = rays->lighting.count, known = shadows->side_count;
    memory_grow(&shadows->sides, &shadows->side_capacity, count, sizeof *shadows->sides);
    if (count > known) {
        memset(shadows->sides + known, 0, (size_t)(count - known) * sizeof *shadows->sides);
        shadows->side_count = count;
    }
    for (int i = 0; i < shadows->grid_count; i++)
        shadows->grids[i].users = 0;
    for (int i = 0; i < count; i++) {
        shadows->sides[i].is_usable = false;
        if (is_sun(&rays->lighting.lights[i]))
            list_casters(rays, &shadows->sides[i], &rays->lighting.lights[i]);
    }
    for (int i = 0; i < count; i++)
        if (is_sun(&rays->lighting.lights[i]))
            complete_side(rays, &shadows->sides[i]);
}

const struct ShadowSide *shadows_side(const Rays *rays, int light)
{
    assert_debug(light >= 0 && light < rays->lighting.count);
    const Shadows *shadows = rays->shadows;
    if (!shadows || !shadows->is_usable || shadows->placings != rays->placings || !shadows->sides[light].is_usable)
        return NULL;
    return &shadows->sides[light];
}

void shadows_free(Rays *rays)
{
    Shadows *shadows = rays->shadows;
    if (!shadows)
        return;
    for (int i = 0; i < shadows->grid_count; i++) {
        free(shadows->grids[i].triangles);
        free(shadows->grids[i].boxes);
        bins_free(&shadows->grids[i].bins);
    }
    for (int i = 0; i < shadows->side_count; i++) {
        free(shadows->sides[i].casters);
        free(shadows->sides[i].boxes);
        bins_free(&shadows->sides[i].bins);
    }
    free(shadows->grids);
    free(shadows->sides);
    free(shadows->corners);
    free(shadows);
}
