"""Robot programs in Python: the classes and method names of Webots' `controller` module over libController.

Every method is one call of a C function. The tables below say which: a method `getFoo` of a class stands for
`<prefix>get_foo`, with the types of its arguments and result as letters:
  i int, d double, b bool, s text, v nothing, t device tag, 3/6/9/... so many doubles, p pointer.
Methods with results that need shaping are written out.
"""
import ctypes
import os
import re

__all__ = []

_TYPES = {'i': ctypes.c_int, 'd': ctypes.c_double, 'b': ctypes.c_bool, 's': ctypes.c_char_p, 'v': None, 't': ctypes.c_ushort,
          'p': ctypes.c_void_p, 'D': ctypes.POINTER(ctypes.c_double)}


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    tried = [os.path.join(folder, 'libController.so') for folder in
             (os.environ.get('TALUS_CONTROLLER_PATH', ''), os.path.join(here, '..', '..'), os.path.join(here, '..', '..', '..')) if folder]
    for path in tried:
        if os.path.exists(path):
            return ctypes.CDLL(path)
    return ctypes.CDLL('libController.so')


_lib = _load()


def _function(name, result, arguments):
    function = getattr(_lib, name)
    function.restype = _TYPES[result]
    function.argtypes = [_TYPES[letter] for letter in arguments]
    return function


def _call(name, result, arguments, *values):
    answer = _function(name, result, arguments)(*[value.encode() if isinstance(value, str) else value for value in values])
    if result == 's':
        return answer.decode(errors='replace') if answer is not None else ''
    return answer


def _doubles(name, count, arguments, *values):
    answer = _call(name, 'D', arguments, *values)
    return [answer[i] for i in range(count)] if answer else None


def _array(values, count):
    if len(values) != count:
        raise ValueError('%d numbers are wanted, not %d' % (count, len(values)))
    return (ctypes.c_double * count)(*values)


def _snake(name):
    return re.sub('([A-Z])', lambda match: '_' + match.group(1).lower(), name)


def _method(function, result, arguments):
    if result.isdigit():
        def method(self):
            return _doubles(function, int(result), 't', self._tag)
    else:
        def method(self, *values):
            if len(values) != len(arguments):
                raise TypeError('%d arguments are wanted, not %d' % (len(arguments), len(values)))
            return _call(function, result, 't' + arguments, self._tag, *values)
    return method


_ENABLE = 'enable:v:i disable:v: getSamplingPeriod:i:'


def _device(name, prefix, methods, constants=None):
    members = dict(constants or {})
    for row in methods.split():
        parts = row.split(':')
        function = parts[3] if len(parts) > 3 else prefix + _snake(parts[0])
        members[parts[0]] = _method(function, parts[1], parts[2])
    kind = type(name, (Device,), members)
    globals()[name] = kind
    __all__.append(name)
    return kind


class Device:
    def __init__(self, name_or_tag):
        self._tag = name_or_tag if isinstance(name_or_tag, int) else _call('wb_robot_get_device', 't', 's', name_or_tag)

    @property
    def tag(self):
        return self._tag

    def getName(self):
        return _call('wb_device_get_name', 's', 't', self._tag)

    def getModel(self):
        return _call('wb_device_get_model', 's', 't', self._tag)

    def getNodeType(self):
        return _call('wb_device_get_node_type', 'i', 't', self._tag)

    name = property(getName)
    model = property(getModel)

    def _table(self, prefix):
        size = _call(prefix + 'get_lookup_table_size', 'i', 't', self._tag)
        return _doubles(prefix + 'get_lookup_table', 3 * size, 't', self._tag) or []


def _add_lookup(kind, prefix):
    kind.getLookupTable = lambda self: self._table(prefix)


for _name, _prefix in (('Accelerometer', 'wb_accelerometer_'), ('Gyro', 'wb_gyro_'), ('Compass', 'wb_compass_')):
    _add_lookup(_device(_name, _prefix, _ENABLE + ' getValues:3:'), _prefix)
_device('Altimeter', 'wb_altimeter_', _ENABLE + ' getValue:d:')
_device('Brake', 'wb_brake_', 'setDampingConstant:v:d getType:i:')
_device('Connector', 'wb_connector_', 'enablePresence:v:i disablePresence:v: getPresenceSamplingPeriod:i: getPresence:i: isLocked:b: lock:v: unlock:v:')
_add_lookup(_device('DistanceSensor', 'wb_distance_sensor_', _ENABLE + ' getValue:d: getMaxValue:d: getMinValue:d: getAperture:d: getType:i:',
                    {'GENERIC': 0, 'INFRA_RED': 1, 'SONAR': 2, 'LASER': 3}), 'wb_distance_sensor_')
