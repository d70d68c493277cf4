# What gpq sched costs and takes: online work in bursts, hints against the bare calls, newcomers and a storm of them.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/cost/sched.inc

sched_eight --offline pid=${workers#,} --idle 5ms
gpq sched --status > /dev/null
before="$(descriptors)" m=$(memory) t=$(cpu_ticks)
hint $SOCKET ${EACH}000 100 200 2 > $SAID
t=$(($(cpu_ticks) - t))
note "$(cat $SAID)
$(gpq sched --status --output-all)"
is "each burst begins with all offline queues off" "$(said begun-off)" "$(said bursts)"
is "no packet was taken then" "$(said moved)" 0
is "nobody was missed" "$(said missed)" 0
between "the longest time without queues, of 1000 ms allowed" "$(said longest-off)" 1 1000
between "processor time of gpq sched, per cent of a core" "$(awk -v t=$t -v s=$EACH 'BEGIN { printf "%.2f", t / s }')" 0 3
is "no descriptor is left open" "$(descriptors)" "$before"
between "memory does not grow, kB" "$(($(memory) - m))" -1000 200
end_sched "bursts"

# From a hint to the last queue off, against the bare calls in bare processes. The software GPUs save nothing and answer at once:
# with 300 us from one look at their rings to the next, and waves to save, five sixths of the time on both sides is theirs, and how
# often a process just misses a look differs between the sides (seen: ratios from 0.55 to 1.25 of the same programs).
set_gpus() { echo "$1" > /sys/module/amdgpu/parameters/waves && echo "$2" > /sys/module/amdgpu/parameters/poll_us; }
set_gpus 0 10
sched_eight --offline pid=${workers#,} --idle 5ms
OURS=$(holdcost hints $SOCKET 80 $S $(echo ${workers#,} | tr , ' '))
end_sched "hints"
BARE=$(holdcost group 80 $(echo ${workers#,} | tr , ' '))
set_gpus 32 300
note "$OURS; $BARE"
between "from hint to last queue off, times the bare calls" "$(echo "$OURS $BARE" | awk '{ printf "%.2f", $2 / $15 }')" 0.5 1.2
# Half of that is still the software GPUs' own work. What gpq, its holders and the client do for it is told by their processor time,
# against a recorded one, in units of 1,000 instructions, as in suspend.sh; waiting for a GPU is in it, so a fifth more passes.
WORK=$(echo "$OURS" | awk '{ print $7 }')
case $(uname -r) in
6.12.*) between "processor time for it, us; recorded are 934" "$WORK" 1 1120 ;;
*) skip "processor time for it: as recorded" "nothing is recorded for $(uname -r)" ;;
esac

# Newcomers beside a hold: how many packets of 1,000 a second they take before they are held.
sched_eight --offline comm=mkqueue --max-hold 30s
hint $SOCKET begin > /tmp/stuck &
H=$!
within 10 test -s /tmp/stuck
newcomers=
for n in 1 2 3 4 5 6 7 8; do
	mkqueue -q -n 1 -R 1000 -G 2 -k /tmp/n$n &
	newcomers="$newcomers $!"
	usleep 37000
done
within 10 test -s /tmp/n8
usleep 300000
took=0
for n in 1 2 3 4 5 6 7 8; do
	look_at_rptr 0 /tmp/n$n
	note "newcomer $n took $RPTR"
	[ ${RPTR:-9999} -le $took ] || took=$RPTR
done
between "packets that a newcomer took at most, one in each millisecond" $took 0 $(driver_has process_events && echo 60 || echo 120)
kill $H
reap $newcomers
end_sched "newcomers"

# How long begin takes to be answered while 20 processes a second start and end, newcomers of the class that is held or others, against
# the same without them.
storm() { # COMMAND...
	(
		over=
		trap 'over=1' TERM
		while [ -z "$over" ]; do
			"$@" &
			usleep 50000
			kill -9 $!
			wait $! 2> /dev/null
		done
	) &
	STORM=$!
}
begins() { # WHAT; in P90
	n=$(of_offline HOLDS)
	P90=$(PAUSE_MS=400 holdcost hints $SOCKET 30 $S $(echo ${workers#,} | tr , ' '))
	note "$1: $P90"
	is "each begin is a hold on both GPUs: $1" $(($(of_offline HOLDS) - n)) 60
	P90=$(echo "$P90" | awk '{ print $12 }')
}
in_storm() { # WHAT COMMAND...
	local what=$1
	shift
	storm "$@"
	usleep 500000
	begins "$what"
	kill $STORM
	wait $STORM
	RATIO=$(awk -v a=$P90 -v b=$QUIET 'BEGIN { printf "%.2f", a / b }')
}
sched_eight --offline comm=mkqueue --idle 5ms
begins "no storm"
QUIET=$P90
in_storm others sleep 1
between "p90 of begin among others, times that without" $RATIO 0.1 2
in_storm newcomers mkqueue -q -n 1 -R 50 -G 2 -k /tmp/n
between "p90 of begin among newcomers, times that without" $RATIO 0.1 2
end_sched "storm"

reap $(echo ${workers#,} | tr , ' ')
unload
kernel_is_content
finish
