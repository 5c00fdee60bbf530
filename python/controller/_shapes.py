"""What is more than passing a call on: pictures, packets, records, and arguments of several kinds. The generated classes take the functions
here for their methods: Camera_getImage becomes Camera.getImage. Bound functions of the library stand beside the one that uses them."""
import ctypes
import struct
import sys

from ._library import classes, decoded, encoded, function, node_of, wb

try:
    import numpy
except ImportError:  # everything works without, slower
    numpy = None


# ---- devices by name or tag ----

_get_device = function('wb_robot_get_device', 't', 's')
_basic_time_step = function('wb_robot_get_basic_time_step', 'd', '')


def _tag_of(name):
    return name if isinstance(name, int) else _get_device(encoded(name))


def Device__init__(self, name):
    self._tag = _tag_of(name)


def Device__get_tag(self):
    return self._tag


def Sensor__init__(self, name, sampling_period=None):
    """A sensor that a program makes by its name is on from the start; what getDevice gives is not."""
    self._tag = _tag_of(name)
    if isinstance(name, str) or sampling_period is not None:
        self._enable(self._tag, int(_basic_time_step()) if sampling_period is None else sampling_period)


def Sensor_enable(self, sampling_period):
    self._enable(self._tag, 0 if sampling_period is None else sampling_period)


def Sensor_disable(self):
    self._disable(self._tag)


def Sensor_getSamplingPeriod(self):
    return self._get_sampling_period(self._tag)


def _table(prefix):
    size, values = function(prefix + 'get_lookup_table_size', 'i', 't'), function(prefix + 'get_lookup_table', 'D', 't')

    def get(tag):
        rows = values(tag)
        return rows[:3 * size(tag)] if rows else []
    return get


# ---- blocks of memory that the library keeps ----

def _view(address, kind, count):
    """The library's own memory, without a copy: it shows the next reading after the next step."""
    return memoryview((kind * count).from_address(address)).cast('B').cast({ctypes.c_ubyte: 'B', ctypes.c_float: 'f'}[kind])


def _block(address, kind, count, data_type, kinds):
    """The block as the caller wants it. Bytes and lists are copies; the others are the library's memory."""
    if not address:
        return None
    if data_type == 'bytes':
        return ctypes.string_at(address, ctypes.sizeof(kind) * count)
    if data_type == 'list':
        return (kind * count).from_address(address)[:]
    if data_type in ('memoryview', 'buffer'):
        return _view(address, kind, count)
    if data_type == 'numpy' and numpy:
        return numpy.frombuffer(_view(address, kind, count), {ctypes.c_ubyte: numpy.uint8, ctypes.c_float: numpy.float32}[kind])
    raise ValueError("data_type '%s' is none of %s%s" % (data_type, kinds, '' if numpy else ' (there is no numpy)'))


# ---- cameras ----

def _picture(name):
    get = function(name, 'p', 't')
    width, height = function('wb_camera_get_width', 'i', 't'), function('wb_camera_get_height', 'i', 't')

    def method(self, data_type='bytes'):
        rows, columns = height(self._tag), width(self._tag)
        picture = _block(get(self._tag), ctypes.c_ubyte, 4 * rows * columns, data_type, 'bytes, memoryview, numpy')
        return picture.reshape(rows, columns, 4) if data_type == 'numpy' and picture is not None else picture
    return method


def _columns_of(get):
    """Columns of pixels, each [red, green, blue]: array[x][y]."""
    def method(self):
        data, width, height = get(self, 'memoryview'), self.getWidth(), self.getHeight()
        if data is None:
            return None
        if numpy:
            return numpy.frombuffer(data, numpy.uint8).reshape(height, width, 4)[:, :, 2::-1].swapaxes(0, 1).tolist()
        red, green, blue = data[2::4].tolist(), data[1::4].tolist(), data[0::4].tolist()
        return [[list(pixel) for pixel in zip(red[x::width], green[x::width], blue[x::width])] for x in range(width)]
    return method


