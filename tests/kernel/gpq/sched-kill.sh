# gpq sched, a client, a holder or a worker dies at any time, 20 times: within the deadline of a hold all workers that live run,
# untraced once no scheduler is left, and can be suspended; no holder and no socket is left.
# shellcheck shell=dash disable=SC1091,SC2086,SC3028
. /t/lib.sh

KILLS=${KILLS:-20}
mkdir -p /run

start_worker() { # N
	rm -f /tmp/w$1
	mkqueue -q -n 2 -R 300 -b 20 -G 2 -k /tmp/w$1 &
	eval "W$1=$!"
}

start_sched() {
	gpq sched --offline comm=mkqueue --idle 5ms --max-hold 2s > /dev/null 2> /tmp/sched.err &
	S=$!
	within 20 listens
}

start_client() {
	hint $SOCKET 600000 40 40 2 > /dev/null 2>&1 &
	C=$!
}

runs() { # N
	look_at_rptr 0 /tmp/w$1
	within 15 has_moved 0 "$RPTR" /tmp/w$1
}

all_run() {
	local n
	for n in 1 2 3 4; do runs $n || echo "worker $n stands still"; done
}

load gfx942,gfx942
for n in 1 2 3 4; do start_worker $n; done
for n in 1 2 3 4; do within 20 test -s /tmp/w$n; done
start_sched
start_client
bad=0
for n in $(seq $KILLS); do
	usleep $((RANDOM % 250))000
	whom=$((RANDOM % 4)) wrong=
	case $whom in
	0)
		kill -9 $S && wait $S 2> /dev/null
		wrong=$(all_run)
		within 10 sh -c '! ps | grep -q "[g]pq-holder"' || wrong="$wrong holders are left"
		for w in $W1 $W2 $W3 $W4; do grep -q '^TracerPid:.0$' /proc/$w/status || wrong="$wrong $w is traced"; done
		start_sched || wrong="$wrong it starts no more: $(cat /tmp/sched.err)"
		kill -9 $C 2> /dev/null
		wait $C 2> /dev/null
		start_client
		;;
	1)
		kill -9 $C && wait $C 2> /dev/null
		wrong=$(all_run)
		start_client
		;;
	2)
		holders=$(pidof gpq-holder)
		kill -9 ${holders%% *} 2> /dev/null
		;;
	3)
		k=$((RANDOM % 4 + 1))
		eval "reap \$W$k"
		start_worker $k
		within 20 test -s /tmp/w$k
		;;
	esac
	[ -z "$wrong" ] && continue
	bad=$((bad + 1))
	note "kill $n ($whom): $wrong; $(gpq sched --status 2>&1)"
done
is "$KILLS kills: all workers run" $bad 0
kill -9 $C
wait $C 2> /dev/null
all_members() { [ "$(gpq sched --status -n -r -o CLASS,PROCS,MISSED | sed -n 's/^offline //p')" = "4 0" ]; }
within 20 all_members || fail "no member of the group is left behind" "$(gpq sched --status)"
empty "afterwards: all run" "$(all_run)"
kill -TERM $S
wait $S
is "it ends" $? 0
empty "no holder is left" "$(pidof gpq-holder)"
gpq suspend --list > /dev/null # sweeps what killed holders left
is "no socket is left" "$(find /run/gpq /run/gpq-sched -type s 2> /dev/null | wc -l)" 0
status_is "they can be suspended" 0 gpq suspend -p $W1,$W2,$W3,$W4
status_is "and resumed" 0 gpq resume --all
empty "and run" "$(all_run)"
reap $W1 $W2 $W3 $W4
unload
kernel_is_content
finish
