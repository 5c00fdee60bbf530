// Every PROTO of the corpus is instanced with its defaults. What fails is listed with the reason, and the list may hold
// only files that are wrong themselves.
#include "formats/proto/proto.h"

#include "base/file.h"
#include "formats/formats.h"
#include "support/support.h"

// Files with mistakes of their own, by the end of their path.
static const struct {
    const char *file, *message;
} known[] = {
    { "SoccerField5v5.proto", "floorThickness IS 'wallThickness': the PROTO has no such parameter" },
    { "RobotinoConveyorBelt.proto", "model IS 'model': the PROTO has no such parameter" },
};

typedef struct Count {
    int files, made, failed, not_found;
} Count;

static bool is_known(const char *path, const char *message)
{
    // A PROTO of the days before headers were checked; it is read all the same.
    if (strstr(message, "the first line is not '#VRML_SIM"))
        return true;
    for (int i = 0; i < COUNT_OF(known); i++) {
        size_t length = strlen(path), ending = strlen(known[i].file);
        if (length > ending && !strcmp(path + length - ending, known[i].file) && strstr(message, known[i].message))
            return true;
    }
    return false;
}

// Protocol buffers have the same ending.
static bool is_proto_file(const char *path)
{
    FileData file;
    if (!file_read(path, 64u << 20, &file, NULL, (SourcePos){ 0 }))
        return false;
    bool is_proto = formats_detect(path, file.data, file.size) == FORMAT_PROTO;
    file_release(&file);
    return is_proto;
}

static void instance_one(const char *path, void *context)
{
    Count *count = context;
    if (!is_proto_file(path))
        return;
    count->files++;
    DiagSink *diags = diag_create();
    Scene *scene = formats_load(path, NULL, diags);
    const FieldList *children = scene ? scene_list(scene_root(scene), "children") : NULL;
    bool made = children && children->count == 1 && scene_list_node(children, 0);
    count->made += made;
    bool failed = !made;
    for (int i = 0; i < diag_count(diags); i++) {
        const Diagnostic *diagnostic = diag_at(diags, i);
        if (diagnostic->severity == DIAG_ERROR && !is_known(path, diagnostic->message))
            failed = true;
        count->not_found += strstr(diagnostic->message, "was not found") != NULL;
    }
    if (failed) {
        count->failed++;
        printf("%s\n", path);
        diag_print(diags, stdout, 0, DIAG_ERROR);
    }
    scene_destroy(scene);
    diag_destroy(diags);
}

static void every_proto_is_instanced(void **state)
{
    (void)state;
    if (!support_corpus())
        SUPPORT_SKIP("no corpus on this machine");
    Count count = { 0 };
    support_each_file(support_corpus(), ".proto", instance_one, &count);
    printf("%d PROTO files, %d instanced, %d names without a file\n", count.files, count.made, count.not_found);
    CHECK(count.files > 200, "the corpus has PROTO files");
    assert_int_equal(count.failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_proto_is_instanced) };
    return cmocka_run_group_tests_name("formats.proto_corpus", tests, NULL, NULL);
}
