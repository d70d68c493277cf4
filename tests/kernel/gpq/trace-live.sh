# gpq trace --live and --ftrace on the real driver: what mkqueue and gpq suspend say they did is in the record, in their order; nothing
# of gpq is left in tracefs after any end; the user's own tracing stays.
# shellcheck shell=dash disable=SC2086,SC2154
. /t/lib.sh
T=/sys/kernel/tracing

left() { # what gpq made
	find $T/instances -maxdepth 1 -name 'gpq*'
	grep -c gpq_ $T/kprobe_events | grep -v '^0'
}
nothing_left() { [ -z "$(left)" ]; }
rows() { # WORD...: NAME KIND RESULT of the folder's records that have all of these words
	gpq trace -q --list -rno NAME,KIND,RESULT,QID,HWQ,COMMAND,PID,ARGS /tmp/f > /tmp/rows
	for w; do
		grep -F -e "$w" /tmp/rows > /tmp/rows.of
		mv /tmp/rows.of /tmp/rows
	done
	cat /tmp/rows
}
at() { gpq trace -q --list -rno TIME_US --filter "NAME == \"$1\" && KIND == \"$2\"" /tmp/f | head -n 1; }

if [ ! -e $T/kprobe_events ]; then
	skip "the kernel's trace" "no tracefs with kprobes"
	finish
	exit
fi
# QEMU runs the processors as threads, and code that one changes (tracepoints, kprobes) may reach another half changed.
echo 0 > /sys/devices/system/cpu/cpu1/online
load gfx942

# The user's own instance and probe.
mkdir $T/instances/mine
echo 'p:mine/open kfd_open' >> $T/kprobe_events
mine="$(cat $T/kprobe_events) $(cat $T/instances/mine/trace_clock)"

target -n 2 -s
cat > /tmp/command <<- E
	gpq suspend -p $P > /tmp/suspended && gpq resume -p $P > /tmp/resumed
	mkqueue -n 1 -t 1 > /tmp/made &
	echo \$! > /tmp/mkqueue
	wait \$!
	exit 7
E
status_is "a command's status" 7 gpq trace --live -q --save /tmp/f -- sh /tmp/command
like "the report: the holder suspended once" "$(echo "$OUT" | grep '^suspend_queues ')" '^suspend_queues +[0-9]+ gpq-holder +1 +0 +1 '
is "nothing is left in tracefs" "$(left)" ""
is "the user's own is as it was" "$(cat $T/kprobe_events) $(cat $T/instances/mine/trace_clock)" "$mine"
is "the processes of both programs" "$(rows kfd_open entry | cut -d' ' -f6 | sort -u | tr '\n' ' ')" "gpq-holder mkqueue "
is "mkqueue's process" "$(rows kfd_ioctl_create_queue return | cut -d' ' -f7)" "$(cat /tmp/mkqueue)"
# "mkqueue 186: queue 0 gpu_id 21385 type 2 doorbell_offset ... ring_base 0x7ffff7fe9000 ..."
is "the queue's ring and id, as mkqueue says" "$(rows kfd_ioctl_create_queue return | cut -d' ' -f3-5)" \
	"0 $(sed -n 's/.*: queue \([0-9]*\) .* ring_base \(0x[0-9a-f]*\) .*/\1 \2/p' /tmp/made | head -n 1)"
is "suspend_queues returned how many were suspended" "$(rows suspend_queues return | cut -d' ' -f3)" "$(grep -c suspended /tmp/suspended)"
is "resume_queues likewise" "$(rows resume_queues return | cut -d' ' -f3 | head -n 1)" "$(grep -c resumed /tmp/resumed)"
like "the suspension is of the target" "$(rows kfd_ioctl_set_debug_trap entry "op=6")" " gpq-holder [0-9]+ pid=$P\\\\x20op=6"
a=$(at suspend_queues entry) b=$(at unmap_queues_cpsch entry) c=$(at suspend_queues return) d=$(at resume_queues entry)
e=$(at kfd_ioctl_create_queue entry)
is "in order" "$(printf '%s\n' $a $c $d $e | sort -n | tr '\n' ' ')" "$a $c $d $e "
ok "the runlist was unmapped for it" test -n "$b"
is "each call of suspend_queues has its time" "$(gpq trace -qrno TIMED --filter 'FUNCTION == "suspend_queues"' /tmp/f)" 1
like "the file says its clock, its threads" "$(grep '^# ' /tmp/f/kernel.trace)" "# clock: mono # task: [0-9]+ [0-9]+ [0-9]+"
status_is "the folder is not made twice" 1 gpq trace --live --save /tmp/f -- true
is "and tracefs not touched" "$(left)" ""

# An idle driver; the end by --for and by SIGTERM.
status_is "an idle driver" 0 gpq trace --live --for 100ms -J
like "is no error" "$OUT" '"clock": "mono".*the trace is empty'
gpq trace --live > /tmp/out 2>&1 &
G=$!
ok "its probes are there" within 60 grep -q gpq_$G $T/kprobe_events
status_is "those of a living one stay" 0 gpq trace --live --cleanup -v
like "and this is said" "$OUT" '1 at work were left alone'
kill -TERM $G
wait $G
is "SIGTERM ends it, with a report" "$?" 0
is "and nothing is left" "$(left)" ""

# SIGKILL: the guard removes all. Both killed: --cleanup does.
gpq trace --live --for 1h > /tmp/out 2>&1 &
G=$!
within 60 test -e $T/instances/gpq-$G/events/gpq_$G/kfd_open
kill -9 $G
ok "after SIGKILL the guard removes all" within 60 nothing_left
gpq trace --live --for 1h > /tmp/out 2>&1 &
G=$!
within 60 test -e $T/instances/gpq-$G/events/gpq_$G/kfd_open
for p in /proc/[0-9]*; do # the guard is its only child
	[ "$(sed -n 's/^PPid:\t//p' $p/status 2> /dev/null)" != $G ] || guard=${p#/proc/}
done
kill -9 $guard $G
wait $G
ok "both killed: something is left" test -n "$(left)"
ok "--cleanup" gpq trace --live --cleanup
is "removes it" "$(left)" ""
is "and leaves the user's" "$(cat $T/kprobe_events) $(cat $T/instances/mine/trace_clock)" "$mine"

# What can be had without the kernel's side.
status_is "no root: named" 4 su user -c 'gpq trace --live'
status_is "no root: the command runs" 3 su user -c "gpq trace --live -- sh -c 'exit 0'"

reap $P
rmdir $T/instances/mine
echo > $T/kprobe_events
rm -rf /tmp/f
echo 1 > /sys/devices/system/cpu/cpu1/online
unload
kernel_is_content
finish
