"""Python from the description: the packages `controller` and `vehicle`, one module a class (or a few), and a type stub beside each. Methods
call their C function at once; what needs more is taken from python/controller/_shapes.py."""
import keyword
import os
import re
import sys

from reader import count_of, snake

REFERENCES = {'Node': 'node_of', 'Field': 'field_of', 'Proto': 'proto_of'}
LETTERS = {'int': 'i', 'double': 'd', 'bool': 'b', 'string': 's', 'void': 'v'}
HINTS = {'int': 'int', 'double': 'float', 'bool': 'bool', 'string': 'str', 'void': 'None', 'float': 'float'}
# Of programs older than the properties.
KEEPS_CAMEL = ('Node', 'Field', 'Proto')


class Renderer:
    def __init__(self, classes):
        self.by_name = {one.name: one for one in classes}
        self.classes = [one for one in classes if one.module]
        self.shapes = shapes()

    # ---- kinds ----

    def letter(self, kind):
        if kind in LETTERS:
            return LETTERS[kind]
        if count_of(kind) is not None:
            return 'D'
        if kind in REFERENCES:
            return 'r'
        if kind in self.by_name:
            return 't'
        return 'i'  # an enum

    def hint(self, kind):
        if kind in HINTS:
            return HINTS[kind]
        if count_of(kind) is not None:
            return 'List[float]' if kind.startswith('double') else 'List[int]'
        if kind in self.by_name:
            return "'%s'" % kind
        return {'<list>': 'list', '<bytes>': 'bytes'}.get(kind, 'Any' if kind.startswith('<') else 'int')

    @staticmethod
    def passed(argument, by_name):
        name = argument[0]
        kind = argument[1]
        if kind == 'string':
            return 'encoded(%s)' % name
        if count_of(kind):
            return 'doubles(%s, %s)' % (name, count_of(kind))
        if kind in REFERENCES:
            return 'reference_of(%s)' % name
        if kind in by_name:
            return '%s._tag' % name
        return name

    def given(self, method, call):
        """The lines that hand the answer on."""
        kind = method.result
        count = count_of(kind)
        if kind == 'void':
            return [call]
        if count:
            return ['answer = ' + call, 'return answer[:%s] if answer else None' % count]
        if kind == 'string':
            return ['return decoded(%s)' % call]
        if kind in REFERENCES:
            return ['return %s(%s)' % (REFERENCES[kind], call)]
        if kind in self.by_name:
            return ['return device_of(%s)' % call]
        return ['return ' + call]

    # ---- methods ----

    def argument_names(self, method):
        names = []
        for argument in method.arguments:
            name = argument.name if method.owner.name in KEEPS_CAMEL else snake(argument.name)
            names.append(name + '_' if keyword.iskeyword(name) else name)
        return names

    def head(self, method):
        parts = [] if method.is_static else ['self']
        for name, argument in zip(self.argument_names(method), method.arguments):
            part = '%s: %s' % (name, self.hint(argument.kind))
            if argument.preset is not None:
                part += ' = ' + {'false': 'False', 'true': 'True'}.get(argument.preset, argument.preset)
            parts.append(part)
        return 'def %s(%s) -> %s:' % (method.name, ', '.join(parts), self.hint(method.result))

    def bound(self, method):
        letters = '' if method.is_static else {'tag': 't', '': ''}.get(method.owner.self_kind, 'r')
        letters += ''.join(self.letter(argument.kind) for argument in method.arguments)
        result = 'D' if count_of(method.result) is not None else self.letter(method.result)
        return '_%s = function(%r, %r, %r)' % (method.function, method.function, result, letters)

    def body(self, method):
        if method.result == 'double[]':
            return ['    %s' % self.head(method), '        return _table(self._tag)', '']
        values = [] if method.is_static else {'tag': ['self._tag'], '': []}.get(method.owner.self_kind, ['self._ref'])
        values = values + [self.passed((name, argument.kind), self.by_name)
                           for name, argument in zip(self.argument_names(method), method.arguments)]
        lines = ['        ' + line for line in self.given(method, '_%s(%s)' % (method.function, ', '.join(values)))]
        before = ['    @staticmethod'] if method.is_static else []
        times = ', '.join('%s %s' % (word, method.remarks[word]) for word in ('since', 'until') if method.has(word))
        note = ['        """%s%s."""' % (times[0].upper(), times[1:])] if times else []
        return before + ['    ' + self.head(method)] + note + lines + ['']

    def custom(self, method):
        name = '_shapes.%s_%s' % (method.owner.name, method.name)
        return '    %s = %s' % (method.name, 'staticmethod(%s)' % name if method.is_static else name)

    def special(self, one):
        """Constructors and the like: functions of _shapes.py called Class__name."""
        found = []
        for name in self.shapes:
            if name.startswith(one.name + '__'):
                method = name[len(one.name) + 1:]
                method = '_' + method if re.fullmatch('_(init|del|eq|hash)__', method) else method
                found.append('    %s = _shapes.%s' % (method, name))
        return found

    # ---- classes ----

    def constants(self, one):
        lines = ['    %s = %s' % (name, hex(value) if value > 0xffff - 1 else value) for _, members in one.enums for name, value in members]
        return lines + ['    %s = %s' % row for row in one.constants]

    def properties(self, one):
        return ['    %s = property(%s)' % (name, ', '.join([getter or 'None'] + ([setter] if setter else [])))
                for name, getter, setter in one.properties]

    def slots(self, one):
        if one.is_a('Robot'):
            return []  # a robot may be given anything: programs keep their own there
        if one.base:
            return ['    __slots__ = ()']
        return ['    __slots__ = (%s)' % {'tag': "'_tag', '__weakref__'", '': "'__weakref__',"}.get(one.self_kind, "'_ref', '__weakref__'")]

    def record(self, one):
        names = [name for name, _ in one.fields]
        lines = ['class %s:' % one.name, '    __slots__ = (%s)' % ''.join("'%s', " % name for name in names).rstrip(), '']
        lines += ['    def __init__(self, %s):' % ', '.join(names)] + ['        self.%s = %s' % (name, name) for name in names] + ['']
        lines += ['    def __repr__(self):', "        shown = ('%s=%r' % (name, getattr(self, name)) for name in self.__slots__)",
                  "        return '%s(%%s)' %% ', '.join(shown)" % one.name, '']
        for name, kind in one.fields:
            getter = 'get' + ''.join(word.capitalize() for word in name.split('_'))
            lines += ['    def %s(self) -> %s:' % (getter, self.hint(kind)), '        return self.%s' % name, '']
            lines += ['    get_%s = %s' % (name, getter), ''] if one.name == 'CameraRecognitionObject' else []
        lines += ['    %s = property(lambda self: self.%s)' % alias for alias in one.aliases]
        return lines + ["classes['%s'] = %s" % (one.name, one.name), '']

    def definition(self, one):
        if one.fields:
            return self.record(one)
        lines = ['class %s%s:' % (one.name, '(%s)' % one.base.name if one.base else '')] + self.slots(one) + self.constants(one) + ['']
        if one.is_a('Sensor') and one.prefix:
            lines += ['    _enable = staticmethod(function(%r, %r, %r))' % (one.prefix + 'enable', 'v', 'ti'),
                      '    _disable = staticmethod(function(%r, %r, %r))' % (one.prefix + 'disable', 'v', 't'),
                      '    _get_sampling_period = staticmethod(function(%r, %r, %r))' % (one.prefix + 'get_sampling_period', 'i', 't'), '']
        lines += self.special(one)
        methods = one.methods_in('python')
        lines += [self.custom(method) for method in methods if method.is_custom('python')] + ['']
        for method in methods:
            if not method.is_custom('python'):
                lines += self.body(method)
        for name in one.getters:
            if 'Robot_get%s' % name in self.shapes:
                lines.append('    get%s = _shapes.Robot_get%s' % (name, name))
            else:
                lines.append('    get%s = getDevice' % name)
        lines += self.properties(one)
        return lines + ["classes['%s'] = %s" % (one.name, one.name), '']

    def bound_functions(self, one):
        lines = {}
        for method in one.methods_in('python'):
            if method.result == 'double[]':
                lines["_table = _shapes._table('%s')" % one.prefix] = 0
            elif not method.is_custom('python'):
                lines[self.bound(method)] = 0
        return list(lines)

    def module(self, name, members):
        package = name.split('.')[0]
        own = '' if package == 'controller' else 'controller'
        lines = ['"""%s: made from api/webots.api by api/render_python.py."""' % name, 'from typing import Any, List  # noqa: F401', '']
        lines += ['from %s import _shapes' % (own or '.'),
                  'from %s._library import (classes, decoded, device_of, doubles, encoded, field_of,  # noqa: F401' % own,
                  '    function, node_of, proto_of, reference_of)']
        for base in sorted({one.base.name for one in members if one.base and one.base.module != name}):
            module = self.by_name[base].module
            lines.append('from %s import %s' % ('.' + module.split('.')[1] if module.startswith(package + '.') else module, base))
        lines.append('')
        for one in members:
            lines += self.bound_functions(one) + ['', ''] + self.definition(one)
        return '\n'.join(lines) + '\n'

    # ---- stubs ----

    def stub(self, name, members):
        package = name.split('.')[0]
        lines = ['from typing import Any, List, Optional, Union', '']
        own = {one.name for one in members}
        used = set()
        text = []
        for one in members:
            text += self.stub_class(one, used)
        for other in sorted((used | {one.base.name for one in members if one.base}) - own):
            module = self.by_name[other].module
            if module:
                lines.append('from %s import %s' % ('.' + module.split('.')[1] if module.startswith(package + '.') else module, other))
        return '\n'.join(lines + [''] + text) + '\n'

    def stub_hint(self, kind, used):
        hint = self.hint(kind).strip("'")
        if hint in self.by_name:
            used.add(hint)
            return 'Optional[%s]' % hint
        return hint

    def stub_class(self, one, used):
        lines = ['class %s%s:' % (one.name, '(%s)' % one.base.name if one.base else '')]
        lines += ['    %s: int' % name for _, members in one.enums for name, _ in members]
        lines += ['    %s: %s' % (name, 'str' if value.startswith('"') else 'Any') for name, value in one.constants]
        for name, kind in one.fields:
            hint = self.hint(kind)
            getter = 'get' + ''.join(word.capitalize() for word in name.split('_'))
            lines += ['    %s: %s' % (name, hint), '    def %s(self) -> %s: ...' % (getter, hint)]
        lines += ['    %s: %s' % (name, self.hint(dict(one.fields)[target])) for name, target in one.aliases]
        if one.name in ('Device', 'Sensor'):
            period = ', sampling_period: Optional[int] = ...' if one.name == 'Sensor' else ''
            lines.append('    def __init__(self, name: Union[str, int]%s) -> None: ...' % period)
        if one.name == 'Robot':
            lines += ['    devices: dict', '    keyboard: Keyboard', '    mouse: Mouse', '    joystick: Joystick']
            used.update(('Keyboard', 'Mouse', 'Joystick'))
        if one.name == 'Motion':
            lines.append('    def __init__(self, filename: str) -> None: ...')
        results = {}
        for method in one.methods_in('python'):
            results[method.name] = method
            lines += ['    @staticmethod'] if method.is_static else []
            arguments, result = ', '.join(self.stub_arguments(method, used)), self.stub_hint(method.result, used)
            lines.append('    def %s(%s) -> %s: ...' % (method.name, arguments, result))
        for name in one.getters:
            used.add(name)
            lines.append('    def get%s(self, name: str) -> Optional[%s]: ...' % (name, name))
        for name, getter, setter in one.properties:
            method = results.get(getter) or results.get(setter)
            kind = ('Any' if not method else self.stub_hint(method.result, used) if method.name == getter
                    else self.hint(method.arguments[0].kind))
            lines += ['    @property', '    def %s(self) -> %s: ...' % (name, kind)]
            lines += ['    @%s.setter' % name, '    def %s(self, value: %s) -> None: ...' % (name, kind)] if setter else []
        return lines + (['    ...'] if len(lines) == 1 else []) + ['']

    def stub_arguments(self, method, used):
        parts = [] if method.is_static else ['self']
        for name, argument in zip(self.argument_names(method), method.arguments):
            parts.append('%s: %s%s' % (name, self.stub_hint(argument.kind, used), ' = ...' if argument.preset is not None else ''))
        if re.fullmatch('get(RecognitionSegmentation)?Image', method.name) and method.owner.name == 'Camera':
            parts.append('data_type: str = ...')
        return parts


