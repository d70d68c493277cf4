#!/bin/sh
# A Slurm epilog (Epilog= in slurm.conf; slurmd runs it as root on each node when a job has ended there): if processes of the job
# are still there, with queues that are stuck, it keeps the evidence and drains the node, before anybody resets the GPU.
#
# What hangs and ends by its time limit is killed before the epilog: let the job's script ask for the evidence in time:
#
#   #SBATCH --signal=B:USR1@180
#   trap 'srun --overlap -n $SLURM_JOB_NUM_NODES --ntasks-per-node=1 sudo gpq hang /shared/hang-$SLURM_JOB_ID-$SLURMD_NODENAME.tar.gz' USR1
#   srun python3 train.py & wait $!; wait $!
#
# and gpq hang --merge of these archives tells which rank has not launched what the others wait for.
# Jobs are known by the control groups of slurmd; Slurm 26.05 and later need CgroupJobIdPaths=yes in cgroup.conf.
# AFTER=1m is how long a queue has to stand, EXT=.tar.gz the form of the archives; EXT= makes folders.
set -u
dir=${GPQ_HANGS:-/var/spool/gpq-hangs}
# A minute: a killed process may need some seconds until the driver has taken its queues away.
gpq why --job "$SLURM_JOB_ID" --stuck-after "${AFTER:-1m}" > /dev/null 2>&1
[ $? -eq 7 ] || exit 0
umask 077
mkdir -p "$dir"
gpq hang --job "$SLURM_JOB_ID" "$dir/job$SLURM_JOB_ID-$(hostname)${EXT-.tar.gz}"
scontrol update "nodename=$SLURMD_NODENAME" state=drain "reason=GPU queues of job $SLURM_JOB_ID are stuck, see $dir"