Camera_getImage = _picture('wb_camera_get_image')
Camera_getImageArray = _columns_of(Camera_getImage)
Camera_getRecognitionSegmentationImage = Camera_recognitionGetSegmentationImage = _picture('wb_camera_recognition_get_segmentation_image')
Camera_getRecognitionSegmentationImageArray = _columns_of(Camera_getRecognitionSegmentationImage)
Camera_recognitionGetSegmentationImageArray = Camera_getRecognitionSegmentationImageArray


def _pixel(image, width, x, y):
    at = 4 * (y * width + x)
    return image[at:at + 3] if not hasattr(image, 'ndim') or image.ndim == 1 else image[y, x, :3]


def Camera_imageGetRed(image, width, x, y):
    return _pixel(image, width, x, y)[2]


def Camera_imageGetGreen(image, width, x, y):
    return _pixel(image, width, x, y)[1]


def Camera_imageGetBlue(image, width, x, y):
    return _pixel(image, width, x, y)[0]


def Camera_imageGetGray(image, width, x, y):
    return sum(map(int, _pixel(image, width, x, y))) // 3


Camera_imageGetGrey = Camera_imageGetGray


class _Recognised(ctypes.Structure):
    _fields_ = [('id', ctypes.c_int), ('position', ctypes.c_double * 3), ('orientation', ctypes.c_double * 4),
                ('size', ctypes.c_double * 2), ('position_on_image', ctypes.c_int * 2),
                ('size_on_image', ctypes.c_int * 2), ('number_of_colors', ctypes.c_int), ('colors', ctypes.POINTER(ctypes.c_double)), ('model', ctypes.c_char_p)]


_recognised = function('wb_camera_recognition_get_objects', 'p', 't')
_recognised_count = function('wb_camera_recognition_get_number_of_objects', 'i', 't')


def Camera_getRecognitionObjects(self):
    address, count, make = _recognised(self._tag), _recognised_count(self._tag), classes['CameraRecognitionObject']
    rows = (_Recognised * count).from_address(address) if address else []
    return [make(row.id, row.position[:], row.orientation[:], row.size[:], row.position_on_image[:],
                 row.size_on_image[:], row.number_of_colors, row.colors[:3 * row.number_of_colors] if row.colors else [], decoded(row.model)) for row in rows]


Camera_recognitionGetObjects = Camera_getRecognitionObjects


# ---- depths and points ----

def _depths(name, count, has_layer=False):
    get = function(name, 'p', 'ti' if has_layer else 't')
    if has_layer:
        def method(self, layer, data_type='list'):
            return _block(get(self._tag, layer), ctypes.c_float, count(self), data_type, 'list, buffer, memoryview, numpy')
    else:
        def method(self, data_type='list'):
            return _block(get(self._tag), ctypes.c_float, count(self), data_type, 'list, buffer, memoryview, numpy')
    return method


def _rows_of(get, width, height):
    """Rows of depths: array[y][x]."""
    def method(self):
        data, columns = get(self), width(self)
        return [data[y * columns:(y + 1) * columns] for y in range(height(self))] if data else None
    return method


RangeFinder_getRangeImage = _depths('wb_range_finder_get_range_image', lambda self: self.getWidth() * self.getHeight())
RangeFinder_getRangeImageArray = _rows_of(RangeFinder_getRangeImage, lambda self: self.getWidth(), lambda self: self.getHeight())
Lidar_getRangeImage = _depths('wb_lidar_get_range_image', lambda self: self.getHorizontalResolution() * self.getNumberOfLayers())
Lidar_getRangeImageArray = _rows_of(Lidar_getRangeImage, lambda self: self.getHorizontalResolution(), lambda self: self.getNumberOfLayers())
Lidar_getLayerRangeImage = _depths('wb_lidar_get_layer_range_image', lambda self: self.getHorizontalResolution(), True)


def RangeFinder_rangeImageGetDepth(image, width, x, y):
    return image[y * width + x]


