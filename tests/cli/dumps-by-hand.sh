#!/bin/bash
# Folders with mqds, hqds and rls that somebody copied from debugfs by hand, with or without .txt, as hosts: against the dumps
# in them and what the recording program said (TRUTH). TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
hosts=$top/tests/hosts
cd "$work" || exit 1

copy() { # HOST FOLDER SUFFIX NAME...: the dumps NAME of HOST
	local from=$hosts/$1/sys/kernel/debug/kfd to=$2 suffix=$3 name
	mkdir -p "$to"
	for name in "${@:4}"; do cp "$from/$name" "$to/$name$suffix"; done
}
said() { # FOLDER ARGUMENT...: what gpq prints on both streams, and its exit status
	gpq --sysroot "$@" 2>&1
	echo "exit $?"
}

copy vm-gfx942-running before .txt mqds hqds rls
copy vm-gfx942-suspended after "" mqds hqds rls
truth=$hosts/vm-gfx942-suspended/TRUTH
# PID, type, ring and priority of each queue, from what the program that made it said
created() { awk '/^mkqueue .*ring_base/ { sub(":", "", $2); print $2, $8 == 1 ? "sdma" : "compute", $12, $8 == 1 ? "-" : $16 }' "$truth" | sort; }

# --- queues and slots ---

for folder in before after; do
	is "$folder: queues, as they were made" "$(gpq --sysroot $folder queues -rno PID,TYPE,RING_ADDR,PRIO | sort)" "$(created)"
	is "$folder: MQDs" "$(gpq --sysroot $folder hqd --mqd -rno PID,TYPE,RING_ADDR,PRIO | sort -u)" "$(created)"
done
is "what the dumps do not tell is unknown, the process is not called gone" \
	"$(gpq --sysroot before queues -rno QID,COMMAND,PROCESS,CONTAINER,INDEX,BDF,GFX | sort -u)" "- - - - - - -"
is "by default there are the columns of queues --mqds" "$(gpq --sysroot before queues | head -1)" "$(gpq queues --mqds before/mqds.txt | head -1)"
is "-v tells why" "$(gpq --sysroot before queues -v 2>&1 >/dev/null | grep -c 'no sysfs and /proc, only dumps of debugfs: names')" 1
is "slots that are in use, and whose they are" "$(gpq --sysroot before hqd -rno TYPE,PID,RING_ADDR | grep -v hiq | sort -u)" \
	"$(created | awk '{ print $2, $1, $3 }' | sort)"
is "... as many as have bit 0 in the third register, by XCC" "$(gpq --sysroot before hqd -rno TYPE,XCC | grep -c compute)" \
	"$(grep -A1 'CP Pipe' before/hqds.txt | awk '$4 ~ /1$/' | wc -l)"
is "a process" "$(gpq --sysroot before hqd -p 665 -rno PID | sort -u) $(gpq --sysroot after queues -p 665 -rno PID)" "665 665"
gpu=$(sed -n 's/^  Compute queue on device //p;T;q' before/mqds.txt)
is "a GPU, by its gpu_id" "$(gpq --sysroot before queues --gpu "$gpu" -c) $(gpq --sysroot before hqd --gpu $((16#$gpu)) --active -c)" \
	"$(created | wc -l) $(gpq --sysroot before hqd -c)"
copy vm73-gfx90a-oversubscribed many .txt mqds hqds rls
is "a summary: slots, those used, mapped queues" "$(gpq --sysroot many hqd --summary --table occupancy -rno TYPE,SLOTS,USED,QUEUES,OVERSUB)" \
	"compute $(grep -c 'CP Pipe' many/hqds.txt) $(grep -A1 'CP Pipe' many/hqds.txt | awk '$4 ~ /1$/' | wc -l) $(grep -c 'Compute queue on device' many/mqds.txt) yes
