// run.h - what the files of `talus run` and `talus view` share. run.c leads: load, start what takes part, step, finish.
// run_options.c has what the command line may ask for, run_signals.c how a run ends before its time, run_report.c what
// it says of itself.
#ifndef TALUS_APP_RUN_H
#define TALUS_APP_RUN_H

#include "app/app.h"
#include "app/outputs.h"
#include "base/terminal.h"
#include "control/control.h"
#include "sim/sim.h"
#include "viewer/viewer.h"

#define PLURAL(count) ((count) == 1 ? "" : "s")
#define NO_STEPS INT64_MIN  // --steps was not given

typedef struct RunOptions {
    int64_t steps;
    double until;
    int64_t seed;
    bool realtime, hash, quiet, json, no_controllers, no_plugin, explain_contacts, explain_solver, untrusted;
    const char *limit_changes;
    Limits limits;
    const char *record_values;
    bool record_contacts, record_silently;
    const char *sound, *sound_law, *movie, *movie_size, *movie_camera;
    bool sound_is_law;  // --sound named a law and no file
    double movie_rate, movie_speed;
    const char *record, *columns, *save, *snapshot, *from, *nan, *stepper, *mode, *crash_snapshot;
    int64_t plugin_timeout;
    const char *controller_token, *input, *controller;
    const char *ghost, *embed;         // of who looks on
    const char *view, *address, *log;  // view: NULL: nobody looks on
    bool play, is_view, has_links;
    Viewer *viewer;  // NULL: nobody looks on, and no acts are repeated
    int64_t threads, every, controller_timeout, port;
    bool stop_on_failure, strict;
    double timeout;
    uint64_t steps_before;  // made in worlds that a supervisor left for this one
    double time_before;
} RunOptions;

// What the loop and the summary share.
typedef struct Run {
    Devices *devices;
    Control *control;  // NULL: no robot has a program
    Input *input;
    const RunOptions *options;
    Sim *sim;
    DiagSink *diags;
    int printed;  // diagnostics shown so far
    int load_errors;
    int given_controllers;  // robots that --controller gave its program to
    uint64_t first_step, last_step;
    double started, ended;  // wall clock, s
    Progress progress;
    const char *last_failure;   // why the process ends in the middle of the run, NULL
    Outputs *outputs;           // sound, movies, pictures
    struct CsvRecorder *table;  // NULL: none is written
    Viewer *viewer;             // who looks on; NULL
} Run;

// ---- run.c ----
int run_verb(const AppCommand *command, int argc, char **argv);
double run_clock(void);  // s, that never goes back

// ---- run_options.c ----
// What options say about each other, in the order in which a user would mend them. -1: nothing is wrong; else the exit
// code, having explained it.
int run_check_options(const AppCommand *command, RunOptions *options);
bool run_records_table(const RunOptions *options);
bool run_records_to_output(const RunOptions *options);  // standard output is a table then, and nothing else goes there
bool run_is_realtime(const RunOptions *options);

// ---- run_signals.c ----
void run_catch_signals(double timeout);  // s on the clock, 0: none
void run_set_loading(bool is_loading);   // a signal then ends the process at once
bool run_make_step(Sim *sim);            // false: the run is over
bool run_was_interrupted(void);
int run_ending_code(void);  // of a run that was interrupted
bool run_is_out_of_time(void);
const char *run_long_step(void);           // what is said of a step that was over its budget; NULL: none was
bool run_is_in_step(int64_t *serial);      // for the budget of a step
void run_on_long_step(const char *words);  // likewise
void run_leave_world(Sim *sim);            // to the system, as the process ends

// ---- run_report.c ----
void run_format_speed(double speed,
                      char text[static 32]);  // how many times faster than the clock, as a person writes it
void run_report(const Run *run);
const char *run_sum_up(void *context, const char *failure);  // for a process whose heap is damaged

#endif
