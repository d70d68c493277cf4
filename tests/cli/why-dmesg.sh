#!/bin/bash
# gpq why and the trouble of the driver: a recorded gfx1201 whose MES is dead, with interrupts that do not come and with the lines that
# drivers log then [kfd.log] [kfd.interrupts]; logs that are none. The host is aql-gfx90a with the version and the looks of
# another. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit 1
cp -r "$top/tests/hosts/aql-gfx90a" h && chmod -R u+w h
rm -r h/proc/471[12] h/sys/class/kfd/kfd/proc/471[12] h/sys/kernel/debug/kfd/rls
sed -i 's/^gfx_target_version .*/gfx_target_version 120001/' h/sys/class/kfd/kfd/topology/nodes/1/properties
rig is "the GPU" "$(grep -h -E 'gfx_target|location_id' h/sys/class/kfd/kfd/topology/nodes/1/properties)" "gfx_target_version 120001
location_id 49152"

# Two looks 30 s apart, in which nothing changed.
python3 - h/proc/4713 <<'END'
import os, sys
memory = open(sys.argv[1] + "/mem", "rb").read()
os.unlink(sys.argv[1] + "/mem")
with open(sys.argv[1] + "/memory", "w") as f:
    print("look 1000000000\n0 %s\nlook 31000000000" % memory.hex(), file=f)
END
looks() { # COUNT COUNT: of the GPU at both looks
	printf '%d 0000:c1:00.0 %d\n%d 0000:c0:00.0 %d\n' 1000000000 5 1000000000 "$1" 31000000000 6 31000000000 "$2" >h/INTERRUPTS
}
verdict() { # STATUS OPTIONS...: about queue 2, and what to do
	may "$1" gpq --sysroot h why -p 4713 -Q 2 -J "${@:2}" | jq -r '.processes[0] | .verdict, .do'
}
hung="hung-or-long: queue 2: kernel 0x5000 (packet 0) waits for nothing, and has not ended in 30s"
over="on that host: gpq why -p 4713 --over 10s: if it has not ended then, it hangs; dmesg tells faults, gpq why -p 4713 --waves where its waves are"
keep="on that host: gpq hang keeps the evidence; then end the processes on this GPU: once the driver has reset it, start them anew; if it does not within a minute, reboot"
is "without counts nothing is said of interrupts" "$(verdict 0)" "$hung
$over"
looks 7 7
is "the MES is dead, and nothing is logged" "$(verdict 0)" "$hung; no interrupt of this GPU in 30s
$over"
looks 7 8
is "an interrupt came" "$(verdict 0)" "$hung
$over"
looks 7 7

cp "$top/tests/data/kfd/dead-mes.dmesg" dmesg
lost="$hung; the kernel's log has [  950.818174] MES might be in unrecoverable state, issue a GPU reset: the driver gave up the MES; no interrupt of this GPU in 30s
$keep"
is "it is logged" "$(verdict 0 --dmesg dmesg)" "$lost"
is "from standard input" "$(verdict 0 --dmesg - <dmesg)" "$lost"
mkdir h/dev && sed -E 's/^\[ *([0-9]+)\.([0-9]+)\] /3,1,\1\2,-;/' dmesg >h/dev/kmsg
is "as it was recorded" "$(verdict 0)" "$lost"
is "a file is asked instead" "$(head -2 dmesg >none; verdict 0 --dmesg none)" "$hung; no interrupt of this GPU in 30s
$over"
is "dmesg -T: lines without a time that counts" \
	"$(sed -n '3s/^[^]]*\]/[Wed Jul 30 20:12:38 2025]/p' dmesg | verdict 0 --dmesg -)" \
	"$hung; the kernel's log has MES failed to respond to msg=REMOVE_QUEUE: the MES, which puts queues on the GPU, does not answer; no interrupt of this GPU in 30s
$keep"
echo 'May 26 18:09:55 fedora kernel: [drm:mes_v12_0_submit_pkt [amdgpu]] *ERROR* MES failed to response msg=3' >journal
is "journalctl -k: the host has one GPU, so it is this one" "$(verdict 0 --dmesg journal)" \
	"$hung; the kernel's log has MES failed to response msg=3: the MES, which puts queues on the GPU, does not answer; no interrupt of this GPU in 30s
