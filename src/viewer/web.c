// web.c - HTTP and WebSocket by libwebsockets, on a thread of its own: the page from memory, and the socket of each
// client. The one file that knows the library. What is checked before anything is believed: Host (a foreign name that
// resolves to this machine is turned away), Origin (pages of others may not connect), the path, the size of everything;
// the token comes with a client's first message. Pages of robot windows are code of others: a second port, and so
// another origin, serves them and knows neither socket nor token.
#include "viewer/viewer_internal.h"

#include "assets/web_page.h"
#include "base/memory.h"

#include <arpa/inet.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

// ---- which Host a request may name ----

static bool is_loopback(const char *address)
{
    return !address || !strncmp(address, "127.", 4) || !strcmp(address, "::1");
}

static bool is_any_address(const char *address) { return !strcmp(address, "0.0.0.0") || !strcmp(address, "::"); }

static bool is_numeric(const char *name)
{
    struct in6_addr room;
    return inet_pton(AF_INET, name, &room) == 1 || inet_pton(AF_INET6, name, &room) == 1;
}

bool viewer_address_is_sound(const char *address) { return is_numeric(address); }

static bool is_this_machine(const char *name)
{
    char host[256] = "";
    return gethostname(host, sizeof host - 1) == 0 && *host && !strcasecmp(host, name);
}

// A name that somebody's DNS gives for this machine is not enough: it is what a hostile page would use.
bool viewer_host_is_allowed(const char *host, const char *address, int port)
{
    assert(port > 0);
    char name[256];
    const char *end = strrchr(host, ':');
    if (end && strchr(end, ']'))
        end = NULL;
    size_t length = end ? (size_t)(end - host) : strlen(host);
    int64_t number = 80;
    if (length == 0 || length >= sizeof name || (end && !text_to_int(end + 1, &number)) || number != port)
        return false;
    memcpy(name, host, length);
    name[length] = '\0';
    if (name[0] == '[' && name[length - 1] == ']') {
        name[length - 1] = '\0';
        memmove(name, name + 1, length - 1);
    }
    if (is_loopback(address))
        return !strcasecmp(name, "localhost") || (is_numeric(name) && is_loopback(name));
    if (is_any_address(address))
        return is_numeric(name) || !strcasecmp(name, "localhost") || is_this_machine(name);
    return !strcasecmp(name, address);
}

enum { EMBEDDERS_MAX = 1000 };

// One name of a host, no path, nothing that means something in a policy.
static bool origin_is_sound(const char *origin, size_t length)
{
    static const char *const schemes[] = { "http://", "https://" };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
    for (int i = 0; i < COUNT_OF(schemes); i++) {
        size_t head = strlen(schemes[i]);
        if (length > head && !strncmp(origin, schemes[i], head))
            return strspn(origin + head, letters) >= length - head;
    }
    return false;
}

bool viewer_origins_are_sound(const char *origins)
{
    assert(origins);
    size_t length = 0, all = strlen(origins);
    for (const char *at = origins; all < EMBEDDERS_MAX; at += length + 1) {
        length = strcspn(at, ",");
        if (!origin_is_sound(at, length))
            return false;
        if (!at[length])
            return true;
    }
    return false;
}

#ifdef TALUS_HAS_WEBSOCKETS

#include <libwebsockets.h>

enum {
    SOCKETS_MAX = 192,
    HEADER_BYTES = 4096,
    FAREWELL_MS = 3000,
    FAREWELLS_MAX = 4,
    FAREWELL_ROUNDS = 200,
    DEFAULT_HELLO_MS = 5000,
    DEFAULT_REQUEST_SECONDS = 15,
    DEFAULT_ANSWER_MS = 15000
};
#define LOOK_SECONDS 0.001  // between looks for a moment that is due: it is shown at most so much later
#define LOOKS_END 0.1       // after the last moment: a world of slow steps calls for its next one

struct Web {
    Hub *hub;
    struct lws_context *context;
    pthread_t thread;
    atomic_bool is_stopping;
    const char *address;
    int port, window_port, hello_ms, answer_ms;
    int sockets;
    lws_sorted_usec_list_t look;
    double moment_time;  // when the last one was found
    const void *recording;
    size_t recording_size;
    const FileData *ghost;
    char *embedders;  // for the policy: who may show the page in a frame
    uint8_t piece[LWS_PRE + VIEWER_PIECE_BYTES];
};

