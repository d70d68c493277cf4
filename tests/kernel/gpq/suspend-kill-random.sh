# gpq or its holder dies at any time, 20 times (500 and more were run by hand: KILLS), beside a target that destroys and creates
# a queue all the time: afterwards nobody traces it, its queues run, and it can be suspended anew. No socket is left.
# A panic in kernel_write() is the driver's [kernel.event-crash].
# shellcheck shell=dash disable=SC1091,SC2086,SC3028
. /t/lib.sh
. /t/gpq/suspend.inc

KILLS=${KILLS:-20}
SIGNALS="KILL KILL KILL TERM INT HUP"

nth() { # N WORD...: one of the words
	shift $(($1 % ($# - 1) + 1))
	echo "$1"
}

start() { # KIND
	case $1 in
	0) gpq suspend -p $P & ;;
	1) gpq suspend -p $P --for 400ms & ;;
	2) gpq suspend -p $P -- usleep 300000 & ;;
	3)
		gpq suspend -p $P
		gpq resume -p $P &
		;;
	esac
	G=$!
} > /tmp/said 2>&1

# What is wrong now; nothing, when all is as it should be. A deadline and the end of a command need no resume.
after() { # KIND WHOM STATUS
	look_at_tracer $P
	[ $1 != 0 ] || [ $2 != 0 ] || [ $3 != 0 ] || [ "$TRACER" != 0 ] || echo "status 0, and nobody holds it"
	case $1 in 0 | 3) gpq resume -p $P > /dev/null 2>&1 ;; esac
	within 10 untraced $P || echo "traced by $TRACER"
	within 10 no_holder || echo "holders: $HOLDERS"
	look_at_rptr 0
	within 10 has_moved 0 "$RPTR" || echo "queue 0 stands still"
}

load gfx942
target -q -n 3 --churn 30
bad=0
for n in $(seq $KILLS); do
	kind=$((RANDOM % 4)) whom=$((RANDOM % 3)) signal=$(nth $RANDOM $SIGNALS)
	start $kind
	usleep $((RANDOM % 120))000
	look_at_holders
	[ $whom = 1 ] || kill -$signal $G 2> /dev/null
	[ $whom = 0 ] || kill -$signal $HOLDERS 2> /dev/null
	wait $G
	wrong=$(after $kind $whom $?)
	[ -z "$wrong" ] && continue
	bad=$((bad + 1))
	note "kill $n ($kind, $whom, $signal): $wrong; gpq said: $(cat /tmp/said)"
done
is "$KILLS kills: nothing stays suspended or traced" $bad 0
gpq suspend --list > /dev/null
is "no socket is left" "$(find /run/gpq -type s | wc -l)" 0
status_is "it can be suspended again" 0 gpq suspend -p $P
status_is "and resumed" 0 gpq resume -p $P
moves 0 "after all that"
reap $P
unload
kernel_is_content
finish
