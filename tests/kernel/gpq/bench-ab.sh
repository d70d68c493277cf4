# gpq bench ab on the real driver: what it takes latencies and rates from, processes that come later, and what it says when a
# command does not do what it should. How fast anything is decides nothing here (bench-experiment.sh).
# shellcheck shell=dash disable=SC1091,SC2009,SC2016,SC2046,SC2086
. /t/lib.sh

load gfx942 || { finish; exit; }

ab() { gpq bench ab "$@" > /tmp/out 2> /tmp/err; }

# Field of a mode in a table: TABLE-HEADING MODE COLUMN.
field() { # TITLE ROW COLUMN
	awk -v t="$1" -v m="$2" -v c="$3" '$0 == t { on = 1; next } on == 1 { for (i = 1; i <= NF; i++) if ($i == c) col = i; on = 2; next }
		on == 2 && $1 == m { print $col; exit } on == 2 && NF == 0 { exit }' /tmp/out
}
more() { # DESCRIPTION GOT LIMIT
	if awk -v a="$2" -v b="$3" 'BEGIN { exit !(a + 0 > b + 0) }'; then pass "$1"; else fail "$1" "got '$2', wanted more than $3"; fi
}

nothing_left() { # WHEN
	is "no command and no holder is left ($1)" "$(ps | grep -cE '[m]kqueue|[g]pq-holder')" 0
}

# ---- the online command as a whole --------------------------------------------------------------------------------------

ab --online-cmd 'mkqueue -n 1 -c 1000 -q' --offline-cmd 'mkqueue -n 2 -q' --runs 2 --lead 200ms --samples /tmp/raw --pause 50ms --seed 7 \
	--require 'offline held < 200%' --require 'online shared max < 60s'
is "ab: status" $? 0
is "in each round each mode, in the order that seed 7 gives" \
	"$(sed 's/.*"mode":"\([a-z]*\)","number":\([0-9]*\).*"seed":"\([0-9]*\)".*/\1 \2 \3/' /tmp/raw | tr '\n' ';')" "shared 0 7;preempt 0 7;alone 0 7;preempt 1 7;shared 1 7;alone 1 7;"
is "what is required is judged beside the goals" "$(grep -cE '^(offline held|online shared max) .* shown( |$)' /tmp/out)" 2
is "a raw line for each run and mode" "$(grep -c '"record":"ab_run"' /tmp/raw)" 6
is "a latency for each online run" "$(field 'Latency of online requests' alone N) $(field 'Latency of online requests' shared N) \
$(field 'Latency of online requests' preempt N)" "2 2 2"
is "alone and shared: offline was not held" "$(field 'Throughput of the offline work' alone HOLDS) \
$(field 'Throughput of the offline work' shared HOLDS)" "0 0"
is "preempt: once a run" "$(field 'Throughput of the offline work' preempt HOLDS)" 2
more "preempt: it lost work" "$(field 'Throughput of the offline work' preempt LOSS%)" 5
more "preempt: for it was held" "$(field 'Throughput of the offline work' preempt HELD%)" 5
more "alone, it worked as fast as its two queues do" "$(field 'Throughput of the offline work' alone RATE)" 1000
is "queues are counted" "$(field 'Queues over all runs' online QUEUES_MAX) $(field 'Queues over all runs' offline QUEUES_MAX)" "1 2"
is "each side is seen in every run" "$(field 'Queues over all runs' online RUNS) $(field 'Queues over all runs' offline RUNS)" "6 6"
is "with the same ids each time" "$(field 'Queues over all runs' online SAME_IDS) $(field 'Queues over all runs' offline SAME_IDS)" "yes yes"
is "both sides have queue 0" "$(field 'Queues side by side' offline QIDS)" 0
is "only the process tells whose a queue is" "$(awk '$1 == "pid" || $1 == "fixed-ids" || $1 == "priority" { print $1, $2, $3 }' /tmp/out |
	tr '\n' ';')" "fixed-ids no no;priority no no;pid yes yes;"
