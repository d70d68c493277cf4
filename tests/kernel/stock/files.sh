# The files of the stock amdkfd without a GPU: sysfs, debugfs and what can be traced [kernel.no-gpu-files].
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

DEBUG=/sys/kernel/debug/kfd

# A process that opens the driver and neither goes on to another program nor ends.
mkfifo /tmp/never
(exec 9<> /dev/kfd && read -r _ < /tmp/never) &
P=$!
within 10 test -d $KFD/proc/$P
like "a process that opened /dev/kfd is listed" "$(ls $KFD/proc)" "^$P *$"
like "it has a pasid" "$(cat $KFD/proc/$P/pasid)" '^[0-9]+ *$'
empty "it has no queues" "$(ls $KFD/proc/$P/queues)"
is "mqds: one line, the process" "$(sed 's/ PASID.*//; s/[0-9][0-9]*/N/' $DEBUG/mqds)" "Process N"
empty "hqds: nothing" "$(cat $DEBUG/hqds)"
empty "rls: nothing" "$(cat $DEBUG/rls)"
is "mem_limit: two lines" "$(wc -l < $DEBUG/mem_limit)" 2
is "topology: the processor's node alone" "$(cat $KFD/topology/nodes/*/gpu_id)" 0
reap $P
empty "it is gone with its process" "$(ls $KFD/proc)"

# exec takes the address space that the driver's process belongs to, but the open file goes on:
# listed in sysfs, unknown to everything else, until the file is closed.
sleep 600 9<> /dev/kfd &
P=$!
within 10 test -d $KFD/proc/$P
within 10 grep -q sleep /proc/$P/comm
like "after exec sysfs still lists it" "$(ls $KFD/proc)" "^$P *$"
within 10 sh -c "! grep -q . $DEBUG/mqds"
empty "after exec mqds does not" "$(cat $DEBUG/mqds)"
reap $P

# What gpq trace hooks into. One pass over the list: it has 60000 names and takes seconds to read.
case $(uname -r) in
6.1.*) ;;
*)
	grep '\[amdgpu\]$' /sys/kernel/tracing/available_filter_functions | sed 's/[. ].*//' > /tmp/functions
	for f in pqm_create_queue pqm_destroy_queue create_queue_cpsch destroy_queue_cpsch \
		evict_process_queues_cpsch restore_process_queues_cpsch map_queues_cpsch unmap_queues_cpsch \
		suspend_queues resume_queues kfd_dbg_trap_enable kfd_dbg_trap_disable \
		kfd_smi_event_queue_eviction kfd_smi_event_queue_restore; do
		ok "$f can be traced" grep -qx $f /tmp/functions
	done
	;;
esac
kernel_is_content
finish
