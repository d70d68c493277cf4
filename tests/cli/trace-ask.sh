#!/bin/bash
# The questions of gpq trace (--compare ...) on generated and on real logs, against answers that trace_ask.py
# works out from the text on its own. Real logs are not part of the project.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"

ask() { # question, its arguments
	(IFS=$'\t' && echo "$*") >>"$work/questions"
}

gen-amdlog --release 7.0 --level 4 --lines 5000 --mix torch --streams 1 --seed 3 >"$work/gen-a.log" 2>/dev/null
gen-amdlog --release 7.0 --level 4 --lines 5000 --mix cpp --streams 6 --hwqs 2 --threads 3 --seed 8 >"$work/gen-b.log" 2>/dev/null
gen-amdlog --release 7.12 --level 5 --lines 5000 --mix gemm --streams 3 --processes 2 --seed 5 >"$work/gen-c.log" 2>/dev/null
real=()
if [ -d "$samples/hip-vm" ]; then
	for name in hip643-l4_s4 hip643-l4_two_a hip643-l4_two_b hip571-l4_susp; do
		zstd -dqc "$samples/hip-vm/$name.log.zst" >"$work/$name.log"
		# Of the long ones an eighth says as much, and Python is slow.
		sed 25000q "$work/$name.log" >"$work/$name.part"
		real+=("$work/$name.log")
	done
fi

ask compare "$top/tests/data/amdlog/cnn.log" "$top/tests/data/amdlog/transformer.log"
ask compare "$work/gen-a.log" "$work/gen-b.log"
ask compare "$work/gen-b.log" "$work/gen-c.log"
ask series "$top/tests/data/amdlog/cnn.log" 50000
ask series "$work/gen-b.log" 10000
ask series "$work/gen-c.log" 333
printf '1000450000 1000850000 held\n1000100030 1000200030 exact\n' >"$work/cnn.marks"
ask gaps "$top/tests/data/amdlog/cnn.log" "$work/cnn.marks"
ask gaps "$work/gen-b.log" -
grep -v ' Header = ' "$work/gen-b.log" >"$work/launches.log"
ask gaps "$work/launches.log" -
ask gaps "$work/gen-c.log" -
ask latency "$top/tests/data/amdlog/cnn.log"
ask latency "$top/tests/data/amdlog/transformer.log"
ask latency "$work/gen-b.log"
ask latency "$work/gen-c.log"
for log in "$work"/gen-[abc].log "$top"/tests/data/amdlog/{cnn,transformer,moves,rocm70,rocm57}.log; do
	ask api "$log"
	ask streams "$log"
done
# A handler and a command that end twice, a handle that is used again before and after its end, ends without a beginning.
l() { printf ':4:command.cpp              :357 : %s us: [pid:%s tid: 0x7f] %s\n' "$@"; }
{
	l 1000 7 'Command (KernelExecution) enqueued: 0x21 to queue: 0x51'
	l 1003 7 'ShaderName : k'
	l 1004 7 'Set Handler: handle(0xaa), timestamp(0x0)'
	l 1005 7 'SWq=0x71, HWq=0x91, id=1, Dispatch Header = 0xb02 (type=2, barrier=1, acquire=1, release=1), setup=3, grid=[64, 1, 1], workgroup=[64, 1, 1], private_seg_size=0, group_seg_size=0, kernel_obj=0x5, kernarg_address=0x6, completion_signal=0xaa, correlation_id=0, rptr=0, wptr=0'
	l 1010 7 'Handler: value(0), timestamp(0x0), handle(0xaa)'
	l 1019 7 'Handler: value(0), timestamp(0x0), handle(0xaa)'
	l 1040 7 'Command 0x21 complete'
	l 1041 7 'Command 0x21 complete'
	l 1042 7 'Command 0x22 complete'
	l 1100 7 'Command (Marker) enqueued: 0x21 to queue: 0x51'
	l 1101 7 'Set Handler: handle(0xaa), timestamp(0x0)'
	l 1103 7 'Set Handler: handle(0xaa), timestamp(0x0)'
	l 1150 7 'Handler: value(0), timestamp(0x0), handle(0xaa)'
	l 1160 7 'Handler: value(0), timestamp(0x0), handle(0xbb)'
	l 1170 7 'Command (Marker) enqueued: 0x21 to queue: 0x51'
	l 1173 7 'Command 0x21 complete'
	l 1180 8 'Command (Marker) enqueued: 0x21 to queue: 0x51'
	l 1190 7 'Command 0x21 complete'
	l 1300 8 'Command 0x21 complete'
	l 1400 8 'Command (CopyDeviceToHost) enqueued: 0x23 to queue: 0x52'
} >"$work/twice.log"
ask latency "$work/twice.log"
shape=$top/tests/data/amdlog/shapes/streams70.log truth=$top/tests/data/amdlog/truth
ask api "$shape"
ask latency "$shape"
for name in hip57-l4_s3 hip64-l4_s3; do
	ask api "$truth/$name.log"
	ask latency "$truth/$name.log"
	ask streams "$truth/$name.log" "$truth/$name.truth"
