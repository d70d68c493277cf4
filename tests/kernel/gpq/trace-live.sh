# gpq trace --live and --ftrace on the real driver: what mkqueue, gpq suspend and smi say they did is in the record, in their order;
# of the chosen processes alone; nothing of gpq is left in tracefs after any end; the user's own tracing stays.
# shellcheck shell=dash disable=SC2086,SC2154
. /t/lib.sh
T=/sys/kernel/tracing

left() { # what gpq made
	find $T/instances -maxdepth 1 -name 'gpq*'
	grep -c gpq_ $T/kprobe_events | grep -v '^0'
}
nothing_left() { [ -z "$(left)" ]; }
on() { grep -qs 1 $T/instances/gpq-*/events/gpq_*/enable; } # its probes are
rows() { # WORD...: NAME KIND RETURNED of the folder's records that have all of these words
	gpq trace -q --list -rno NAME,KIND,RETURNED,QID,HWQ,COMMAND,PID,ARGS /tmp/f > /tmp/rows
	for w; do
		grep -F -e "$w" /tmp/rows > /tmp/rows.of
		mv /tmp/rows.of /tmp/rows
	done
	cat /tmp/rows
}
timeline() { gpq trace -q --list -rno "$2" --filter "$1" ${3:-/tmp/f}; } # FILTER COLUMNS [FOLDER]
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

smi 600 > /tmp/smi & S=$!
target -n 2 -s
cat > /tmp/command <<- E
	gpq suspend -p $P > /tmp/suspended && gpq resume -p $P > /tmp/resumed
	echo $P > /sys/kernel/debug/softgpu/evict
	echo $P > /sys/kernel/debug/softgpu/restore
	mkqueue -n 1 -t 1 > /tmp/made &
	echo \$! > /tmp/mkqueue
	wait \$!
	exit 7
E
status_is "a command's status" 7 gpq trace --live -q --save /tmp/f -- sh /tmp/command
like "the report: the holder suspended once" "$(echo "$OUT" | grep '^suspend_queues ')" '^suspend_queues +[0-9]+ gpq-holder +1 +0 +1 '
empty "nothing is left in tracefs" "$(left)"
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
n=$(grep -c suspended /tmp/suspended) holder=$(timeline 'NAME == "suspend_queues" && KIND == "return"' PID)
is "the hold is the target's, with its holder" "$(timeline 'SOURCE == "gpq"' KIND,PID,COMMAND,NAME,ARGS)" \
	"hold-begin $P mkqueue gpq-holder by=$holder\x20queues=$n
hold-end $P mkqueue gpq-holder by=$holder\x20queues=$n\x20end=resume"
is "from suspend_queues to resume_queues" "$(timeline 'SOURCE == "gpq"' TIME_US | tr '\n' ' ')" "$c $(at resume_queues return) "
is "eviction and restore, by the driver's time" "$(timeline 'SOURCE == "driver" && NAME =~ "^queue-"' NAME,PID,COMMAND,ARGS,CLOCK)" \
	"queue-eviction $P mkqueue userptr driver
queue-restore $P mkqueue - driver"
# The VM never slept, so CLOCK_BOOTTIME, which smi shows, is CLOCK_MONOTONIC.
is "which is that of smi's copy" "$(timeline 'SOURCE == "driver" && NAME =~ "^queue-"' TIME_US)" \
	"$(awk '$1 == "9" || $1 == "a" { printf "%d\n", $2 / 1000 }' /tmp/smi)"
is "before the driver's call for it ends" "$(timeline 'NAME =~ "^(queue-eviction|kgd2kfd_quiesce_mm)$"' NAME,KIND)" "kgd2kfd_quiesce_mm entry
queue-eviction event
kgd2kfd_quiesce_mm return"
is "a queue created, as polled" "$(timeline 'NAME == "queue-created"' PID,COMMAND,ARGS)" "$(cat /tmp/mkqueue) mkqueue clock=polled"
if driver_has process_events; then
	is "a process, at the time of reading" "$(timeline 'NAME == "process-start" && COMMAND == "mkqueue"' PID,CLOCK)" "$(cat /tmp/mkqueue) read"
fi
gpq trace -q --perfetto /tmp/f.json /tmp/f > /dev/null
is "one hold is drawn, and the events" "$(grep -o '"cat":"hold"' /tmp/f.json | grep -c .) $(grep -o '"name":"queue-[er][a-z]*"' /tmp/f.json | sort -u | tr '\n' ' ')" \
	'1 "name":"queue-eviction" "name":"queue-restore" '
is "each call of suspend_queues has its time" "$(gpq trace -qrno TIMED --filter 'FUNCTION == "suspend_queues"' /tmp/f)" 1
like "the file says its clock, its threads" "$(grep '^# ' /tmp/f/kernel.trace)" "# clock: mono # task: [0-9]+ [0-9]+ [0-9]+"
status_is "the folder is not made twice" 1 gpq trace --live --save /tmp/f -- true
empty "and tracefs not touched" "$(left)"

