"""Programs for the language tests, from the description: probe_GROUP in C, C++ and Python does the same calls in the
same order and prints every answer as `Class.method value`, so that what two languages say must be equal. The C program
calls the C functions, the others the methods. `coverage.txt` says of every method which language has it and whether the
probe calls it, or else why not."""
import re

from reader import count_of, snake

# Which classes a program tries, and what its robot is.
GROUPS = {
    'robot': ('Supervisor', None),
    'wheels': ('DifferentialWheels', ['DifferentialWheels']),
    'car': ('Car', ['Driver', 'Car']),
}
FIELD_KINDS = 'Bool Int32 Float Vec2f Vec3f Rotation Color String Node'.split()


class Call:
    """One method with its arguments: values as Python has them, the object's variable, and its number when it is tried twice."""
    def __init__(self, label, method, variable, values, by_property=None):
        self.label, self.method, self.variable, self.values, self.by_property = label, method, variable, values, by_property


def value_of(kind, preset):
    if preset not in (None, 'None'):
        return {'true': True, 'false': False}.get(preset) if preset in ('true', 'false') else eval(preset)  # the description is ours
    if count_of(kind):
        return [0.25 * (i + 1) for i in range(int(count_of(kind)))]
    return {'int': 1, 'double': 0.5, 'bool': True, 'string': 'x'}.get(kind, None if kind == 'Node' else 1)


def values_of(method):
    if method.has('try'):  # a list is written with braces, for its brackets would end the remark
        text = method.remarks['try'].translate(str.maketrans('{}', '[]'))
        return list(eval('[%s]' % text, {'true': True, 'false': False}))
    return [value_of(argument.kind, argument.preset) for argument in method.arguments]


def other_value(method, value):
    """Another one for the second time, through the property."""
    if method.name.startswith(('enable', 'batterySensorEnable')):
        return 64
    if isinstance(value, bool):
        return not value
    return value * 0.5 if isinstance(value, float) else value + 1 if isinstance(value, int) else value + 'y'


def is_probed(method):
    kinds = [method.result] + [argument.kind for argument in method.arguments]
    return not method.has('no try') and not any(kind.startswith('<') for kind in kinds)


class Plan:
    """The calls of one program in order, the same for the three languages."""
    def __init__(self, classes, group):
        self.robot, wanted = GROUPS[group]
        self.by_name = {one.name: one for one in classes}
        special = {name for _, names in GROUPS.values() for name in names or []}
        special |= {'AnsiCodes'}
        self.classes = [one for one in classes
                        if (one.name in wanted if wanted else one.name not in special) and not one.fields]
        self.objects = []  # class, variable
        self.setters, self.getters, self.again, self.shown_again = [], [], [], []
        for one in self.classes:
            if one.name not in ('Sensor', 'Device'):
                self.add(one)

    def variable(self, one, method):
        if one.name == 'Field':
            match = re.search('(SF|MF)(%s)$' % '|'.join(FIELD_KINDS), method.name)
            return 'field_%s%s' % (match.group(1), match.group(2)) if match else 'field_SFVec3f'
        return 'robot' if one.is_a('Robot') else snake(one.name)

    def methods(self, one):
        own = [method for method in one.methods if is_probed(method)]
        if one.is_a('Device'):
            inherited = [method for base in one.family()[1:] if base.name in ('Sensor', 'Device')
                         for method in base.methods if is_probed(method) and method.name != 'disable']
            own = [as_of(one, method) for method in inherited] + own
        return own

    def properties(self, one):
        return one.properties + (self.by_name['Sensor'].properties if one.is_a('Sensor') else [])

    def add(self, one):
        if not one.is_a('Robot') and one.name != 'Field':
            self.objects.append((one, snake(one.name)))
        by_name = {method.name: method for method in self.methods(one)}
        for method in by_name.values():
            values = [32] if method.name == 'enable' else values_of(method)
            call = Call('%s.%s' % (one.name, method.name), method, self.variable(one, method), values)
            (self.setters if method.result == 'void' else self.getters).append(call)
        for name, getter, setter in self.properties(one):
            label = '%s.%s' % (one.name, name)
            if setter in by_name:
                method = by_name[setter]
                value = other_value(method, ([32] if setter == 'enable' else values_of(method))[0])
                self.again.append(Call(label, method, self.variable(one, method), [value], name))
            if getter in by_name:
                self.shown_again.append(Call(label, by_name[getter], self.variable(one, by_name[getter]), [], name))


