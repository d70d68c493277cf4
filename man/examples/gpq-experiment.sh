#!/bin/sh
# What does it cost to take offline work off the GPU, and is online work then as fast as alone? An experiment of gpq's commands.
#
#   sh gpq-experiment.sh DIR ONLINE OFFLINE [OPTION...]
#
# ONLINE and OFFLINE are commands: ONLINE ends by itself, OFFLINE is ended. OPTIONs are those of gpq bench ab, such as
# --metric 'took ([0-9.]+) ms', but no --require: limits are judged at the end. Run it as root. DIR gets all results, the exit
# status is 0 if every limit was shown to be kept, 8 if that takes more samples.
set -eu
dir=$1 online=$2 offline=$3
shift 3
mkdir -p "$dir"

# Each alone, both together, and offline suspended whenever online has work: three times each. Which queues do both have, are
# their ids the same each time, what do they share?
gpq bench ab --online-cmd "$online" --offline-cmd "$offline" --runs 3 --burst-on progress --samples "$dir/ab.ndjson" "$@" > "$dir/ab.txt"

# How long do suspending and resuming take? The offline work alone, once a queue of it has taken a packet.
setsid sh -c "$offline" > "$dir/offline.log" 2>&1 &
job=$!
trap 'kill -- -$job' EXIT
gpq queues -p $job --tree --filter 'READ_NOW > 0' --wait 1 --timeout 5m > "$dir/queues.txt"
gpq bench preempt -p $job --tree --cycles 300 --samples "$dir/preempt.ndjson" > "$dir/preempt.txt"

# One report of both, and the limits.
gpq bench report --html "$dir/report.html" --require 'online slowdown < 10%' --require 'offline effect < 5%' \
	--require 'suspend p99 < 10ms' --require 'resume p99 < 10ms' "$dir/ab.ndjson" "$dir/preempt.ndjson" > "$dir/report.md"
