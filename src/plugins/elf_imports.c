// What a loaded library knows of ODE, from the names in its symbol tables: a plugin that never names a function of ODE
// can neither read nor change anything of a world, whatever handles it is given, and one that names some of them can do
// no more than these.
#include "plugins/plugins_internal.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

enum { LIBRARIES_MAX = 64 };

typedef struct Tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    int count;
} Tables;

typedef struct Libraries {
    const struct link_map *items[LIBRARIES_MAX];
    int count;
    bool has_more;
} Libraries;

// Most machines relocate these addresses in place; where they do not, they are relative to the library.
static const void *address_of(const struct link_map *library, ElfW(Addr) value)
{
    return (const void *)(value < library->l_addr ? library->l_addr + value : value);
}

// The table has no length of its own: the last symbol is the last one of the chain that starts highest.
static int count_hashed(const uint32_t *hash)
{
    uint32_t bucket_count = hash[0], first = hash[1], bloom_count = hash[2], last = 0;
    const uint32_t *buckets = hash + 4 + bloom_count * (sizeof(ElfW(Addr)) / sizeof(uint32_t)),
                   *chains = buckets + bucket_count;
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

// ---- what a name can do ----

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(name, *list))
            return true;
    return false;
}

static const char *const harmless[] = { "dWebotsConsolePrintf", "dWebotsGetTime", "dWebotsReceive", "dWebotsSend",
                                        NULL };
static const char *const finders[] = { "dlsym", "dlvsym", "dlopen", "dlmopen",
                                       NULL };  // of functions by names of their own
// All that leads from bodies to the joints at them, and what solves or writes down all joints of a world.
static const char *const contact_readers[] = {
    "dBodyGetJoint",          "dBodyGetNumJoints", "dConnectingJoint", "dConnectingJointList", "dAreConnected",
    "dAreConnectedExcluding", "dWorldStep",        "dWorldQuickStep",  "dWorldExportDIF",      NULL
};

// Beside functions of geoms; those of bodies move the shapes of sleepers too, and shapes in the middle of a pass.
static const char *const shape_movers[] = { "dSpaceAdd",          "dSpaceRemove",     "dBodySetPosition",
                                            "dBodySetQuaternion", "dBodySetRotation", NULL };

static bool begins(const char *name, const char *with) { return !strncmp(name, with, strlen(with)); }

// Functions about geoms that change none of ours: those that only tell, those for rays, and what is refused.
static bool leaves_geoms(const char *name)
{
    static const char *const parts[] = { "Get", "Is", "Copy", "PointDepth", "Vector" };
    for (int i = 0; i < COUNT_OF(parts); i++)
        if (strstr(name, parts[i]))
            return true;
    return begins(name, "dGeomRay") || !strcmp(name, "dGeomDestroy");
}

// Private names of ODE, which its library shows all the same.
static bool is_inside_ode(const char *name)
{
    Dl_info place, ode;
    void *address = dlsym(RTLD_DEFAULT, name);
    return address && dladdr(address, &place) && dladdr((void *)dWorldCreate, &ode) && place.dli_fbase == ode.dli_fbase;
}

enum { TOUCHES = PHYSICS_REACHES_ALL + 1 };  // beside the reach

// Also when the library defines it: then it brought its own ODE.
static unsigned reach_of(const char *name, bool is_wanted, bool is_own)
{
    if (name[0] != 'd' || name[1] < 'A' || name[1] > 'Z')
        return begins(name, "dx") || (is_own && is_wanted && is_inside_ode(name)) ? TOUCHES | PHYSICS_REACHES_ALL : 0;
    if (is_one_of(name, harmless))
        return 0;
    if (!is_wanted)
        return TOUCHES | PHYSICS_REACHES_ALL;
    // ODE's own rule lets a body fall asleep only if it finds a joint at it.
    bool is_rule_of_sleep = begins(name, "dBodySetAutoDisable") || begins(name, "dWorldSetAutoDisable");
    unsigned reach = is_rule_of_sleep || is_one_of(name, contact_readers) ? PHYSICS_REACHES_CONTACTS : 0;
    if ((begins(name, "dGeom") && !leaves_geoms(name)) || is_one_of(name, shape_movers))
        reach |= PHYSICS_REACHES_SHAPES;
    return TOUCHES | reach;
}

// ---- libraries ----

static void add_needed(Libraries *all, const struct link_map *of, const Tables *tables)
{
    assert(all->count > 0 && all->count <= LIBRARIES_MAX && tables->strings);
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
            if (!is_known && all->count < LIBRARIES_MAX)
                all->items[all->count++] = at;
            else
                all->has_more |= !is_known;
        }
    }
}

static unsigned reach_of_all(const struct link_map *own)
{
    unsigned reach = 0;
    Libraries all = { .items = { own }, .count = 1 };
    for (int i = 0; i < all.count; i++) {
        Tables tables;
        if (!find_tables(all.items[i], &tables))
            return TOUCHES | PHYSICS_REACHES_ALL;
        bool is_ode = i > 0 && strstr(all.items[i]->l_name, "/libode.so");  // it names itself; who uses it is asked
        for (int k = 1; k < tables.count && !is_ode; k++) {
            const char *name = tables.strings + tables.symbols[k].st_name;
            reach |= reach_of(name, tables.symbols[k].st_shndx == SHN_UNDEF, i == 0);
            if (i == 0 && is_one_of(name, finders))
                return TOUCHES | PHYSICS_REACHES_ALL;
        }
        add_needed(&all, all.items[i], &tables);
        assert(all.count <= LIBRARIES_MAX);
    }
    return all.has_more ? TOUCHES | PHYSICS_REACHES_ALL : reach;
}

bool plugin_touches_ode(void *library, unsigned *reach)
{
    assert_debug(library && reach);
    struct link_map *own = NULL;
    unsigned found = dlinfo(library, RTLD_DI_LINKMAP, &own) || !own ? TOUCHES | PHYSICS_REACHES_ALL : reach_of_all(own);
    *reach = found & PHYSICS_REACHES_ALL;
    return (found & TOUCHES) != 0;
}
