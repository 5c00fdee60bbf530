// drag.c - drag and viscous resistance of an immersed shape.
#include "physics/fluids/drag.h"

static Drag drag_by_area(const DragProperties *properties, double density, const Immersion *wet, Vec3 v, Vec3 w)
{
    double force = properties->drag_force.x, torque = properties->drag_torque.x;
    return (Drag){ vec3_scale(v, -density * force * wet->area * vec3_length(v)),
                   vec3_scale(w, -density * torque * wet->area * vec3_length(w)) };
}

static double squared(double value) { return value * fabs(value); }

// Axis by axis, in the frame of the shape.
static Drag drag_by_projection(const DragProperties *properties, double density, const Immersion *wet, Quat frame,
                               Vec3 v, Vec3 w)
{
    Vec3 c = properties->drag_force, t = properties->drag_torque;
    Vec3 a = wet->projected;
    v = quat_unrotate(frame, v);
    w = quat_unrotate(frame, w);
    Vec3 force = vec3(c.x * a.x * squared(v.x), c.y * a.y * squared(v.y), c.z * a.z * squared(v.z));
    Vec3 torque = vec3(t.x * (a.y + a.z) * squared(w.x), t.y * (a.x + a.z) * squared(w.y),
                       t.z * (a.x + a.y) * squared(w.z));
    return (Drag){ quat_rotate(frame, vec3_scale(force, -density)), quat_rotate(frame, vec3_scale(torque, -density)) };
}

// Without this bound a light body in a dense fluid would be thrown about.
static Vec3 bounded(Vec3 push, Vec3 motion, double inertia, double dt)
{
    double max = inertia * vec3_length(motion) / dt, length = vec3_length(push);
    return length > max && length > 0.0 ? vec3_scale(push, max / length) : push;
}

Drag drag_of(const DragProperties *properties, DragFluid fluid, const Immersion *wet, DragMotion motion)
{
    Vec3 v = motion.linear, w = motion.angular;
    Drag drag = properties->is_projected ? drag_by_projection(properties, fluid.density, wet, motion.frame, v, w)
                                         : drag_by_area(properties, fluid.density, wet, v, w);
    double share = wet->total_area > 0.0 ? wet->area / wet->total_area : 0.0;
    double viscous = share * fluid.viscosity;
    drag.force = vec3_mad(drag.force, v, -viscous * properties->viscous_force);
    drag.torque = vec3_mad(drag.torque, w, -viscous * properties->viscous_torque);
    drag.force = bounded(drag.force, v, motion.mass, motion.dt);
    drag.torque = bounded(drag.torque, w, motion.min_inertia, motion.dt);
    return drag;
}
