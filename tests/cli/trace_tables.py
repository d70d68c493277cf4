# Each table and column of gpq trace, worked out from the log's text: tests/cli/trace-tables.sh.
#
# Nothing here comes from gpq. Two logs in which no two values are equal that need not be, and whose filters end on times of records: one
# of ROCm 6.4 and later, one of 5.7 to 6.1, where packets name a ring, other lines the queue's handle, and streams tell which is which.
import json
import re
import subprocess
import sys

import tap
from tap import ok
from trace_ask import close, gaps, percentile

RING, HANDLE = 'ring', 'handle'
KINDS = (('api', r'h\w+ \('), ('return', r'h\w+: Returned '), ('dispatch', r'[SH]Wq=.*, Dispatch Header = '),
         ('barrier_and', r'[SH]Wq=.*, BarrierAND Header = '), ('barrier_or', r'[SH]Wq=.*, BarrierOR Header = '),
         ('barrier_value', r'[SH]Wq=.*, BarrierValue Header = '), ('packet', '[SH]Wq='), ('kernel', 'ShaderName : '),
         ('command', r'Command \(\w+\)'), ('complete', 'Command '), ('queue_created', '(C|c)reated (SWq|hardware queue)'),
         ('queue_selected', '[Ss]elected queue'), ('queue_acquired', 'acquireQueue'), ('queue_released', 'releaseQueue'),
         ('queue_deleted', '[Dd]eleting hardware queue'), ('queue_error', 'Callback: Queue|Memory Fault Error'), ('version', 'HIP Version: '))
PACKETS = {'dispatch', 'barrier_and', 'barrier_or', 'barrier_value', 'packet'}
PREFIX = re.compile(r':(\d):[^:]*:\d+ *: (\d+) us: \[pid:(\d+) +tid: ?(0x[0-9a-f]+)\] (.*)')


def number(msg, before):
    m = re.search(r'(?<![a-z])' + before + r'(0x[0-9a-f]+|\d+)(?=[ ,:)\]]|$)', msg)
    return int(m.group(1), 0) if m else None


def shape(msg, name):
    m = re.search(name + r'=\[(\d+), (\d+), (\d+)\]', msg)
    return tuple(int(n) for n in m.groups()) if m else None


def text(dims):
    return '%dx%dx%d' % dims if dims else None


def hexed(n):
    return None if n is None else '0x%x' % n


class Record:
    def __init__(self, m, offset):
        self.level, self.us, self.pid, self.tid = int(m.group(1)), int(m.group(2)), int(m.group(3)), int(m.group(4), 16)
        self.text, self.offset, self.torn = m.group(0), offset, False
        self.msg = re.sub('^\x1b\\[32m ', '', m.group(5)).rstrip()
        self.kind = next((k for k, begin in KINDS if re.match(begin, self.msg)), 'other')
        self.api = re.match(r'\w+', self.msg).group() if self.kind in ('api', 'return') else None
        m = re.search(r': duration: (\d+) us$', self.msg)
        self.duration = int(m.group(1)) if m and self.kind == 'return' else None
        self.queue = self.kernel = self.stream = self.hwq = self.swq = self.rptr = self.wptr = self.id = self.grid = self.workgroup = None
        if self.kind in PACKETS:
            self.hwq, self.swq, self.id = number(self.msg, 'HWq='), number(self.msg, 'SWq='), number(self.msg, 'id=')
            self.rptr, self.wptr = number(self.msg, 'rptr='), number(self.msg, 'wptr=')
            self.grid, self.workgroup = shape(self.msg, 'grid'), shape(self.msg, 'workgroup')
            self.torn = number(self.msg, 'completion_signal=') is None or (self.rptr is None) != (self.wptr is None)
        self.backlog = max(0, self.wptr - self.rptr) if None not in (self.rptr, self.wptr) else None

    @property
    def thread(self):
        return self.pid, self.tid


class Queue:
    def __init__(self, pid, key, address):
        self.pid, self.hwq, self.swq = pid, address if key == RING else None, address if key == HANDLE else None
        self.ids, self.streams, self.priority, self.size, self.counted, self.ring = set(), set(), None, None, [], None


