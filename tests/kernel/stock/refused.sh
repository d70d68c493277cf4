# The stock amdkfd without a GPU since 7.0 [kernel.no-gpu]: it refuses to be opened, so there is nothing to suspend and nobody
# to list.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

ok "/dev/kfd is there" test -c /dev/kfd
like "opening it is EINVAL" "$( (exec 9<> /dev/kfd) 2>&1)" "/dev/kfd.*Invalid argument"
like "the log says why" "$(dmesg)" "no gpu node! Cannot create KFD process"
empty "no process is listed" "$(ls $KFD/proc)"
is "topology: the processor's node alone" "$(cat $KFD/topology/nodes/*/gpu_id)" 0
empty "mqds: nothing" "$(cat /sys/kernel/debug/kfd/mqds)"

# gpq's own sentence for it; its status is that of what is not supported.
status_is "gpq suspend: status" 6 gpq suspend -p $$
like "gpq suspend: there is no GPU" "$OUT" "no GPU"
status_is "gpq gpus --check: status, whatever it says" 0 gpq gpus --check
like "gpq gpus --check: there is no GPU" "$(echo "$OUT" | grep -v 'no GPU tells')" "no GPU"
status_is "gpq queues lists nothing and is content" 0 gpq queues -r -n
empty "no rows" "$OUT"
kernel_is_content
finish
