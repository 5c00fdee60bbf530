// Words over a picture: where they stand, how large, in which colour, cut off at the edges, and never outside of it.
#include "support/support.h"

#include "base/memory.h"
#include "base/text.h"
#include "viewer/caption.h"

#include <math.h>

enum { WIDTH = 200, HEIGHT = 100 };

typedef struct Box {
    int left, top, right, bottom, count;
} Box;

// Draws over black and says which pixels are no longer so.
static Box drawn(const Caption *caption, uint8_t color[3])
{
    uint8_t *pixels = memory_alloc_array((size_t)WIDTH * HEIGHT, 4);
    Box box = { WIDTH, HEIGHT, -1, -1, 0 };
    caption_draw(pixels, WIDTH, HEIGHT, caption);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const uint8_t *pixel = pixels + 4 * (y * WIDTH + x);
            if (pixel[0] + pixel[1] + pixel[2] == 0)
                continue;
            box = (Box){ int_min(box.left, x), int_min(box.top, y), int_max(box.right, x), int_max(box.bottom, y),
                         box.count + 1 };
            memcpy(color, pixel, 3);
        }
    free(pixels);
    return box;
}

static void where_words_stand(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        Caption caption;
        int left, top, right, bottom;  // within which it must lie
        bool is_seen;
    } cases[] = {
        { "at the top left", { "Hi", 0, 0, 0.2, false, 0xff0000ff }, 0, 0, 60, 20, true },
        { "in the middle", { "Hi", 0.5, 0.5, 0.2, false, 0xff0000ff }, 100, 50, 160, 70, true },
        { "ends at the right", { "Hi", 1, 0, 0.2, true, 0xff0000ff }, 140, 0, 199, 20, true },
        { "two lines", { "a\nb", 0, 0, 0.2, false, 0xff0000ff }, 0, 0, 40, 40, true },
        { "cut off", { "Hello", 0.95, 0.95, 0.5, false, 0xff0000ff }, 190, 95, 199, 99, true },
        { "outside", { "Hello", 3, -4, 0.5, false, 0xff0000ff }, 0, 0, 0, 0, false },
        { "nothing", { "", 0, 0, 0.2, false, 0xff0000ff }, 0, 0, 0, 0, false },
        { "no number", { "Hello", NAN, 0, 0.5, false, 0xff0000ff }, 0, 0, 0, 0, false },
        { "far too large", { "Hello", 0, 0, 1e9, false, 0xff0000ff }, 0, 0, 0, 0, false },
        { "transparent", { "Hello", 0, 0, 0.5, false, 0xff000000 }, 0, 0, 0, 0, false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        uint8_t color[3] = { 0 };
        Box box = drawn(&cases[i].caption, color);
        CHECK((box.count > 0) == cases[i].is_seen, cases[i].what);
        if (!cases[i].is_seen)
            continue;
        CHECK(box.left >= cases[i].left && box.top >= cases[i].top && box.right <= cases[i].right
                  && box.bottom <= cases[i].bottom,
              cases[i].what);
        CHECK(color[0] == 255 && color[1] == 0 && color[2] == 0, "red");
    }
}

static void words_are_mixed_with_what_is_below(void **state)
{
    (void)state;
    uint8_t color[3] = { 0 };
    drawn(&(Caption){ .text = "Hi", .size = 0.5, .rgba = 0x20ff4080 }, color);
    CHECK(abs(color[0] - 16) <= 1 && abs(color[1] - 128) <= 1 && abs(color[2] - 32) <= 1, "half of each");
    Text long_text = { 0 };
    for (int i = 0; i < 5000; i++)
        text_add_string(&long_text, i % 50 ? "\xc3\xa9W" : "\n");
    drawn(&(Caption){ .text = long_text.data, .size = 0.05, .rgba = UINT32_MAX }, color);
    text_free(&long_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(where_words_stand),
                                        cmocka_unit_test(words_are_mixed_with_what_is_below) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
