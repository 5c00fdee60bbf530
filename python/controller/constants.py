"""Constants of the C headers by their name without WB_: constant('NODE_ROBOT'), constant('KEYBOARD_UP'), constant('SF_BOOL')."""
from ._library import classes

# A name's beginning -> the class that has the rest of it.
_OWNERS = (('NODE_', 'Node'), ('KEYBOARD_', 'Keyboard'), ('DISTANCE_SENSOR_', 'DistanceSensor'),
           ('TOUCH_SENSOR_', 'TouchSensor'), ('IMAGE_', 'Display'), ('SUPERVISOR_', 'Supervisor'), ('EVENT_', 'Robot'),
           ('MODE_', 'Robot'), ('', 'Field'), ('', 'Motor'), ('', 'Robot'), ('', 'Emitter'))


def constant(name):
    for beginning, owner in _OWNERS:
        if name.startswith(beginning):
            value = getattr(classes[owner], name if owner == 'Robot' else name[len(beginning):], None)
            if isinstance(value, int):
                return value
    raise AttributeError("there is no constant '%s'" % name)
