"""C++ from the description: one header a class, and the bodies of all methods that only pass on to the C function."""
import os
import re
import textwrap

from reader import INCLUDE, codes_of, count_of, snake

HEAD = '// %s - made from api/webots.api by api/render_cpp.py.\n'
# What the header of a class needs beside the header of its base. Programs lean on what Robot.hpp brings along.
INCLUDES = {
    'Device': ['<string>', '<webots/types.h>'], 'Robot': ['<iostream>', '<string>', '<vector>', '<webots/types.h>'],
    'Camera': ['<webots/camera_recognition_object.h>'], 'Lidar': ['<webots/lidar_point.h>'], 'Radar': ['<webots/radar_target.h>'],
    'Mouse': ['<webots/mouse_state.h>'], 'Joystick': ['<string>'], 'Motor': ['<math.h>'], 'Servo': ['<math.h>'],
    'Display': ['<webots/ImageRef.hpp>'], 'Motion': ['<string>', '<webots/types.h>'],
    'Proto': ['<string>', '<webots/types.h>', '<webots/Field.hpp>'],
    'Node': ['<string>', '<webots/types.h>', '<webots/contact_point.h>'], 'Field': ['<string>', '<webots/types.h>'],
    'Supervisor': ['<webots/Device.hpp>', '<webots/Field.hpp>', '<webots/Node.hpp>', '<webots/Proto.hpp>'],
    # Programs of its time include this header alone and use devices at once.
    'DifferentialWheels': ['<webots/%s.hpp>' % name for name in (
        'Accelerometer', 'Camera', 'Compass', 'Connector', 'Display', 'DistanceSensor', 'Emitter', 'GPS', 'Gyro', 'InertialUnit', 'LED',
        'LightSensor', 'Pen', 'PositionSensor', 'Receiver', 'Servo', 'TouchSensor')],
}
# Names that C++ has for the records of C.
TYPEDEFS = {'Camera': 'WbCameraRecognitionObject CameraRecognitionObject', 'Lidar': 'WbLidarPoint LidarPoint',
            'Radar': 'WbRadarTarget RadarTarget', 'Mouse': 'WbMouseState MouseState', 'Node': 'WbContactPoint ContactPoint'}
# Constructors and what else no row can say. {0} is the class, {1} its base.
DEVICE = ['explicit {0}(const std::string &name) : {1}(name) {{}}', 'explicit {0}(WbDeviceTag tag) : {1}(tag) {{}}', 'virtual ~{0}() {{}}']
SPECIAL = {
    'Device': (['virtual ~Device() {{}}', 'const std::string &getName() const {{ return mName; }}',
                'int getTag() const {{ return mTag; }}'],
               ['protected:', '  explicit Device(const std::string &name);', '  explicit Device(WbDeviceTag tag);',
                'private:', '  WbDeviceTag mTag;', '  std::string mName;']),
    'Robot': (['Robot();', 'virtual ~Robot();', 'static Robot *internalGetInstance();', 'static Device *getDeviceFromTag(int tag);',
               'static int getDeviceTypeFromTag(int tag);', 'static std::string getDeviceNameFromTag(int tag);',
               'static int getDeviceTagFromIndex(int index);', 'static int getDeviceTagFromName(const std::string &name);'],
              ['private:', '  Robot(const Robot &);', '  Robot &operator=(const Robot &);', '  Device *getOrCreateDevice(int tag);',
               '  Device *createDevice(int type, const std::string &name) const;', '  Keyboard *mKeyboard;',
               '  Joystick *mJoystick;', '  Mouse *mMouse;',
               '  std::vector<Device *> mDevices;']),
    'Supervisor': (['Supervisor() : Robot() {{}}', 'virtual ~Supervisor();', 'static Supervisor *internalGetInstance();'], []),
    'DifferentialWheels': (['explicit DifferentialWheels() : Robot() {{}}', 'virtual ~DifferentialWheels() {{}}'], []),
    'Driver': (['Driver();', 'virtual ~Driver();', 'using Supervisor::step;', 'static Driver *internalGetInstanceDriver();'], []),
    'Car': (['Car() : Driver() {{}}', 'virtual ~Car() {{}}'], []),
    'Motion': (['explicit Motion(const std::string &fileName);', 'virtual ~Motion();'],
               ['protected:', '  WbMotionRef getMotionRef() const { return ref; }',
                'private:', '  Motion(const Motion &);', '  Motion &operator=(const Motion &);', '  WbMotionRef ref;']),
    'Node': (['static Node *findNode(WbNodeRef ref);', 'static void cleanup();', 'WbNodeRef getNodeRef() const {{ return ref; }}'],
             ['private:', '  explicit Node(WbNodeRef own) : ref(own) {}', '  ~Node() {}', '  WbNodeRef ref;']),
    'Field': (['static Field *findField(WbFieldRef ref);', 'static void cleanup();'],
              ['private:', '  explicit Field(WbFieldRef own) : ref(own) {}', '  ~Field() {}', '  WbFieldRef ref;']),
    'Proto': (['static Proto *findProto(WbProtoRef ref);', 'static void cleanup();'],
              ['private:', '  explicit Proto(WbProtoRef own) : ref(own) {}', '  ~Proto() {}', '  WbProtoRef ref;']),
}
REFERENCES = ('Node', 'Field', 'Proto')
WITHOUT_VIRTUAL = REFERENCES


