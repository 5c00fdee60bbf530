"""names.py NAMES: every line `module Class name` is there, with a stub that parses; devices, nodes and fields take no unknown name."""
import ast
import importlib
import sys


def check_names(path):
    count, missing = 0, []
    with open(path, encoding='utf-8') as file:
        for line in file:
            module, owner, name = line.split()
            found = getattr(importlib.import_module(module), owner)
            count += 1
            if not hasattr(found, name) and name not in getattr(found, '__slots__', ()):
                missing.append('%s.%s' % (owner, name))
            package = importlib.import_module(module.split('.')[0])
            if getattr(package, owner) is not found:
                missing.append('%s of the package' % owner)
    return count, missing


def check_stubs(path):
    """The names that the stubs declare are those of the list."""
    missing = []
    declared = {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            module, owner, name = line.split()
            if module not in declared:
                stub = importlib.import_module(module).__file__ + 'i'
                with open(stub, encoding='utf-8') as text:
                    tree = ast.parse(text.read(), stub)
                declared[module] = {one.name: {getattr(row, 'name', None) or row.target.id for row in one.body if not isinstance(row, ast.Expr)}
                                    for one in tree.body if isinstance(one, ast.ClassDef)}
            if name not in declared[module].get(owner, ()):
                missing.append('%s.%s of the stub' % (owner, name))
    return missing


def accepts_unknown(made):
    try:
        made.no_such_name = 1
    except AttributeError:
        return False
    return True


def check_unknown():
    import controller
    kinds = [kind for kind in (getattr(controller, name) for name in controller.__all__) if not issubclass(kind, controller.Robot)]
    return [kind.__name__ for kind in kinds if kind is not controller.AnsiCodes and accepts_unknown(kind.__new__(kind))]


count, missing = check_names(sys.argv[1])
missing += check_stubs(sys.argv[1])
missing += ['%s takes an unknown name' % name for name in check_unknown()]
print('%d names in Python%s' % (count, ': ' + ', '.join(missing) if missing else ', none is missing'))
sys.exit(bool(missing))
