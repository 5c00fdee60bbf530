// Worlds in which bodies stand deep in one another by the thousand have more pairs and points than any machine can
// hold: every body meets every other. Beyond the sums of base/limits.h, a pair of two bodies that both have their share
// already is left out, by its place in the list, so that the same ones are left out in every run. Whoever touches few
// others keeps them all, and so do worlds below the sums, however large.
#include "physics/contacts/contact_narrow.h"
#include "physics/contacts/contact_thin.h"
#include "physics/contacts/tuning.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct Thin {
    BroadPair *pairs;  // those that are kept, when some are not
    int32_t *counts;   // by body: pairs, then points, that it has
    int pair_capacity, count_capacity;
    int64_t points;  // of the pass
    bool is_on;      // there may be too many in this pass
};

void thin_destroy(Thin *thin)
{
    if (!thin)
        return;
    free(thin->pairs);
    free(thin->counts);
    free(thin);
}

static Thin *thin_of(Physics *physics)
{
    if (!physics->thin)
        physics->thin = memory_alloc(sizeof *physics->thin);
    return physics->thin;
}

static void clear_counts(Physics *physics)
{
    Thin *thin = thin_of(physics);
    memory_grow(&thin->counts, &thin->count_capacity, physics->body_count + 1, sizeof *thin->counts);
    memset(thin->counts, 0, sizeof *thin->counts * (size_t)(physics->body_count + 1));
}

// Whether both sides of a pair have their share; if not, it is added to theirs.
static bool is_full(Physics *physics, const Shape *a, const Shape *b, int amount, int64_t share)
{
    int32_t *counts = physics->thin->counts;
    const int bodies[2] = { a->body, b->body };
    bool is_static_pair = bodies[0] < 0 || bodies[1] < 0;
    for (int i = 0; i < 2; i++)
        if (bodies[i] >= 0 && counts[bodies[i]] < (is_static_pair ? STATIC_SHARES : 1) * share) {
            for (int k = 0; k < 2; k++)
                if (bodies[k] >= 0)
                    counts[bodies[k]] += amount;
            return false;
        }
    return bodies[0] >= 0 || bodies[1] >= 0;
}

static void say(Physics *physics, const Shape *a, const Shape *b, const char *what, int64_t share)
{
    if (physics->has_thinned)
        return;
    physics->has_thinned = true;
    diag_warning(
        physics->diags, (SourcePos){ 0 },
        "so many bodies stand in one another ('%s', '%s' ...) that each keeps about %lld %s; the others are left out",
        solid_label(physics, a->solid), solid_label(physics, b->solid), (long long)share, what);
    diag_hint(physics->diags, "move them apart: what overlaps is pushed out, some of it far");
}

// Counts the points of a pair, or drops them.
static bool thin_pair(Physics *physics, int index, int count)
{
    BroadPair pair = narrow_pair(physics, index);
    const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
    if (!is_full(physics, a, b, count, physics->limits.contacts_per_body)
        || physics->thin->points <= physics->limits.contacts)
        return false;
    say(physics, a, b, "contact points", physics->limits.contacts_per_body);
    narrow_drop(physics, index);
    return true;
}

const BroadPair *thin_pairs(Physics *physics, const BroadPair *pairs, int *count)
{
    if (*count <= physics->limits.pairs)
        return pairs;
    clear_counts(physics);
    Thin *thin = physics->thin;
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        const Shape *a = &physics->shapes[pairs[i].a], *b = &physics->shapes[pairs[i].b];
        if (a->solid >= 0 && b->solid >= 0 && is_full(physics, a, b, 1, physics->limits.pairs_per_body)) {
            say(physics, a, b, "neighbours", physics->limits.pairs_per_body);
            continue;
        }
        memory_grow(&thin->pairs, &thin->pair_capacity, kept + 1, sizeof *thin->pairs);
        thin->pairs[kept++] = pairs[i];
    }
    *count = kept;
    return thin->pairs;
}

static bool is_same_pair(const PhysicsContact *a, const PhysicsContact *b)
{
    return a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1];
}

void thin_begin_records(Physics *physics) { thin_of(physics)->is_on = false; }

void thin_records(Physics *physics)
{
    int first = physics->sleeping_contact_count, kept = first, keys = 0;
    if (physics->contact_count - first <= physics->limits.contacts)
        return;
    clear_counts(physics);
    for (int i = first, key = 0, end; i < physics->contact_count; i = end, key++) {
        const PhysicsContact *contact = &physics->contacts[i];
        const Shape *a = &physics->shapes[contact->shape[0]], *b = &physics->shapes[contact->shape[1]];
        for (end = i + 1; end < physics->contact_count && is_same_pair(contact, &physics->contacts[end]);)
            end++;
        if (is_full(physics, a, b, end - i, physics->limits.contacts_per_body)) {
            say(physics, a, b, "contact points", physics->limits.contacts_per_body);
            continue;
        }
        assert_debug(key < physics->touching_count);
        physics->touching[keys++] = physics->touching[key];
        for (int k = i; k < end; k++)
            contact_move(physics, k, kept++);
    }
    physics->contact_count = kept;
    physics->touching_count = keys;
}

void thin_points(Physics *physics)
{
    Thin *thin = thin_of(physics);
    thin->points = 0;
    thin->is_on = (int64_t)physics->pair_count * physics->limits.contacts_per_pair > physics->limits.contacts;
    if (!thin->is_on)
        return;
    clear_counts(physics);
    NarrowPoints found;
    for (int i = 0; i < physics->pair_count; i++)
        if (narrow_knows(physics, i, &found))
            thin->points += found.count;
    bool are_many = thin->points > physics->limits.contacts;
    for (int i = 0; are_many && i < physics->pair_count; i++)
        if (narrow_knows(physics, i, &found) && found.count > 0)
            thin_pair(physics, i, found.count);
}

bool thin_new_points(Physics *physics, int index, int count)
{
    assert(index >= 0 && count > 0);
    Thin *thin = physics->thin;
    if (!thin->is_on)
        return false;
    thin->points += count;
    return thin_pair(physics, index, count);
}
