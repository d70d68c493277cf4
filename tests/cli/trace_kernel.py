# gpq trace --ftrace: functions and records of the kernel's trace, worked out from its lines: tests/cli/trace-kernel.sh.
import re
import sys

import tap
from tap import ok
from trace_tables import About, Log, differs, gpq, hexed, ordered

LINE = re.compile(r' *(.*)-(\d+) +(?:\( *(\d+|-+)\) )?\[(\d+)\] +(?:\S{5} +)?(\d+)\.(\d{6}): (\w+): (.*)')
TASK = '%16s-%-7d (%7d) [%03d] ..... %5d.%06d: %s\n'

# A task, a thread of it and another process: calls within calls, side by side, that fail, that lack a begin or an end, of one name.
MADE = ''.join(TASK % row for row in (
    ('train', 70, 70, 0, 5, 100, 'a: (kfd_ioctl_create_queue+0x4/0x790 [amdgpu]) ring=0x7000 size=64 gpu=21 type=2'),
    ('train', 71, 70, 1, 5, 150, 'a: (kfd_ioctl_create_queue+0x4/0x790 [amdgpu]) ring=0x8000 size=64 gpu=22 type=0'),
    ('train', 70, 70, 0, 5, 200, 'm: (map_queues_cpsch+0x0/0x2f0 [amdgpu])'),
    ('train', 71, 70, 1, 5, 260, 'r: (kfd_ioctl+0x1/0x5c0 [amdgpu] <- kfd_ioctl_create_queue) ret=-12 ring=0x8000 gpu=22 queue=0'),
    ('train', 70, 70, 0, 5, 900, 's: (create_queue+0x1/0x2f0 [amdgpu] <- map_queues_cpsch) ret=-62'),
    ('train', 70, 70, 0, 6, 100, 'r: (kfd_ioctl+0x1/0x5c0 [amdgpu] <- kfd_ioctl_create_queue) ret=0 ring=0x7000 gpu=21 queue=3'),
    ('other-1', 90, 90, 1, 6, 200, 'm: (map_queues_cpsch+0x0/0x2f0 [amdgpu])'),
    ('other-1', 90, 90, 1, 6, 201, 's: (create_queue+0x1/0x2f0 [amdgpu] <- map_queues_cpsch) ret=0'),
    ('other-1', 90, 90, 1, 6, 300, 's: (create_queue+0x1/0x2f0 [amdgpu] <- unmap_queues_cpsch) ret=1'),
    ('other-1', 90, 90, 1, 6, 400, 'm: (map_queues_cpsch+0x0/0x2f0 [amdgpu])'),
    ('other-1', 90, 90, 1, 6, 500, 'amdgpu_bo_move: bo=0x1, from:2 to:3'),
    ('other-1', 90, 90, 1, 6, 600, 'w: (evict_process_worker+0x4/0x790 [amdgpu])'),
    ('train', 71, 70, 1, 7, 0, 'd: (kfd_ioctl_destroy_queue+0x4/0x790 [amdgpu]) queue=3'),
    ('train', 71, 70, 1, 7, 5, 'r: (kfd_ioctl+0x1/0x5c0 [amdgpu] <- kfd_ioctl_destroy_queue) ret=0')))


def number(args, name):
    m = re.search(r'(?:^| )' + name + r'=(0x[0-9a-f]+|-?\d+)', args)
    return int(m.group(1), 0) if m else None


def read(path):
    records, stacks = [], {}
    with open(path, encoding='utf-8') as f:
        for text in f:
            m = LINE.match(text.rstrip('\n'))
            if not m or text.startswith('#'):
                continue
            us, rest = int(m.group(5)) * 1000000 + int(m.group(6)), m.group(8)
            r = {'time_us': us, 'tid': int(m.group(2)), 'pid': int(m.group(3)) if m.group(3) and m.group(3).isdigit() else None,
                 'command': m.group(1), 'cpu': int(m.group(4)), 'inside_ns': None}
            entry, back = re.match(r'\((\w+)\+0x[04]/\S+ \[amdgpu\]\) ?(.*)', rest), re.match(r'\(.* <- (\w+)\) ?(.*)', rest)
            kind, name, r['args'] = ('return', *back.groups()) if back else ('entry', *entry.groups()) if entry else ('event', m.group(7), rest)
            args = r['args']
            r |= {'kind': kind, 'name': name, 'args': args or None, 'returned': number(args, 'ret') if back else None, 'entry': None,
                  'gpu_id': number(args, 'gpu'), 'qid': number(args, 'queue')}
            stack = stacks.setdefault(r['tid'], [])
            if kind == 'entry':
                stack.append(r)
            elif kind == 'return' and any(c['name'] == name for c in stack):
                while stack[-1]['name'] != name:
                    stack.pop()
                r['entry'] = stack.pop()
                r['inside_ns'] = (us - r['entry']['time_us']) * 1000
                for key in 'gpu_id', 'qid':  # a return has what its entry has
                    r[key] = r['entry'][key] if r[key] is None else r[key]
            records.append(r)
    return records


