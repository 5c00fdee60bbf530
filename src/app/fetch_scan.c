// fetch_scan.c - names in a text that look like files which a world asks for: between quotes, by their endings.
#include "app/fetch_scan.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_NAME = 4096 };

static const char *const endings[] = { ".proto", ".png", ".jpg", ".jpeg",   ".hdr",  ".obj", ".mtl", ".stl",
                                       ".dae",   ".fbx", ".wrl", ".ply",    ".gltf", ".glb", ".bin", ".wav",
                                       ".mp3",   ".ogg", ".bvh", ".motion", ".wbo",  ".body" };

static bool has_known_ending(const char *name)
{
    const char *extension = path_extension(name);
    for (int i = 0; i < COUNT_OF(endings); i++)
        if (!strcasecmp(extension, endings[i]))
            return true;
    return false;
}

static void offer(const char *begin, const char *end, FetchFound found, void *context)
{
    assert(begin <= end);
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    if (begin == end || end - begin > LONGEST_NAME)
        return;
    char *name = memory_text(begin, (size_t)(end - begin));
    char *query = strpbrk(name, "?#");
    char *bare = memory_text(name, query ? (size_t)(query - name) : strlen(name));
    // Template code inside a name is put together at run time.
    if (has_known_ending(bare) && !strstr(name, "%<") && !strstr(name, "%{") && !strpbrk(name, "\n\r\t<>|*"))
        found(name, context);
    free(bare);
    free(name);
}

// Quoted strings outside of comments, as VRML has them. Templates may use quotes of another kind: those are left alone.
static void scan_quoted(const char *text, size_t size, FetchFound found, void *context)
{
    assert_debug(text || size == 0);
    const char *end = text + size;
    for (const char *p = text; p < end; p++) {
        if (*p == '#') {
            while (p < end && *p != '\n')
                p++;
        } else if (*p == '"') {
            const char *begin = ++p;
            while (p < end && *p != '"')
                p += *p == '\\' && p + 1 < end ? 2 : 1;
            offer(begin, p < end ? p : end, found, context);
        }
    }
}

// Lines that start with a word and name a file in the rest: "mtllib x.mtl", "map_Kd -s 1 1 1 x.png".
static void scan_lines(const char *text, size_t size, const char *const *words, FetchFound found, void *context)
{
    assert_debug(words[0] && (text || size == 0));
    const char *end = text + size;
    for (const char *p = text; p < end;) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p));
        if (!line_end)
            line_end = end;
        while (p < line_end && (*p == ' ' || *p == '\t'))
            p++;
        for (int i = 0; words[i]; i++) {
            size_t length = strlen(words[i]);
            if ((size_t)(line_end - p) <= length || strncasecmp(p, words[i], length)
                || !isspace((unsigned char)p[length]))
                continue;
            const char *name = p + length;
            while (name < line_end && isspace((unsigned char)*name))
                name++;
            if (name < line_end && *name == '-') {  // options come first; then the name is the last word
                name = line_end;
                while (name > p && isspace((unsigned char)name[-1]))
                    name--;
                while (name > p && !isspace((unsigned char)name[-1]))
                    name--;
            }
            offer(name, line_end, found, context);
        }
        p = line_end + 1;
    }
}

static void scan_between(const char *text, size_t size, const char *open, const char *close, FetchFound found,
                         void *context)
{
    assert_debug(*open && *close);
    const char *end = text + size;
    for (const char *p = text; p < end;) {
        const char *begin = memmem(p, (size_t)(end - p), open, strlen(open));
        if (!begin)
            return;
        begin += strlen(open);
        const char *stop = memmem(begin, (size_t)(end - begin), close, strlen(close));
        if (!stop)
            return;
        offer(begin, stop, found, context);
        p = stop;
    }
}

void fetch_scan(const char *path, const char *text, size_t size, FetchFound found, void *context)
{
    assert_debug(path && found);
    static const char *const obj_words[] = { "mtllib", NULL };
    static const char *const mtl_words[] = { "map_Kd", "map_Ks", "map_Ka", "map_Bump", "bump", "norm",
                                             "map_d",  "map_Ke", "map_Pr", "map_Pm",   NULL };
    const char *extension = path_extension(path);
    if (!strcasecmp(extension, ".obj"))
        scan_lines(text, size, obj_words, found, context);
    else if (!strcasecmp(extension, ".mtl"))
        scan_lines(text, size, mtl_words, found, context);
    else if (!strcasecmp(extension, ".dae"))
        scan_between(text, size, "<init_from>", "</init_from>", found, context);
    else if (!strcasecmp(extension, ".gltf") || !strcasecmp(extension, ".wbt") || !strcasecmp(extension, ".proto")
             || !strcasecmp(extension, ".wbo") || !strcasecmp(extension, ".wrl"))
        scan_quoted(text, size, found, context);
}

void fetch_scan_release(const char *text, size_t size, char release[24])
{
    static const char start[] = "#VRML_SIM ";
    release[0] = '\0';
    if (size < sizeof start || memcmp(text, start, sizeof start - 1))
        return;
    const char *begin = text + sizeof start - 1, *end = text + size, *p = begin;
    while (p < end && isalnum((unsigned char)*p) && p - begin < 20)
        p++;
    if (*begin == 'R' && p - begin == 6)
        snprintf(release, 24, "%.*s", (int)(p - begin), begin);
}
