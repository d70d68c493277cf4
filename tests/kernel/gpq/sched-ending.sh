# Processes that end, are killed and call exec while gpq attaches to them, of one thread and of two: the driver's ENABLE
# panicked Linux 7.3 there (common/holder/session_enable.c). MANY: how many processes, twice; 2000 are the whole.
# shellcheck shell=dash disable=SC1091,SC2086,SC3028
. /t/lib.sh

MANY=${MANY:-100}
mkdir -p /run

one() {
	local thread=--thread p
	[ $((RANDOM % 2)) = 0 ] || thread=
	case $((RANDOM % 4)) in
	0) mkqueue -q $thread -c $((50 + RANDOM % 300)) ;;
	1) mkqueue -q $thread -R 300 --exit $((RANDOM % 100 + 1)) ;;
	2)
		mkqueue -q $thread -R 300 -t 5 & p=$!
		usleep $((RANDOM % 150 + 50))000
		kill -9 $p
		wait $p
		;;
	3) mkqueue -q $thread -c $((200 + RANDOM % 300)) -R 1000 --exec $((RANDOM % 100 + 1)) ;;
	esac
}

storm() {
	local k n loops=
	for k in 1 2 3 4 5 6 7 8 9 10; do
		(n=0; while [ $n -lt $((MANY / 10)) ]; do one; n=$((n + 1)); done) 2> /dev/null &
		loops="$loops $!"
	done
	wait $loops
}

load gfx942
gpq sched --offline comm=mkqueue --max-hold 1s > /dev/null 2> /tmp/sched.err & S=$!
within 20 listens || fail "gpq sched starts" "$(cat /tmp/sched.err)"
hint $SOCKET 3600000 5 5 1 > /dev/null 2>&1 & H=$!
storm
pass "$MANY processes under gpq sched"
kill $H
kill -TERM $S
wait $S
is "gpq sched ends" $? 0

# Each round attaches anew to all that there are. Some end meanwhile, so its status may tell of a part. On a busy machine the
# storm can be over before a round has held one that lives: one process stays, and the rounds go on until they have.
target -q
: > /tmp/go
suspends() {
	while [ -e /tmp/go ]; do
		gpq suspend --comm '^mkqueue$' | grep -q suspended && echo held
		gpq resume --all
	done
}
suspends > /tmp/rounds 2> /dev/null & L=$!
storm
ok "$MANY processes in a loop of gpq suspend, which held some" within 60 grep -q held /tmp/rounds
rm /tmp/go
wait $L
reap $P
within 20 sh -c '! ps | grep -q "[g]pq-holder"' || fail "no holder is left" "$(ps)"
empty "no process is left" "$(pidof mkqueue)"
unload
kernel_is_content
finish
