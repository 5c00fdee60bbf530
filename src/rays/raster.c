// raster.c - what each pixel of a flat picture sees first, without a search: all its rays leave one point, so a
// triangle covers those whose directions lie on the inner side of three planes through that point, and one over the
// depth is linear over the picture. The test is that of a ray with a triangle, evaluated for neighbours together;
// corners need not lie before the eye. Forms with a formula are met exactly, ray by ray, where their boxes lie. Filling
// the pixels is in raster_fill.c.
#include "rays/raster.h"

#include "base/memory.h"

#include <stdlib.h>

// The part of the picture that a box covers, in pixels with a little slack; false: it is not in it.
typedef struct Extent {
    double left, right, top, bottom;  // pixels
    double nearest;                   // depth
} Extent;

static const Extent no_extent = { INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY };

static void extend(Extent *extent, const Raster *raster, Vec3 p)
{
    double column = (raster->left - p.y / p.x) / raster->step, row = (raster->top - p.z / p.x) / raster->step;
    extent->left = fmin(extent->left, column);
    extent->right = fmax(extent->right, column);
    extent->top = fmin(extent->top, row);
    extent->bottom = fmax(extent->bottom, row);
    extent->nearest = fmin(extent->nearest, p.x);
}

// What of the way from a to b lies behind the nearest depth that counts is cut off.
static void extend_edge(Extent *extent, const Raster *raster, Vec3 a, Vec3 b)
{
    double limit = raster->clip;
    if (a.x >= limit)
        extend(extent, raster, a);
    if ((a.x >= limit) != (b.x >= limit)) {
        Vec3 cut = vec3_mad(a, vec3_sub(b, a), (limit - a.x) / (b.x - a.x));
        cut.x = limit;
        extend(extent, raster, cut);
    }
}

// The pixels whose middles may lie in it; false: none.
static bool pixels_of(const Raster *raster, const Extent *extent, int pixels[4])
{
    static const double slack = 0.01;
    int width = raster->flat.width, height = raster->flat.height;
    double left = fmax(ceil(extent->left - 0.5 - slack), 0.0),
           right = fmin(floor(extent->right - 0.5 + slack), width - 1.0),
           top = fmax(ceil(extent->top - 0.5 - slack), 0.0),
           bottom = fmin(floor(extent->bottom - 0.5 + slack), height - 1.0);
    if (!(left <= right && top <= bottom))
        return false;
    pixels[0] = (int)left, pixels[1] = (int)right, pixels[2] = (int)top, pixels[3] = (int)bottom;
    return true;
}

static BinBox cells_of(const int pixels[4])
{
    return (BinBox){ (int16_t)(pixels[0] / RASTER_CELL_WIDTH), (int16_t)(pixels[1] / RASTER_CELL_WIDTH),
                     (int16_t)(pixels[2] / RASTER_CELL_HEIGHT), (int16_t)(pixels[3] / RASTER_CELL_HEIGHT) };
}

// ---- visuals ----

static Vec3 into_view(const Raster *raster, Vec3 p)
{
    return mat3_apply(raster->inwards, vec3_sub(p, raster->flat.pose.t));
}

// Of the box around it, in the world.
static Extent extent_of(const Raster *raster, const Visual *visual)
{
    Extent extent = no_extent;
    Vec3 corners[8];
    for (int i = 0; i < 8; i++)
        corners[i] = into_view(raster, vec3((double)(i & 1 ? visual->high : visual->low)[0],
                                            (double)(i & 2 ? visual->high : visual->low)[1],
                                            (double)(i & 4 ? visual->high : visual->low)[2]));
    for (int i = 0; i < 8; i++)
        for (int bit = 1; bit < 8; bit *= 2)
            extend_edge(&extent, raster, corners[i], corners[i ^ bit]);
    return extent;
}

static bool is_in_picture(const Rays *rays, const Raster *raster, int index, Extent *extent, int pixels[4])
{
    assert(index >= 0 && index < rays->visual_count);
    const Visual *visual = &rays->visuals[index];
    if (!(visual->low[0] <= visual->high[0]) || rays_is_hidden(rays, index, raster->flat.eye))
        return false;
    *extent = extent_of(raster, visual);
    return extent->nearest <= raster->flat.far && pixels_of(raster, extent, pixels);
}

