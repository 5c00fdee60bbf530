"""behaviour.py - the behaviour test in Python; see behaviour.c. What only Python has is asserted on the way."""
import math
import os
import struct

from controller import Camera, Display, Keyboard, Motion, Node, RangeFinder, Robot, Speaker, Supervisor

robot = Supervisor()


def say(label, *values):
    values = values[0] if len(values) == 1 and (isinstance(values[0], list) or values[0] is None) else values
    shown = ['none'] if values is None else ['nan' if math.isnan(value) else '%.17g' % value for value in values]
    print('say', label, *shown)


def steps(count):
    for _ in range(count):
        robot.step(32)


def weighed(values):
    return sum(float(value) * (i % 7 + 1) for i, value in enumerate(values) if not math.isinf(value)) if values is not None else -1



def size_of_file(name):
    return os.path.getsize(name) if os.path.exists(name) else -1


def pictures():
    camera = robot.getDevice('camera')
    camera.enable(32)
    camera.recognitionEnable(32)
    camera.enableRecognitionSegmentation()
    steps(3)
    width, height, image = camera.getWidth(), camera.getHeight(), camera.getImage()
    say('image', weighed(image))
    say('pixel', Camera.imageGetRed(image, width, 8, 4), Camera.imageGetGreen(image, width, 8, 4), Camera.imageGetBlue(image, width, 8, 4),
        Camera.imageGetGray(image, width, 8, 4), camera.imageGetGrey(image, width, 8, 4))
    array = camera.getImageArray()
    assert (len(array), len(array[0])) == (width, height)
    assert array[8][4] == [f(image, width, 8, 4) for f in (Camera.imageGetRed, Camera.imageGetGreen, Camera.imageGetBlue)]
    view = camera.getImage(data_type='memoryview')
    assert isinstance(image, bytes) and isinstance(view, memoryview) and view == image and camera.image == image
    segments = camera.getRecognitionSegmentationImage()
    say('segmentation', weighed(segments))
    assert camera.recognitionGetSegmentationImage() == segments == camera.segmentation_image
    pixels = camera.getRecognitionSegmentationImageArray()
    assert pixels == camera.recognitionGetSegmentationImageArray() and pixels[3][2][0] == Camera.imageGetRed(segments, width, 3, 2)
    seen, = camera.getRecognitionObjects()
    say('recognised', camera.getRecognitionNumberOfObjects(), seen.id, seen.number_of_colors, len(seen.model))
    say('recognised position', seen.getPosition())
    say('recognised orientation', seen.getOrientation())
    say('recognised size', seen.size)
    say('recognised colors', seen.colors)
    say('recognised on image', *seen.getPositionOnImage(), *seen.size_on_image)
    assert camera.recognitionGetObjects()[0].getModel() == seen.get_model() == 'red wall'
    camera.recognitionDisableSegmentation()
    camera.disableRecognitionSegmentation()
    camera.recognitionDisable()
    steps(1)
    say('recognition off', camera.isRecognitionSegmentationEnabled(), camera.getRecognitionSamplingPeriod())


def depths():
    lidar, finder, radar = (robot.getDevice(name) for name in ('lidar', 'range_finder', 'radar'))
    for device in (lidar, finder, radar):
        device.enable(32)
    lidar.enablePointCloud()
    steps(3)
    say('lidar', weighed(lidar.getRangeImage()), weighed(lidar.getLayerRangeImage(1)))
    assert lidar.getRangeImageArray()[1] == lidar.getLayerRangeImage(1) == lidar.range_image[32:]
    assert lidar.getRangeImage(data_type='buffer').tolist() == lidar.getRangeImage('list')
    point, other = lidar.getPointCloud()[40], lidar.getLayerPointCloud(1)[8]
    say('cloud', point.x, point.y, point.z, point.layer_id, point.time)
    say('layer cloud', other.x, other.y, other.z, other.layer, other.time)
    assert struct.unpack_from('fffif', lidar.getPointCloud(data_type='buffer'), 40 * 20)[:3] == (point.x, point.y, point.z)
    ranges = finder.getRangeImage()
    say('range finder', weighed(ranges), RangeFinder.rangeImageGetDepth(ranges, 8, 3, 2))
    assert finder.getRangeImageArray()[2][3] == ranges[19] and len(finder.range_image) == 32
    target = radar.getTargets()[0]
    say('radar', radar.getNumberOfTargets(), target.distance, target.receiver_power, target.speed, target.azimuth)
    lidar.disablePointCloud()
    for device in (lidar, finder, radar):
        device.disable()
    steps(1)
    say('depths off', lidar.isPointCloudEnabled(), lidar.getSamplingPeriod(), finder.sampling_period, radar.getSamplingPeriod())


