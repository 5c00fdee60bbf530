// Contacts in words: which ContactProperties a pair of materials gets, and what that makes of a contact.
#include "physics/physics_internal.h"

static void add_number(Text *out, const char *name, double value)
{
    if (isinf(value))
        text_printf(out, " %s infinite", name);
    else
        text_printf(out, " %s %g", name, value);
}

static void add_list(Text *out, const char *name, const double *values, int count)
{
    text_printf(out, " %s", name);
    for (int i = 0; i < count; i++) {
        if (isinf(values[i]))
            text_add_string(out, " infinite");
        else
            text_printf(out, " %g", values[i]);
    }
}

static void add_rule(const Physics *physics, int index, Text *out)
{
    const ContactRule *rule = &physics->contact_table.rules[index];
    if (rule->node)
        text_printf(out, "ContactProperties %d (%s:%u)", index - 1,
                    diag_file_name(physics->diags, rule->node->pos.file), rule->node->pos.line);
    else
        text_add_string(out, "defaults");
    text_add_char(out, ':');
    add_list(out, "friction", rule->friction, rule->friction_count);
    if (rule->rotation[0] != 0.0 || rule->rotation[1] != 0.0)
        add_list(out, "rotation", rule->rotation, 2);
    add_list(out, "slip", rule->slip, rule->slip_count);
    add_list(out, "rolling", rule->rolling, 3);
    text_printf(out, " bounce %g above %g m/s softERP %g softCFM %g at most %d points\n", rule->bounce,
                rule->bounce_velocity, rule->soft_erp, rule->soft_cfm, rule->max_joints);
}

void physics_explain_materials(const Physics *physics, Text *out)
{
    const ContactTable *table = &physics->contact_table;
    int n = table->material_count;
    for (int i = 1; i < n; i++)
        for (int k = i; k < n; k++) {
            int entry = table->rule_of[i * n + k];
            if (entry == 0)
                continue;
            text_printf(out, "'%s' on '%s': ", table->materials[i], table->materials[k]);
            add_rule(physics, entry < 0 ? -(entry + 1) : entry, out);
        }
    text_add_string(out, "any other pair: ");
    add_rule(physics, 0, out);
}

static const char *contact_label(const Physics *physics, int solid)
{
    return solid >= 0 ? solid_label(physics, solid) : "a plugin's shape";
}

// What the pairs pressed and rubbed with in the last step, all points of a pair together.
static void explain_forces(const Physics *physics, Text *out)
{
    const PhysicsContactForce *forces = physics->contact_forces;
    for (int i = 0; i < physics->contact_force_count;) {
        Vec3 sum = VEC3_ZERO;
        double pressing = 0.0;
        int first = i;
        for (; i < physics->contact_force_count && forces[i].solid[0] == forces[first].solid[0]
               && forces[i].solid[1] == forces[first].solid[1];
             i++) {
            sum = vec3_add(sum, forces[i].force);
            pressing += vec3_dot(forces[i].force, forces[i].normal);
        }
        text_printf(out, "force of '%s' on '%s': %g %g %g N at %d points, %g N along their normals\n",
                    contact_label(physics, forces[first].solid[1]), contact_label(physics, forces[first].solid[0]),
                    sum.x + 0.0, sum.y + 0.0, sum.z + 0.0, i - first, pressing);
    }
}

static void explain_surface(const PhysicsSurface *surface, Text *out)
{
    bool has_direction = surface->flags & SOLVER_CONTACT_FDIR1;
    add_number(out, "friction", surface->mu);
    if (surface->mu2 != surface->mu)
        add_number(out, "and", surface->mu2);
    if (has_direction)
        text_printf(out, " along %g %g %g", surface->fdir1.x, surface->fdir1.y, surface->fdir1.z);
    if (surface->slip1 != 0.0 || surface->slip2 != 0.0)
        text_printf(out, " slip %g %g", surface->slip1, surface->slip2);
    if (surface->flags & SOLVER_CONTACT_ROLLING) {
        add_number(out, "rolling", surface->rho);
        add_number(out, "", surface->rho2);
        add_number(out, "spinning", surface->rhoN);
    }
    if (surface->motion1 != 0.0 || surface->motion2 != 0.0)
        text_printf(out, " belt %g m/s", surface->motion1);
    text_printf(out, " bounce %g", surface->bounce);
}

void physics_explain_contacts(const Physics *physics, Text *out)
{
    for (int i = 0; i < physics->contact_count; i++) {
        const PhysicsContact *c = &physics->contacts[i];
        text_printf(out, "'%s' (%s) on '%s' (%s): ", solid_label(physics, contact_solid(physics, c, 0)),
                    scene_string(physics->solids[contact_solid(physics, c, 0)].node, "contactMaterial"),
                    solid_label(physics, contact_solid(physics, c, 1)),
                    scene_string(physics->solids[contact_solid(physics, c, 1)].node, "contactMaterial"));
        if (physics_contact_properties(c) >= 0)
            text_printf(out, "ContactProperties %d,", physics_contact_properties(c));
        else
            text_add_string(out, "defaults,");
        text_printf(out, " point %g %g %g normal %g %g %g depth %g,", c->point.x, c->point.y, c->point.z,
                    c->normal.x + 0.0, c->normal.y + 0.0, c->normal.z + 0.0, c->depth);
        explain_surface(physics_contact_surface(physics, i), out);
        text_add_string(out, c->is_asleep ? " (asleep)\n" : "\n");
    }
    explain_forces(physics, out);
}

void physics_explain_solver(Physics *physics, Text *out)
{
    if (physics->stepper->explain)
        physics->stepper->explain(physics->stepper_self, physics, out);
    else
        text_printf(out, "%s: %s\n", physics->stepper->name, physics->stepper->help);
}
