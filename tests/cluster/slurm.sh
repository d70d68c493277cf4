#!/bin/bash
# gpq on a real Slurm of two nodes (tests/cluster/nodes): the commands of gpq-merge(1) as they stand there, ranks whose logs are digested
# where they lie, tasks that are killed and requeued, a job that is suspended, prolog and epilog. Sums are those that the generator counted, and the bytes those
# that gpq trace writes of the same logs on one machine.
export TMPDIR=/var/tmp # each node has a /tmp of its own
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"

if [ -z "${CLUSTER_INSIDE-}" ]; then
	[ "$(id -u)" = 0 ] || skip_all "Slurm and its namespaces need root"
	for c in slurmctld slurmd srun munged parallel; do
		command -v $c >/dev/null || skip_all "no $c: make deps-cluster"
	done
	unshare -m -n -p -u -f --mount-proc true 2>/dev/null || skip_all "no namespaces here"
	mkdir "$work/bin" "$work/hosts"
	cp "$bin/gpq" "$bin/gen-amdlog" "$work/bin"
	cat >"$work/bin/log" <<-'END' # SEED TRUTH PID: a log of a process
		#!/bin/sh
		gen-amdlog --release 7.0 --level 4 --lines 3000 --seed "$1" 2>"$2" | sed "s/\<4711\>/$3/"
	END
	chmod +x "$work/bin/log"
	cp -r "$top/tests/hosts/aql-gfx90a" "$work/hosts"
	cat >"$work/prolog" <<-END
		#!/bin/sh
		[ ! -e $work/watch ] || $work/bin/gpq --sysroot $work/hosts/aql-gfx90a snapshot $work/before-\$SLURMD_NODENAME.tar.zst
	END
	cat >"$work/epilog" <<-END
		#!/bin/sh
		[ -e $work/watch ] || exit 0
		cd $work
		bin/gpq --sysroot hosts/aql-gfx90a why -q >why-\$SLURMD_NODENAME
		status=\$?
		[ \$status != 7 ] || bin/gpq --sysroot hosts/aql-gfx90a snapshot -q after-\$SLURMD_NODENAME.tar.zst
		echo \$status >told
	END
	mkfifo "$work/told"
	"$top/tests/cluster/nodes" "$work" "$(realpath "$0")" "$work" || exit
	exit
fi

dir=$1 page=$top/man/gpq-merge.1
export PATH=$dir/bin:$PATH HOME=$dir
mkdir "$dir/jobs"

# The commands of the example in the page that has these words.
example() { # WORDS
	awk -v words="$1" '/^\.EX/ { text = ""; on = 1; next }
		/^\.EE/ { if (index(text, words)) printf "%s", text; on = 0 }
		on { sub(/^(\$|>) */, ""); text = text $0 "\n" }' <(sed "s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\e/\\\\/g" "$page")
}
job() { # OPTION... COMMANDS: within an allocation
	salloc -Q "${@:1:$#-1}" bash -c "${@: -1}"
}
begin() { # NAME: an empty folder that all nodes see
	mkdir "$dir/jobs/$1" && cd "$dir/jobs/$1" || exit
}
counts() { jq -c '.totals | [.records, .dispatches]'; } # of a report
truth() { cat "$@" | jq -sc '[(map(.records) | add), (map(.dispatches) | add)]'; } # of the generator

# One log in ranges, many logs: the page's commands, on this node and by tasks of both.
begin page
mkdir run
for i in 1 2 3 4; do log $i truth.$i 471$i >run/trace_471$i; done
gen-amdlog --release 7.0 --level 4 --lines 60000 >run.log 2>truth
size=$(stat -c %s run.log)
rig is "the log is of several megabytes" "$((size > 4000000 && size < 16000000))" 1
gpq trace run.log >whole 2>/dev/null
gpq trace run/trace_* >all 2>/dev/null
is "one machine has the generator's sums" "$(gpq trace -J run.log | counts) $(gpq trace -J run/trace_* | counts)" "$(truth truth) $(truth truth.?)"
bash -c "$(example ':::')" >got 2>/dev/null
same "GNU parallel, a process for each log" got all
bash -c "$(example 'seq 0 15')" >got 2>/dev/null
same "GNU parallel, in ranges" got whole
bash -c "$(example 'seq 0 15' | sed 's/G/M/g')" >got 2>/dev/null
same "GNU parallel, in smaller ranges" got whole
for unit in G M; do
	job -N2 -n16 "$(example '-n16' | sed "s/G/$unit/g")" >got 2>/dev/null
	same "srun -n16, in ranges of 1$unit" got whole
	is "from both nodes, $unit" "$(jq -s 'map(.rank) | sort == [range(16)]' part.*)" true
