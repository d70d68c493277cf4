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
	"$(may 3 gpq hqd --hqds hqds --mqds mqds --summary -J 2>/dev/null | jq -c '.occupancy[] | [.slots, .used, .free, .oversubscribed]')" "[2,2,0,false]"
is "idle, and not" "$(may 3 gpq hqd --hqds hqds --mqds mqds -J 2>/dev/null | jq -c '[.slots[] | [.pid, .match, .idle]]')" '[[7,"mqd",true],[7,"mqd",false]]'
{ echo "Node 1, gpu_id a1f4:" && slot 0 013ae000 2a403000 6000400a 0 && slot 1 01000000 2a400000 6000401a 0; } >hqds
is "another ring, another doorbell: another queue" "$(may 3 gpq hqd --hqds hqds --mqds mqds -J 2>/dev/null | jq -c '[.slots[] | [.active, .pid]]')" "[[true,null],[true,null]]"

is "one process of two is in a runlist" "$(gpq --sysroot "$h" hqd --runlist -p 41207,999999 >/dev/null 2>&1; echo $?)" 3

# As many queues as slots, and yet a runlist that is chained: both processes use GWS (dword 13, bits 6:0), or one does.
{ echo "Node 1, gpu_id a1f4:" && slot 0 013ae000 2a402000 6000400a 40004000 && slot 1 013c2000 2a400000 60004012 00004000; } >hqds
gws() { # OF-THE-FIRST OF-THE-SECOND
	printf 'Node 1, gpu_id a1f4:\n'
	printf '  00000000: c00ca100 00000001 00000000 00000000 00000000 00000000 00000000 00000000\n'
	printf '  00000020: 00000000 00000000 00000000 00000000 00000000 %s c00ca100 00000002\n' "$1"
	printf '  00000040: 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n'
	printf '  00000060: 00000000 00000000 00000000 %s c002a500 00000000 00000000 00000000\n' "$2"
}
why() { gws "$1" "$2" >rls && may 3 gpq hqd --hqds hqds --mqds mqds --rls rls --summary -J 2>/dev/null | jq -c '.occupancy[] | [.oversubscribed, .oversubscribed_by]'; }
is "over-subscribed by two processes with GWS" "$(why 00000040 00000001)" '[true,"gws"]'
is "one with GWS is not what there is too much of" "$(why 00000040 00000080)" '[true,"processes"]'

# One slot, two queues. Who shares the GPU is asked of compute queues alone.
{ echo "Node 1, gpu_id a1f4:" && slot 0 013ae000 2a402000 6000400a 40004000; } >hqds
is "--sdma leaves the processes that share a GPU" \
	"$(may 3 gpq hqd --hqds hqds --mqds mqds --summary --sdma -J 2>/dev/null | jq -c '[[.occupancy[].type], [.sharers[] | [.pid, .mapped, .in_slot]]]')" '[[],[[7,2,1]]]'

# --- edited hosts ---

cp -r "$h" left
sed -i 's/^    00000000: 08061024 2a3f0000/    00000000: 08061024 2a3e0000/' left/sys/kernel/debug/kfd/mqds
is "an SDMA slot with a ring that no queue has is left over" \
	"$(gpq --sysroot "$h" hqd --sdma -J 2>/dev/null | jq -c '[.slots[] | select(.active)] | length'; gpq --sysroot left hqd --sdma -J 2>/dev/null | jq -c '[.slots[] | select(.active)] | length')" "1
0"

is "without MQDs nothing tells that it is" \
	"$(gpq hqd --hqds "$h/sys/kernel/debug/kfd/hqds" --sdma -J 2>/dev/null | jq -c '[.slots[] | select(.active)] | length')" 1

# A process that is off one GPU altogether and runs on another: evicted there.
cp -r "$top/tests/hosts/vm-gfx90a-evicted" two
cp -r two/sys/class/kfd/kfd/topology/nodes/1 two/sys/class/kfd/kfd/topology/nodes/2
echo 4660 >two/sys/class/kfd/kfd/topology/nodes/2/gpu_id
echo 4660 >two/sys/class/kfd/kfd/proc/170/queues/1/gpuid
awk '/Compute queue/ && ++n == 2 { sub(/e3f9/, "1234") } n == 2 { sub(/07d82000 00007fff 00000000/, "07d82000 00007fff 00000001") } 1' \
	"$top/tests/hosts/vm-gfx90a-evicted/sys/kernel/debug/kfd/mqds" >two/sys/kernel/debug/kfd/mqds
is "evicted from one GPU of two" "$(gpq --sysroot two queues -p 170 -rno GPU,QID,STATE 2>/dev/null | paste -sd,)" \
	"58361 0 evicted,4660 1 mapped,58361 2 evicted"

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

# 50 cycles of the same three queues, the first three to warm up: the plot has 20 that follow each other.
d=$top/tests/data/bench/plain.ndjson
shown() { gpq bench report --html - "$1" 2>/dev/null | grep -o 'plot shows the [0-9]* cycles'; }
is "20 cycles in a row" "$(shown "$d")" "plot shows the 20 cycles"
jq -c 'select(.cycle != 12)' "$d" >gap.ndjson
is "without cycle 12 the row is 3 to 11" "$(shown gap.ndjson)" "plot shows the 9 cycles"
d=$top/tests/data/bench/old.ndjson
jq -c '.repeat = .block % 5' $d >runs.ndjson
jq -c '.suspend_ns *= 10' runs.ndjson >slow.ndjson
verdict() { gpq bench report --compare "$1" "$2" -J 2>/dev/null | jq -r 'first(.changes[] | select(.metric == "suspend").verdict)'; }
is "ten times as long is slower" "$(verdict runs.ndjson slow.ndjson)" slower
is "and backwards faster" "$(verdict slow.ndjson runs.ndjson)" faster
is "the same file twice is said" "$(gpq bench report $d $d 2>&1 >/dev/null | grep -c 'were read before')" 1
is "a share below 0 is none" "$(gpq bench report --goal effect=-1 $d >/dev/null 2>&1; echo $?)" 2
jq -c '.run = "a|b"' $d >bar.ndjson
is "a bar does not end a cell" "$(gpq bench report bar.ndjson 2>/dev/null | sed -n 's/^Run \(a.*\)\.$/\1/p')" 'a\|b'

is "resume --all excludes --container" "$(gpq resume --all --container x >/dev/null 2>&1; echo $?)" 2

finish
