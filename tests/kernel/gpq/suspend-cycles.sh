# The preemption test from end to end, many GPUs and processes, a thousand cycles.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

rss() { awk '/^VmRSS/ { print $2 }' /proc/$1/status; }
fds() { ls /proc/$1/fd | wc -l; }
# Without the kernel's own threads, which come and go.
processes() {
	local n=0 exe
	for exe in /proc/[0-9]*/exe; do [ ! -e $exe ] || n=$((n + 1)); done
	echo $n
}
a_done() { ! kill -0 $A 2> /dev/null; }

# B computes; it is suspended and stands still for 2 s; A runs to its end meanwhile; B goes on.
preemption() {
	target -q -n 2
	moves 0 "B computes"
	status_is "suspend B" 0 gpq suspend -p $P
	still 0 "B is suspended" 2000
	mkqueue -q -n 2 -c 600 -k /tmp/a & A=$!
	within 60 a_done || fail "A runs to its end" "$(cat /tmp/a)"
	wait $A
	is "A ran to its end" $? 0
	still 0 "B is still suspended"
	status_is "resume B" 0 gpq resume -p $P
	moves 0 "B goes on"
	moves 1 "B goes on"
	status_is "the same around a command" 0 gpq suspend -p $P -- mkqueue -q -n 2 -c 300
	moves 0 "B goes on when A has ended"
	reap $P
}

thousand() {
	local before after
	target -q -n 2 -c 200000
	gpq suspend -p $P > /dev/null
	gpq resume -p $P --keep > /dev/null
	H=$(tracer $P)
	socket=$(gpq suspend --list -r -n -o SOCKET)
	ok "a few cycles" holdcost cycles $socket 20
	within 10 locked_down || fail "the holder gives up its rights" "$(cat /proc/$H/status)"
	before="$(rss $H) kB, $(fds $H) fds, $(processes) processes"
	ok "1,000 cycles" holdcost cycles $socket 1000
	after="$(rss $H) kB, $(fds $H) fds, $(processes) processes"
	is "the holder is as it was: memory, descriptors, processes" "$after" "$before"
	moves 0 "after 1,000 cycles"
	is "one holder" "$(holders)" 1
	for _ in 1 2 3 4 5 6 7 8 9 10; do gpq suspend -p $P > /dev/null && gpq resume -p $P > /dev/null; done
	within 5 no_holder || fail "ten holders came and went" "$(holders)"
	moves 0 "after ten holders"
	reap $P
	# Not one packet is lost: it ends when all are done.
	target -q -n 2 -c 1500
	for _ in 1 2 3 4 5; do gpq suspend -p $P > /dev/null && gpq resume -p $P > /dev/null; done
	within 60 eval '! kill -0 $P' || fail "a target that was suspended now and then comes to its end" "$(cat $STATUS)"
	wait $P
	is "with all its packets done" $? 0
}

many() {
	local i pids=
	for i in 1 2 3 4 5 6 7 8; do
		mkqueue -q -G 8 -n 1 -k /tmp/w$i &
		pids="$pids${pids:+,}$!"
	done
	for i in 1 2 3 4 5 6 7 8; do within 60 test -s /tmp/w$i || fail "worker $i starts" ""; done
	status_is "suspend 8 processes on 8 GPUs" 0 gpq suspend -p $pids --verify -r -n -o RESULT,PROOF
	is "all 64 queues are off" "$(echo "$OUT" | sort | uniq -c | sed 's/^ *//')" "64 suspended stopped"
	is "8 holders" "$(holders)" 8
	status_is "resume --all" 0 gpq resume --all -r -n -o RESULT
	is "all 64 are back" "$(echo "$OUT" | sort | uniq -c | sed 's/^ *//')" "64 resumed"
	for i in 1 4 8; do moves 0 "worker $i" /tmp/w$i; done
	moves 7 "worker 8" /tmp/w8
	killall -q mkqueue
	wait
}

load gfx942
preemption
thousand
unload
load gfx942,gfx942,gfx942,gfx942,gfx942,gfx942,gfx942,gfx942
many
unload
kernel_is_content
finish
