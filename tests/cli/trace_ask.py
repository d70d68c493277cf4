# What the questions of gpq trace must answer, worked out from the log's text with regular expressions: tests/cli/trace-ask.sh.
#
# Nothing here comes from gpq. A dispatch has the name logged last on its thread; percentiles are exact, gpq's may be up to
# 1/32 too large (common/stats/hist.h).
import json
import re
import subprocess
import sys
import traceback

import tap
from tap import ok, same

PREFIX = re.compile(r':(\d):(.{25}|[^:]*?) *:(\d+) *: (\d+)d? us: (?:\[pid:(\d+) +tid: ?(?:0x)?([0-9a-f]+)\] )?(.*)')
COLOUR = re.compile(r'\x1b\[\d+m')
NUMBER = r'(0x[0-9a-f]+|\d+)'


class Record:
    def __init__(self, m):
        self.us = int(m.group(4))
        self.pid = int(m.group(5)) if m.group(5) else None
        self.tid = m.group(6)
        self.msg = COLOUR.sub('', m.group(7)).strip()


def field(msg, name):
    m = re.search(r'\b' + name + '=' + NUMBER, msg)
    return int(m.group(1), 0) if m else None


def read(path):
    records = []
    with open(path, encoding='utf-8', errors='surrogateescape', newline='\n') as f:
        for line in f:
            m = PREFIX.match(line.rstrip('\r\n'))
            if m:
                records.append(Record(m))
    return records


class Log:
    """Packets and launches of a log, in the order of its lines."""

    def __init__(self, path):
        self.records = read(path)
        self.dispatches, self.packets, self.launches = [], [], []
        named = {}
        for r in self.records:
            if r.msg.startswith('ShaderName : '):
                named[r.pid, r.tid] = r.msg[len('ShaderName : '):]
                self.launches.append((r, named[r.pid, r.tid]))
            elif 'Header = ' in r.msg and re.match(r'(SWq|HWq)=', r.msg):
                r.hwq = field(r.msg, 'HWq')
                r.rptr, r.wptr = field(r.msg, 'rptr'), field(r.msg, 'wptr')
                r.backlog = max(0, r.wptr - r.rptr) if r.rptr is not None and r.wptr is not None else None
                self.packets.append(r)
                if 'Dispatch Header' in r.msg:
                    r.kernel = named.pop((r.pid, r.tid), None)
                    g = re.search(r'grid=\[(\d+), (\d+), (\d+)\]', r.msg)
                    r.items = int(g.group(1)) * int(g.group(2)) * int(g.group(3)) if g else None
                    self.dispatches.append(r)
        times = [r.us for r in self.records]
        self.first, self.last = min(times), max(times)
        self.span_s = (self.last - self.first) / 1e6

    def queues(self):
        return sorted({(d.pid, d.hwq) for d in self.dispatches})

    def of(self, queue, packets=None):
        return [p for p in (self.dispatches if packets is None else packets) if (p.pid, p.hwq) == queue]


def gaps(dispatches):
    """(begin, end) between dispatches that follow each other; one that is older than the latest ends none."""
    last, out = None, []
    for d in dispatches:
        if last is not None and d.us >= last:
            out.append((last, d.us))
        last = d.us if last is None else max(last, d.us)
    return out