done
ask compare "$truth/hip57-l4_s3.log" "$truth/hip64-l4_s3.log"
if [ ${#real[@]} -gt 0 ]; then
	ask compare "$work/hip643-l4_two_a.part" "$work/hip643-l4_two_b.part"
	ask compare "$work/hip643-l4_s4.part" "$work/hip571-l4_susp.log"
	ask series "$work/hip643-l4_two_a.part" 100000
	ask gaps "$work/hip643-l4_two_a.part" -
	sed -nE 's/^(before suspend|resumed) ([0-9]+)\.([0-9]+)$/\2 \3/p' "$samples/hip-vm/hip571-l4_susp.events" |
		awk '{ t[NR] = ($1 * 100 + $2) * 10000 } END { print t[1], t[2], "held" }' >"$work/susp.marks"
	ask gaps "$work/hip571-l4_susp.log" "$work/susp.marks"
	ask api "$samples/amdlog/rocm702-l5-4streams-priority.log"
	ask latency "$samples/amdlog/rocm702-l5-4streams-priority.log"
	for name in hip643-l4_s4 hip571-l4_susp; do
		ask api "$work/$name.part"
		ask latency "$work/$name.part"
		ask streams "$work/$name.log" "$samples/hip-vm/$name.truth"
	done
	ask series "$work/hip571-l4_susp.log" 250000
else
	pass "real logs # skip no real samples"
fi

# One Python for all: its start takes as long as most answers.
TAP_FROM=$n PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/cli/trace_ask.py" <"$work/questions" >"$work/out"
sed '$d' "$work/out"
read -r asked tests failed < <(tail -1 "$work/out")
n=$tests bad=$((bad + failed))
rig is "all questions were asked" "$asked" "$(wc -l <"$work/questions")"

# The same whoever reads the log: one thread, some, from a pipe.
gen-amdlog --release 7.12 --level 5 --lines 60000 --mix torch --streams 5 --hwqs 3 --threads 3 --noise --seed 11 >"$work/gen-d.log" 2>/dev/null
first=$(sed -nE 's/^:[0-9]:[^:]*:[0-9 ]*: ([0-9]+) us: .*/\1/p' "$work/gen-d.log" | head -1)
echo "$((first + 20000)) $((first + 90000)) m" >"$work/gen-d.marks"
for question in "--series 3ms" "--series 3ms --by queue" "--gaps --mark $work/gen-d.marks" --latency "--by stream" "--by error" "--by api"; do
	gpq trace -q -J --threads 1 $question "$work/gen-d.log" >"$work/one"
	gpq trace -q -J --threads 5 $question "$work/gen-d.log" >"$work/many"
	gpq trace -q -J $question - <"$work/gen-d.log" >"$work/pipe"
	cat "$work/many" "$work/pipe" >"$work/got"
	cat "$work/one" "$work/one" >"$work/want"
	same "${question%% /*}: the same for any number of threads and from a pipe" "$work/got" "$work/want"
done
finish
