"""C from the description: the functions of sensors that follow one pattern, and the names of the types of nodes."""
from reader import count_of, node_codes, snake

HEAD = '// %s - made from api/webots.api and webots/nodes.h by api/render_c.py.\n'
CAPITALS = {'GPS', 'LED', 'PBR'}  # words that node names write so


def sensor(one):
    prefix, code = one.prefix.rstrip('_'), 'WB_NODE_' + snake(one.name).upper()
    lines = ['SENSOR(%s, %s)' % (prefix, code)]
    for method in one.methods:
        if method.name == 'getValue':
            lines.append('VALUE(%s, %s)' % (prefix, code))
        elif method.name == 'getValues' and count_of(method.result) == '3':
            lines.append('VECTOR(%s, %s)' % (prefix, code))
        elif method.name == 'getLookupTable':
            lines.append('TABLE(%s, %s, 0)' % (prefix, code))
    return lines


def node_name(code):
    words = code.split('_')
    return 'No node' if code == 'NO_NODE' else ''.join(word if word in CAPITALS else word.capitalize() for word in words)


def files(classes):
    """Path below the output folder -> text."""
    plain = [one for one in classes if one.is_plain]
    sensors = [HEAD % 'plain_sensors.c' + '#include "sensor.h"', '']
    sensors += ['#include <webots/%s.h>' % one.prefix[len('wb_'):-1] for one in plain] + ['']
    sensors += [line for one in plain for line in sensor(one)]
    names = [HEAD % 'node_names.h' + '// In the order of WbNodeType.', 'static const char *const node_names[] = {']
    names += ['    "%s",' % node_name(code) for code in node_codes()] + ['};']
    return {'controller/plain_sensors.c': '\n'.join(sensors) + '\n', 'controller/node_names.h': '\n'.join(names) + '\n'}