def as_of(one, method):
    made = type(method)(one, method.result, method.name, method.arguments, dict(method.remarks))
    made.function = method.function if method.owner.name == 'Device' else one.prefix + snake(method.name)
    return made


def c_value(value, cast='(const double[])'):
    if value is None:
        return 'NULL'
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, str):
        return '"%s"' % value
    if isinstance(value, list):
        return '%s{ %s }' % (cast, ', '.join(map(str, value)))
    return str(value)


# ---- C ----

C_TOP = '''// probe_%s.c - made from api/webots.api by api/render_tests.py.
#include <math.h>
#include <stdio.h>
#include <string.h>
%s

%s
#define STEPS(count) for (int i = 0; i < (count); i++) STEP()
'''
# What C and C++ share: how an answer is printed.
PRINTERS = '''static void show_double(double value) { if (isnan(value)) printf(" nan"); else printf(" %.17g", value); }
static void show_int(int value) { printf(" %d", value); }
static void show_text(const char *text)
{
  putchar(' ');
  for (; text && *text; text++)
    putchar(*text == '\\n' ? '|' : *text);
  if (!text)
    printf("none");
}
static void show_doubles(const double *values, int count)
{
  if (!values)
    printf(" none");
  for (int i = 0; values && i < count; i++)
    show_double(values[i]);
}
'''
UNUSED = '''
void probe_unused(void);
void probe_unused(void) { show_double(0); show_int(0); show_text(""); show_doubles(0, 0); }
'''


class C:
    def __init__(self, plan, headers):
        self.plan, self.headers = plan, headers
        self.is_car = plan.robot == 'Car'

    def self_of(self, call):
        owner = call.method.owner
        return [] if call.method.is_static or owner.self_kind == '' else [call.variable]

    def call(self, call):
        values = [c_value(value) for value in call.values]
        return '%s(%s)' % (call.method.function, ', '.join(self.self_of(call) + values))

    def show(self, call):
        kind, text = call.method.result, self.call(call)
        count = count_of(kind)
        if count == '':
            size = call.method.owner.prefix + 'get_lookup_table_size(%s)' % call.variable
            body = 'if (%s > 0) show_doubles(%s, 3 * %s); else show_text("");' % (size, text, size)
        elif count:
            body = 'show_doubles(%s, %s);' % (text, count)
        elif kind == 'double':
            body = 'show_double(%s);' % text
        elif kind == 'string':
            body = 'const char *it = %s; show_text(it ? it : "");' % text  # the others have no text that is none
        elif kind in ('Node', 'Field', 'Proto'):
            name = {'Node': 'WbNodeRef', 'Field': 'WbFieldRef', 'Proto': 'WbProtoRef'}[kind]
            shown = {'Node': 'show_int(wb_supervisor_node_get_id(it))', 'Field': 'show_text(wb_supervisor_field_get_name(it))',
                     'Proto': 'show_text(wb_supervisor_proto_get_type_name(it))'}[kind]
            body = '%s it = %s; if (it) %s; else show_text(NULL);' % (name, text, shown)
        elif kind in self.plan.by_name:
            body = 'WbDeviceTag it = %s; show_text(it ? wb_device_get_name(it) : NULL);' % text
        else:
            body = 'show_int((int)%s);' % text
        return '  { printf("%s"); %s printf("\\n"); }' % (call.label, body)

    def objects(self):
        lines = []
        for one, variable in self.plan.objects:
            if one.is_a('Device'):
                lines.append('  WbDeviceTag %s = wb_robot_get_device("%s"); (void)%s;' % (variable, variable, variable))
        if any(one.name == 'Node' for one, _ in self.plan.objects):
            lines += ['  WbNodeRef node = wb_supervisor_node_get_from_def("BALL"), kinds = wb_supervisor_node_get_from_def("KINDS");',
                      '  WbProtoRef proto = wb_supervisor_node_get_proto(kinds);', '  WbMotionRef motion = wbu_motion_new("probe.motion");']
            lines += ['  WbFieldRef field_{0}{1} = wb_supervisor_node_get_field(kinds, "{2}{1}"); (void)field_{0}{1};'.format(
                s, kind, s.lower()) for s in ('SF', 'MF') for kind in FIELD_KINDS]
        return lines

    def text(self, group):
        step = '#define STEP() %s' % ('wbu_driver_step()' if self.is_car else 'wb_robot_step(32)')
        lines = [C_TOP % (group, '\n'.join(self.headers), step) + PRINTERS + UNUSED, 'int main(void)', '{', '  wb_robot_init();']
        lines += ['  wbu_driver_init();'] if self.is_car else []
        lines += self.objects() + ['  %s;' % self.call(call) for call in self.plan.setters] + ['  STEPS(3);']
        lines += [self.show(call) for call in self.plan.getters] + ['  %s;' % self.call(call) for call in self.plan.again] + ['  STEPS(3);']
        lines += [self.show(call) for call in self.plan.shown_again]
        lines += ['  wbu_driver_cleanup();'] if self.is_car else []
        return '\n'.join(lines + ['  wb_robot_cleanup();', '  return 0;', '}', ''])


