// render_internal.h - what gathering (gather.c) hands to drawing (render.c).
#ifndef TALUS_VIEWER_RENDER_INTERNAL_H
#define TALUS_VIEWER_RENDER_INTERNAL_H

#include "formats/shape.h"
#include "viewer/render.h"

typedef struct Matrix { double m[16]; } Matrix;  // by columns, as OpenGL has it
Matrix matrix_identity(void);
Matrix matrix_mul(Matrix a, Matrix b);
Matrix matrix_from_pose(Pose pose);
double matrix_determinant(const Matrix *matrix);  // of the 3x3 part

typedef struct Look {
    float color[4];          // alpha 1: opaque
    float emissive[3], specular[3];
    float shininess;         // exponent
    const Image *image;      // NULL: none
    Matrix texture;          // of its coordinates
    bool repeats_s, repeats_t, is_smooth;
} Look;

typedef struct Drawable {
    Matrix matrix;           // to the world
    const Mesh *mesh;        // NULL: `lines`
    int first_triangle, triangle_count;
    const SceneNode *lines;  // IndexedLineSet or PointSet
    Look look;
} Drawable;

typedef struct DrawnLight { Vec3 direction; float color[3]; } DrawnLight;  // of its rays

enum { MOST_LIGHTS = 6 };
typedef struct DrawList {
    Drawable *items;
    int count, capacity;
    DrawnLight lights[MOST_LIGHTS];
    int light_count;
    float ambient;
    float sky[3];
    int visits;              // of nodes, bounded: USE inside USE multiplies
    bool is_cut;
} DrawList;

void draw_list_gather(DrawList *list, const ShapeSource *source);  // empties it first
void draw_list_free(DrawList *list);

#endif
