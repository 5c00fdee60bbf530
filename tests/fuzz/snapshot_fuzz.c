// A snapshot file is read as bytes from a stranger: whatever they are, the world stays sound and can go on.
#include "base/diag.h"
#include "sim/sim.h"

#include <string.h>

static const char world_text[] =
    "#VRML_SIM R2025a utf8\n"
    "WorldInfo { basicTimeStep 8 }\n"
    "Viewpoint { }\n"
    "Solid { name \"floor\" boundingObject Plane { } }\n"
    "Solid { name \"a\" translation 0 0 0.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n"
    "Robot { name \"r\" translation 2 0 1 children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } device RotationalMotor { }\n"
    "  endPoint Solid { name \"e\" translation 0.2 0 0 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } } } ] }\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The first byte says where the rest of the input is laid over a snapshot that is right, so that the guards of magic
// and model do not hide what stands behind them; 255 takes the input as it is.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    DiagSink *diags = diag_create();
    Sim *sim = sim_load_text("fuzz.wbt", world_text, sizeof(world_text) - 1,
                             &(SimOptions){ .physics.nan_policy = PHYSICS_NAN_FREEZE }, diags);
    sim_step(sim);
    SimSnapshot snapshot = { 0 };
    sim_snapshot(sim, &snapshot);
    if (size > 0 && data[0] != 255) {
        size_t offset = snapshot.size * data[0] / 255, count = size - 1;
        if (count > snapshot.size - offset)
            count = snapshot.size - offset;
        memcpy((char *)snapshot.data + offset, data + 1, count);
        sim_restore(sim, &snapshot);
    } else if (size > 0) {
        SimSnapshot given = { (void *)(data + 1), size - 1, 0 };
        sim_restore(sim, &given);
    }
    for (int i = 0; i < 3; i++)
        sim_step(sim);
    sim_snapshot_free(&snapshot);
    sim_destroy(sim);
    diag_destroy(diags);
    return 0;
}
