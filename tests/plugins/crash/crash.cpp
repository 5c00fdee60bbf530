// A plugin that fails in the way and in the callback that the environment asks for.
#include <plugins/physics.h>

#include <cfenv>
#include <clocale>
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __SSE__
#include <immintrin.h>
#endif

static int steps;

static void segv()  // FAULT segv
{
  *(volatile int *)8 = 1;
}

static void fpe()
{
  volatile int zero = 0;
  if (1 / zero == 0) raise(SIGFPE);  // FAULT fpe (not every compiler leaves the division, not every machine traps it)
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

// ---- ways to end ----

static void corrupt()
{
  char *volatile block = (char *)malloc(24);
  memset(block, 0x5a, 200);  // past its end: found by a later call
  for (int i = 0; i < 2000; i++)
    free(malloc(1000 + 8 * i));
  volatile char *volatile null = nullptr;
  *null = 1;  // FAULT corrupt
}

static void sigpipe()
{
  int ends[2];
  if (pipe(ends))
    return;
  close(ends[0]);
  if (write(ends[1], "x", 1) < 0)  // FAULT pipe
    perror("write");
}

static jmp_buf back;

static void jump_within()
{
  if (setjmp(back) == 0)
    longjmp(back, 1);
}

// ---- threads of the plugin's own ----

static void *thread_segv(void *) { segv(); return nullptr; }
static void *thread_free(void *) { double_free(); return nullptr; }
static void *thread_exit(void *) { exit(0); }  // FAULT thread_exit
static void *thread_overflow(void *) { volatile int depth = 0; return overflow(&depth) ? nullptr : &steps; }
static void *thread_throw(void *) { throw std::runtime_error("out of the thread"); }
static void *thread_well(void *) { return nullptr; }

static void start_thread(void *(*run)(void *), bool is_joined)
{
  pthread_t thread;
  if (pthread_create(&thread, nullptr, run, nullptr))
    abort();
  if (is_joined)
    pthread_join(thread, nullptr);
  else
    pthread_detach(thread);
}

// ---- what surrounds it ----

static void forked(bool crashes)
{
  pid_t child = fork();
  if (child == 0 && crashes)
    segv();
  else if (child > 0)
    waitpid(child, nullptr, 0);
  // The child returns into the simulation.
}

static void on_signal(int) { }

static void own_handlers()
{
  signal(SIGSEGV, on_signal);
}

static void block_signals()
{
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

static void float_mode()
{
  fesetround(FE_UPWARD);
#ifdef __SSE__
  _mm_setcsr(_mm_getcsr() | 0x8040);  // subnormal numbers are zero
#endif
  feenableexcept(FE_INEXACT);
}

static void move_away()
{
  if (chdir("/") || !setlocale(LC_ALL, "C.UTF-8"))
    abort();
}

static void moved(dBodyID)
{
  segv();
}

static const struct { const char *name; void (*run)(); } ways[] = {
  { "segv", segv },
  { "fpe", fpe },
  { "abort", [] { abort(); } },
  { "null", null_body },
  { "free", double_free },
  { "corrupt", corrupt },
  { "exit", [] { exit(0); } },  // FAULT exit
  { "_exit", [] { _exit(0); } },  // FAULT _exit
  { "quick_exit", [] { quick_exit(0); } },
  { "pthread_exit", [] { pthread_exit(nullptr); } },
  { "loop", [] { for (volatile int i = 0;; i++) ; } },
  { "nan", [] { dBodyAddForce(dWebotsGetBodyFromDEF("BOX"), NAN, 0, 0); } },
  { "throw", [] { throw std::runtime_error("out of the plugin"); } },
  { "jump", [] { ((void (*)())nullptr)(); } },
  { "overflow", [] { volatile int depth = 0; overflow(&depth); } },
  { "trap", [] { raise(SIGTRAP); } },
  { "pipe", sigpipe },
  { "ode", [] { dError(7, "a message of %s", "ours"); } },
  { "message", [] { dMessage(7, "a message of %s", "ours"); } },
  { "thread_segv", [] { start_thread(thread_segv, false); } },
  { "thread_free", [] { start_thread(thread_free, false); } },
  { "thread_exit", [] { start_thread(thread_exit, false); } },
  { "thread_overflow", [] { start_thread(thread_overflow, false); } },
  { "thread_throw", [] { start_thread(thread_throw, false); } },
  { "thread_joined", [] { start_thread(thread_segv, true); } },
  { "thread_well", [] { start_thread(thread_well, true); } },
  { "fork", [] { forked(false); } },
  { "fork_segv", [] { forked(true); } },
  { "handlers", own_handlers },
  { "block", block_signals },
  { "float", float_mode },
  { "away", move_away },
  { "longjmp", jump_within },
  { "silent", [] { close(STDERR_FILENO); segv(); } },
  { "moved", [] { dBodySetMovedCallback(dWebotsGetBodyFromDEF("BOX"), moved); } },
};

// What CRASH_FIRST names happens in init, before CRASH_HOW in the callback CRASH_IN.
static void do_as_told(const char *how)
{
  for (const auto &way : ways)
    if (how && !strcmp(how, way.name))
      way.run();
}

static void fail(const char *where)
{
  const char *in = getenv("CRASH_IN"), *how = getenv("CRASH_HOW");
  if (!in || strcmp(in, where))
    return;
  static bool is_done;
  bool is_thread = how && !strncmp(how, "thread_", 7);
  if (!is_thread || !is_done)
    do_as_told(how);
  is_done = true;
  if (is_thread)
    usleep(2000);  // time for the thread to fail in one of the next steps
}

DLLEXPORT void webots_physics_init(dWorldID, dSpaceID, dJointGroupID)
{
  do_as_told(getenv("CRASH_FIRST"));
  fail("init");
}

DLLEXPORT void webots_physics_step()
{
  if (++steps && getenv("CRASH_TALK"))
    dWebotsConsolePrintf("talks");
  if (steps > 2)
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
