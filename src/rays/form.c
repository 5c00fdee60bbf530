// form.c - where rays enter forms that have a formula. Each form is convex or an open part of one, and seen from
// outside only.
#include "rays/rays_internal.h"

#include <stdlib.h>

typedef struct FormRay {
    Vec3 o, d;
    double near;
    FormHit *hit;
    bool is_hit;
} FormRay;

static void offer(FormRay *ray, double distance, Vec3 normal, double u, double v, int face)
{
    if (!(distance > ray->near) || (ray->is_hit && distance >= ray->hit->distance))
        return;
    *ray->hit = (FormHit){ distance, normal, normal, u, v, face };
    ray->is_hit = true;
}

static Vec3 point_at(const FormRay *ray, double distance) { return vec3_mad(ray->o, ray->d, distance); }

// ---- boxes and planes ----

static void box_texture(int face, Vec3 p, double *u, double *v)
{
    assert_debug(face >= 0 && face < 6);
    switch (face) {
    case 0: *u = p.y, *v = p.z; break;         // +x
    case 1: *u = 1.0 - p.y, *v = p.z; break;   // -x
    case 2: *u = 1.0 - p.x, *v = p.z; break;   // +y
    case 3: *u = p.x, *v = p.z; break;         // -y
    case 4: *u = p.x, *v = p.y; break;         // +z
    default: *u = p.x, *v = 1.0 - p.y; break;  // -z
    }
}

// By slabs, in double precision: the face that is entered last is the one that is hit. A ray along a face that never
// enters a slab misses.
static void hit_box(FormRay *ray, Vec3 size)
{
    const double o[3] = { ray->o.x, ray->o.y, ray->o.z }, d[3] = { ray->d.x, ray->d.y, ray->d.z };
    const double half[3] = { 0.5 * size.x, 0.5 * size.y, 0.5 * size.z };
    double enter = -INFINITY, leave = INFINITY;
    int face = -1;
    for (int i = 0; i < 3; i++) {
        if (d[i] == 0.0) {
            if (fabs(o[i]) > half[i])
                return;
            continue;
        }
        bool is_upwards = d[i] > 0.0;
        double first = ((is_upwards ? -half[i] : half[i]) - o[i]) / d[i],
               last = ((is_upwards ? half[i] : -half[i]) - o[i]) / d[i];
        if (first > enter) {
            enter = first;
            face = 2 * i + is_upwards;
        }
        leave = last < leave ? last : leave;
    }
    if (face < 0 || enter > leave)
        return;
    static const Vec3 normals[6] = { { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 }, { 0, 0, 1 }, { 0, 0, -1 } };
    Vec3 p = point_at(ray, enter);
    double u, v;
    box_texture(face, vec3(p.x / size.x + 0.5, p.y / size.y + 0.5, p.z / size.z + 0.5), &u, &v);
    offer(ray, enter, normals[face], u, v, face);
}

static void hit_plane(FormRay *ray, Vec3 size)
{
    if (!(ray->d.z < 0.0))
        return;
    double distance = -ray->o.z / ray->d.z;
    Vec3 p = point_at(ray, distance);
    double u = p.x / size.x + 0.5, v = p.y / size.y + 0.5;
    if (u >= 0.0 && u <= 1.0 && v >= 0.0 && v <= 1.0)
        offer(ray, distance, vec3(0, 0, 1), u, v, 0);
}

// ---- round forms ----

// Around z from -x... as Webots lays its textures: 0 at +y, growing towards -x.
static double around(double x, double y)
{
    double turn = atan2(-x, y) / (2.0 * M_PI);
    return turn < 0.0 ? turn + 1.0 : turn;
}

// The first root of a t^2 + 2 b t + c when the origin is outside (c >= 0).
static bool first_root(double a, double b, double c, double *root)
{
    double inside = b * b - a * c;
    if (!(a > 0.0) || !(c >= 0.0) || !(inside >= 0.0))
        return false;
    *root = (-b - sqrt(inside)) / a;
    return true;
}

static void hit_ball(FormRay *ray, double radius)
{
    double t;
    if (!first_root(vec3_dot(ray->d, ray->d), vec3_dot(ray->o, ray->d), vec3_dot(ray->o, ray->o) - radius * radius, &t))
        return;
    Vec3 p = point_at(ray, t);
    offer(ray, t, p, around(p.x, p.y), 0.5 + asin(double_clamp(p.z / radius, -1.0, 1.0)) / M_PI, 0);
}