def percentile(values, p):
    """None: above the median, where no value lies above it."""
    values = sorted(values)
    rank = max(1, -(-len(values) * int(p * 1000) // 1000))
    return values[rank - 1] if p <= .5 or rank < len(values) else None


def close(got, want, unit=1):
    return got is want if want is None or got is None else want * unit <= got <= want * unit * 33 / 32 + unit


def gpq(*args):
    r = subprocess.run(['gpq', 'trace', '-q', *args], capture_output=True, check=False)
    return json.loads(r.stdout)


def hexed(n):
    return '0x%x' % n if n is not None else None


def rate(n, log):
    return n / log.span_s


def near(a, b):
    return a is not None and abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1e-9)


def check_log_row(name, row, log):
    d = log.dispatches
    same(name + ': records, dispatches, launches, queues', (row['records'], row['dispatches'], row['launches'], row['queues']),
         (len(log.records), len(d), len(log.launches), len(log.queues())))
    ok(near(row['rate_per_s'], rate(len(d), log)), name + ': rate', (row['rate_per_s'], rate(len(d), log)))
    depths = [p.backlog for p in log.packets if p.backlog is not None]
    if depths:
        ok(near(row['backlog_mean'], sum(depths) / len(depths)) and row['backlog_max'] == max(depths) and
           close(row['backlog_p50'], percentile(depths, .5)) and close(row['backlog_p99'], percentile(depths, .99)),
           name + ': backlog', (row, percentile(depths, .5), percentile(depths, .99)))
    items = [x.items for x in d if x.items is not None]
    ok(close(row['grid_items_p50'], percentile(items, .5)) and close(row['grid_items_p90'], percentile(items, .9)) and
       row['grid_items_max'] == max(items), name + ': grids', row)
    check_gaps(name + ': gaps of all queues', row, d)


def check_gaps(name, row, dispatches):
    lengths = [e - b for b, e in gaps(dispatches)]
    if not lengths:
        same(name + ': none', (row['gap_p50_ns'], row['gap_max_ns']), (None, None))
        return
    ok(all(close(row[k], percentile(lengths, p), 1000) for k, p in (('gap_p50_ns', .5), ('gap_p90_ns', .9), ('gap_p99_ns', .99)) if k in row) and
       row['gap_max_ns'] == max(lengths) * 1000, name, (row, percentile(lengths, .5), percentile(lengths, .99), max(lengths)))


def uses(log):
    n = {}
    for d in log.dispatches:
        n[d.kernel] = n.get(d.kernel, 0) + 1
    n.pop(None, None)
    return n


def compare(a_path, b_path):
    name = 'compare ' + ' '.join(p.rsplit('/', 1)[-1] for p in (a_path, b_path))
    logs = [Log(a_path), Log(b_path)]
    doc = gpq('--compare', '-J', a_path, b_path)
    for row, log, label in zip(doc['logs'], logs, 'AB'):
        check_log_row(name + ': ' + label, row, log)
    a, b = (uses(log) for log in logs)
    want = sorted((k, 'both' if k in a and k in b else 'A' if k in a else 'B', a.get(k, 0), b.get(k, 0)) for k in {*a, *b})
    same(name + ': kernels', sorted((k['name'], k['in'], k['a'], k['b']) for k in doc['kernels']), want)
    rows = {(q['log'], q['pid'], q['hwq']): q for q in doc['queues']}
    want = {(label, p, hexed(h)) for log, label in zip(logs, 'AB') for p, h in log.queues()}
    same(name + ': queues', sorted(rows, key=str), sorted(want, key=str))
    for log, label, other in ((logs[0], 'A', logs[1]), (logs[1], 'B', logs[0])):
        for q in log.queues():
            row = rows.get((label, q[0], hexed(q[1])))
            if not row:
                continue
            mine = log.of(q)
            same(name + ': %s %s: dispatches, kernels, in the other' % (label, row['hwq']),
                 (row['dispatches'], row['kernels'], row['in_other']),
                 (len(mine), len({d.kernel for d in mine} - {None}), 'yes' if q in other.queues() else 'no'))
            check_gaps(name + ': %s %s: gaps' % (label, row['hwq']), row, mine)
    queues = [len(log.queues()) for log in logs]
    shared = len(set(logs[0].queues()) & set(logs[1].queues()))
    verdict = doc['verdict']
    ok(('no overlap' in verdict) == (shared == 0) and ('each' in verdict) == (queues[0] == queues[1]) and
       (not shared or '%d in both' % shared in verdict), name + ': verdict', (verdict, queues, shared))


def interval_row(row, packets, width, launches=None):
    """The counts of the packets of one interval, as a row of gpq says them."""
    d = [p for p in packets if 'Dispatch Header' in p.msg]
    b = [p for p in packets if 'Barrier' in p.msg and 'BarrierValue' not in p.msg]
    depths = [p.backlog for p in packets if p.backlog is not None]
    good = (row['dispatches'], row['barriers']) == (len(d), len(b)) and near(row['rate_per_s'], len(d) * 1e6 / width)
    if depths:
        good = good and row['backlog_max'] == max(depths) and near(row['backlog_mean'], sum(depths) / len(depths))
    else:
        good = good and row['backlog_max'] is None and row['backlog_mean'] is None
    return good and (launches is None or row['launches'] == launches)


def binned(things, width):
    out = {}
    for x in things:
        out.setdefault(x.us // width, []).append(x)
    return out


def series(path, width_us):
    log, width = Log(path), int(width_us)
    name = 'series of %s by %d us' % (path.rsplit('/', 1)[-1], width)
    doc = gpq('--series', '%dus' % width, '-J', path)
    same(name + ': intervals, none left out', [r['time_us'] // width for r in doc['intervals']],
         list(range(log.first // width, log.last // width + 1)))
    same(name + ': length, beginnings', (doc['interval_ns'], all(r['time_us'] % width == 0 for r in doc['intervals'])),
         (width * 1000, True))
    packets, launches = binned(log.packets, width), binned([r for r, _ in log.launches], width)
    wrong = []
    for r in doc['intervals']:
        i = r['time_us'] // width
        mine = packets.get(i, [])
        if not interval_row(r, mine, width, len(launches.get(i, []))) or r['queues'] != len({(p.pid, p.hwq) for p in mine}):
            wrong.append(r)
    ok(not wrong, name + ': counts, rate, backlog, queues', wrong[:2])
    rows = {}
    for r in doc['queue_intervals']:
        rows.setdefault((r['pid'], int(r['hwq'], 16)), []).append(r)
    queues = sorted({(p.pid, p.hwq) for p in log.packets})
    same(name + ': queues', sorted(rows), queues)
    for q in queues:
        mine = binned(log.of(q, log.packets), width)
        wrong = [r for r in rows.get(q, []) if not interval_row(r, mine.get(r['time_us'] // width, []), width)]
        ok(not wrong, name + ': %d 0x%x' % q, wrong[:2])
        same(name + ': %d 0x%x: from its first to its last packet' % q, [r['time_us'] // width for r in rows.get(q, [])],
             list(range(min(mine), max(mine) + 1)))
    track = doc['tracks'][0]
    idle = len([i for i in range(log.first // width, log.last // width + 1)
                if not [p for p in packets.get(i, []) if 'Dispatch Header' in p.msg]])
    same(name + ': all', (track['hwq_or_all'], track['dispatches'], track['idle_intervals']), ('all', len(log.dispatches), idle))


def queue_key(row):
    return (row['pid'], int(row['hwq_or_all'], 16)) if row['hwq_or_all'] != 'all' else 'all'


def overlap(gap, mark):
    return min(gap[1], mark[1]) - max(gap[0], mark[0])


def check_rhythm(name, row, dispatches, marks):
    check_gaps(name + ': gaps', row, dispatches)
    same(name + ': dispatches', row['dispatches'], len(dispatches))
    if queue_key(row) == 'all':
        return
    log_first, log_last = row['_span']
    mine = [m for m in marks if m[0] < log_last and m[1] > log_first]
    times = [d.us for d in dispatches]
    quiet = [m for m in mine if not any(m[0] <= t <= m[1] for t in times)]
    same(name + ': marks, those without a dispatch', (row['marks'], row['quiet_marks']), (len(mine), len(quiet)))
    after = [next(g[1] for g in gaps(dispatches) if g[1] >= m[1]) - m[1] for m in mine if times[0] < m[1] <= max(times)]
    if after:
        ok(close(row['after_p50_ns'], percentile(after, .5), 1000) and close(row['after_p99_ns'], percentile(after, .99), 1000) and
           row['after_max_ns'] == max(after) * 1000, name + ': after marks', (row, sorted(after)))


def check_longest(name, rows, dispatches, marks, keep=7):
    want = sorted(((b - e, b, e) for b, e in gaps(dispatches) if e > b))[:keep]
    same(name + ': the longest', [(r['begin_us'], r['end_us'], r['gap_ns']) for r in rows],
         [(b, e, (e - b) * 1000) for _, b, e in want])
    for r in rows:
        common = [max(0, overlap((r['begin_us'], r['end_us']), m)) for m in marks]
        most = max(common + [0])
        mark = marks[common.index(most)][2] if most else None
        ok((r['overlap_ns'] or 0) == most * 1000 and r['mark'] == mark, name + ': what the gap at %d coincides with' % r['begin_us'], (r, most, mark))
        before = None if queue_key(r) == 'all' else {d.backlog for d in dispatches if d.us == r['begin_us']}
        ok(r['backlog'] in (before or [None]), name + ': backlog before the gap at %d' % r['begin_us'], (r, before))


def check_mark(name, row, log, queue, marks):
    mark = next(m for m in marks if m[:2] == (row['begin_us'], row['end_us']))
    inside = [d for d in log.of(queue) if mark[0] <= d.us <= mark[1]]
    packets = [p for p in log.of(queue, log.packets) if mark[0] <= p.us <= mark[1] and p.backlog is not None]
    near_by = [g for g in gaps(log.of(queue)) if g[0] < mark[1] and g[1] > mark[0]]
    after = [g[1] for g in near_by if g[1] >= mark[1]]
    want = (len(inside), max(p.rptr for p in packets) - min(p.rptr for p in packets) if packets else None,
            max(p.backlog for p in packets) if packets else None,
            max(e - b for b, e in near_by) * 1000 if near_by else None, (after[0] - mark[1]) * 1000 if after else None)
    same(name, tuple(row[k] for k in ('dispatches', 'taken', 'backlog_max', 'gap_ns', 'after_ns')), want)
    same(name + ': name, length', (row['mark'], row['mark_ns']), (mark[2], (mark[1] - mark[0]) * 1000))


def gaps_question(path, mark_path):
    """`mark_path` has lines BEGIN END NAME in microseconds; "-": windows over the log, made here."""
    log = Log(path)
    name = 'gaps of ' + path.rsplit('/', 1)[-1]
    if mark_path == '-':
        mark_path = path + '.marks'
        step = (log.last - log.first) // 9 + 1
        with open(mark_path, 'w') as f:
            for i, t in enumerate(range(log.first - step // 2, log.last, step)):
                print(t, t + step // (1 + i % 5), 'm%d' % i, file=f)
    with open(mark_path) as f:
        marks = [(int(b), int(e), label) for b, e, label in (line.split() for line in f)]
    doc = gpq('--gaps', '--top', '7', '--mark', mark_path, '-J', path)
    rows = {queue_key(r): r for r in doc['queues']}
    same(name + ': queues', sorted(k for k in rows if k != 'all') + ['all'], sorted(log.queues()) + ['all'])
    for q in log.queues() + ['all']:
        label = name + ': ' + ('all' if q == 'all' else '%d 0x%x' % q)
        mine = (log.dispatches or [r for r, _ in log.launches]) if q == 'all' else log.of(q)
        times = [p.us for p in ((log.packets or mine) if q == 'all' else log.of(q, log.packets))]
        rows[q]['_span'] = (min(times), max(times))
        check_rhythm(label, rows[q], mine, marks)
        check_longest(label, [r for r in doc['gaps'] if queue_key(r) == q], mine, marks)
    if not log.packets:
        return
    cells = 0
    for r in doc['marks']:
        q = (r['pid'], int(r['hwq'], 16))
        check_mark(name + ': %s on 0x%x' % (r['mark'], q[1]), r, log, q, marks)
        cells += 1
    same(name + ': a row for each queue and window', cells, sum(r['marks'] for r in doc['queues'] if r['marks'] is not None))


RETURN = re.compile(r'([A-Za-z_]\w*): Returned (\w+) :.*?(?:: duration: (\d+)d? us)?$')


def api(path):
    name = 'API calls of ' + path.rsplit('/', 1)[-1]
    times, errors = {}, {}
    for r in Log(path).records:
        m = RETURN.match(r.msg)
        if m and m.group(3):
            times.setdefault(m.group(1), []).append(int(m.group(3)))
        if m and m.group(2) != 'hipSuccess':
            key = (r.pid, '%s: %s' % m.group(1, 2))
            errors[key] = errors.get(key, 0) + 1
    rows = [a for a in gpq('--by', 'api', '-J', path)['apis'] if a['timed']]
    same(name + ': most time first', [a['duration_ns'] // 1000 for a in rows], sorted((sum(v) for v in times.values()), reverse=True))
    for a in rows:
        t = times.get(a['name'], [0])
        ok((a['timed'], a['duration_ns'], a['duration_max_ns']) == (len(t), sum(t) * 1000, max(t) * 1000) and
           close(a['duration_p50_ns'], percentile(t, .5), 1000) and close(a['duration_p99_ns'], percentile(t, .99), 1000),
           name + ': ' + a['name'], (a, len(t), sum(t), percentile(t, .5), percentile(t, .99)))
    got = {(e['pid'], e['what']): e['count'] for e in gpq('--by', 'error', '-J', path)['errors'] if e['kind'] == 'api'}
    same(name + ': errors', got, errors)


LAUNCH = re.compile(r'(?:hipLaunch|hipModuleLaunch|hipExt)\w* \( .*stream:(0x[0-9a-f]+|<null>)')


def streams(path, truth=None):
    """Dispatches of each stream, queue after queue: a launch names its stream, its dispatch follows on the thread."""
    name = 'streams of ' + path.rsplit('/', 1)[-1]
    log, current, want = Log(path), {}, {}
    dispatches = {id(d) for d in log.dispatches}
    for r in log.records:
        m = LAUNCH.match(r.msg)
        if m:
            current[r.pid, r.tid] = 0 if m.group(1) == '<null>' else int(m.group(1), 16)
        elif ': Returned ' in r.msg:
            current.pop((r.pid, r.tid), None)
        elif id(r) in dispatches and (r.pid, r.tid) in current:
            periods = want.setdefault((r.pid, current[r.pid, r.tid]), [])
            if not periods or periods[-1][0] != r.hwq:
                periods.append([r.hwq, 0])
            periods[-1][1] += 1
    got = {}
    for s in gpq('--by', 'stream', '-J', path)['streams']:
        if s['dispatches']:
            got.setdefault((s['pid'], int(s['stream'], 16)), []).append([int(s['hwq'], 16), s['dispatches']])
    same(name + ': queues one after the other, dispatches', got, want)
    if truth:
        with open(truth) as f:
            text = f.read()
        said = {int(h, 16): int(n) for h, n in re.findall(r'^stream \d+ .* handle (0x[0-9a-f]+) .* launches (\d+) ', text, re.M)}
        same(name + ': as the program counted', {h: sum(n for _, n in p) for (_, h), p in got.items() if h in said},
             {h: n for h, n in said.items() if n})


def check_times(name, row, times, prefix='latency'):
    got = [row['%s_%s_ns' % (prefix, p)] for p in ('p50', 'p99', 'max')]
    ok(close(got[0], percentile(times, .5), 1000) and close(got[1], percentile(times, .99), 1000) and
       got[2] == max(times) * 1000 and (prefix != 'latency' or close(row['latency_p90_ns'], percentile(times, .9), 1000)) and
       (prefix != 'latency' or near(row['latency_mean_ns'] / 1000, sum(times) / len(times)) or sum(times) < 1e6 and
        abs(row['latency_mean_ns'] / 1000 - sum(times) / len(times)) < .01),
       name, (row, len(times), percentile(times, .5), percentile(times, .99), max(times), sum(times) / len(times)))


def latency(path):
    name = 'latency of ' + path.rsplit('/', 1)[-1]
    log = Log(path)
    packets = {id(p) for p in log.packets}
    running, last, waiting = {}, {}, {}
    enqueued, kinds, queues, kernels, handlers = {}, {}, {}, {}, {}
    for r in log.records:
        thread = (r.pid, r.tid)
        m = re.match(r'Command \((\w+)\) enqueued: (0x[0-9a-f]+)', r.msg)
        if m:
            c = {'us': r.us, 'kind': m.group(1), 'queue': None, 'kernel': None}
            enqueued[c['kind']] = enqueued.get(c['kind'], 0) + 1
            running[r.pid, m.group(2)] = last[thread] = c
            continue
        m = re.match(r'Command (0x[0-9a-f]+) complete', r.msg)
        if m:
            c = running.pop((r.pid, m.group(1)), None)
            if c:
                us = max(0, r.us - c['us'])
                kinds.setdefault(c['kind'], []).append(us)
                if c['queue']:
                    queues.setdefault(c['queue'], []).append(us)
                if c['kernel']:
                    kernels.setdefault(c['kernel'], []).append(us)
            continue
        m = re.match(r'(Set )?Handler:.* handle\((0x[0-9a-f]+)\)', r.msg)
        if m and m.group(1):
            waiting[r.pid, m.group(2)] = [r.us, None]
        elif m:
            w = waiting.pop((r.pid, m.group(2)), None)
            if w:
                handlers.setdefault(w[1], []).append(max(0, r.us - w[0]))
        elif r.msg.startswith('ShaderName : ') and thread in last:
            last[thread]['kernel'] = last[thread]['kernel'] or r.msg[len('ShaderName : '):]
        elif id(r) in packets:
            if thread in last:
                last[thread]['queue'] = last[thread]['queue'] or (r.pid, r.hwq)
                if getattr(r, 'kernel', None):
                    last[thread]['kernel'] = last[thread]['kernel'] or r.kernel
            signal = re.search(r'completion_signal=(0x[0-9a-f]+)', r.msg)
            if signal and (r.pid, signal.group(1)) in waiting:
                waiting[r.pid, signal.group(1)][1] = (r.pid, r.hwq)
    doc = gpq('--latency', '-J', path)
    rows = {c['kind']: c for c in doc['commands']}
    called = [t for v in handlers.values() for t in v]
    if called:
        check_times(name + ': handlers', rows.pop('handler'), called)
    rows.pop('handler', None)
    same(name + ': commands enqueued, completed', {k: (c['enqueued'], c['completed']) for k, c in rows.items()},
         {k: (n, len(kinds.get(k, []))) for k, n in enqueued.items()})
    for k, times in kinds.items():
        check_times(name + ': ' + k, rows[k], times)
    rows = {(q['pid'], int(q['hwq'], 16)): q for q in doc['queues']}
    same(name + ': queues', {q: r['completed'] for q, r in rows.items() if r['completed']}, {q: len(t) for q, t in queues.items()})
    for q, times in queues.items():
        check_times(name + ': 0x%x' % q[1], rows[q], times)
    for q, times in handlers.items():
        if q:
            check_times(name + ': handlers of 0x%x' % q[1], rows[q], times, 'handler')
            same(name + ': how many of 0x%x' % q[1], rows[q]['handlers'], len(times))
    rows = {k['name']: k for k in doc['kernels']}
    same(name + ': kernels', {k: r['completed'] for k, r in rows.items()}, {k: len(t) for k, t in kernels.items()})
    for k, times in sorted(kernels.items())[:40]:
        check_times(name + ': ' + k[:60], rows[k], times)


if __name__ == '__main__':
    questions = {'compare': compare, 'series': series, 'gaps': gaps_question, 'api': api, 'streams': streams, 'latency': latency}
    asked = 0
    for line in sys.stdin:
        question, *args = line.rstrip('\n').split('\t')
        before = tap.tests
        try:
            questions[question](*args)
        except Exception:  # of gpq's output, too: a row or a key that is not there
            ok(False, line.strip(), traceback.format_exc())
        asked += tap.tests > before
    print(asked, tap.tests, tap.failed)