def shapes():
    """The names that _shapes.py defines, by its text alone: it cannot be imported without the library."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'python', 'controller', '_shapes.py')
    with open(path, encoding='utf-8') as file:
        text = file.read()
    names = re.findall(r'^def ([A-Z]\w+)\(', text, re.M)
    for line in re.findall(r'^([A-Z]\w+(?:(?:, | = )[A-Z]\w+)*) = ', text, re.M):
        names += re.findall(r'[A-Z]\w+', line)
    return [name for name in names if '_' in name]


def files(classes):
    """Path below the output folder -> text."""
    renderer = Renderer(classes)
    modules = {}
    for one in renderer.classes:
        modules.setdefault(one.module, []).append(one)
    for one in renderer.classes:
        for method in one.methods_in('python'):
            if method.is_custom('python') and '%s_%s' % (one.name, method.name) not in renderer.shapes:
                sys.exit('python/controller/_shapes.py has no %s_%s' % (one.name, method.name))
    made = {}
    for name, members in modules.items():
        path = 'python/' + name.replace('.', '/')
        made[path + '.py'] = renderer.module(name, members)
        made[path + '.pyi'] = renderer.stub(name, members)
    for package, title in (('controller', 'Robot programs in Python'), ('vehicle', 'Cars in Python: Driver and Car')):
        own = [one for one in renderer.classes if one.module.startswith(package + '.')]
        lines = ['"""%s, with the classes and names of Webots. Made from api/webots.api by api/render_python.py."""' % title]
        lines += ['from .%s import %s  # noqa: F401' % (one.module.split('.')[1], one.name) for one in own]
        lines += ['', '__all__ = %r' % sorted(one.name for one in own), '']
        made['python/%s/__init__.py' % package] = '\n'.join(lines)
        stubs = ['from .%s import %s as %s' % (one.module.split('.')[1], one.name, one.name) for one in own]
        made['python/%s/__init__.pyi' % package] = '\n'.join(stubs) + '\n'
        made['python/%s/py.typed' % package] = ''
    return made
