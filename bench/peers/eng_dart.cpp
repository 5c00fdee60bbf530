// DART adaptor. variant: {dantzig|pgs}[,bullet|ode|fcl|native]
#include "scene.h"
#include <dart/dart.hpp>
#include <dart/collision/bullet/bullet.hpp>
#include <dart/collision/ode/ode.hpp>
#include <cstdio>
#include <cstring>
#include <unistd.h>
#include <vector>
using namespace dart::dynamics;
const char *eng_name = "dart";
const char *eng_variants = "{dantzig|pgs}[,bullet|ode|fcl|native]";
struct Engine {
    const Scene *s;
    dart::simulation::WorldPtr w;
    std::vector<BodyNode *> b;
};
static Eigen::Vector3d V(const double *p)
{
    return Eigen::Vector3d(p[0], p[1], p[2]);
}
static Eigen::Isometry3d T(const double *q, const Eigen::Vector3d &p)
{
    Eigen::Isometry3d t = Eigen::Isometry3d::Identity();
    t.linear() = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
    t.translation() = p;
    return t;
}
static void fixed(Engine *e, const ShapePtr &sh, const Eigen::Vector3d &p)
{
    auto sk = Skeleton::create();
    auto pr = sk->createJointAndBodyNodePair<WeldJoint>();
    auto *n = pr.second->createShapeNodeWith<CollisionAspect, DynamicsAspect>(sh);
    n->getDynamicsAspect()->setFrictionCoeff(1.0);
    n->getDynamicsAspect()->setRestitutionCoeff(0);
    Eigen::Isometry3d t = Eigen::Isometry3d::Identity();
    t.translation() = p;
    pr.first->setTransformFromParentBodyNode(t);
    sk->setMobile(false);
    e->w->addSkeleton(sk);
}
Engine *eng_create(const Scene *s, const char *variant, double dt)
{
    Engine *e = new Engine;
    e->s = s;
    e->w = dart::simulation::World::create();
    e->w->setTimeStep(dt);
    e->w->setGravity(Eigen::Vector3d(0, 0, s->gravity));
    std::unique_ptr<dart::constraint::BoxedLcpConstraintSolver> cs;
    if (strstr(variant, "pgs")) {
        auto pgs = std::make_shared<dart::constraint::PgsBoxedLcpSolver>();
        cs.reset(new dart::constraint::BoxedLcpConstraintSolver(pgs, nullptr));
    } else
        cs.reset(new dart::constraint::BoxedLcpConstraintSolver());
    if (strstr(variant, "bullet"))
        cs->setCollisionDetector(dart::collision::BulletCollisionDetector::create());
    else if (strstr(variant, "fcl"))
        cs->setCollisionDetector(dart::collision::FCLCollisionDetector::create());
    else if (strstr(variant, "native"))
        cs->setCollisionDetector(dart::collision::DARTCollisionDetector::create());
    else
        cs->setCollisionDetector(dart::collision::OdeCollisionDetector::create());
    e->w->setConstraintSolver(std::move(cs));
    e->w->getConstraintSolver()->getCollisionOption().maxNumContacts = 100000;

    if (s->plane)
        fixed(e, std::make_shared<PlaneShape>(Eigen::Vector3d::UnitZ(), 0.0), Eigen::Vector3d::Zero());
    for (int i = 0; i < s->nsb; i++)
        fixed(e, std::make_shared<BoxShape>(2 * V(s->boxes[i].half)), V(s->boxes[i].pos));
    if (s->gn) {
        char path[] = P_tmpdir "/peers-dart-XXXXXX.obj";
        int fd = mkstemps(path, 4);
        FILE *f = fdopen(fd, "w");
        int n = s->gn;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                fprintf(f, "v %.7f %.7f %.7f\n", (i / (n - 1.0) - .5) * s->gsize, (j / (n - 1.0) - .5) * s->gsize,
                        s->gz[j * n + i]);
        for (int j = 0; j < n - 1; j++)
            for (int i = 0; i < n - 1; i++) {
                int a = j * n + i + 1;
                fprintf(f, "f %d %d %d\nf %d %d %d\n", a, a + 1, a + n + 1, a, a + n + 1, a + n);
            }
        fclose(f);
        const aiScene *sc = MeshShape::loadMesh(path);
        unlink(path);
        if (!sc)
            return nullptr;
        fixed(e, std::make_shared<MeshShape>(Eigen::Vector3d::Ones(), sc), Eigen::Vector3d::Zero());
    }
    e->b.assign(s->nb, nullptr);
    std::vector<SkeletonPtr> todo;
    for (int i = 0; i < s->nb; i++) {
        const ::Body &b = s->bodies[i];
        BodyNode *n;
        if (b.parent_joint < 0) {
            auto sk = Skeleton::create("s" + std::to_string(i));
            auto pr = sk->createJointAndBodyNodePair<FreeJoint>(nullptr, FreeJoint::Properties(),
                                                                BodyNode::AspectProperties("b" + std::to_string(i)));
            n = pr.second;
            pr.first->setRelativeTransform(T(b.quat, V(b.pos)));
            todo.push_back(sk);
        } else {
            const ::Joint &j = s->joints[b.parent_joint];
            SkeletonPtr sk;
            BodyNode *pa = nullptr;
            double qi[4] = { 1, 0, 0, 0 };
            const double *qa = qi;
            if (j.a < 0) {
                sk = Skeleton::create("s" + std::to_string(i));
                todo.push_back(sk);
            } else {
                pa = e->b[j.a];
                sk = pa->getSkeleton();
                qa = s->bodies[j.a].quat;
            }
            RevoluteJoint::Properties p;
            p.mName = "j" + std::to_string(i);
            p.mAxis = V(j.xb);
            Eigen::Isometry3d tp = Eigen::Isometry3d::Identity(), tc = tp;
            tp.linear() = T(qa, V(j.la)).linear().transpose() * T(b.quat, V(j.lb)).linear();
            tp.translation() = V(j.la);
            tc.translation() = V(j.lb);
            p.mT_ParentBodyToJoint = tp;
            p.mT_ChildBodyToJoint = tc;
            auto pr = sk->createJointAndBodyNodePair<RevoluteJoint>(pa, p, BodyNode::AspectProperties("b" + std::to_string(i)));
            n = pr.second;
            if (j.limited) {
                pr.first->setLimitEnforcement(true);
                pr.first->setPositionLowerLimit(0, j.lo);
                pr.first->setPositionUpperLimit(0, j.hi);
            }
            if (j.motor) {
                pr.first->setActuatorType(dart::dynamics::Joint::SERVO);
                pr.first->setForceLowerLimit(0, -j.fmax);
                pr.first->setForceUpperLimit(0, j.fmax);
                pr.first->setCommand(0, j.vel);
            }
        }
        Inertia I;
        I.setMass(b.mass);
        I.setMoment(b.inertia[0], b.inertia[1], b.inertia[2], 0, 0, 0);
        n->setInertia(I);
        ShapePtr sh;
        switch (b.shape) {
        case SH_BOX: sh = std::make_shared<BoxShape>(2 * V(b.size)); break;
        case SH_SPHERE: sh = std::make_shared<SphereShape>(b.size[0]); break;
        case SH_CAPSULE: sh = std::make_shared<CapsuleShape>(b.size[0], 2 * b.size[1]); break;
        case SH_CYLINDER: sh = std::make_shared<CylinderShape>(b.size[0], 2 * b.size[1]); break;
        }
        if (sh) {
            auto *sn = n->createShapeNodeWith<CollisionAspect, DynamicsAspect>(sh);
            sn->getDynamicsAspect()->setFrictionCoeff(s->mu);
            sn->getDynamicsAspect()->setRestitutionCoeff(0);
        }
        e->b[i] = n;
    }
    for (auto &sk : todo)
        e->w->addSkeleton(sk);
    return e;
}
void eng_step(Engine *e)
{
    e->w->step(false);
}
void eng_state(Engine *e, int i, double p[3], double q[4], double v[3], double w[3])
{
    auto *n = e->b[i];
    const auto &t = n->getWorldTransform();
    Eigen::Quaterniond r(t.linear());
    Eigen::Vector3d lv = n->getCOMLinearVelocity(), av = n->getAngularVelocity();
    for (int k = 0; k < 3; k++) {
        p[k] = t.translation()[k];
        v[k] = lv[k];
        w[k] = av[k];
    }
    q[0] = r.w();
    q[1] = r.x();
    q[2] = r.y();
    q[3] = r.z();
}
int eng_contacts(Engine *e)
{
    return (int)e->w->getLastCollisionResult().getNumContacts();
}
int eng_rays(Engine *e, int n, const double *o, const double *d, double r, double *sum)
{
    auto det = e->w->getConstraintSolver()->getCollisionDetector();
    auto g = e->w->getConstraintSolver()->getCollisionGroup();
    int hits = 0;
    *sum = 0;
    dart::collision::RaycastOption op(false, true);
    dart::collision::RaycastResult res;
    for (int i = 0; i < n; i++) {
        res.clear();
        Eigen::Vector3d a = V(o + 3 * i), b = a + V(d + 3 * i) * r;
        if (g->raycast(a, b, op, &res)) {
            hits++;
            *sum += res.mRayHits[0].mFraction * r;
        }
    }
    return hits;
}
void eng_destroy(Engine *e)
{
    delete e;
}