// Where single precision is finer than the gap between a surface and the rays that leave it.
static void set_wide(const Raster *raster, const Visual *visual, RasterForm *form)
{
    static const double reach = 200.0;  // m, in the units of the form
    Vec3 origin = mat3_apply(visual->inverse, vec3_sub(raster->flat.pose.t, visual->world.t));
    Mat3 turn = mat3_mul(visual->inverse, raster->outwards);
    form->is_wide = vec3_length(origin) < reach && form_is_wide(&visual->form);
    form->origin[0] = (float)origin.x, form->origin[1] = (float)origin.y, form->origin[2] = (float)origin.z;
    for (int i = 0; i < 9; i++)
        form->turn[i] = (float)turn.m[i];
}

static void add_form(const Rays *rays, Raster *raster, int visual, const Extent *extent, const int pixels[4])
{
    assert_debug(rays->visuals[visual].mesh < 0);
    memory_grow(&raster->forms, &raster->form_capacity, raster->form_count + 1, sizeof *raster->forms);
    memory_grow(&raster->form_boxes, &raster->form_box_capacity, raster->form_count + 1, sizeof *raster->form_boxes);
    raster->form_boxes[raster->form_count] = cells_of(pixels);
    raster->forms[raster->form_count++] = (RasterForm){ .visual = visual,
                                                        .pixels = { pixels[0], pixels[1], pixels[2], pixels[3] },
                                                        .nearest = (float)extent->nearest };
    set_wide(raster, &rays->visuals[visual], &raster->forms[raster->form_count - 1]);
}

// ---- triangles ----

static void project_corners(Raster *raster, const Mesh *mesh, const Visual *visual)
{
    assert_debug(raster->step > 0.0);
    Mat3 m = mat3_mul(raster->inwards, visual->world.m);
    Vec3 t = into_view(raster, visual->world.t);
    memory_grow(&raster->corners, &raster->corner_capacity, mesh->vertex_count, sizeof *raster->corners);
    double per_step = 1.0 / raster->step, column = raster->left * per_step, row = raster->top * per_step;
    for (int i = 0; i < mesh->vertex_count; i++) {
        RasterCorner *corner = &raster->corners[i];
        corner->p = vec3_add(mat3_apply(m, mesh_position(mesh, (uint32_t)i)), t);
        double by = per_step / corner->p.x;
        corner->column = column - corner->p.y * by;
        corner->row = row - corner->p.z * by;
    }
}

static bool triangle_pixels(const Raster *raster, const RasterCorner *const c[3], int pixels[4])
{
    double clip = raster->clip;
    bool is_before[3] = { c[0]->p.x >= clip, c[1]->p.x >= clip, c[2]->p.x >= clip };
    if (is_before[0] && is_before[1] && is_before[2]) {
        Extent extent = { double_min(c[0]->column, double_min(c[1]->column, c[2]->column)),
                          double_max(c[0]->column, double_max(c[1]->column, c[2]->column)),
                          double_min(c[0]->row, double_min(c[1]->row, c[2]->row)),
                          double_max(c[0]->row, double_max(c[1]->row, c[2]->row)), 0.0 };
        return pixels_of(raster, &extent, pixels);
    }
    if (!is_before[0] && !is_before[1] && !is_before[2])
        return false;
    Extent extent = no_extent;
    for (int i = 0; i < 3; i++)
        extend_edge(&extent, raster, c[i]->p, c[(i + 1) % 3]->p);
    return pixels_of(raster, &extent, pixels);
}

static void set_plane(float to[3], Vec3 n, double factor)
{
    to[0] = (float)(n.x * factor), to[1] = (float)(n.y * factor), to[2] = (float)(n.z * factor);
}