class Log:
    def __init__(self, path):
        self.records, self.foreign, self.glued, self.lines, offset = [], 0, 0, 0, 0
        with open(path, encoding='utf-8', newline='\n') as f:
            for line in f:
                m = PREFIX.search(line.rstrip('\n'))
                self.lines += 1
                self.foreign += not m or m.start() > 0
                self.glued += bool(m and m.start())
                if m:
                    self.records.append(Record(m, offset + m.start()))
                offset += len(line.encode())
        self.bytes = offset
        self.place()

    # What each record means, whichever are asked for: kernel, queue and stream follow from what came before.
    def place(self):
        named, objects, streams, made, creating, last = {}, {}, {}, {}, set(), {}
        self.queues, self.by_address = [], {}
        new_release = any('SWq=' in r.msg for r in self.records)

        def queue(pid, key, address):
            q = self.by_address.get((pid, key, address))
            if not q:
                q = self.by_address[pid, key, address] = Queue(pid, key, address)
                self.queues.append(q)
            return q
        for r in self.records:
            t = r.thread
            if r.kind == 'api':
                m = re.search('stream:(0x[0-9a-f]+|<null>)', r.msg)
                named_stream = int(m.group(1), 16) if m and m.group(1) != '<null>' else 0 if m else None
                launch = re.match('hip(Launch|ModuleLaunch|Ext)', r.api)
                streams[t] = (named_stream if launch else named_stream or 0 if r.api.startswith('hipMem') else None, False)
                creating.discard(t)
                if r.api.startswith('hipStreamCreate'):
                    creating.add(t)
                    last.pop(t, None)
            elif r.kind == 'return':
                if t in creating and r.api.startswith('hipStreamCreate'):
                    r.stream, r.queue_of_stream = number(r.msg, 'stream:'), last.get(t)
                    made[r.pid, r.stream] = last.get(t)
                    last[t].streams.add(r.stream)
                creating.discard(t)
                streams.pop(t, None)
            elif r.kind == 'command':
                streams[t] = (number(r.msg, 'to queue: ') or streams.get(t, (None,))[0], 'to queue: ' in r.msg)
            elif r.kind == 'kernel':
                r.kernel = named[t] = r.msg[len('ShaderName : '):]
            elif r.kind.startswith('queue_') and r.kind != 'queue_error':
                address = re.search('HWq=(0x[0-9a-f]+)', r.msg) or re.search('(0x[0-9a-f]+)', r.msg)
                r.queue = queue(r.pid, RING if new_release else HANDLE, int(address.group(1), 16))
                if r.kind == 'queue_created':
                    r.queue.priority = ('low', 'normal', 'high')[number(r.msg, 'with priority ')]
                    r.queue.size, r.queue.swq = number(r.msg, 'with size '), number(r.msg, 'SWq=') or r.queue.swq
                if r.kind not in ('queue_released', 'queue_deleted'):
                    last[t] = r.queue
            elif r.kind in PACKETS:
                key = HANDLE if r.kind == 'barrier_value' and not new_release else RING
                q = r.queue = queue(r.pid, key, r.hwq)
                q.swq = r.swq or q.swq
                q.ids |= {r.id} - {None}
                stream, by_command = streams.get(t, (None, False))
                if stream is not None and (by_command or r.kind == 'dispatch'):
                    r.stream, r.queue_of_stream = stream, q
                    q.streams.add(stream)
                    q.joined = made.get((r.pid, stream))
                if r.kind == 'dispatch':
                    obj = number(r.msg, 'kernel_obj=')
                    r.kernel = named.pop(t, None) or objects.get((r.pid, obj))
                    objects[r.pid, obj] = r.kernel
        for q in self.queues: # a ring that a stream of one handle dispatched to
            handle = getattr(q, 'joined', None)
            if handle and handle is not q and handle.hwq is None:
                q.swq, q.size, q.priority, handle.ring = handle.swq, handle.size, handle.priority, q
                q.streams |= handle.streams

    def wanted(self, pids=None, since=None, until=None, kernel=None, grep=(), grep_not=()):
        return [r for r in self.records if
                (pids is None or r.pid in pids) and (since is None or r.us >= since) and (until is None or r.us <= until) and
                (kernel is None or (r.kernel and re.search(kernel, r.kernel))) and
                (not grep or any(re.search(g, r.text) for g in grep)) and not any(re.search(g, r.text) for g in grep_not)]


def span(records, ns=True):
    times = [r.us for r in records]
    row = {'first_us': min(times) if times else None, 'last_us': max(times) if times else None}
    return {**row, 'span_ns': (max(times) - min(times)) * 1000 if times else None} if ns else row


def kinds(records, *names):
    return len([r for r in records if r.kind in names])


def distinct(values):
    return list(dict.fromkeys(v for v in values if v is not None))


def counts(records, packets):
    return {'records': len(records), 'launches': kinds(records, 'kernel'), 'dispatches': kinds(records, 'dispatch') if packets else None,
            'barriers': kinds(records, 'barrier_and', 'barrier_or') if packets else None, 'api_calls': kinds(records, 'api'),
            'api_errors': len([r for r in records if failed(r)])}


def failed(r):
    return r.kind == 'return' and ': Returned hipSuccess' not in r.msg


def places(records, key):
    """(key, records) in the order in which the log has them, unless their processes have another."""
    return sorted(((k, [r for r in records if key(r) == k]) for k in distinct(key(r) for r in records)), key=lambda g: g[1][0].pid)


