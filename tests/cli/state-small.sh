#!/bin/bash
# Small hosts and dumps made by hand, for values that no recorded host has. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
h=$top/tests/hosts/gfx90a-k6.12
cd "$work" || exit 1

# --- runlists: an SDMA engine is 2 and more less 2, or, where bits 3:2 say so, a number from 0 or from 8 on ---

cat >rls <<'END'
Node 1, gpu_id a1f4:
  00000000: c005a200 14000004 00004000 01000000 00000000 00000000 00000000 c005a200
  00000020: 04000008 00004008 01001000 00000000 00000000 00000000 c005a200 1c000000
  00000040: 00004010 01002000 00000000 00000000 00000000
END
is "engines 5, 8 + 1 and 7 - 2" "$(gpq hqd --rls rls --runlist -J | jq -c '[.packets[].engine]')" "[5,9,5]"

# --- slots: as many queues as slots; a slot with another ring, and one with another doorbell ---

slot() { # QUEUE MQD RING DOORBELL STATUS
	printf ' Inst 0,  CP Pipe 0, Queue %s\n' "$1"
	printf '    0000c914: %s 00000000 00000001 00000808 40005301 00000001 00000007 00000111\n' "$2"
	printf '    0000c934: %s 0000007f 00000000 5d0b2080 00007f2a 5d0b2038 00007f2a %s\n    0000c994: %s\n' "$3" "$4" "$5"
}
mqd() { # MQD RING DOORBELL
	printf '  Compute queue on device a1f4\n    00000000: c0310800\n    000001e0: 00000000\n'
	printf '    00000200: %s 00000000 00000001 00000808 40005301 00000001 00000007 00000111\n' "$1"
	printf '    00000220: %s 0000007f 0000d1b0 5d0b2080 00007f2a 5d0b2038 00007f2a %s\n' "$2" "$3"
}
{ echo "Process 7 PASID 0x1:" && mqd 013ae000 2a402000 6000400a && mqd 013c2000 2a400000 60004012; } >mqds
{ echo "Node 1, gpu_id a1f4:" && slot 0 013ae000 2a402000 6000400a 40004000 && slot 1 013c2000 2a400000 60004012 00004000; } >hqds
is "exactly full is not over-subscribed" \
	"$(gpq hqd --hqds hqds --mqds mqds --summary -J 2>/dev/null | jq -c '.occupancy[] | [.slots, .used, .free, .oversubscribed]')" "[2,2,0,false]"
is "idle, and not" "$(gpq hqd --hqds hqds --mqds mqds -J 2>/dev/null | jq -c '[.slots[] | [.pid, .match, .idle]]')" '[[7,"mqd",true],[7,"mqd",false]]'
{ echo "Node 1, gpu_id a1f4:" && slot 0 013ae000 2a403000 6000400a 0 && slot 1 01000000 2a400000 6000401a 0; } >hqds
is "another ring, another doorbell: another queue" "$(gpq hqd --hqds hqds --mqds mqds -J 2>/dev/null | jq -c '[.slots[].pid]')" "[null,null]"

is "one process of two is in a runlist" "$(gpq --sysroot "$h" hqd --runlist -p 41207,999999 >/dev/null 2>&1; echo $?)" 3

# --- edited hosts ---

cp -r "$h" idle
p=idle/sys/class/kfd/kfd/proc/41207
rm -r $p/queues/*
echo 500 >$p/vram_41460
echo 1000 >$p/vram_2
is "an idle process: memory of all GPUs, and no occupancy" \
	"$(gpq --sysroot idle queues -a -p 41207 -J --output-all 2>/dev/null | jq -c '.queues[] | [.vram_bytes, .cu_occupancy]')" "[1500,null]"
sed -i 's/^\(52880 (.*)\) ./\1 Z/' idle/proc/52880/stat
sed -i 's/^State:.*/State:\tZ (zombie)/' idle/proc/52880/status
is "a zombie" "$(gpq --sysroot idle queues -p 52880 -rno PROCESS 2>/dev/null)" zombie
mkdir -p idle/proc/sys/kernel
echo 6.5.0 >idle/proc/sys/kernel/osrelease
is "Linux 6.5 can suspend" "$(gpq --sysroot idle gpus --check -J | jq -r '.checks[] | select(.check == "kernel").status')" ok
mkdir -p idle/sys/module/amdgpu/parameters
echo 2 >idle/sys/module/amdgpu/parameters/sched_policy
is "without a scheduler there is no runlist" "$(gpq --sysroot idle hqd --runlist -J 2>/dev/null | jq '[.packets[] | select(.packet == "MAP_QUEUES")] | length')" 0
gpq --sysroot "$h" snapshot saved -J >saved.json 2>/dev/null
is "unreadable files are those that the manifest calls so" "$(jq '.snapshots[0].unreadable' saved.json)" \
	"$(awk -F'\t' 'NF == 5 && $1 == "-"' saved/MANIFEST | wc -l)"

# --- bench report ---

d=$top/tests/data/bench/old.ndjson
jq -c '.suspend_ns *= 10' $d >slow.ndjson
verdict() { gpq bench report --compare "$1" "$2" -J 2>/dev/null | jq -r 'first(.changes[] | select(.metric == "suspend").verdict)'; }
is "ten times as long is slower" "$(verdict $d slow.ndjson)" slower
is "and backwards faster" "$(verdict slow.ndjson $d)" faster
is "the same file twice is said" "$(gpq bench report $d $d 2>&1 >/dev/null | grep -c 'were read before')" 1
is "a share above 100 % is none" "$(gpq bench report --goal effect=101 $d >/dev/null 2>&1; echo $?)" 2
jq -c '.run = "a|b"' $d >bar.ndjson
is "a bar does not end a cell" "$(gpq bench report bar.ndjson 2>/dev/null | sed -n 's/^## \(a.*\)/\1/p')" 'a\|b'

is "resume --all excludes --container" "$(gpq resume --all --container x >/dev/null 2>&1; echo $?)" 2

finish