// `front` is the sign of the determinant of triangles that turn their front to the eye.
static void add_triangle(Raster *raster, int visual, int triangle, const RasterCorner *const c[3], double front)
{
    assert_debug(triangle >= 0 && visual >= 0);
    int pixels[4];
    if (!triangle_pixels(raster, c, pixels))
        return;
    // Seen from two triangles an edge has the same plane but for its sign, to the last bit: nothing shines through
    // between them.
    Vec3 a = vec3_cross(c[1]->p, c[2]->p), b = vec3_cross(c[2]->p, c[0]->p), d = vec3_cross(c[0]->p, c[1]->p);
    double volume = vec3_dot(c[0]->p, a);
    if (!(volume * front > 0.0))
        return;
    Vec3 normal = vec3_cross(vec3_sub(c[1]->p, c[0]->p), vec3_sub(c[2]->p, c[0]->p));
    memory_grow(&raster->triangles, &raster->triangle_capacity, raster->triangle_count + 1, sizeof *raster->triangles);
    memory_grow(&raster->boxes, &raster->box_capacity, raster->triangle_count + 1, sizeof *raster->boxes);
    raster->boxes[raster->triangle_count] = cells_of(pixels);
    RasterTriangle *to = &raster->triangles[raster->triangle_count++];
    *to = (RasterTriangle){ .visual = visual,
                            .triangle = triangle,
                            .left = (int16_t)(pixels[0] / BLOCK_WIDTH),
                            .right = (int16_t)(pixels[1] / BLOCK_WIDTH),
                            .top = (int16_t)(pixels[2] / BLOCK_HEIGHT),
                            .bottom = (int16_t)(pixels[3] / BLOCK_HEIGHT) };
    set_plane(to->edge[0], a, front);
    set_plane(to->edge[1], b, front);
    set_plane(to->edge[2], d, front);
    set_plane(to->nearness, normal, 1.0 / volume);
}

static void add_mesh(const Rays *rays, Raster *raster, int index)
{
    assert_debug(rays->visuals[index].mesh >= 0 && rays->visuals[index].mesh < rays->mesh_count);
    const Visual *visual = &rays->visuals[index];
    const Mesh *mesh = rays->meshes[visual->mesh].mesh;
    Mat3 m = visual->world.m;
    double front = vec3_dot(vec3(m.m[0], m.m[3], m.m[6]),
                            vec3_cross(vec3(m.m[1], m.m[4], m.m[7]), vec3(m.m[2], m.m[5], m.m[8])))
                           < 0.0
                       ? 1.0
                       : -1.0;
    project_corners(raster, mesh, visual);
    for (int i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *at = mesh->triangles + 3 * (size_t)i;
        assert_debug(at[0] < (uint32_t)mesh->vertex_count && at[1] < (uint32_t)mesh->vertex_count
                     && at[2] < (uint32_t)mesh->vertex_count);
        const RasterCorner *const corners[3] = { &raster->corners[at[0]], &raster->corners[at[1]],
                                                 &raster->corners[at[2]] };
        add_triangle(raster, index, i, corners, front);
    }
}

// ---- the picture ----