// What the library keeps for us with each connection.
typedef struct Peer {
    Client *client;  // of a socket
    bool is_in_message;
    int farewells;        // spells of FAREWELL_MS that it has had to read its last words
    const uint8_t *body;  // of an answer to a GET
    size_t size, sent;
    Blob *held;  // that has the body, NULL: it stays by itself
} Peer;

bool viewer_is_available(void) { return true; }

static Web *web_of(struct lws *wsi) { return lws_context_user(lws_get_context(wsi)); }

// ---- checks ----

static bool host_is_fine(struct lws *wsi, char host[256])
{
    int port = lws_get_vhost_listen_port(lws_get_vhost(wsi));
    return lws_hdr_copy(wsi, host, 256, WSI_TOKEN_HOST) > 0 && viewer_host_is_allowed(host, web_of(wsi)->address, port);
}

// Programs send no Origin; every browser does, and it has to be the page of this server.
static bool origin_is_fine(struct lws *wsi, const char *host)
{
    char origin[300];
    if (lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) == 0)
        return true;
    return lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) > 0 && !strncasecmp(origin, "http://", 7)
           && !strcasecmp(origin + 7, host);
}

static bool may_become_socket(struct lws *wsi)
{
    char host[256], path[32];
    return host_is_fine(wsi, host) && origin_is_fine(wsi, host)
           && lws_hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI) > 0 && !strcmp(path, "/socket");
}

// libwebsockets before 4.5 goes on with a request that wants to become something unknown after having let go of its
// headers, and hands over a pointer into them. So nothing is read from there, and only one spelling may pass.
static bool may_upgrade(struct lws *wsi)
{
    char wanted[16];
    return lws_hdr_total_length(wsi, WSI_TOKEN_UPGRADE) > 0
           && lws_hdr_copy(wsi, wanted, sizeof wanted, WSI_TOKEN_UPGRADE) > 0 && !strcasecmp(wanted, "websocket");
}

// ---- the page ----

#define EMBED_CLASS "TalusFrame.js"  // for pages around this one

typedef struct Answer {
    unsigned status;
    const char *type, *etag;
    const void *data;
    size_t size;
    bool is_gzipped, is_head, is_window;
    bool is_for_embedders;  // a module that pages around import
    Blob *held;             // has the data; NULL: they stay by themselves
} Answer;

static Answer words(unsigned status, const char *text)
{
    return (Answer){ .status = status, .type = "text/plain; charset=utf-8", .data = text, .size = strlen(text) };
}

static bool add_header(struct lws *wsi, const char *name, const char *value, unsigned char **at, unsigned char *end)
{
    assert(name[strlen(name) - 1] == ':');
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name, (const unsigned char *)value,
                                       (int)strlen(value), at, end)
           == 0;
}

typedef struct Header {
    const char *name, *value;
} Header;

static bool add_rows(struct lws *wsi, const Header *rows, int count, unsigned char **at, unsigned char *end)
{
    for (int i = 0; i < count; i++)
        if (rows[i].value && !add_header(wsi, rows[i].name, rows[i].value, at, end))
            return false;
    return true;
}

// The other origin of this server, for a Host that was found to be fine.
static void name_origin(const char *host, int port, char origin[300])
{
    assert(port > 0);
    const char *colon = strrchr(host, ':');
    int length = (int)(colon && !strchr(colon, ']') ? (size_t)(colon - host) : strlen(host));
    snprintf(origin, 300, "http://%.*s:%d", length, host, port);
}

