"""What sees and shows: pictures of cameras, depths, scans, recognised objects, and drawing on displays."""
import ctypes

from controller import Camera, Display, Lidar, RangeFinder, _call, _lib


def _bytes(function, size):
    def method(self):
        data = _call(function, 'p', 't', self._tag)
        return ctypes.string_at(data, size(self)) if data else None
    return method


def _picture(self):
    return 4 * self.getWidth() * self.getHeight()


def _array_of(get):
    """Columns of pixels, each [red, green, blue]."""
    def method(self):
        data = get(self)
        if not data:
            return None
        width, height = self.getWidth(), self.getHeight()
        return [[[data[4 * (y * width + x) + 2], data[4 * (y * width + x) + 1], data[4 * (y * width + x)]] for y in range(height)]
                for x in range(width)]
    return method


Camera.getImage = _bytes('wb_camera_get_image', _picture)
Camera.getImageArray = _array_of(Camera.getImage)
Camera.recognitionGetSegmentationImage = _bytes('wb_camera_recognition_get_segmentation_image', _picture)
Camera.getRecognitionSegmentationImage = Camera.recognitionGetSegmentationImage
Camera.recognitionGetSegmentationImageArray = _array_of(Camera.recognitionGetSegmentationImage)
Camera.getRecognitionSegmentationImageArray = Camera.recognitionGetSegmentationImageArray


def _of_pixel(shape):
    return staticmethod(lambda image, width, x, y: shape(*image[4 * (y * width + x):4 * (y * width + x) + 3]))


