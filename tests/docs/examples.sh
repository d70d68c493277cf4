#!/bin/bash
# The service and the examples: their form, and that gpq has the options they give. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
unit=$top/man/gpq-sched.service
docker=$top/man/examples/gpq-sched-container.sh
pods=$top/man/examples/gpq-sched-kubernetes.yaml
conf=$top/man/examples/gpq-sched.conf

sed "s|/usr/local/bin/gpq|$bin/gpq|" "$unit" | tee "$work/gpq-sched.service" >"$work/gpq-sched@left.service"
if command -v systemd-analyze >/dev/null; then
	for u in gpq-sched gpq-sched@left; do
		rig ok "systemd takes $u" systemd-analyze verify --man=no "$work/$u.service"
		# Words it does not know are warnings only.
		rig empty "every word of it" "$(systemd-analyze verify --man=no "$work/$u.service" 2>&1 | grep gpq-sched)"
	done
else
	pass "systemd takes the unit # skip systemd-analyze is not installed"
fi
# A container binds the folder of the socket, and has that of the next start then, too.
rig is "a restart leaves the folder" "$(grep -c '^RuntimeDirectoryPreserve=yes$' "$unit")" 1
rig ok "there are descriptors for the bounds of gpq-security(7)" test "$(sed -n 's/^LimitNOFILE=//p' "$unit")" -ge 16384
# The watchdogs of gpq-hang(1): the unit for a service, and what the scripts run.
examples=$top/man/examples
if command -v systemd-analyze >/dev/null; then
	sed 's|/usr/local/libexec/|'"$examples"'/|' "$examples/gpq-watchdog@.service" >"$work/gpq-watchdog@train.service"
	printf '[Service]\nExecStart=/bin/sleep 9\n' >"$work/train.service"
	rig empty "systemd takes the watchdog's unit" "$(systemd-analyze verify --man=no "$work/gpq-watchdog@train.service" 2>&1 | grep gpq-watchdog)"
fi
for f in gpq-watchdog.sh gpq-slurm-epilog.sh gpq-liveness-kubernetes.yaml; do
	for command in why hang; do
		sed -nE "/^ *#/d; s/.*gpq $command (.*)/\1/; t found; d; :found; s/[;|>].*//; p" "$examples/$f" | tr ' ' '\n' | sed -n '/^--[a-z]/p' | sort -u >"$work/uses"
		[ -s "$work/uses" ] || continue
		empty "$f: options that gpq $command has" "$(gpq $command --help | tr ' ' '\n' | sed -n '/^--[a-z]/p' | sort -u | comm -13 - "$work/uses")"
	done
done
rig is "the epilog minds the queues of the job alone" "$(SLURM_JOB_ID=none-such sh "$examples/gpq-slurm-epilog.sh" 2>&1; echo $?)" 0
# A job of Slurm is suspended on all of its nodes, or on none. Stand-ins for what the script runs: node NODE COMMAND... says what
# it is asked, and fails where the words of FAIL are among these.
suspends=$examples/gpq-slurm-suspend.sh
mkdir "$work/slurm"
printf '#!/bin/sh\necho "${JOBS-7 n[1-2]}"\n' >"$work/slurm/squeue"
printf '#!/bin/sh\n[ "$1" = show ] && { echo n1; echo n2; exit; }\necho "scontrol $*" >>"$SAID"\n' >"$work/slurm/scontrol"
printf '#!/bin/sh\necho "$*" >>"$SAID"\ncase "$*" in *"$FAIL"*) exit "$WITH" ;; esac\n' >"$work/slurm/node"
chmod +x "$work"/slurm/*
job() { # WORDS-THAT-FAIL THEIR-STATUS suspend|resume: what was run, in any order of the nodes, and the status
	: >"$work/said"
	FAIL=$1 WITH=$2 SAID=$work/said RUN=node PATH=$work/slurm:$PATH sh "$suspends" "$3" 7 2>&1
	echo "$? $(sort "$work/said" | paste -sd,)"
}
rig is "a job is suspended: queues, then processes" "$(job none 0 suspend; tail -1 "$work/said")" \
	"0 n1 gpq suspend --job 7,n2 gpq suspend --job 7,scontrol suspend 7
scontrol suspend 7"
rig is "a node where it has no queue is none that failed" "$(job 'n2 gpq suspend' 5 suspend)" "0 n1 gpq suspend --job 7,n2 gpq suspend --job 7,scontrol suspend 7"
rig is "no node where it has one: nothing is stopped" "$(job gpq 5 suspend)" \
	"gpq-slurm-suspend: job 7 has no queue that gpq sees: is it known by its control group (gpq-cluster(7))?
1 n1 gpq suspend --job 7,n2 gpq suspend --job 7"
rig is "an array is not one job" "$(JOBS='8 n1
9 n2' job none 0 suspend)" "gpq-slurm-suspend: 7: not one running job; of an array name one: squeue -o '%A %i'
2 "
rig is "an element of it is" "$(JOBS='9 n1' job none 0 suspend)" "0 n1 gpq suspend --job 9,n2 gpq suspend --job 9,scontrol suspend 9"
rig is "one node cannot: the others let go" "$(job 'n2 gpq suspend' 4 suspend)" "gpq-slurm-suspend: job 7 runs on: its queues could not be held on n2 
1 n1 gpq resume --job 7,n1 gpq suspend --job 7,n2 gpq resume --job 7,n2 gpq suspend --job 7"
rig is "it goes on: processes, then queues" "$(job none 0 resume; head -1 "$work/said")" "0 n1 gpq resume --job 7,n2 gpq resume --job 7,scontrol resume 7
scontrol resume 7"
rig is "what does not come back is said" "$(job 'n1 gpq resume' 1 resume)" "gpq-slurm-suspend: job 7: its queues did not come back on n1 
1 n1 gpq resume --job 7,n2 gpq resume --job 7,scontrol resume 7"
rig is "how it is used" "$(sh "$suspends" suspend 2>&1; echo $?)" "$(sed -n 's/^#   //p' "$suspends")
2"
# Metrics for Prometheus: a file for each listing that a recorded host has, and no other; an old one goes.
metrics=$examples/prometheus
mkdir "$work/metrics"
touch "$work/metrics/gpq_sched.prom"
is "the script of metrics fails where a listing does" "$(GPQ_SYSROOT=$top/tests/hosts/gfx90a-k6.12 sh "$metrics/gpq-metrics.sh" "$work/metrics" 2>/dev/null >&2; echo $?)" 1
is "it leaves a whole file for each of the others" "$(cd "$work/metrics" && for f in *; do echo "$f $(grep -c '^gpq_' "$f" | sed 's/[1-9][0-9]*/some/') $(tail -n 1 "$f")"; done)" \
	"gpq_gpus.prom some # EOF