class Renderer:
    def __init__(self, classes):
        self.by_name = {one.name: one for one in classes}
        self.classes = [one for one in classes if one.header]

    # ---- kinds ----

    def is_class(self, kind):
        return kind in self.by_name

    def result(self, kind, owner=''):
        if kind.startswith('<'):
            return kind[1:-1]
        if count_of(kind) is not None:
            return 'const double *'
        if self.is_class(kind):
            return kind + ' *'
        return {'string': 'std::string'}.get(kind, owner + kind if kind not in ('void', 'int', 'double', 'bool') else kind)

    def argument(self, argument):
        kind, name = argument.kind, argument.name
        if kind.startswith('<'):
            return join(kind[1:-1], name)
        if count_of(kind):
            return 'const double %s[%s]' % (name, count_of(kind))
        if self.is_class(kind):
            return '%s%s *%s' % ('const ' if kind in ('Node', 'Device') else '', kind, name)
        return ('const std::string &%s' if kind == 'string' else kind + ' %s') % name

    def passed(self, argument):
        """How the C function gets it."""
        kind, name = argument.kind, argument.name
        if kind == 'string':
            return name + '.c_str()'
        if kind in REFERENCES:
            return '{0} ? {0}->ref : NULL'.format(name) if kind == 'Node' else name + '->ref'
        if self.is_class(kind):
            return '{0} ? static_cast<WbDeviceTag>({0}->getTag()) : 0'.format(name)
        if re.fullmatch('[A-Z].*', kind):
            return 'static_cast<%s>(%s)' % (C_ENUMS[kind], name) if kind in C_ENUMS else name
        return name

    def given(self, method, call):
        """The statement that hands the C function's answer on."""
        kind = method.result
        if kind == 'void':
            return call + ';'
        if kind == 'string':
            return 'return text(%s);' % call
        if kind in REFERENCES:
            return 'return %s::find%s(%s);' % (kind, kind, call)
        if self.is_class(kind):
            return 'return dynamic_cast<%s *>(Robot::getDeviceFromTag(%s));' % (kind, call)
        if kind in method.owner.enum_names():
            return 'return static_cast<%s>(%s);' % (kind, call)
        return 'return %s;' % call

    # ---- headers ----

    def signature(self, method, is_declared, without_last=False):
        arguments = method.arguments[:-1] if without_last else method.arguments
        parts = []
        for argument in arguments:
            text = self.argument(argument)
            if is_declared and argument.preset is not None:
                text += preset(argument)
            parts.append(text)
        owner = '' if is_declared else method.owner.name + '::'
        text = join(self.result(method.result, '' if is_declared else owner), '%s%s(%s)' % (owner, method.name, ', '.join(parts)))
        return text + (' const' if method.is_const else '')

    def variants(self, method):
        """Without and with a last text that may be left out: nobody's text is the same as an empty one."""
        last = method.arguments[-1] if method.arguments else None
        return [True, False] if last is not None and last.kind == 'string' and last.preset == 'None' else [False]

    def declaration(self, method, without_last):
        is_virtual = method.has('virtual') or (
            method.result == 'void' and not method.is_static and method.owner.name not in WITHOUT_VIRTUAL)
        before = 'static ' if method.is_static else 'virtual ' if is_virtual else ''
        times = ['%s %s' % (word, method.remarks[word]) for word in ('since', 'until') if method.has(word)]
        return '    %s%s;%s' % (before, self.signature(method, True, without_last), '  // ' + ', '.join(times) if times else '')

    def used_classes(self, one):
        kinds = {kind for method in one.methods_in('cpp') for kind in [method.result] + [argument.kind for argument in method.arguments]}
        return sorted((kinds | set(one.getters)) & {other.name for other in self.classes} - {one.name})

    def methods(self, one):
        own = one.methods_in('cpp')
        if one.base and one.base.name == 'Sensor':  # C++ has no such class: each has the three methods
            own = [self.of(one, method) for method in one.base.methods] + own
        return own

    @staticmethod
    def of(one, method):
        return type(method)(one, method.result, method.name, method.arguments, {})

    def header(self, one):
        guard = 'WEBOTS_' + snake(one.header.replace('.hpp', '').replace('/', '_')).upper() + '_HPP'
        base = one.base and (one.base if one.base.header else one.base.base)
        lines = [HEAD % one.header, '#ifndef ' + guard, '#define ' + guard, '']
        if base:
            lines.append('#include <webots/%s>' % base.header)
        lines += ['#include ' + name for name in INCLUDES.get(one.name, [])] + ['']
        lines += ['namespace webots {'] + ['  class %s;' % name for name in self.used_classes(one)]
        if one.name in TYPEDEFS:
            lines.append('  typedef %s;' % TYPEDEFS[one.name])
        lines += ['', '  class %s%s {' % (one.name, ' : public ' + base.name if base else ''), '  public:']
        for name, members in one.enums:
            body = ', '.join('%s = %d' % member for member in members)
            text = 'typedef enum { %s } %s;' % (body, name) if name else 'enum { %s };' % body
            lines += textwrap.wrap(text, 118, initial_indent='    ', subsequent_indent='      ')
        own, rest = SPECIAL.get(one.name, (DEVICE if base else ['{0}() {{}}', 'virtual ~{0}() {{}}'], []))
        lines += ['    ' + line.format(one.name, base.name if base else '') for line in own] + ['']
        for method in self.methods(one):
            if one.name == 'Device' and method.name in ('getName', 'getTag'):
                continue
            lines += [self.declaration(method, without_last) for without_last in self.variants(method)]
        lines += ['    {0} *get{0}(const std::string &name);'.format(name) for name in one.getters]
        if one.getters:
            lines += ['', '  protected:']
            lines += ['    virtual {0} *create{0}(const std::string &name) const;'.format(name) for name in one.getters]
        friends = {'Node': 'friend class Field; friend class Supervisor; friend class Proto;',
                   'Device': 'friend class Robot;'}.get(one.name)
        lines += ['', '  ' + '\n  '.join(rest)] if rest else []
        lines += ['    ' + friends] if friends else []
        return '\n'.join(lines + ['  };', '}', '', '#endif', ''])

    # ---- bodies ----

    def body(self, method, without_last):
        arguments = [self.passed(argument) for argument in method.arguments]
        if without_last:
            arguments[-1] = 'NULL'
        if not method.is_static:
            arguments = {'tag': ['static_cast<WbDeviceTag>(getTag())'], '': []}.get(method.owner.self_kind, ['ref']) + arguments
        call = '%s(%s)' % (method.function, ', '.join(arguments))
        return '  %s\n  {\n    %s\n  }\n' % (self.signature(method, False, without_last), self.given(method, call))

    def create_device(self):
        lines = ['  Device *Robot::createDevice(int type, const std::string &name) const', '  {', '    switch (type) {']
        for name in self.by_name['Robot'].getters:
            lines += ['      case WB_NODE_%s:' % code for code in codes_of(name)]
            lines[-1] += ' return create%s(name);' % name
        return lines + ['      default: return NULL;', '    }', '  }', '']

    def bodies(self):
        lines = [HEAD % 'methods.cpp' + '// Every method here passes on to the C function that it stands for.']
        lines += ['#include <webots/%s>' % one.header for one in self.classes] + c_headers(self.by_name.values())
        lines += ['', 'static std::string text(const char *answer) { return answer ? answer : ""; }', '', 'namespace webots {']
        for one in self.classes:
            lines += [self.body(method, without_last) for method in self.methods(one) if not method.is_custom('cpp')
                      for without_last in self.variants(method)]
        lines += self.create_device()
        for name in self.by_name['Robot'].getters:
            lines.append('  {0} *Robot::create{0}(const std::string &name) const\n  {{\n    return new {0}(name);\n  }}\n'.format(name))
            if name in ('Camera', 'Servo'):  # cpp/custom.cpp
                continue
            lines.append('  {0} *Robot::get{0}(const std::string &name)\n  {{\n'
                         '    return dynamic_cast<{0} *>(getDevice(name));\n  }}\n'.format(name))
        return '\n'.join(lines + ['}', ''])


