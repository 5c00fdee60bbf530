"""Learns to throw a ball over a wall onto a mark. Nobody tells it about gravity: it varies its best throw at random, keeps what came closer,
and varies more after a success and less after a failure (a (1+1) evolution strategy with the one-fifth rule)."""
import math
import random

from controller import Supervisor

THROWS = 40
SPREAD_UP, SPREAD_DOWN = 1.5, 0.9  # 1.5 * 0.9**4 is about 1: the spread holds when one throw of five is better


class Thrower(Supervisor):
    def __init__(self):
        super().__init__()
        self.period = int(self.getBasicTimeStep())
        self.ball = self.getFromDef('BALL')
        self.place = self.ball.getField('translation')
        self.start = self.place.getSFVec3f()
        self.mark = self.getFromDef('MARK').getPosition()

    def throw(self, speed, angle):
        """Throws once and gives how far from the mark the ball first touches the ground."""
        self.place.setSFVec3f(self.start)
        self.ball.resetPhysics()
        self.ball.setVelocity([speed * math.cos(angle), 0, speed * math.sin(angle), 0, 0, 0])
        while self.step(self.period) != -1:
            x, y, z = self.ball.getPosition()
            if z < 0.06:
                return math.hypot(x - self.mark[0], y - self.mark[1])
        return None  # the simulation has ended


def learn(thrower):
    random.seed(7)
    best, spread = (3.0, 0.9), 0.6
    miss = thrower.throw(*best)
    for number in range(1, THROWS + 1):
        trial = (max(0.5, random.gauss(best[0], spread)), min(1.5, max(0.0, random.gauss(best[1], spread / 3))))
        far = thrower.throw(*trial)
        if far is None:
            return
        if far < miss:
            best, miss, spread = trial, far, spread * SPREAD_UP
        else:
            spread *= SPREAD_DOWN
        thrower.setLabel(0, 'throw %d: best miss %.3f m' % (number, miss), 0.02, 0.02, 0.08, 0x202020)
        if number % 10 == 0:
            print('throw %d: misses by %.3f m with %.2f m/s at %.1f degrees' % (number, miss, best[0], math.degrees(best[1])))


thrower = Thrower()
learn(thrower)
