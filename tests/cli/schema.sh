#!/bin/bash
# What commands write with -J and --ndjson is what their --json-schema says, and all that it says is written: by a validator of
# its own (python3-jsonschema). What needs a living queue is described by the same tables and lines.
# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
hosts=$top/tests/hosts data=$top/tests/data
for python in /usr/bin/python3 python3 ""; do # a distribution's package is for its own
	[ -z "$python" ] && skip_all "no python3-jsonschema"
	$python -c 'from jsonschema import Draft202012Validator' 2>/dev/null && break
done
cd "$work" || exit 1
export XDG_RUNTIME_DIR=$work

# NAME COMMAND [OPTION...]: its document, of the schema NAME, and its lines.
count=0
of() { take "$1" "$2" "${@:2}"; }
take() { # NAME WHOSE-SCHEMA COMMAND...
	local i=$((count++))
	echo "$i $1 $2 ${*:3}" >>cases
	gpq "${@:3}" -J >"$i.json" 2>/dev/null
	[ -d saved ] && mv saved saved.document
	gpq "${@:3}" --ndjson >"$i.lines" 2>/dev/null
}
schema() { # WHOSE COMMAND [OPTION...]
	gpq "${@:2}" --json-schema >"schema.$1" && gpq "${@:2}" --ndjson --json-schema >"schema.$1.lines"
}

for c in $(gpq --list); do
	schema "$c" "$c"
	gpq "$c" --list-columns -rno TABLE,KEY,TYPE >>columns
done
schema columns queues --list-columns
take gpq.columns columns hqd --list-columns

# What fails before a command knows what to write.
of gpq.error queues --nosuch
of gpq.error queues operand
of gpq.error hqd --watch 0 --sysroot /nosuch
# What fails once it knows that, and before it has a member to write.
of gpq.error trace /nosuch
of gpq.error trace --latency /nosuch
of gpq.error hqd --gpu 9 --sysroot "$hosts/gfx90a-k6.12"
of gpq.error why -p 1 --sysroot "$hosts/gfx90a-k6.12"

for host in gfx90a-k6.12 gfx942-4xcc-k6.12 gfx1100-k6.12-mes nogpu-k6.12 vm-gfx942-suspended vm73-gfx942-contexts topo-partitions; do
	export GPQ_SYSROOT=$hosts/$host
	of gpq.gpus gpus
	of gpq.queues queues
	of gpq.queues.summary queues --summary --output-all
	of gpq.ps queues --by process
	of gpq.ps ps -a
	of gpq.gpus.check gpus --check
done
export GPQ_SYSROOT=$hosts/aql-gfx90a
of gpq.packets packets --around 20
of gpq.packets packets --output-all
of gpq.why why
of gpq.why why --output-all
of gpq.why.profile why --profile 1s
of gpq.hang.merge hang --merge "$GPQ_SYSROOT"
of gpq.hang.merge hang --merge "$GPQ_SYSROOT" --output-all
for host in gfx90a-k6.12 vm73-gfx942-contexts vm73-gfx90a-oversubscribed; do
	export GPQ_SYSROOT=$hosts/$host
	of gpq.hqd hqd --output-all
	for form in summary runlist; do of gpq.hqd.$form hqd --$form --context; done
	for table in occupancy sharers waiting; do of gpq.hqd.summary hqd --summary --table $table --output-all; done
done
for form in regs raw-regs fields; do
	of gpq.hqd.$form hqd --active --$form
	of gpq.hqd.$form hqd --active --$form --output-all -p 41207
done
of gpq.hqd.runlist hqd --runlist --output-all
of gpq.gpus gpus --output-all
of gpq.queues queues --output-all
of gpq.ps ps --output-all
of gpq.queues queues --context
of gpq.queues queues -o PID,GPU
of gpq.queues queues --mqds "$hosts/gfx90a-k6.12/sys/kernel/debug/kfd/mqds" --output-all
of gpq.hqd hqd --active --context
of gpq.sched sched --offline comm=. --dry-run --output-all
of gpq.bench.sides bench ab --online-cmd true --offline comm=. --dry-run --output-all
unset GPQ_SYSROOT
# A scheduler's answer, twice.
python3 - <<'PY' &
import os, socket

