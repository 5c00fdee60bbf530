// Which plugins can touch the world and what of it, by the names in their libraries: the rest is left to the physics'
// shortcuts.
#include "support/support.h"

#include "plugins/plugins_internal.h"

#include <dlfcn.h>

static const struct {
    const char *name, *source, *options;
    bool touches;
    unsigned reach;
} rows[] = {
    { "empty", "void webots_physics_step(void) { }", "", false, 0 },
    { "talking",
      "void dWebotsSend(int, const void *, int); double dWebotsGetTime(void);\n"
      "void webots_physics_step(void) { double t = dWebotsGetTime(); dWebotsSend(1, &t, sizeof t); }",
      "", false, 0 },
    { "names_like",
      "void draw(void); void dxdt_of(void) { }  void data(void) { } void webots_physics_step(void) { data(); }", "",
      true, PHYSICS_REACHES_ALL },
    { "pushing",
      "void dBodyAddForce(void *, double, double, double); void webots_physics_step(void) { dBodyAddForce(0, 1, 2, 3); }",
      "", true, 0 },
    { "finding",
      "void *dWebotsGetBodyFromDEF(const char *); void *b; void webots_physics_step(void) { b = dWebotsGetBodyFromDEF(\"A\"); }",
      "", true, 0 },
    { "searching",
      "void *dlsym(void *, const char *); void *f; void webots_physics_step(void) { f = dlsym(0, \"dWorldCreate\"); }",
      "", true, PHYSICS_REACHES_ALL },
    { "own_ode", "void *dWorldCreate(void) { return 0; } void webots_physics_step(void) { dWorldCreate(); }", "", true,
      PHYSICS_REACHES_ALL },
    { "old_hash",
      "void dBodyAddForce(void *, double, double, double); void webots_physics_step(void) { dBodyAddForce(0, 1, 2, 3); }",
      "-Wl,--hash-style=sysv", true, 0 },
    { "old_hash_empty", "void webots_physics_step(void) { }", "-Wl,--hash-style=sysv", false, 0 },
    { "helper", "void dBodyDisable(void *); void help(void) { dBodyDisable(0); }", "", true, 0 },
    { "helped", "void help(void); void webots_physics_step(void) { help(); }", "-L. -lhelper -Wl,-rpath,'$ORIGIN'",
      true, 0 },
    { "ode", "void dBodyDisable(void *); void webots_physics_step(void) { dBodyDisable(0); }", "", true, 0 },
#define NAMING(FUNCTION) "void " FUNCTION "(void); void webots_physics_step(void) { " FUNCTION "(); }"
    { "contacts", NAMING("dConnectingJointList"), "", true, PHYSICS_REACHES_CONTACTS },
    { "stepping", NAMING("dWorldQuickStep"), "", true, PHYSICS_REACHES_CONTACTS },
    { "moving", NAMING("dGeomSetOffsetPosition"), "", true, PHYSICS_REACHES_SHAPES },
    { "resizing", NAMING("dGeomBoxSetLengths"), "", true, PHYSICS_REACHES_SHAPES },
    { "posing", NAMING("dBodySetPosition"), "", true, PHYSICS_REACHES_SHAPES },
    { "hiding", NAMING("dSpaceRemove"), "", true, PHYSICS_REACHES_SHAPES },
    { "measuring", NAMING("dGeomBoxGetLengths"), "", true, 0 },
    { "casting", NAMING("dGeomRaySet"), "", true, 0 },
    { "inside", NAMING("_Z11dWorldCheckP7dxWorld"), "", true, PHYSICS_REACHES_ALL },
    { "helper_contacts", "void dBodyGetJoint(void); void help_more(void) { dBodyGetJoint(); }", "", true,
      PHYSICS_REACHES_CONTACTS },
    { "helped_more", "void help_more(void); void webots_physics_step(void) { help_more(); }",
      "-L. -lhelper_contacts -Wl,-rpath,'$ORIGIN'", true, PHYSICS_REACHES_CONTACTS },
    { "mathematical", "double sin(double); double x; void webots_physics_step(void) { x = sin(x); }", "-lm", false, 0 },
};

static void test_names(void **state)
{
    (void)state;
    const char *folder = support_scratch("plugin_imports");
    char command[2048], path[1024];
    for (int i = 0; i < COUNT_OF(rows); i++) {
        snprintf(path, sizeof path, "%s/%s.c", folder, rows[i].name);
        support_write(path, rows[i].source);
        snprintf(command, sizeof command, "cd %s && gcc -w -fno-builtin -fPIC -shared %s.c -o lib%s.so %s", folder,
                 rows[i].name, rows[i].name, rows[i].options);
        CHECK(system(command) == 0, command);
        snprintf(path, sizeof path, "%s/lib%s.so", folder, rows[i].name);
        void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        CHECK(library, dlerror());
        unsigned reach;
        CHECK(plugin_touches_ode(library, &reach) == rows[i].touches, rows[i].name);
        CHECK(reach == rows[i].reach, rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
