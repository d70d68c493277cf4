# Jobs of a real Slurm with control groups of cgroup v2, as slurmd makes them without systemd: found, named and suspended, by job and by
# step; a scheduler that holds one whole. Judges: what srun was told, the pids that Slurm lists, and what is off by sysfs.
# shellcheck shell=dash disable=SC1091,SC2012,SC2016,SC2086
. /t/lib.sh

if ! command -v slurmd-wlm > /dev/null; then
	skip "jobs of a real Slurm" "its packages cannot be had"
	finish
	exit
fi
# Code that one of QEMU's processors changes (control groups) may reach another half changed.
echo 0 > /sys/devices/system/cpu/cpu1/online
load gfx942,gfx942 || exit

# Slurm wants an address that is not of the loopback interface.
ip addr add 10.9.9.1/32 dev lo
for f in slurmd slurmctld slurmstepd; do ln -sf $f-wlm /usr/sbin/$f; done
mkdir -p /etc/slurm /tmp/state /tmp/spool /run
[ -e /etc/passwd ] || echo root:x:0:0:root:/root:/bin/sh > /etc/passwd
[ -e /etc/group ] || echo root:x:0: > /etc/group
head -c 1024 /dev/urandom > /etc/slurm/slurm.key
chmod 600 /etc/slurm/slurm.key
cat > /etc/slurm/slurm.conf << END
ClusterName=gpq
SlurmctldHost=gpq-lab(10.9.9.1)
SlurmUser=root
AuthType=auth/slurm
CredType=auth/slurm
StateSaveLocation=/tmp/state
SlurmdSpoolDir=/tmp/spool
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/tmp/slurmctld.log
SlurmdLogFile=/tmp/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=gpq-lab NodeAddr=10.9.9.1 CPUs=8 RealMemory=1000
PartitionName=all Nodes=gpq-lab Default=YES State=UP OverSubscribe=YES
END
printf '%s\n' CgroupPlugin=cgroup/v2 IgnoreSystemd=yes > /etc/slurm/cgroup.conf
slurmctld
slurmd
within 120 sh -c 'sinfo -h -o %t 2> /dev/null | grep -q idle' ||
	{ fail "a node of Slurm" "$(sinfo; tail -n 20 /tmp/slurmctld.log /tmp/slurmd.log)"; exit; }
note "$(sinfo --version)"

# A batch job of a program and a step of two tasks; another job of one task; a process of no job.
cat > /tmp/batch << 'END'
#!/bin/sh
mkqueue -n 1 -k /tmp/s-batch > /tmp/m-batch 2>&1 &
srun -n 2 --overlap sh -c 'exec mkqueue -n 1 -k /tmp/s-$SLURM_PROCID > /tmp/m-$SLURM_PROCID 2>&1'
END
sbatch -n 2 -o /tmp/batch.log /tmp/batch > /tmp/out 2>&1 || fail "sbatch" "$(cat /tmp/out)"
A=$(sed -n 's/^Submitted batch job //p' /tmp/out)
srun -n 1 --overlap mkqueue -n 1 -k /tmp/s-b > /tmp/m-b 2>&1 &
mkqueue -n 1 -k /tmp/s-none > /tmp/m-none 2>&1 &
NONE=$!
for f in batch 0 1 b none; do within 120 test -s /tmp/s-$f || { fail "$f has its queue" "$(cat /tmp/m-$f /tmp/batch.log; squeue; tail -n 20 /tmp/slurmd.log)"; exit; }; done
B=$(squeue -h -o %i | grep -vx $A)
# "PID JOB.STEP" of each program of a job.
steps() { scontrol listpids $1 | awk 'NR > 1 { print $1, $2 "." $3 }' | while read -r p step; do [ "$(cat /proc/$p/comm)" != mkqueue ] || echo $p $step; done | sort -n; }
of() { steps $1 | cut -d' ' -f1 | xargs; } # JOB[.STEP]
chosen() { gpq queues -rno PID "$@" | sort -nu | xargs; }
off() { gpq queues -rno PID,STATE | sed -n 's/ suspended$//p' | sort -nu | xargs; }
steps $A > /tmp/of-a
like "job A is a batch script and a step of two" "$(cut -d' ' -f2 /tmp/of-a | sort | xargs)" "^$A\.0 $A\.0 $A\.batch$"
OF_A=$(of $A) OF_B=$(of $B)
note "$(for p in $OF_A $OF_B; do cat /proc/$p/cgroup; done)"

