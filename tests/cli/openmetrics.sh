#!/bin/bash
# --openmetrics: values by hand, the grammar by a reader of our own (openmetrics.py), and each number of --ndjson in its metric.
# tests/cli/promtool.sh asks Prometheus's own reader.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit
hosts=$top/tests/hosts

# Values by hand: sizes of the rings are in .../queues/N/size, 61 in stats_41460/cu_occupancy, 0 in evicted_ms.
id='pid="41207",command="python3",user="root",container="116f54c41d04",gpu_id="41460"'
is "columns of -o, and the labels" "$(gpq --sysroot "$hosts/gfx90a-k6.12" queues -p 41207 -Q 0,3 -o RING,STATE,BACKLOG,EVICTED --openmetrics)" \
	"# TYPE gpq_queues_ring_bytes gauge
# UNIT gpq_queues_ring_bytes bytes
# HELP gpq_queues_ring_bytes size of the ring
gpq_queues_ring_bytes{$id,qid=\"0\",type=\"compute\"} 4096
gpq_queues_ring_bytes{$id,qid=\"3\",type=\"sdma\"} 1048576
# TYPE gpq_queues_state gauge
# HELP gpq_queues_state running, idle, mapped (work unknown), takes-turns (over-subscribed), suspended (by gpq), evicted, off-hardware, unknown
gpq_queues_state{$id,qid=\"0\",type=\"compute\",state=\"idle\"} 1
gpq_queues_state{$id,qid=\"3\",type=\"sdma\",state=\"mapped\"} 1
# TYPE gpq_queues_backlog gauge
# HELP gpq_queues_backlog AQL packets, SDMA bytes or PM4 dwords not consumed: now if readable, else when taken off
gpq_queues_backlog{$id,qid=\"0\",type=\"compute\"} 0
# HELP gpq_queues_evicted_seconds_total time the process was evicted from the GPU, without an eviction going on
gpq_queues_evicted_seconds_total{$id,qid=\"0\",type=\"compute\"} 0
gpq_queues_evicted_seconds_total{$id,qid=\"3\",type=\"sdma\"} 0
# EOF"
o() { gpq --sysroot "$hosts/gfx90a-k6.12" "$@" --openmetrics; }
is "--filter and --sort" "$(o queues -o RING --filter 'TYPE == "compute" && PID == 41207' --sort -QID | grep -o '^[^#].*' | sed 's/.*qid/qid/')" \
	'qid="2",type="compute"} 1048576
qid="1",type="compute"} 1048576
qid="0",type="compute"} 4096'
is "--table" "$(o hqd --summary --table occupancy | grep -oE '^gpq_[a-z_]+' | sort -u | xargs)" "$(printf 'gpq_hqd_occupancy_%s ' free info oversubscribed queues slots used used_share_ratio | xargs)"
# max_engine_clk_fcompute of the GPU is 1700 MHz.
is "a clock in hertz, and a number that names something" "$(o gpus -o MHZ,INDEX | grep -v '^#')" \
	'gpq_gpus_info{node="1",gpu_id="41460",gpu_index="0"} 1
gpq_gpus_max_engine_hertz{node="1",gpu_id="41460"} 1700000000'
is "--context: the host is a label of all, the kernel one of _info" "$(gpq --sysroot "$hosts/aql-gfx90a" gpus -q -o CUS --context --openmetrics |
	grep -v '^#' | sed -E 's/(boot_id|pid_ns)="[^"]+",?//g')" \
	"gpq_gpus_info{node=\"1\",gpu_id=\"58361\",host=\"$(cat "$hosts/aql-gfx90a/proc/sys/kernel/hostname")\",kernel=\"$(cat "$hosts/aql-gfx90a/proc/sys/kernel/osrelease")\",source=\"recorded\"} 1
gpq_gpus_cus{node=\"1\",gpu_id=\"58361\",host=\"$(cat "$hosts/aql-gfx90a/proc/sys/kernel/hostname")\"} 104"
is "no rows are no metrics" "$(o queues --filter 'PID == 1')" "# EOF"
is "a text only if it is asked for" "$(may 3 o why -q | may 1 grep -c 'do="'; may 3 o why -q -o +DO | grep -c '^gpq_why_queues_info{.*,do="')" \
	"0
3"
# Of three queues whose ids are unknown (two by dbg off the hardware) none is lost.
is "rows with the same labels are told apart" "$(may 3 gpq --sysroot "$hosts/vm-gfx90a-new" why -q -p 507 --type compute -o STATE --openmetrics | sed -n 's/.*type=/type=/p')" \
	'type="compute",state="unknown"} 1
type="compute",twin="2",state="suspended"} 1
type="compute",twin="3",state="suspended"} 1'
is "by their addresses where they are known" "$(gpq --sysroot "$hosts/vm-gfx90a-new" hqd --mqd -q -p 507 -o PRIO --openmetrics | sed -n 's/^gpq_hqd_slots_prio.*\(ring_addr="[^"]*",doorbell="[^"]*"\).*/\1/p')" \
	'ring_addr="0x7efe61e76000",doorbell="0x1010"
ring_addr="0x7efe65b4e000",doorbell="0x1008"
ring_addr="0x7efe69813000",doorbell="0x1000"'

# Names of others: quotes, backslashes, control characters, bytes that are no UTF-8, in a log and from a scheduler.
sed 's/layer_norm(float\*)/a"b\\c\xff\xc2\x9b\xc3\xa9/' "$top/tests/data/amdlog/rocm70.log" >log
is "text of others is escaped" "$(gpq trace -q --by kernel -o LAUNCHES --openmetrics log | sed -n 's/.*name="\(a.*\)"}.*/\1/p')" 'a\"b\\c��é'
export GPQ_SCHED_SOCKET=$work/socket
answers() { # FILE: a scheduler that says what is in it
	rm -f socket
	python3 -S - "$1" <<'END' &
import os, socket, sys

s = socket.socket(socket.AF_UNIX)
s.bind("new")
s.listen(1)
os.rename("new", "socket")
c = s.accept()[0]
c.recv(64)
c.sendall(open(sys.argv[1], "rb").read())
c.close()
END
	until [ -S socket ]; do kill -0 $! 2>/dev/null || break; done
}
cat >answer <<'END'
{"record":"scheduler","schema":1,"policy":"strict","pid":7,"up_ns":12345678901234567,"cpu_ns":1500000,"max_hold_ns":1000000000,"requests":18446744073709551614}
{"record":"class","schema":1,"class":"off\"li\\ne\n","processes":1,"off":0,"busy_ns":250000000,"bursts":3,"ran_percent":61.5}
{"record":"member","schema":1,"class":"off\"li\\ne\n","pid":4194305,"command":"a\u001bb","state":"missed","reason":"its user"}
ok
END
answers answer
gpq sched --status --openmetrics >sched.txt
wait
is "a scheduler's" "$(grep -v '^# HELP' sched.txt)" '# TYPE gpq_sched_scheduler_info gauge
gpq_sched_scheduler_info{pid="7",policy="strict"} 1
# TYPE gpq_sched_scheduler_up_seconds gauge
# UNIT gpq_sched_scheduler_up_seconds seconds
gpq_sched_scheduler_up_seconds{pid="7"} 12345678.901234567
gpq_sched_scheduler_cpu_seconds_total{pid="7"} 0.0015
# TYPE gpq_sched_scheduler_max_hold_seconds gauge
# UNIT gpq_sched_scheduler_max_hold_seconds seconds
gpq_sched_scheduler_max_hold_seconds{pid="7"} 1
gpq_sched_scheduler_requests_total{pid="7"} 1.8446744073709552e+19
# TYPE gpq_sched_classes_processes gauge
gpq_sched_classes_processes{class="off\"li\\ne\n"} 1
# TYPE gpq_sched_classes_off gauge
gpq_sched_classes_off{class="off\"li\\ne\n"} 0
gpq_sched_classes_bursts_total{class="off\"li\\ne\n"} 3
gpq_sched_classes_busy_seconds_total{class="off\"li\\ne\n"} 0.25
# TYPE gpq_sched_classes_ran_ratio gauge
# UNIT gpq_sched_classes_ran_ratio ratio
gpq_sched_classes_ran_ratio{class="off\"li\\ne\n"} 0.615
# TYPE gpq_sched_members_state gauge
gpq_sched_members_state{class="off\"li\\ne\n",pid="4194305",command="a�b",state="missed"} 1
# EOF'

# Metrics that the dashboard and the alerts of man/examples/prometheus name: all are written, of a recorded host, by the scheduler
# below, and by gpq suspend --list, of which a recorded host has no rows.
cat >all-answer <<'END'
{"record":"scheduler","schema":1,"policy":"strict","pid":7}
{"record":"class","schema":1,"class":"offline","missed":0,"busy_ns":0,"holds":1,"contended_ns":1,"reaction_p99_ns":1,"resume_p50_ns":1}
ok
END
answers all-answer
gpq sched --status --openmetrics >sched-all.txt
wait
{
	cat sched-all.txt
	for l in ps why "hqd --summary" queues gpus; do
		# shellcheck disable=SC2086 # several words
		may 3 o $l -q
	done
	gpq suspend --list-columns -rn -o KEY | sed 's/_ns$/_seconds/; s/^/gpq_suspend_list_holders_/'
} | grep -oE '^gpq_[a-z0-9_]+' | sort -u >written
for f in gpq-dashboard.json gpq-alerts.yml; do
	grep -v '^ *#' "$top/man/examples/prometheus/$f" | grep -oE '\bgpq_[a-z0-9_]+' | sort -u >named
	rig ok "$f names metrics" test "$(wc -l <named)" -ge 3
	empty "$f: each is written" "$(comm -23 named written)"
done

# What has no end, or is no metric.
says() { # WHAT ARGS...: the message, and status 2 without output
	is "refused: $1" "$(gpq "${@:2}" --openmetrics 2>&1; echo $?)" "$1
2"
}
says "gpq: queues: --watch has no end, but metrics have one; run it each time" queues --watch 1
says "gpq: sched: --watch has no end, but metrics have one; run it each time" sched --status --watch 1
says "gpq: events: --openmetrics: events are no metrics; use --ndjson" events
says "gpq: trace: --list: records are no metrics; use --ndjson" trace --list log
says "gpq: snapshot: --every and --openmetrics exclude each other; use --ndjson" snapshot --every 1s dir

# Each known number of --ndjson is in a metric, and each sample is one of those, on recorded hosts and of logs.
TAP_FROM=$n python3 -S - "$top" <<'END' >ndjson.tap
import json, re, subprocess, sys
top = sys.argv[1]
sys.path.insert(0, top + '/tests/cli')
import openmetrics, tap

UNITS = ((r'_ns$', '_seconds', 1e9), (r'_us$', '_seconds', 1e6), (r'_percent$', '_ratio', 100), (r'_share$', '_share_ratio', 1),
         (r'_mhz$', '_hertz', 1e-6), (r'_per_s$', '_per_second', 1), (r'_count$', '_number', 1))
# Of a text that -o does not name there is no label, and so none of these numbers, which belong to it.
HOSTS = top + '/tests/hosts/'
TEXTS = {'at_work', 'by_index'}


def run(args):
    return subprocess.run(['gpq', *args], capture_output=True, encoding='utf-8', errors='replace').stdout


def told_of(records, families, tables):
    """Numbers of JSON that no sample tells; names of metrics whose samples are another number of rows."""
    missing = []
    for record, prefix in tables.items():
        rows = [r for r in records if r['record'] == record]
        labels = {k for f, s in families.items() if f.startswith(prefix + '_') for l, _ in s for k in l}
        for key in {k for r in rows for k in r} - {'record'} - TEXTS:
            values = [r[key] for r in rows if isinstance(r[key], (int, float))]
            if not values:
                continue
            name, per = key, 1
            for end, to, by in UNITS:
                if re.search(end, key):
                    name, per = re.sub(end, to, key), by
            full = f'{prefix}_{name}'
            got = families.get(full) or families.get(full + '_total')
            if got is None and key in labels:
                continue
            want = sorted(v / per for v in values)
            have = sorted(v for _, v in got or [])
            if len(want) != len(have) or any(abs(a - b) > 1e-6 * max(1, abs(a)) for a, b in zip(want, have)):
                missing.append((full, want[:5], have[:5]))
    return missing


def mistake(text):
    try:
        openmetrics.families(text)
    except ValueError as e:
        return str(e)
    return ''


# The reader itself: what is right, and one mistake each.
head = '# TYPE a gauge\n# HELP a x\n'
right = head + r'a{l="x\\n\"\n",m="y"} 1' + '\na{l="y"} -1.5e-07\n# TYPE e_bytes gauge\n# UNIT e_bytes bytes\n# HELP e_bytes x\ne_bytes 2\n# HELP c_total x\nc_total 3\n# EOF\n'
tap.ok(mistake(right) == '', 'the reader takes what is right # rig', mistake(right))
for what, text in (
        ('no end', head + 'a 1\n'), ('a series twice', head + 'a{l="x",m="y"} 1\na{m="y",l="x"} 2\n# EOF\n'),
        ('a metric in two places', head + 'a{l="x"} 1\n# HELP e_total x\ne_total 1\n' + head + 'a{l="y"} 1\n# EOF\n'),
        ('a sample in another place', head + 'a{l="x"} 1\n# HELP e_total x\ne_total 1\na{l="y"} 1\n# EOF\n'),
        ('an open label', head + 'a{l="x} 1\n# EOF\n'), ('a quote in a label', head + 'a{l="x"y"} 1\n# EOF\n'),
        ('a backslash in a label', head + 'a{l="\\x"} 1\n# EOF\n'), ('a label twice', head + 'a{l="x",l="y"} 1\n# EOF\n'),
        ('a word as value', head + 'a none\n# EOF\n'), ('a metric without samples', head + '# EOF\n'),
        ('a unit that is not in the name', '# TYPE a gauge\n# UNIT a bytes\n# HELP a x\na 1\n# EOF\n'),
        ('a gauge that ends in _total', head.replace(' a ', ' a_total ') + 'a_total 1\n# EOF\n'),
        ('a type of one format alone', head.replace('gauge', 'info') + 'a 1\n# EOF\n'), ('an empty line', head + 'a 1\n\n# EOF\n')):
    tap.ok(mistake(text) != '', f'the reader refuses {what} # rig')
sched = open('sched.txt', encoding='utf-8').read()
tap.ok(sched and mistake(sched) == '', "the reader takes a scheduler's", mistake(sched))

dashboard = json.load(open(top + '/man/examples/prometheus/gpq-dashboard.json'))
tap.ok(all(t['expr'] for p in dashboard['panels'] for t in p['targets']) and len({p['id'] for p in dashboard['panels']}) == len(dashboard['panels']),
       'the dashboard is JSON, its panels have targets and numbers # rig')

data = top + '/tests/data/'
for args, tables in (
        (['queues', '--sysroot', HOSTS + 'gfx90a-k6.12', '--output-all'], {'queue': 'gpq_queues'}),
        (['ps', '-q', '--sysroot', HOSTS + 'gfx942-4xcc-k6.12'], {'process': 'gpq_ps_processes'}),
        (['hqd', '-q', '--sysroot', HOSTS + 'gfx942-4xcc-k6.12', '-a', '--sdma', '--hiq'], {'slot': 'gpq_hqd_slots'}),
        (['hqd', '-q', '--summary', '--sysroot', HOSTS + 'vm73-gfx90a-oversubscribed'],
         {'occupancy': 'gpq_hqd_occupancy', 'sharer': 'gpq_hqd_sharers', 'waiting': 'gpq_hqd_waiting'}),
        (['why', '-q', '--sysroot', HOSTS + 'aql-gfx90a', '-p', '4712'], {'process': 'gpq_why_processes', 'queue': 'gpq_why_queues'}),
        (['trace', '-q', data + 'amdlog/cnn.log'], {'totals': 'gpq_trace_totals', 'queue': 'gpq_trace_queues', 'kernel': 'gpq_trace_kernels'}),
        (['bench', 'report', '-q', data + 'bench/ab.ndjson'], {'online': 'gpq_bench_ab_online', 'offline': 'gpq_bench_ab_offline'})):
    what = ' '.join(a.replace(top + '/tests/', '') for a in args)
    text = run([*args, '--openmetrics'])
    try:
        families = openmetrics.families(text)
        bad = told_of([json.loads(line) for line in run([*args, '--ndjson']).splitlines()], families, tables)
        tap.ok(families and not bad, f'{what}: each number is in a metric', bad)
    except ValueError as e:
        tap.ok(False, f'{what}: the reader takes it', e)
END
sed '/^1\.\./d' ndjson.tap
n=$((n + $(grep -cE '^(not )?ok ' ndjson.tap)))
bad=$((bad + $(grep -c '^not ok' ndjson.tap)))
finish