done
gpq merge --expect 16 -J part.* 2>err | counts >got
is "all sixteen are there" "$(cat got err)" "$(truth truth)"

# Logs on the disks of nodes, whose processes have equal ids.
begin disks
job -N2 -n4 'srun bash -c "log \$((SLURM_PROCID + 1)) truth.\$SLURMD_NODENAME.\$SLURM_PROCID 471\$SLURM_LOCALID >/tmp/trace_471\$SLURM_LOCALID"'
rig is "four logs" "$(ls truth.* | wc -l)" 4
by_host() { awk 'NR > 1 && $1 ~ /^n[12]$/ { sum[$1] += $8 } END { for (h in sum) print h, sum[h] }' "$1" | sort; }
dispatched() { for h in n1 n2; do echo "$h $(jq -s 'map(.dispatches) | add' truth.$h.*)"; done; }
job -N2 -n4 "$(example SLURM_JOB_NUM_NODES)" >by_queue 2>err
is "a task on each node reads its logs" "$(by_host by_queue)" "$(dispatched)"
is "which makes a file of parts for each node, and no doubles" "$(ls part.* | wc -l) $(grep -c 'counted once' err)" "2 0"
rm part.*
job -N2 -n4 "$(example SLURM_JOB_NUM_NODES | sed 's/-n $SLURM_JOB_NUM_NODES //; s/-o part.%n/-o part.%t/')" >got 2>err
same "without the number of nodes all tasks read: the same sums" got by_queue
is "and each log that was read again is told" "$(grep -c 'counted once' err)" "$(for h in n1 n2; do ls truth.$h.* | wc -l; done | awk '{ n += $1 * ($1 - 1) } END { print n }')"

# Each rank digests its own log. Process ids are those of containers: all equal.
begin ranks
cat >train <<-'END'
	#!/bin/bash
	[ ! -e die.$SLURM_PROCID ] || kill -9 $PPID
	log $((SLURM_PROCID + 1)) truth.$SLURM_PROCID 1 >&2
END
chmod +x train
digest=$(example SLURM_NTASKS)
ranks() { gpq merge -q --by process -rno HOST,RECORDS "$@"; }
of_rank() { for r; do echo "gpqhost.$r $(jq .records truth.$r)"; done; }
touch die.2
job -N2 -n4 "$digest" >got 2>err
is "a rank was killed: status" $? 3
is "its part is missing" "$(grep -o '3 parts.*' err)" "3 parts instead of 4: no part of rank 2; look what became of their tasks"
is "the others count" "$(ranks part.?)" "$(of_rank 0 1 3)"
for r in 0 1 3; do mv part.$r first.$r; done
rm die.2 log.2
job -N2 -n4 "$digest" >got 2>err
is "the job ran again: status" $? 0
is "all count" "$(ranks part.?)" "$(of_rank 0 1 2 3)"
gpq merge -qJ part.? | counts >all
is "as the generator has it" "$(cat all)" "$(truth truth.?)"
is "parts of both times: each rank counts once" "$(gpq merge --expect 4 -qJ part.? first.? | counts)" "$(cat all)"
for r in 0 1 2 3; do gpq trace --partial log.$r; done >nameless
is "without names each file has its own process" "$(gpq merge -q --by process -rno HOST,PID,RECORDS nameless)" \
	"$(for r in 0 1 2 3; do echo "log.$r 1 $(jq .records truth.$r)"; done)"

# A batch job is requeued while its log grows.
begin requeued
log 7 truth 4711 >all.log
half=$(($(stat -c %s all.log) / 2))
mkfifo told ever
exec 7<>told 8<>ever
cat >job.sh <<-END
	#!/bin/bash
	#SBATCH --requeue -n1
	n=\${SLURM_RESTART_COUNT:-0}
	[ \$n = 0 ] && head -c $half all.log >rank.log || tail -c +$((half + 1)) all.log >>rank.log
	gpq trace --partial --host \$SLURMD_NODENAME rank.log >part.\$n
	echo \$n >told
	[ \$n != 0 ] || read -r word <ever
