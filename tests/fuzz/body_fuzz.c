// Any bytes as a body: read, turned into nodes, written, and read again; as a project, or as a table of materials.
#include "formats/body/body.h"

#include "memory_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Limits limits = limits_untrusted;
    limits.nodes = 20000;  // large enough for every kind of trouble, small enough for many runs
    limits.heightfield_cells = 10000;
    BodyOptions options = { .limits = &limits, .is_untrusted = true };
    DiagSink *diags = diag_create();
    bool is_project = size > 0 && data[0] == '!';  // the first byte chooses the reader
    if (is_project) {
        FormatsOptions formats = { .limits = &limits };
        scene_destroy(formats_load_text("fuzz.cnoid", (const char *)data + 1, size - 1, &formats, diags));
        diag_destroy(diags);
        return 0;
    }
    if (size > 0 && data[0] == '%') {
        MemoryFile file = memory_file_open(data + 1, size - 1);
        BodyMaterials *materials = body_materials_create();
        body_materials_load(materials, file.path, &limits, diags);
        assert(isfinite(body_materials_pair(materials, "Ground", "Ball").dynamic_friction));
        body_materials_destroy(materials);
        memory_file_close(&file);
        diag_destroy(diags);
        return 0;
    }
    static const char vrml[] = "#VRML V";  // a model of OpenHRP
    bool is_vrml = size > strlen(vrml) && !memcmp(data, vrml, strlen(vrml));
    BodyModel *model = body_load_text(is_vrml ? "fuzz.wrl" : "fuzz.body", (const char *)data, size, &options, diags);
    if (model) {
        Text text = { 0 };
        body_write_tree(model, &text);
        for (int kind = BODY_CSV_LINKS; kind <= BODY_CSV_SUMMARY; kind++)
            body_write_csv(model, (BodyCsv)kind, "fuzz", true, &text);
        text_clear(&text);
        Scene *scene = scene_create();
        SceneNode *robot = body_to_node(model, NULL, scene, diags);
        scene_list_insert_node(scene, scene_root(scene), "children", -1, robot);
        BodyModel *back = body_from_node(scene, robot, diags);
        body_destroy(back);
        scene_destroy(scene);
        body_write_yaml(model, NULL, &text);
        BodyModel *again = body_load_text("again.body", text.data, text.length, &options, diags);
        body_destroy(again);
        text_free(&text);
    }
    body_destroy(model);
    diag_destroy(diags);
    return 0;
}
