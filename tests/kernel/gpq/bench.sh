# gpq bench preempt on the real driver: numbers that make sense, a target that is whole afterwards, and the truth about
# everything that goes wrong in the middle. Nothing here says how fast anything has to be: the processor is emulated. The
# only time that is judged is the one that was put in: the software GPU's preempt_us.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

PARAMETERS=/sys/module/amdgpu/parameters
load gfx942 || { finish; exit; }

bench() { # ARGUMENTS...: messages in /tmp/err
	gpq bench preempt -p $P "$@" 2> /tmp/err
}

# A column of a metric in the table of latencies (gpq's -r output: exact nanoseconds).
field() { # FILE METRIC COLUMN
	awk -v m="$2" -v c="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) col = i } $2 == m { print $col }' "$1"
}

at_least() { # DESCRIPTION GOT LIMIT
	if [ "${2:-0}" -ge "$3" ] 2> /dev/null; then pass "$1"; else fail "$1" "got '$2', wanted at least $3"; fi
}

nobody_traces() { is "nobody traces the target ($1)" "$(awk '/TracerPid/ { print $2 }' /proc/$P/status)" 0; }

# ---- 300 cycles on a target that ends when it is told to ----------------------------------------------------------------

rm -f /tmp/go
target -n 3 --drain 1 --trigger /tmp/go
bench --cycles 300 --warmup 5 --hold 2ms --gap 2ms --samples /tmp/raw -r -o SETTING,METRIC,N,MIN,P50,P99,MAX > /tmp/out
is "300 cycles end with status" $? 0
is "and with a sample each" "$(field /tmp/out suspend N) $(field /tmp/out resume N)" "300 300"
is "a raw line for each, those to warm up included" "$(wc -l < /tmp/raw)" 305
is "every one of them went as it should" "$(grep -c '"result":"ok"' /tmp/raw)" 305
is "nothing moved while it was held" "$(grep -c '"held_packets":0,' /tmp/raw)" 305
at_least "the system call is part of the time" "$(field /tmp/out suspend P50)" "$(field /tmp/out suspend_ioctl P50)"
at_least "p50 is not below the minimum" "$(field /tmp/out suspend P50)" "$(field /tmp/out suspend MIN)"
at_least "p99 is not below p50" "$(field /tmp/out suspend P99)" "$(field /tmp/out suspend P50)"
at_least "the maximum is not below p99" "$(field /tmp/out suspend MAX)" "$(field /tmp/out suspend P99)"
at_least "it took the GPU some time to go on" "$(field /tmp/out progress MIN)" 1
nobody_traces "after 300 cycles"

# The same numbers from the raw lines, by awk. Nearest rank: the ceil(p n)-th of n.
of_raw() { # KEY SHARE-IN-PER-MILLE...
	local key=$1
	shift
	grep '"warmup":false' /tmp/raw | grep -o "\"$key\":[0-9]*" | cut -d: -f2 | sort -n | awk -v shares="$*" '{ v[NR] = $1 }
		END { n = split(shares, p); for (i = 1; i <= n; i++) { r = int((p[i] * NR + 999) / 1000); print v[r < 1 ? 1 : r] } }'
}
for m in suspend resume progress; do
	is "awk finds the same percentiles of $m in the raw samples" \
		"$(field /tmp/out $m MIN) $(field /tmp/out $m P50) $(field /tmp/out $m P99) $(field /tmp/out $m MAX)" \
		"$(of_raw ${m}_ns 0 500 990 1000 | tr '\n' ' ' | sed 's/ $//')"
done
touch /tmp/go
within 60 sh -c "! kill -0 $P 2>/dev/null"
wait $P
is "the target ends by itself, as it does when all its packets are taken" $? 0
rm /tmp/go

# ---- the latency has what the GPU takes (cost/bench.sh: and not more) ---------------------------------------------------

target -n 2
for us in 0 1000 5000 20000; do
	echo $us > $PARAMETERS/preempt_us
	bench --cycles 25 --warmup 2 --hold 2ms --gap 5ms -r -o SETTING,METRIC,MIN,P50 > /tmp/out.$us
	at_least "with preempt_us=$us no suspend is shorter than that" "$(field /tmp/out.$us suspend MIN)" $((us * 1000))
