// A plugin that fails in the way and in the callback that the environment asks for.
#include <plugins/physics.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

static int steps;

static void segv()  // FAULT segv
{
  *(volatile int *)8 = 1;
}

static void fpe()
{
  volatile int zero = 0;
  volatile int result = 1 / zero;
  if (result == 0)
    raise(SIGFPE);  // FAULT fpe (not every machine traps the division)
}

static void null_body()
{
  dBodyAddForce(dWebotsGetBodyFromDEF("NOBODY"), 0, 0, 1);  // FAULT null
}

static void double_free()
{
  char *volatile block = (char *)malloc(2000), *volatile guard = (char *)malloc(2000);
  free(block);
  free(block);  // FAULT free
  free(guard);
}

static int overflow(volatile int *depth)
{
  volatile char room[4096];
  room[0] = (char)*depth;
  volatile int next = *depth + 1;
  return overflow(&next) + room[0];
}

static void fail(const char *where)
{
  const char *in = getenv("CRASH_IN"), *how = getenv("CRASH_HOW");
  if (!in || !how || strcmp(in, where))
    return;
  if (!strcmp(how, "segv"))
    segv();
  else if (!strcmp(how, "fpe"))
    fpe();
  else if (!strcmp(how, "abort"))
    abort();
  else if (!strcmp(how, "null"))
    null_body();
  else if (!strcmp(how, "free"))
    double_free();
  else if (!strcmp(how, "exit"))
    exit(0);
  else if (!strcmp(how, "loop"))
    for (volatile int i = 0;; i++)
      ;
  else if (!strcmp(how, "nan"))
    dBodyAddForce(dWebotsGetBodyFromDEF("BOX"), NAN, 0, 0);
  else if (!strcmp(how, "throw"))
    throw std::runtime_error("out of the plugin");
  else if (!strcmp(how, "jump"))
    ((void (*)(void))0)();
  else if (!strcmp(how, "overflow")) {
    volatile int depth = 0;
    overflow(&depth);
  }
}

DLLEXPORT void webots_physics_init(dWorldID, dSpaceID, dJointGroupID)
{
  fail("init");
}

DLLEXPORT void webots_physics_step()
{
  if (++steps > 2)
    fail("step");
}

DLLEXPORT int webots_physics_collide(dGeomID, dGeomID)
{
  if (steps > 2)
    fail("collide");
  return 0;
}

DLLEXPORT void webots_physics_step_end()
{
  if (steps > 2)
    fail("step_end");
}

DLLEXPORT void webots_physics_draw(int pass, const char *)
{
  if (pass == 1)
    fail("draw");
}

DLLEXPORT void webots_physics_cleanup()
{
  fail("cleanup");
}