static void set_places(Raster *raster)
{
    const RaysFlat *flat = &raster->flat;
    raster->block_columns = (flat->width + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
    raster->block_rows = (flat->height + BLOCK_HEIGHT - 1) / BLOCK_HEIGHT;
    int blocks = raster->block_columns * raster->block_rows;
    memory_grow(&raster->across, &raster->across_capacity, LANES * raster->block_columns, sizeof *raster->across);
    memory_grow(&raster->above, &raster->above_capacity, LANES * raster->block_rows, sizeof *raster->above);
    memory_grow(&raster->nearness, &raster->nearness_capacity, LANES * blocks, sizeof *raster->nearness);
    memory_grow(&raster->items, &raster->item_capacity, LANES * blocks, sizeof *raster->items);
    for (int i = 0; i < LANES * raster->block_columns; i++)
        raster->across[i] = (float)(raster->left - (i / LANES * BLOCK_WIDTH + i % BLOCK_WIDTH + 0.5) * raster->step);
    for (int i = 0; i < LANES * raster->block_rows; i++)
        raster->above[i] = (float)(raster->top
                                   - (i / LANES * BLOCK_HEIGHT + i % LANES / BLOCK_WIDTH + 0.5) * raster->step);
}

static bool set_flat(Raster *raster, const RaysFlat *flat)
{
    raster->flat = *flat;
    raster->outwards = mat3_from_quat(flat->pose.q);
    raster->inwards = mat3_transposed(raster->outwards);
    raster->step = flat->reach / flat->width;
    raster->left = 0.5 * flat->reach;
    raster->top = 0.5 * raster->step * flat->height;
    raster->clip = 0.999 * flat->near;
    raster->triangle_count = raster->form_count = 0;
    return vec3_is_finite(flat->pose.t) && isfinite(flat->pose.q.w) && flat->near > 0.0 && flat->far > flat->near
           && isfinite(raster->step) && raster->step > 0.0;
}

bool rays_flat_begin(Rays *rays, const RaysFlat *flat)
{
    Extent extent;
    int pixels[4], count = flat->width * flat->height, triangles = 0;
    if (!rays->raster)
        rays->raster = memory_alloc(sizeof *rays->raster);
    Raster *raster = rays->raster;
    assert(flat->width > 0 && flat->height > 0);
    if (!set_flat(raster, flat))
        return false;
    memory_grow(&raster->is_seen, &raster->seen_capacity, rays->visual_count + 1, sizeof *raster->is_seen);
    for (int i = 0; i < rays->visual_count; i++) {
        raster->is_seen[i] = is_in_picture(rays, raster, i, &extent, pixels);
        if (!raster->is_seen[i])
            continue;
        if (rays->visuals[i].mesh < 0)
            add_form(rays, raster, i, &extent, pixels);
        else
            triangles += rays->meshes[rays->visuals[i].mesh].mesh->triangle_count;
        if (triangles > count)
            return false;  // where triangles are smaller than pixels a search costs less
    }
    for (int i = 0; i < rays->visual_count; i++)
        if (raster->is_seen[i] && rays->visuals[i].mesh >= 0)
            add_mesh(rays, raster, i);
    set_places(raster);
    int columns = (flat->width + RASTER_CELL_WIDTH - 1) / RASTER_CELL_WIDTH, rows = rays_flat_bands(flat);
    bins_fill(&raster->bins, columns, rows, raster->boxes, raster->triangle_count);
    bins_fill(&raster->form_bins, columns, rows, raster->form_boxes, raster->form_count);
    return true;
}

int rays_flat_bands(const RaysFlat *flat) { return (flat->height + RASTER_CELL_HEIGHT - 1) / RASTER_CELL_HEIGHT; }

void rays_flat_fill(const Rays *rays, int band)
{
    assert_debug(rays->raster);
    const Raster *raster = rays->raster;
    assert(band >= 0 && band < raster->bins.rows);
    for (int column = 0; column < raster->bins.columns; column++)
        rays->fill(raster, column, band);
}

// ---- what was found ----

void raster_size(const Rays *rays, int *width, int *height)
{
    *width = rays->raster->flat.width;
    *height = rays->raster->flat.height;
}

Ray raster_ray(const Rays *rays, int column, int row)
{
    const Raster *raster = rays->raster;
    assert_debug(column >= 0 && row >= 0);  // rows of eight may reach beyond the picture
    const double *m = raster->outwards.m;
    double across = raster->left - (column + 0.5) * raster->step, above = raster->top - (row + 0.5) * raster->step,
           length = sqrt(1.0 + across * across + above * above), slant = 1.0 / length;
    return (Ray){ raster->flat.pose.t,
                  { slant * (m[0] + m[1] * across + m[2] * above), slant * (m[3] + m[4] * across + m[5] * above),
                    slant * (m[6] + m[7] * across + m[8] * above) },
                  raster->flat.near * length,
                  raster->flat.far * length,
                  raster->step * slant };
}

// The pixel's triangle is known from the fill; what is missing are the shares of its corners, as a ray would have
// given them.
static void find_triangle(const Rays *rays, const Raster *raster, const int pixel[2], const Ray *query, int lane,
                          Found *found)
{
    assert_debug(lane >= 0 && lane < LANES && pixel[0] < raster->flat.width && pixel[1] < raster->flat.height);
    int block_column = pixel[0] / BLOCK_WIDTH, block_row = pixel[1] / BLOCK_HEIGHT,
        inside = pixel[1] % BLOCK_HEIGHT * BLOCK_WIDTH + pixel[0] % BLOCK_WIDTH;
    size_t at = LANES * ((size_t)block_row * (size_t)raster->block_columns + (size_t)block_column) + (size_t)inside;
    if (raster->items[at] < 0)
        return;
    assert_debug(raster->items[at] < raster->triangle_count);
    const RasterTriangle *triangle = &raster->triangles[raster->items[at]];
    float across = raster->across[LANES * block_column + inside], above = raster->above[LANES * block_row + inside],
          e[3];
    for (int i = 0; i < 3; i++) {
        e[i] = triangle->edge[i][0] + triangle->edge[i][1] * across + triangle->edge[i][2] * above;
        e[i] = e[i] > 0.0f ? e[i] : 0.0f;
    }
    float sum = e[0] + e[1] + e[2];
    sum = sum > 1e-37f ? sum : 1e-37f;
    const double *m = raster->inwards.m;
    float slant = (float)(m[0] * query->direction.x + m[1] * query->direction.y + m[2] * query->direction.z);
    found->visual[lane] = triangle->visual;
    found->triangle[lane] = triangle->triangle;
    found->distance[lane] = 1.0f / (raster->nearness[at] * slant);
    found->b[lane] = e[1] / sum;
    found->c[lane] = e[2] / sum;
    const float *normal = rays->meshes[rays->visuals[triangle->visual].mesh].normals + 3 * (size_t)triangle->triangle;
    for (int i = 0; i < 3; i++)
        found->normal[i][lane] = normal[i];
}

static void find_form(const Rays *rays, const RasterForm *form, const Ray *query, int lane, Found *found)
{
    assert_debug(form->visual >= 0 && form->visual < rays->visual_count);
    int nearest = found->visual[lane];
    FormHit hit;
    if ((nearest >= 0 && found->distance[lane] < form->nearest)
        || !rays_meet_form(&rays->visuals[form->visual], query, &hit))
        return;
    double before = nearest < 0                 ? INFINITY
                    : found->triangle[lane] < 0 ? found->form[lane].hit.distance
                                                : (double)found->distance[lane];
    if (hit.distance > before || (hit.distance == before && form->visual > nearest))
        return;
    found->visual[lane] = form->visual;
    found->triangle[lane] = -1;
    found->distance[lane] = (float)hit.distance;
    found->form[lane] = (FormFound){ form->visual, hit };
}

void raster_search(const Rays *rays, const Ray *queries, const int (*pixels)[2], int count, Found *found)
{
    const Raster *raster = rays->raster;
    assert(raster && count <= LANES);
    for (int i = 0; i < LANES; i++)
        found->visual[i] = found->triangle[i] = -1;
    for (int i = 0; i < count; i++)
        find_triangle(rays, raster, pixels[i], &queries[i], i, found);
    for (int i = 0; i < count && raster->form_count > 0; i++) {
        int column = pixels[i][0], row = pixels[i][1],
            cell = row / RASTER_CELL_HEIGHT * raster->form_bins.columns + column / RASTER_CELL_WIDTH;
        for (int k = raster->form_bins.starts[cell]; k < raster->form_bins.starts[cell + 1]; k++) {
            const RasterForm *form = &raster->forms[raster->form_bins.items[k]];
            if (column >= form->pixels[0] && column <= form->pixels[1] && row >= form->pixels[2]
                && row <= form->pixels[3])
                find_form(rays, form, &queries[i], i, found);
        }
    }
}

void raster_free(Rays *rays)
{
    Raster *raster = rays->raster;
    if (!raster)
        return;
    free(raster->triangles);
    free(raster->boxes);
    free(raster->forms);
    free(raster->form_boxes);
    free(raster->corners);
    free(raster->is_seen);
    free(raster->across);
    free(raster->above);
    free(raster->nearness);
    free(raster->items);
    bins_free(&raster->bins);
    bins_free(&raster->form_bins);
    free(raster);
}
