#!/bin/bash
# gpq why and each state that it names: its first line, what to do, and its exit status, on the recorded host aql-gfx90a with what
# makes the state. Made on the real driver: tests/kernel/gpq/why.sh. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
host=$top/tests/hosts/aql-gfx90a
debugfs=sys/kernel/debug/kfd
: >"$work/states"
cd "$work" || exit 1

new() { rm -rf h && cp -r "$host" h && chmod -R u+w h; }

# The sentence of a process and what to do are lines above the table, broken at words; the state is that of the row below.
said() { # STATUS VERDICT DO OPTION...: DO - is none
	local got status verdict todo
	got=$(gpq --sysroot h why "${@:4}" 2>/dev/null)
	status=$?
	verdict=$(sed -n '/^ *PID COMMAND/q; /^  [^ ]/q; p' <<<"$got" | xargs -d '\n' | sed 's/  */ /g')
	todo=$(sed -n '/^ *PID COMMAND/q; /^  do: /,$p' <<<"$got" | sed '/^  [^ d]/d' | xargs -d '\n' | sed 's/  */ /g; s/^ //')
	state=$(sed -E 's/^pid [0-9]+ train: (stuck[^(]*\(([a-z-]*)\)|([a-z-]*)).*/\2\3/' <<<"$verdict")
	echo "$state" >>states
	is "$state" "$status $verdict / ${todo:--}" "$1 pid $2 / $3"
}

threads="do: on that host: look at its threads, as gpq why -p 4712 --stacks shows them:"
anew="start the program anew"

# --- what the rings tell ---

new
said 0 "4712 train: hung-or-long: queue 6: kernel 0x5000 (packet 5) was taken, and has not ended: its signal 0xa140 is 1" \
	"do: on that host: gpq why -p 4712 --over 10s: if it has not ended then, it hangs; dmesg tells faults, gpq why -p 4712 --waves where its waves are" \
	-p 4712 -Q 6
said 0 "4712 train: idle: queue 5" - -p 4712 -Q 5
said 0 "4713 train: idle-or-running: queue 3: all packets are taken; the signal of the last kernel cannot be read, or is another packet's by now" \
	- -p 4713 -Q 3
said 0 "4712 train: waits-external: queue 1: signal 0xa040 is 1, and no packet of this process sets it: the host, or another process" \
	"$threads one, or another process, is to set the signal" -p 4712 -Q 1
said 7 "4712 train: stuck: queue 2 (deadlock): waits for kernel 0x5000 (packet 4) of queue 3, which waits for this queue: signal 0xa080 is 1" \
	"do: on that host: end process 4712: it waits for itself, and nothing on the GPU ends that" -p 4712 -Q 2
said 7 "4712 train: stuck: queue 4 (not-published): packet 4 is not written, and the write index is 6" \
	"$threads if none is about to write the packet, end the process" -p 4712 -Q 4
said 3 "4711 train: unknown: queue 4: its indices do not fit its ring" "do: on that host: look as root; DETAIL says what could not be read" \
	-p 4711 -Q 4
# A signal that lies where no memory is; queue 7 waits for no other.
printf '\0\0\360\0\0\0\0\0\0\0\0\0\0\0\0\0' | dd of=h/proc/4712/mem bs=1 seek=$((0x8008)) conv=notrunc status=none
said 3 "4712 train: unknown: queue 7: a signal that the next packet waits for cannot be read" \
	"do: on that host: look as root; DETAIL says what could not be read" -p 4712 -Q 7
# Bytes at the head that are a packet of no format that AMD has.
printf '\0\0\11' | dd of=h/proc/4712/mem bs=1 seek=$((0x8000)) conv=notrunc status=none
said 3 "4712 train: unknown: queue 7: packet 0 is of vendor format 9, which is not decoded" \
	"do: on that host: look as root; DETAIL says what could not be read" -p 4712 -Q 7