class Tables:
    def __init__(self, log, **how):
        self.log, self.records = log, log.wanted(**how)
        self.packets = any(r.kind in PACKETS for r in self.records)

    def ring(self, q):
        return q.ring or q

    def process(self):
        queues = {id(self.ring(r.queue)): r.pid for r in self.records if r.queue}
        return [{'pid': pid, **counts(mine, self.packets), 'threads': len({r.tid for r in mine}),
                 'queues': len([q for q in queues.values() if q == pid]), 'kernels': len(distinct(r.kernel for r in mine)), **span(mine)}
                for pid, mine in places(self.records, lambda r: r.pid)]

    def thread(self):
        return [{'pid': t[0], 'thread': hexed(t[1]), **counts(mine, self.packets), **span(mine, False)}
                for t, mine in sorted(((t, [r for r in self.records if r.thread == t]) for t in distinct(r.thread for r in self.log.records)),
                                      key=lambda g: g[0][0]) if mine]

    def queue(self):
        rows = []
        for q in sorted(self.log.queues, key=lambda q: q.pid):
            mine = [r for r in self.records if r.queue and self.ring(r.queue) is q]
            if not mine or q.ring:
                continue
            packets = [r for r in mine if r.kind in PACKETS]
            told = [r for r in packets if r.backlog is not None]
            made, gone = ([r for r in mine if r.kind == k] for k in ('queue_created', 'queue_deleted'))
            known = self.packets and q.hwq is not None
            rows.append({'pid': q.pid, 'hwq': hexed(q.hwq), 'swq': hexed(q.swq), 'id': list(q.ids)[0] if len(q.ids) == 1 else None,
                         'hip_prio': q.priority, 'size_packets': q.size, 'streams': len(q.streams) or None,
                         'dispatches': kinds(packets, 'dispatch') if known else None,
                         'barriers': kinds(packets, 'barrier_and', 'barrier_or') if known else None,
                         'barrier_values': kinds(packets, 'barrier_value') if self.packets else None,
                         'kernels': len(distinct(r.kernel for r in packets)) if known else None, **span(packets),
                         'created': len(made), 'deleted': len(gone), 'created_us': made[0].us if made else None,
                         'deleted_us': gone[-1].us if gone else None, 'cut_records': len([r for r in packets if r.torn]),
                         'backlog_max': max((r.backlog for r in told), default=None),
                         'backlog_mean': sum(r.backlog for r in told) / len(told) if told else None,
                         **{f'{p}_{e}': (min if e == 'min' else max)((getattr(r, p) for r in told), default=None)
                            for p in ('rptr', 'wptr') for e in ('min', 'max')}})
        return rows

    def kernel(self):
        rows = []
        for name in distinct(r.kernel for r in self.records):
            mine = [r for r in self.records if r.kernel == name]
            row = {'name': name, 'launches': kinds(mine, 'kernel'), 'dispatches': kinds(mine, 'dispatch') if self.packets else None,
                   'processes': len({r.pid for r in mine}), 'queues': len({id(r.queue) for r in mine if r.queue}) if self.packets else None,
                   **span(mine, False)}
            for what in 'grid', 'workgroup':
                dims = sorted((d[0] * d[1] * d[2], d) for d in (getattr(r, what) for r in mine) if d)
                row |= {f'{what}_min': text(dims[0][1]) if dims else None, f'{what}_max': text(dims[-1][1]) if dims else None}
                if what == 'grid':
                    row |= {'grid_items_min': dims[0][0] if dims else None, 'grid_items_max': dims[-1][0] if dims else None}
            rows.append(row)
        return sorted(rows, key=lambda k: (-max(k['launches'], k['dispatches'] or 0), k['name']))

    def api(self):
        rows = []
        for name in distinct(r.api for r in self.records):
            mine = [r for r in self.records if r.api == name]
            times = sorted(r.duration for r in mine if r.duration is not None)
            rows.append({'name': name, 'calls': kinds(mine, 'api'), 'returns': kinds(mine, 'return'),
                         'errors': len([r for r in mine if failed(r)]), 'timed': len(times),
                         'duration_ns': sum(times) * 1000 if times else None, 'duration_mean_us': sum(times) / len(times) if times else None,
                         'duration_p50_ns': times[(len(times) + 1) // 2 - 1] * 1000 if times else None,
                         'duration_p99_ns': None if len(times) < 100 else times[-1] * 1000, 'duration_max_ns': times[-1] * 1000 if times else None})
        return sorted(rows, key=lambda a: (-(a['duration_ns'] or 0), -a['calls'], a['name']))

    def error(self):
        rows = []
        for r in self.records:
            if not failed(r) and r.kind != 'queue_error':
                continue
            what = re.sub(r': Returned (\w+) .*', r': \1', r.msg + ' ') if failed(r) else r.msg
            row = next((e for e in rows if (e['pid'], e['what']) == (r.pid, what)), None)
            if not row:
                row = {'kind': 'api' if failed(r) else 'queue', 'pid': r.pid, 'count': 0, 'first_us': r.us, 'last_us': r.us, 'what': what,
                       'hwq': None if failed(r) else hexed(number(r.msg, 'Queue '))}
                rows.append(row)
            row['count'] += 1
            row['first_us'], row['last_us'] = min(row['first_us'], r.us), max(row['last_us'], r.us)
        return sorted(rows, key=lambda e: (e['kind'] != 'queue', e['first_us'] if e['kind'] == 'queue' else 0, -e['count'], e['what'], e['pid']))

    def stream(self):
        periods = []
        for r in self.records:
            if r.stream is None or r.queue_of_stream is None:
                continue
            q, mine = self.ring(r.queue_of_stream), [p for p in periods if p['key'] == (r.pid, r.stream)]
            if not mine or mine[-1]['queue'] is not q:
                mine.append({'key': (r.pid, r.stream), 'queue': q, 'of': []})
                periods.append(mine[-1])
            mine[-1]['of'].append(r)
        rows = [{'pid': p['key'][0], 'stream': hexed(p['key'][1]), **span(p['of']), 'hwq': hexed(p['queue'].hwq), 'swq': hexed(p['queue'].swq),
                 'hip_prio': p['queue'].priority, 'created': kinds(p['of'], 'return'), 'packets': kinds(p['of'], *PACKETS) if self.packets else None,
                 'dispatches': kinds(p['of'], 'dispatch') if self.packets else None} for p in periods]
        processes = distinct(r.pid for r in self.log.records)
        return sorted(rows, key=lambda s: (processes.index(s['pid']), int(s['stream'], 16), s['first_us']))

    def list(self):
        return [{'time_us': r.us, 'pid': r.pid, 'thread': hexed(r.tid), 'log_level': r.level, 'kind': r.kind,
                 'hwq': hexed(r.queue.hwq if r.queue and r.kind not in PACKETS else r.hwq),
                 **({'swq': hexed(r.swq)} if r.kind in PACKETS or not r.queue else {}),
                 'id': r.id, 'rptr': r.rptr, 'wptr': r.wptr, 'backlog': r.backlog, 'grid': text(r.grid), 'workgroup': text(r.workgroup),
                 'cut': r.torn, 'offset': r.offset, 'duration_us': r.duration, 'api': r.api, 'kernel': r.kernel, 'text': r.msg} for r in self.records]

    def totals(self):
        steps = [b.us < a.us for a, b in zip(self.records, self.records[1:])]
        queues, kernels = self.queue(), self.kernel()

        def ends(name, of):
            return of((q[name] for q in queues if q[name] is not None), default=None)
        n = counts(self.records, self.packets)
        del n['api_calls']
        return {**n, 'lines': self.log.lines, 'bytes': self.log.bytes, 'other_lines': self.log.foreign, 'glued': self.log.glued, 'mended': 0,
                'barrier_values': kinds(self.records, 'barrier_value') if self.packets else None, 'kernels': len(kernels),
                'hwqs': len([q for q in queues if q['hwq']]), 'pids': len({r.pid for r in self.records}),
                'cut_records': len([r for r in self.records if r.torn]), 'unnamed': len([r for r in self.records if r.kind == 'dispatch' and not r.kernel]),
                'queue_errors': kinds(self.records, 'queue_error'), 'log_level_max': max(r.level for r in self.records), 'steps_back': sum(steps),
                'rptr_min': ends('rptr_min', min), 'rptr_max': ends('rptr_max', max), 'wptr_min': ends('wptr_min', min),
                'wptr_max': ends('wptr_max', max), **span(self.records)}


def line(us, pid, tid, msg, level=3):
    return ':%d:%-25s:%-4d: %010d us: [pid:%d tid: 0x%x] %s\n' % (level, 'rocvirtual.cpp', 1083, us, pid, tid, msg)


def call(us, pid, tid, name, args, result='hipSuccess : ', took=None, within=(), gap=5):
    """An API call, the messages within it, and its return, `gap` microseconds apart."""
    out = [line(us, pid, tid, '\x1b[32m %s ( %s ) \x1b[0m' % (name, args))]
    for level, msg in within:
        us += gap
        out.append(line(us, pid, tid, msg, level))
    tail = '' if took is None else ': duration: %d us' % took
    return out + [line(us + gap, pid, tid, '%s: Returned %s%s' % (name, result, tail))]


def packet(kind, hwq, swq, ident, signal=0, rptr=None, wptr=None, grid=None, workgroup=None, obj=None):
    out = 'SWq=0x%x, ' % swq if swq else ''
    out += 'HWq=0x%x, ' % hwq + ('id=%d, ' % ident if ident is not None else '') + kind + ' Header = 0xb02 (type=2, barrier=1, acquire=1, release=1), '
    if grid:
        out += 'setup=3, grid=%s, workgroup=%s, private_seg_size=0, kernel_obj=0x%x, ' % (list(grid), list(workgroup), obj)
    out += 'completion_signal=0x%x' % signal
    return (4, out + (', rptr=%d, wptr=%d' % (rptr, wptr) if rptr is not None else ''))


def created(hwq, swq, size, priority):
    return (3, 'Created SWq=0x%x to map on HWq=0x%x with size %d with priority %d, cooperative: 0' % (swq, hwq, size, priority))


def launch(us, pid, tid, stream, kernel, dispatch, took, api='hipLaunchKernel'):
    named = [(3, 'ShaderName : ' + kernel)] if kernel else []
    where = '<null>' if stream == 0 else '0x%x' % stream
    return call(us, pid, tid, api, '0x200d00, {4,1,1}, stream:' + where, took=took, within=named + [dispatch])


def log_64():
    a, b, c, d = (0x7b1000, 0x7a1000, 1), (0x7b2000, 0x7a2000, 2), (0x8b1000, 0x8a1000, 1), (0x8b3000, 0x8a3000, 3)
    alpha, beta, gamma = 'alpha(float*)', 'beta<int, 3>(int*)', 'gamma'
    one, two, other = 0x71, 0x72, 0x81
    out = [line(90000000, 7, one, 'HIP Version: 7.0.51831.7c9236b16, Direct Dispatch: 1', 4)]
    out += call(90000100, 7, one, 'hipStreamCreateWithPriority', '0x7ffd, 1, -1', 'hipSuccess : stream:0x1111', 21,
                [created(*a[:2], 16384, 2), (3, 'acquireQueue refCount: 0x7b1000 (1)')])
    out += call(90000200, 7, one, 'hipStreamCreateWithPriority', '0x7ffd, 1, 1', 'hipSuccess : stream:0x1122', 8, [created(*b[:2], 8192, 0)])
    out += call(90000300, 7, two, 'hipStreamCreate', '0x7ffd', 'hipSuccess : stream:0x1133', None, [(3, 'Selected queue refCount: 0x7b1000 (2)')])
    out += ['loading weights\n']
    out += call(90000400, 8, other, 'hipStreamCreate', '0x7ffd', 'hipSuccess : stream:0x1111', 5, [created(*c[:2], 4096, 1)], 1)
    out += launch(90001000, 7, one, 0x1111, alpha, packet('Dispatch', *a, 0, 0, 0, (256, 1, 1), (64, 1, 1), 0xd1), 3)
    out += launch(90001100, 7, one, 0x1111, alpha, packet('Dispatch', *a, 0x51, 0, 5, (128, 2, 1), (32, 2, 1), 0xd1), 7)
    out += launch(90001200, 7, one, 0x1122, beta, packet('Dispatch', *b, 0, 7, 9, (512, 3, 2), (256, 1, 1), 0xd2), 4)
    out += launch(90001300, 7, two, 0x1133, beta, packet('Dispatch', *a, 0, 4, 6, (64, 1, 1), (8, 8, 1), 0xd2), 30, 'hipModuleLaunchKernel')
    out += launch(90001400, 8, other, 0x1111, alpha, packet('Dispatch', *c, 0, 100, 140, (1024, 1, 1), (1024, 1, 1), 0xe1), 12)
    out += launch(90001500, 8, other, 0, gamma, packet('Dispatch', *d, 0, 11, 10, (64, 1, 1), (64, 1, 1), 0xe3), 2) # rptr ahead
    # A graph's packets have no names: the object tells one, the other stays unknown.
    out += launch(90001600, 7, one, 0x1122, None, packet('Dispatch', *b, 0, 8, 12, (16, 16, 1), (16, 4, 1), 0xd1), 6, 'hipGraphLaunch')
    out += launch(90001700, 7, one, 0x1122, None, packet('Dispatch', *b, 0, 8, 13, (32, 1, 1), (32, 1, 1), 0xdd), 9, 'hipGraphLaunch')
    # A command's stream outlives no call, but its packets of all kinds are of it.
    out += [line(90001800, 7, two, 'Command (Marker) enqueued: 0x2095000 to queue: 0x1122', 4),
            line(90001802, 7, two, 'acquireQueue refCount: 0x7b1000 (3)')] # no stream is made here
    out += [line(90001805 + 5 * i, 7, two, p[1], 4) for i, p in enumerate((
        packet('BarrierAND', *b, 0x52, 9, 14), packet('BarrierOR', *b, 0, 9, 15), packet('BarrierValue', *b, 0, 10, 16), packet('BarrierAND', *a, 0, 3, 7)))]
    # A copy without a stream is of the null stream; its barrier is of none.
    out += call(90001900, 7, one, 'hipMemcpy', '0x1, 0x2, 64', took=40, within=[packet('Dispatch', *a, 0, 7, 8, (8, 8, 8), (8, 8, 1), 0xd4),
                                                                                  packet('BarrierValue', *a, 0, 8, 9)])
    out += call(90002000, 7, one, 'hipMalloc', '0x7ffd, 4096', 'hipErrorOutOfMemory : ', 17)
    out += call(90002100, 7, two, 'hipMalloc', '0x7ffd, 8192', 'hipErrorOutOfMemory : ', 1)
    out += call(90002200, 7, one, 'hipFree', '0x1', 'hipErrorInvalidValue : ')
    out += call(90002300, 8, other, 'hipMalloc', '0x7ffd, 1', 'hipErrorOutOfMemory : ', 2)
    out += call(90002350, 8, other, 'hipMalloc', '0x7ffd, 1', 'hipSuccess : ', 3)
    out += [line(90002400, 8, other, 'Callback: Queue 0x8b1000 aborting with error : HSA_STATUS_ERROR_EXCEPTION code: 0x1016', 1),
            line(90002410, 7, one, 'Memory Fault Error', 1),
            line(90002405, 8, other, 'Callback: Queue 0x8b1000 aborting with error : HSA_STATUS_ERROR_EXCEPTION code: 0x1016', 1)]
    out += ['step 3/6' + call(90002500, 9, 0x91, 'hipGetLastError', '')[0], line(90002505, 9, 0x92, 'hipGetLastError: Returned hipSuccess : ')]
    # Cut within a number: a packet, but neither its shape nor its indices.
    out += [line(90002600, 7, one, packet('Dispatch', *a, 0, 9, 10, (64, 1, 1), (64, 1, 1), 0xd1)[1], 4)[:205].rstrip() + '\n']
    # The second queue goes and comes again at its address, with another number; the stream moves to the first.
    out += [line(90002700, 7, two, 'Deleting hardware queue 0x7b2000 with refCount 0'), line(90002800, 7, two, 'Deleting hardware queue 0x8b1000 with refCount 0')]
    out += call(90002900, 7, two, 'hipStreamCreateWithPriority', '0x7ffd, 1, 0', 'hipSuccess : stream:0x1122', 33, [created(0x7b2000, 0x7a2000, 2048, 1)])
    out += launch(90003000, 7, two, 0x1122, gamma, packet('Dispatch', 0x7b2000, 0x7a2000, 4, 0, 2, 2, (4, 1, 1), (4, 1, 1), 0xd5), 11)
    out += launch(90003100, 7, two, 0x1133, gamma, packet('Dispatch', *b[:2], 4, 0, 3, 3, (2, 2, 1), (2, 2, 1), 0xd5), 10)
    out += launch(90003200, 7, two, 0x1133, gamma, packet('Dispatch', *a, 0, 9, 11, (5, 1, 1), (5, 1, 1), 0xd5), 10)
    return out + [line(90003300, 7, two, 'Deleting hardware queue 0x7b2000 with refCount 0'), line(90003295, 8, other, 'releaseQueue refCount: 0x8b1000 (0)')]


def gpq(*args, command='trace'):
    r = subprocess.run(['gpq', command, '-q', *args], capture_output=True, text=True, check=False)
    return [json.loads(r.stdout)] if '-J' in args else [json.loads(row) for row in r.stdout.splitlines()]


class About:
    """A percentile, which gpq may give up to 1/32 too large; of nothing none."""
    def __init__(self, values, p, unit=1):
        self.want, self.unit = percentile(values, p) if values else None, unit

    def __repr__(self):
        return 'about %r' % self.want

    def fits(self, got):
        return got is None if self.want is None else close(got, self.want, self.unit)


def fits(got, want):
    if isinstance(want, About):
        return want.fits(got)
    return got == want or isinstance(want, float) and abs((got or 0) - want) < 1e-7 * want


def differs(got, want):
    """The first row and columns that differ."""
    if len(got) != len(want):
        return 'rows: %d, wanted %d\n%s\n%s' % (len(got), len(want), got, want)
    for i, (g, w) in enumerate(zip(got, want)):
        wrong = {k: (g.get(k), v) for k, v in w.items() if not fits(g.get(k), v)}
        if wrong:
            return 'row %d, (got, wanted): %r' % (i, wrong)
    return ''


TABLES = ('process', 'thread', 'queue', 'kernel', 'api', 'error', 'stream', 'list')


def check(path, log, args, how):
    tables, wrong = Tables(log, **how), []
    for t in TABLES:
        want = getattr(tables, t)()
        what = differs(gpq(*(['--list'] if t == 'list' else ['--by', t]), '--output-all', '--ndjson', *args, path), want)
        if what:
            wrong.append('%s: %s' % (t, what))
    what = differs([doc['totals'] for doc in gpq('-J', *args, path)], [tables.totals()])
    ok(not wrong and not what, ' '.join([path.rsplit('/', 1)[-1], *args]), '\n'.join(wrong + ['totals: ' + what]))


def log_57():
    def make(us, tid, handle, size, priority, stream):
        return call(us, 512, tid, 'hipStreamCreateWithPriority', '0x7ffd, 1, 0', 'hipSuccess : stream:0x%x' % stream, within=[
            (3, 'created hardware queue 0x%x with size %d with priority %d, cooperative: 0' % (handle, size, priority)),
            (3, 'acquireQueue refCount: 0x%x (1)' % handle)])
    out = make(41000000, 0xc1, 0xaaa000, 16384, 2, 0x5001) + make(41000100, 0xc1, 0xaab000, 4096, 0, 0x5002) + make(41000200, 0xc2, 0xaac000, 1024, 1, 0x5003)
    grids = [(256, 1, 1), (64, 4, 1), (7, 1, 1), (64, 2, 2)]
    for i, (tid, stream, ring, kernel) in enumerate(((0xc1, 0x5001, 0xc00000, 'k'), (0xc1, 0x5002, 0xc10000, 'm'), (0xc2, 0x5001, 0xc00000, 'm'),
                                                     (0xc1, 0x5002, 0xc10000, 'm'))):
        out += launch(41001000 + 100 * i, 512, tid, stream, kernel, packet('Dispatch', ring, 0, None, 0, None, None, grids[i], (64, 1, 1), 0xd0 + i), 40 + i)
    out += [line(41002000, 512, 0xc1, packet('BarrierAND', 0xc00000, 0, None)[1], 4), line(41002005, 512, 0xc1, packet('BarrierValue', 0xaab000, 0, None)[1], 4),
            line(41002010, 512, 0xc1, packet('BarrierValue', 0xaac000, 0, None)[1], 4)]
    out += [line(41003000 + 10 * i, 512, 0xc2, 'deleting hardware queue 0x%x with refCount 0' % h) for i, h in enumerate((0xaaa000, 0xaaa000, 0xaab000))]
    return [re.sub(r'\[pid:(\d+) tid: (\w+)\]', lambda m: '[pid:%-5s tid:%s]' % m.groups(), l) for l in out]


FILTERS = (
    ([], {}),
    (['-p', '7'], {'pids': {7}}),
    (['--pid', '8'], {'pids': {8}}),
    (['-p', '9,7'], {'pids': {7, 9}}),
    (['--since', '90001110us'], {'since': 90001110}),
    (['--since', '90001111us'], {'since': 90001111}),
    (['--until', '90001510us'], {'until': 90001510}),
    (['--until', '90001509us'], {'until': 90001509}),
    (['--since', '+1ms', '--until', '+2.3ms'], {'since': 90001000, 'until': 90002300}),
    (['--since', '+1001us', '--until', '+2299us'], {'since': 90001001, 'until': 90002299}),
    (['--since', '+400us', '--until', '90001405us'], {'since': 90000400, 'until': 90001405}),
    (['--since', '90001205us', '--until', '+1800us', '-p', '7'], {'since': 90001205, 'until': 90001800, 'pids': {7}}),
    (['--kernel', '^b|^g'], {'kernel': '^b|^g'}),
    (['--kernel', 'float', '-p', '8'], {'kernel': 'float', 'pids': {8}}),
    (['--kernel', 'alpha', '--until', '90001105us'], {'kernel': 'alpha', 'until': 90001105}),
    (['--grep', 'grid=\\[(2|64)'], {'grep': ['grid=\\[(2|64)']}),
    (['--grep', 'Barrier', '--grep', 'ShaderName'], {'grep': ['Barrier', 'ShaderName']}),
    (['--grep-not', 'hip', '--grep-not', 'Dispatch'], {'grep_not': ['hip', 'Dispatch']}),
    (['--grep', 'hip', '--grep-not', 'Malloc', '--since', '+1s'][:4], {'grep': ['hip'], 'grep_not': ['Malloc']}),
)


def check_parts(path, log, bounds, args, how):
    """The log in parts, which gpq merge adds up, whatever the order of their lines."""
    tables, wrong, ends = Tables(log, **how), [], [0, *bounds, log.bytes]
    with open('parts', 'w', encoding='utf-8') as f:
        for a, b in reversed(list(zip(ends, ends[1:]))):
            subprocess.run(['gpq', 'trace', '-q', '--partial', '--range', '%d:%d' % (a, b - a), *args, path], stdout=f, check=False)
    for t in TABLES[:-1]:
        wrong.append(differs(gpq('--by', t, '--output-all', '--ndjson', 'parts', command='merge'), getattr(tables, t)()))
    wrong.append(differs([doc['totals'] for doc in gpq('-J', 'parts', command='merge')], [tables.totals()]))
    queues = [{k: q[k] for k in ('hwq', 'dispatches')} for q in tables.queue()]
    wrong.append(differs(gpq('-o', 'hwq,dispatches', '--ndjson', 'parts', command='merge'), queues)) # columns alone: of queues
    ok(not any(wrong), ' '.join(['merge of %d parts' % (len(ends) - 1), path, *args]), '\n'.join(w for w in wrong if w))


def gap_columns(dispatches):
    lengths = [e - b for b, e in gaps(dispatches)]
    return {'gap_p50_ns': About(lengths, .5, 1000), 'gap_p99_ns': About(lengths, .99, 1000), 'gap_max_ns': max(lengths) * 1000 if lengths else None}


def per_second(n, tables):
    times = [r.us for r in tables.records]
    return n * 1e6 / (max(times) - min(times)) if max(times) > min(times) else None


def compared_logs(sides):
    rows = []
    for label, (path, t) in zip('AB', sides):
        totals, queues = t.totals(), t.queue()
        dispatches = [r for r in t.records if r.kind == 'dispatch']
        depths = [r.backlog for r in t.records if r.backlog is not None]
        items = [r.grid[0] * r.grid[1] * r.grid[2] for r in dispatches if r.grid]
        rows.append({'log': label, 'file': path, **{k: totals[k] for k in (
            'records', 'pids', 'kernels', 'launches', 'dispatches', 'api_errors', 'queue_errors', 'first_us', 'last_us', 'span_ns')},
                     'queues': len([q for q in queues if q['dispatches']]), 'streams': sum(q['streams'] or 0 for q in queues) or None,
                     'rate_per_s': per_second(len(dispatches), t), 'backlog_mean': sum(depths) / len(depths) if depths else None,
                     'backlog_p50': About(depths, .5), 'backlog_p99': About(depths, .99), 'backlog_max': max(depths, default=None),
                     'grid_items_p50': About(items, .5), 'grid_items_p90': About(items, .9), 'grid_items_max': max(items, default=None), **gap_columns(dispatches)})
    return rows


def compared_queues(sides):
    rows = []
    for i, (_, t) in enumerate(sides):
        others = {(q['pid'], q['hwq']) for q in sides[1 - i][1].queue() if q['dispatches']}
        for q in t.log.queues: # in the order of the log
            row = next((r for r in t.queue() if (r['pid'], r['hwq']) == (q.pid, hexed(q.hwq)) and r['dispatches']), None)
            if row:
                mine = [r for r in t.records if r.kind == 'dispatch' and t.ring(r.queue) is q]
                rows.append({'log': 'AB'[i], 'in_other': 'yes' if (q.pid, hexed(q.hwq)) in others else 'no', 'rate_per_s': per_second(len(mine), t),
                             **{k: row[k] for k in ('pid', 'hwq', 'swq', 'hip_prio', 'streams', 'kernels', 'dispatches', 'backlog_mean', 'backlog_max')},
                             **gap_columns(mine)})
    return rows


def compared_kernels(sides):
    of = [{k['name']: k for k in t.kernel()} for _, t in sides]
    rows = []
    for name in {**of[0], **of[1]}:
        row = {'name': name, 'in': 'both' if name in of[0] and name in of[1] else 'A' if name in of[0] else 'B'}
        for x, kernels, (_, t) in zip('ab', of, sides):
            k = kernels.get(name, {'dispatches': 0})
            row |= {x: k['dispatches'], 'rate_%s_per_s' % x: per_second(k['dispatches'], t),
                    **{'%s_%s' % (c, x): k.get(c) for c in ('grid_min', 'grid_max', 'grid_items_min', 'grid_items_max')}}
        rows.append(row)
    return sorted(rows, key=lambda k: (-max(k['a'], k['b']), k['name']))


def check_compare(a, b, logs, args, how):
    sides = [(path, Tables(logs[path], **how)) for path in (a, b)]
    wrong = [differs([r for r in gpq('--compare', *by, '--ndjson', '--output-all', *args, a, b) if 'finding' not in r], of(sides)) for by, of in (
        (['--table', 'logs'], compared_logs), (['--by', 'queue'], compared_queues), (['--by', 'kernel'], compared_kernels))]
    ok(not any(wrong), ' '.join(['--compare', a, b, *args]), '\n'.join(wrong))


def check_series(path, log, width, args, how):
    """Intervals of `width` microseconds: of all queues, and of each from its first to its last packet."""
    records = Tables(log, **how).records
    doc = gpq('--series', '%dus' % width, '-J', *args, path)[0]

    def row(mine, n, start):
        d, depths = kinds(mine, 'dispatch'), [r.backlog for r in mine if r.backlog is not None]
        return {'time_us': n * width, 'seconds': float((n - start) * width / 1e6), 'dispatches': d, 'barriers': kinds(mine, 'barrier_and', 'barrier_or'),
                'rate_per_s': d * 1e6 / width, 'backlog_mean': sum(depths) / len(depths) if depths else None, 'backlog_max': max(depths, default=None)}

    def between(mine):
        return range(min(r.us for r in mine) // width, max(r.us for r in mine) // width + 1)

    def within(mine, n):
        return [r for r in mine if r.us // width == n]
    every, packets = between(records), [r for r in records if r.kind in PACKETS]
    wrong = [differs(doc['intervals'], [{**row(within(packets, n), n, every[0]), 'launches': kinds(within(records, n), 'kernel'),
                                         'queues': len({id(r.queue) for r in within(packets, n)})} for n in every])]
    want, tracks = [], []
    for q in [None, *sorted((q for q in log.queues if any(r.queue is q for r in packets)), key=lambda q: q.pid)]:
        mine = packets if q is None else [r for r in packets if r.queue is q]
        of = every if q is None else between(mine)
        rows = [row(within(mine, n), n, every[0]) for n in of]
        if q:
            want += [{**r, 'pid': q.pid, 'hwq': hexed(q.hwq)} for r in rows]
        tracks.append({'pid': q.pid if q else None, 'hwq_or_all': hexed(q.hwq) if q else 'all', 'dispatches': kinds(mine, 'dispatch'), 'intervals': len(of),
                       'idle_intervals': len([r for r in rows if not r['dispatches']]), 'peak_per_s': max(r['rate_per_s'] for r in rows),
                       'backlog_max': max((r['backlog_max'] for r in rows if r['backlog_max'] is not None), default=None)})
    order = {(t['pid'], t['hwq_or_all']): i for i, t in enumerate(tracks)}
    wrong.append(differs(sorted(doc['queue_intervals'], key=lambda r: (order[r['pid'], r['hwq']], r['time_us'])), want))
    wrong.append(differs(sorted(doc['tracks'], key=lambda t: order[t['pid'], t['hwq_or_all']]), tracks))
    ok(not any(wrong), ' '.join(['--series %dus' % width, path, *args]), '\n'.join(wrong))


def ordered(rows, key, reverse):
    """By value, addresses too; unknown ones last either way, equal ones as they were."""
    def value(row):
        return int(row[key], 16) if isinstance(row[key], str) and row[key].startswith('0x') else row[key]
    return sorted((r for r in rows if r[key] is not None), key=value, reverse=reverse) + [r for r in rows if r[key] is None]


def check_orders(path, log, table):
    rows, how, wrong = getattr(Tables(log), table)(), ['--list'] if table == 'list' else ['--by', table], []
    keys = [k for k in rows[0] if all(k in r for r in rows)]
    for key in keys:
        # Equal ones in the reverse order stay as they were, so sorted(reverse=True) is right for both.
        for sign, reverse in ('', False), ('-', True):
            what = differs(gpq(*how, '--output-all', '--ndjson', '--sort', sign + key, path), ordered(rows, key, reverse))
            if what:
                wrong.append('%s%s: %s' % (sign, key, what))
    ok(not wrong, '%s: %s: by each of %d columns, both ways' % (path, table, len(keys)), '\n'.join(wrong))


if __name__ == '__main__':
    logs = {}
    # Another run: each fourth line is missing, one kernel has another name, another queue another address.
    def log_other():
        lines = ''.join(line for i, line in enumerate(log_64()) if i % 4 != 3 or 'Create' in line)
        return lines.replace('gamma', 'delta').replace('SWq=0x8a3000, HWq=0x8b3000', 'SWq=0x8a4000, HWq=0x8b4000')
    for name, make in ('pairs64.log', log_64), ('pairs57.log', log_57), ('other.log', log_other):
        with open(name, 'w', encoding='utf-8', newline='\n') as f:
            f.write(''.join(make()))
        logs[name] = Log(name)
        if name != 'other.log': # other tests read it as well
            with open(sys.argv[1] + '/' + name, encoding='utf-8', newline='\n') as f:
                ok(f.read() == ''.join(make()), name + ' of the folder of logs is this one # rig')
    for args, how in FILTERS:
        check('pairs64.log', logs['pairs64.log'], args, how)
    for args, how in ([], {}), (['--kernel', 'm'], {'kernel': 'm'}), (['--grep', 'hardware'], {'grep': ['hardware']}), (['--since', '+1ms', '--until', '+2005us'], {'since': 41001000, 'until': 41002005}):
        check('pairs57.log', logs['pairs57.log'], args, how)
    starts = [r.offset for r in logs['pairs64.log'].records]
    for bounds in [], starts[40:41], starts[5::29], starts[3:]:
        check_parts('pairs64.log', logs['pairs64.log'], bounds, [], {})
    check_parts('pairs64.log', logs['pairs64.log'], starts[9::20], ['-p', '7', '--since', '90000415us'], {'pids': {7}, 'since': 90000415})
    check_parts('pairs57.log', logs['pairs57.log'], [r.offset for r in logs['pairs57.log'].records][4::7], [], {})
    for args, how in ([], {}), (['-p', '7'], {'pids': {7}}), (['--until', '90001309us'], {'until': 90001309}), (['--kernel', 'alpha'], {'kernel': 'alpha'}):
        check_compare('pairs64.log', 'other.log', logs, args, how)
        check_compare('other.log', 'pairs64.log', logs, args, how)
    for width in 100, 333, 1000000:
        check_series('pairs64.log', logs['pairs64.log'], width, [], {})
        check_series('pairs64.log', logs['pairs64.log'], width, ['-p', '7', '--since', '90001200us'], {'pids': {7}, 'since': 90001200})
    for table in TABLES:
        check_orders('pairs64.log', logs['pairs64.log'], table)
    kernels = Tables(logs['pairs64.log']).kernel()
    for n in 0, 1, len(kernels) - 1, len(kernels), len(kernels) + 1:
        what = differs(gpq('--by', 'kernel', '--top', str(n), '--ndjson', '--output-all', 'pairs64.log'), kernels[:n])
        ok(not what, '--top %d of %d' % (n, len(kernels)), what)
    tap.finish()