# ---- C++ ----

class Cpp:
    def __init__(self, plan):
        self.plan = plan

    def call(self, call):
        values = []
        for argument, value in zip(call.method.arguments, call.values):
            if isinstance(value, list):
                values.append('array(%s)' % ', '.join(map(str, value + [0.0] * (9 - len(value)))))
            elif argument.kind in call.method.owner.enum_names():
                values.append('static_cast<%s::%s>(%s)' % (call.method.owner.name, argument.kind, value))
            else:
                values.append(c_value(value))
        return '%s->%s(%s)' % (call.variable, call.method.name, ', '.join(values))

    def show(self, call):
        kind, text = call.method.result, self.call(call)
        count = count_of(kind)
        if count == '':
            body = 'if (%s->getLookupTableSize() > 0) show_doubles(%s, 3 * %s->getLookupTableSize()); else show_text("");' % (
                call.variable, text, call.variable)
        elif count:
            body = 'show_doubles(%s, %s);' % (text, count)
        elif kind == 'double':
            body = 'show_double(%s);' % text
        elif kind == 'string':
            body = 'show_text(%s.c_str());' % text
        elif kind in ('Node', 'Field', 'Proto'):
            shown = {'Node': 'show_int(it->getId())', 'Field': 'show_text(it->getName().c_str())',
                     'Proto': 'show_text(it->getTypeName().c_str())'}[kind]
            body = '%s *it = %s; if (it) %s; else show_text(NULL);' % (kind, text, shown)
        elif kind in self.plan.by_name:
            body = 'Device *it = %s; show_text(it ? it->getName().c_str() : NULL);' % text
        else:
            body = 'show_int(static_cast<int>(%s));' % text
        return '  { printf("%s"); %s printf("\\n"); }' % (call.label, body)

    def objects(self):
        lines = ['  %s *robot = new %s();' % (self.plan.robot, self.plan.robot)]
        for one, variable in self.plan.objects:
            if one.is_a('Device'):
                lines.append('  {0} *{1} = robot->get{0}("{1}"); (void){1};'.format(one.name, variable))
            elif one.name in ('Keyboard', 'Mouse', 'Joystick'):
                lines.append('  {0} *{1} = robot->get{0}();'.format(one.name, variable))
        if any(one.name == 'Node' for one, _ in self.plan.objects):
            lines += ['  Node *node = robot->getFromDef("BALL"), *kinds = robot->getFromDef("KINDS");',
                      '  Proto *proto = kinds->getProto();', '  Motion *motion = new Motion("probe.motion");']
            lines += ['  Field *field_{0}{1} = kinds->getField("{2}{1}"); (void)field_{0}{1};'.format(s, kind, s.lower())
                      for s in ('SF', 'MF') for kind in FIELD_KINDS]
        return lines

    def text(self, group):
        step = '#define STEPS(count) for (int i = 0; i < (count); i++) robot->step(%s)' % ('' if self.plan.robot == 'Car' else '32')
        own = {one.header for one, _ in self.plan.objects} | {self.plan.by_name[self.plan.robot].header}
        lines = ['// probe_%s.cpp - made from api/webots.api by api/render_tests.py.' % group]
        lines += ['#include <webots/%s>' % header for header in sorted(own)]
        lines += ['#include <cmath>', '#include <cstdio>', 'using namespace webots;', 'using std::isnan;', step, PRINTERS + UNUSED]
        lines += ['const double *array(double a, double b, double c, double d, double e, double f, double g, double h, double i);',
                  'const double *array(double a, double b, double c, double d, double e, double f, double g, double h, double i)',
                  '{', '  static double all[9];', '  const double now[9] = { a, b, c, d, e, f, g, h, i };',
                  '  for (int k = 0; k < 9; k++)', '    all[k] = now[k];', '  return all;', '}', '', 'int main()', '{'] + self.objects()
        lines += ['  %s;' % self.call(call) for call in self.plan.setters if call.method.is_in('cpp')] + ['  STEPS(3);']
        lines += [self.show(call) for call in self.plan.getters if call.method.is_in('cpp')]
        lines += ['  %s;' % self.call(call) for call in self.plan.again] + ['  STEPS(3);', '  delete robot;', '  return 0;', '}', '']
        return '\n'.join(lines)