def drawing():
    display = robot.getDevice('display')
    display.color = 0x2040ff
    display.drawPolygon([2, 12, 7], [2, 3, 12])
    display.fillPolygon([2, 12, 7], [2, 3, 12])
    image = display.imageNew(bytes([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9]), Display.RGB, 2, 2)
    display.imagePaste(image, 15, 5, False)
    copy = display.imageCopy(0, 0, 20, 14)
    display.imageSave(copy, 'copy.png')
    say('saved picture', size_of_file('copy.png'))
    loaded = display.imageLoad('copy.png')
    say('loaded picture', loaded is not None)
    display.imageDelete(image)
    display.imageDelete(copy)
    display.attachCamera(robot.getDevice('camera'))
    steps(1)
    display.detachCamera()


def packets():
    emitter, receiver = robot.getDevice('emitter'), robot.getDevice('receiver')
    receiver.enable(32)
    steps(2)
    say('send', emitter.send('hello'), emitter.send([1.5, -2.25]), emitter.send((3, 4, 500000)), emitter.send([True, False, True]))
    steps(4)
    say('queue', receiver.getQueueLength(), receiver.getDataSize(), receiver.getSignalStrength())
    say('direction', receiver.getEmitterDirection())
    say('text', receiver.getBytes()[1])
    assert receiver.getString() == receiver.string == 'hello' and receiver.getData() == receiver.data == b'hello'
    receiver.nextPacket()
    say('doubles', *receiver.getFloats())
    receiver.nextPacket()
    say('ints', *receiver.getInts())
    receiver.nextPacket()
    say('bools', *receiver.getBools())


def actuators():
    motor, lift, servo = robot.getDevice('motor'), robot.getDevice('lift'), robot.getServo('servo')
    sensor, height, touch = motor.getPositionSensor(), robot.getDevice('height'), robot.getDevice('touch3d')
    for device in (sensor, height, touch):
        device.enable(32)
    motor.enableTorqueFeedback(32)
    motor.setTorque(0.05)
    lift.setAvailableForce(60)
    lift.enableForceFeedback(32)
    lift.setPosition(0.1)
    servo.enablePosition(32)
    servo.enableMotorForceFeedback(32)
    servo.setForce(0.02)
    steps(6)
    say('motor', sensor.getValue(), motor.getTorqueFeedback())
    say('lift', height.getValue(), lift.getForceFeedback(), lift.getAvailableForce(), lift.getMaxForce(), lift.getForceFeedbackSamplingPeriod())
    say('servo', servo.getPosition(), servo.getMotorForceFeedback())
    say('touch', touch.getValues())
    lift.setForce(9.81)
    motor.disableTorqueFeedback()
    lift.disableForceFeedback()
    servo.disablePosition()
    servo.disableMotorForceFeedback()
    steps(2)
    say('feedback off', motor.getTorqueFeedbackSamplingPeriod(), lift.getForceFeedbackSamplingPeriod(), servo.getPositionSamplingPeriod(), height.value)


def others():
    connector, gripper, skin, speaker, microphone = (robot.getDevice(name) for name in ('connector', 'vacuum_gripper', 'skin', 'speaker', 'microphone'))
    connector.enablePresence(32)
    gripper.enablePresence(32)
    steps(1)
    connector.disablePresence()
    gripper.disablePresence()
    say('presence off', connector.getPresenceSamplingPeriod(), gripper.getPresenceSamplingPeriod())
    skin.setBoneOrientation(0, [0, 0, 1, 0.5], False)
    skin.setBonePosition(0, [0, 0, 1], False)
    say('bone orientation', skin.getBoneOrientation(0, False))
    say('bone position', skin.getBonePosition(0, False))
    Speaker.playSound(speaker, speaker, 'missing.wav', 1.0, 1.0, 0.0, False)
    say('speaking', speaker.isSpeaking())
    microphone.enable(32)
    steps(1)
    heard = microphone.getSampleData()
    say('microphone', microphone.getSampleSize(), heard[0] if heard else -1)


def person():
    keyboard, mouse, joystick = robot.getKeyboard(), robot.getMouse(), robot.getJoystick()
    keyboard.enable(32)
    mouse.enable(32)
    mouse.enable3dPosition()
    joystick.enable(32)
    steps(2)
    state = mouse.getState()
    say('keys', keyboard.getKey(), keyboard.getKey())
    say('mouse', state.left, state.middle, state.right, state.u, state.v, state.x, state.y, state.z)
    say('joystick', joystick.isConnected(), joystick.getAxisValue(1), joystick.getPressedButton())
    say('event', robot.waitForUserInputEvent(Robot.EVENT_KEYBOARD, 64))
    assert keyboard.get_key() == 'shift-Q' and keyboard.get_key() == '' and Keyboard.UP == 315
    keyboard.disable()
    mouse.disable3dPosition()
    mouse.disable()
    joystick.disable()
    robot.keyboardDisable()
    say('input off', keyboard.getSamplingPeriod(), mouse.getSamplingPeriod(), mouse.is3dPositionEnabled(), joystick.getSamplingPeriod())


