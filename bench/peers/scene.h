// Engine-neutral scene description shared by every peer benchmark.
// z is up, SI units, quaternions are w,x,y,z, shapes are centred on the body
// frame and every body frame is also its principal inertia frame.
#ifndef PEERS_SCENE_H
#define PEERS_SCENE_H
#ifdef __cplusplus
extern "C" {
#endif

enum { SH_NONE, SH_BOX, SH_SPHERE, SH_CAPSULE, SH_CYLINDER };
enum { JT_HINGE, JT_BALL, JT_FIXED };

typedef struct {
    int shape;
    double size[3];  // box: half extents; sphere: r; capsule/cylinder (along local z): r, half length
    double pos[3], quat[4];
    double mass, inertia[3];  // principal moments in the body frame
    int group;                // bodies with the same non-zero group do not collide
    int parent_joint;         // joint which has this body as its child, -1 if free
} Body;

typedef struct {
    int type, a, b;             // a = parent body (-1: world), b = child body
    double anchor[3], axis[3];  // world frame, initial configuration
    int limited;
    double lo, hi;
    int motor;
    double vel, fmax;
    double la[3], lb[3], xa[3], xb[3];  // anchor / axis in both local frames (filled by scene_finish)
} Joint;

typedef struct {
    double half[3], pos[3];
} StaticBox;

typedef struct {
    char name[64];
    Body *bodies;
    int nb;
    Joint *joints;
    int nj;
    StaticBox *boxes;
    int nsb;
    int plane;
    int gn;
    double gsize;  // terrain: gn*gn vertices over [-gsize/2,gsize/2]^2; 0 = none
    double *gz;    // gn*gn heights, row = y
    double gravity, mu;
    double sim_time;  // simulated seconds of the measured run
    int tree;         // articulated robots rather than loose bodies
    int check_energy, check_stand, check_drive, check_terrain;
} Scene;

Scene *scene_make(const char *name, int n);
void scene_free(Scene *);
double scene_terrain_height(const Scene *, double x, double y);

// what an engine adaptor must provide
typedef struct Engine Engine;
extern const char *eng_name;
extern const char *eng_variants;  // help text
Engine *eng_create(const Scene *, const char *variant, double dt);
void eng_step(Engine *);
void eng_state(Engine *, int body, double pos[3], double quat[4], double lin[3], double ang[3]);
int eng_contacts(Engine *);
// casts n rays; o and d are n*3, d has unit length, max range r; returns the number of hits, sum of distances in *sum
int eng_rays(Engine *, int n, const double *o, const double *d, double r, double *sum);
void eng_destroy(Engine *);

void q_rot(const double q[4], const double v[3], double r[3]);
void q_irot(const double q[4], const double v[3], double r[3]);
#ifdef __cplusplus
}
#endif
#endif