is "slots are known where nothing is held" "$(grep '"mode":"shared"' /tmp/raw | head -1 | grep -o '"slots":"p[0-3]q[0-7]"' | wc -l)" 3
is "and unknown where it is, which the record says" \
	"$(grep '"mode":"preempt"' /tmp/raw | head -1 | grep -o '"side":"offline"[^}]*"slots":null,"suspended":true' | wc -l)" 2
like "so does gpq" "$(cat /tmp/out)" "SAME_SLOTS: in [1-9][0-9]* of [0-9]+ looks the offline queues were suspended"
like "the driver's version is in the record" "$(cat /tmp/raw)" '"kfd_version":"1\.[0-9]+"'
nothing_left "after ab"
gpq bench report --html /tmp/page /tmp/raw > /tmp/md 2> /tmp/err
is "the report takes the file" "$?:$(cat /tmp/err)" "0:"
is "with a row for each mode and table" "$(grep -cE '^\| (alone|shared|preempt) ' /tmp/md)" 6

# ---- the experiment as a script: what the README shows ----------------------------------------------------------------------

the_script() {
	sh /t/gpq-experiment.sh /tmp/x 'mkqueue -n 1 -R 75 -c 150 -q' 'mkqueue -n 2 -q' --lead 100ms --idle 2ms > /tmp/x.out 2> /tmp/err
	is "the script: its status is that of the limits" $? "$(awk '/required: / { s = s == 1 || !/, not shown, / ? 1 : 8 } END { print s + 0 }' /tmp/err)"
	empty "the script: and that is all it says" "$(cat /tmp/x.out; grep -vE "not a GPU's|^gpq: bench: .*required: " /tmp/err)"
	is "the script: three runs of each mode, and 300 cycles" "$(sed 's/.*"mode":"\([a-z]*\)".*/\1/' /tmp/x/ab.ndjson | sort | uniq -c | xargs) \
$(grep -c '"warmup":false' /tmp/x/preempt.ndjson)" "3 alone 3 preempt 3 shared 300"
	cp /tmp/x/ab.txt /tmp/out
	is "the script: ids are compared over all runs" "$(field 'Queues over all runs' online RUNS) $(field 'Queues over all runs' offline RUNS) \
$(field 'Queues over all runs' online SAME_IDS) $(field 'Queues over all runs' offline SAME_IDS)" "9 9 yes yes"
	is "the script: what both have is named" "$(field 'Queues side by side' offline QIDS)" 0
	is "the script: each limit is judged, of cycles, of runs, or of both" "$(grep -oE '^\| (online slowdown|offline effect|suspend p99|resume p99) .*\| (shown|refuted|not shown) \| [^|]* \|$' /tmp/x/report.md |
		cut -d' ' -f2-3 | sort | uniq -c | xargs)" "1 offline effect 1 online slowdown 2 resume p99 2 suspend p99"
	is "the script: its queues had begun" "$(awk 'NR > 1 { n++ } END { print (n >= 1) }' /tmp/x/queues.txt)" 1
	nothing_left "after the script"
}
! is_mine 2 || the_script

# ---- bursts ---------------------------------------------------------------------------------------------------------------

ab --online-cmd 'mkqueue -n 1 -R 75 -c 450 -q' --offline-cmd 'mkqueue -n 1 -q' --runs 1 --lead 200ms --burst-on progress --idle 2ms
is "bursts: status" $? 0
more "bursts: many requests in a run" "$(field 'Latency of online requests' preempt N)" 3
# No more often than a tenth of the time lets the GPU's other queues run, so it depends on what a hold takes here.
more "bursts: offline was taken off again and again" "$(field 'Throughput of the offline work' preempt HOLDS)" 1
nothing_left "after bursts"