def motions():
    motion, none = Motion('probe.motion'), Motion('missing.motion')
    say('motions', motion.isValid(), none.isValid(), motion.getDuration())
    motion.play()
    steps(12)
    say('played', motion.getTime(), robot.getDevice('motor').getTargetPosition())


def fields():
    ball, kinds = robot.getFromDef('BALL'), robot.getFromDef('KINDS')
    children, place, physics = robot.getRoot().getField('children'), ball.getField('translation'), ball.getField('physics')
    counts = kinds.getField('mfInt32')
    count = children.getCount()
    place.enableSFTracking(32)
    children.importMFNodeFromString(-1, 'DEF NEW Solid { translation 0 0 5 name "new" }')
    children.importMFNode(-1, 'thing.wbo')
    say('imported', children.getCount() - count)
    last = children.getMFNode(count)
    say('new place', last.getField('translation').getSFVec3f())
    children.removeMFNode(count + 1)
    last.remove()
    counts.removeMF(0)
    say('removed', children.getCount() - count, counts.getCount(), counts.getMFInt32(0))
    physics.removeSF()
    say('no physics', physics.getSFNode() is not None)
    physics.importSFNodeFromString('Physics { density -1 mass 2 }')
    say('physics', physics.getSFNode().getField('mass').getSFFloat())
    physics.removeSF()
    physics.importSFNode('physics.wbo')
    say('physics of a file', physics.getSFNode().getField('mass').value)
    steps(2)
    say('tracked', place.value)
    place.disableSFTracking()
    counts.value = [5, 6, 7]
    assert counts.value == [5, 6, 7] and counts.count == 3
    counts.value = [8]
    assert counts.value == [8] and kinds.getField('none such') is None


def nodes():
    self, ball, cube = robot.getSelf(), robot.getFromDef('BALL'), robot.getFromDef('CUBE')
    say('inner', robot.getFromDef('KINDS').getFromProtoDef('INNER').getPosition())
    say('same', robot.getFromId(ball.getId()) == ball, robot.getFromDevice(robot.getDevice('gps')).getId() > 0)
    assert Node(DEF='BALL') == ball and Node(tag=0) == self and robot.getFromDevice(robot.getDevice('gps').tag) is not None
    ball.enablePoseTracking(32, self)
    cube.enableContactPointsTracking(32)
    ball.saveState('before')
    ball.setVelocity([0, 0, 2, 0, 0, 1])
    ball.addForce([3, 0, 0], False)
    ball.addForceWithOffset([0, 2, 0], [0.01, 0, 0], True)
    ball.addTorque([0, 0.001, 0], False)
    steps(2)
    say('pose', ball.getPose(self))
    say('velocity', ball.getVelocity())
    points = cube.getContactPoints()
    say('contacts', len(points), *points[0].point, points[0].getNodeId() > 0)
    ball.disablePoseTracking(self)
    cube.disableContactPointsTracking()
    ball.loadState('before')
    ball.resetPhysics()
    robot.getFromDef('JOINT').setJointPosition(0.2)
    cube.setVisibility(self, False)
    cube.moveViewpoint()
    robot.getFromDef('ECHO').restartController()
    steps(1)
    say('loaded', ball.getPosition())


def world():
    robot.simulationSetMode(Supervisor.SIMULATION_MODE_FAST)
    say('saved world', robot.worldSave('saved.wbt'), robot.saveWorld('again.wbt'), size_of_file('saved.wbt') > 100)
    robot.animationStartRecording('film.html')
    robot.movieStartRecording('film.mp4', 64, 48, 0, 50, 1, False)
    steps(1)
    robot.movieStopRecording()
    robot.animationStopRecording()
    robot.startMovie('old.mp4', 64, 48, 0, 50, 1, False)
    robot.stopMovie()
    robot.setMode(Robot.MODE_SIMULATION, '')
    robot.batterySensorEnable(32)
    robot.batterySensorDisable()
    robot.pinToStaticEnvironment(False)
    say('step in parts', robot.stepBegin(32), robot.stepEnd(), robot.batterySensorGetSamplingPeriod())
    robot.simulationResetPhysics()
    robot.simulationPhysicsReset()
    steps(1)
    robot.simulationReset()
    steps(2)
    say('after the reset', robot.getFromDef('BALL').getPosition())


for part in (pictures, depths, drawing, packets, actuators, others, person, motions, fields, nodes, world):
    part()
say('done', 1)
robot.simulationQuit(0)
robot.step(32)