// A page of a robot window runs as its author wrote it, but as nobody: its origin is none, so it has no storage, reads
// nothing of the viewer's own port, reaches no network, and stands in the viewer's page alone. Files are for whoever
// knows the path, also for modules and fonts, which a browser asks for in the name of that origin.
static bool add_window_headers(struct lws *wsi, unsigned char **at, unsigned char *end)
{
    char host[256], viewer[300] = "'none'", own[300] = "'none'", policy[3000];
    if (host_is_fine(wsi, host)) {
        name_origin(host, web_of(wsi)->port, viewer);
        name_origin(host, web_of(wsi)->window_port, own);
    }
    snprintf(
        policy, sizeof policy,
        "sandbox allow-scripts allow-forms allow-popups; default-src 'none'; "
        "script-src %s 'unsafe-inline' 'unsafe-eval' blob:; style-src %s 'unsafe-inline'; img-src %s blob: data:; "
        "font-src %s data:; media-src %s blob: data:; connect-src %s blob: data:; worker-src blob:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors %s",
        own, own, own, own, own, own, viewer);
    const Header rows[] = {
        { "content-security-policy:", policy },     { "x-content-type-options:", "nosniff" },
        { "referrer-policy:", "no-referrer" },      { "cross-origin-resource-policy:", "cross-origin" },
        { "access-control-allow-origin:", "null" }, { "cache-control:", "no-store" },
    };
    return add_rows(wsi, rows, COUNT_OF(rows), at, end);
}

static bool add_headers(struct lws *wsi, const Answer *answer, unsigned char **at, unsigned char *end)
{
    char host[256], frames[300] = "'none'", policy[1200 + EMBEDDERS_MAX];
    const char *embedders = web_of(wsi)->embedders;
    if (!host_is_fine(wsi, host))
        host[0] = '\0';
    else if (web_of(wsi)->window_port > 0)
        name_origin(host, web_of(wsi)->window_port, frames);
    snprintf(
        policy, sizeof policy,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        "connect-src 'self' blob:%s%s; font-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'; "
        "frame-src %s; frame-ancestors 'self'%s",
        *host ? " ws://" : "", host, frames, embedders);
    const Header rows[] = {
        { "content-security-policy:", policy },
        { "x-content-type-options:", "nosniff" },
        { "referrer-policy:", "no-referrer" },
        { "cross-origin-resource-policy:", *embedders ? "cross-origin" : "same-origin" },
        { "cross-origin-opener-policy:", "same-origin" },
        { "access-control-allow-origin:", *embedders && answer->is_for_embedders ? "*" : NULL },
        { "cache-control:", "no-cache" },
        { "etag:", answer->etag },
    };
    return add_rows(wsi, rows, COUNT_OF(rows), at, end);
}

static void let_go(Peer *peer)
{
    blob_release(peer->held);
    peer->held = NULL;
    peer->body = NULL;
}

// A spell to take more of an answer, after which whoever takes nothing is let go.
static void give_answer_spell(struct lws *wsi)
{
    assert(web_of(wsi)->answer_ms > 0);
    lws_set_timer_usecs(wsi, (lws_usec_t)web_of(wsi)->answer_ms * 1000);
}

static int send_answer(struct lws *wsi, Peer *peer, const Answer *answer)
{
    assert(answer->data || answer->size == 0);
    unsigned char room[LWS_PRE + HEADER_BYTES], *start = room + LWS_PRE, *at = start, *end = room + sizeof room - 1;
    if (lws_add_http_common_headers(wsi, answer->status, answer->type, (lws_filepos_t)answer->size, &at, end)
        || !(answer->is_window ? add_window_headers(wsi, &at, end) : add_headers(wsi, answer, &at, end))
        || (answer->is_gzipped && !add_header(wsi, "content-encoding:", "gzip", &at, end))
        || lws_finalize_write_http_header(wsi, start, &at, end)) {
        blob_release(answer->held);
        return -1;
    }
    let_go(peer);
    *peer = (Peer){ .body = answer->data, .size = answer->is_head ? 0 : answer->size, .held = answer->held };
    if (peer->size == 0) {
        let_go(peer);
        return lws_http_transaction_completed(wsi) ? -1 : 0;
    }
    // The library's limit is one for the request and all of its answer; a long recording on a slow link takes longer.
    lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
    give_answer_spell(wsi);
    lws_callback_on_writable(wsi);
    return 0;
}