gpq bench ab --online-cmd 'sleep 2' --offline-cmd 'mkqueue -n 1 -q' --modes shared,preempt --runs 1 --lead 100ms --progress > /tmp/out 2> /tmp/err
like "it tells how far it is" "$?:$(cat /tmp/err)" "^0:.*0 %, run 1 of 2, (shared|preempt).*50 %, run 2 of 2, (shared|preempt), .* left"

# ---- what they print ------------------------------------------------------------------------------------------------------

ab --online-cmd 'for i in 1 2 3; do mkqueue -n 1 -c 20 -q; echo "request $i: ${i}0.5 ms"; done' --offline-cmd 'mkqueue -n 1 -q' \
	--modes alone,preempt --runs 1 --lead 200ms --metric 'request [0-9]+: ([0-9.]+) ms'
is "--metric: status" $? 0
is "--metric: the numbers printed are the latencies" "$(field 'Latency of online requests' alone N) \
$(field 'Latency of online requests' alone P50) $(field 'Latency of online requests' alone MAX)" "3 20.5ms 30.5ms"

# ---- the offline work takes long to begin ---------------------------------------------------------------------------------

ab --online-cmd 'mkqueue -n 1 -c 20 -q' --offline-cmd 'mkqueue -n 1 -q & sleep 1; echo step 1; wait' --modes shared --runs 1 --lead 100ms \
	--offline-ready '^step [0-9]+$' --samples /tmp/raw
is "--offline-ready: status" $? 0
ab --online-cmd 'mkqueue -n 1 -c 20 -q' --offline-cmd 'mkqueue -n 1 -q' --modes shared --runs 1 --lead 100ms --offline-ready 'never' --ready 1s
is "never ready: status" $? 1
like "never ready: it says so" "$(cat /tmp/err)" "offline command printed no line that matches --offline-ready within 1 s"
nothing_left "after it was never ready"

# ---- AMD logs that the commands write by themselves ---------------------------------------------------------------------

ab --online-cmd 'mkqueue -n 1 -B 20 --pause 50 --requests 5 -q -L /tmp/on.log' --offline-cmd 'mkqueue -n 1 -q -L /tmp/off.log' \
	--modes alone,preempt --runs 1 --lead 200ms --online-log /tmp/on.log --offline-log /tmp/off.log --samples /tmp/raw
is "--online-log: status" $? 0
is "--online-log: a latency for each request" "$(field 'Latency of online requests' alone N) \
$(field 'Latency of online requests' preempt N)" "5 5"
# The log tells the read index with each launch, 20 ms apart here.
logged=$(sed -n 's/.*"packets":\([0-9]*\).*"offline_logged_packets":\([0-9]*\).*/\1 \2/p' /tmp/raw | awk '{ d = $1 - $2; print (d < 200 && d > -200) }')
is "--offline-log: the packets that its queue took" "$logged" "1
1"
ab --online-cmd 'sleep 0.2' --offline-cmd 'mkqueue -n 1 -q' --modes shared --runs 1 --lead 100ms --online-log /tmp/none
is "no log: status" $? 1
like "no log: it says so" "$(cat /tmp/err)" "the online command's log /tmp/none: it wrote none"

# ---- processes and queues that come later ---------------------------------------------------------------------------------

ab --online-cmd 'sleep 2' --offline-cmd 'mkqueue -n 1 -q -l 1000 & sleep 1.5; exec mkqueue -n 2 -q' --modes preempt --runs 1 --lead 100ms \
	--samples /tmp/raw
is "later processes: status" $? 0
is "later processes: a later queue and a later process are in the lineup" "$(grep -o '"side":"offline"' /tmp/raw | wc -l)" 4
held=$(grep -o '"held_ns":[0-9]*' /tmp/raw | cut -d: -f2)
more "it was held" "$held" 1000000000
# One queue ran for the lead before and after; what came meanwhile did not begin before the online work was done.
packets=$(grep -o '"packets":[0-9]*' /tmp/raw | cut -d: -f2)
if [ "$packets" -lt 1500 ]; then pass "what came later did not run meanwhile"; else fail "what came later did not run meanwhile" "$packets packets"; fi
nothing_left "after later processes"