s = socket.socket(socket.AF_UNIX)
s.bind("new")
s.listen(2)
os.rename("new", "socket")
for _ in range(2):
    c = s.accept()[0]
    c.recv(64)
    c.sendall(b"""{"record":"scheduler","schema":1,"policy":"strict","pid":7,"up_ns":1}
{"record":"class","schema":1,"class":"offline","holds":3,"ran_percent":20.5}
{"record":"job","schema":1,"class":"offline","gpu_index":0,"gpu_id":41460,"state":"held","for":"online","holds":3}
{"record":"client","schema":1,"class":"online","pid":4712,"connection":0,"hints":1,"gpus":"0 1","hinted":"online:any"}
{"record":"decision","schema":1,"age_ns":5,"what":"hold","class":"offline","gpus":"0","for":"online"}
{"record":"latency","schema":1,"class":"offline","what":"resume","le":"0.001","bucket":3}
{"record":"member","schema":1,"class":"offline","pid":4711,"command":"x","state":"missed","reason":"y"}
ok
""")
    c.close()
PY
until [ -S socket ] || ! kill -0 $!; do :; done
of gpq.sched sched --status --socket "$work/socket"
kill $! 2>/dev/null

runs=("$hosts"/vm-gfx942-{new,running,suspended,gone})
take gpq.snapshot snapshot snapshot --sysroot "${runs[1]}" --output-all saved
of gpq.snapshot.diff snapshot --diff --output-all -a "${runs[0]}" "${runs[1]}"
of gpq.snapshot.compare snapshot --compare "${runs[@]:1:2}"
for table in runs programs overlaps strategies; do
	of gpq.snapshot.compare snapshot --compare --table $table --output-all "$hosts/gfx90a-k6.12" "$hosts/gfx90a-k6.12"
done
of gpq.core core -p 999999999
of gpq.resume resume --all
of gpq.suspend suspend -p 999999999
of gpq.suspend.list suspend --list

logs=$data/amdlog
for log in "$logs"/*.log; do of gpq.trace trace "$log"; done
for by in process queue kernel thread api stream error; do of gpq.trace trace --by $by --output-all "$logs/rocm70.log"; done
of gpq.trace trace --by error "$logs/nolocation.log"
of gpq.trace trace --by stream "$logs/moves.log"
of gpq.trace trace --context "$logs/cnn.log"
of gpq.trace.list trace --list --output-all "$logs/rocm70.log"
of gpq.trace.latency trace --latency "$logs/transformer.log"
of gpq.trace.latency trace --latency "$logs/rocm70.log"
echo 1000.45s 1000.85s held >marks
kernel="--ftrace $data/ftrace/kprobe-tgid-7.3.trace --ftrace-clock mono $data/ftrace/container.log"
of gpq.trace.ftrace trace --output-all $kernel
of gpq.trace.ftrace trace $kernel
of gpq.trace.ftrace trace -q --ftrace "$data/ftrace/kprobe-6.12.trace"
of gpq.trace.ftrace trace -q --ftrace "$data/ftrace/lost-7.3.pipe"
of gpq.trace.timeline trace --list --output-all $kernel
of gpq.trace.breakdown trace --breakdown all $kernel
of gpq.trace.timeline trace --list --ftrace "$data/ftrace/lost-7.3.pipe"
of gpq.trace.gaps trace --gaps --mark marks "$logs/cnn.log"
of gpq.trace.series trace --series 50ms "$logs/cnn.log"
of gpq.trace.compare trace --compare "$logs/cnn.log" "$logs/transformer.log"
gpq trace --partial --host a "$logs/cnn.log" >part
of gpq.trace merge part
of gpq.merge merge "$data/bench/old.ndjson" "$data/bench/ab.ndjson"
jq -c '.repeat = (.block % 2)' "$data/bench/old.ndjson" >repeats.ndjson
of gpq.bench.preempt bench report --output-all repeats.ndjson
of gpq.bench.ab bench report --output-all "$data/bench/ab.ndjson"
of gpq.bench.runs bench report "$data/bench/old.ndjson" "$data/bench/ab.ndjson"
of gpq.bench.changes bench report --compare "$data/bench/old.ndjson" "$data/bench/new.ndjson"

$python "$top/tests/cli/schema.py" "$work"
