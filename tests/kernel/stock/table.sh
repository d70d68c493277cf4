# The stock amdkfd without a GPU, row by row: what each kernel answers to each step of the protocol [kernel.no-gpu],
# [kernel.no-gpu-ids].
# The answers were taken from the drivers and are the truth for every simulation of them; change a row only after
# looking into that kernel's source.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

case $(uname -r) in
6.1.*) COLUMN=3 ;;
*) COLUMN=2 ;;
esac

# STEP | 6.12 | 6.1. Without the debug ioctl (before 6.5) every DBG_TRAP is ENOTTY.
table() {
	cat <<-T
	version               | 1.17 | 1.11
	runtime_enable        | 0 | ENOTTY
	enable_untraced       | EPERM | ENOTTY
	seize                 | 0 | 0
	suspend_before_enable | EINVAL | ENOTTY
	enable_bad_fd         | EBADF | ENOTTY
	enable                | 0 size 16 state 1 r_debug 0x1234000 | ENOTTY
	enable_again          | EALREADY | ENOTTY
	queue_snapshot        | 0 num 0 entry 64 | ENOTTY
	device_snapshot       | 0 num 0 entry 120 | ENOTTY
	suspend               | 0 80000000 80000001 80000002 80000003 | ENOTTY
	resume                | 0 80000000 80000001 80000002 80000003 | ENOTTY
	suspend_none          | 0 | ENOTTY
	suspend_bad_pointer   | EFAULT | ENOTTY
	query_event           | EAGAIN | ENOTTY
	disable               | 0 | ENOTTY
	disable_again         | EINVAL | ENOTTY
	op_99                 | EINVAL | ENOTTY
	detach_running        | ESRCH | ESRCH
	detach_stopped        | 0 | 0
	suspend_detached      | EPERM | ENOTTY
	disable_detached      | 0 | ENOTTY
	stranger_seize        | EPERM | EPERM
	stranger_enable       | EPERM | ENOTTY
	holder_dead_state     | S | S
	holder_dead_tracer    | 0 | 0
	holder_dead_seize     | 0 | 0
	holder_dead_enable    | 0 | ENOTTY
	holder_dead_disable   | 0 | ENOTTY
	target_dead_resume    | ESRCH | ENOTTY
	target_dead_enable    | ESRCH | ENOTTY
	enable_pid_1          | ESRCH | ENOTTY
	no_kfd_sysfs_before   | absent | absent
	no_kfd_enable         | 0 | ENOTTY
	no_kfd_sysfs_after    | present | absent
	no_kfd_suspend        | EPERM | ENOTTY
	opened_sysfs          | present | present
	no_runtime_suspend    | EPERM | ENOTTY
	smi_unknown_gpu       | EINVAL | EINVAL
	criu_process_info     | ENODEV | ENODEV
	criu_unpause          | EINVAL | EINVAL
	T
}

probe > /tmp/answers 2>&1
RC=$?
is "the probe comes to its end" $RC 0
table | while IFS='|' read -r step new old; do echo "$step|$new|$old"; done | sed 's/ *| */|/g; s/^[[:blank:]]*//; s/ *$//' > /tmp/table
while IFS='|' read -r step new old; do
	[ $COLUMN = 2 ] && want=$new || want=$old
	is "$step" "$(sed -n "s/^$step //p" /tmp/answers)" "$want"
done < /tmp/table
is "no step that the table does not know" "$(cut -d' ' -f1 /tmp/answers | sort)" "$(cut -d'|' -f1 /tmp/table | sort)"
if [ $COLUMN = 2 ]; then
	like "the log names the process that is not traced" "$(dmesg)" 'PID [0-9]+ is not PTRACED'
fi
kernel_is_content
finish