# ---- what runs already, and what is no descendant -------------------------------------------------------------------------

grep -q " /sys/fs/cgroup cgroup2" /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup
BOX=/sys/fs/cgroup/docker-$(printf '%064d' 18).scope
mkdir -p $BOX
mkqueue -n 1 -B 20 --pause 50 --requests 1000000 -q > /dev/null 2>&1 &
ON=$!
mkqueue -n 1 -q > /dev/null 2>&1 &
OFF=$!
echo $OFF > $BOX/cgroup.procs
within 20 test -d $KFD/proc/$ON/queues/0 -a -d $KFD/proc/$OFF/queues/0
ab --online-pid $ON --offline container=000000000000 --for 1s --runs 1 --lead 200ms --idle 2ms --samples /tmp/raw
is "a server and a container that were there before: status, and nothing said but of the software GPU" \
	"$? $(grep -v "not a GPU's" /tmp/err)" "0 "
for mode in alone shared preempt; do more "$mode: requests" "$(field 'Latency of online requests' $mode N)" 1; done
is "only its bursts hold the container's process" "$(field 'Throughput of the offline work' alone HOLDS) \
$(field 'Throughput of the offline work' shared HOLDS)" "0 0"
more "preempt: again and again" "$(field 'Throughput of the offline work' preempt HOLDS)" 1
more "alone, it works" "$(field 'Throughput of the offline work' alone RATE)" 100
is "each side is itself" "$(grep -o '"side":"[a-z]*","pid":[0-9]*' /tmp/raw | sort -u | tr '\n' ' ')" \
	"\"side\":\"offline\",\"pid\":$OFF \"side\":\"online\",\"pid\":$ON "
is "both live on, untraced, and no holder" "$(awk '/TracerPid/ { print $2 }' /proc/$ON/status /proc/$OFF/status | tr '\n' ' ')$(
	ps | grep -c '[g]pq-holder')" "0 0 0"
reap $ON $OFF

ab --online-cmd 'sleep 0.5' --offline-cmd "setsid sh -c 'mkqueue -n 2 -q > /dev/null & exit 0'; sleep 60" --modes shared --runs 1 --lead 100ms --ready 2s
LOST=$(pidof mkqueue)
like "a daemon's worker is no descendant: it is named" "$?:$(cat /tmp/err)" \
	"had no queues within 2 s; pid $LOST \(mkqueue\) began meanwhile, is no descendant of it, and runs on: --offline"
reap $LOST
ab --online-cmd 'sleep 0.5' --offline-cmd "setsid sh -c 'mkqueue -n 2 -q > /dev/null & exit 0'; sleep 60" --offline 'cmdline=mkqueue -n 2' \
	--modes preempt --runs 1 --lead 100ms
is "with a selector for it: status" $? 0
LOST=$(pidof mkqueue)
like "it is held, and lives on afterwards, which is said" "$(field 'Throughput of the offline work' preempt HOLDS):$(cat /tmp/err)" \
	"^1:.*run 1, preempt: pid $LOST \(mkqueue\) of a command lives on"
reap $LOST
nothing_left "after what ran already"

# ---- commands that fail ---------------------------------------------------------------------------------------------------