# The read index of queue 1 moves between two looks; queue 0 waits for packet 1 of it.
new
python3 - h/proc/4712 <<'P'
import os, struct, sys
memory = bytearray(open(sys.argv[1] + "/mem", "rb").read())
os.unlink(sys.argv[1] + "/mem")
with open(sys.argv[1] + "/memory", "w") as f:
    print("look 1000000000\n0 %s\nlook 4000000000\n9180 %s" % (memory.hex(), struct.pack("<Q", 1).hex()), file=f)
P
said 0 "4712 train: running: queue 1" - -p 4712 -Q 1
# The verdict of the process is about the root.
said 0 "4712 train: running: queue 1; 1 queue waits behind it" - -p 4712 -Q 0
is "waits-barrier" "$(gpq --sysroot h why -p 4712 -Q 0 -rno STATE,DO,DETAIL | tee -a states | sed 's/\\x20/ /g')" \
	"waits-barrier - waits for kernel 0x5000 (packet 1) of queue 1 (running): signal 0xa000 is 1"

# Its root is in a process that is not shown.
new
echo "a040-b000 rw-s 00000040 00:01 5   /dev/shm/x" >h/proc/4712/maps
echo "a000-a040 rw-s 00000040 00:01 5   /dev/shm/x" >h/proc/4713/maps
said 0 "4712 train: behind: queue 1: waits for kernel 0x5000 (packet 0) of queue 2 of process 4713 (hung-or-long): signal 0xa040 is 1" \
	"do: on that host: gpq why -p 4713 --over 10s: if it has not ended then, it hangs; dmesg tells faults, gpq why -p 4713 --waves where its waves are" \
	-p 4712 -Q 1

# --- what the host and the hardware slots tell ---

new
sed -i 's/^State:.*/State:\tT (stopped)/' h/proc/4712/status
said 0 "4712 train: stopped: queue 4: packet 4 waits for the process, which is stopped" "do: on that host: kill -CONT 4712 lets it go on" \
	-p 4712 -Q 4

# The slot of queue 7 has the registers of its MQD (from its 129th word on), and another write pointer (the 55th of them).
new
python3 - h/$debugfs <<'P'
import sys
words, n, mine = [], 0, False
for line in open(sys.argv[1] + "/mqds"):
    if line.startswith("Process"):
        mine, n = line.split()[1] == "4712", 0
    n += "queue on" in line
    if mine and n == 1 and "queue on" not in line:
        words += [int(w, 16) for w in line.split(":")[1].split()]
slot = words[128:184]
slot[2], slot[54] = 1, 0
with open(sys.argv[1] + "/hqds", "w") as f:
    print("Node 1, gpu_id e3f9:\n Inst 0,  CP Pipe 0, Queue 2", file=f)
    for i in range(0, 56, 8):
        print("    %08x: %s" % (0xc914 + 4 * i, " ".join("%08x" % w for w in slot[i:i + 8])), file=f)
P
said 7 "4712 train: stuck: queue 7 (doorbell-lost): the write index is 1, and its hardware slot was told 0: the doorbell was not rung, or is lost" \
	"$threads if none is about to ring the doorbell, end the process" -p 4712 -Q 7
said 0 "4713 train: waits-slot: queue 2: 17 compute queues of 3 processes share the GPU, which has 24 slots" \
	"do: on that host: run fewer processes or queues on this GPU; gpq hqd --summary shows who shares it" \
	-p 4713 -Q 2

# --- off the hardware: all queues of the process ---

off() {
	new
	echo 6.12.95 >h/proc/sys/kernel/osrelease
	sed -i -E 's/^(    00000200: [0-9a-f]+ [0-9a-f]+) 00000001/\1 00000000/' h/$debugfs/mqds
	printf 'Node 1, gpu_id e3f9:\n  No active runlist\n' >h/$debugfs/rls
}
off
said 0 "4712 train: evicted: queue 0: by the driver, with all queues of the process on this GPU" \
	"do: on that host: wait some seconds; if it lasts: gpq events -p 4712 names what evicts it, most often memory, and gpq ps who has how much" \
	-p 4712 -Q 0
