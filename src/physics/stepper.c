// stepper.c - the table of steppers.
#include "physics/stepper.h"

#include <string.h>

extern const StepperType stepper_ode_exact, stepper_ode_quick, stepper_talus;

// The first one is the default.
static const StepperType *const steppers[] = { &stepper_talus, &stepper_ode_exact, &stepper_ode_quick };

const StepperType *stepper_find(const char *name)
{
    if (!name)
        return steppers[0];
    for (int i = 0; i < COUNT_OF(steppers); i++)
        if (!strcmp(steppers[i]->name, name))
            return steppers[i];
    return NULL;
}

const char *const *stepper_names(void)
{
    static const char *const names[] = { "talus", "ode-exact", "ode-quick", NULL };
    static_assert(COUNT_OF(names) == COUNT_OF(steppers) + 1, "one name for every stepper");
    return names;
}
