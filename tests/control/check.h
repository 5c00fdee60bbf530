// check.h - what the controllers of these tests share. A controller that finds a mistake says where and goes on; it
// ends with check_done(), whose PASS line the test waits for.
#ifndef TALUS_TESTS_CONTROL_CHECK_H
#define TALUS_TESTS_CONTROL_CHECK_H

#include <webots/robot.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_mistakes;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("FAIL %s:%d: %s\n", __FILE_NAME__, __LINE__, #condition);                                           \
            check_mistakes++;                                                                                          \
        }                                                                                                              \
    } while (0)
#define CHECK_NEAR(actual, expected, tolerance) check_near((actual), (expected), (tolerance), #actual, __LINE__)
#define CHECK_TEXT(actual, expected) check_text((actual), (expected), #actual, __LINE__)
#define CHECK_VECTOR(actual, x, y, z, tolerance)                                                                       \
    check_vector((actual), (const double[3]){ x, y, z }, (tolerance), #actual, __LINE__)
#ifndef __FILE_NAME__
#define __FILE_NAME__ __FILE__
#endif

static inline void check_near(double actual, double expected, double tolerance, const char *what, int line)
{
    if (fabs(actual - expected) <= tolerance || actual == expected)
        return;
    printf("FAIL line %d: %s is %.10g, not %.10g +- %g\n", line, what, actual, expected, tolerance);
    check_mistakes++;
}

static inline void check_text(const char *actual, const char *expected, const char *what, int line)
{
    if (actual && !strcmp(actual, expected))
        return;
    printf("FAIL line %d: %s is '%s', not '%s'\n", line, what, actual ? actual : "(null)", expected);
    check_mistakes++;
}

static inline void check_vector(const double *actual, const double expected[3], double tolerance, const char *what,
                                int line)
{
    if (!actual) {
        printf("FAIL line %d: %s is NULL\n", line, what);
        check_mistakes++;
        return;
    }
    for (int i = 0; i < 3; i++)
        check_near(actual[i], expected[i], tolerance, what, line);
}

static inline void check_steps(int count)
{
    for (int i = 0; i < count; i++)
        wb_robot_step((int)wb_robot_get_basic_time_step());
}

static inline int check_done(void)
{
    printf("%s %s\n", check_mistakes ? "MISTAKES in" : "PASS", wb_robot_get_name());
    wb_robot_cleanup();
    return check_mistakes ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