sed -i 's/TracerPid:.*/TracerPid:\t1/' h/proc/4712/status
said 0 "4712 train: suspended-or-evicted: queue 0: by init, process 1, or evicted by the driver: these look the same" \
	"do: on that host: gpq events and gpq why --watch 1 tell evictions; else end the debugger" -p 4712 -Q 0
# The kernel's log, in microseconds since the boot; the process began 4.37 s after it.
rig is "when the process began" "$(cut -d' ' -f22 h/proc/4712/stat)" 437
mkdir h/dev
log="amdgpu 0000:c0:00.0: amdgpu:"
echo "3,1,5000000,-;$log qcm fence wait loop timeout expired" >h/dev/kmsg
said 7 "4712 train: stuck: queue 0 (lost): the GPU did not let it go: [ 5.000000] qcm fence wait loop timeout expired: the HWS did not take queues off in time" \
	"do: on that host: gpq hang keeps the evidence; then end the processes on this GPU: once the driver has reset it, start them anew; if it does not within a minute, reboot" \
	-p 4712 -Q 0
echo "3,2,6000000,-;$log GPU reset begin!" >>h/dev/kmsg
said 7 "4712 train: stuck: queue 0 (reset): its GPU was reset: [ 6.000000] GPU reset begin!" \
	"do: on that host: end process 4712 and start it anew: what it had on the GPU is gone; dmesg tells why the GPU was reset" -p 4712 -Q 0
sed -i 's/,[56]000000,/,4369999,/' h/dev/kmsg
said 0 "4712 train: suspended-or-evicted: queue 0: by init, process 1, or evicted by the driver: these look the same" \
	"do: on that host: gpq events and gpq why --watch 1 tell evictions; else end the debugger" -p 4712 -Q 0

# --- one queue alone: 1, which is the 7th in the dump ---

one() { awk -v at="$1" -v word="$2" -v is="$3" '/^Process/ { p = $2; n = 0 } /queue on/ { n++ } p == 4712 && n == 7 && $1 == at { $word = is; $0 = "    " $0 } 1' \
	"$host/$debugfs/mqds" >h/$debugfs/mqds; }
new
one 00000200: 4 00000000
sed -i 's/c005a200 20000010 00001030/c0051000 20000010 00001030/' h/$debugfs/rls
said 0 "4712 train: suspended-or-reset: queue 1: by a debugger that does not trace it, or reset by the driver after a hang: these look the same" \
	"do: on that host: dmesg has a reset; after one, $anew" -p 4712 -Q 1
sed -i 's/TracerPid:.*/TracerPid:\t1/' h/proc/4712/status
said 0 "4712 train: suspended: queue 1: by init, process 1" \
	"do: on that host: end the process that has it suspended, or let that resume it; gpq resume puts back only what gpq suspended" -p 4712 -Q 1
# The save area names a word to which the driver has added the bits of two exceptions.
new
one 000002a0: 5 0000b000
printf '\0\261' | dd of=h/proc/4712/mem bs=1 seek=$((0xb018)) conv=notrunc status=none
printf '\020\0\004' | dd of=h/proc/4712/mem bs=1 seek=$((0xb100)) conv=notrunc status=none
said 7 "4712 train: stuck: queue 1 (error): the driver noted WAVE_MEMORY_VIOLATION PACKET_RESERVED" \
	"do: on that host: $anew; rocgdb shows which kernel faults, and where" -p 4712 -Q 1

is "these are all states" "$(cut -d' ' -f1 states | sort -u)" \
	"$(gpq why --list-columns -rno TABLE,COLUMN,HELP | sed -n 's/^queues STATE //p' | sed 's/\\x20//g' | tr , '\n' | sort)"

# Hours between two looks are taken; a recorded host has no time to wait for.
new
is "--over of hours" "$(gpq --sysroot h why -p 4712 -Q 5 --over 24h -rno STATE)" idle
finish