_POINT = struct.Struct('fffif')  # as WbLidarPoint: x y z layer time


def _points(address, count, data_type):
    if not address:
        return None
    if data_type == 'buffer':
        return memoryview((ctypes.c_ubyte * (_POINT.size * count)).from_address(address)).cast('B')
    if data_type != 'list':
        raise ValueError("data_type '%s' is none of list, buffer" % data_type)
    make = classes['LidarPoint']
    return [make(*row) for row in _POINT.iter_unpack(ctypes.string_at(address, _POINT.size * count))]


_cloud = function('wb_lidar_get_point_cloud', 'p', 't')
_layer_cloud = function('wb_lidar_get_layer_point_cloud', 'p', 'ti')


def Lidar_getPointCloud(self, data_type='list'):
    return _points(_cloud(self._tag), self.getNumberOfPoints(), data_type)


def Lidar_getLayerPointCloud(self, layer, data_type='list'):
    return _points(_layer_cloud(self._tag, layer), self.getHorizontalResolution(), data_type)


_TARGET = struct.Struct('4d')  # as WbRadarTarget
_targets = function('wb_radar_get_targets', 'p', 't')


def Radar_getTargets(self):
    address, make = _targets(self._tag), classes['RadarTarget']
    rows = ctypes.string_at(address, _TARGET.size * self.getNumberOfTargets()) if address else b''
    return [make(*row) for row in _TARGET.iter_unpack(rows)]


# ---- displays: a picture is the number that the library gave it ----

def _whole(name, count):
    """Coordinates may be any numbers: parts of a pixel are cut off."""
    call = function(name, 'v', 't' + 'i' * count)
    return {2: lambda self, x, y: call(self._tag, int(x), int(y)),
            4: lambda self, x, y, width, height: call(self._tag, int(x), int(y), int(width), int(height))}[count]


Display_drawPixel = _whole('wb_display_draw_pixel', 2)
Display_drawLine = _whole('wb_display_draw_line', 4)
Display_drawRectangle = _whole('wb_display_draw_rectangle', 4)
Display_drawOval = _whole('wb_display_draw_oval', 4)
Display_fillRectangle = _whole('wb_display_fill_rectangle', 4)
Display_fillOval = _whole('wb_display_fill_oval', 4)
_draw_text = function('wb_display_draw_text', 'v', 'tsii')


def Display_drawText(self, text, x, y):
    _draw_text(self._tag, encoded(text), int(x), int(y))


def _polygon(name):
    call = wb[name]
    call.restype, call.argtypes = None, [ctypes.c_ushort, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int), ctypes.c_int]

    def method(self, x, y):
        count = min(len(x), len(y))
        whole = ctypes.c_int * count
        call(self._tag, whole(*map(int, x[:count])), whole(*map(int, y[:count])), count)
    return method


Display_drawPolygon = _polygon('wb_display_draw_polygon')
Display_fillPolygon = _polygon('wb_display_fill_polygon')
_image_new = function('wb_display_image_new', 'r', 'tiisi')
_image_copy = function('wb_display_image_copy', 'r', 'tiiii')
_image_load = function('wb_display_image_load', 'r', 'ts')
_image_paste = function('wb_display_image_paste', 'v', 'triib')
_image_save = function('wb_display_image_save', 'v', 'trs')
_image_delete = function('wb_display_image_delete', 'v', 'tr')


def Display_imageNew(self, data, format, width=None, height=None):
    """data: bytes or any buffer, or columns of pixels as getImageArray gives them."""
    if isinstance(data, (list, tuple)) and isinstance(data[0], (list, tuple)):
        width, height = len(data), len(data[0])
        data = bytes(channel for y in range(height) for x in range(width) for channel in data[x][y])
    data = bytes(data)
    width, height = int(width), int(height)
    if len(data) < width * height * (3 if format == self.RGB else 4):
        raise ValueError('%d bytes are too few for %d x %d pixels' % (len(data), width, height))
    return _image_new(self._tag, width, height, data, format)