// The end of a capsule. An image lies on all of it: the lower third of it below, the upper one above, the middle on the
// side.
static void hit_cap(FormRay *ray, double z, double radius)
{
    Vec3 o = vec3(ray->o.x, ray->o.y, ray->o.z - z);
    double t;
    if (!first_root(vec3_dot(ray->d, ray->d), vec3_dot(o, ray->d), vec3_dot(o, o) - radius * radius, &t))
        return;
    Vec3 p = vec3_mad(o, ray->d, t);
    double share = asin(double_clamp(p.z / radius, -1.0, 1.0)) / (0.5 * M_PI);
    if (z < 0.0 ? share <= 0.0 : share >= 0.0)
        offer(ray, t, p, around(p.x, p.y), ((z < 0.0 ? 1.0 : 2.0) + share) / 3.0, z < 0.0 ? 2 : 1);
}

static void hit_side(FormRay *ray, double radius, double half, double low, double high)
{
    double a = ray->d.x * ray->d.x + ray->d.y * ray->d.y, b = ray->o.x * ray->d.x + ray->o.y * ray->d.y, t;
    if (!first_root(a, b, ray->o.x * ray->o.x + ray->o.y * ray->o.y - radius * radius, &t))
        return;
    Vec3 p = point_at(ray, t);
    if (fabs(p.z) <= half)
        offer(ray, t, vec3(p.x, p.y, 0.0), around(p.x, p.y), low + (high - low) * (0.5 + 0.5 * p.z / half), 0);
}

static void hit_disc(FormRay *ray, double radius, double z, double up)
{
    if (!(up * ray->d.z < 0.0))
        return;
    double t = (z - ray->o.z) / ray->d.z;
    Vec3 p = point_at(ray, t);
    if (p.x * p.x + p.y * p.y <= radius * radius)
        offer(ray, t, vec3(0, 0, up), 0.5 + 0.5 * p.x / radius, 0.5 + 0.5 * up * p.y / radius, up > 0.0 ? 1 : 2);
}

// x^2 + y^2 = (radius / height)^2 (half - z)^2, of which the part with the tip at +half is the cone.
static void hit_cone_side(FormRay *ray, double radius, double height)
{
    double half = 0.5 * height, k = radius / height, above = half - ray->o.z;
    double a = ray->d.x * ray->d.x + ray->d.y * ray->d.y - k * k * ray->d.z * ray->d.z;
    double b = ray->o.x * ray->d.x + ray->o.y * ray->d.y + k * k * above * ray->d.z;
    double c = ray->o.x * ray->o.x + ray->o.y * ray->o.y - k * k * above * above;
    double inside = b * b - a * c;
    if (!(inside >= 0.0))
        return;
    double root = sqrt(inside),
           roots[2] = { a != 0.0 ? (-b - root) / a : -0.5 * c / b, a != 0.0 ? (-b + root) / a : -0.5 * c / b };
    for (int i = 0; i < 2; i++) {
        Vec3 p = point_at(ray, roots[i]), normal = vec3(p.x, p.y, k * k * (half - p.z));
        if (fabs(p.z) <= half && vec3_dot(normal, ray->d) < 0.0)
            offer(ray, roots[i], normal, around(p.x, p.y), (p.z + half) / height, 0);
    }
}

static void hit_box_form(FormRay *ray, const Form *form) { hit_box(ray, form->shape.size); }

static void hit_plane_form(FormRay *ray, const Form *form) { hit_plane(ray, form->shape.size); }

static void hit_sphere(FormRay *ray, const Form *form) { hit_ball(ray, form->shape.size.x); }

static void hit_capsule(FormRay *ray, const Form *form)
{
    double radius = form->shape.size.x, half = 0.5 * form->shape.size.y;
    if (!form->without_side)
        hit_side(ray, radius, half, 1.0 / 3.0, 2.0 / 3.0);
    if (!form->without_top)
        hit_cap(ray, half, radius);
    if (!form->without_bottom)
        hit_cap(ray, -half, radius);
}

static void hit_cylinder(FormRay *ray, const Form *form)
{
    double radius = form->shape.size.x, half = 0.5 * form->shape.size.y;
    if (!form->without_side)
        hit_side(ray, radius, half, 0.0, 1.0);
    if (!form->without_top)
        hit_disc(ray, radius, half, 1.0);
    if (!form->without_bottom)
        hit_disc(ray, radius, -half, -1.0);
}

