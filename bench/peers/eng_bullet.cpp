// Bullet adaptor. variant: {si|mb}[,mt][,it<n>]  si = maximal coordinates, mb = Featherstone btMultiBody
#include "scene.h"
#include <btBulletDynamicsCommon.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <BulletDynamics/Featherstone/btMultiBodyJointMotor.h>
#include <BulletDynamics/Featherstone/btMultiBodyJointLimitConstraint.h>
#include <BulletCollision/CollisionDispatch/btInternalEdgeUtility.h>
#include <BulletDynamics/Dynamics/btDiscreteDynamicsWorldMt.h>
#include <BulletCollision/CollisionDispatch/btCollisionDispatcherMt.h>
#include <BulletDynamics/ConstraintSolver/btSequentialImpulseConstraintSolverMt.h>
#include <LinearMath/btThreads.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#ifdef BT_USE_DOUBLE_PRECISION
const char *eng_name = "bullet64";
#else
const char *eng_name = "bullet32";
#endif
const char *eng_variants = "{si|mb}[,mt][,it<n>]";

struct Filter : btOverlapFilterCallback {
    bool needBroadphaseCollision(btBroadphaseProxy *a, btBroadphaseProxy *b) const override
    {
        if (!((a->m_collisionFilterGroup & b->m_collisionFilterMask) && (b->m_collisionFilterGroup & a->m_collisionFilterMask)))
            return false;
        int ga = ((btCollisionObject *)a->m_clientObject)->getUserIndex(),
            gb = ((btCollisionObject *)b->m_clientObject)->getUserIndex();
        return !(ga > 0 && ga == gb);
    }
};

struct LinkState {
    btTransform t;
    btVector3 v, w;
};
struct Engine {
    long steps = 0;
    std::map<btMultiBody *, std::pair<long, std::vector<LinkState>>> cache;
    // pose and velocity of every link in world coordinates, once per step and multibody
    std::vector<LinkState> &link_state(btMultiBody *m)
    {
        auto &c = cache[m];
        if (c.first == steps + 1)
            return c.second;
        c.first = steps + 1;
        c.second.resize(m->getNumLinks());
        for (int l = 0; l < m->getNumLinks(); l++) {
            const auto &k = m->getLink(l);
            int p = k.m_parent;
            btTransform tp = p < 0 ? m->getBaseWorldTransform() : c.second[p].t;
            btVector3 vp = p < 0 ? m->getBaseVel() : c.second[p].v, wp = p < 0 ? m->getBaseOmega() : c.second[p].w;
            btTransform rel(k.m_cachedRotParentToThis.inverse(),
                            quatRotate(k.m_cachedRotParentToThis.inverse(), k.m_cachedRVector));
            LinkState &o = c.second[l];
            o.t = tp * rel;
            btVector3 ax = o.t.getBasis() * k.getAxisTop(0), piv = o.t * btVector3(-k.m_dVector);
            btVector3 v = vp + wp.cross(piv - tp.getOrigin());
            o.w = wp + ax * m->getJointVel(l);
            o.v = v + o.w.cross(o.t.getOrigin() - piv);
        }
        return c.second;
    }
    const Scene *s;
    double dt;
    btDiscreteDynamicsWorld *w;
    btMultiBodyDynamicsWorld *mw;
    btCollisionDispatcher *disp;
    std::vector<btRigidBody *> rb;
    std::vector<btMultiBody *> mb;
    std::vector<int> link;
    Filter filter;
};
static btVector3 V(const double *p)
{
    return btVector3(p[0], p[1], p[2]);
}
static btQuaternion Q(const double *q)
{
    return btQuaternion(q[1], q[2], q[3], q[0]);
}

static btCollisionShape *shape(const Body &b)
{
    btCollisionShape *r = nullptr;
    switch (b.shape) {
    case SH_BOX: r = new btBoxShape(V(b.size)); break;
    case SH_SPHERE: return new btSphereShape(b.size[0]);
    case SH_CAPSULE: return new btCapsuleShapeZ(b.size[0], 2 * b.size[1]);
    case SH_CYLINDER: r = new btCylinderShapeZ(btVector3(b.size[0], b.size[0], b.size[1])); break;
    default: return new btEmptyShape();
    }
    r->setMargin(.005);
    return r;
}

static void add_static(Engine *e, btCollisionShape *sh, const btVector3 &p)
{
    btRigidBody::btRigidBodyConstructionInfo ci(0, nullptr, sh);
    ci.m_startWorldTransform.setIdentity();
    ci.m_startWorldTransform.setOrigin(p);
    ci.m_friction = 1;
    auto *b = new btRigidBody(ci);
    b->setUserIndex(0);
    e->w->addRigidBody(b, 2, 1);
}