# ---- Python ----

PYTHON_TOP = '''"""probe_%s.py - made from api/webots.api by api/render_tests.py."""
import math

from controller import *  # noqa: F401, F403
%s

def shown(value):
    if value is None:
        return 'none'
    if isinstance(value, (list, tuple)):
        return ' '.join(map(shown, value))
    if isinstance(value, float):
        return 'nan' if math.isnan(value) else '%%.17g' %% value
    if isinstance(value, (bool, int)):
        return str(int(value))
    if isinstance(value, str):
        return value.replace('\\n', '|')
    return shown(value.getId() if isinstance(value, Node) else value.getTypeName() if isinstance(value, Proto) else value.getName())


def show(label, value):
    print(label, shown(value))


'''


class Python:
    def __init__(self, plan):
        self.plan = plan

    @staticmethod
    def call(call):
        return '%s.%s(%s)' % (call.variable, call.method.name, ', '.join(map(repr, call.values)))

    def objects(self):
        lines = ['robot = %s()' % self.plan.robot]
        for one, variable in self.plan.objects:
            if one.name == 'Servo':
                lines.append("servo = robot.getServo('servo')")
            elif one.is_a('Device'):
                lines.append('{0} = robot.getDevice({0!r})'.format(variable))
            elif one.name in ('Keyboard', 'Mouse', 'Joystick'):
                lines.append('%s = robot.get%s()' % (variable, one.name))
        if any(one.name == 'Node' for one, _ in self.plan.objects):
            lines += ["node, kinds = robot.getFromDef('BALL'), robot.getFromDef('KINDS')", 'proto = kinds.getProto()',
                      "motion = Motion('probe.motion')"]
            lines += ["field_%s%s = kinds.getField('%s%s')" % (s, kind, s.lower(), kind) for s in ('SF', 'MF') for kind in FIELD_KINDS]
        return lines

    def text(self, group):
        steps = ['for _ in range(3):', '    robot.step(%s)' % ('' if self.plan.robot == 'Car' else 32)]
        lines = [PYTHON_TOP % (group, 'from vehicle import Car  # noqa: F401\n' if self.plan.robot == 'Car' else '')] + self.objects()
        lines += [self.call(call) for call in self.plan.setters if call.method.is_in('python')] + steps
        lines += ['show(%r, %s)' % (call.label, self.call(call)) for call in self.plan.getters if call.method.is_in('python')]
        lines += ['%s.%s = %r' % (call.variable, call.by_property, call.values[0]) for call in self.plan.again] + steps
        lines += ['show(%r, %s.%s)' % (call.label, call.variable, call.by_property) for call in self.plan.shown_again]
        return '\n'.join(lines) + '\n'


def coverage(classes):
    """Class method languages how: `probe`, or why not."""
    lines = []
    for one in classes:
        for method in one.methods:
            languages = ','.join(language for language, place in (('cpp', one.header), ('python', one.module))
                                 if method.is_in(language) and place)
            how = 'probe' if is_probed(method) else method.remarks.get('no try') or 'called by the behaviour test'
            lines.append('\t'.join((one.name, method.name, languages or 'cpp', how)))
        lines += ['\t'.join((one.name, 'get' + name, 'cpp,python', 'probe')) for name in one.getters]
    return '\n'.join(lines) + '\n'


def names(classes):
    """Every name that Python has: class and name."""
    lines = []
    for one in classes:
        if one.module:
            own = [method.name for method in one.methods_in('python')]
            own += [row[0] for row in one.properties + one.constants + one.fields + one.aliases]
            own += [name for _, members in one.enums for name, _ in members] + ['get' + name for name in one.getters]
            lines += ['%s %s %s' % (one.module, one.name, name) for name in sorted(set(own))]
    return '\n'.join(lines) + '\n'


def files(classes):
    from render_cpp import c_headers
    made = {'tests/languages/coverage.txt': coverage(classes), 'tests/languages/names.txt': names(classes)}
    for group in GROUPS:
        plan = Plan(classes, group)
        made['tests/languages/probe_%s.c' % group] = C(plan, c_headers(classes)).text(group)
        made['tests/languages/probe_%s.cpp' % group] = Cpp(plan).text(group)
        made['tests/languages/probe_%s.py' % group] = Python(plan).text(group)
    return made
