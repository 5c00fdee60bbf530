"""The other robot of the behaviour test: it sends back what it hears."""
from controller import Robot

robot = Robot()
emitter, receiver = robot.getDevice('emitter'), robot.getDevice('receiver')
receiver.enable(32)
while robot.step(32) != -1:
    while receiver.getQueueLength() > 0:
        emitter.send(receiver.getBytes())
        receiver.nextPacket()
