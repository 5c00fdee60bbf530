// Messages between a plugin and the program that hosts the world, beside those of emitters and receivers: whoever
// embeds Talus can talk to a plugin without a robot.
#include "plugins/plugins_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 16 * 1024 * 1024 };  // that wait to be taken

typedef struct MessageHead {
    int32_t channel, size;
} MessageHead;

static bool append(PluginBytes *bytes, const void *data, int size)
{
    assert_debug(size >= 0 && (data || size == 0) && bytes->size >= 0);
    if (size > BYTES_MAX - bytes->size)
        return false;
    memory_grow(&bytes->data, &bytes->capacity, bytes->size + size, 1);
    memcpy(bytes->data + bytes->size, data, (size_t)size);
    bytes->size += size;
    return true;
}

void messages_free(PluginHost *host)
{
    free(host->inbox.data);
    free(host->waiting.data);
    free(host->outbox.data);
    free(host->taken.data);
}

bool plugin_send(PluginHost *host, const void *data, int size)
{
    return size > 0 && append(&host->waiting, data, size);
}

// What was sent since the last step can be read in this one.
void messages_begin_step(PluginHost *host)
{
    assert(host->inbox.size >= 0 && host->waiting.size >= 0);
    if (host->devices)
        devices_plugin_forgets(host->devices);
    PluginBytes read = host->inbox;
    host->inbox = host->waiting;
    host->waiting = read;
    host->waiting.size = 0;
}

const void *messages_received(const PluginHost *host, int *size)
{
    assert(host->inbox.size <= host->inbox.capacity);
    *size = host->inbox.size;
    return host->inbox.size > 0 ? host->inbox.data : NULL;
}

void messages_sent(PluginHost *host, int channel, const void *data, int size)
{
    assert_debug(size >= 0);
    if (!host->options.keeps_messages)
        return;
    MessageHead head = { channel, size };
    bool fits = size <= BYTES_MAX - (int)sizeof head - host->outbox.size;
    if (!fits || !append(&host->outbox, &head, sizeof head) || !append(&host->outbox, data, size))
        diag_warning(host->diags, host->pos, "plugin '%s': messages that nobody takes are dropped", host->name);
}

const void *plugin_receive(PluginHost *host, int channel, int *size)
{
    PluginBytes *box = &host->outbox;
    for (int at = 0; at < box->size;) {
        MessageHead head;
        memcpy(&head, box->data + at, sizeof head);
        int end = at + (int)sizeof head + head.size;
        assert(head.size >= 0 && end <= box->size);  // messages_sent() wrote it whole
        if (head.channel == channel) {
            host->taken.size = 0;
            append(&host->taken, box->data + at + sizeof head, head.size);
            assert_debug(end >= at && end <= box->size);
            memmove(box->data + at, box->data + end, (size_t)(box->size - end));
            box->size -= end - at;
            *size = head.size;
            return host->taken.data;
        }
        at = end;
    }
    *size = 0;
    return NULL;
}
