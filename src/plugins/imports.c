// What a loaded library knows of ODE, from the names in its symbol tables: a plugin that never names a function of ODE can
// neither read nor change anything of a world, whatever handles it is given.
#include "plugins/plugins_internal.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

enum { MOST_LIBRARIES = 64 };

typedef struct Tables {
    const ElfW(Sym) *symbols;
    const char *strings;
    int count;
} Tables;

typedef struct Libraries { const struct link_map *items[MOST_LIBRARIES]; int count; bool has_more; } Libraries;

// Most machines relocate these addresses in place; where they do not, they are relative to the library.
static const void *address_of(const struct link_map *library, ElfW(Addr) value)
{
    return (const void *)(value < library->l_addr ? library->l_addr + value : value);
}

// The table has no length of its own: the last symbol is the last one of the chain that starts highest.
static int count_hashed(const uint32_t *hash)
{
    uint32_t bucket_count = hash[0], first = hash[1], bloom_count = hash[2], last = 0;
    const uint32_t *buckets = hash + 4 + bloom_count * (sizeof(ElfW(Addr)) / sizeof(uint32_t)), *chains = buckets + bucket_count;
    for (uint32_t i = 0; i < bucket_count; i++)
        last = buckets[i] > last ? buckets[i] : last;
    if (last < first)
        return (int)first;
    while (!(chains[last - first] & 1))
        last++;
    return (int)last + 1;
}

static bool find_tables(const struct link_map *library, Tables *tables)
{
    *tables = (Tables){ 0 };
    for (const ElfW(Dyn) *entry = library->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
        const void *at = address_of(library, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB)
            tables->symbols = at;
        else if (entry->d_tag == DT_STRTAB)
            tables->strings = at;
        else if (entry->d_tag == DT_GNU_HASH)
            tables->count = count_hashed(at);
        else if (entry->d_tag == DT_HASH && tables->count == 0)
            tables->count = (int)((const uint32_t *)at)[1];
    }
    return tables->symbols && tables->strings && tables->count > 0;
}

// Also when the library defines it: then it brought its own ODE.
static bool name_touches(const char *name)
{
    static const char *const harmless[] = { "dWebotsConsolePrintf", "dWebotsGetTime", "dWebotsReceive", "dWebotsSend" };
    for (int i = 0; i < COUNT_OF(harmless); i++)
        if (!strcmp(name, harmless[i]))
            return false;
    return name[0] == 'd' && ((name[1] >= 'A' && name[1] <= 'Z') || name[1] == 'x');
}

static bool is_finder(const char *name)
{
    return !strcmp(name, "dlsym") || !strcmp(name, "dlvsym") || !strcmp(name, "dlopen") || !strcmp(name, "dlmopen");
}

static void add_needed(Libraries *all, const struct link_map *of, const Tables *tables)
{
    for (const ElfW(Dyn) *entry = of->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag != DT_NEEDED)
            continue;
        const char *name = tables->strings + entry->d_un.d_val;
        const struct link_map *at = of;
        while (at->l_prev)
            at = at->l_prev;
        for (; at; at = at->l_next) {
            const char *slash = strrchr(at->l_name, '/');
            if (strcmp(slash ? slash + 1 : at->l_name, name))
                continue;
            bool is_known = false;
            for (int i = 0; i < all->count; i++)
                is_known |= all->items[i] == at;
            if (!is_known && all->count < MOST_LIBRARIES)
                all->items[all->count++] = at;
            else
                all->has_more |= !is_known;
        }
    }
}

bool plugin_touches_ode(void *library)
{
    struct link_map *own = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &own) || !own)
        return true;
    Libraries all = { .items = { own }, .count = 1 };
    for (int i = 0; i < all.count; i++) {
        Tables tables;
        if (!find_tables(all.items[i], &tables))
            return true;
        bool is_ode = i > 0 && strstr(all.items[i]->l_name, "/libode.so");  // it names itself; who uses it is asked
        for (int k = 1; k < tables.count && !is_ode; k++) {
            const char *name = tables.strings + tables.symbols[k].st_name;
            if (name_touches(name) || (i == 0 && is_finder(name)))
                return true;
        }
        add_needed(&all, all.items[i], &tables);
    }
    return all.has_more;
}
