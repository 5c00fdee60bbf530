"""Keyboard, mouse and joystick of the person at the simulator, motions played from files, and colours for text."""
import ctypes

from controller import _call, _lib, _snake


class Keyboard:
    END, HOME, LEFT, UP, RIGHT, DOWN, PAGEUP, PAGEDOWN = 312, 313, 314, 315, 316, 317, 366, 367
    NUMPAD_HOME, NUMPAD_LEFT, NUMPAD_UP, NUMPAD_RIGHT, NUMPAD_DOWN, NUMPAD_END = 375, 376, 377, 378, 379, 382
    KEY, SHIFT, CONTROL, ALT = 0xffff, 0x10000, 0x20000, 0x40000

    def __init__(self, sampling_period=None):
        if sampling_period:
            self.enable(sampling_period)


class MouseState(ctypes.Structure):
    _fields_ = [('left', ctypes.c_bool), ('middle', ctypes.c_bool), ('right', ctypes.c_bool), ('u', ctypes.c_double), ('v', ctypes.c_double),
                ('x', ctypes.c_double), ('y', ctypes.c_double), ('z', ctypes.c_double)]

    def getLeft(self):
        return self.left

    def getMiddle(self):
        return self.middle

    def getRight(self):
        return self.right

    def getU(self):
        return self.u

    def getV(self):
        return self.v

    def getX(self):
        return self.x

    def getY(self):
        return self.y

    def getZ(self):
        return self.z


class Mouse:
    def getState(self):
        function = _lib.wb_mouse_get_state
        function.restype, function.argtypes = MouseState, []
        return function()

    def enable3dPosition(self):
        _call('wb_mouse_enable_3d_position', 'v', '')

    def disable3dPosition(self):
        _call('wb_mouse_disable_3d_position', 'v', '')

    def is3dPositionEnabled(self):
        return _call('wb_mouse_is_3d_position_enabled', 'b', '')


class Joystick:
    pass


def _add(kind, prefix, rows):
    for row in rows.split():
        name, result, arguments = row.split(':')

        def method(self, *values, _function=prefix + _snake(name), _result=result, _arguments=arguments):
            return _call(_function, _result, _arguments, *values)
        setattr(kind, name, method)
        if name.startswith('get') and not arguments:
            setattr(kind, _snake(name[3:]).lstrip('_'), property(method))


_ENABLE = 'enable:v:i disable:v: getSamplingPeriod:i: '
_add(Keyboard, 'wb_keyboard_', _ENABLE + 'getKey:i:')
_add(Mouse, 'wb_mouse_', _ENABLE)
_add(Joystick, 'wb_joystick_', _ENABLE + 'isConnected:b: getNumberOfAxes:i: getAxisValue:i:i getNumberOfPovs:i: getPovValue:i:i getPressedButton:i: '
     'getModel:s: setConstantForce:v:i setConstantForceDuration:v:d setAutoCenteringGain:v:d setResistanceGain:v:d setForceAxis:v:i')


class Motion:
    def __init__(self, file):
        self._ref = _call('wbu_motion_new', 'p', 's', file)

    def __del__(self):
        if self._ref:
            _call('wbu_motion_delete', 'v', 'p', self._ref)

    def isValid(self):
        return bool(self._ref)


def _add_motion(rows):
    for row in rows.split():
        name, result, arguments = row.split(':')

        def method(self, *values, _function='wbu_motion_' + _snake(name), _result=result, _arguments=arguments):
            return _call(_function, _result, 'p' + _arguments, self._ref, *values)
        setattr(Motion, name, method)


_add_motion('play:v: stop:v: setLoop:v:b setReverse:v:b isOver:b: getDuration:i: getTime:i: setTime:v:i')


class AnsiCodes:
    RESET, BOLD, UNDERLINE, CLEAR_SCREEN = '\033[0m', '\033[1m', '\033[4m', '\033[2J'


for _index, _color in enumerate(('BLACK', 'RED', 'GREEN', 'YELLOW', 'BLUE', 'MAGENTA', 'CYAN', 'WHITE')):
    setattr(AnsiCodes, _color + '_FOREGROUND', '\033[%dm' % (30 + _index))
    setattr(AnsiCodes, _color + '_BACKGROUND', '\033[%dm' % (40 + _index))