# An idle driver; the end by --for and by SIGTERM.
status_is "an idle driver" 0 gpq trace --live --for 100ms -J
like "is no error" "$OUT" '"clock": "mono".*the trace is empty'
gpq trace --live > /tmp/out 2>&1 &
G=$!
ok "its probes are there" within 60 on
status_is "those of a living one stay" 0 gpq trace --live --cleanup -v
like "and this is said" "$OUT" '1 at work were left alone'
kill -TERM $G
wait $G
is "SIGTERM ends it, with a report" "$?" 0
empty "and nothing is left" "$(left)"

# The selector: of the target alone, and what its holder does for it; of those that come later; a burst that fills the driver's buffer.
record() { # SELECTOR...
	rm -rf /tmp/g
	gpq trace --live -q --save /tmp/g --for 1h "$@" > /tmp/out 2>&1 &
	G=$!
	within 60 test -s /tmp/g/kernel.trace || fail "trace --live $*" "$(cat /tmp/out)" # made when all probes are on
}
recorded() {
	kill -TERM $G
	wait $G
}
mkqueue -q -n 1 -k /tmp/other & other=$!
within 60 test -s /tmp/other
record -p $P
gpq suspend -p $P,$other > /tmp/suspended
gpq resume -p $P,$other > /dev/null
kill -STOP $G
i=0
while [ $i -lt 250 ]; do
	echo $P > /sys/kernel/debug/softgpu/evict
	echo $P > /sys/kernel/debug/softgpu/restore
	i=$((i + 1))
done
kill -CONT $G
within 60 grep -q '"event":"lost"' /tmp/g/events.ndjson
recorded
is "-p: its hold alone" "$(timeline 'SOURCE == "gpq" && KIND =~ "hold"' PID,KIND /tmp/g)" "$P hold-begin
$P hold-end"
is "with its holder's calls" "$(timeline 'NAME == "suspend_queues"' KIND,RETURNED /tmp/g)" "entry -
return $(grep -c "^ *$P .*suspended" /tmp/suspended)"
is "its evictions" "$(timeline 'NAME == "queue-eviction"' PID /tmp/g | sort -u)" $P
is "the buffer was full" "$(timeline 'NAME == "lost" && KIND == "event"' SOURCE,ARGS,CLOCK /tmp/g)" \
	"gpq clock=read\x20the\x20driver's\x20buffer\x20was\x20full:\x20events\x20may\x20be\x20missing read"
later_ones() {
	cp "$(command -v mkqueue)" /tmp/late
	record --comm '^late$'
	mkqueue -n 1 -t 1 > /dev/null
	/tmp/late -n 1 -t 1 > /dev/null
	gpq suspend -p $other > /dev/null
	gpq resume -p $other > /dev/null
	recorded
	is "--comm: of one that came later" "$(timeline 'NAME == "kfd_ioctl_create_queue"' COMMAND,KIND /tmp/g)" "late entry
late return"
	is "of no other" "$(timeline 'PID > 0' COMMAND /tmp/g | sort -u)" late
	sh -c 'while [ ! -e /tmp/go ]; do usleep 20000; done; mkqueue -n 1 -t 1; true' > /dev/null & parent=$!
	record --tree -p $parent
	mkqueue -n 1 -t 1 > /dev/null
	touch /tmp/go
	wait $parent
	recorded
	is "--tree: a descendant that came later" "$(timeline 'NAME == "kfd_ioctl_create_queue" && KIND == "entry"' COMMAND /tmp/g)" mkqueue
}
! is_mine 2 || later_ones
status_is "no such process" 5 gpq trace --live -p 4000000
status_is "no such GPU" 5 gpq trace --live --gpu 77
is "tracefs is as before" "$(left) $(cat $T/kprobe_events)" " $(cat $T/kprobe_events | grep mine)"
reap $other
kill $S

# SIGKILL: the guard removes all. Both killed: --cleanup does.
gpq trace --live --for 1h > /tmp/out 2>&1 &
G=$!
within 60 on
kill -9 $G
ok "after SIGKILL the guard removes all" within 60 nothing_left
gpq trace --live --for 1h > /tmp/out 2>&1 &
G=$!
within 60 on
for p in /proc/[0-9]*; do # the guard is its only child
	[ "$(sed -n 's/^PPid:\t//p' $p/status 2> /dev/null)" != $G ] || guard=${p#/proc/}
done
kill -9 $guard $G
wait $G
ok "both killed: something is left" test -n "$(left)"
ok "--cleanup" gpq trace --live --cleanup
empty "removes it" "$(left)"
is "and leaves the user's" "$(cat $T/kprobe_events) $(cat $T/instances/mine/trace_clock)" "$mine"

# What can be had without the kernel's side.
status_is "no root: named" 4 su user -c 'gpq trace --live'
status_is "no root, no log: nothing was recorded" 1 su user -c "gpq trace --live -- sh -c 'exit 0'"

reap $P
rmdir $T/instances/mine
echo > $T/kprobe_events
rm -rf /tmp/f /tmp/g /tmp/go
echo 1 > /sys/devices/system/cpu/cpu1/online
unload
kernel_is_content
finish
