# What gpq trace --live costs a suspend and a resume, by a clock that counts instructions: with its probes on against without. One
# processor does all, the recorder's reading too, so this is the most that it can be.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

T=/sys/kernel/tracing
# Of three measurements the least counts: whether the recorder reads in the middle of a suspend is a matter of phase, and only adds.
measure() { for i in 1 2 3; do holdcost kept $P 100; done 2>&1; }
cost() { echo "$1" | sed -n "s/^$2 [0-9.]* (\([0-9]*\) us .*/\1/p" | sort -n | head -n 1; } # COSTS suspend|resume: of gpq, in units of 1,000 instructions

at_most() { # NAME LIMIT-IN-PERCENT
	local off on
	off=$(cost "$OFF" $1) on=$(cost "$ON" $1)
	if [ "${off:-0}" -gt 0 ] && [ "${on:-0}" -gt 0 ] && [ $((on * 100)) -le $((off * $2)) ]; then
		pass "$1: $on us with tracing, $off us without ($((on * 100 / off)) %)"
	else
		fail "$1 with tracing: at most $2 %" "without: $OFF
with: $ON"
	fi
}

if [ ! -e $T/kprobe_events ]; then
	skip "gpq trace --live" "no tracefs with kprobes"
	finish
	exit
fi
load gfx942
target -q -n 4
OFF=$(measure)
gpq trace --live --save /tmp/f > /tmp/out 2>&1 &
G=$!
ok "it records" within 60 test -s /tmp/f/kernel.trace # made when all probes are on
ON=$(measure)
kill -TERM $G
wait $G
is "it ends well" $? 0
AFTER=$(measure)
note "without: $OFF
with: $ON
afterwards: $AFTER
$(grep -E '^gpq' /tmp/out)"
# Each time 100 of gpq, 100 of the bare caller.
ok "every suspension is in the record" test "$(gpq trace -q --list -rno KIND --filter 'NAME == "suspend_queues" && KIND == "return"' /tmp/f | grep -c .)" -ge 600
at_most suspend 150
at_most resume 200
ON=$AFTER
at_most suspend 105
is "nothing is left in tracefs" "$(ls $T/instances) $(cat $T/kprobe_events)" " "
reap $P
unload
kernel_is_content
finish
