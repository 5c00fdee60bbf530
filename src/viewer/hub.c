// hub.c - the clients of the server: who may do what, what waits for whom, which bytes go out next. It knows nothing of
// sockets, so a fuzzer can be a client too. Everything a client can make grow has a bound; one that does not read loses
// news, then its connection.
#include "viewer/viewer_internal.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

const struct WatchKind watch_kinds[WATCH_KINDS] = {
    { "contacts", MOMENT_CONTACTS },
    { "states", MOMENT_STATES },
    { "joints", MOMENT_JOINTS },
    { "info", 0 },
    { "drawing", 0 },
    { "buoyancy", 0 },
};

static void make_token(char token[VIEWER_TOKEN_CHARS + 1])
{
    uint8_t bytes[VIEWER_TOKEN_CHARS / 2];
    for (size_t done = 0; done < sizeof bytes;) {
        ssize_t got = getrandom(bytes + done, sizeof bytes - done, 0);
        if (got > 0)
            done += (size_t)got;
        else
            assert(errno == EINTR);
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
}

bool hub_token_is(const char *token, const char *shown, size_t length)
{
    assert(strlen(token) == VIEWER_TOKEN_CHARS);
    unsigned difference = 0;
    for (int i = 0; i < VIEWER_TOKEN_CHARS && length == VIEWER_TOKEN_CHARS; i++)
        difference |= (unsigned)(uint8_t)token[i] ^ (unsigned)(uint8_t)shown[i];
    return difference == 0 && length == VIEWER_TOKEN_CHARS;
}

static bool token_matches(const char *token, const JsonValue *shown)
{
    return shown && shown->kind == JSON_STRING && hub_token_is(token, shown->text, shown->length);
}

void hub_init(Hub *hub, Exchange *exchange)
{
    memset(hub, 0, sizeof *hub);
    hub->exchange = exchange;
    hub->arena = arena_create();
    make_token(hub->token);
    make_token(hub->watch_token);
    make_token(hub->page_token);
}

static void forget_labels(Hub *hub)
{
    for (int i = 0; i < hub->label_count; i++)
        blob_release(hub->labels[i].blob);
    hub->label_count = 0;
}

void hub_deinit(Hub *hub)
{
    for (int i = 0; i < VIEWER_CLIENTS_MAX; i++)
        if (hub->clients[i])
            hub_close(hub, hub->clients[i]);
    for (int i = 0; i < hub->line_count; i++)
        blob_release(hub->lines[(hub->line_first + i) % VIEWER_LINES_KEPT]);
    forget_labels(hub);
    blob_release(hub->scene);
    blob_release(hub->windows);
    history_deinit(&hub->history);
    text_free(&hub->frame);
    text_free(&hub->text);
    arena_destroy(hub->arena);
}

// ---- queues ----

static QueuedLetter *queued(Client *client, int index)
{
    assert_debug(index >= 0 && index < VIEWER_QUEUE_MAX);
    return &client->queue[(client->queue_first + index) % VIEWER_QUEUE_MAX];
}

static void queue_letter(Client *client, QueuedLetter letter)
{
    assert(client->queue_count < VIEWER_QUEUE_MAX);
    *queued(client, client->queue_count++) = letter;
    client->queue_bytes += letter.is_scene ? 0 : letter.blob->size;
}

// Takes the blob. News are left out for who has much to read already; who has no room for an answer is let go. True
// when it will be sent.
static bool post(Client *client, Blob *blob, bool is_binary, bool is_droppable)
{
    assert(client && blob);
    int room = VIEWER_QUEUE_MAX - client->queue_count;
    bool is_full = room < 1 || client->queue_bytes + blob->size > VIEWER_QUEUE_BYTES;
    bool is_busy = room < VIEWER_QUEUE_MAX / 2 || client->queue_bytes > VIEWER_QUEUE_BYTES / 4;
    if (is_full && !is_droppable)
        client->is_ending = true;
    if (client->is_ending || is_full || (is_busy && is_droppable)) {
        blob_release(blob);
        return false;
    }
    queue_letter(client, (QueuedLetter){ .blob = blob, .is_binary = is_binary });
    return true;
}

static void post_text(Client *client, const Text *text)
{
    post(client, blob_create(text->data, text->length), false, false);
}

static JsonWriter begin_message(Hub *hub)
{
    text_clear(&hub->text);
    JsonWriter json = { .out = &hub->text, .compact = true };
    json_begin_object(&json, NULL);
    return json;
}

static void say_goodbye(Hub *hub, Client *client, const char *words)
{
    JsonWriter json = begin_message(hub);
    json_string(&json, "is", "bye");
    json_string(&json, "text", words);
    json_end_object(&json);
    post_text(client, &hub->text);
    client->is_ending = true;
}

void answer_begin(JsonWriter *json, const JsonValue *message, bool is_fine)
{
    const JsonValue *id = json_member(message, "id");
    if (id && id->kind == JSON_STRING)
        json_string(json, "re", id->text);
    else if (id && id->kind == JSON_NUMBER)
        json_double(json, "re", id->number);
    json_bool(json, "ok", is_fine);
}

static void answer(Hub *hub, Client *client, const JsonValue *message, const char *error)
{
    JsonWriter json = begin_message(hub);
    answer_begin(&json, message, !error);
    if (error)
        json_string(&json, "error", error);
    json_end_object(&json);
    post_text(client, &hub->text);
}

// ---- state that all are told ----

static const char *role_name(const Client *client)
{
    return client->role == CLIENT_CONTROLLER ? "controller" : "spectator";
}

// One that is left out is told when there is room again: a world that stands has no other that would follow.
static void tell_state(Hub *hub, Client *client)
{
    assert(client->role != CLIENT_GUEST);  // who has shown no token hears nothing
    const ViewMoment *moment = hub->exchange->front;
    const History *history = &hub->history;
    JsonWriter json = begin_message(hub);
    json_string(&json, "is", "state");
    json_bool(&json, "running", moment->is_running);
    json_double(&json, "time", moment->time);
    json_int(&json, "step", (int64_t)moment->step);
    json_double(&json, "factor", moment->speed);
    json_double(&json, "pace", moment->pace);
    json_begin_array(&json, "history");
    json_double(&json, NULL, history->count ? history->items[0].time : moment->time);
    json_double(&json, NULL, history->count ? history->items[history->count - 1].time : moment->time);
    json_end_array(&json);
    json_bool(&json, "canResume", moment->can_resume);
    json_string(&json, "role", role_name(client));
    json_bool(&json, "mayControl", client->may_control);
    json_bool(&json, "live", !client->is_looking_back);
    json_int(&json, "clients", hub->ready_count);
    json_end_object(&json);
    client->wants_state = !post(client, blob_create(hub->text.data, hub->text.length), false, true);
}

static void tell_all_state(Hub *hub)
{
    const ViewMoment *moment = hub->exchange->front;
    hub->was_running = moment->is_running;
    hub->could_resume = moment->can_resume;
    hub->told_pace = moment->pace;
    hub->told_step = moment->step;
    hub->told_clients = hub->ready_count;
    hub->told_time = viewer_clock();
    for (int i = 0; i < VIEWER_CLIENTS_MAX; i++)
        if (hub->clients[i] && hub->clients[i]->is_ready)
            tell_state(hub, hub->clients[i]);
}

// ---- coming and going ----

Client *hub_open(Hub *hub, void *socket)
{
    assert(hub->client_count >= 0 && hub->client_count <= VIEWER_CLIENTS_MAX);
    for (int i = 0; i < VIEWER_CLIENTS_MAX; i++)
        if (!hub->clients[i]) {
            Client *client = memory_alloc(sizeof *client);
            client->id = ++hub->last_id;
            client->socket = socket;
            hub->clients[i] = client;
            hub->client_count++;
            return client;
        }
    return NULL;
}

static void count_ready(Hub *hub)
{
    int ready = 0;
    for (int i = 0; i < VIEWER_CLIENTS_MAX; i++)
        ready += hub->clients[i] && hub->clients[i]->is_ready;
    hub->ready_count = ready;
    exchange_attend(hub->exchange, ATTENTION_CLIENTS, ready > 0);
}

void hub_close(Hub *hub, Client *client)
{
    assert(client);
    int place = 0;
    while (place < VIEWER_CLIENTS_MAX && hub->clients[place] != client)
        place++;
    assert(place < VIEWER_CLIENTS_MAX);
    hub->clients[place] = NULL;
    hub->client_count--;
    if (client->role != CLIENT_GUEST)
        exchange_order(hub->exchange, (Order){ .kind = ORDER_GONE, .client = client->id });
    for (int i = 0; i < client->queue_count; i++)
        blob_release(queued(client, i)->blob);
    blob_release(client->sending.blob);
    frame_encoder_deinit(&client->encoder);
    text_free(&client->glow.last);
    text_free(&client->bones.last);
    text_free(&client->screens);
    text_free(&client->partial);
    free(client);
    count_ready(hub);
    if (hub->ready_count > 0)
        tell_all_state(hub);
}

static Client *find_client(Hub *hub, uint32_t id)
{
    for (int i = 0; i < VIEWER_CLIENTS_MAX; i++)
        if (hub->clients[i] && hub->clients[i]->id == id)
            return hub->clients[i];
    return NULL;
}

static bool has_controller(const Hub *hub)
{
    for (int i = 0; i < VIEWER_CLIENTS_MAX; i++)
        if (hub->clients[i] && hub->clients[i]->role == CLIENT_CONTROLLER)
            return true;
    return false;
}

// ---- what the server answers by itself ----

static void hello(Hub *hub, Client *client, const JsonValue *message)
{
    assert(client->role == CLIENT_GUEST);
    const char *what = json_member_string(message, "do");
    const JsonValue *token = json_member(message, "token");
    bool may_control = token_matches(hub->token, token), may_watch = token_matches(hub->watch_token, token);
    double protocol = 0.0;
    json_member_number(message, "protocol", &protocol);
    if (!what || strcmp(what, "hello"))
        say_goodbye(hub, client, "the first message has to be hello, with the token of the link");
    else if (!may_control && !may_watch)
        say_goodbye(hub, client, "the token is not that of this run; open the link that talus printed");
    else if (protocol != 1.0)
        say_goodbye(hub, client, "this page speaks another version of the protocol; reload it");
    if (client->is_ending)
        return;
    client->may_control = may_control;
    client->role = may_control && !has_controller(hub) ? CLIENT_CONTROLLER : CLIENT_SPECTATOR;
    exchange_order(hub->exchange, (Order){ .kind = ORDER_WELCOME, .client = client->id });
}

static void take_control(Hub *hub, Client *client, const JsonValue *message)
{
    assert(client->role != CLIENT_GUEST);
    if (!client->may_control) {
        answer(hub, client, message, "this link is for looking only");
        return;
    }
    for (int i = 0; i < VIEWER_CLIENTS_MAX; i++)
        if (hub->clients[i] && hub->clients[i]->role == CLIENT_CONTROLLER)
            hub->clients[i]->role = CLIENT_SPECTATOR;
    client->role = CLIENT_CONTROLLER;
    answer(hub, client, message, NULL);
    tell_all_state(hub);
}

static void look_back(Hub *hub, Client *client, const JsonValue *message)
{
    assert(client->role != CLIENT_GUEST);
    double time;
    const PastMoment *past;
    if (!json_member_number(message, "time", &time)) {
        answer(hub, client, message, "seek wants a time in seconds");
        return;
    }
    if (!(past = history_at(&hub->history, time))) {
        answer(hub, client, message, "no moment has been kept yet");
        return;
    }
    client->is_looking_back = client->wants_past = true;
    client->past_time = past->time;
    client->awaits_ack = false;
    JsonWriter json = begin_message(hub);
    answer_begin(&json, message, true);
    json_double(&json, "time", past->time);
    json_int(&json, "step", (int64_t)past->step);
    json_end_object(&json);
    post_text(client, &hub->text);
    tell_state(hub, client);
}

static void look_at_now(Client *client)
{
    client->is_looking_back = client->wants_past = client->awaits_ack = false;
    client->wants_key = true;
    client->moment = 0;
}

static void go_live(Hub *hub, Client *client, const JsonValue *message)
{
    look_at_now(client);
    answer(hub, client, message, NULL);
    tell_state(hub, client);
}

static void acknowledge(Hub *hub, Client *client, const JsonValue *message)
{
    (void)hub, (void)message;
    client->awaits_ack = false;
}

static void ping(Hub *hub, Client *client, const JsonValue *message) { answer(hub, client, message, NULL); }

static const struct {
    const char *name;
    void (*run)(Hub *hub, Client *client, const JsonValue *message);
} own_acts[] = {
    { "ack", acknowledge }, { "take", take_control }, { "seek", look_back }, { "live", go_live }, { "ping", ping },
};

// ---- what goes to the world ----

static void note_watch(Client *client, const JsonValue *message)
{
    static_assert(WATCH_KINDS <= 32, "one bit for each");
    const char *what = json_member_string(message, "what");
    for (int i = 0; what && i < WATCH_KINDS; i++)
        if (!strcmp(what, watch_kinds[i].name))
            client->watches = json_member_bool(message, "on", true) ? client->watches | 1u << i
                                                                    : client->watches & ~(1u << i);
}

// Where the client looks is where it wants to go on from; the world does not know that.
static char *with_time(const Client *client, const char *text, size_t size, size_t *new_size)
{
    assert(client->is_looking_back && memchr(text, '{', size));
    const char *open = memchr(text, '{', size);
    size_t head = (size_t)(open - text) + 1;
    Text out = { 0 };
    text_add(&out, text, head);
    text_add_string(&out, "\"time\":");
    text_add_double(&out, client->past_time);
    text_add_char(&out, ',');
    text_add(&out, text + head, size - head);
    *new_size = out.length;
    return out.data;
}

static void order(Hub *hub, Client *client, const JsonValue *message, const char *what, const char *text, size_t size)
{
    assert(client->role != CLIENT_GUEST && what);
    const ActType *type = act_type(what);
    if (!type) {
        answer(hub, client, message, arena_printf(hub->arena, "there is no '%.40s'", what));
        return;
    }
    if (client->role != CLIENT_CONTROLLER && !type->for_spectators) {
        answer(hub, client, message,
               client->may_control ? "another window has the controls; take them first"
                                   : "this link is for looking only");
        return;
    }
    if (type->run == act_watch)
        note_watch(client, message);
    Order act = { .kind = ORDER_ACT, .client = client->id, .drag = act_drag(type, message) };
    if (!strcmp(what, "resume") && client->is_looking_back && !json_member(message, "time")) {
        act.text = with_time(client, text, size, &act.size);
    } else {
        act.text = memory_text(text, size);
        act.size = size;
    }
    if (!exchange_order(hub->exchange, act))
        answer(hub, client, message, "the world is busy and too much waits for it; try again");
}

static void handle(Hub *hub, Client *client, const char *text, size_t size)
{
    assert(!client->is_ending && (text || size == 0));
    arena_reset(hub->arena);
    const char *why;
    const JsonValue *message = json_parse(hub->arena, text, size, &why);
    const char *what = json_member_string(message, "do");
    if (client->role == CLIENT_GUEST) {
        hello(hub, client, message);
        return;
    }
    if (!what) {
        answer(hub, client, message,
               message ? "a message wants to be an object with \"do\"" : arena_printf(hub->arena, "no JSON: %s", why));
        return;
    }
    for (int i = 0; i < COUNT_OF(own_acts); i++)
        if (!strcmp(what, own_acts[i].name)) {
            own_acts[i].run(hub, client, message);
            return;
        }
    order(hub, client, message, what, text, size);
}

bool hub_receive(Hub *hub, Client *client, const HubFragment *fragment)
{
    size_t size = fragment->size;
    assert(client && (fragment->data || size == 0));
    if (client->is_ending)  // its last words still go out, whatever was on its way meanwhile
        return true;
    if (fragment->is_binary)
        return false;
    if (fragment->is_first)
        text_clear(&client->partial);
    size_t room = client->role == CLIENT_GUEST ? 4096 : VIEWER_MESSAGE_BYTES;
    if (size > room || client->partial.length > room - size)
        return false;
    if (fragment->is_first && fragment->is_last) {
        handle(hub, client, fragment->data, size);
        return true;
    }
    text_add(&client->partial, fragment->data, size);
    if (fragment->is_last) {
        handle(hub, client, client->partial.data ? client->partial.data : "", client->partial.length);
        text_free(&client->partial);
    }
    return true;
}

// ---- what the world sends ----

static void keep_line(Hub *hub, Blob *blob)
{
    assert(hub->line_count >= 0 && hub->line_count <= VIEWER_LINES_KEPT);
    int place = (hub->line_first + hub->line_count) % VIEWER_LINES_KEPT;
    if (hub->line_count == VIEWER_LINES_KEPT) {
        blob_release(hub->lines[place]);
        hub->line_first = (hub->line_first + 1) % VIEWER_LINES_KEPT;
    } else {
        hub->line_count++;
    }
    hub->lines[place] = blob_hold(blob);
}

static void keep_label(Hub *hub, int number, Blob *blob)
{
    assert(number != 0 && hub->label_count <= VIEWER_LABELS_MAX);
    int place = 0;
    while (place < hub->label_count && hub->labels[place].number != number)
        place++;
    if (place == VIEWER_LABELS_MAX)
        return;
    if (place < hub->label_count)
        blob_release(hub->labels[place].blob);
    else
        hub->label_count++;
    hub->labels[place].number = number;
    hub->labels[place].blob = blob_hold(blob);
}

// A scene that still waits is overtaken by the new one, so a client holds no more than two.
static void post_scene(Hub *hub, Client *client)
{
    assert(hub->scene);
    int place = 0;
    while (place < client->queue_count && !queued(client, place)->is_scene)
        place++;
    if (place < client->queue_count) {
        blob_release(queued(client, place)->blob);
        queued(client, place)->blob = blob_hold(hub->scene);
    } else if (client->queue_count < VIEWER_QUEUE_MAX) {
        queue_letter(client, (QueuedLetter){ .blob = blob_hold(hub->scene), .is_binary = true, .is_scene = true });
    } else {
        client->is_ending = true;
        return;
    }
    client->revision = hub->revision;
    client->wants_key = true;
    client->awaits_ack = false;
    client->moment = 0;
}

static void use_scene(Hub *hub, const Letter *letter)
{
    if (!letter->scene || (hub->scene && hub->revision == letter->revision))
        return;
    blob_release(hub->scene);
    hub->scene = blob_hold(letter->scene);
    hub->revision = letter->revision;
    history_clear(&hub->history);
}

static void welcome(Hub *hub, Client *client, const Letter *letter)
{
    assert(letter->client == client->id && letter->scene);
    if (client->is_ready || client->role == CLIENT_GUEST)
        return;
    JsonWriter json = begin_message(hub);
    json_string(&json, "is", "welcome");
    json_string(&json, "role", role_name(client));
    json_bool(&json, "mayControl", client->may_control);
    json_int(&json, "protocol", 1);
    json_int(&json, "revision", letter->revision);
    text_add_string(&hub->text, ",\"meta\":");
    text_add(&hub->text, (const char *)letter->blob->data, letter->blob->size);
    json_end_object(&json);
    post_text(client, &hub->text);
    post_scene(hub, client);
    client->is_ready = true;
    count_ready(hub);
    for (int i = 0; i < hub->line_count; i++)
        post(client, blob_hold(hub->lines[(hub->line_first + i) % VIEWER_LINES_KEPT]), false, true);
    for (int i = 0; i < hub->label_count; i++)
        post(client, blob_hold(hub->labels[i].blob), false, true);
    tell_all_state(hub);
}

static void new_scene(Hub *hub, const Letter *letter)
{
    assert(letter->scene && hub->scene);
    JsonWriter json = begin_message(hub);
    json_string(&json, "is", "scene");
    json_int(&json, "revision", letter->revision);
    text_add_string(&hub->text, ",\"meta\":");
    text_add(&hub->text, (const char *)letter->blob->data, letter->blob->size);
    json_end_object(&json);
    Blob *blob = blob_create(hub->text.data, hub->text.length);
    for (int i = 0; i < VIEWER_CLIENTS_MAX; i++) {
        Client *client = hub->clients[i];
        if (!client || !client->is_ready)
            continue;
        post(client, blob_hold(blob), false, false);
        if (!client->is_ending)
            post_scene(hub, client);
        client->is_looking_back = client->wants_past = false;
    }
    blob_release(blob);
}

// A letter goes to those it is for, and what late comers want to hear is kept. Takes its blobs.
static void deliver(Hub *hub, Letter *letter)
{
    use_scene(hub, letter);
    if (letter->kind == LETTER_SCENE)
        new_scene(hub, letter);
    if (letter->kind == LETTER_WELCOME) {
        Client *client = find_client(hub, letter->client);
        if (client)
            welcome(hub, client, letter);
    }
    if (letter->kind == LETTER_WINDOWS) {
        blob_release(hub->windows);
        hub->windows = blob_hold(letter->blob);
    }
    bool is_plain = letter->kind == LETTER_TEXT || letter->kind == LETTER_BINARY;
    for (int i = 0; is_plain && i < VIEWER_CLIENTS_MAX; i++) {
        Client *client = hub->clients[i];
        if (client && client->is_ready && (!letter->client || client->id == letter->client))
            post(client, blob_hold(letter->blob), letter->kind == LETTER_BINARY, letter->is_droppable);
    }
    if (letter->is_line)
        keep_line(hub, letter->blob);
    if (letter->label)
        keep_label(hub, letter->label, letter->blob);
    for (int i = 0; letter->kind == LETTER_BYE && i < VIEWER_CLIENTS_MAX; i++)
        if (hub->clients[i])
            say_goodbye(hub, hub->clients[i], (const char *)letter->blob->data);
    blob_release(letter->blob);
    blob_release(letter->scene);
}

static void note_moment(Hub *hub)
{
    ViewMoment *moment = hub->exchange->front;
    physics_poses_make(&moment->world.poses);
    if (moment->is_rewound) {
        if (moment->step == 0)
            history_clear(&hub->history);
        history_drop_after(&hub->history, moment->step);
        for (int i = 0; i < VIEWER_CLIENTS_MAX; i++)
            if (hub->clients[i] && hub->clients[i]->is_looking_back)
                look_at_now(hub->clients[i]);
    }
    if (moment->revision == hub->revision)
        history_add(&hub->history, moment);
    bool stands_elsewhere = !moment->is_running && moment->step != hub->told_step;  // nobody may have seen it run
    bool has_changed = moment->is_running != hub->was_running || moment->pace != hub->told_pace || stands_elsewhere
                       || moment->can_resume != hub->could_resume || moment->is_rewound;
    if (has_changed || viewer_clock() - hub->told_time > 0.5)
        tell_all_state(hub);
}

bool hub_drain(Hub *hub)
{
    Letter letter;
    while (exchange_take_letter(hub->exchange, &letter))
        deliver(hub, &letter);
    bool is_new = exchange_take_moment(hub->exchange);
    if (is_new)
        note_moment(hub);
    return is_new;
}

// ---- what goes out next ----

static bool frame_is_due(const Hub *hub, const Client *client)
{
    const ViewMoment *moment = hub->exchange->front;
    if (!client->is_ready || client->awaits_ack || client->revision != hub->revision)
        return false;
    if (client->is_looking_back)
        return client->wants_past;
    return moment->serial && moment->serial != client->moment && moment->revision == client->revision;
}

bool hub_has_more(const Hub *hub, const Client *client)
{
    return client->sending.blob || client->queue_count > 0 || client->is_ending || client->wants_state
           || frame_is_due(hub, client);
}

// Whether something (how LEDs glow, how Skins are bent) is otherwise than the client was told.
static bool choose_told(const Client *client, ClientTold *told, const ViewMoment *moment, const Text *now,
                        const char *tag, FrameSection *section)
{
    assert_debug(strlen(tag) == sizeof section->tag);
    bool is_told = !client->wants_key && told->revision == moment->revision && told->last.length == now->length
                   && (now->length == 0 || !memcmp(told->last.data, now->data, now->length));
    if (is_told || now->length == 0)
        return false;
    text_clear(&told->last);
    text_add(&told->last, now->data, now->length);
    told->revision = moment->revision;
    *section = (FrameSection){ .data = now->data, .size = now->length };
    memcpy(section->tag, tag, sizeof section->tag);
    return true;
}

// Likewise displays, now and then while the world runs.
static bool choose_screens(Client *client, const ViewMoment *moment, FrameSection *section)
{
    const Text *now = &moment->world.screens;
    double clock = viewer_clock();
    bool is_told = !client->wants_key && client->screens.length == now->length
                   && (now->length == 0 || !memcmp(client->screens.data, now->data, now->length));
    bool is_early = !client->wants_key && moment->is_running && clock - client->screens_sent < VIEWER_PICTURE_SECONDS;
    if (is_told || is_early || now->length == 0)
        return false;
    text_clear(&client->screens);
    text_add(&client->screens, now->data, now->length);
    client->screens_sent = clock;
    *section = (FrameSection){ { 'S', 'C', 'R', 'N' }, now->data, now->length };
    return true;
}

// Likewise what a plugin draws: of a drawing that stays a client hears once.
static bool choose_drawing(Client *client, const ViewMoment *moment, FrameSection *section)
{
    if (!(client->watches & moment->parts & WATCH_DRAWING)) {
        client->has_drawing = false;
        return false;
    }
    if (client->has_drawing && !client->wants_key && client->drawing_hash == moment->drawing_hash)
        return false;
    client->has_drawing = true;
    client->drawing_hash = moment->drawing_hash;
    *section = (FrameSection){ { 'D', 'R', 'A', 'W' }, moment->drawing.data, moment->drawing.length };
    return true;
}

enum { SECTIONS_MAX = MOMENT_SECTIONS_MAX + 6 };

static int choose_sections(Client *client, const ViewMoment *moment, FrameSection sections[SECTIONS_MAX])
{
    unsigned wanted = client->watches & moment->parts;
    int parts = 0;
    for (int i = 0; i < WATCH_KINDS; i++)
        if (wanted & 1u << i)
            parts |= watch_kinds[i].part;
    int count = moment_sections(&moment->world, parts | MOMENT_ALL, sections);
    if (wanted & WATCH_INFO)
        sections[count++] = (FrameSection){ { 'I', 'N', 'F', 'O' }, moment->info.data, moment->info.length };
    if (wanted & WATCH_BUOYANCY)
        sections[count++] = (FrameSection){ { 'B', 'U', 'O', 'Y' }, moment->buoyancy.data, moment->buoyancy.length };
    count += choose_drawing(client, moment, &sections[count]);
    count += choose_told(client, &client->glow, moment, &moment->world.glow, "GLOW", &sections[count]);
    count += choose_told(client, &client->bones, moment, &moment->world.bones, "BONE", &sections[count]);
    return count + choose_screens(client, moment, &sections[count]);
}

static void make_frame(Hub *hub, Client *client)
{
    assert(client->is_ready && !client->awaits_ack && !client->sending.blob);
    const ViewMoment *moment = hub->exchange->front;
    FrameSection sections[SECTIONS_MAX];
    FrameInput input = { .revision = moment->revision,
                         .step = moment->step,
                         .time = moment->time,
                         .speed = moment->speed,
                         .poses = moment->world.poses.solids,
                         .pose_count = moment->world.poses.solid_count };
    const PastMoment *past = client->is_looking_back ? history_at(&hub->history, client->past_time) : NULL;
    if (past) {
        input.step = past->step;
        input.time = past->time;
        input.speed = 0.0;
        input.poses = history_poses(&hub->history, past);
        input.pose_count = past->pose_count;
    } else {
        input.sections = sections;
        input.section_count = choose_sections(client, moment, sections);
    }
    text_clear(&hub->frame);
    frame_encode(&client->encoder, &input, client->wants_key || past, &hub->frame);
    client->wants_key = past != NULL;  // what follows a look back starts anew
    client->wants_past = false;
    client->moment = moment->serial;
    client->awaits_ack = true;
    client->sending = (QueuedLetter){ .blob = blob_create(hub->frame.data, hub->frame.length), .is_binary = true };
}

bool hub_next(Hub *hub, Client *client, HubPiece *piece)
{
    assert(client->queue_count >= 0 && client->queue_count <= VIEWER_QUEUE_MAX);
    if (client->wants_state && client->queue_count == 0)
        tell_state(hub, client);
    if (!client->sending.blob && client->queue_count > 0) {
        client->sending = *queued(client, 0);
        client->queue_first = (client->queue_first + 1) % VIEWER_QUEUE_MAX;
        client->queue_count--;
        client->queue_bytes -= client->sending.is_scene ? 0 : client->sending.blob->size;
    }
    if (!client->sending.blob && frame_is_due(hub, client))
        make_frame(hub, client);
    if (!client->sending.blob)
        return false;
    const Blob *blob = client->sending.blob;
    size_t left = blob->size - client->sent;
    *piece = (HubPiece){ .data = blob->data + client->sent,
                         .size = left < VIEWER_PIECE_BYTES ? left : VIEWER_PIECE_BYTES,
                         .is_first = client->sent == 0,
                         .is_binary = client->sending.is_binary };
    piece->is_last = piece->size == left;
    client->sent += piece->size;
    return true;
}

// After the piece has been copied: the bytes of a finished message go.
void hub_sent(Client *client)
{
    assert(!client->sending.blob || client->sent <= client->sending.blob->size);
    if (!client->sending.blob || client->sent < client->sending.blob->size)
        return;
    blob_release(client->sending.blob);
    client->sending.blob = NULL;
    client->sent = 0;
}
