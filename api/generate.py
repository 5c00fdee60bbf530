#!/usr/bin/env python3
"""Makes what the languages need from webots.api: `generate.py DESCRIPTION OUTPUT c|cpp|python|tests`. A file is written
only when it changed, so that nothing is compiled twice; what is no longer made is removed. OUTPUT/PART.stamp, which
lists what was made, is written last, for CMake."""
import os
import sys

import reader
import render_c
import render_cpp
import render_python
import render_tests

PARTS = {'c': render_c.files, 'cpp': render_cpp.files, 'python': render_python.files, 'tests': render_tests.files}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with open(path, encoding='utf-8') as file:
            if file.read() == text:
                return
    except OSError:
        pass
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def main(description, output, part):
    try:
        made = PARTS[part](reader.read(description))
    except reader.Bad as error:
        sys.exit(str(error))
    for path, text in sorted(made.items()):
        write(os.path.join(output, path), text)
    stamp = os.path.join(output, part + '.stamp')
    try:
        with open(stamp, encoding='utf-8') as file:
            old = set(file.read().split())
    except OSError:
        old = set()
    for path in old - set(made):
        if os.path.exists(os.path.join(output, path)):
            os.remove(os.path.join(output, path))
    with open(stamp, 'w', encoding='utf-8') as file:
        file.write('\n'.join(sorted(made)) + '\n')


if __name__ == '__main__':
    main(*sys.argv[1:])
