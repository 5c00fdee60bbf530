// behaviour.h - how the behaviour tests in C and C++ say a number; behaviour.py says it in the same way.
#ifndef TALUS_TESTS_LANGUAGES_BEHAVIOUR_H
#define TALUS_TESTS_LANGUAGES_BEHAVIOUR_H

#include <math.h>
#include <stdio.h>

static inline void say_values(const char *label, const double *values, int count)
{
    printf("say %s", label);
    for (int i = 0; values && i < count; i++) {
        if (isnan(values[i]))
            printf(" nan");
        else
            printf(" %.17g", values[i]);
    }
    printf(values ? "\n" : " none\n");
}

#define SAY(label, ...)                                                                                                \
    do {                                                                                                               \
        const double said[] = { __VA_ARGS__ };                                                                         \
        say_values(label, said, (int)(sizeof said / sizeof said[0]));                                                  \
    } while (0)

static inline double sum_of_bytes(const unsigned char *bytes, int count)
{
    double sum = 0;
    for (int i = 0; bytes && i < count; i++)
        sum += bytes[i] * (i % 7 + 1);
    return bytes ? sum : -1;
}

static inline double sum_of_ranges(const float *ranges, int count)
{
    double sum = 0;
    for (int i = 0; ranges && i < count; i++)
        if (!isinf(ranges[i]))
            sum += (double)ranges[i] * (i % 7 + 1);
    return ranges ? sum : -1;
}

static inline double size_of_file(const char *name)
{
    FILE *file = fopen(name, "rb");
    if (!file)
        return -1;
    fseek(file, 0, SEEK_END);
    double size = (double)ftell(file);
    fclose(file);
    return size;
}

#endif