_device('GPS', 'wb_gps_', _ENABLE + ' getValues:3: getSpeed:d: getSpeedVector:3: getCoordinateSystem:i:', {'LOCAL': 0, 'WGS84': 1})
_device('InertialUnit', 'wb_inertial_unit_', _ENABLE + ' getRollPitchYaw:3: getQuaternion:4: getNoise:d:')
_device('LED', 'wb_led_', 'set:v:i get:i:')
_add_lookup(_device('LightSensor', 'wb_light_sensor_', _ENABLE + ' getValue:d:'), 'wb_light_sensor_')
_device('Motor', 'wb_motor_',
        'setPosition:v:d setVelocity:v:d setAcceleration:v:d setAvailableForce:v:d setAvailableTorque:v:d setControlPID:v:ddd:wb_motor_set_control_pid '
        'setForce:v:d setTorque:v:d getTargetPosition:d: getMinPosition:d: getMaxPosition:d: getVelocity:d: getMaxVelocity:d: getAcceleration:d: '
        'getAvailableForce:d: getAvailableTorque:d: getMaxForce:d: getMaxTorque:d: getMultiplier:d: enableForceFeedback:v:i disableForceFeedback:v: '
        'getForceFeedbackSamplingPeriod:i: getForceFeedback:d: enableTorqueFeedback:v:i disableTorqueFeedback:v: getTorqueFeedbackSamplingPeriod:i: '
        'getTorqueFeedback:d: getType:i:', {'ROTATIONAL': 0, 'LINEAR': 1})
_device('Pen', 'wb_pen_', 'write:v:b setInkColor:v:id')
_device('PositionSensor', 'wb_position_sensor_', _ENABLE + ' getValue:d: getType:i:', {'ROTATIONAL': 0, 'LINEAR': 1})
_device('Speaker', 'wb_speaker_', 'getEngine:s: getLanguage:s: isSpeaking:b: stop:v:s isSoundPlaying:b:s setEngine:b:s setLanguage:b:s speak:v:sd')
_device('Skin', 'wb_skin_', 'getBoneCount:i: getBoneName:s:i')
_add_lookup(_device('TouchSensor', 'wb_touch_sensor_', _ENABLE + ' getValue:d: getValues:3: getType:i:', {'BUMPER': 0, 'FORCE': 1, 'FORCE3D': 2}),
            'wb_touch_sensor_')
_device('VacuumGripper', 'wb_vacuum_gripper_',
        'enablePresence:v:i disablePresence:v: getPresenceSamplingPeriod:i: getPresence:b: isOn:b: turnOn:v: turnOff:v:')
_device('Radar', 'wb_radar_', _ENABLE + ' getMinRange:d: getMaxRange:d: getHorizontalFov:d: getVerticalFov:d: getNumberOfTargets:i:')
_device('RangeFinder', 'wb_range_finder_', _ENABLE + ' getWidth:i: getHeight:i: getFov:d: getMinRange:d: getMaxRange:d: saveImage:i:si')
_device('Lidar', 'wb_lidar_', _ENABLE + ' enablePointCloud:v: disablePointCloud:v: isPointCloudEnabled:b: getNumberOfPoints:i: getFrequency:d: '
        'setFrequency:v:d getHorizontalResolution:i: getNumberOfLayers:i: getMinFrequency:d: getMaxFrequency:d: getFov:d: getVerticalFov:d: '
        'getMinRange:d: getMaxRange:d:')
_device('Camera', 'wb_camera_', _ENABLE + ' getWidth:i: getHeight:i: getFov:d: getMinFov:d: getMaxFov:d: setFov:v:d getExposure:d: setExposure:v:d '
        'getFocalLength:d: getFocalDistance:d: getMinFocalDistance:d: getMaxFocalDistance:d: setFocalDistance:v:d getNear:d: saveImage:i:si '
        'hasRecognition:b: recognitionEnable:v:i recognitionDisable:v: recognitionGetSamplingPeriod:i: recognitionGetNumberOfObjects:i: '
        'recognitionHasSegmentation:b: recognitionEnableSegmentation:v: recognitionDisableSegmentation:v: recognitionIsSegmentationEnabled:b: '
        'recognitionSaveSegmentationImage:i:si')