END
id=$(sbatch --parsable job.sh)
read -rt 60 -u 7 first
scontrol requeue "$id"
read -rt 60 -u 7 second
rig is "it ran twice" "$first $second" "0 1"
for order in "part.0 part.1" "part.1 part.0"; do
	is "$order: one counts" "$(gpq merge -J $order 2>err | counts)" "$(truth truth)"
	is "$order: which is said" "$(grep -c 'bytes 0 to .* is in rank.log .*counted once' err)" 1
done

# gpq-slurm-suspend.sh, with the Slurm that stops processes, and a stand-in for gpq on the nodes, as there is no GPU: it notes what it is
# asked and the state of the job then, and fails on the node that the file `cannot` names.
begin suspended
cat >node <<-END
	#!/bin/sh
	node=\$1
	shift
	echo "\$(squeue -h -j \$4 -o %T) \$node \$*" >>$PWD/said
	[ "\$2 \$node" != "suspend \$(cat $PWD/cannot 2>/dev/null)" ]
END
cat >job.sh <<-'END'
	#!/bin/bash
	#SBATCH -N2 -n2
	srun sh -c 'echo $$ >pid.$SLURM_PROCID; echo >told; while :; do sleep 0.05; done'
END
chmod +x node
mkfifo told
exec 7<>told
id=$(sbatch --parsable job.sh)
read -rt 60 -u 7 && read -rt 60 -u 7
does() { # suspend|resume: status, state of the job, and what gpq was asked meanwhile
	: >said
	RUN=$PWD/node sh "$top/man/examples/gpq-slurm-suspend.sh" "$1" "$id" >out 2>&1
	echo "$? $(squeue -h -j "$id" -o %T) $(sort said | sed "s/ $id$/ JOB/" | paste -sd,)"
}
states() { cat pid.? | sed 's|.*|/proc/&/status|' | xargs sed -n 's/^State:\t\(.\).*/\1/p' | tr R S | sort -u | xargs; } # of the tasks of both nodes: S, T
await() { for ((i = 0; i < 600; i++)); do [[ $(states) != $1 ]] || break; sleep 0.1; done; states; } # PATTERN; slurmd is told later than scontrol
rig is "tasks on both nodes run" "$(ls pid.? | xargs) $(await S)" "pid.0 pid.1 S"
is "a job is suspended: queues while it runs, then processes" "$(does suspend)" \
	"0 SUSPENDED RUNNING n1 gpq suspend --job JOB,RUNNING n2 gpq suspend --job JOB"
is "its tasks are stopped" "$(await T)" T
is "it goes on: processes, then queues" "$(does resume)" "0 RUNNING RUNNING n1 gpq resume --job JOB,RUNNING n2 gpq resume --job JOB"
is "its tasks run" "$(await S)" S
echo n2 >cannot
is "a node cannot hold its queues: the others let go" "$(does suspend)" "1 RUNNING RUNNING n1 gpq resume --job JOB,RUNNING n1 gpq suspend --job JOB,RUNNING n2 gpq resume --job JOB,RUNNING n2 gpq suspend --job JOB"
is "which is said" "$(cat out)" "gpq-slurm-suspend: job $id runs on: its queues could not be held on n2 "
is "and its tasks run" "$(states)" S
scancel "$id"

# Prolog and epilog: what was on the GPUs before, and what stands still after.
exec 7<>"$dir/told"
touch "$dir/watch"
job -N2 -n2 true
read -rt 60 -u 7 one && read -rt 60 -u 7 other
rm "$dir/watch"
is "gpq why in the epilog of each node" "$one $other" "7 7"
cd "$dir" || exit
gpq --sysroot hosts/aql-gfx90a why -q >why
rig is "one of its queues waits for itself" "$(grep -c '^ *4712 .* deadlock' why)" 2
for h in n1 n2; do
	is "$h: the queues before the job" "$(gpq --sysroot before-$h.tar.zst queues -rno PID,QID)" "$(gpq --sysroot hosts/aql-gfx90a queues -rno PID,QID)"
	same "$h: what is stuck" why-$h why
done
is "the evidence of both, side by side" "$(gpq hang --merge -qJ after-n1.tar.zst after-n2.tar.zst | jq -c '[.ranks[].pid] | sort')" \
	"[4711,4711,4712,4712,4713,4713]"
finish
