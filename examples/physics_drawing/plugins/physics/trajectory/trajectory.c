/* Draws the way of a ball as a line: in pass 1, over the scene. */
#include <GL/gl.h>
#include <plugins/physics.h>

#define MOST 4000

static dBodyID ball;
static float points[MOST][3];
static int count;

DLLEXPORT void webots_physics_init(void)
{
    ball = dWebotsGetBodyFromDEF("BALL");
    count = 0;
}

DLLEXPORT void webots_physics_step(void)
{
    if (!ball || count == MOST)
        return;
    const dReal *position = dBodyGetPosition(ball);
    for (int i = 0; i < 3; i++)
        points[count][i] = (float)position[i];
    count++;
}

DLLEXPORT void webots_physics_draw(int pass, const char *view)
{
    if (pass != 1 || view != NULL)
        return;
    glDisable(GL_LIGHTING);
    glLineWidth(3);
    glColor3f(1, 0, 0);
    glBegin(GL_LINE_STRIP);
    for (int i = 0; i < count; i++)
        glVertex3f(points[i][0], points[i][1], points[i][2]);
    glEnd();
}

DLLEXPORT void webots_physics_cleanup(void) { dWebotsConsolePrintf("%d points", count); }