_device('Display', 'wb_display_', 'getWidth:i: getHeight:i: setColor:v:i setAlpha:v:d setOpacity:v:d setFont:v:sib drawPixel:v:ii drawLine:v:iiii '
        'drawRectangle:v:iiii drawOval:v:iiii drawText:v:sii fillRectangle:v:iiii fillOval:v:iiii',
        {'RGB': 3, 'RGBA': 4, 'ARGB': 5, 'BGRA': 6, 'ABGR': 7})
_device('Emitter', 'wb_emitter_', 'setChannel:v:i getChannel:i: setRange:v:d getRange:d: getBufferSize:i:', {'CHANNEL_BROADCAST': -1})
_device('Receiver', 'wb_receiver_', _ENABLE + ' getQueueLength:i: nextPacket:v: getDataSize:i: getSignalStrength:d: getEmitterDirection:3: '
        'setChannel:v:i getChannel:i:', {'CHANNEL_BROADCAST': -1})

# What takes or gives bytes, images or other devices.


def _send(self, data):
    data = data.encode() if isinstance(data, str) else bytes(data)
    return _function('wb_emitter_send', 'i', 'tsi')(self._tag, data, len(data))


Emitter.send = _send  # noqa: F821


def _get_bytes(self):
    data = _call('wb_receiver_get_data', 'p', 't', self._tag)
    return ctypes.string_at(data, self.getDataSize()) if data else None


Receiver.getBytes = _get_bytes  # noqa: F821
Receiver.getData = _get_bytes  # noqa: F821