sdma 40 0 0 no"
tar -czf before.tar.gz before
is "an archive of such a folder" "$(gpq --sysroot before.tar.gz queues -c)" "$(created | wc -l)"

# --- two of them ---

read -r q1 q2 pid < <(sed -nE 's/.*queues ([0-9]+) and ([0-9]+) of process ([0-9]+) are suspended.*/\1 \2 \3/p' "$hosts/vm-gfx942-suspended/HOW")
is "off are the queues that were suspended" \
	"$(gpq snapshot --diff before after -rno PID,CHANGE,RING_ADDR_AFTER | grep -w off | sed 's/off[^ ]* //' | sort)" \
	"$(for q in "$q1" "$q2"; do sed -nE "s/^mkqueue $pid: queue $q .*ring_base (0x[0-9a-f]+).*/$pid \1/p" "$truth"; done | sort)"
is "all as between the whole hosts" "$(gpq snapshot --diff before after -rno PID,TYPE,CHANGE,CONSUMED,SUBMITTED,UNIT,DETAIL | sort)" \
	"$(gpq snapshot --diff "$hosts"/vm-gfx942-{running,suspended} -rno PID,TYPE,CHANGE,CONSUMED,SUBMITTED,UNIT,DETAIL | sort)"
is "DOORBELL names queues, QID is unknown" "$(gpq snapshot --diff before after -ro +DOORBELL | head -1 | grep -c DOORBELL) $(gpq snapshot --diff before after -rno QID | sort -u)" "1 -"
is "... and is not shown where queues have ids" "$(gpq snapshot --diff "$hosts"/vm-gfx942-{running,suspended} | grep -owE 'QID|DOORBELL')" QID
is "nothing between one and itself" "$(gpq snapshot --diff before before -c)" 0
is "the debugfs of a snapshot is such a folder" "$(gpq snapshot --diff before "$hosts/vm-gfx942-suspended/sys/kernel/debug/kfd" -c)" \
	"$(gpq snapshot --diff before after -c)"
# The last process of the dump goes, with as many queues as it has.
awk -v last="$(grep -n ^Process before/mqds.txt | tail -1 | cut -d: -f1)" 'NR < last' before/mqds.txt >cut
mkdir gone && mv cut gone/mqds && cp before/hqds.txt gone/hqds
is "queues went and came" "$(gpq snapshot --diff before gone -rno CHANGE,PID | grep -v stalled) $(gpq snapshot --diff gone before -rno CHANGE,PID | grep -v stalled)" \
	"$(awk '/^Process/ { p = $2; n = 0 } / queue on / { n++ } END { for (i = 0; i < n; i++) print "went", p }' before/mqds.txt) $(
		awk '/^Process/ { p = $2; n = 0 } / queue on / { n++ } END { for (i = 0; i < n; i++) print "came", p }' before/mqds.txt)"
# Another MQD at the same doorbell (dword 128 of its first XCC, the only one) is another queue.
copy gfx90a-k6.12 first "" mqds && cp -r first second
perl -0pi -e 's/(Process 52880.*?\n    00000200: )([0-9a-f]{8})/${1}01409000/s' second/mqds
is "a doorbell was given out again" "$(gpq snapshot --diff first second -rno PID,CHANGE,DOORBELL)" "52880 went 0x6000
52880 came 0x6000"

# --- a part of the dumps ---

mend="save a copy of that file of /sys/kernel/debug/kfd there, too"
copy gfx90a-k6.12 runlist .txt rls
is "only rls: no slots" "$(said runlist hqd)" "gpq: hqd: runlist: hqds or hqds.txt: No such file or directory; $mend
exit 5"
is "... no queues" "$(said runlist queues)" "gpq: queues: runlist: mqds or mqds.txt: No such file or directory; $mend
exit 5"
is "... no MQDs" "$(said runlist hqd --mqd)" "gpq: hqd: runlist: mqds or mqds.txt: No such file or directory; $mend
exit 5"
is "... but a runlist: c0..a1.. is MAP_PROCESS, c0..a2.. MAP_QUEUES" "$(gpq --sysroot runlist hqd --runlist -rno PACKET | sort | uniq -c | xargs)" \
	"$(grep -oE 'c0[0-9a-f]{2}a1' runlist/rls.txt | wc -l) MAP_PROCESS $(grep -oE 'c0[0-9a-f]{2}a2' runlist/rls.txt | wc -l) MAP_QUEUES"