def functions(records):
    rows = []
    for key in dict.fromkeys((r['name'], r['kind'] == 'event', r['pid'], None if r['pid'] is not None else r['tid']) for r in records):
        mine = [r for r in records if (r['name'], r['kind'] == 'event', r['pid'], None if r['pid'] is not None else r['tid']) == key]
        back = [r for r in mine if r['kind'] == 'return']
        times = [r['inside_ns'] for r in back if r['entry']]
        entries = len([r for r in mine if r['kind'] != 'return'])
        rows.append({'function': key[0], 'kind': 'event' if key[1] else 'function', 'pid': key[2], 'tid': key[3], 'command': mine[0]['command'],
                     'calls': entries + len([r for r in back if not r['entry']]), 'returns': None if key[1] else len(back),
                     'failed': len([r for r in back if (r['returned'] or 0) < 0]) if back else None, 'timed': len(times),
                     'total_ns': sum(times) if times else None,
                     **{'p%d_ns' % p: About(times, p / 100) for p in (50, 90, 99)}, 'max_ns': max(times) if times else None,
                     'first_us': mine[0]['time_us'], 'last_us': mine[-1]['time_us']})
    return rows


def by_function(row):
    return str((row['function'], row['pid'], row['tid']))


def check(path):
    records, name = read(path), path.rsplit('/', 1)[-1]
    want = functions(records)
    got = gpq('--ftrace', path, '--output-all', '--ndjson')
    what = differs(sorted(got, key=by_function), sorted(want, key=by_function))
    totals = [r['total_ns'] or 0 for r in got]
    ok(not what and totals == sorted(totals, reverse=True), name + ': functions, most time first', what or got)
    rows = [r for r in gpq('--ftrace', path, '--output-all', '--list', '--ndjson') if r['source'] == 'kernel']
    # A GPU and a queue that the record does not name may be known from others.
    shown = [{k: v for k, v in r.items() if k != 'entry' and (v is not None or k not in ('gpu_id', 'qid'))} for r in records]
    what = differs(rows, shown)
    ok(not what, name + ': each record', what)
    first, middle = records[0]['time_us'], records[len(records) // 2]['time_us']
    for since, until in (f'{middle}us', None), (f'{middle + 1}us', None), (None, f'{middle}us'), (None, f'{middle - 1}us'), ('+%dus' % (middle - first), '+%dus' % (middle - first + 1000)):
        relative = bool(since) and since[0] == '+'
        low, high = (middle, middle + 1000) if relative else (int(since[:-2]) if since else 0, int(until[:-2]) if until else 1 << 62)
        args = (['--since', since] if since else []) + (['--until', until] if until else [])
        rows = [r for r in gpq('--ftrace', path, '--output-all', '--list', '--ndjson', *args) if r['source'] == 'kernel']
        what = differs(rows, [r for r in shown if low <= r['time_us'] <= high])
        ok(not what, ' '.join([name, *args]), what)
    for pid in sorted({r['pid'] for r in records if r['pid'] is not None}):
        rows = [r for r in gpq('--ftrace', path, '--output-all', '--list', '--ndjson', '-p', str(pid)) if r['source'] == 'kernel' and r['pid'] == pid]
        what = differs(rows, [r for r in shown if r['pid'] == pid])
        ok(not what, '%s: of process %d' % (name, pid), what)
    for key in ('calls', 'failed', 'total_ns', 'max_ns', 'last_us'):
        for sign in '', '-':
            what = differs(gpq('--ftrace', path, '--output-all', '--ndjson', '--sort', sign + key), ordered(got, key, bool(sign)))
            ok(got and not what, '%s: sorted by %s%s' % (name, sign, key), what)


STEPS = ('enter', 'unmap', 'save', 'map', 'rest', 'leave', 'total')


def made_suspensions(n):
    """Lines of `n` suspensions of which no two steps take equally long, and their rows."""
    lines, rows, inside = [], [], '(%s+0x0/0x9 [amdgpu])'
    for i in range(n):
        at, tid, result = 10000000 + 100000 * i, 20 + i % 2, -22 if i == 4 else i + 1
        enter, save, unmapped, mapped, leave = 10 + i, 60 + 2 * i, 40 + 3 * i, 30 + 5 * i, 5 + 7 * i
        begin = at + enter
        fence, unmap = begin + 10, begin + 5 + unmapped + save
        end = unmap + 7 + mapped + 9
        for us, kind, name, args in (
                (at, 'p', 'kfd_ioctl_set_debug_trap', 'pid=%d op=6' % (10 + i % 3)), (begin, 'p', 'suspend_queues', 'count=%d grace=0 queue=%d' % (i + 1, i)),
                (begin + 5, 'p', 'unmap_queues_cpsch', ''), (fence, 'p', 'amdkfd_fence_wait_timeout', ''), (fence + save, 'r', 'amdkfd_fence_wait_timeout', 'ret=0'),
                (unmap, 'r', 'unmap_queues_cpsch', 'ret=0'), (unmap + 7, 'p', 'map_queues_cpsch', ''), (unmap + 7 + mapped, 'r', 'map_queues_cpsch', 'ret=0'),
                (end, 'r', 'suspend_queues', 'ret=%d' % result), (end + leave, 'r', 'kfd_ioctl_set_debug_trap', 'ret=0')):
            where = '(caller+0x1/0x9 [amdgpu] <- %s)' % name if kind == 'r' else inside % name
            lines.append(TASK % ('dbg%d' % tid, tid, tid, i % 2, us // 1000000, us % 1000000, '%s: %s %s' % (kind, where, args)))
        steps = (enter, unmapped, save, mapped, 5 + 7 + 9, leave, end + leave - at)
        rows.append({'number': i + 1, 'time_us': at, 'pid': tid, 'command': 'dbg%d' % tid, 'target': 10 + i % 3, 'qid': i, 'queues': i + 1,
                     'returned': result, **{'%s_ns' % k: t * 1000 for k, t in zip(STEPS, steps)}})
    return ''.join(lines), rows


def check_breakdown(path, rows):
    fourth = rows[3]['time_us']
    end = fourth + rows[3]['total_ns'] // 1000
    for args, want in ((['all'], rows), (['1'], rows[:1]), (['12'], rows[11:]), (['13'], []), (['%.6fs' % (fourth / 1e6)], rows[3:4]),
                       (['%.6fs' % (end / 1e6)], rows[3:4]), (['%.6fs' % ((end + 1) / 1e6)], []), (['%.6fs' % ((fourth - 1) / 1e6)], []),
                       (['all', '-p', '11'], [r for r in rows if r['target'] == 11]), (['4', '-p', '11'], []), (['all', '--since', f'{end}us'], rows[3:]),
                       (['all', '--since', f'{end + 1}us'], rows[4:]), (['all', '--until', f'{fourth}us'], rows[:4]), (['all', '--until', f'{fourth - 1}us'], rows[:3])):
        got = gpq('--ftrace', path, '--ftrace-clock', 'mono', '-J', '--breakdown', *args)
        what = differs(got[0]['suspensions'], want) if got else 'nothing'
        steps = []
        for k in STEPS:
            t = sorted(r[k + '_ns'] for r in want)
            n = len(t)
            steps.append({'count': n, 'p50_ns': t[(n + 1) // 2 - 1] if n else None, 'p90_ns': t[-(-n * 9 // 10) - 1] if n > 9 else None,
                          'p99_ns': None, 'max_ns': t[-1] if n else None})
        what = what or differs(got[0]['steps'], steps)
        ok(not what, ' '.join(['--breakdown', *args]), what)


def check_log(path, log_path):
    """Records of a log beside the kernel's: the ring of each that names a queue, by whichever of its addresses."""
    def ring(r):
        return None if not r.queue else (r.queue.ring or r.queue).hwq
    want = [{'time_us': r.us, 'log_pid': r.pid, 'thread': hexed(r.tid), 'kind': r.kind, 'name': r.kernel or r.api, 'hwq': hexed(ring(r)),
             'inside_ns': r.duration * 1000 if r.duration is not None else None} for r in Log(log_path).records]
    got = [r for r in gpq('--ftrace', path, '--ftrace-clock', 'mono', '--list', '--output-all', '--ndjson', log_path) if r['source'] == 'log']
    what = differs(got, sorted(want, key=lambda r: r['time_us']))
    ok(not what, 'with ' + log_path.rsplit('/', 1)[-1], what)


if __name__ == '__main__':
    with open('made.trace', 'w', encoding='utf-8') as made:
        made.write('# clock: mono\n' + MADE)
    for trace in 'made.trace', *sys.argv[2:]:
        check(trace)
    text, suspensions = made_suspensions(12)
    with open('suspensions.trace', 'w', encoding='utf-8') as made:
        made.write('# clock: mono\n' + text)
    check_breakdown('suspensions.trace', suspensions)
    check_log('made.trace', sys.argv[1] + '/pairs57.log')
    check_log('made.trace', sys.argv[1] + '/pairs64.log')
    tap.finish()