def _numbers(kind):
    def method(self):
        data = _get_bytes(self) or b''
        return list((kind * (len(data) // ctypes.sizeof(kind))).from_buffer_copy(data[:len(data) // ctypes.sizeof(kind) * ctypes.sizeof(kind)]))
    return method


Receiver.getInts = _numbers(ctypes.c_int)  # noqa: F821
Receiver.getFloats = _numbers(ctypes.c_double)  # noqa: F821
GPS.convertToDegreesMinutesSeconds = staticmethod(  # noqa: F821
    lambda degrees: _call('wb_gps_convert_to_degrees_minutes_seconds', 's', 'd', degrees))
Speaker.playSound = staticmethod(  # noqa: F821
    lambda left, right, sound, volume=1.0, pitch=1.0, balance=0.0, loop=False:
    _call('wb_speaker_play_sound', 'v', 'ttsdddb', left._tag, right._tag, sound, volume, pitch, balance, loop))
Skin.getBonePosition = lambda self, index, absolute: _doubles('wb_skin_get_bone_position', 3, 'tib', self._tag, index, absolute)  # noqa: F821
Skin.getBoneOrientation = lambda self, index, absolute: _doubles('wb_skin_get_bone_orientation', 4, 'tib', self._tag, index, absolute)  # noqa: F821
Skin.setBonePosition = lambda self, index, position, absolute: _call(  # noqa: F821
    'wb_skin_set_bone_position', 'v', 'tiDb', self._tag, index, _array(position, 3), absolute)
Skin.setBoneOrientation = lambda self, index, orientation, absolute: _call(  # noqa: F821
    'wb_skin_set_bone_orientation', 'v', 'tiDb', self._tag, index, _array(orientation, 4), absolute)
Receiver.getString = lambda self: (_get_bytes(self) or b'').split(b'\0')[0].decode(errors='replace')  # noqa: F821


class RadarTarget(ctypes.Structure):
    _fields_ = [('distance', ctypes.c_double), ('received_power', ctypes.c_double), ('speed', ctypes.c_double), ('azimuth', ctypes.c_double)]


def _targets(self):
    data = _call('wb_radar_get_targets', 'p', 't', self._tag)
    return list(ctypes.cast(data, ctypes.POINTER(RadarTarget))[:self.getNumberOfTargets()]) if data else []


Radar.getTargets = _targets  # noqa: F821


def _other(function):
    def method(self):
        tag = _call(function, 't', 't', self._tag)
        return Robot._instance._by_tag(tag) if tag else None
    return method


Motor.getPositionSensor = _other('wb_motor_get_position_sensor')  # noqa: F821
Motor.getBrake = _other('wb_motor_get_brake')  # noqa: F821
PositionSensor.getMotor = _other('wb_position_sensor_get_motor')  # noqa: F821
PositionSensor.getBrake = _other('wb_position_sensor_get_brake')  # noqa: F821
Brake.getMotor = _other('wb_brake_get_motor')  # noqa: F821
Brake.getPositionSensor = _other('wb_brake_get_position_sensor')  # noqa: F821

# By the name of the node type.
_KINDS = {'Accelerometer': 'Accelerometer', 'RotationalMotor': 'Motor', 'LinearMotor': 'Motor'}


from controller._images import CameraRecognitionObject, ImageRef, LidarPoint  # noqa: E402
from controller._input import AnsiCodes, Joystick, Keyboard, Motion, Mouse, MouseState  # noqa: E402

# Properties: motor.position_sensor, sensor.value and the like, as newer programs write.
for _kind in [globals()[_name] for _name in __all__]:
    for _name in [_name for _name in dir(_kind) if _name.startswith('get') and _name not in ('getName', 'getModel')]:
        _property = _snake(_name[3:]).lstrip('_')
        if not hasattr(_kind, _property):
            setattr(_kind, _property, property(getattr(_kind, _name)))


class Robot:
    EVENT_QUIT, EVENT_NO_EVENT, EVENT_MOUSE_CLICK, EVENT_MOUSE_MOVE, EVENT_KEYBOARD = -1, 0, 1, 2, 4
    EVENT_JOYSTICK_BUTTON, EVENT_JOYSTICK_AXIS, EVENT_JOYSTICK_POV = 8, 16, 32
    MODE_SIMULATION, MODE_CROSS_COMPILATION, MODE_REMOTE_CONTROL = 0, 1, 2
    _instance = None
    created = False

    def __init__(self):
        if Robot._instance is not None and Robot._instance is not self:
            raise RuntimeError('only one Robot can be made in a program')
        Robot._instance = self
        Robot.created = True
        _call('wb_robot_init', 'i', '')
        self._devices = {}
        self.keyboard, self.mouse, self.joystick = Keyboard(), Mouse(), Joystick()

    def __del__(self):
        if Robot._instance is self:
            _call('wb_robot_cleanup', 'v', '')

    def step(self, duration=None):
        return _call('wb_robot_step', 'i', 'i', int(self.getBasicTimeStep() if duration is None else duration))

    def stepBegin(self, duration):
        return _call('wb_robot_step_begin', 'i', 'i', int(duration))

    def stepEnd(self):
        return _call('wb_robot_step_end', 'i', '')

    def _by_tag(self, tag):
        if tag not in self._devices:
            kind = _call('wb_node_get_name', 's', 'i', _call('wb_device_get_node_type', 'i', 't', tag))
            self._devices[tag] = globals().get(_KINDS.get(kind, kind), Device)(tag)
        return self._devices[tag]

    def getDevice(self, name):
        tag = _call('wb_robot_get_device', 't', 's', name)
        return self._by_tag(tag) if tag else None

    def getDeviceByIndex(self, index):
        tag = _call('wb_robot_get_device_by_index', 't', 'i', index)
        return self._by_tag(tag) if tag else None

    @property
    def devices(self):
        return {device.getName(): device for device in map(self.getDeviceByIndex, range(self.getNumberOfDevices()))}

    def wwiReceiveText(self):
        text = _function('wb_robot_wwi_receive_text', 's', '')()
        return text.decode(errors='replace') if text is not None else None

    def getUrdf(self, prefix=''):
        return _call('wb_robot_get_urdf', 's', 's', prefix)

    def getKeyboard(self):
        return self.keyboard

    def getMouse(self):
        return self.mouse

    def getJoystick(self):
        return self.joystick


def _robot(rows):
    for row in rows.split():
        parts = row.split(':')
        function = parts[3] if len(parts) > 3 else 'wb_robot_' + _snake(parts[0])

        def method(self, *values, _function=function, _result=parts[1], _arguments=parts[2]):
            return _call(_function, _result, _arguments, *values)
        setattr(Robot, parts[0], method)
        if parts[0].startswith('get') and not parts[2]:
            setattr(Robot, _snake(parts[0][3:]).lstrip('_'), property(method))


_robot('getName:s: getModel:s: getTime:d: getBasicTimeStep:d: getCustomData:s: setCustomData:v:s getMode:i: setMode:v:is getProjectPath:s: '
       'getWorldPath:s: getSupervisor:b: getSynchronization:b: getNumberOfDevices:i: batterySensorEnable:v:i batterySensorDisable:v: '
       'batterySensorGetSamplingPeriod:i: batterySensorGetValue:d: wwiSendText:v:s '
       'getControllerName:s: getControllerArguments:s: getType:i: waitForUserInputEvent:i:ii pinToStaticEnvironment:v:b '
       'getData:s::wb_robot_get_custom_data setData:v:s:wb_robot_set_custom_data')

for _name in ('Accelerometer', 'Altimeter', 'Brake', 'Camera', 'Compass', 'Connector', 'Display', 'DistanceSensor', 'Emitter', 'GPS', 'Gyro',
              'InertialUnit', 'LED', 'Lidar', 'LightSensor', 'Motor', 'Pen', 'PositionSensor', 'Radar', 'RangeFinder', 'Receiver', 'Skin',
              'Speaker', 'TouchSensor', 'VacuumGripper', 'Servo'):
    setattr(Robot, 'get' + _name, Robot.getDevice)  # as programs before 2020 ask


class Field:
    NO_FIELD, SF_BOOL, SF_INT32, SF_FLOAT, SF_VEC2F, SF_VEC3F, SF_ROTATION, SF_COLOR, SF_STRING, SF_NODE = range(10)
    MF, MF_BOOL, MF_INT32, MF_FLOAT, MF_VEC2F, MF_VEC3F, MF_ROTATION, MF_COLOR, MF_STRING, MF_NODE = range(0x10, 0x1a)

    def __init__(self, reference):
        self._ref = reference

    def getName(self):
        return _call('wb_supervisor_field_get_name', 's', 'p', self._ref)

    def getType(self):
        return _call('wb_supervisor_field_get_type', 'i', 'p', self._ref)

    def getTypeName(self):
        return _call('wb_supervisor_field_get_type_name', 's', 'p', self._ref)

    def getCount(self):
        return _call('wb_supervisor_field_get_count', 'i', 'p', self._ref)

    def removeMF(self, index):
        _call('wb_supervisor_field_remove_mf', 'v', 'pi', self._ref, index)

    def removeSF(self):
        _call('wb_supervisor_field_remove_sf', 'v', 'p', self._ref)

    def importMFNodeFromString(self, position, text):
        _call('wb_supervisor_field_import_mf_node_from_string', 'v', 'pis', self._ref, position, text)

    def importSFNodeFromString(self, text):
        _call('wb_supervisor_field_import_sf_node_from_string', 'v', 'ps', self._ref, text)

    def importMFNode(self, position, file):
        _call('wb_supervisor_field_import_mf_node', 'v', 'pis', self._ref, position, file)

    def importSFNode(self, file):
        _call('wb_supervisor_field_import_sf_node', 'v', 'ps', self._ref, file)

    def getActualField(self):
        reference = _call('wb_supervisor_field_get_actual_field', 'p', 'p', self._ref)
        return Field(reference) if reference else None

    removeMFNode = removeMF

    def getSFNode(self):
        return Node._of(_call('wb_supervisor_field_get_sf_node', 'p', 'p', self._ref))

    def getMFNode(self, index):
        return Node._of(_call('wb_supervisor_field_get_mf_node', 'p', 'pi', self._ref, index))

    def enableSFTracking(self, period):
        _call('wb_supervisor_field_enable_sf_tracking', 'v', 'pi', self._ref, period)

    def disableSFTracking(self):
        _call('wb_supervisor_field_disable_sf_tracking', 'v', 'p', self._ref)

    def _kind(self):
        kind = self.getType()
        return kind & 0xf, bool(kind & 0x10)

    @property
    def value(self):
        kind, is_list = self._kind()
        if is_list:
            getter = getattr(self, 'getMF' + _FIELD_KINDS[kind][0])
            return [getter(i) for i in range(self.getCount())]
        return getattr(self, 'getSF' + _FIELD_KINDS[kind][0])() if kind in _FIELD_KINDS else None

    @value.setter
    def value(self, value):
        kind, is_list = self._kind()
        if is_list:
            for i, item in enumerate(value):
                getattr(self, 'setMF' + _FIELD_KINDS[kind][0])(i, item)
        else:
            getattr(self, 'setSF' + _FIELD_KINDS[kind][0])(value)

    name = property(getName)
    type = property(getType)
    type_name = property(getTypeName)
    count = property(getCount)


_FIELD_KINDS = {1: ('Bool', 'bool', 'b'), 2: ('Int32', 'int32', 'i'), 3: ('Float', 'float', 'd'), 4: ('Vec2f', 'vec2f', 2), 5: ('Vec3f', 'vec3f', 3),
                6: ('Rotation', 'rotation', 4), 7: ('Color', 'color', 3), 8: ('String', 'string', 's'), 9: ('Node', 'node', 'p')}


def _add_field_methods(name, c_name, kind):
    def shaped(function, arguments, *values):
        return _doubles(function, kind, arguments, *values) if isinstance(kind, int) else _call(function, kind, arguments, *values)

    def given(value):
        return _array(value, kind) if isinstance(kind, int) else value
    letter = 'D' if isinstance(kind, int) else kind
    base = 'wb_supervisor_field_'
    setattr(Field, 'getSF' + name, lambda self: shaped(base + 'get_sf_' + c_name, 'p', self._ref))
    setattr(Field, 'setSF' + name, lambda self, value: _call(base + 'set_sf_' + c_name, 'v', 'p' + letter, self._ref, given(value)))
    setattr(Field, 'getMF' + name, lambda self, index: shaped(base + 'get_mf_' + c_name, 'pi', self._ref, index))
    setattr(Field, 'setMF' + name, lambda self, index, value: _call(base + 'set_mf_' + c_name, 'v', 'pi' + letter, self._ref, index, given(value)))
    setattr(Field, 'insertMF' + name,
            lambda self, index, value: _call(base + 'insert_mf_' + c_name, 'v', 'pi' + letter, self._ref, index, given(value)))


for _row in list(_FIELD_KINDS.values())[:8]:
    _add_field_methods(*_row)


class ContactPoint(ctypes.Structure):
    _fields_ = [('_point', ctypes.c_double * 3), ('node_id', ctypes.c_int)]

    @property
    def point(self):
        return list(self._point)

    def getPoint(self):
        return self.point

    def getNodeId(self):
        return self.node_id


class Node:
    def __init__(self, reference):
        self._ref = reference

    @staticmethod
    def _of(reference):
        return Node(reference) if reference else None

    def __eq__(self, other):
        return isinstance(other, Node) and self._ref == other._ref

    def __hash__(self):
        return hash(self._ref)

    def getField(self, name):
        reference = _call('wb_supervisor_node_get_field', 'p', 'ps', self._ref, name)
        return Field(reference) if reference else None

    def getFieldByIndex(self, index):
        reference = _call('wb_supervisor_node_get_field_by_index', 'p', 'pi', self._ref, index)
        return Field(reference) if reference else None

    def getBaseNodeField(self, name):
        reference = _call('wb_supervisor_node_get_base_node_field', 'p', 'ps', self._ref, name)
        return Field(reference) if reference else None

    def getBaseNodeFieldByIndex(self, index):
        reference = _call('wb_supervisor_node_get_base_node_field_by_index', 'p', 'pi', self._ref, index)
        return Field(reference) if reference else None

    getProtoField, getProtoFieldByIndex = getBaseNodeField, getBaseNodeFieldByIndex

    def getProto(self):
        return Proto._of(_call('wb_supervisor_node_get_proto', 'p', 'p', self._ref))

    def enablePoseTracking(self, period, from_node=None):
        _call('wb_supervisor_node_enable_pose_tracking', 'v', 'pip', self._ref, period, from_node._ref if from_node else None)

    def disablePoseTracking(self, from_node=None):
        _call('wb_supervisor_node_disable_pose_tracking', 'v', 'pp', self._ref, from_node._ref if from_node else None)

    def enableContactPointsTracking(self, period, includeDescendants=False):
        _call('wb_supervisor_node_enable_contact_points_tracking', 'v', 'pib', self._ref, period, includeDescendants)

    def disableContactPointsTracking(self, includeDescendants=False):
        _call('wb_supervisor_node_disable_contact_points_tracking', 'v', 'p', self._ref)

    enableContactPointTracking, disableContactPointTracking = enableContactPointsTracking, disableContactPointsTracking

    def setVisibility(self, from_node, visible):
        _call('wb_supervisor_node_set_visibility', 'v', 'ppb', self._ref, from_node._ref, visible)

    def getParentNode(self):
        return Node._of(_call('wb_supervisor_node_get_parent_node', 'p', 'p', self._ref))

    def getFromProtoDef(self, name):
        return Node._of(_call('wb_supervisor_node_get_from_proto_def', 'p', 'ps', self._ref, name))

    def getPosition(self):
        return _doubles('wb_supervisor_node_get_position', 3, 'p', self._ref)

    def getOrientation(self):
        return _doubles('wb_supervisor_node_get_orientation', 9, 'p', self._ref)

    def getPose(self, from_node=None):
        return _doubles('wb_supervisor_node_get_pose', 16, 'pp', self._ref, from_node._ref if from_node else None)

    def getVelocity(self):
        return _doubles('wb_supervisor_node_get_velocity', 6, 'p', self._ref)

    def setVelocity(self, velocity):
        _call('wb_supervisor_node_set_velocity', 'v', 'pD', self._ref, _array(velocity, 6))

    def getCenterOfMass(self):
        return _doubles('wb_supervisor_node_get_center_of_mass', 3, 'p', self._ref)

    def addForce(self, force, relative=False):
        _call('wb_supervisor_node_add_force', 'v', 'pDb', self._ref, _array(force, 3), relative)

    def addForceWithOffset(self, force, offset, relative=False):
        _call('wb_supervisor_node_add_force_with_offset', 'v', 'pDDb', self._ref, _array(force, 3), _array(offset, 3), relative)

    def addTorque(self, torque, relative=False):
        _call('wb_supervisor_node_add_torque', 'v', 'pDb', self._ref, _array(torque, 3), relative)

    def getContactPoints(self, includeDescendants=False):
        count = ctypes.c_int()
        function = _lib.wb_supervisor_node_get_contact_points
        function.restype = ctypes.POINTER(ContactPoint)
        function.argtypes = [ctypes.c_void_p, ctypes.c_bool, ctypes.POINTER(ctypes.c_int)]
        points = function(self._ref, includeDescendants, ctypes.byref(count))
        return [points[i] for i in range(count.value)]

    def getNumberOfContactPoints(self, includeDescendants=False):
        return len(self.getContactPoints(includeDescendants))

    def getContactPoint(self, index):
        return _doubles('wb_supervisor_node_get_contact_point', 3, 'pi', self._ref, index)

    def getContactPointNode(self, index):
        return Node._of(_call('wb_supervisor_node_get_contact_point_node', 'p', 'pi', self._ref, index))


def _node(rows):
    for row in rows.split():
        name, result, arguments = row.split(':')

        def method(self, *values, _function='wb_supervisor_node_' + _snake(name), _result=result, _arguments='p' + arguments):
            return _call(_function, _result, _arguments, self._ref, *values)
        setattr(Node, name, method)


_node('getId:i: getType:i: getTypeName:s: getBaseTypeName:s: getDef:s: isProto:b: getNumberOfFields:i: getNumberOfBaseNodeFields:i: remove:v: '
      'saveState:v:s loadState:v:s setJointPosition:v:di exportString:s: getStaticBalance:b: resetPhysics:v: restartController:v: '
      'moveViewpoint:v:')


# Node.ROBOT, Node.SOLID...: the types as the library numbers them.
_index = 0
while _call('wb_node_get_name', 's', 'i', _index):
    _name = _call('wb_node_get_name', 's', 'i', _index)
    setattr(Node, re.sub('(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z])', '_', _name).replace(' ', '_').upper(), _index)
    _index += 1


class Proto:
    def __init__(self, reference):
        self._ref = reference

    @staticmethod
    def _of(reference):
        return Proto(reference) if reference else None

    def getTypeName(self):
        return _call('wb_supervisor_proto_get_type_name', 's', 'p', self._ref)

    def isDerived(self):
        return _call('wb_supervisor_proto_is_derived', 'b', 'p', self._ref)

    def getProtoParent(self):
        return Proto._of(_call('wb_supervisor_proto_get_parent', 'p', 'p', self._ref))

    getParent = getProtoParent

    def getField(self, name):
        reference = _call('wb_supervisor_proto_get_field', 'p', 'ps', self._ref, name)
        return Field(reference) if reference else None

    def getFieldByIndex(self, index):
        reference = _call('wb_supervisor_proto_get_field_by_index', 'p', 'pi', self._ref, index)
        return Field(reference) if reference else None

    def getNumberOfFields(self):
        return _call('wb_supervisor_proto_get_number_of_fields', 'i', 'p', self._ref)


class Supervisor(Robot):
    SIMULATION_MODE_PAUSE, SIMULATION_MODE_REAL_TIME, SIMULATION_MODE_RUN, SIMULATION_MODE_FAST = 0, 1, 2, 2
    MOVIE_READY, MOVIE_RECORDING, MOVIE_SAVING, MOVIE_WRITE_ERROR, MOVIE_ENCODING_ERROR, MOVIE_SIMULATION_ERROR = range(6)

    def getRoot(self):
        return Node._of(_call('wb_supervisor_node_get_root', 'p', ''))

    def getSelf(self):
        return Node._of(_call('wb_supervisor_node_get_self', 'p', ''))

    def getFromDef(self, name):
        return Node._of(_call('wb_supervisor_node_get_from_def', 'p', 's', name))

    def getFromId(self, identifier):
        return Node._of(_call('wb_supervisor_node_get_from_id', 'p', 'i', identifier))

    def getFromDevice(self, device):
        return Node._of(_call('wb_supervisor_node_get_from_device', 'p', 't', device._tag))

    def getSelected(self):
        return Node._of(_call('wb_supervisor_node_get_selected', 'p', ''))

    def setLabel(self, identifier, text, x, y, size, color, transparency=0.0, font='Arial'):
        _call('wb_supervisor_set_label', 'v', 'isdddids', identifier, text, x, y, size, color, transparency, font)

    def worldSave(self, file=None):
        return _call('wb_supervisor_world_save', 'b', 's', file)

    saveWorld = worldSave

    def movieStartRecording(self, file, width, height, codec=0, quality=90, acceleration=1, caption=False):
        _call('wb_supervisor_movie_start_recording', 'v', 'siiiiib', file, width, height, codec, quality, acceleration, caption)

    startMovie = movieStartRecording

    def virtualRealityHeadsetGetPosition(self):
        return _doubles('wb_supervisor_virtual_reality_headset_get_position', 3, '')

    def virtualRealityHeadsetGetOrientation(self):
        return _doubles('wb_supervisor_virtual_reality_headset_get_orientation', 9, '')

    def simulationQuit(self, status=0):
        _call('wb_supervisor_simulation_quit', 'v', 'i', status)


def _supervisor(rows):
    for row in rows.split():
        name, result, arguments = row.split(':')

        def method(self, *values, _function='wb_supervisor_' + _snake(name), _result=result, _arguments=arguments):
            return _call(_function, _result, _arguments, *values)
        setattr(Supervisor, name, method)


_supervisor('simulationReset:v: simulationResetPhysics:v: simulationGetMode:i: simulationSetMode:v:i worldLoad:v:s worldReload:v: '
            'animationStartRecording:b:s animationStopRecording:b: movieIsReady:b: movieFailed:b: movieStopRecording:v: exportImage:v:si '
            'virtualRealityHeadsetIsUsed:b: simulationRevert:v: loadWorld:v:s stopMovie:v: getMovieStatus:i: simulationPhysicsReset:v:')



class DifferentialWheels(Robot):
    """Robots of two wheels, as programs before 2020 drive them."""


for _row in ('setSpeed:v:dd getLeftSpeed:d: getRightSpeed:d: enableEncoders:v:i disableEncoders:v: getEncodersSamplingPeriod:i: '
             'getLeftEncoder:d: getRightEncoder:d: setEncoders:v:dd getMaxSpeed:d: getSpeedUnit:d:').split():
    _name, _result, _arguments = _row.split(':')
    setattr(DifferentialWheels, _name, lambda self, *values, _f='wb_differential_wheels_' + _snake(_name), _r=_result, _a=_arguments:
            _call(_f, _r, _a, *values))

# Webots spells the constants of keys on the robot too.
for _name in [_name for _name in dir(Keyboard) if _name.isupper()]:
    setattr(Robot, 'KEYBOARD_' + _name, getattr(Keyboard, _name))

__all__ += ['Device', 'Robot', 'Supervisor', 'Node', 'Field', 'Proto', 'Keyboard', 'Mouse', 'MouseState', 'Joystick', 'Motion', 'AnsiCodes', 'ContactPoint',
            'RadarTarget', 'LidarPoint', 'CameraRecognitionObject', 'ImageRef', 'DifferentialWheels']