static int send_body(struct lws *wsi, Peer *peer)
{
    assert(peer->sent <= peer->size);
    Web *web = web_of(wsi);
    size_t left = peer->size - peer->sent, size = left < VIEWER_PIECE_BYTES ? left : VIEWER_PIECE_BYTES;
    if (!peer->body || left == 0)
        return 0;
    memcpy(web->piece + LWS_PRE, peer->body + peer->sent, size);
    peer->sent += size;
    bool is_last = peer->sent == peer->size;
    if (lws_write(wsi, web->piece + LWS_PRE, size, is_last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0)
        return -1;
    give_answer_spell(wsi);
    if (is_last) {
        let_go(peer);
        return lws_http_transaction_completed(wsi) ? -1 : 0;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

static bool takes_more(struct lws *wsi)
{
    struct pollfd socket = { .fd = lws_get_socket_fd(wsi), .events = POLLOUT };
    return poll(&socket, 1, 0) == 1 && (socket.revents & POLLOUT);
}

// The spell is over. Of whoever would have taken more, the server itself was late.
static int on_answer_timer(struct lws *wsi, const Peer *peer)
{
    if (!peer->body && !lws_partial_buffered(wsi))
        return 0;
    if (!takes_more(wsi))
        return -1;
    give_answer_spell(wsi);
    return 0;
}

static bool shows_token(struct lws *wsi)
{
    char shown[VIEWER_TOKEN_CHARS + 2] = "";
    const Hub *hub = web_of(wsi)->hub;
    int got = lws_hdr_custom_copy(wsi, shown, sizeof shown, "x-talus-token:", 14);
    return got == VIEWER_TOKEN_CHARS
           && (!lws_timingsafe_bcmp(shown, hub->token, VIEWER_TOKEN_CHARS)
               || !lws_timingsafe_bcmp(shown, hub->watch_token, VIEWER_TOKEN_CHARS));
}

static Answer answer_recording(struct lws *wsi, const void *recording, size_t size)
{
    if (!recording)
        return words(404, "a world runs here; there is no recording\n");
    if (!shows_token(wsi))
        return words(403, "the token is not that of this run; open the link that talus printed\n");
    return (Answer){ .status = 200, .type = "application/octet-stream", .data = recording, .size = size };
}

// Without a second run that is said as plainly, and no browser takes it for an error.
static Answer answer_ghost(struct lws *wsi)
{
    const FileData *ghost = web_of(wsi)->ghost;
    return ghost->data ? answer_recording(wsi, ghost->data, ghost->size) : words(204, "");
}

static Answer answer_page(struct lws *wsi, const WebPageFile *file)
{
    char seen[80];
    bool is_known = lws_hdr_copy(wsi, seen, sizeof seen, WSI_TOKEN_HTTP_IF_NONE_MATCH) > 0 && file->etag
                    && !strcmp(seen, file->etag);
    if (is_known)
        return (Answer){ .status = 304, .type = file->type, .etag = file->etag };
    return (Answer){ .status = 200,
                     .type = file->type,
                     .etag = file->etag,
                     .data = file->data,
                     .size = file->size,
                     .is_gzipped = file->is_gzipped,
                     .is_for_embedders = !strcmp(file->name, EMBED_CLASS) };
}

static Answer answer_file(struct lws *wsi, const char *path)
{
    static const char missing[] =
        "<!doctype html><meta charset=\"utf-8\"><title>Talus</title><p>The server runs, but this build "
        "has no browser page: node, npm or the npm registry was missing when it was built. Install "
        "node and npm, then configure and build again.";
    static const char *const served[] = { "index.html", "page.js", "page.css", EMBED_CLASS };
    const Web *web = web_of(wsi);
    const char *name = !strcmp(path, "/") ? "index.html" : path + 1;
    if (!strcmp(path, "/recording"))
        return answer_recording(wsi, web->recording, web->recording_size);
    if (!strcmp(path, "/ghost"))
        return answer_ghost(wsi);
    if (web_page_file_count == 0 && !strcmp(path, "/"))
        return (
            Answer){ .status = 200, .type = "text/html; charset=utf-8", .data = missing, .size = sizeof missing - 1 };
    for (int i = 0; i < COUNT_OF(served); i++)
        if (!strcmp(name, served[i]) && web_page_find(name))
            return answer_page(wsi, web_page_find(name));
    return words(404, "there is nothing here\n");
}

static Answer answer_window(struct lws *wsi, const char *path)
{
    const Hub *hub = web_of(wsi)->hub;
    const WebPageFile *file = page_is_class(hub, path) ? web_page_find("RobotWindow.js") : NULL;
    PageFile page = file ? (PageFile){ 0 } : page_read(hub, path);
    if (file)
        return (Answer){ 200, file->type, NULL, file->data, file->size, file->is_gzipped };
    if (!page.blob)
        return words(404, "there is nothing here\n");
    return (Answer){
        .status = 200, .type = page.type, .data = page.blob->data, .size = page.blob->size, .held = page.blob
    };
}

static int answer_request(struct lws *wsi, Peer *peer, const char *path, bool is_window)
{
    char host[256];
    bool is_head = lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0;
    Answer answer;
    if (!host_is_fine(wsi, host))
        answer = words(403, "this server answers only to the address it was started with\n");
    else if (!is_head && lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) == 0)
        answer = words(405, "only GET and HEAD are understood\n");
    else
        answer = is_window ? answer_window(wsi, path) : answer_file(wsi, path);
    answer.is_head = is_head;
    answer.is_window = is_window;
    return send_answer(wsi, peer, &answer);
}

// A spell to read the last words, after which whoever does not read is let go.
static void give_farewell(struct lws *wsi, Peer *peer)
{
    assert(peer->client->is_ending);
    peer->farewells++;
    lws_set_timer_usecs(wsi, FAREWELL_MS * 1000);
}

// What may have been added to any client by what one of them did.
static void ask_to_write(Web *web)
{
    for (int i = 0; i < VIEWER_CLIENTS_MAX; i++) {
        Client *client = web->hub->clients[i];
        if (!client || !hub_has_more(web->hub, client))
            continue;
        Peer *peer = lws_wsi_user(client->socket);
        if (client->is_ending && peer->farewells == 0)
            give_farewell(client->socket, peer);
        lws_callback_on_writable(client->socket);
    }
}

static void look(lws_sorted_usec_list_t *timer);

// What the world has left goes to the clients. While it runs, the next moment is looked for when it is due.
static void pass_on(Web *web)
{
    double now = viewer_clock();
    if (hub_drain(web->hub))
        web->moment_time = now;
    ask_to_write(web);
    bool goes_on = web->hub->exchange->front->is_running && now < web->moment_time + LOOKS_END;
    if (!exchange_watch(web->hub->exchange, goes_on))
        return;
    double wait = fmax(web->moment_time + VIEWER_FRAME_SECONDS - now, LOOK_SECONDS);
    lws_sul_schedule(web->context, 0, &web->look, look, (lws_usec_t)(1e6 * wait));
}

static void look(lws_sorted_usec_list_t *timer) { pass_on(lws_container_of(timer, Web, look)); }

static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
    Web *web = web_of(wsi);
    switch (reason) {
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION: return web->sockets >= SOCKETS_MAX;
    case LWS_CALLBACK_WSI_CREATE: web->sockets++; return 0;
    case LWS_CALLBACK_WSI_DESTROY: web->sockets--; return 0;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: return may_upgrade(wsi) ? 0 : -1;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: return 1;  // a socket that does not speak "talus"
    case LWS_CALLBACK_HTTP: return answer_request(wsi, user, in, false);
    case LWS_CALLBACK_HTTP_WRITEABLE: return send_body(wsi, user);
    case LWS_CALLBACK_TIMER: return on_answer_timer(wsi, user);
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED: pass_on(web); return 0;
    default: return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
}

// The port of robot windows has files alone.
static int on_window(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
    switch (reason) {
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: return -1;
    case LWS_CALLBACK_HTTP: return answer_request(wsi, user, in, true);
    case LWS_CALLBACK_CLOSED_HTTP:
        if (user)
            let_go(user);
        return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED: return 0;
    default: return on_http(wsi, reason, user, in, length);
    }
}

// ---- sockets ----

static int on_opened(struct lws *wsi, Peer *peer)
{
    assert(web_of(wsi)->hub);
    static const char full[] = "too many windows are open";
    Web *web = web_of(wsi);
    *peer = (Peer){ .client = hub_open(web->hub, wsi) };
    if (!peer->client) {
        lws_close_reason(wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION, (unsigned char *)full, sizeof full - 1);
        return -1;
    }
    lws_set_timer_usecs(wsi, (lws_usec_t)web->hello_ms * 1000);
    return 0;
}

static int on_received(struct lws *wsi, Peer *peer, const void *data, size_t length)
{
    assert(!peer->client || peer->client->socket == wsi);
    Web *web = web_of(wsi);
    if (!peer->client)
        return -1;
    HubFragment fragment = { .data = data,
                             .size = length,
                             .is_first = !peer->is_in_message,
                             .is_last = lws_is_final_fragment(wsi) && lws_remaining_packet_payload(wsi) == 0,
                             .is_binary = lws_frame_is_binary(wsi) };
    peer->is_in_message = !fragment.is_last;
    if (!hub_receive(web->hub, peer->client, &fragment))
        return -1;
    ask_to_write(web);
    return 0;
}

static int on_writable(struct lws *wsi, Peer *peer)
{
    assert(!peer->client || peer->client->socket == wsi);
    Web *web = web_of(wsi);
    HubPiece piece;
    if (!peer->client)
        return -1;
    if (!hub_next(web->hub, peer->client, &piece))
        return peer->client->is_ending ? -1 : 0;
    memcpy(web->piece + LWS_PRE, piece.data, piece.size);
    int how = !piece.is_first ? LWS_WRITE_CONTINUATION : piece.is_binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT;
    size_t size = piece.size;
    if (!piece.is_last)
        how |= LWS_WRITE_NO_FIN;
    hub_sent(peer->client);
    if (lws_write(wsi, web->piece + LWS_PRE, size, (enum lws_write_protocol)how) < (int)size)
        return -1;
    if (hub_has_more(web->hub, peer->client))
        lws_callback_on_writable(wsi);
    return 0;
}

// The time to say hello, or to read the last words, is over. A server that was late itself has not read yet what came
// in time, or not written yet what would be read.
static int on_timer(struct lws *wsi, Peer *peer)
{
    char byte;
    if (!peer->client)
        return -1;
    if (peer->client->is_ending) {
        if (peer->farewells >= FAREWELLS_MAX || !takes_more(wsi))
            return -1;
        give_farewell(wsi, peer);
        return 0;
    }
    if (peer->client->role != CLIENT_GUEST)
        return 0;
    if (recv(lws_get_socket_fd(wsi), &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1)
        return -1;
    lws_set_timer_usecs(wsi, (lws_usec_t)web_of(wsi)->hello_ms * 1000);
    return 0;
}

static int on_socket(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
    Peer *peer = user;
    switch (reason) {
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: return may_upgrade(wsi) ? 0 : -1;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: return !may_become_socket(wsi);
    case LWS_CALLBACK_ESTABLISHED: return on_opened(wsi, peer);
    case LWS_CALLBACK_RECEIVE: return on_received(wsi, peer, in, length);
    case LWS_CALLBACK_SERVER_WRITEABLE: return on_writable(wsi, peer);
    case LWS_CALLBACK_TIMER: return on_timer(wsi, peer);
    case LWS_CALLBACK_CLOSED:
        if (peer->client)
            hub_close(web_of(wsi)->hub, peer->client);
        peer->client = NULL;
        return 0;
    default: return 0;
    }
}

// ---- life ----

static const struct lws_protocols protocols[] = {
    { .name = "http", .callback = on_http, .per_session_data_size = sizeof(Peer), .rx_buffer_size = 4096 },
    { .name = "talus", .callback = on_socket, .per_session_data_size = sizeof(Peer), .rx_buffer_size = 1 << 16 },
    { 0 },
};

static const struct lws_protocols window_protocols[] = {
    { .name = "window", .callback = on_window, .per_session_data_size = sizeof(Peer), .rx_buffer_size = 4096 },
    { 0 },
};

static void wake(void *context) { lws_cancel_service(((Web *)context)->context); }

static void *serve(void *context)
{
    Web *web = context;
    while (!atomic_load(&web->is_stopping))
        if (lws_service(web->context, 0) < 0)
            return NULL;
    // Last words go out, to those who read. A thread that gets no processor for so long has still to try.
    double end = viewer_clock() + 0.001 * FAREWELL_MS;
    hub_drain(web->hub);
    ask_to_write(web);
    for (int i = 0; web->hub->client_count > 0 && (i < FAREWELL_ROUNDS || viewer_clock() < end); i++) {
        lws_cancel_service(web->context);  // never waits
        if (lws_service(web->context, 0) < 0)
            break;
    }
    return NULL;
}

static bool listen_at(Web *web, const ViewerOptions *options, DiagSink *diags)
{
    assert(!web->context);
    const char *address = options->address ? options->address : "127.0.0.1";
    struct lws_context_creation_info info = {
        .port = options->port,
        .iface = address,
        .protocols = protocols,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .user = web,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
        .timeout_secs = (unsigned)(options->request_seconds > 0 ? options->request_seconds : DEFAULT_REQUEST_SECONDS),
        .keepalive_timeout = 5,
        .max_http_header_data = HEADER_BYTES,
        .max_http_header_pool = 64,
        .fd_limit_per_thread = SOCKETS_MAX + 16,
        .server_string = "talus"
    };
    if (!strchr(address, ':'))
        info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;
    web->context = lws_create_context(&info);
    struct lws_vhost *host = web->context ? lws_create_vhost(web->context, &info) : NULL;
    web->port = host ? lws_get_vhost_listen_port(host) : -1;
    if (web->port > 0 && !options->recording) {
        info.port = 0;
        info.protocols = window_protocols;
        info.vhost_name = "windows";
        host = lws_create_vhost(web->context, &info);
        web->window_port = host ? lws_get_vhost_listen_port(host) : -1;
    }
    if (web->port > 0 && web->window_port >= 0)
        return true;
    diag_error(diags, (SourcePos){ 0 }, "cannot listen at %s port %d for browsers", address, options->port);
    diag_hint(diags, "another program may use the port; port 0 takes a free one");
    return false;
}

// Commas become the spaces of a policy, before each one.
static char *embedders_of(const char *origins)
{
    assert(!origins || viewer_origins_are_sound(origins));
    Text text = { 0 };
    text_add_string(&text, origins && *origins ? " " : "");
    for (const char *at = origins; at && *at; at++)
        text_add_char(&text, *at == ',' ? ' ' : *at);
    return text.data ? text.data : memory_string("");
}

Web *web_start(const ViewerOptions *options, const FileData *ghost, Hub *hub, DiagSink *diags)
{
    assert(hub->exchange && !hub->exchange->wake);
    Web *web = memory_alloc(sizeof *web);
    web->ghost = ghost;
    web->embedders = embedders_of(options->embed);
    web->hub = hub;
    web->address = options->address;
    web->hello_ms = options->hello_ms > 0 ? options->hello_ms : DEFAULT_HELLO_MS;
    web->answer_ms = options->answer_ms > 0 ? options->answer_ms : DEFAULT_ANSWER_MS;
    web->recording = options->recording;
    web->recording_size = options->recording_size;
    lws_set_log_level(0, NULL);
    struct sigaction pipe_action;  // the library ignores SIGPIPE for the whole process; its own writes do not raise it
    sigaction(SIGPIPE, NULL, &pipe_action);
    bool is_listening = listen_at(web, options, diags);
    sigaction(SIGPIPE, &pipe_action, NULL);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    hub->exchange->wake_context = web;
    hub->exchange->wake = wake;
    bool runs = is_listening && pthread_create(&web->thread, NULL, serve, web) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (runs)
        return web;
    hub->exchange->wake = NULL;
    if (web->context)
        lws_context_destroy(web->context);
    free(web->embedders);
    free(web);
    return NULL;
}

void web_stop(Web *web)
{
    if (!web)
        return;
    atomic_store(&web->is_stopping, true);
    lws_cancel_service(web->context);
    pthread_join(web->thread, NULL);
    web->hub->exchange->wake = NULL;
    lws_sul_cancel(&web->look);
    lws_context_destroy(web->context);
    free(web->embedders);
    free(web);
}

int web_port(const Web *web) { return web->port; }
int web_window_port(const Web *web) { return web->window_port; }

#else

bool viewer_is_available(void) { return false; }

Web *web_start(const ViewerOptions *options, const FileData *ghost, Hub *hub, DiagSink *diags)
{
    (void)options, (void)ghost, (void)hub;
    diag_error(diags, (SourcePos){ 0 }, "this build has no server for browsers");
    diag_hint(diags, "install libwebsockets-dev, then configure and build again");
    return NULL;
}

void web_stop(Web *web) { (void)web; }
int web_port(const Web *web) { return web ? 0 : -1; }
int web_window_port(const Web *web) { return web ? 0 : -1; }

#endif
