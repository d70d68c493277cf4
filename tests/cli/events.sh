#!/bin/bash
# gpq events where sysfs is a recorded one that changes, and /dev/kfd is not there: what is polled. The driver's events are in
# tests/kernel/gpq/events.sh.
if [ -z "${EVENTS_INSIDE:-}" ] && [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	EVENTS_INSIDE=1 exec unshare -m "$0"
fi
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
[ -n "${EVENTS_INSIDE:-}" ] || skip_all "another /sys takes root and a mount namespace"
[ ! -e /dev/kfd ] || skip_all "here is a /dev/kfd, and the driver knows other GPUs than the recorded one"
cp -r "$top/tests/hosts/vm-gfx90a-running/sys" "$work/sys"
mount --make-rprivate / && mount --bind "$work/sys" /sys || skip_all "no mounts here"
procs=$work/sys/class/kfd/kfd/proc # not by way of /sys: mv would copy
cp -r "$procs"/170/queues/0 "$work/queue"
mkfifo "$work/err"

# Returns when it has seen what is there already.
start() { # OPTIONS...
	gpq events -v --interval 10ms "$@" >"$work/out" 2>"$work/err" &
	pid=$!
	exec 3<"$work/err"
	messages=
	while read -r line <&3; do
		messages+=$line$'\n'
		[[ $line != *"at the beginning"* ]] || break
	done
}

end() {
	wait $pid 2>/dev/null
	status=$?
	messages+=$(cat <&3)
	exec 3<&-
}

# The numbers are those of the folders; the queue's files say GPU, type and size.
start --count 2 -rno EVENT,PID,GPU,QID,TYPE,RING,CLOCK,SOURCE
cp -r "$work/queue" "$work/fresh" && mv "$work/fresh" "$procs"/170/queues/7
read -r gpu <"$procs"/170/queues/0/gpuid
while ! grep -q queue-created "$work/out" && kill -0 $pid; do read -rt 0.01 <> <(:); done
mv "$procs"/170/queues/0 "$work/gone"
end
ring=$(cat "$work/queue/size")
is "--count: exit status, events" "$status $(grep -c queue- "$work/out")" "0 2"
is "a queue comes, another goes" "$(cat "$work/out")" "queue-created 170 $gpu 7 compute $ring polled polled
queue-destroyed 170 $gpu 0 compute $ring polled polled"
ok "that the driver's are missing is told once" test "$(grep -c 'events of the driver are missing' <<<"$messages")" = 1

# Its names are those of /proc, except where the numbers of sysfs are those of another PID namespace, the host's. gpq's own ancestors
# are not meant by --comm.
if [ "$(readlink /proc/self/ns/pid)" = 'pid:[4026531836]' ]; then
mkfifo "$work/never"
tail -f "$work/never" 3<&- &
other=$!
start --count 2 -p $other -rno EVENT,PID,COMMAND
mkdir -p "$work/proc/queues" && cp -r "$work/queue" "$work/proc/queues/0" && mv "$work/proc" "$procs"/$other
end
is "a process comes with a queue" "$(cat "$work/out")" "kfd-open $other tail
queue-created $other tail"
start --count 2 --comm '^tail$' --ndjson
mv "$procs"/170 "$work/170" && mv "$procs"/$other "$work/other"
end
is "--comm: its end, and no other's" "$(jq -r '"\(.event) \(.pid) \(.command) \(.clock) \(.interval_ns > 0) \((.time_ns / 1000 | floor) == .time_us)"' <"$work/out")" \
	"queue-destroyed $other tail polled true true
kfd-close $other tail polled true true"
kill $other
is "no such process" "$(gpq events -p 999999999 2>&1)" "gpq: events: pid 999999999: no such process; without -p those of all are shown"
else
	mv "$procs"/170 "$work/170"
	pass "a process comes with a queue, and ends # skip sysfs has the host's numbers"
fi

start --for 10ms --count 1
end
is "what is there at the beginning, counted without the driver's events" "$(grep -o '[^:]*at the beginning' <<<"$messages")" " 1 GPU, 1 process, 1 queue at the beginning"
is "--for without --count events" "$status $(grep -c '0 events in this time, of 1 asked for' <<<"$messages")" "124 1"
start -J --for 10ms
end
is "a document" "$status $(jq -c . <"$work/out")" '0 {"schema":{"name":"gpq.events","version":1},"events":[]}'
# Rows are written before the next is known, so widths are those of the columns; what is a text begins at its left.
is "a table" "$(gpq events --for 10ms --output-all 2>/dev/null)" "\
     TIME_US EVENT                PID COMMAND         CONTAINER    USER     POD          JOB           GPU QID TYPE    CLOCK  DETAIL SOURCE         TIME_NS INTERVAL   NSPID   GIVEN \
CONTAINER_ID BDF          CONTEXT_ID  RING NUMBER TRIGGER    TRIGGER_NUMBER         PAGE    PAGES FROM_GPU TO_GPU PREFETCH PREFERRED ERRNO RESET THROTTLE_BITS COUNT MEANING DO TEXT"
# The kernel's log is a file of the test's, which was there before. Of what comes, lines about the driver are events; whose they
# are is said where it is known.
echo '3,10,1,-;amdgpu 0000:c0:00.0: amdgpu: GPU reset begin!' >"$work/kmsg"
if [ -e /dev/kmsg ] && mount --bind "$work/kmsg" /dev/kmsg; then
log() { # COUNT OPTIONS...
	start --count "$@"
	cat >>"$work/kmsg"
	end
}
read -r pasid <"$procs"/171/pasid
log 5 -rno EVENT,PID,GPU,BDF,SOURCE,CLOCK,DETAIL,MEANING <<END
6,11,2,-;usb 1-1: new device
3,12,950818166,-;amdgpu 0000:c0:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE
 SUBSYSTEM=pci
3,13,950818167,-;amdgpu: process pid 171 DQM create queue type 1 failed. ret -12
3,14,950818168,-;amdgpu: Pasid $(printf 0x%x "$pasid") DQM create queue type 1 failed. ret -12
3,15,950818169,-;amdgpu 0000:c7:00.0: amdgpu: GPU reset(1) failed
3,16,950818170,-;amdgpu: Freeing queue vital buffer 0x7f00, queue evicted
END
dead="the reset failed: the GPU is of no use until the host is started anew"
none="process pid 171 DQM create queue type 1 failed. ret -12"
is "the kernel's log" "$(sed "s/\\\\x20/ /g; s/$(printf 0x%x "$pasid")/PASID/" "$work/out")" \
	"queues-lost - $gpu 0000:c0:00.0 log read MES failed to respond to msg=REMOVE_QUEUE the MES, which puts queues on the GPU, does not answer
no-queue-left 171 - - log read $none a process did not get a queue
no-queue-left 171 - - log read ${none/process pid 171/Pasid PASID} a process did not get a queue
reset-failed - - - log read GPU reset(1) failed $dead
memory-freed - - - log read Freeing queue vital buffer 0x7f00, queue evicted a process freed memory that its queues need, and they stay off"
log 1 --ndjson --output-all --filter 'PID == 171' <<END
3,17,950818171,-;amdgpu: process pid 4 DQM create queue type 1 failed. ret -12
3,18,950818172,-;amdgpu 0000:c0:00.0: amdgpu: $none
END
is "what it has, and what to do" "$(jq -r '"\(.text) \(.do)"' "$work/out")" "0000:c0:00.0: $none run fewer processes on this GPU, some of them with HSA_ENABLE_SDMA=0"
umount /dev/kmsg
else
	pass "the kernel's log # skip no /dev/kmsg here"
fi

start
kill -TERM $pid
end
is "SIGTERM" "$status" 143
is "--interval" "$(gpq events --interval 1ms 2>&1)" "gpq: events: --interval: the least is 10ms; for example --interval 100ms"
is "--count 0" "$(gpq events --count 0 2>&1)" "gpq: events: --count 0: nothing to wait for; give at least 1"
is "--sort" "$(gpq events --sort PID 2>&1)" "gpq: events: --sort: rows are in order when all are there; add --for, leave out --count"
is "no such GPU" "$(gpq events --gpu 77 2>&1)" "gpq: events: there is no GPU 77; gpq gpus lists them"
finish