gpq_hqd.prom some # EOF
gpq_ps.prom some # EOF
gpq_queues.prom some # EOF
gpq_why.prom some # EOF"
sed -nE 's/^listing [a-z]+ (.*)/\1/p' "$metrics/gpq-metrics.sh" >"$work/listings"
rig is "its listings" "$(wc -l <"$work/listings")" 7
# shellcheck disable=SC2046 # several words
empty "options that gpq has" "$(while read -r command options; do gpq "$command" --help >"$work/help"; for o in $options --openmetrics; do grep -qE -- "^ .*$o( |\$)" "$work/help" || echo "$command $o"; done; done <"$work/listings")"
if command -v systemd-analyze >/dev/null; then
	sed 's|/usr/local/libexec/|'"$metrics"'/|' "$metrics/gpq-metrics.service" >"$work/gpq-metrics.service"
	cp "$metrics/gpq-metrics.timer" "$work"
	rig empty "systemd takes the units of metrics" "$(systemd-analyze verify --man=no "$work/gpq-metrics.service" "$work/gpq-metrics.timer" 2>&1 | grep gpq-metrics)"
fi
# What README.md shows of the experiment.
sed -n '/^<!-- of man.examples.gpq-experiment.sh -->/,/^```$/p' "$top/README.md" | sed '1,2d;$d' >"$work/shown"
rig is "the experiment of the README has its three parts" "$(grep -oE '^gpq bench [a-z]+' "$work/shown" | xargs)" "gpq bench ab gpq bench preempt gpq bench report"
rig empty "each line of it is one of the script" "$(grep -vxFf "$top/man/examples/gpq-experiment.sh" "$work/shown")"
rig ok "the container's script is one" sh -n "$docker"
rig is "it says how it is used" "$(sh "$docker" 2>&1; echo $?)" "$(sed -n 's/^#   //p' "$docker" | head -n 2)
2"
if python3 -c 'import yaml' 2>/dev/null; then
	rig is "the manifest has a scheduler and a client" \
		"$(python3 -c 'import sys, yaml; print(*[d["kind"] for d in yaml.safe_load_all(open(sys.argv[1]))])' "$pods")" "DaemonSet Pod"
else
	pass "the manifest # skip python3-yaml is not installed"
fi

# What each of them runs, of a recorded host and without looking for anything: gpq takes all of the words.
words() { # FILE: the options of its gpq sched
	sed -n '/gpq.*sched.*--online/,/--group/p' "$1" | grep -v '^[[:space:]]*#' | grep -oE -- '--(online|offline|share|socket|group|max-hold|idle|period)\b' | sort -u
}
if gpq --list | grep -x sched >/dev/null; then
	gpq sched --help | grep -oE '^  (-.,|   ) --[a-z-]+' | grep -oE -- '--[a-z-]+' | sort >"$work/options"
	for f in "$docker" "$pods"; do
		empty "${f##*/}: options that gpq sched has" "$(words "$f" | comm -23 - "$work/options")"
		is "${f##*/}: which are these" "$(words "$f" | grep -cE -- '--(online|offline|socket|group)$')" 4
	done
	ok "the file of the unit is right" gpq sched --config "$conf" --check-config
	is "also on a host" "$(gpq --sysroot "$top/tests/hosts/gfx90a-k6.12" sched -q --dry-run --config "$conf" 2>&1 >/dev/null; echo $?)" 0
	sed 's/^offline = /&nosuch=/' "$conf" >"$work/wrong.conf"
	is "unlike this one" "$(gpq sched --config "$work/wrong.conf" --check-config 2>/dev/null; echo $?)" 2
else
	pass "options # skip there is no gpq sched"
fi
finish
