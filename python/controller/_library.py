"""libController for Python: finding it, its functions with their kinds, and the objects that stand for devices, nodes and fields.

Kinds of arguments and results are letters: i int, d double, b bool, s text, t device, r reference (node, field, PROTO, motion, image),
D doubles, F floats, p any pointer, v nothing.
"""
import ctypes
import os

KINDS = {'i': ctypes.c_int, 'd': ctypes.c_double, 'b': ctypes.c_bool, 's': ctypes.c_char_p, 't': ctypes.c_ushort, 'r': ctypes.c_void_p,
         'D': ctypes.POINTER(ctypes.c_double), 'F': ctypes.POINTER(ctypes.c_float), 'p': ctypes.c_void_p, 'v': None}

# The classes of this package by name: modules that need one another ask here, when it is time.
classes = {}


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [os.environ.get('TALUS_CONTROLLER_PATH', ''), os.path.join(here, '..', '..'), os.path.join(here, '..', '..', '..')]
    tried = [os.path.join(folder, 'libController.so') for folder in folders if folder]
    for path in tried:
        if os.path.exists(path):
            return ctypes.CDLL(path)
    try:
        return ctypes.CDLL('libController.so')
    except OSError as error:
        places = ', '.join(map(os.path.normpath, tried))
        raise ImportError('libController.so is not beside this package (%s) nor in LD_LIBRARY_PATH; '
                          'TALUS_CONTROLLER_PATH may name its folder' % places) from error


wb = _load()


def function(name, result, arguments):
    """A function of the library. It is bound once: a call then costs no more than its arguments."""
    made = wb[name]
    made.restype = KINDS[result]
    made.argtypes = [KINDS[letter] for letter in arguments]
    return made


def encoded(value):
    """What the library wants for a text; None stays none."""
    return value.encode() if isinstance(value, str) else value


def decoded(answer):
    return answer.decode(errors='replace') if answer is not None else ''


def doubles(values, count):
    """So many doubles from a list, a tuple or an array."""
    if len(values) != count:
        raise ValueError('%d numbers are wanted, not %d' % (count, len(values)))
    return (ctypes.c_double * count)(*values)


def node_of(reference):
    return classes['Node'](ref=reference) if reference else None


def field_of(reference):
    return classes['Field'](reference) if reference else None


def proto_of(reference):
    return classes['Proto'](reference) if reference else None


def device_of(tag):
    return classes['Robot'].created._device(tag) if tag else None


def reference_of(thing):
    """The reference of a node or field, none of None."""
    return thing._ref if thing is not None else None
