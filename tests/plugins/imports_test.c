// Which plugins can touch the world, by the names in their libraries: the others leave the physics all its shortcuts.
#include "support/support.h"

#include "plugins/plugins_internal.h"

#include <dlfcn.h>

static const struct { const char *name, *source, *options; bool touches; } rows[] = {
    { "empty", "void webots_physics_step(void) { }", "", false },
    { "talking", "void dWebotsSend(int, const void *, int); double dWebotsGetTime(void);\n"
                 "void webots_physics_step(void) { double t = dWebotsGetTime(); dWebotsSend(1, &t, sizeof t); }", "", false },
    { "names_like", "void draw(void); void dxdt_of(void) { }  void data(void) { } void webots_physics_step(void) { data(); }", "", true },
    { "pushing", "void dBodyAddForce(void *, double, double, double); void webots_physics_step(void) { dBodyAddForce(0, 1, 2, 3); }", "", true },
    { "finding", "void *dWebotsGetBodyFromDEF(const char *); void *b; void webots_physics_step(void) { b = dWebotsGetBodyFromDEF(\"A\"); }", "", true },
    { "searching", "void *dlsym(void *, const char *); void *f; void webots_physics_step(void) { f = dlsym(0, \"dWorldCreate\"); }", "", true },
    { "own_ode", "void *dWorldCreate(void) { return 0; } void webots_physics_step(void) { dWorldCreate(); }", "", true },
    { "old_hash", "void dBodyAddForce(void *, double, double, double); void webots_physics_step(void) { dBodyAddForce(0, 1, 2, 3); }",
      "-Wl,--hash-style=sysv", true },
    { "old_hash_empty", "void webots_physics_step(void) { }", "-Wl,--hash-style=sysv", false },
    { "helper", "void dBodyDisable(void *); void help(void) { dBodyDisable(0); }", "", true },
    { "helped", "void help(void); void webots_physics_step(void) { help(); }", "-L. -lhelper -Wl,-rpath,'$ORIGIN'", true },
    { "ode", "void dBodyDisable(void *); void webots_physics_step(void) { dBodyDisable(0); }", "", true },
    { "mathematical", "double sin(double); double x; void webots_physics_step(void) { x = sin(x); }", "-lm", false },
};

static void test_names(void **state)
{
    (void)state;
    const char *folder = support_scratch("plugin_imports");
    char command[2048], path[1024];
    for (int i = 0; i < COUNT_OF(rows); i++) {
        snprintf(path, sizeof path, "%s/%s.c", folder, rows[i].name);
        support_write(path, rows[i].source);
        snprintf(command, sizeof command, "cd %s && gcc -w -fno-builtin -fPIC -shared %s.c -o lib%s.so %s", folder, rows[i].name, rows[i].name, rows[i].options);
        CHECK(system(command) == 0, command);
        snprintf(path, sizeof path, "%s/lib%s.so", folder, rows[i].name);
        void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        CHECK(library, dlerror());
        CHECK(plugin_touches_ode(library) == rows[i].touches, rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