static void hit_cone(FormRay *ray, const Form *form)
{
    double radius = form->shape.size.x, height = form->shape.size.y;
    if (!form->without_side)
        hit_cone_side(ray, radius, height);
    if (!form->without_bottom)
        hit_disc(ray, radius, -0.5 * height, -1.0);
}

// Forms that rays meet by a formula, and how their paint is laid out in cells; all others are met by their triangles.
static const struct {
    void (*hit)(FormRay *ray, const Form *form);
    int cells[2];
    bool has_ends;  // a side (face 0), a top and a bottom, of which some may be left out
} formulas[] = {
    [GEOMETRY_BOX] = { hit_box_form, { 3, 2 }, false },     [GEOMETRY_PLANE] = { hit_plane_form, { 1, 1 }, false },
    [GEOMETRY_SPHERE] = { hit_sphere, { 1, 1 }, false },    [GEOMETRY_CAPSULE] = { hit_capsule, { 1, 1 }, true },
    [GEOMETRY_CYLINDER] = { hit_cylinder, { 1, 2 }, true }, [GEOMETRY_CONE] = { hit_cone, { 1, 2 }, true },
};

static bool has_formula(GeometryKind kind) { return kind < COUNT_OF(formulas) && formulas[kind].hit; }

bool form_hit(const Form *form, Vec3 origin, Vec3 direction, double near, FormHit *hit)
{
    FormRay ray = { origin, direction, near, hit, false };
    if (has_formula(form->shape.kind))
        formulas[form->shape.kind].hit(&ray, form);
    return ray.is_hit;
}

static bool is_hidden(const SceneNode *geometry, const char *field)
{
    return schema_field(geometry->type, field) && !scene_bool(geometry, field);
}

Form form_of(const SceneNode *geometry)
{
    Form form = { .shape = shape_form(geometry) };
    if (!has_formula(form.shape.kind)) {
        form.shape.kind = GEOMETRY_NONE;
        return form;
    }
    if (formulas[form.shape.kind].has_ends) {
        form.without_top = is_hidden(geometry, "top");
        form.without_bottom = is_hidden(geometry, "bottom");
        form.without_side = is_hidden(geometry, "side");
    }
    Vec3 reach = form.shape.type->reach(form.shape.size);
    bool is_flat = form.shape.kind == GEOMETRY_PLANE;
    if (!vec3_is_finite(reach) || !(reach.x > 0.0 && reach.y > 0.0 && (is_flat || reach.z > 0.0)))
        form.shape.kind = GEOMETRY_NONE;
    form.low = vec3_neg(reach);
    form.high = reach;
    return form;
}

// Ritter's way, as Webots goes: half the way between two far vertices, and then as much more as others need.
static double radius_around(const Mesh *mesh)
{
    if (mesh->vertex_count == 0)
        return 0.0;
    Vec3 ends[2] = { mesh_position(mesh, 0), mesh_position(mesh, 0) };
    for (int side = 0; side < 2; side++) {
        Vec3 from = ends[1 - side];
        for (int i = 0; i < mesh->vertex_count; i++)
            if (vec3_distance(mesh_position(mesh, (uint32_t)i), from) > vec3_distance(ends[side], from))
                ends[side] = mesh_position(mesh, (uint32_t)i);
    }
    Vec3 middle = vec3_scale(vec3_add(ends[0], ends[1]), 0.5);
    double radius = vec3_distance(ends[0], middle);
    for (int i = 0; i < mesh->vertex_count; i++) {
        Vec3 at = mesh_position(mesh, (uint32_t)i);
        double away = vec3_distance(at, middle), more = 0.5 * (away - radius);
        if (more <= 0.0)
            continue;
        radius += more;
        middle = vec3_mad(middle, vec3_sub(at, middle), more / away);
    }
    return radius;
}

double form_radius(const Form *form, const Mesh *mesh)
{
    assert_debug(!form != !mesh);
    if (mesh)
        return radius_around(mesh);
    double r = form->high.x, half = form->high.z;
    switch (form->shape.kind) {
    case GEOMETRY_SPHERE: return r;
    case GEOMETRY_CAPSULE: return half;
    case GEOMETRY_CYLINDER:
    case GEOMETRY_CONE: return sqrt(r * r + half * half);
    default: return 0.5 * vec3_distance(form->low, form->high);
    }
}

