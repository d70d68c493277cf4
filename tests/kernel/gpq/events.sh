# gpq events: queues created and destroyed, processes, evictions and restores with their times, a burst that fills the driver's
# buffer, PID namespaces, a user without rights. Expected: what mkqueue says that it made, and smi's copy of the driver's text.
# shellcheck shell=dash disable=SC1091,SC2086,SC2154
. /t/lib.sh

E=/tmp/events
SOFT=/sys/kernel/debug/softgpu

# gpq events in the background, as NDJSON: W is its pid. It is ready when it says what there is already.
watch() { # GPQ-OPTIONS...
	rm -f $E $E.err
	gpq events -v --ndjson --for 60 "$@" > $E 2> $E.err &
	W=$!
	within 20 grep -q 'at the beginning' $E.err || fail "gpq events $* starts" "$(cat $E.err)"
}

# A background job of this shell has SIGINT ignored.
unwatch() {
	kill $W
	wait $W
	is "SIGTERM ends it" $? 143
}

# The members of each line that are named, of the events that match; "-" is null.
told() { # EVENT-ERE MEMBER...
	local events=$1
	shift
	awk -v events="^($events)$" -v members="$*" '
		function value(name,    at, v) {
			at = index($0, "\"" name "\":")
			if (!at) return "-"
			v = substr($0, at + length(name) + 3)
			if (v ~ /^"/) { v = substr(v, 2); sub(/".*/, "", v) } else sub(/[,}].*/, "", v)
			return v == "null" ? "-" : v
		}
		BEGIN { n = split(members, m) }
		value("event") ~ events { line = value(m[1]); for (i = 2; i <= n; i++) line = line " " value(m[i]); print line }' $E
}

has_told() { told "$1" event | grep -q .; }
has_told_of() { told "$1" pid | grep -qx "$2"; } # EVENT-ERE PID

# "mkqueue PID: queue ID gpu_id G type T ...": 0 compute, 1 SDMA, 2 AQL.
made() { awk -v pid=$P '$3 == "queue" { print pid, $4, $6, $8 == 1 ? "sdma" : "compute" }' /tmp/mkqueue.log | sort; }

evict() { # PID
	echo $1 > $SOFT/evict
}
restore() { # PID
	echo $1 > $SOFT/restore
}

life() {
	smi 60 > /tmp/smi & S=$!
	within 10 test -d $KFD/proc/$S
	usleep 300000 # until it has told the driver what it wants to hear
	watch
	target -n 2 -s -l 300 -d 600
	within 20 has_told queue-destroyed
	is "queues created are told, once each" "$(told queue-created pid qid gpu_id type | sort)" "$(made)"
	is "with the command, as polled" "$(told queue-created command source clock | sort -u)" "mkqueue polled polled"
	is "the process opens KFD first" "$(told 'kfd-open|queue-created' event | head -n 1)" kfd-open
	is "and is named" "$(told kfd-open pid command)" "$P mkqueue"
	is "a destroyed queue is told" "$(told queue-destroyed pid qid type)" "$P 0 compute"
	evict $P
	within 20 has_told queue-eviction
	restore $P
	within 20 has_told queue-restore
	is "an eviction, its trigger, and the restore" "$(told 'queue-(eviction|restore)' event pid command trigger clock)" \
		"queue-eviction $P mkqueue userptr driver
queue-restore $P mkqueue - driver"
	is "the GPU is that of the queues" "$(told 'queue-(eviction|restore)' gpu_id | sort -u)" "$(made | cut -d' ' -f3 | sort -u)"
	# The VM never slept, so CLOCK_BOOTTIME, which smi shows, is CLOCK_MONOTONIC.
	is "times are the driver's" "$(told 'queue-(eviction|restore)' time_ns)" "$(awk '$1 == "9" || $1 == "a" { print $2 }' /tmp/smi)"
	reap $P
	within 20 has_told_of kfd-close $P
	is "all its queues are gone" "$(told queue-destroyed qid | sort -n)" "$(told queue-created qid | sort -n)"
	is "its end comes last" "$(told 'queue-destroyed|kfd-close' event | tail -n 1)" kfd-close
	if driver_has process_events; then
		within 20 has_told process-end
		is "the driver tells of its begin and end" "$(told 'process-(start|end)' event pid command clock)" \
			"process-start $P mkqueue read
process-end $P mkqueue read"
	else
		empty "this driver tells nothing of processes" "$(told 'process-.*' event)"
	fi
	empty "times grow" "$(told '.*' time_ns | sort -nc 2>&1)"
	empty "nothing else is told" "$(told '.*' event | grep -vxE 'queue-(created|destroyed|eviction|restore)|kfd-(open|close)|process-(start|end)')"
	empty "one's own use of KFD is not told" "$(told '.*' pid | grep -x -e $W -e $S)"
	unwatch
	is "every line was written" "$(tail -n 1 $E | grep -c '}$')" 1
	kill $S
	wait $S
}

