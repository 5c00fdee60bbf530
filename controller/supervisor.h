// supervisor.h - what the files of the supervisor's functions share. Every function is one question over the
// connection; references are small records of ours that live until the end, so a pointer once given stays good.
#ifndef TALUS_CONTROLLER_SUPERVISOR_H
#define TALUS_CONTROLLER_SUPERVISOR_H

#include "core.h"

#include <webots/supervisor.h>

// Records by their number, found without a search. A number that was never put gives NULL.
typedef struct References {
    struct {
        int id;
        void *record;
    } * slots;
    int count, capacity;  // a power of two
} References;

void *references_get(const References *references, int id);
void references_put(References *references, int id, void *record);  // an id that is not there yet
void references_free(References *references, void (*free_record)(void *record));

typedef struct Ask {
    uint16_t op;
    int32_t ints[8];
    int int_count;
    const double *doubles;
    int double_count;
    const char *bytes;
} Ask;

bool may_ask(const char *who);                                   // says so when the robot is no supervisor
bool ask(const char *who, const Ask *question, Record *answer);  // answer may be NULL
int ask_int(const char *who, const Ask *question, int otherwise);
void follow(const char *who, int what, int id, int period, int extra);

bool node_is_good(WbNodeRef node, const char *who);
bool period_is_good(int period_ms, const char *who);
bool numbers_are_good(const double *numbers, const char *who);
WbNodeRef node_ref(int id);
int node_id(WbNodeRef node);

void supervisor_free_nodes(void);
void supervisor_free_fields(void);

#endif