Engine *eng_create(const Scene *s, const char *variant, double dt)
{
    Engine *e = new Engine;
    e->s = s;
    e->dt = dt;
    e->mw = nullptr;
    bool mb = strstr(variant, "mb"), mt = strstr(variant, "mt");
    if (mb && !s->tree)
        return nullptr;
    auto *cfg = new btDefaultCollisionConfiguration;
    auto *bp = new btDbvtBroadphase;
    if (mt) {
        btITaskScheduler *ts = btCreateDefaultTaskScheduler();
        if (!ts || mb)
            return nullptr;
        ts->setNumThreads(2);
        btSetTaskScheduler(ts);
        e->disp = new btCollisionDispatcherMt(cfg, 40);
        e->w = new btDiscreteDynamicsWorldMt(e->disp, bp, new btConstraintSolverPoolMt(2),
                                             new btSequentialImpulseConstraintSolverMt, cfg);
    } else {
        e->disp = new btCollisionDispatcher(cfg);
        if (mb)
            e->w = e->mw = new btMultiBodyDynamicsWorld(e->disp, bp, new btMultiBodyConstraintSolver, cfg);
        else
            e->w = new btDiscreteDynamicsWorld(e->disp, bp, new btSequentialImpulseConstraintSolver, cfg);
    }
    bp->getOverlappingPairCache()->setOverlapFilterCallback(&e->filter);
    e->w->setGravity(btVector3(0, 0, s->gravity));
    const char *it = strstr(variant, "it");
    e->w->getSolverInfo().m_numIterations = it ? atoi(it + 2) : 20;
    if (s->plane)
        add_static(e, new btStaticPlaneShape(btVector3(0, 0, 1), 0), btVector3(0, 0, 0));
    for (int i = 0; i < s->nsb; i++)
        add_static(e, new btBoxShape(V(s->boxes[i].half)), V(s->boxes[i].pos));
    if (s->gn) {
        int n = s->gn;
        auto *m = new btTriangleMesh(true, false);
        m->preallocateVertices(n * n);
        m->preallocateIndices(6 * (n - 1) * (n - 1));
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                m->findOrAddVertex(btVector3((i / (n - 1.0) - .5) * s->gsize, (j / (n - 1.0) - .5) * s->gsize, s->gz[j * n + i]),
                                   false);
        for (int j = 0; j < n - 1; j++)
            for (int i = 0; i < n - 1; i++) {
                int a = j * n + i;
                m->addTriangleIndices(a, a + 1, a + n + 1);
                m->addTriangleIndices(a, a + n + 1, a + n);
            }
        add_static(e, new btBvhTriangleMeshShape(m, true), btVector3(0, 0, 0));
    }
    e->rb.assign(s->nb, nullptr);
    e->mb.assign(s->nb, nullptr);
    e->link.assign(s->nb, -2);
    if (!mb) {
        for (int i = 0; i < s->nb; i++) {
            const Body &b = s->bodies[i];
            btRigidBody::btRigidBodyConstructionInfo ci(b.mass, nullptr, shape(b), V(b.inertia));
            ci.m_startWorldTransform = btTransform(Q(b.quat), V(b.pos));
            ci.m_friction = s->mu;
            auto *o = e->rb[i] = new btRigidBody(ci);
            o->setActivationState(DISABLE_DEACTIVATION);
            o->setUserIndex(b.group);
            if (b.shape)
                e->w->addRigidBody(o, 1, 3);
            else
                e->w->addRigidBody(o, 4, 0);
        }
        for (int i = 0; i < s->nj; i++) {
            const Joint &j = s->joints[i];
            if (j.type != JT_HINGE)
                return nullptr;
            btHingeConstraint *h;
            if (j.a < 0)
                h = new btHingeConstraint(*e->rb[j.b], V(j.lb), V(j.xb));
            else
                h = new btHingeConstraint(*e->rb[j.a], *e->rb[j.b], V(j.la), V(j.lb), V(j.xa), V(j.xb));
            if (j.limited)
                h->setLimit(j.lo, j.hi);
            if (j.motor)
                h->enableAngularMotor(true, -j.vel, j.fmax * dt) /* btHingeConstraint counts the angle the other way */;
            e->w->addConstraint(h, true);
        }
    } else {
        std::vector<int> root(s->nb), nl(s->nb, 0), base(s->nb, -1);
        for (int i = 0; i < s->nb; i++) { // bodies are listed parents first
            int pj = s->bodies[i].parent_joint;
            if (pj < 0) {
                root[i] = i;
                continue;
            }
            int a = s->joints[pj].a;
            root[i] = a < 0 ? i : root[a];
            nl[root[i]]++;
        }
        for (int i = 0; i < s->nb; i++) {
            const Body &b = s->bodies[i];
            int pj = b.parent_joint;
            if (root[i] == i) {
                bool fixed = pj >= 0;
                auto *m = new btMultiBody(nl[i], fixed ? 0 : b.mass, fixed ? btVector3(0, 0, 0) : V(b.inertia), fixed, false);
                m->setBaseWorldTransform(fixed ? btTransform::getIdentity() : btTransform(Q(b.quat), V(b.pos)));
                m->setLinearDamping(0);
                m->setAngularDamping(0);
                m->setUseGyroTerm(true);
                m->setHasSelfCollision(false);
                e->mb[i] = m;
                e->link[i] = -1;
                base[i] = 0;
            }
            auto *m = e->mb[root[i]];
            e->mb[i] = m;
            if (pj >= 0) {
                const Joint &j = s->joints[pj];
                int L = base[root[i]]++;
                e->link[i] = L;
                btQuaternion qp = j.a < 0 ? btQuaternion::getIdentity() : Q(s->bodies[j.a].quat);
                m->setupRevolute(L, b.mass, V(b.inertia), j.a < 0 ? -1 : e->link[j.a], Q(b.quat).inverse() * qp, V(j.xb), V(j.la),
                                 -V(j.lb), true);
            }
        }
        for (int i = 0; i < s->nb; i++) {
            if (root[i] == i) {
                auto *m = e->mb[i];
                m->finalizeMultiDof();
                m->setCanSleep(false);
                e->mw->addMultiBody(m);
                btAlignedObjectArray<btQuaternion> sq;
                btAlignedObjectArray<btVector3> sm;
                m->forwardKinematics(sq, sm);
            }
        }
        for (int i = 0; i < s->nb; i++) {
            const Body &b = s->bodies[i];
            auto *m = e->mb[i];
            if (b.shape) {
                auto *c = new btMultiBodyLinkCollider(m, e->link[i]);
                c->setCollisionShape(shape(b));
                c->setFriction(s->mu);
                c->setUserIndex(b.group);
                c->setWorldTransform(btTransform(Q(b.quat), V(b.pos)));
                e->w->addCollisionObject(c, 1, 3);
                if (e->link[i] < 0)
                    m->setBaseCollider(c);
                else
                    m->getLink(e->link[i]).m_collider = c;
            }
            if (b.parent_joint >= 0) {
                const Joint &j = s->joints[b.parent_joint];
                if (j.limited)
                    e->mw->addMultiBodyConstraint(new btMultiBodyJointLimitConstraint(m, e->link[i], j.lo, j.hi));
                if (j.motor)
                    e->mw->addMultiBodyConstraint(new btMultiBodyJointMotor(m, e->link[i], j.vel, j.fmax * dt));
            }
        }
    }
    return e;
}
void eng_step(Engine *e)
{
    e->w->stepSimulation(e->dt, 0);
    e->steps++;
}
void eng_state(Engine *e, int i, double p[3], double q[4], double v[3], double w[3])
{
    btTransform t;
    btVector3 lv, av;
    if (e->rb[i]) {
        t = e->rb[i]->getWorldTransform();
        lv = e->rb[i]->getLinearVelocity();
        av = e->rb[i]->getAngularVelocity();
    } else {
        auto *m = e->mb[i];
        int L = e->link[i];
        if (L < 0) {
            t = m->getBaseWorldTransform();
            lv = m->getBaseVel();
            av = m->getBaseOmega();
        } else {
            const LinkState &ls = e->link_state(m)[L];
            t = ls.t;
            lv = ls.v;
            av = ls.w;
        }
    }
    btQuaternion r = t.getRotation();
    for (int k = 0; k < 3; k++) {
        p[k] = t.getOrigin()[k];
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
    int n = 0;
    for (int i = 0; i < e->disp->getNumManifolds(); i++)
        n += e->disp->getManifoldByIndexInternal(i)->getNumContacts();
    return n;
}
int eng_rays(Engine *e, int n, const double *o, const double *d, double r, double *sum)
{
    int hits = 0;
    *sum = 0;
    for (int i = 0; i < n; i++) {
        btVector3 a = V(o + 3 * i), b = a + V(d + 3 * i) * r;
        btCollisionWorld::ClosestRayResultCallback cb(a, b);
        e->w->rayTest(a, b, cb);
        if (cb.hasHit()) {
            hits++;
            *sum += cb.m_closestHitFraction * r;
        }
    }
    return hits;
}
void eng_destroy(Engine *)
{
}