void form_paint_cells(const Form *form, int cells[2])
{
    bool is_met_by_formula = has_formula(form->shape.kind);
    cells[0] = is_met_by_formula ? formulas[form->shape.kind].cells[0] : 1;
    cells[1] = is_met_by_formula ? formulas[form->shape.kind].cells[1] : 1;
}

// Six faces of a box in two rows of three; of round forms the side below, the ends above it.
bool form_paint_place(const Form *form, const RayHit *hit, double *u, double *v)
{
    *u = hit->u, *v = hit->v;
    if (!(*u >= 0.0 && *u <= 1.0 && *v >= 0.0 && *v <= 1.0))
        return false;
    if (form->shape.kind == GEOMETRY_BOX) {
        *u = (hit->face % 3 + *u) / 3.0;
        *v = (hit->face / 3 + *v) / 2.0;
    } else if (has_formula(form->shape.kind) && formulas[form->shape.kind].cells[1] == 2) {
        *u = hit->face == 0 ? *u : (hit->face - 1 + *u) / 2.0;
        *v = (*v + (hit->face == 0 ? 0.0 : 1.0)) / 2.0;
    }
    return true;
}

// ---- spots of paint ----

// Axis of each face of a box, on which side of it the face lies, and the axes along which u and v run; negative:
// against it (from 1).
static const struct {
    int axis, side, u, v;
} box_faces[6] = {
    { 0, 1, 2, 3 }, { 0, 0, -2, 3 }, { 1, 1, -1, 3 }, { 1, 0, 1, 3 }, { 2, 1, 1, 2 }, { 2, 0, 1, -2 },
};

static double along_axis(int axis, const double p[3]) { return axis > 0 ? p[axis - 1] : 1.0 - p[-axis - 1]; }

static void set_along(int axis, double value, double p[3])
{
    assert_debug(axis != 0 && abs(axis) <= 3);
    if (axis > 0)
        p[axis - 1] = value;
    else
        p[-axis - 1] = 1.0 - value;
}

static RaysSpot in_cell(double u, double v, double reach_u, double reach_v, int column, int row, const int cells[2])
{
    assert_debug(column >= 0 && column < cells[0] && row >= 0 && row < cells[1]);
    return (RaysSpot){ (column + u) / cells[0],
                       (row + v) / cells[1],
                       reach_u / cells[0],
                       reach_v / cells[1],
                       { (double)column / cells[0], (double)row / cells[1] },
                       { (column + 1.0) / cells[0], (row + 1.0) / cells[1] } };
}

// A ball around the point cuts discs out of the faces.
static int box_spots(const Form *form, const RayHit *hit, double reach, const int cells[2], RaysSpot spots[6])
{
    assert_debug(hit->face >= 0 && hit->face < COUNT_OF(box_faces));
    const double size[3] = { form->shape.size.x, form->shape.size.y, form->shape.size.z };
    double p[3] = { 0 };
    int count = 0, own_u = abs(box_faces[hit->face].u) - 1;
    p[box_faces[hit->face].axis] = box_faces[hit->face].side;
    set_along(box_faces[hit->face].u, hit->u, p);
    set_along(box_faces[hit->face].v, hit->v, p);
    double radius = reach * size[own_u];
    for (int face = 0; face < 6; face++) {
        int axis = box_faces[face].axis;
        double away = fabs(p[axis] - box_faces[face].side) * size[axis];
        if (away > radius)
            continue;
        double inside = sqrt(radius * radius - away * away);
        spots[count++] = in_cell(along_axis(box_faces[face].u, p), along_axis(box_faces[face].v, p),
                                 inside / size[abs(box_faces[face].u) - 1], inside / size[abs(box_faces[face].v) - 1],
                                 face % 3, face / 3, cells);
    }
    return count;
}

int form_paint_spots(const Form *form, const RayHit *hit, double reach_u, double reach_v, RaysSpot spots[6])
{
    int cells[2];
    if (!(hit->u >= 0.0 && hit->u <= 1.0 && hit->v >= 0.0 && hit->v <= 1.0))
        return 0;
    form_paint_cells(form, cells);
    if (form->shape.kind == GEOMETRY_BOX)
        return box_spots(form, hit, reach_u, cells, spots);
    bool is_side = hit->face == 0 || cells[1] == 1;
    int sides[2] = { is_side ? 1 : 2, cells[1] };  // ends share a row
    spots[0] = in_cell(hit->u, hit->v, reach_u, reach_v, is_side ? 0 : hit->face - 1, is_side ? 0 : 1, sides);
    return 1;
}
