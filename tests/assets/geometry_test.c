// Rows of assets/geometry.h hold together: what a formula says is what the triangles of the same form say, fields are
// those of the schema, and the list of what may collide is that of the rows.
#include "assets/geometry.h"
#include "scene/schema.h"
#include "support/support.h"

#include <string.h>

// A fine mesh of a round form is smaller than the form itself by some thousandths.
static const GeometryDetail fine = { .divisions = 400 };
static const Vec3 size = { 0.3, 0.7, 0.4 };

static void formulas_agree_with_triangles(void **state)
{
    (void)state;
    for (int i = 0; i < geometry_type_count(); i++) {
        const GeometryType *type = geometry_type_at(i);
        if (!type->mesh || type->kind == GEOMETRY_PLANE)
            continue;
        Mesh *mesh = type->mesh(size, &fine);
        MeshMass volume;
        mesh_mass(mesh, &volume);
        if (type->mass) {
            MassProperties mass = type->mass(2.0, size);
            CHECK_NEAR(mass.mass, 2.0 * volume.volume, 1e-3 * mass.mass, type->node);
            for (int k = 0; k < 9; k += 4)
                CHECK_NEAR(mass.inertia.m[k], 2.0 * volume.inertia.m[k], 2e-3 * mass.inertia.m[k], type->node);
        }
        Vec3 reach = type->reach(size);
        CHECK_NEAR(reach.x, mesh->high.x, 1e-3, type->node);
        CHECK_NEAR(reach.y, mesh->high.y, 1e-3, type->node);
        CHECK_NEAR(reach.z, mesh->high.z, 1e-3, type->node);
        double radius = 0.0;
        for (int k = 0; k < mesh->vertex_count; k++) {
            const double *p = mesh->positions + 3 * k;
            radius = fmax(radius, vec3_length(vec3(p[0], p[1], p[2])));
        }
        CHECK_NEAR(type->radius(size), radius, 1e-3, type->node);
        mesh_destroy(mesh);
    }
}

static void rows_know_the_schema(void **state)
{
    (void)state;
    for (int i = 0; i < geometry_type_count(); i++) {
        const GeometryType *type = geometry_type_at(i);
        const NodeType *node = schema_type(type->node);
        CHECK(node, type->node);
        CHECK(geometry_type(type->node) == type, type->node);
        int numbers = 0;
        for (int k = 0; k < COUNT_OF(type->lengths) && type->lengths[k]; k++) {
            const FieldType *field = schema_field(node, type->lengths[k]);
            CHECK(field, type->lengths[k]);
            if (!field_kind_is_list(field->kind))
                numbers += field_kind_doubles(field->kind);
        }
        CHECK(type->size_count == 0 || type->size_count == numbers, type->node);
        CHECK(!type->mass || (type->reach && type->radius && type->mesh && type->word), type->node);
    }
}

static void what_collides_is_listed(void **state)
{
    (void)state;
    for (int i = 0; i < geometry_type_count(); i++) {
        const GeometryType *type = geometry_type_at(i);
        bool is_old = !strcmp(type->node, "Extrusion");  // of VRML97, read but offered to nobody
        bool is_listed = schema_allows_type(GEOMETRY_COLLIDING, schema_type(type->node));
        CHECK(is_old || is_listed == ((type->traits & GEOMETRY_COLLIDES) != 0), type->node);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_agree_with_triangles),
        cmocka_unit_test(rows_know_the_schema),
        cmocka_unit_test(what_collides_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
