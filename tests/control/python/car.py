from vehicle import Car

car = Car()
assert car.getType() in (car.TRACTION, car.PROPULSION, car.FOUR_BY_FOUR) and car.getWheelbase() > 1 and car.getFrontWheelRadius() > 0.1
car.setCruisingSpeed(10.0)
car.setSteeringAngle(0.0)
car.setHazardFlashers(True)
for i in range(250):
    assert car.step() != -1
assert car.getTargetCruisingSpeed() == 10 and abs(car.getCurrentSpeed() - 10) < 1, car.getCurrentSpeed()
assert car.getHazardFlashers() and car.getSelf().getPosition()[0] > 3
assert car.getWheelSpeed(Car.WHEEL_REAR_LEFT) > 1
print('PASS')