$keep"

# The reset fails.
cat >>dmesg <<'END'
[  950.818199] amdgpu 0000:c0:00.0: amdgpu: GPU reset begin!. Source:  3
[  952.916113] [drm:amdgpu_device_fw_loading [amdgpu]] *ERROR* resume of IP block <psp> failed -62
END
dead="stuck for 30s: queue 2 (lost): the GPU did not let it go: [  952.916113] resume of IP block <psp> failed -62: the reset failed: the GPU is of no use until the host is started anew; no interrupt of this GPU in 30s"
is "the queue is lost" "$(verdict 7 --dmesg dmesg)" "$dead
on that host: gpq hang keeps the evidence; then reboot"
sed -E 's/^\[ *([0-9]+)\.([0-9]+)\] /3,1,\1\2,-;/' dmesg >h/dev/kmsg
is "which the first lines say" "$(may 7 gpq --sysroot h why -p 4713 -Q 2 | sed -n '1,/^  [^ ]/{/^  [^ ]/!p}' | paste -sd' ' | sed 's/  */ /g')" \
	"$(sed 's/  */ /g' <<<"pid 4713 train: $dead")"
is "a copy of the recorded host has the interrupts" "$(gpq --sysroot h snapshot copy >out && cat copy/INTERRUPTS)" "$(cat h/INTERRUPTS)"
is "and the log" "$(may 7 gpq --sysroot copy why -p 4713 -Q 2 | head -3)" "$(may 7 gpq --sysroot h why -p 4713 -Q 2 | head -3)"
echo '3,9,952916200,-;amdgpu 0000:c0:00.0: amdgpu: [gfxhub] page fault (pasid:7) at secret' >>h/dev/kmsg
gpq --sysroot h snapshot copy2 >out
gpq --sysroot h snapshot --redact copy3 >out
is "its faults name programs" "$(grep -c 'page fault.*secret' copy2/dev/kmsg) $(may 1 grep -c 'page fault' copy3/dev/kmsg) $(grep -c 'psp.*failed -62' copy3/dev/kmsg)" "1 0 1"
sed -i '$d' h/dev/kmsg
echo '[  960.000000] amdgpu 0000:c0:00.0: amdgpu: GPU reset(2) succeeded!' >>dmesg
is "a later reset succeeds" "$(verdict 0 --dmesg dmesg | head -1)" \
	"$hung; the kernel's log has [  960.000000] GPU reset(2) succeeded!; no interrupt of this GPU in 30s"

# What is no log.
refused() { # NAME STATUS FILE WANTED
	is "$1" "$(gpq --sysroot h why --dmesg "$3" 2>&1 >out </dev/null; echo $? "$(wc -c <out)")" "gpq: why: $4
$2 0"
}
next="give what dmesg or journalctl -k prints"
: >empty
head -c 4096 /dev/zero >binary
echo "text of no log" >text
mkfifo closed
: >closed & # until it is read
refused "a FIFO that is closed" 1 closed "--dmesg: closed: it is empty; $next"
: <>closed # where nobody has read it
wait
refused "a missing file" 5 nowhere "nowhere: No such file or directory; check the name"
refused "a folder" 1 h "h: Is a directory; name a file in it"
refused "an empty file" 1 empty "--dmesg: empty: it is empty; $next"
refused "nothing on standard input" 1 - "--dmesg: standard input: it is empty; $next"
refused "zeros" 1 binary "--dmesg: binary: no line of it is one of a kernel's log; $next"
refused "a text" 1 text "--dmesg: text: no line of it is one of a kernel's log; $next"
refused "another log" 1 "$top/tests/data/amdlog/rocm70.log" \
	"--dmesg: $top/tests/data/amdlog/rocm70.log: no line of it is one of a kernel's log; $next"
for o in "--profile 1s" --waves "--core x"; do
	# shellcheck disable=SC2086 # two words
	is "not with $o" "$(gpq why --dmesg dmesg $o 2>&1; echo $?)" "gpq: why: --dmesg: --$(set -- $o; echo "${1#--}") does not judge by the kernel's log; leave out one of them
2"
done
finish
