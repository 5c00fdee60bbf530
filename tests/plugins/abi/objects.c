/* What every generated call takes its arguments from: a world of its own with one object of every kind. C and C++ at
 * once. */
#include <plugins/physics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dWorldID world;
static dSpaceID space, hash_space;
static dBodyID body, other;
static dJointGroupID group;
static dGeomID box, sphere, plane, capsule, cylinder, ray, mesh, convex, field, pool, wrapper;
static dFluidID fluid;
static dImmersionLinkGroupID links;
static dImmersionLinkID link;
static dMass mass;
static dMatrix3 unit, matrix;
static dReal numbers[64];
static int whole[64];
static dContact contact;
static dJointFeedback feedback;
static dImmersion immersion;
static dTriMeshDataID triangles;
static dHeightfieldDataID heights;
static dStopwatch watch;
static dJointID joints[8];
static FILE *nowhere;
static unsigned char *bytes;
static dVector3 unit_corner;
static dReal *rows[4] = { numbers, numbers, numbers, numbers };

/* A tetrahedron and a square of four heights. */
static const dReal corners[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
static const dReal long_corners[16] = { 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
static const float short_corners[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
static const dTriIndex faces[12] = { 0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2 };
static const double level[4] = { 0, 0, 0, 0 };
static const dReal sides[16] = {
    0,  0, -1, 0, 0, -1, 0, 0, 0.57735026918962576, 0.57735026918962576, 0.57735026918962576, 0.57735026918962576,
    -1, 0, 0,  0
};
static const unsigned int polygons[16] = { 3, 0, 2, 1, 3, 0, 1, 3, 3, 1, 2, 3, 3, 0, 3, 2 };

static void make_data(void)
{
    nowhere = fopen("/dev/null", "w");
    triangles = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildSimple(triangles, long_corners, 4, faces, 12);
    heights = dGeomHeightfieldDataCreate();
    dGeomHeightfieldDataBuildDouble(heights, level, 0, 1, 1, 2, 2, 1, 0, 1, 0);
}

static void make_geoms(void)
{
    space = dSimpleSpaceCreate(0);
    hash_space = dHashSpaceCreate(space);
    box = dCreateBox(space, 1, 1, 1);
    sphere = dCreateSphere(space, 1);
    plane = dCreatePlane(space, 0, 0, 1, 0);
    capsule = dCreateCapsule(space, 0.5, 1);
    cylinder = dCreateCylinder(space, 0.5, 1);
    ray = dCreateRay(space, 2);
    mesh = dCreateTriMesh(space, triangles, 0, 0, 0);
    convex = dCreateConvex(space, sides, 4, corners, 4, polygons);
    field = dCreateHeightfield(space, heights, 1);
    pool = dCreateBox(space, 5, 5, 5);
    wrapper = dCreateGeomTransform(space);
}

static void make(void)
{
    world = dWorldCreate();
    dWorldSetGravity(world, 0, 0, -9.81);
    make_geoms();
    group = dJointGroupCreate(0);
    body = dBodyCreate(world);
    other = dBodyCreate(world);
    dBodySetPosition(other, 1, 0, 0);
    dGeomSetBody(box, body);
    dGeomSetOffsetPosition(box, 0.1, 0, 0);
    dGeomSetBody(sphere, other);
    fluid = dFluidCreate(world);
    links = dImmersionLinkGroupCreate();
    dImmerse(box, pool, 0, &immersion.geom);
    link = dImmersionLinkCreate(world, 0, &immersion);
    dImmersionLinkAttach(link, body, fluid);
    dMassSetBox(&mass, 1, 1, 1, 1);
    dRSetIdentity(unit);
    dRSetIdentity(matrix);
    memset(whole, 0, sizeof whole);
    memset(&contact, 0, sizeof contact);
    contact.geom.normal[2] = 1;
    for (int i = 0; i < 64; i++)
        numbers[i] = 0.5;
}

/* What a call destroyed itself, its own line sets to 0. */
static void clear(void)
{
    if (link)
        dImmersionLinkDestroy(link);
    if (links)
        dImmersionLinkGroupDestroy(links);
    if (fluid)
        dFluidDestroy(fluid);
    if (group)
        dJointGroupDestroy(group);
    if (space)
        dSpaceDestroy(space);
    if (world)
        dWorldDestroy(world);
}

static dJointID between(dJointID joint)
{
    dJointAttach(joint, body, other);
    if (dJointGetType(joint) == dJointTypeAMotor)
        dJointSetAMotorNumAxes(joint, 3);
    if (dJointGetType(joint) == dJointTypeLMotor)
        dJointSetLMotorNumAxes(joint, 3);
    return joint;
}

static void near_callback(void *data, dGeomID a, dGeomID b) { (void)data, (void)a, (void)b; }
static dReal height_callback(void *data, int x, int z)
{
    (void)data, (void)x, (void)z;
    return 0;
}
