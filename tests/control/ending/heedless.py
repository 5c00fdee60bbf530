# Ignores the end of the run: it is ended at its next step, and what Python holds of its file is written.
import sys
from controller import Robot

robot = Robot()
with open(sys.argv[1], 'w') as file:
    steps = 0
    while True:
        robot.step(16)
        steps += 1
        file.write('%d\n' % steps)
