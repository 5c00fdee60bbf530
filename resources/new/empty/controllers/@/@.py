"""@: the loop that every robot program is: wait for the next step, read sensors, command motors."""
from controller import Robot

robot = Robot()
step = int(robot.getBasicTimeStep())
print(f"{robot.getName()} starts")
while robot.step(step) != -1:
    pass  # Read sensors, command motors.
