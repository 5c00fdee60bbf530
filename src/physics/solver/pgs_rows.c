// pgs_rows.c - rows that do not fit blocks (joints of islands too big for the direct method, rolling friction, friction
// with a fixed force), iterated one after the other.
#include "physics/solver/pgs_internal.h"

#include "base/memory.h"
#include "physics/solver/tuning.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

PlainRow *pgs_row_add(PgsScratch *s)
{
    memory_grow(&s->rows, &s->row_capacity, s->row_count + 1, sizeof *s->rows);
    s->rows[s->row_count] = (PlainRow){ .scaled_by = -1 };
    return &s->rows[s->row_count++];
}

void pgs_row_fill(PgsScratch *s, PlainRow *row, int body1, int body2, const double *j1, const double *j2, double cfm)
{
    assert_debug(body1 >= 0 && body2 >= 0 && s->input->dt > 0.0);
    row->body1 = body1;
    row->body2 = body2;
    row->gamma = (float)(cfm / s->input->dt);
    for (int i = 0; i < 6; i++) {
        row->j1[i] = (float)j1[i];
        row->j2[i] = (float)j2[i];
    }
}

static void row_respond(const PgsScratch *s, int body, const float *j, float *m)
{
    assert_debug(body >= 0 && body < s->body_count);
    const PgsBody *b = &s->bodies[body];
    if (!pgs_moves(s, body))
        return;
    const float *q = b->inertia;
    for (int i = 0; i < 3; i++)
        m[i] = b->inverse_mass * j[i];
    m[3] = q[0] * j[3] + q[1] * j[4] + q[2] * j[5];
    m[4] = q[1] * j[3] + q[3] * j[4] + q[4] * j[5];
    m[5] = q[2] * j[3] + q[4] * j[4] + q[5] * j[5];
}

static void row_push(PgsScratch *s, const PlainRow *row, float change)
{
    assert_debug(row->body1 < s->body_count && row->body2 < s->body_count);
    float *a = s->velocities[row->body1].v, *b = s->velocities[row->body2].v;
    for (int i = 0; i < 6; i++)
        a[i] += row->m1[i] * change;
    for (int i = 0; i < 6; i++)
        b[i] += row->m2[i] * change;
}

void pgs_rows_prepare(PgsScratch *s)
{
    for (int i = 0; i < s->row_count; i++) {
        PlainRow *row = &s->rows[i];
        row_respond(s, row->body1, row->j1, row->m1);
        row_respond(s, row->body2, row->j2, row->m2);
        float sum = row->gamma;
        for (int k = 0; k < 6; k++)
            sum += row->j1[k] * row->m1[k] + row->j2[k] * row->m2[k];
        row->mass = sum > 1e-30f ? 1.0f / sum : 0.0f;
        row_push(s, row, row->impulse);
    }
}

void pgs_rows_iterate(PgsScratch *s)
{
    for (int i = 0; i < s->row_count; i++) {
        PlainRow *row = &s->rows[i];
        const float *a = s->velocities[row->body1].v, *b = s->velocities[row->body2].v;
        float speed = 0.0f, lo = row->lo, hi = row->hi;
        for (int k = 0; k < 6; k++)
            speed += row->j1[k] * a[k] + row->j2[k] * b[k];
        if (row->scaled_by >= 0) {
            float normal = s->rows[row->scaled_by].impulse;
            lo = normal > 0.0f ? lo * normal : 0.0f;
            hi = normal > 0.0f ? hi * normal : 0.0f;
        }
        float now = row->impulse + (row->rhs - speed - row->gamma * row->impulse) * row->mass;
        now = now < lo ? lo : now > hi ? hi : now;
        row_push(s, row, now - row->impulse);
        row->impulse = now;
    }
}

void pgs_rows_write(PgsScratch *s)
{
    for (int i = 0; i < s->row_count; i++) {
        const PlainRow *row = &s->rows[i];
        if (row->force)
            *row->force = (double)row->impulse / s->input->dt;
        if (row->memory)
            *row->memory = (double)row->impulse;
        if (row->joint_memory)
            row->joint_memory->impulse = row->impulse;
    }
}
