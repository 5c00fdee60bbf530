#include "assets/image.h"

#include "base/file.h"
#include "support/support.h"

static const SourcePos nowhere;
static Worker *worker;

static int set_up(void **state)
{
    (void)state;
    worker = image_worker_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    worker_destroy(worker);
    return 0;
}

static void pictures_survive_the_round_trip(void **state)
{
    (void)state;
    enum { WIDTH = 37, HEIGHT = 21 };
    static uint8_t pixels[WIDTH * HEIGHT * 4];
    for (int i = 0; i < WIDTH * HEIGHT * 4; i++)
        pixels[i] = (uint8_t)(i * 7 + i / 11);
    static const int channels[] = { 1, 3, 4 };
    for (int c = 0; c < COUNT_OF(channels); c++) {
        Text png = { 0 };
        DiagSink *diags = diag_create();
        assert_true(image_encode_png(&(ImagePixels){ WIDTH, HEIGHT, channels[c], pixels, 0 }, &png));
        Image *image = image_from_bytes(worker, "x.png", png.data, png.length, NULL, diags, nowhere);
        assert_non_null(image);
        assert_int_equal(diag_count(diags), 0);
        CHECK(image->width == WIDTH && image->height == HEIGHT && !image->light, "size");
        CHECK(image->has_alpha == (channels[c] == 4), "alpha");
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            for (int k = 0; k < 4; k++) {
                int expected = channels[c] == 1  ? (k < 3 ? pixels[i] : 255)
                               : k < channels[c] ? pixels[channels[c] * i + k]
                                                 : 255;
                if (image->pixels[4 * i + k] != expected)
                    fail_msg("%d channels, pixel %d, channel %d: %d is not %d", channels[c], i, k,
                             image->pixels[4 * i + k], expected);
            }
        }
        image_destroy(image);
        // Cut short anywhere: an error or a picture, never a crash.
        for (size_t cut = 0; cut < png.length; cut += 5)
            image_destroy(image_from_bytes(worker, "cut.png", png.data, cut, NULL, diags, nowhere));
        text_free(&png);
        diag_destroy(diags);
    }
}

static void light_is_read(void **state)
{
    (void)state;
    // Shared exponent 129: the mantissas count as n / 256 * 2.
    static const uint8_t hdr[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n\x80\x40\x20\x81\x80\x40\x20\x82";
    DiagSink *diags = diag_create();
    Image *image = image_from_bytes(worker, "sky.hdr", hdr, sizeof hdr - 1, NULL, diags, nowhere);
    assert_non_null(image);
    assert_null(image->pixels);
    static const double expected[] = { 1.0, 0.5, 0.25, 2.0, 1.0, 0.5 };
    for (int i = 0; i < 6; i++)
        CHECK_NEAR((double)image->light[i], expected[i], 1e-6, "light");
    image_destroy(image);
    diag_destroy(diags);
}

static void sizes_hold_at_the_limit_and_one_past(void **state)
{
    (void)state;
    static uint8_t pixels[65 * 3];
    for (int width = 64; width <= 65; width++) {
        Text png = { 0 };
        assert_true(image_encode_png(&(ImagePixels){ width, 1, 3, pixels, 0 }, &png));
        Limits limits = limits_default;
        limits.image_side = 64;
        DiagSink *diags = diag_create();
        Image *image = image_from_bytes(worker, "x.png", png.data, png.length, &limits, diags, nowhere);
        assert_true((image != NULL) == (width == 64));
        CHECK(image || strstr(diag_at(diags, 0)->message, "above the limit"), "said");
        image_destroy(image);
        diag_destroy(diags);
        text_free(&png);
    }
    // A header that promises the largest picture there is, in 33 bytes.
    static const uint8_t bomb[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x06\0\0\0\0\0\0\0";
    DiagSink *diags = diag_create();
    assert_null(image_from_bytes(worker, "bomb.png", bomb, sizeof bomb - 1, NULL, diags, nowhere));
    assert_true(diag_has_errors(diags));
    diag_destroy(diags);
}

// A JPEG whose Huffman table claims 16 times 255 codes: libraries until 2023 write past their table, later ones may
// give grey.
static void broken_pictures_end_the_worker_at_most(void **state)
{
    (void)state;
    static uint8_t jpeg[4200] = "\xff\xd8\xff\xc0\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00\xff\xc4\x10\x03\x00";
    memset(jpeg + 20, 255, sizeof jpeg - 20);
    static const uint8_t good[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n\x80\x40\x20\x81\x80\x40\x20\x82";
    DiagSink *diags = diag_create();
    Image *image = image_from_bytes(worker, "broken.jpg", jpeg, sizeof jpeg, NULL, diags, nowhere);
    assert_true((image == NULL) == diag_has_errors(diags));
    image_destroy(image);
    image = image_from_bytes(worker, "good.hdr", good, sizeof good - 1, NULL, diags, nowhere);
    assert_non_null(image);
    image_destroy(image);
    diag_destroy(diags);
}

static void files_are_written_whole(void **state)
{
    (void)state;
    Arena *arena = arena_create();
    char *path = path_join(arena, support_scratch("image"), "out.png");
    static const uint8_t rows[2][8] = { { 1, 2, 3, 4, 5, 6, 99, 99 },
                                        { 7, 8, 9, 10, 11, 12, 99, 99 } };  // with padding
    DiagSink *diags = diag_create();
    assert_true(image_write_png(path, &(ImagePixels){ 2, 2, 3, rows, 8 }, diags));
    Image *image = image_read(NULL, path, NULL, diags, nowhere);
    assert_non_null(image);
    CHECK(image->pixels[4] == 4 && image->pixels[8] == 7 && image->pixels[12] == 10, "rows");
    image_destroy(image);
    assert_null(image_read(NULL, path_join(arena, path, "none.png"), NULL, diags, nowhere));
    assert_false(image_write_png(path_join(arena, path, "none.png"), &(ImagePixels){ 2, 2, 3, rows, 8 }, diags));
    diag_destroy(diags);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_survive_the_round_trip),
        cmocka_unit_test(light_is_read),
        cmocka_unit_test(sizes_hold_at_the_limit_and_one_past),
        cmocka_unit_test(broken_pictures_end_the_worker_at_most),
        cmocka_unit_test(files_are_written_whole),
    };
    return cmocka_run_group_tests_name("assets.image", tests, set_up, tear_down);
}
