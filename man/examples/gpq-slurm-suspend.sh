#!/bin/sh
# Takes a job of Slurm off the GPUs of its nodes and stops it, or lets it go on, instead of cancelling it for another job.
#
#   sh gpq-slurm-suspend.sh suspend JOB
#   sh gpq-slurm-suspend.sh resume JOB
#
# scontrol suspend, and PreemptMode=SUSPEND, stop processes alone. What these have put into their queues runs on: a kernel that
# computes for minutes, or spins for a peer that is stopped, keeps its CUs. So the queues come off first. Memory stays on the GPUs.
# Jobs are known by the control groups of slurmd; Slurm 26.05 and later need CgroupJobIdPaths=yes in cgroup.conf.
# Run it as root, or as a user who may do both (gpq-security(7)), where the nodes can be reached: RUN=ssh runs a command on a node,
# as `ssh NODE COMMAND...` does. If one node cannot hold its part, all let go again and the job runs on.
set -u
what=${1:-} job=${2:-}
case $what-$job in
suspend-?* | resume-?*) [ $# -eq 2 ] ;;
*) false ;;
esac || { sed -n 's/^#   //p' "$0" >&2; exit 2; }
line=$(squeue -h -j "$job" -o '%A %N') || exit
[ "$(echo "$line" | wc -l)" -eq 1 ] || { echo "gpq-slurm-suspend: $job: not one running job; of an array name one: squeue -o '%A %i'" >&2; exit 2; }
job=${line%% *}
nodes=$(scontrol show hostnames "${line#* }") || exit

# 5: the job has no queue on this node. The names of those where it could not be done.
on_nodes() { # COMMAND of gpq, on all nodes at once
	for node in $nodes; do
		{
			${RUN:-ssh} "$node" gpq "$1" --job "$job" > /dev/null
			case $? in 0) ;; 5) echo "-" ;; *) echo "$node" ;; esac
		} &
	done
	wait
}

if [ "$what" = suspend ]; then
	said=$(on_nodes suspend)
	failed=$(echo "$said" | grep -v '^-*$' | tr '\n' ' ')
	if [ "$(echo "$said" | grep -cx -e -)" -eq "$(echo "$nodes" | wc -w)" ]; then
		echo "gpq-slurm-suspend: job $job has no queue that gpq sees: is it known by its control group (gpq-cluster(7))?" >&2
		exit 1
	fi
	[ -z "$failed" ] && scontrol suspend "$job" && exit
	on_nodes resume > /dev/null
	[ -z "$failed" ] || echo "gpq-slurm-suspend: job $job runs on: its queues could not be held on $failed" >&2
	exit 1
fi
status=0
scontrol resume "$job" || status=$?
failed=$(on_nodes resume | grep -vx -e - | tr '\n' ' ')
[ -z "$failed" ] || { echo "gpq-slurm-suspend: job $job: its queues did not come back on $failed" >&2; status=1; }
exit $status
