"""Cars in Python: Driver and Car over the vehicle library, with the method names of Webots' `vehicle` module."""
from controller import Supervisor, _call, _snake

__all__ = ['Car', 'Driver']


class Driver(Supervisor):
    INDICATOR_OFF, INDICATOR_RIGHT, INDICATOR_LEFT = 0, 1, 2
    OFF, RIGHT, LEFT = 0, 1, 2
    UNDEFINED_CONTROL_MODE, SPEED, TORQUE = -1, 0, 1
    DOWN, SLOW, NORMAL, FAST = 0, 1, 2, 3

    def __init__(self):
        super().__init__()
        _call('wbu_driver_init', 'v', '')

    def __del__(self):
        _call('wbu_driver_cleanup', 'v', '')
        super().__del__()

    @staticmethod
    def isInitialisationPossible():
        return _call('wbu_driver_initialization_is_possible', 'b', '')

    def step(self, duration=None):
        """The driver moves on by the world's step; another duration is one of the robot alone."""
        return _call('wbu_driver_step', 'i', '') if duration is None else super().step(duration)


class Car(Driver):
    TRACTION, PROPULSION, FOUR_BY_FOUR = 0, 1, 2
    COMBUSTION_ENGINE, ELECTRIC_ENGINE, PARALLEL_HYBRID_ENGINE, POWER_SPLIT_HYBRID_ENGINE = range(4)
    WHEEL_FRONT_RIGHT, WHEEL_FRONT_LEFT, WHEEL_REAR_RIGHT, WHEEL_REAR_LEFT = range(4)

    def __init__(self):
        super().__init__()
        _call('wbu_car_init', 'v', '')


def _add(kind, prefix, rows):
    for row in rows.split():
        name, result, arguments = row.split(':')

        def method(self, *values, _function=prefix + _snake(name), _result=result, _arguments=arguments):
            return _call(_function, _result, _arguments, *values)
        setattr(kind, name, method)


_add(Driver, 'wbu_driver_', 'setSteeringAngle:v:d getSteeringAngle:d: setCruisingSpeed:v:d getTargetCruisingSpeed:d: getCurrentSpeed:d: '
     'setThrottle:v:d getThrottle:d: setBrakeIntensity:v:d getBrakeIntensity:d: setBrake:v:d getBrake:d: setIndicator:v:i getIndicator:i: '
     'setHazardFlashers:v:b getHazardFlashers:b: setDippedBeams:v:b getDippedBeams:b: setAntifogLights:v:b getAntifogLights:b: '
     'setWiperMode:v:i getWiperMode:i: setWipersMode:v:i getWipersMode:i: getRpm:d: getGear:i: setGear:v:i getGearNumber:i: getControlMode:i:')
_add(Car, 'wbu_car_', 'getType:i: getEngineType:i: setIndicatorPeriod:v:d getIndicatorPeriod:d: getBackwardsLights:b: getBrakeLights:b: '
     'getTrackFront:d: getTrackRear:d: getWheelbase:d: getFrontWheelRadius:d: getRearWheelRadius:d: getWheelEncoder:d:i getWheelSpeed:d:i '
     'setRightSteeringAngle:v:d getRightSteeringAngle:d: setLeftSteeringAngle:v:d getLeftSteeringAngle:d: '
     'enableLimitedSlipDifferential:v:b enableIndicatorAutoDisabling:v:b')