is "... and nothing is said to have gone" "$(gpq snapshot --diff first runlist 2>&1; echo "exit $?")" \
	"gpq: snapshot: runlist: mqds or mqds.txt: No such file or directory; $mend
exit 5"
copy gfx90a-k6.12 slots "" hqds
is "only hqds: slots without owners" "$(gpq --sysroot slots hqd -rno PID,COMMAND | sort -u) $(gpq --sysroot slots hqd -c)" \
	"- - $(gpq hqd --hqds slots/hqds -c)"
is "... no runlist" "$(said slots hqd --runlist)" "gpq: hqd: slots: rls or rls.txt: No such file or directory; $mend
exit 5"
is "only mqds: queues" "$(gpq --sysroot first queues -c)" "$(grep -c ' queue on ' first/mqds)"
is "... whose progress is unknown" "$(gpq snapshot --diff -a -v first first 2>&1 >/dev/null | grep -c 'hqds: No such file or directory: slots are unknown')" 2

# --- what is none, and what it cannot tell ---

mkdir empty folder folder/mqds.txt part part/mqds.txt && cp before/hqds.txt part
none="no KFD driver here: /sys/class/kfd/kfd: No such file or directory; the recorded host has none: is it the right directory?"
for host in empty folder; do
	is "$host: no host" "$(said $host hqd)" "gpq: hqd: $none
exit 6"
	is "$host: no moment" "$(gpq snapshot --diff before $host 2>&1; echo "exit $?")" \
		"gpq: snapshot: $host: no KFD driver: /sys/class/kfd/kfd: No such file or directory; is it a directory that gpq snapshot made?
exit 6"
done
is "a folder where a dump should be" "$(said part hqd)" "gpq: hqd: part: mqds or mqds.txt: Is a directory; $mend
exit 1"
ln -s /etc/hostname escape && mkdir out && mv escape out/mqds
is "a link that leads out of the folder" "$(said out queues)" "gpq: queues: out: mqds or mqds.txt: No such file or directory; $mend
exit 5"
is "other commands need a host" "$(said before ps)" \
	"gpq: ps: no KFD driver here: /sys/class/kfd/kfd: No such file or directory; of dumps alone there are gpq hqd, queues, why and snapshot --diff
exit 6"
is "... so do sums" "$(said before queues --summary | tail -1)" "exit 6"
is "only PIDs choose processes" "$(said before queues --comm mkqueue)" \
	"gpq: queues: the recorded host has only dumps: it tells nothing but PIDs; choose by -p
exit 6"
is "a PID that no queue has" "$(said before queues -p 9; said before hqd -p 9)" "gpq: queues: pid 9: owns no queue in before
exit 5
gpq: hqd: pid 9: owns no queue in before
exit 5"
is "a GPU that is not there" "$(said before hqd --gpu 7)" \
	"gpq: hqd: there is no GPU 7 in the files; dumps name GPUs by gpu_id alone, not by index or address
exit 5"
is "ids are not compared with a whole host's" "$(gpq snapshot --diff before "$hosts/vm-gfx942-suspended" 2>&1; echo "exit $?")" \
	"gpq: snapshot: before has dumps alone, in which queues have no ids; compare with the folder sys/kernel/debug/kfd of the other one
exit 6"
is "nor runs" "$(gpq snapshot --compare before after 2>&1; echo "exit $?")" \
	"gpq: snapshot: before has dumps alone, in which queues have no ids; --diff compares two of them
exit 6"
finish