def Display_imageCopy(self, x, y, width, height):
    return _image_copy(self._tag, int(x), int(y), int(width), int(height))


def Display_imageLoad(self, filename):
    return _image_load(self._tag, encoded(filename))


def Display_imagePaste(self, image, x, y, blend=False):
    _image_paste(self._tag, image, int(x), int(y), blend)


def Display_imageSave(self, image, filename):
    _image_save(self._tag, image, encoded(filename))


def Display_imageDelete(self, image):
    _image_delete(self._tag, image)


# ---- packets ----

_send = function('wb_emitter_send', 'i', 'tsi')


def Emitter_send(self, message, length=None):
    """Text, bytes, or a list of floats (sent as doubles), whole numbers (as int) or truth values."""
    if isinstance(message, str):
        message = message.encode()
    elif isinstance(message, (list, tuple)):
        if not message:
            raise ValueError('Emitter.send: the list is empty')
        kind = '?' if isinstance(message[0], bool) else 'i' if all(isinstance(one, int) for one in message) else 'd'
        message = struct.pack('%d%s' % (len(message), kind), *message)
    else:
        message = bytes(message)
    if length is not None and length > len(message):
        raise ValueError('Emitter.send: %d bytes are wanted of %d' % (length, len(message)))
    return _send(self._tag, message, len(message) if length is None else length)


_data = function('wb_receiver_get_data', 'p', 't')
_data_size = function('wb_receiver_get_data_size', 'i', 't')


def Receiver_getBytes(self):
    address = _data(self._tag)
    return ctypes.string_at(address, _data_size(self._tag)) if address else None


Receiver_getData = Receiver_getBytes

_samples = function('wb_microphone_get_sample_data', 'p', 't')
_sample_bytes = function('wb_microphone_get_sample_size', 'i', 't')


def Microphone_getSampleData(self):
    address = _samples(self._tag)
    return ctypes.string_at(address, _sample_bytes(self._tag)) if address else None


def Receiver_getString(self):
    return (Receiver_getBytes(self) or b'').split(b'\0')[0].decode(errors='replace')


