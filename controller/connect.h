// connect.h - how a program finds its simulator (connect.c), for the core of libController alone.
#ifndef TALUS_CONTROLLER_CONNECT_H
#define TALUS_CONTROLLER_CONNECT_H

#include "protocol/protocol.h"

enum { CONNECT_MESSAGE_BYTES = 16 << 20 };  // as limits.h has message_bytes

typedef struct ConnectAddress {
    bool is_tcp;  // else on this machine
    char *host;   // of TCP
    int port;     // 0: not said
    char *robot;  // empty: the only one that waits
} ConnectAddress;
bool connect_parse(const char *url, ConnectAddress *address);  // false: it makes no sense; free it all the same
void connect_free(ConnectAddress *address);

// Connects and greets; greet() says whether the simulator let the program in, and prints why not when nobody else is
// asked
// (`is_last`). NULL when there is no simulator. `is_launched`: the simulator itself started this program.
Channel *connect_simulator(bool (*greet)(Channel *channel, const char *robot, bool is_last), bool *is_launched);

#endif