done
like "a gap that is too short for the GPU's other queues is named" "$(cat /tmp/err)" "cycles came more often than every [1-9][0-9.]*m?s: "
bench --cycles 3 --warmup 1 --hold 1ms --samples /tmp/raw > /tmp/out
echo 0 > $PARAMETERS/preempt_us
at_least "without --gap no cycle is shorter than ten times what a hold costs others" \
	"$(sed 's/.*"at_ns":\([0-9]*\).*/\1/' /tmp/raw | awk 'NR > 1 && (!least || $1 - at < least) { least = $1 - at } { at = $1 } END { print least }')" 200000000
# ---- settings compared --------------------------------------------------------------------------------------------------

bench --cycles 4 --warmup 1 --hold 1ms --gap 1ms --sweep grace=1,255 --sweep queues=1,2 --seed 11 --samples /tmp/raw > /tmp/out
is "a sweep has all combinations" "$(awk '$2 == "suspend" && NF > 9 { print $1, $3 }' /tmp/out | sort | tr '\n' ';')" \
	"grace=1,queues=1 4;grace=1,queues=2 4;grace=255,queues=1 4;grace=255,queues=2 4;"
order() { sed 's/.*"grace":\([0-9]*\),"queues_wanted":\([0-9]*\).*/\1.\2/' /tmp/raw | tr '\n' ' '; }
is "each combination once per block" "$(order | tr ' ' '\n' | sed -n 1,4p | sort | tr '\n' ' ')" "1.1 1.2 255.1 255.2 "
first=$(order)
bench --cycles 4 --warmup 1 --hold 1ms --gap 1ms --sweep grace=1,255 --sweep queues=1,2 --seed 11 --samples /tmp/raw > /tmp/out
is "the same seed gives the same order" "$(order)" "$first"
bench --cycles 4 --warmup 1 --hold 1ms --gap 1ms --sweep grace=1,255 --sweep queues=1,2 --seed 12 --samples /tmp/raw > /tmp/out
unlike "another one another" "$(order)" "^$first "
is "only the queues wanted are suspended" "$(sed 's/.*"queues_wanted":\([0-9]*\).*"queues":\([0-9]*\).*/\1=\2/' /tmp/raw |
	sort -u | tr '\n' ' ')" "1=1 2=2 "

like "the software GPU is called one" "$(cat /tmp/err)" "not a GPU's"

mkqueue -q -n 4 -p 0,3,9,11 -k /tmp/status.c > /dev/null 2>&1 &
C=$!
within 20 test -s /tmp/status.c
gpq bench preempt -p $C --cycles 2 --warmup 0 --hold 5ms --gap 5ms --sweep prio=low,high --samples /tmp/raw > /tmp/out 2> /tmp/err
is "levels of priority: status" $? 0
is "only the queues of each level are suspended" "$(sed 's/.*"prio_level_wanted":\([0-9]*\).*"queues":\([0-9]*\).*/\1=\2/' /tmp/raw |
	sort | uniq -c | tr -s ' ' | tr -d '\n')" " 2 0=2 2 2=1"
is "and settings are named by it" "$(awk '$2 == "suspend" && NF > 9 { print $1, $3 }' /tmp/out | sort | tr '\n' ';')" "prio=high 2;prio=low 2;"
reap $C
status_is "a level of which there is none" 5 gpq bench preempt -p $P --sweep prio=medium,high --samples /tmp/raw
like "it says which" "$OUT" "pid $P has no queue of these whose priority is high"

# ---- several processes: one hold of all, twice, with a pause ---------------------------------------------------------------

mkqueue -n 1 -q -k /tmp/status.c > /dev/null 2>&1 &
C=$!
within 20 test -s /tmp/status.c
gpq bench preempt -p $P,$C --cycles 5 --warmup 1 --runs 2 --pause 50ms --hold 5ms --gap 5ms --samples /tmp/raw -r -o SETTING,METRIC,N \
	--require 'suspend max < 60s' > /tmp/out 2> /tmp/err
is "a group: status" $? 0
is "a sample of it and of each process" "$(awk '$2 == "suspend" || $2 == "suspend_first" { print $1, $2, $3 }' /tmp/out | sort)" \
	"$(printf '%s\n' "process=$P suspend 10" "process=$C suspend 10" "process=all suspend 10" "process=all suspend_first 10" | sort)"
