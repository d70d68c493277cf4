# A target that has not opened every GPU. Linux 7.2 and 7.3 follow a null pointer when queues of a GPU before the unopened
# one are suspended (kfd_device_queue_manager.c: suspend_queues()), so gpq must refuse there what it cannot prove safe.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

case $(uname -r) in
[1-6].* | 7.[01].*) crashes= ;;
*) crashes=yes ;;
esac

refused() { # DESCRIPTION STATUS ERE COMMAND...
	local d=$1 status=$2 re=$3
	shift 3
	status_is "$d: exit status" $status "$@"
	like "$d: the sentence" "$OUT" "$re"
	within 5 no_holder || fail "$d: no holder is left" "$(holders)"
	is_untouched "$d"
}
held() { # DESCRIPTION
	status_is "$1" 0 gpq suspend -p $P
	still 0 "$1" 200
	status_is "$1, resume" 0 gpq resume -p $P
	moves 0 "$1, resumed"
}

load gfx942,gfx90a
target -q -n 1 --few
if [ -n "$crashes" ]; then
	refused "the second GPU is not opened" 6 "pid $P: it has not opened GPU [0-9]*, and this kernel's driver can crash" gpq suspend -p $P
	status_is "the list is not touched by a crash" 0 gpq queues -p $P
else
	held "the second GPU is not opened, on a driver without the fault"
fi
reap $P
target -q -n 1 --few --skip 1
held "the first GPU is not opened: none follows the queue's"
reap $P
target -q -n 1
held "all GPUs are opened"
reap $P

# Another script may have left it higher.
echo 0 > /proc/sys/kernel/yama/ptrace_scope
# Another user cannot read debugfs: only queues on the GPUs prove that they were opened.
chmod 666 /dev/kfd /dev/dri/renderD*
as_user() { # MKQUEUE-ARGS...
	rm -f $STATUS $STATUS.new
	su user -c "exec mkqueue -q $* -k $STATUS" > /tmp/mkqueue.log 2>&1 &
	within 20 test -s $STATUS || fail "mkqueue $* starts" "$(cat /tmp/mkqueue.log)"
	P=$(pidof mkqueue)
}
chmod 777 /tmp
as_user -n 1
if [ -n "$crashes" ]; then
	refused "a user, both GPUs opened, one used" 4 "pid $P: .*only debugfs of the host shows whether it has; run as root on the host" su user -c "gpq suspend -p $P"
else
	status_is "a user, both GPUs opened, one used" 0 su user -c "gpq suspend -p $P"
	status_is "a user resumes" 0 su user -c "gpq resume -p $P"
fi
kill $P
within 20 test ! -d $KFD/proc/$P
as_user -n 1 -G 2
status_is "a user, queues on both GPUs" 0 su user -c "gpq suspend -p $P"
status_is "a user resumes both" 0 su user -c "gpq resume -p $P"
kill $P
within 20 test ! -d $KFD/proc/$P
unload
kernel_is_content
finish
