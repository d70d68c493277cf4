# gpq trace --live beside others: two in PID namespaces of their own, where their numbers are the same; what one that was killed with
# its guard left; probes that somebody takes away; nothing to record.
# shellcheck shell=dash disable=SC2086,SC2154
. /t/lib.sh
T=/sys/kernel/tracing

left() { # what gpq made
	find $T/instances -maxdepth 1 -name 'gpq*'
	grep -c gpq_ $T/kprobe_events | grep -v '^0'
}
on() { grep -qs 1 $T/instances/gpq-*/events/gpq_*/enable; }
calls() { gpq trace -q --list -rno NAME,KIND,RETURNED,QID,HWQ --filter 'SOURCE == "kernel" && COMMAND == "mkqueue"' /tmp/$1; }

if [ ! -e $T/kprobe_events ]; then
	skip "the kernel's trace" "no tracefs with kprobes"
	finish
	exit
fi
# QEMU runs the processors as threads, and code that one changes (tracepoints, kprobes) may reach another half changed.
echo 0 > /sys/devices/system/cpu/cpu1/online
load gfx942

# In a PID namespace of its own, as in a container. The command begins when all probes are on.
contained() { # COMMAND
	unshare -p -f --mount-proc sh -c "$1"
}
record() { # NAME: until /tmp/go is there; its status is in /tmp/NAME.status
	contained "gpq trace --live --save /tmp/$1 -- sh -c 'touch /tmp/$1.on; while [ ! -e /tmp/go ]; do usleep 20000; done'
		echo \$? > /tmp/$1.status" > /tmp/$1.out 2>&1 &
	within 120 test -e /tmp/$1.on || fail "$1 records" "$(cat /tmp/$1.out)"
}
recorded() { # NAME...
	touch /tmp/go
	for name; do within 120 test -s /tmp/$name.status || fail "$name ends" "$(cat /tmp/$name.out)"; done
	wait
	rm /tmp/go
}

# The end of a container: gpq and its guard are killed at once.
unshare -p -f --mount-proc gpq trace --live --for 1h > /tmp/out 2>&1 & U=$!
within 120 on || fail "one in a container" "$(cat /tmp/out)"
for p in /proc/[0-9]*; do
	[ "$(sed -n 's/^PPid:\t//p' $p/status 2> /dev/null)" != $U ] || G=${p#/proc/}
done
kill -9 $G
wait $U
killed=$(left)
ok "something is left" test -n "$killed"

record a
like "the next one says so" "$(cat /tmp/a.out)" "removed what 1 killed gpq had left"
unlike "and has removed it" "$(left)" "$(echo "$killed" | sed -n 's,.*/,,p')"
is "its own is there" "$(left | grep -c gpq-)" 1
probes=$(left | tail -n 1)
record b
unlike "the one behind it has nothing to say" "$(cat /tmp/b.out)" "killed gpq"
contained "gpq trace --live --cleanup -v" > /tmp/out 2>&1
like "a third leaves both alone" "$(cat /tmp/out)" "2 at work were left alone"
is "all their probes are there" "$(left | tail -n 1)" $((2 * probes))
mkqueue -n 2 -t 1 > /tmp/made
recorded a b
is "both end well" "$(cat /tmp/a.status /tmp/b.status)" "0
0"
sed -n 's/.*: queue \([0-9]*\) .* ring_base \(0x[0-9a-f]*\) .*/kfd_ioctl_create_queue return 0 \1 \2/p' /tmp/made > /tmp/wanted
is "the one has mkqueue's queues, as mkqueue says" "$(calls a | grep 'create_queue return .* 0x')" "$(cat /tmp/wanted)"
is "so has the other" "$(calls b | grep 'create_queue return .* 0x')" "$(cat /tmp/wanted)"
is "they have the same calls of it" "$(calls b)" "$(calls a)"
empty "nothing is left in tracefs" "$(left)"

# Somebody takes probes away, as an older gpq of the same process id would.
rm -rf /tmp/a /tmp/a.*
record a
I=$(echo $T/instances/gpq-*)
echo 0 > $I/events/enable
echo "-:$(sed -n 's/.*:\(gpq_[^ ]*kfd_open\) .*/\1/p' $T/kprobe_events)" >> $T/kprobe_events
echo 1 > $I/events/enable
recorded a
is "a probe was taken away: the status" "$(cat /tmp/a.status)" 3
like "it is said" "$(cat /tmp/a.out)" "took probes away: the record is not whole"
empty "nothing is left" "$(left)"

echo 1 > /sys/devices/system/cpu/cpu1/online
unload
status_is "no driver: there is nothing to record" 1 gpq trace --live --for 50ms
like "and this is said" "$OUT" "load amdgpu first"
empty "nothing is left" "$(left)"
rm -rf /tmp/a /tmp/b /tmp/a.* /tmp/b.*
kernel_is_content
finish
