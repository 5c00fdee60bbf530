#include "base/sha256.h"

#include "support/support.h"

static void digests_are_those_of_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int repeats;
        const char *hex;
    } cases[] = {
        { "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { "aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Sha256 sha;
        char hex[65];
        sha256_init(&sha);
        for (int k = 0; k < cases[i].repeats; k++)
            sha256_add(&sha, cases[i].text, strlen(cases[i].text));
        sha256_end(&sha, hex);
        CHECK(!strcmp(hex, cases[i].hex), cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(digests_are_those_of_the_standard) };
    return cmocka_run_group_tests_name("base.sha256", tests, NULL, NULL);
}
