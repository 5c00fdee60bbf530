"""Reads webots.api (its head says how it is written) into plain records that the renderers share."""
import os
import re


class Bad(Exception):
    """A mistake in the description, with its place."""


class Argument:
    def __init__(self, kind, name, preset):
        self.kind, self.name, self.preset = kind, name, preset


class Method:
    def __init__(self, owner, result, name, arguments, remarks):
        self.owner, self.result, self.name, self.arguments, self.remarks = owner, result, name, arguments, remarks
        self.function = remarks.get('c') or owner.prefix + snake(name)

    def has(self, remark):
        return remark in self.remarks

    def is_in(self, language):
        """Whether C++ ('cpp') or Python ('python') has it."""
        other = 'python' if language == 'cpp' else 'cpp'
        return not self.has(other)

    def is_custom(self, language):
        return self.has('custom') and self.remarks['custom'] in ('', language)

    @property
    def is_static(self):
        return self.has('static')

    @property
    def is_const(self):
        return self.result != 'void' and not self.has('virtual') and not self.is_static


class Class:
    def __init__(self, name, base):
        self.name, self.base = name, base
        self.prefix, self.self_kind = '', base.self_kind if base else ''
        self.header, self.module = name + '.hpp', 'controller.' + snake(name)
        self.enums, self.constants, self.methods, self.properties, self.fields, self.aliases, self.getters = [], [], [], [], [], [], []
        self.is_plain = False

    def family(self):
        """This class and those above it, nearest first."""
        return [self] + (self.base.family() if self.base else [])

    def is_a(self, name):
        return any(one.name == name for one in self.family())

    def enum_names(self):
        return [name for one in self.family() for name, _ in one.enums if name]

    def methods_in(self, language):
        return [method for method in self.methods if method.is_in(language)]


def snake(name):
    """getSFVec3f -> get_sf_vec3f"""
    name = re.sub('([A-Z]+)([A-Z][a-z])', r'\1_\2', name)
    return re.sub('([a-z0-9])([A-Z])', r'\1_\2', name).lower()


def count_of(kind):
    """3 of double[3], '' of double[], None of any other kind."""
    match = re.fullmatch(r'(?:double|int)\[(\d*)\]', kind)
    return match and match.group(1)


def _split_arguments(text):
    return [part.strip() for part in re.split(r',(?![^<]*>)', text) if part.strip()]


def _arguments(text):
    found = []
    for part in _split_arguments(text):
        match = re.fullmatch(r'(<[^>]*>|[\w\[\]]+) (\w+)(?: = (.*))?', part)
        if not match:
            raise Bad("'%s' is no argument" % part)
        found.append(Argument(*match.groups()))
    return found


def _remarks(text):
    found = {}
    for remark in re.findall(r'\[([^\]]*)\]', text):
        word, _, rest = remark.partition(' ')
        if word == 'no':
            word, rest = 'no try', rest.partition(' ')[2]
        found[word] = rest
    return found


KNOWN = {'c', 'cpp', 'python', 'custom', 'static', 'since', 'until', 'try', 'no try', 'old', 'virtual'}


def _method(owner, line):
    match = re.fullmatch(r'(<[^>]*>|[\w\[\]]+) (\w+)\((.*?)\)((?: \[[^\]]*\])*)', line)
    if not match:
        raise Bad("'%s' is no method" % line)
    remarks = _remarks(match.group(4))
    if set(remarks) - KNOWN:
        raise Bad('unknown remark %s' % sorted(set(remarks) - KNOWN))
    return Method(owner, match.group(1), match.group(2), _arguments(match.group(3)), remarks)


def _enum(text):
    name, *words = text.split()
    members, value = [], -1
    for word in words:
        key, _, number = word.partition('=')
        value = int(number, 0) if number else value + 1
        members.append((key, value))
    return ('' if name == '-' else name), members


INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'include')


def node_codes():
    """The members of WbNodeType in nodes.h, without WB_NODE_."""
    with open(os.path.join(INCLUDE, 'webots', 'nodes.h'), encoding='utf-8') as file:
        return re.findall(r'^ *WB_NODE_(\w+)', file.read(), re.M)


def codes_of(name):
    """Those that a class of devices stands for: Motor has two."""
    code, codes = snake(name).upper(), node_codes()
    return [code] if code in codes else [one for one in codes if one.endswith('_' + code)]


def _add(owner, line):
    word, _, rest = line.partition(' ')
    if word == 'prefix':
        owner.prefix = rest
    elif word == 'self':
        owner.self_kind = '' if rest == 'none' else rest
    elif word in ('header', 'module'):
        setattr(owner, word, None if rest == '-' else rest)
    elif line == 'enum Type of nodes.h':
        owner.enums.append(('Type', [(code, value) for value, code in enumerate(node_codes())]))
    elif word == 'enum':
        owner.enums.append(_enum(rest))
    elif line == 'plain':
        owner.is_plain = True
    elif word == 'constant':
        name, _, text = rest.partition(' = ')
        owner.constants.append((name, text))
    elif word == 'property':
        name, _, both = rest.partition(' = ')
        getter, setter = both.split()
        owner.properties.append((name, getter if getter != '-' else None, setter if setter != '-' else None))
    elif word == 'struct':
        owner.fields = [tuple(field.split(':', 1)) for field in re.findall(r'\w+:(?:<[^>]*>|\S+)', rest)]
    elif word == 'alias':
        owner.aliases.append(tuple(rest.split(' = ')))
    elif line == 'getters of devices':
        owner.getters = [line]
    else:
        owner.methods.append(_method(owner, line))


def read(path):
    """All classes in the order of the file."""
    classes, by_name = [], {}
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip()
            if not line or line.startswith('#'):
                continue
            try:
                if line.startswith('class '):
                    match = re.fullmatch(r'class (\w+)(?: : (\w+))?', line)
                    if not match or (match.group(2) and match.group(2) not in by_name):
                        raise Bad("'%s' is no class" % line)
                    classes.append(Class(match.group(1), by_name.get(match.group(2))))
                    by_name[match.group(1)] = classes[-1]
                else:
                    _add(classes[-1], line.strip())
            except (Bad, ValueError, IndexError) as error:
                raise Bad('%s:%d: %s' % (path, number, error)) from None
    devices = sorted(one.name for one in classes if one.is_a('Device') and one.name not in ('Device', 'Sensor'))
    for one in classes:
        if one.getters:
            one.getters = devices
    return classes