Camera.imageGetRed = _of_pixel(lambda blue, green, red: red)
Camera.imageGetGreen = _of_pixel(lambda blue, green, red: green)
Camera.imageGetBlue = _of_pixel(lambda blue, green, red: blue)
Camera.imageGetGray = Camera.imageGetGrey = _of_pixel(lambda blue, green, red: (red + green + blue) // 3)


class CameraRecognitionObject(ctypes.Structure):
    _fields_ = [('id', ctypes.c_int), ('position', ctypes.c_double * 3), ('orientation', ctypes.c_double * 4), ('size', ctypes.c_double * 2),
                ('position_on_image', ctypes.c_int * 2), ('size_on_image', ctypes.c_int * 2), ('number_of_colors', ctypes.c_int),
                ('colors', ctypes.POINTER(ctypes.c_double)), ('_model', ctypes.c_char_p)]

    @property
    def model(self):
        return (self._model or b'').decode(errors='replace')

    def getId(self):
        return self.id

    def getPosition(self):
        return list(self.position)

    def getOrientation(self):
        return list(self.orientation)

    def getSize(self):
        return list(self.size)

    def getPositionOnImage(self):
        return list(self.position_on_image)

    def getSizeOnImage(self):
        return list(self.size_on_image)

    def getNumberOfColors(self):
        return self.number_of_colors

    def getColors(self):
        return [self.colors[i] for i in range(3 * self.number_of_colors)]

    def getModel(self):
        return self.model

    get_id, get_position, get_orientation, get_size = getId, getPosition, getOrientation, getSize
    get_position_on_image, get_size_on_image = getPositionOnImage, getSizeOnImage
    get_number_of_colors, get_colors, get_model = getNumberOfColors, getColors, getModel


def _objects(self):
    data = _call('wb_camera_recognition_get_objects', 'p', 't', self._tag)
    return list(ctypes.cast(data, ctypes.POINTER(CameraRecognitionObject))[:self.recognitionGetNumberOfObjects()]) if data else []


Camera.recognitionGetObjects = Camera.getRecognitionObjects = _objects
Camera.getRecognitionNumberOfObjects = Camera.recognitionGetNumberOfObjects
Camera.getRecognitionSamplingPeriod = Camera.recognitionGetSamplingPeriod


def _floats(function, count, arguments=''):
    def method(self, *values, data_type='list'):
        if values and isinstance(values[-1], str):
            *values, data_type = values
        data = _call(function, 'p', 't' + arguments, self._tag, *values)
        if not data:
            return None
        if data_type == 'buffer':
            return ctypes.string_at(data, 4 * count(self))
        return list(ctypes.cast(data, ctypes.POINTER(ctypes.c_float))[:count(self)])
    return method


def _columns(get, width, height):
    def method(self):
        data = get(self)
        return [[data[y * width(self) + x] for y in range(height(self))] for x in range(width(self))] if data else None
    return method


RangeFinder.getRangeImage = _floats('wb_range_finder_get_range_image', lambda self: self.getWidth() * self.getHeight())
RangeFinder.getRangeImageArray = _columns(RangeFinder.getRangeImage, RangeFinder.getWidth, RangeFinder.getHeight)
RangeFinder.rangeImageGetDepth = RangeFinder.imageGetDepth = staticmethod(lambda image, width, x, y: image[y * width + x])
Lidar.getRangeImage = _floats('wb_lidar_get_range_image', lambda self: self.getHorizontalResolution() * self.getNumberOfLayers())
Lidar.getRangeImageArray = _columns(Lidar.getRangeImage, Lidar.getHorizontalResolution, Lidar.getNumberOfLayers)
Lidar.getLayerRangeImage = _floats('wb_lidar_get_layer_range_image', Lidar.getHorizontalResolution, 'i')


class LidarPoint(ctypes.Structure):
    _fields_ = [('x', ctypes.c_float), ('y', ctypes.c_float), ('z', ctypes.c_float), ('layer_id', ctypes.c_int), ('time', ctypes.c_float)]


def _points(function, count, arguments=''):
    def method(self, *values, data_type='list'):
        if values and isinstance(values[-1], str):
            *values, data_type = values
        data = _call(function, 'p', 't' + arguments, self._tag, *values)
        if not data:
            return None
        if data_type == 'buffer':
            return ctypes.string_at(data, ctypes.sizeof(LidarPoint) * count(self))
        return list(ctypes.cast(data, ctypes.POINTER(LidarPoint))[:count(self)])
    return method


Lidar.getPointCloud = _points('wb_lidar_get_point_cloud', Lidar.getNumberOfPoints)
Lidar.getLayerPointCloud = _points('wb_lidar_get_layer_point_cloud', Lidar.getHorizontalResolution, 'i')


# ---- displays ----

class ImageRef:
    """A picture that a display holds for its program."""
    def __init__(self, reference):
        self._ref = reference


def _image_ref(reference):
    return ImageRef(reference) if reference else None


def _image_new(self, data, format, width=None, height=None):
    """data: bytes, or columns of pixels as getImageArray gives them."""
    if isinstance(data, (list, tuple)):
        width, height = len(data), len(data[0])
        data = bytes(channel for y in range(height) for x in range(width) for channel in data[x][y])
    if len(data) < width * height * (3 if format == Display.RGB else 4):
        raise ValueError('%d bytes are too few for %d x %d pixels' % (len(data), width, height))
    function = _lib.wb_display_image_new
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.c_ushort, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
    return _image_ref(function(self._tag, width, height, bytes(data), format))


def _polygon(function):
    def method(self, x, y):
        numbers = ctypes.c_int * len(x)
        call = getattr(_lib, function)
        call.restype, call.argtypes = None, [ctypes.c_ushort, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int), ctypes.c_int]
        call(self._tag, numbers(*x), numbers(*y[:len(x)]), len(x))
    return method


Display.imageNew = _image_new
Display.drawPolygon = _polygon('wb_display_draw_polygon')
Display.fillPolygon = _polygon('wb_display_fill_polygon')
Display.imageLoad = lambda self, file: _image_ref(_call('wb_display_image_load', 'p', 'ts', self._tag, file))
Display.imageCopy = lambda self, x, y, width, height: _image_ref(_call('wb_display_image_copy', 'p', 'tiiii', self._tag, x, y, width, height))
Display.imagePaste = lambda self, image, x, y, blend=False: _call('wb_display_image_paste', 'v', 'tpiib', self._tag, image._ref, x, y, blend)
Display.imageSave = lambda self, image, file: _call('wb_display_image_save', 'v', 'tps', self._tag, image._ref if image else None, file)


def _image_delete(self, image):
    _call('wb_display_image_delete', 'v', 'tp', self._tag, image._ref)
    image._ref = None


Display.imageDelete = _image_delete
Display.attachCamera = lambda self, camera: _call('wb_display_attach_camera', 'v', 'tt', self._tag, camera._tag)
Display.detachCamera = lambda self: _call('wb_display_detach_camera', 'v', 't', self._tag)
