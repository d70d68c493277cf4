#!/bin/sh
# Waits until a queue of a job hangs, keeps the evidence (gpq hang), then runs a command that ends or restarts the job.
#
#   sh gpq-watchdog.sh DIR COMMAND SELECTOR...
#   sh gpq-watchdog.sh /var/lib/gpq 'systemctl restart train' --cgroup /system.slice/train.service
#
# DIR gets the archives; SELECTORs are those of gpq why: --cgroup PATH, --pod NAME, --container NAME, -p PID --tree. AFTER=5m is
# how long a queue has to stand: longer than the longest kernel of the job. EVERY=30 is the time between two looks in seconds.
# EXT=.tar.gz is the form of the archives, EXT= makes folders.
# Run it as root. Before the job has queues, and after it has ended, it goes on looking; it ends with the status of COMMAND.
set -eu
[ $# -ge 3 ] || { sed -n 's/^#   //p' "$0" >&2; exit 2; }
dir=$1 command=$2
shift 2

# 0: all move; 3: some cannot be judged; 5: no such process, or it has no queues; 7: a queue is stuck. Anything else does not
# get better by waiting.
while :; do
	status=0
	verdict=$(gpq why "$@" --stuck-after "${AFTER:-5m}" 2>&1) || status=$?
	case $status in
	0 | 3 | 5) sleep "${EVERY:-30}" ;;
	7) break ;;
	*) echo "$verdict" >&2; exit $status ;;
	esac
done
echo "$verdict"

# The job has to go on, whether the evidence could be kept or not.
gpq hang "$@" "$dir/hang-$(date -u +%Y%m%dT%H%M%SZ)${EXT-.tar.gz}" || echo "gpq-watchdog: the evidence was not kept" >&2
exec sh -c "$command"
