# gpq why --waves, which is killed or stopped, or its holder is, at any moment: the queue runs, and nobody traces its program.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

KILLS=${KILLS:-30}

runs() { gpq queues -p $P -rno STATE | grep -qvx suspended; }
is_back() { runs && grep -q '^TracerPid:.0$' /proc/$P/status; }

load gfx90a packet_rate=1000
waveq dispatch=1000,256 'sh=echo ready >&2' ms=900000 > /tmp/waveq.log 2>&1 &
P=$!
within 20 grep -q ready /tmp/waveq.log
bad=0
for i in $(seq $KILLS); do
	gpq why --waves -p $P --sample 3 --every 1ms > /dev/null 2>&1 &
	G=$!
	usleep $((RANDOM % 110))000
	look_at_holders
	case $((i % 5)) in
	0) kill -9 $G ;;
	1) kill -9 $HOLDERS ;;
	2) kill -TERM $G ;;
	*)
		[ $((i % 5)) = 3 ] || G="$HOLDERS $G"
		kill -STOP ${G%% *}
		usleep 260000
		within 5 runs || { bad=$((bad + 1)) && note "$i: what is stopped holds the queue"; }
		kill -9 $G
		;;
	esac 2> /dev/null
	wait ${G##* } 2> /dev/null
	within 5 is_back || bad=$((bad + 1))
done
is "killed or stopped at $KILLS moments: never left held or traced" $bad 0
kill $P
reap $P
unload
kernel_is_content
finish
