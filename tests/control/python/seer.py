from controller import AnsiCodes, Display, Field, Motion, Node, Supervisor

robot = Supervisor()
step = int(robot.getBasicTimeStep())

camera, lidar, finder, display = (robot.getDevice(name) for name in ('camera', 'lidar', 'range finder', 'display'))
assert (camera.getWidth(), camera.getHeight(), camera.width, camera.getNear()) == (32, 16, 32, 0.02)
picture = bytes(range(8))  # two pixels, BGRA
assert [f(picture, 2, 1, 0) for f in (camera.imageGetRed, camera.imageGetGreen, camera.imageGetBlue, camera.imageGetGray)] == [6, 5, 4, 5]
assert camera.imageGetGrey(picture, 2, 0, 0) == 1 and not camera.hasRecognition() and camera.recognitionGetObjects() == []
assert camera.getImage() is None and camera.getImageArray() is None  # nothing before the first picture
assert lidar.getNumberOfPoints() == 256
lidar.enablePointCloud()
assert lidar.isPointCloudEnabled() and finder.rangeImageGetDepth([1, 2, 3, 4], 2, 1, 1) == 4
for device in (camera, lidar, finder):
    device.enable(step)
robot.step(step)
assert len(lidar.getRangeImage()) == 256 and len(lidar.getLayerRangeImage(3)) == 64 and [len(row) for row in lidar.getRangeImageArray()] == [64] * 4
cloud = lidar.getPointCloud()
assert len(cloud) == 256 and cloud[255].layer_id == 3 and len(lidar.getLayerPointCloud(1)) == 64 and len(lidar.getPointCloud('buffer')) == 256 * 20
assert len(finder.getRangeImage()) == finder.getWidth() * finder.getHeight() and [len(row) for row in finder.getRangeImageArray()] == [finder.getWidth()] * finder.getHeight()
assert len(camera.getImage()) == 4 * 32 * 16 and len(camera.getImageArray()) == 32

display.setColor(0xff0000)
display.fillPolygon([0, 10, 0], [0, 0, 10])
display.drawPolygon([0, 10, 0], [0, 0, 10])
image = display.imageNew(bytes([0, 255, 0] * 4), Display.RGB, 2, 2)
display.imagePaste(image, 20, 20)
copy = display.imageCopy(0, 0, 40, 30)
display.imageSave(copy, 'copy.png')
assert display.imageLoad('copy.png') is not None and display.imageLoad('missing.png') is None
columns = display.imageNew([[[255, 0, 0], [0, 0, 255]]], Display.RGB)
display.imageSave(columns, 'columns.png')
for picture in (image, copy, columns):
    display.imageDelete(picture)

keyboard, mouse, joystick = robot.getKeyboard(), robot.getMouse(), robot.getJoystick()
for device in (keyboard, mouse, joystick):
    device.enable(step)
    assert device.getSamplingPeriod() == step
robot.step(step)
assert keyboard.getKey() == ord('Q') and keyboard.getKey() == -1 and keyboard.UP == robot.KEYBOARD_UP == 315
state = mouse.getState()
assert state.left and not state.right and (state.u, state.getV()) == (0.25, 0.5)
assert joystick.isConnected() and joystick.getModel() == 'stick' and joystick.getAxisValue(1) == 77 and joystick.getPressedButton() == 2

many = robot.getFromDef('MANY')
proto = many.getProto()
assert many.isProto() and proto.getTypeName() == 'Many' and not proto.isDerived() and proto.getProtoParent() is None and proto.getNumberOfFields() == 10
assert many.getType() == Node.SOLID and robot.getSelf().getType() == Node.ROBOT and Node.HINGE_JOINT and Node.GPS and Node.HINGE_2_JOINT
for name, kind, value, other in (('flags', Field.MF_BOOL, [True, False], False), ('counts', Field.MF_INT32, [1, 2], 7), ('weights', Field.MF_FLOAT, [0.5], 2.5),
                                 ('pairs', Field.MF_VEC2F, [[1, 2], [3, 4]], [5, 6]), ('places', Field.MF_VEC3F, [[1, 2, 3]], [4, 5, 6]),
                                 ('turns', Field.MF_ROTATION, [[0, 0, 1, 0.5]], [1, 0, 0, 2]), ('colors', Field.MF_COLOR, [[1, 0, 0]], [0, 1, 0]),
                                 ('words', Field.MF_STRING, ['a'], 'ü b')):
    field = many.getField(name)
    kind_name = field.getTypeName()[2:]
    assert field.getType() == kind and field.value == value, (name, field.value)
    getattr(field, 'insertMF' + kind_name)(-1, other)
    getattr(field, 'setMF' + kind_name)(0, other)
    assert field.value == [other] + value[1:] + [other], field.value
    field.removeMF(-1)
    assert field.getCount() == len(value)
assert many.getField('pair').getSFVec2f() == [1, 2] and many.getField('thing').getSFNode() is None
assert many.getBaseNodeField('translation') is not None and many.getBaseNodeFieldByIndex(0).getName() == 'translation'
many.enablePoseTracking(step)
many.enableContactPointsTracking(step)
robot.step(step)
assert many.getContactPoints() == [] and many.getPose()[15] == 1
many.disablePoseTracking()
many.disableContactPointsTracking()
assert not Motion('missing.motion').isValid() and AnsiCodes.RED_FOREGROUND.endswith('[31m')
assert '<link name="a_base_link"' in robot.getUrdf('a_') and robot.wwiReceiveText() is None
assert not robot.virtualRealityHeadsetIsUsed() and robot.movieIsReady()
assert sorted(robot.devices) == sorted(['camera', 'lidar', 'range finder', 'display', 'speaker'])
speaker = robot.getDevice('speaker')
speaker.playSound(speaker, speaker, 'beep.wav')
assert not speaker.isSpeaking()
speaker.speak('hello', 1.0)
robot.step(step)
assert speaker.isSpeaking() and not speaker.isSoundPlaying('beep.wav')  # there is no such file
print('PASS')