# The driver's buffer holds 1 KiB on 6.12 and 8 KiB on 7.3, a message about 30 bytes. While gpq stands still it runs over;
# smi reads on, and tells what was lost.
burst() {
	local i=0 told all
	smi 120 > /tmp/smi & S=$!
	within 10 test -d $KFD/proc/$S
	usleep 300000
	target -n 1
	watch
	kill -STOP $W
	while [ $i -lt 250 ]; do
		evict $P
		restore $P
		i=$((i + 1))
	done
	kill -CONT $W
	within 20 has_told lost
	is "a full buffer is told once" "$(told lost event clock source pid)" "lost read gpq -"
	told=$(told 'queue-(eviction|restore)' event | grep -c .)
	all=$(grep -cE '^[9a] ' /tmp/smi)
	is "smi saw all" $all 500
	if [ $told -gt 20 ] && [ $told -lt $all ]; then pass "events were lost"; else fail "events were lost" "$told of $all"; fi
	told 'queue-(eviction|restore)' time_ns > /tmp/got
	awk '$1 == "9" || $1 == "a" { print $2 }' /tmp/smi | head -n $told > /tmp/wanted
	ok "those before it are complete" cmp /tmp/got /tmp/wanted
	# Read as they come, none is lost.
	evict $P
	restore $P
	within 20 sh -c "[ \$(grep -c queue-restore $E) -gt $((told / 2)) ]"
	is "told once only" "$(told lost event)" lost
	unwatch
	kill $S
	wait $S
	reap $P
}

choosing() {
	local other
	mkqueue -q -n 1 -k /tmp/other & other=$!
	within 20 test -s /tmp/other
	target -n 1
	watch -p $P
	evict $other
	evict $P
	restore $other
	restore $P
	within 20 has_told queue-restore
	is "-p: of this process alone" "$(told '.*' pid | sort -u)" $P
	unwatch
	watch -p $P --count 1
	evict $P
	restore $P
	wait $W
	is "--count ends it" $? 0
	is "with that many" "$(told '.*' event pid)" "queue-eviction $P"
	watch --filter 'EVENT == "queue-restore"' --count 1
	evict $P
	restore $P
	wait $W
	is "--filter and --count" $? 0
	is "wait for one" "$(told '.*' event pid)" "queue-restore $P"
	status_is "--for ends it" 0 gpq events --for 0.2 -rn -p $P
	empty "with nothing" "$OUT"
	status_is "--count that is not reached" 124 gpq events --for 0.2 --count 3 -p $P
	status_is "a document" 0 gpq events --for 0.2 -J -p $P
	like "is whole" "$OUT" '^\{.*"name": "gpq.events".*"events": \[\].*\}'
	status_is "no such process" 5 gpq events -p 4000000
	status_is "no such GPU" 5 gpq events --gpu 77
	# The reader goes away: gpq ends, though nothing happens.
	gpq events -rn > /tmp/fifo.out 2>&1 & W=$!
	kill $W
	wait $W
	mkfifo /tmp/fifo
	gpq events --for 60 > /tmp/fifo 2> /tmp/fifo.err & W=$!
	head -n 1 < /tmp/fifo > /dev/null
	wait $W
	is "a closed pipe ends it quietly" "$? $(cat /tmp/fifo.err)" "141 "
	rm /tmp/fifo
	reap $P $other
}