C_ENUMS = {'Mode': 'WbRobotMode', 'UserInputEvent': 'WbUserInputEvent', 'SimulationMode': 'WbSimulationMode',
           'IndicatorState': 'WbuDriverIndicatorState', 'WiperMode': 'WbuDriverWiperMode', 'WheelIndex': 'WbuCarWheelIndex'}


def join(kind, name):
    return kind + ('' if kind.endswith('*') else ' ') + name


def preset(argument):
    if argument.preset == 'None':
        return '' if argument.kind == 'string' else ' = NULL'
    return ' = ' + argument.preset


def c_headers(classes):
    """Those of the functions that the classes pass on to."""
    names = {prefix[len('wb_'):-1] for prefix in (one.prefix for one in classes) if prefix.startswith('wb_')}
    found = sorted(name for name in names if os.path.exists(os.path.join(INCLUDE, 'webots', name + '.h')))
    others = ['plugins/robot_window/robot_wwi', 'utils/motion', 'vehicle/car', 'vehicle/driver']
    return ['#include <webots/%s.h>' % name for name in found + others]


IMAGE_REF = HEAD % 'ImageRef.hpp' + '''#ifndef WEBOTS_IMAGE_REF_HPP
#define WEBOTS_IMAGE_REF_HPP

#include <webots/types.h>

namespace webots {
  class ImageRef {
  public:
    explicit ImageRef(const WbImageRef &own) : image(own) {}
    virtual ~ImageRef() {}
    WbImageRef getImageRef() { return image; }

  private:
    WbImageRef image;
  };
}

#endif
'''
ANSI_CODES = HEAD % 'utils/AnsiCodes.hpp' + '''#ifndef WEBOTS_UTILS_ANSI_CODES_HPP
#define WEBOTS_UTILS_ANSI_CODES_HPP

#include <webots/utils/ansi_codes.h>

#endif
'''


def files(classes):
    """Path below the output folder -> text."""
    renderer = Renderer(classes)
    made = {'include/webots/' + one.header: renderer.header(one) for one in renderer.classes}
    made['include/webots/ImageRef.hpp'] = IMAGE_REF
    made['include/webots/utils/AnsiCodes.hpp'] = ANSI_CODES
    made['cpp/methods.cpp'] = renderer.bodies()
    return made
