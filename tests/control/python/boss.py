from controller import Supervisor

supervisor = Supervisor()
step = int(supervisor.getBasicTimeStep())
receiver = supervisor.getDevice('receiver')
receiver.enable(step)
box = supervisor.getFromDef('BOX')
assert supervisor.getFromDef('NOTHING') is None
assert box.getTypeName() == 'Solid' and supervisor.getRoot().getId() == 0
translation = box.getField('translation')
assert translation.getSFVec3f() == [0, 3, 0.05] and translation.getTypeName() == 'SFVec3f'
translation.setSFVec3f([0, 4, 1])
assert translation.value == [0, 4, 1]
box.resetPhysics()  # else the contacts of the old place hold for one step
box.setVelocity([1, 0, 0, 0, 0, 0])
supervisor.step(step)
assert abs(box.getPosition()[0] - 0.032) < 1e-6 and box.getPosition()[2] < 1
children = supervisor.getRoot().getField('children')
count = children.getCount()
children.importMFNodeFromString(-1, 'DEF NEW Solid { translation 0 0 9 name "new" }')
assert children.getCount() == count + 1 and supervisor.getFromDef('NEW').getPosition() == [0, 0, 9]
supervisor.getFromDef('NEW').remove()
assert children.getCount() == count
heard = []
for i in range(25):
    supervisor.step(step)
    while receiver.getQueueLength() > 0:
        heard.append(receiver.getString())
        receiver.nextPacket()
assert heard[:3] == ['number 0', 'number 1', 'number 2'], heard
assert len(box.getContactPoints()) > 0 or box.getPosition()[2] > 0.06
print('PASS')