def _unpacked(letter):
    size = struct.calcsize(letter)

    def method(self):
        data = Receiver_getBytes(self) or b''
        return struct.unpack_from('%d%s' % (len(data) // size, letter), data)
    return method


Receiver_getInts = _unpacked('i')
Receiver_getFloats = _unpacked('d')
Receiver_getBools = _unpacked('?')


# ---- keyboard, mouse, joystick: a program that makes one itself has it on from the start ----

def _on_from_the_start(prefix):
    enable = function(prefix + 'enable', 'v', 'i')

    def init(self, sampling_period=None):
        if sampling_period != 0:
            enable(int(_basic_time_step()) if sampling_period is None else sampling_period)
    return init


Keyboard__init__ = _on_from_the_start('wb_keyboard_')
Mouse__init__ = _on_from_the_start('wb_mouse_')
Joystick__init__ = _on_from_the_start('wb_joystick_')
_KEYS = {'END': 'end', 'HOME': 'home', 'LEFT': 'left', 'UP': 'up', 'RIGHT': 'right', 'DOWN': 'down',
         'PAGEUP': 'page up', 'PAGEDOWN': 'page down', 'NUMPAD_END': 'numpad end', 'NUMPAD_HOME': 'numpad home', 'NUMPAD_LEFT': 'numpad left', 'NUMPAD_UP': 'numpad up',
         'NUMPAD_RIGHT': 'numpad right', 'NUMPAD_DOWN': 'numpad down'}
_is_connected = function('wb_joystick_is_connected', 'b', '')


def Keyboard_get_key(self):
    """The next key that is down as a word: 'up', 'shift-A'; '' when there are no more."""
    code = self.getKey()
    if code < 0:
        return ''
    held = ''.join(word for word, bit in (('shift-', self.SHIFT), ('control-', self.CONTROL), ('alt-', self.ALT)) if code & bit)
    key = code & self.KEY
    return held + next((word for name, word in _KEYS.items() if getattr(self, name) == key), chr(key))


def Joystick_isConnected(self):
    return _is_connected()


class _State(ctypes.Structure):
    _fields_ = [('left', ctypes.c_bool), ('middle', ctypes.c_bool), ('right', ctypes.c_bool),
                ('u', ctypes.c_double), ('v', ctypes.c_double), ('x', ctypes.c_double), ('y', ctypes.c_double), ('z', ctypes.c_double)]


_mouse_state = wb.wb_mouse_get_state
_mouse_state.restype, _mouse_state.argtypes = _State, []


def Mouse_getState(self):
    state = _mouse_state()
    return classes['MouseState'](*(getattr(state, name) for name, _ in _State._fields_))


# ---- motions ----

_motion_new = function('wbu_motion_new', 'r', 's')
_motion_delete = function('wbu_motion_delete', 'v', 'r')


def Motion__init__(self, filename):
    self._ref = None
    self._ref = _motion_new(encoded(filename))


def Motion__del__(self):
    if getattr(self, '_ref', None):
        _motion_delete(self._ref)


def Motion_isValid(self):
    return bool(self._ref)


# ---- nodes, fields, PROTOs ----

_root = function('wb_supervisor_node_get_root', 'r', '')
_self = function('wb_supervisor_node_get_self', 'r', '')
_selected = function('wb_supervisor_node_get_selected', 'r', '')
_from_def = function('wb_supervisor_node_get_from_def', 'r', 's')
_from_id = function('wb_supervisor_node_get_from_id', 'r', 'i')
_from_device = function('wb_supervisor_node_get_from_device', 'r', 't')


def Node__init__(self, DEF=None, tag=None, id=None, selected=None, ref=None):
    """The root without arguments; the robot itself for tag 0."""
    if ref is None:
        ref = (_from_id(id) if id is not None else (_from_device(tag) if tag else _self()) if tag is not None else
               _from_def(encoded(DEF)) if DEF is not None else _selected() if selected else _root())
    self._ref = ref


def Node__eq__(self, other):
    return isinstance(other, type(self)) and self._ref == other._ref


def Node__hash__(self):
    return hash(self._ref)


_contact_points = wb.wb_supervisor_node_get_contact_points
_contact_points.restype, _contact_points.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_bool, ctypes.POINTER(ctypes.c_int)]
_untrack_contacts = function('wb_supervisor_node_disable_contact_points_tracking', 'v', 'r')
_CONTACT = struct.Struct('3di4x')  # as WbContactPoint


def Node_getContactPoints(self, includeDescendants=False):
    count, make = ctypes.c_int(), classes['ContactPoint']
    address = _contact_points(self._ref, includeDescendants, ctypes.byref(count))
    rows = _CONTACT.iter_unpack(ctypes.string_at(address, _CONTACT.size * count.value)) if address else ()
    return [make(list(row[:3]), row[3]) for row in rows]


def Node_disableContactPointsTracking(self, includeDescendants=False):
    _untrack_contacts(self._ref)


def Field__init__(self, reference):
    self._ref = reference


Field__eq__, Field__hash__ = Node__eq__, Node__hash__
_FIELD_KINDS = {1: 'Bool', 2: 'Int32', 3: 'Float', 4: 'Vec2f', 5: 'Vec3f', 6: 'Rotation', 7: 'Color', 8: 'String', 9: 'Node'}


def Field__get_value(self):
    kind = self.getType()
    name = _FIELD_KINDS.get(kind & 0xf)
    if not kind & 0x10:
        return getattr(self, 'getSF' + name)() if name else None
    get = getattr(self, 'getMF' + name)
    return [get(i) for i in range(self.getCount())]


def Field__set_value(self, value):
    """A list replaces the whole list: items are set, added and removed as it wants."""
    kind = self.getType()
    name = _FIELD_KINDS.get(kind & 0xf)
    if name in (None, 'Node'):
        raise TypeError('a field of nodes is changed by importMFNodeFromString, importSFNodeFromString, removeMF and removeSF')
    if not kind & 0x10:
        getattr(self, 'setSF' + name)(value)
        return
    count = self.getCount()
    for i, item in enumerate(value):
        getattr(self, ('setMF' if i < count else 'insertMF') + name)(i, item)
    for i in range(count - 1, len(value) - 1, -1):
        self.removeMF(i)


def Proto__init__(self, reference):
    self._ref = reference


_is_derived = function('wb_supervisor_proto_is_derived', 'b', 'r')


def Proto_isDerived(self):
    return _is_derived(self._ref)


# ---- robots ----

_init = function('wb_robot_init', 'i', '')
_cleanup = function('wb_robot_cleanup', 'v', '')
_step = function('wb_robot_step', 'i', 'i')
_step_begin = function('wb_robot_step_begin', 'i', 'i')
_number_of_devices = function('wb_robot_get_number_of_devices', 'i', '')
_device_by_index = function('wb_robot_get_device_by_index', 't', 'i')
_node_type = function('wb_device_get_node_type', 'i', 't')
_type_name = function('wb_node_get_name', 's', 'i')
_device_name = function('wb_device_get_name', 's', 't')
_receive_text = function('wb_robot_wwi_receive_text', 's', '')
_MOTORS = ('RotationalMotor', 'LinearMotor')


def Robot__init__(self):
    robot = classes['Robot']
    if robot.created is not None and robot.created is not self:
        print('Error: only one Robot instance can be created per controller process.', file=sys.stderr)
        self.__dict__.update(robot.created.__dict__)  # it acts for the same robot
        return
    robot.created = self
    _init()
    self._by_tag = {}
    self.devices = {}
    for tag in map(_device_by_index, range(_number_of_devices())):
        self.devices.setdefault(decoded(_device_name(tag)), self._device(tag))
    self.keyboard, self.mouse, self.joystick = (classes[name](0) for name in ('Keyboard', 'Mouse', 'Joystick'))


def Robot__del__(self):
    if classes['Robot'].created is self:
        _cleanup()


def Robot__device(self, tag):
    device = self._by_tag.get(tag)
    if device is None:
        name = decoded(_type_name(_node_type(tag)))
        device = self._by_tag[tag] = classes.get('Motor' if name in _MOTORS else name, classes['Device'])(tag)
    return device


def Robot_step(self, time_step=None):
    return _step(int(_basic_time_step() if time_step is None else time_step))


def Robot_stepBegin(self, time_step=None):
    return _step_begin(int(_basic_time_step() if time_step is None else time_step))


def Robot_getKeyboard(self):
    return self.keyboard


def Robot_getMouse(self):
    return self.mouse


def Robot_getJoystick(self):
    return self.joystick


def Robot_wwiReceiveText(self):
    """None when there is none."""
    answer = _receive_text()
    return decoded(answer) if answer is not None else None


def Robot_getServo(self, name):
    """Worlds of Webots 7 and older have Servos, which the simulator reads as a joint with a motor of that name."""
    tag = _get_device(encoded(name))
    return classes['Servo'](tag) if tag else None


def Supervisor_getFromDevice(self, device):
    """A device or its tag."""
    tag = device if isinstance(device, int) else device._tag
    return node_of(_from_device(tag))


# ---- cars ----

_driver_init = function('wbu_driver_init', 'v', '')
_driver_cleanup = function('wbu_driver_cleanup', 'v', '')
_driver_step = function('wbu_driver_step', 'i', '')


def Driver__init__(self):
    Robot__init__(self)
    if classes['Robot'].created is self:
        _driver_init()


def Driver__del__(self):
    if classes['Robot'].created is self:
        _driver_cleanup()
        _cleanup()


def Driver_step(self, time_step=None):
    """The driver moves on by the world's step; another duration is one of the robot alone."""
    return _driver_step() if time_step is None else Robot_step(self, time_step)