ab --online-cmd 'echo bad weights; exit 3' --offline-cmd 'mkqueue -n 1 -q' --runs 1 --lead 100ms
is "online fails: status" $? 1
like "online fails: it says so" "$(cat /tmp/err)" "online command ended with status 3; it said last: bad weights"
nothing_left "after online failed"
ab --online-cmd 'sleep 0.2' --offline-cmd 'echo no data; exit 0' --modes shared --runs 1 --lead 100ms
is "offline without queues: status" $? 1
like "offline without queues: it says so" "$(cat /tmp/err)" "offline command ended with status 0 before it had queues; it said last: no data"
ab --online-cmd 'sleep 0.2' --offline-cmd 'mkqueue -n 1 -q' --modes shared --runs 1 --lead 100ms --burst-on progress
like "online without queues to watch: it says so" "$?:$(cat /tmp/err)" "^1:.*online command ended with status 0 before it had queues"
for option in "--runs 0" "-o NONE" "--grace 256" "--modes none"; do
	gpq bench ab --online-cmd true --offline-cmd "touch /tmp/ran" $option > /tmp/out 2> /tmp/err
	is "ab $option: refused before anything runs" "$? $(ls /tmp/ran 2> /dev/null)" "2 "
done
ab --online-pid 999999 --offline-cmd "touch /tmp/ran"
like "no such process: it says so, and nothing runs" "$?:$(cat /tmp/err; ls /tmp/ran 2> /dev/null)" "^5:.*online-pid: pid 999999: no such process; [a-z ]*$"
ab --online-pid $$ --offline-cmd "touch /tmp/ran" --metric 'x([0-9]+)'
like "what runs already prints nothing: --metric is refused" "$?:$(cat /tmp/err)" "^2:.*--metric reads what a command prints"
ab --online-cmd true
like "one side is not enough" "$?:$(cat /tmp/err)" "^2:.*there is no offline work; give --offline SPEC, --offline-pid or --offline-cmd"
ab --online-cmd true --offline 'type=sdma,comm=x'
like "a key that cannot follow is refused" "$?:$(cat /tmp/err)" "^2:.*type and prio do not choose queues that come later"
ab --online-cmd true --offline 'queue=1,comm=x'
like "so are ids of nobody's queues" "$?:$(cat /tmp/err)" "^2:.*queue 1: of which process"
ab --online-cmd 'sleep 1' --offline-cmd 'mkqueue -n 1 -q --exit 900' --modes preempt --runs 1 --lead 600ms
is "offline ends in the middle: status" $? 1
like "offline ends in the middle: it says so" "$(cat /tmp/err)" "offline command ended"
ab --online-cmd 'sleep 0.2' --offline-cmd 'mkqueue -n 1 -q' --modes shared --runs 1 --lead 100ms --metric 'x([0-9]+)'
is "--metric matches nothing: status" $? 1
like "--metric matches nothing: it says so" "$(cat /tmp/err)" "no line .* matches --metric"
nothing_left "after failures"

ab --online-cmd 'sleep 0.2' --offline-cmd 'mkqueue -n 1 -q' --modes shared --runs 2 --lead 100ms --samples /dev/full
is "full disk: status" $? 1
like "full disk: it says so" "$(cat /tmp/err)" "samples /dev/full: No space left on device"
like "full disk: what was measured is printed" "$(cat /tmp/out)" "Latency of online requests"
nothing_left "after a full disk"

gpq bench ab --online-cmd 'sleep 30' --offline-cmd 'mkqueue -n 1 -q' --modes preempt --runs 1 --lead 100ms > /tmp/out 2> /tmp/err &
B=$!
within 20 pidof gpq-holder
usleep 700000
kill -9 $(pidof gpq-holder)
wait $B
is "holder killed: status" $? 1
like "holder killed: it says so" "$(cat /tmp/err)" "run 1, preempt: pid [0-9]+: .*holder"
nothing_left "after a killed holder"

gpq bench ab --online-cmd 'sleep 30' --offline-cmd 'mkqueue -n 1 -q' --modes preempt --runs 1 --lead 100ms > /tmp/out 2> /tmp/err &
B=$!
usleep 2500000
kill -TERM $B
wait $B
is "SIGTERM: status" $? 3
like "SIGTERM: it says so" "$(cat /tmp/err)" "stopped in run 1"
nothing_left "after SIGTERM"

kernel_is_content
unload
finish
