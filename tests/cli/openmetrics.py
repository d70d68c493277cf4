"""A reader of OpenMetrics text that takes no more than the format allows, nor what Prometheus's own text format refuses.

families(text): {name: [(labels, value)]}, in their order; ValueError with the line and what is wrong about it."""
import re

NAME = r'[a-zA-Z_][a-zA-Z0-9_]*'
LABEL = re.compile(r'(%s)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)' % NAME)
SAMPLE = re.compile(r'(%s)(?:\{(.*)\})? (\S+)$' % NAME)
NUMBER = re.compile(r'[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$')
META = re.compile(r'# (TYPE|UNIT|HELP) (%s) (.+)$' % NAME)
# What promtool calls an abbreviated unit or a type in a name.
ODD = {'s', 'ms', 'us', 'ns', 'sec', 'b', 'kb', 'mb', 'gb', 'tb', 'pb', 'm', 'h', 'd', 'gauge', 'counter', 'summary', 'histogram'}


def labels_of(text):
    found, at = {}, 0
    while at < len(text):
        m = LABEL.match(text, at)
        if not m:
            raise ValueError(f'a label at {text[at:]}')
        if m[1] in found:
            raise ValueError(f'label {m[1]} twice')
        if m[3] and m.end() == len(text):
            raise ValueError('a comma behind the last label')
        found[m[1]], at = re.sub(r'\\(.)', lambda e: {'n': '\n'}.get(e[1], e[1]), m[2]), m.end()
    return found


def take(line, state):
    m = META.match(line)
    if m:
        kind, name, text = m.groups()
        if state['name'] != name:
            if name in state['all']:
                raise ValueError('its metric is in two places')
            state.update(name=name, meta={}, series=set())
            state['all'][name] = []
        elif state['series']:
            raise ValueError('behind a sample of its metric')
        if kind in state['meta']:
            raise ValueError(f'a second {kind}')
        state['meta'][kind] = text
        if kind == 'TYPE' and text != 'gauge':
            raise ValueError('a type that the two formats do not share')
        if kind == 'UNIT' and not name.endswith('_' + text):
            raise ValueError('the unit is not in the name')
        if kind == 'HELP' and re.search(r'["\\]', text):
            raise ValueError('an escape that the two formats write differently')
        if ODD & set(name.split('_')) or name.endswith(('_count', '_sum', '_bucket')) or name != name.lower():
            raise ValueError('a name that promtool refuses')
        return
    m = SAMPLE.match(line)
    if not m:
        raise ValueError('no sample')
    name, labels, value = m[1], labels_of(m[2]) if m[2] else {}, m[3]
    if m[2] == '':
        raise ValueError('braces without labels')
    if name != state['name']:
        raise ValueError('no metric of this name was begun')
    if 'HELP' not in state['meta']:
        raise ValueError('no HELP')
    if ('TYPE' in state['meta']) == name.endswith('_total'):
        raise ValueError('a gauge called _total, or no type')
    if not NUMBER.match(value):
        raise ValueError(f'value {value}')
    series = tuple(sorted(labels.items()))
    if series in state['series']:
        raise ValueError('a series twice')
    state['series'].add(series)
    state['all'][name].append((labels, float(value)))


def families(text):
    state = {'name': None, 'all': {}}
    if not text.endswith('\n'):
        raise ValueError('no newline at the end')
    lines = text[:-1].split('\n')
    if lines[-1] != '# EOF':
        raise ValueError('no # EOF')
    for n, line in enumerate(lines[:-1], 1):
        try:
            take(line, state)
        except ValueError as e:
            raise ValueError(f'line {n}: {e}: {line}') from None
    for name, samples in state['all'].items():
        if not samples:
            raise ValueError(f'{name}: no samples')
    return state['all']

