// patience.c - when a program that is waited for has had its time. That a busy machine did not let it run is not its
// doing.
#include "control/control_internal.h"

Patience patience_from_now(const Control *control, int wait_ms)
{
    assert(wait_ms >= 0);
    return (
        Patience){ .since_ms = control_now_ms(), .limit_ms = wait_ms, .is_strict = control_is_interrupted(control) };
}

bool patience_is_over(Patience *patience, int64_t now_ms, int64_t used_us, bool is_asleep)
{
    // Beyond its time a program that could go on has a tenth of it on the processor, and an end far away.
    enum { FAR = 10, SHARE = 10 };
    assert(patience->limit_ms >= 0);
    int64_t passed = now_ms - patience->since_ms;
    if (passed <= patience->limit_ms)
        return false;
    if (patience->is_strict || used_us < 0 || passed > FAR * patience->limit_ms)
        return true;
    if (!patience->is_late) {
        patience->is_late = true;
        patience->start_us = patience->last_us = used_us;
        return false;
    }
    bool is_still = used_us == patience->last_us && is_asleep;
    patience->last_us = used_us;
    return is_still || used_us - patience->start_us > 1000 * patience->limit_ms / SHARE;
}