is "gpq ps: who is of which job" "$(gpq ps --comm mkqueue -rno PID,JOB | sort -n)" \
	"$({ for p in $OF_A; do echo $p $A; done; for p in $OF_B; do echo $p $B; done; echo $NONE -; } | sort -n)"
is "--job of a job" "$(chosen --job $A)" "$OF_A"
is "--job of another" "$(chosen --job $B)" "$OF_B"
is "--job of both" "$(chosen --job $A,$B)" "$(echo $OF_A $OF_B | xargs -n 1 | sort -n | xargs)"
is "--job of a step" "$(chosen --job $A.0)" "$(sed -n "s/ $A\.0$//p" /tmp/of-a | xargs)"
is "--job of the batch script" "$(chosen --job $A.batch)" "$(sed -n "s/ $A\.batch$//p" /tmp/of-a)"
status_is "--job of none" 5 gpq queues --job 4711
is "gpq why --job" "$(gpq why --job $B -rno PID,COMMAND)" "$OF_B mkqueue"

gpq suspend --job $A > /tmp/out 2>&1
is "a job is suspended: $(head -n 1 /tmp/out)" "$(off)" "$OF_A"
gpq resume --job $A > /dev/null
gpq suspend --job $A.0 > /dev/null
is "a step is suspended" "$(off)" "$(sed -n "s/ $A\.0$//p" /tmp/of-a | xargs)"
gpq resume --job $A > /dev/null
empty "and goes on" "$(off)"

# What the example does: queues, then processes; Slurm's own suspension is for root.
printf '%s\n' '#!/bin/sh' shift 'exec "$@"' > /tmp/node
chmod +x /tmp/node
state() { squeue -h -j $A -o %T; }
RUN=/tmp/node sh /t/gpq-slurm-suspend.sh suspend $A > /tmp/out 2>&1
is "gpq-slurm-suspend.sh suspend: $(cat /tmp/out)" "$? $(state) $(off)" "0 SUSPENDED $OF_A"
RUN=/tmp/node sh /t/gpq-slurm-suspend.sh resume $A > /tmp/out 2>&1
is "gpq-slurm-suspend.sh resume: $(cat /tmp/out)" "$? $(state) $(off)" "0 RUNNING "

# The process of no job computes all the time: the jobs make room, each whole.
gpq sched --online "pid=$NONE" --offline "job=$A" --offline "job=$B" --job-by job --max-hold 60s > /dev/null 2> /tmp/sched.err &
G=$!
held() { [ "$(off)" = "$(chosen --job $A,$B)" ]; }
within 60 held
is "gpq sched holds them" "$(off)" "$(chosen --job $A,$B)"
is "by job" "$(gpq sched --status --table jobs -rno JOB_BY | sort | xargs)" "$A $B"
command kill -TERM $G
wait $G
is "gpq sched ends: $(grep -v ' so far' /tmp/sched.err)" $? 0
empty "and lets all go" "$(off)"

scancel $A
within 60 sh -c "! squeue -h -o %i | grep -qx $A"
within 60 sh -c "! gpq queues --job $A > /dev/null 2>&1"
status_is "a job that was cancelled" 5 gpq queues --job $A
is "the others go on" "$(chosen)" "$(echo $OF_B $NONE | xargs -n 1 | sort -n | xargs)"
scancel $B
reap $NONE
pkill slurmd
pkill slurmctld
echo 1 > /sys/devices/system/cpu/cpu1/online
unload
kernel_is_content
finish