# Two processes of one number in namespaces of their own, and the host's numbers.
namespaces() {
	local a b
	watch
	unshare -p -f --mount-proc mkqueue -q -n 1 -k /tmp/ns-a > /dev/null 2>&1 & U=$!
	within 20 test -s /tmp/ns-a || fail "mkqueue starts in a namespace" ""
	a=$(pidof mkqueue)
	within 20 has_told_of queue-created $a
	is "the host's number, and that inside" "$(told queue-created pid ns_pid command)" "$a 1 mkqueue"
	evict $a
	restore $a
	within 20 has_told queue-restore
	is "an eviction inside of it" "$(told queue-eviction pid ns_pid command)" "$a 1 mkqueue"
	if driver_has events_ns_pid; then
		is "the driver gave the number inside" "$(told queue-eviction given_pid)" 1
	else
		is "the driver gave the host's number" "$(told queue-eviction given_pid)" $a
	fi
	unshare -p -f --mount-proc mkqueue -q -n 1 -k /tmp/ns-b > /dev/null 2>&1 & V=$!
	within 20 test -s /tmp/ns-b
	b=$(pidof mkqueue | tr ' ' '\n' | grep -vx $a)
	within 20 has_told_of queue-created $b
	evict $b
	restore $b
	within 20 sh -c "[ \$(grep -c queue-restore $E) = 2 ]"
	if driver_has events_ns_pid; then
		is "one of two with this number is unknown" "$(told queue-eviction pid given_pid | tail -n 1)" "- 1"
	else
		is "the other one" "$(told queue-eviction pid | tail -n 1)" $b
	fi
	unwatch
	reap $a $b
	wait $U $V
}

# Without CAP_SYS_ADMIN.
user() {
	rm -f $E $E.err
	target -n 1
	chmod 666 /dev/kfd
	su user -c "exec gpq events -v --ndjson --for 60" > $E 2> $E.err & W=$!
	within 20 grep -q 'at the beginning' $E.err
	like "a user is told what is missing" "$(cat $E.err)" "without CAP_SYS_ADMIN the driver keeps events of other processes back; their queues are polled.*run as root"
	is "once" "$(grep -c CAP_SYS_ADMIN $E.err)" 1
	evict $P
	restore $P
	reap $P
	within 20 has_told_of kfd-close $P
	is "and sees queues, but no eviction" "$(told '.*' event pid command)" "queue-destroyed $P mkqueue
kfd-close $P mkqueue"
	kill $W
	wait $W
	chmod 600 /dev/kfd
	rm -f $E.err
	su user -c "gpq events --for 0.1" > /dev/null 2> $E.err
	is "without /dev/kfd: status" $? 0
	like "says so" "$(cat $E.err)" "/dev/kfd: Permission denied: events of the driver are missing; queues and processes are polled"
}

# A name with a newline, behind which something like a message stands, is no message.
forged() {
	driver_has process_events || return
	watch
	# shellcheck disable=SC3003
	cp "$(command -v mkqueue)" "/tmp/a
3 1 x"
	"/tmp/a
3 1 x" -q -n 1 -k /tmp/forged & P=$!
	within 20 test -s /tmp/forged || fail "it starts" ""
	within 20 has_told process-start
	within 20 has_told unreadable
	is "the rest of a name is no reset" "$(told 'gpu-pre-reset|unreadable' event detail)" "unreadable 3 1 x"
	unwatch
	reap $P
}

load gfx90a || finish
life
burst
choosing
namespaces
user
forged
unload
kernel_is_content
finish