is "nothing moved while it was held" "$(grep -c '"held_packets":0,' /tmp/raw)" 36
is "each run warms up" "$(grep '"warmup":true' /tmp/raw | grep -o '"repeat":[01],' | uniq | tr -d '\n')" '"repeat":0,"repeat":1,'
is "the group takes as long as its last process, and is first when its first is" "$(sed \
	's/.*"process":\([0-9]*\).*"suspend_ns":\([0-9]*\).*"suspend_first_ns":\([0-9nul]*\).*/\1 \2 \3/' /tmp/raw | awk '
	function check() { if (NR > 1 && (g != most || f != least)) bad++ }
	$1 == 0 { check(); g = $2; f = $3; most = 0; least = 1e18; next }
	{ if ($2 + 0 > most) most = $2; if ($2 + 0 < least) least = $2 } END { check(); print bad + 0, NR }')" "0 36"
is "the report takes it" "$(gpq bench report -q /tmp/raw | grep -cE '\| [12] \| process=')" 12 # 2 runs, 3 processes with all, suspend and resume
gpq bench preempt -p $P,$C --cycles 2 --warmup 0 --hold 5ms --gap 5ms --sweep queues=1,2 --samples /tmp/raw > /tmp/out 2> /tmp/err
is "a group: the first queues of each process are compared, too" \
	"$(sed -n 's/.*"queues_wanted":\([0-9]*\).*"process":'$P',"queues":\([0-9]*\).*/\1=\2/p' /tmp/raw | sort | uniq -c | tr -s ' ' | tr -d '\n')" " 2 1=1 2 2=2"
gpq bench preempt -p $P,$C --cycles 1000 --hold 5ms --samples /tmp/raw2 > /tmp/out 2> /tmp/err &
B=$!
within 20 test -s /tmp/raw2
reap $C
wait $B
is "one of a group ends: status" $? 5
like "it says which" "$(cat /tmp/err)" "pid $C: after [0-9]+ cycles: the process ended"
moves 0 "the other one, after a group"
nobody_traces "after a group"

# ---- what goes wrong in the middle --------------------------------------------------------------------------------------

rm -f /tmp/raw
gpq bench preempt -p $P --for 60s --hold 300ms --gap 300ms --samples /tmp/raw > /tmp/out 2> /tmp/err &
B=$!
within 20 test -s /tmp/raw
kill -TERM $B
wait $B
is "SIGTERM: status" $? 3
like "SIGTERM: it says so" "$(cat /tmp/err)" "stopped after [0-9]+ cycles; the target runs"
like "SIGTERM: what was measured is printed" "$(cat /tmp/out)" "Latencies"
nobody_traces "after SIGTERM"
moves 0 "after SIGTERM"

tracer() { sed -n 's/^TracerPid:.//p' /proc/$P/status; }
off() { ! grep -q "^queue" /sys/kernel/debug/softgpu/0; }
# Off twice: attaching takes the queues off for a moment as well. Letting go does so, too, and then nobody traces.
held() { off && usleep 300000 && off && [ "$(tracer)" -gt 0 ]; }
gpq bench preempt -p $P --for 60s --hold 20s --samples /tmp/raw > /dev/null 2>&1 &
B=$!
within 20 held || fail "it is held"
still 0 "held for 20 s"
kill -9 $B
wait $B 2> /dev/null
moves 0 "after bench was killed in the middle of it"

# Its holder ends, or does not answer any more.
held_long() { # until its queues are off for a minute
	gpq bench preempt -p $P --for 60s --hold 60s --samples /tmp/raw > /dev/null 2> /tmp/err &
	B=$!
	within 20 held || fail "it is held"
}
held_long
kill -9 "$(tracer)"
wait $B
is "its holder is killed: status" $? 1
like "it says so" "$(cat /tmp/err)" "pid $P: after [0-9]+ cycles: the holder ended"
moves 0 "whose holder was killed"
held_long
kill -STOP "$(tracer)"
kill -TERM $B
wait $B
is "its holder is stopped, and so is the measurement: status" $? 124
like "it says what to do" "$(cat /tmp/err)" "pid $P: after [0-9]+ cycles: the holder did not answer within [0-9]+ s; gpq resume ends it"
still 0 "as was said"
gpq resume -p $P > /dev/null
moves 0 "after gpq resume"

bench --cycles 5 --samples /dev/full > /tmp/out
is "full disk: status" $? 1
like "full disk: it says so" "$(cat /tmp/err)" "samples /dev/full: stopped after 0 cycles: No space left"
like "full disk: what was measured is printed" "$(cat /tmp/out)" "Latencies"
mkdir -p /tmp/small
mount -t tmpfs -o size=16k small /tmp/small
bench --cycles 100 --hold 1ms --gap 1ms --samples /tmp/small/raw > /tmp/out
is "disk full in the middle: status" $? 1
is "its last line is whole" "$(tail -c 2 /tmp/small/raw)" "}"
gpq bench report /tmp/small/raw > /tmp/out 2> /tmp/err
is "and the report takes the file" "$? $(wc -l < /tmp/err)" "0 0"
umount /tmp/small
mkfifo /tmp/fifo
head -c 10 /tmp/fifo > /dev/null &
bench --cycles 200 --hold 1ms --gap 1ms --samples /tmp/fifo > /tmp/out
is "the reader of --samples went away: status" $? 1
like "it says so" "$(cat /tmp/err)" "samples /tmp/fifo: stopped after [0-9]+ cycles: Broken pipe"
like "what was measured is printed" "$(cat /tmp/out)" "Latencies"
rm /tmp/fifo
bench --cycles 3 > /dev/full
is "standard output full: status" $? 1
moves 0 "after full disks"

bench -Q 77
is "no such queue: status" $? 5
for option in "--cycles 0" "-o NONE" "--sweep speed=1 --samples /tmp/none"; do
	bench $option > /tmp/out
	is "$option: refused before anything is suspended" "$? $(cat /tmp/out; ls /tmp/none 2> /dev/null)" "2 "
done
bench -Q 1 --cycles 3 --hold 200ms --gap 1ms > /tmp/out &
B=$!
usleep 300000
moves 0 "while only queue 1 is measured"
wait $B

gpq bench preempt -p $P --patience 1s --cycles 10000 --hold 1ms --gap 1ms > /tmp/out 2> /tmp/err &
B=$!
usleep 700000
echo $P > /sys/kernel/debug/softgpu/evict
wait $B
is "no progress at all: status" $? 1
like "no progress at all: it says so" "$(cat /tmp/err)" "no progress within 1s of resume although there is work"
echo $P > /sys/kernel/debug/softgpu/restore
moves 0 "once the eviction is over"

rm -f /tmp/raw
gpq bench preempt -p $P --cycles 10000 --hold 20ms --samples /tmp/raw > /tmp/out 2> /tmp/err &
B=$!
within 20 test -s /tmp/raw
reap $P
wait $B
is "target killed: status" $? 5
like "target killed: it says so" "$(cat /tmp/err)" "after [0-9]+ cycles: the process ended"
is "target killed: the raw file is whole" "$(tail -c 2 /tmp/raw)" "}"

rm -f /tmp/raw /tmp/go
target -n 1 --exec 1 --trigger /tmp/go
gpq bench preempt -p $P --cycles 10000 --hold 20ms --samples /tmp/raw > /tmp/out 2> /tmp/err &
B=$!
within 20 test -s /tmp/raw
touch /tmp/go
wait $B
is "the target runs another program: status" $? 5
like "it says so" "$(cat /tmp/err)" "after [0-9]+ cycles: the process ended, or ran another program"
moves 0 "the new program"
reap $P

target -n 2 -d 1000
bench --cycles 60 --hold 20ms --gap 10ms > /tmp/out
is "a queue destroyed in the middle: status" $? 0
like "and it was there at first, gone at last" "$(cat /tmp/mkqueue.log $STATUS | tail -1)" "^1 "
reap $P

target -n 1 -R 1
bench --cycles 5 --hold 5ms --gap 5ms > /tmp/out
is "a target with nothing to do: status" $? 0
like "it says so" "$(cat /tmp/err)" "had nothing to do in [0-9]+ of [0-9]+ cycles"
mkdir -p /run
gpq suspend -p $P > /dev/null
bench --cycles 3 > /tmp/out
is "a target that gpq suspend holds: status" $? 4
like "it says so" "$(cat /tmp/err)" "1 of its queues are suspended already"
gpq resume -p $P > /dev/null
reap $P

umount /sys/kernel/debug
target -n 1
bench --cycles 2 --warmup 0 --samples /tmp/raw > /tmp/out
is "without debugfs, as others have it: status" $? 0
like "it is still called a software GPU" "$(cat /tmp/err /tmp/raw)" "not a GPU's.*\"source\":\"softgpu\""
reap $P
mount -t debugfs none /sys/kernel/debug

bench --cycles 3
is "no such process: status" $? 5
P=1
bench --cycles 3
is "not a KFD process: status" $? 5
kernel_is_content
unload
finish
