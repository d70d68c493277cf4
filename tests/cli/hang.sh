#!/bin/bash
# What a host that gpq hang recorded says: the memory of the host aql-gfx90a as records of two looks; ranks of a job side by side;
# records that are damaged. What is saved of a living job is judged in the VM (tests/kernel/gpq/hang.sh). TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
host=$top/tests/hosts/aql-gfx90a
cd "$work" || exit 1

# Looks 3 s apart. In the first one the read index of queue 5 is 5, in the second 6, as in the host.
cat >record.py <<'END'
import struct, sys
memory = bytearray(open(sys.argv[1], "rb").read())
if sys.argv[2:]: # the kernel at work in queue 6 has ended: its signal
    memory[0xa148:0xa150] = bytes(8)
READ = 0x9580
def piece(at, data): return "%x %s" % (at, data.hex())
print("look 1000000000")
print(piece(0, memory[:READ]))
print(piece(READ, struct.pack("<Q", 5)))
print(piece(READ + 8, memory[READ + 8:]))
print("look 4000000000")
print(piece(READ, memory[READ:READ + 8]))
END
recorded() { # FOLDER HOSTNAME [ended]: with the process 4712 alone
	cp -r "$host" "$1" && chmod -R u+w "$1"
	rm -r "$1"/proc/471[13] "$1"/sys/class/kfd/kfd/proc/471[13]
	python3 record.py "$1/proc/4712/mem" ${3+"$3"} >"$1/proc/4712/memory"
	rm "$1/proc/4712/mem"
	echo "$2" >"$1/proc/sys/kernel/hostname"
}
recorded a node7
all=QID,STATE,STUCK,BACKLOG,NEXT,READ,WRITE,SIGNAL,SIGNAL_VALUE,BY_QID,BY_INDEX,ROOT_QID
gpq --sysroot "$host" why -p 4712 -rno $all >wanted
rig ok "the host itself has eight queues" test "$(wc -l <wanted)" -eq 8
gpq --sysroot a why -p 4712 -rno $all >got
is "why says of the records what it says of the host, but of the queue that moved" "$(may 1 diff wanted got | grep '^[<>]')" \
	"< 5 idle no 0 - 6 6 - - - - -
> 5 running no 0 - 6 6 - - - - -"
is "the times of the looks count" "$(gpq --sysroot a why -p 4712 -Q 5,6 -J | jq -c '[.queues[] | [.qid, .taken, .stood_ns, .over_ns]]')" \
	"[[6,0,3000000000,3000000000],[5,1,0,3000000000]]"
like() { if [[ $2 =~ $3 ]]; then pass "$1"; else fail "$1" <<<"$2"; fi; }
like "and are told" "$(may 7 gpq --sysroot a why -p 4712 | head -1)" "^pid 4712 train: stuck for 3s: queue 2 "
is "packets shows the last look" "$(gpq --sysroot a packets -p 4712 -Q 5 -rno READ,WRITE | sort -u)" "6 6"
is "a record that is copied is the same" "$(gpq --sysroot a snapshot b >copied && gpq --sysroot b why -p 4712 -rno $all)" "$(cat got)"
printf 'no address\n5000 attn_fwd\n' >a/proc/4712/kernels
is "names of kernels" "$(gpq --sysroot a why -p 4712 -Q 6 -rno KERNEL)" attn_fwd
gpq --sysroot a snapshot --redact c >copied
is "become pseudonyms" "$(cat c/proc/4712/kernels)" "no kernel1
5000 kernel2"

# --- what gpq itself has recorded besides ---

echo 'pid 4712 train: stuck' >a/VERDICTS
echo '{"event":"vmfault"}' >a/EVENTS
for file in stacks python gpucore; do echo "$file of 4712" >a/proc/4712/$file; done
more="EVENTS VERDICTS proc/4712/gpucore proc/4712/python proc/4712/stacks"
gpq --sysroot a snapshot g >copied
is "it is copied" "$(cd g && tail -n +1 $more)" "$(cd a && tail -n +1 $more)"
gpq --sysroot a snapshot --redact k >copied
is "without what names programs, or has memory of one" "$(cd k && ls -d sys && may 2 ls $more 2>/dev/null)" sys
gpq --sysroot a snapshot -p 4712 l >copied
is "of chosen processes without what may name others" "$(cd l && may 2 ls $more 2>/dev/null)" "$(xargs -n 1 <<<"$more" | grep proc)"

# --- what the driver tells besides ---

device=a/sys/class/drm/renderD128/device
mkdir -p a/sys/kernel/debug/dri/0 "$device/ras" "$device/devcoredump" "$device/fw_version"
ln -s 0 a/sys/kernel/debug/dri/128
echo '--- ring 0 (gfx) ---' >a/sys/kernel/debug/dri/0/amdgpu_fence_info
echo log >a/sys/kernel/debug/dri/0/amdgpu_mes_event_log
echo 'ue: 3' >"$device/ras/umc_err_count"
echo 0x73 >"$device/fw_version/mec_fw_version"
echo 'process_name: train' >"$device/devcoredump/data"
driver="sys/kernel/debug/dri/0/amdgpu_fence_info sys/kernel/debug/dri/0/amdgpu_mes_event_log ${device#a/}/ras/umc_err_count ${device#a/}/devcoredump/data"
gpq --sysroot a snapshot d >copied
is "fences, the log of the MES, hardware errors and the last dump are there" "$(cd d && cat $driver)" "$(cd a && cat $driver)"
is "and versions of firmware" "$(cat "d/${device#a/}/fw_version/mec_fw_version")" 0x73
is "once, as the host has links" "$(readlink d/sys/kernel/debug/dri/128)" 0
gpq --sysroot a snapshot --redact e >copied
is "the dump names programs" "$(cat "e/${device#a/}/ras/umc_err_count" "e/${device#a/}/devcoredump/data")" "ue: 3"
gpq --sysroot a snapshot --every 10ms --count 1 f >copied
is "a series does without" "$(cd f/*/ 2>/dev/null && for x in MANIFEST $driver; do may 1 ls "$x" 2>/dev/null; done)" MANIFEST

# --- ranks ---

recorded r0 alpha
recorded r1 beta
recorded r2 gamma
echo '5000 ncclDevKernel_AllReduce_Sum_f32(ncclDevKernelArgsStorage<4096ul>)' | tee r0/proc/4712/kernels >r2/proc/4712/kernels
echo '5000 adam_step' >r1/proc/4712/kernels
printf 'WORLD_SIZE=3\nRANK=2\n' >r0/proc/4712/rank
printf 'SLURM_PROCID=0\n' >r1/proc/4712/rank
printf 'LOCAL_RANK=7\nPMI_RANK=9\nOMPI_COMM_WORLD_RANK=1\n' >r2/proc/4712/rank
gpq hang --merge -p 4712 -Q 5,6,7 -rno RANK,HOST,PID,STATE,LAUNCHED,FILE r0 r1 r2 >got
status=$?
is "ranks in order, whatever the order of the archives; none is stuck" "$status $(cat got)" "0 0 beta 4712 hung-or-long none r1
1 gamma 4712 hung-or-long at-work r2
2 alpha 4712 hung-or-long at-work r0"
is "who is missing" "$(gpq hang --merge -Q 5,6,7 r0 r1 r2 | head -1)" \
	"2 of 3 processes are at work in a collective that 1 has not launched: rank 0 (pid 4712 on beta)"
is "all have launched it: the table alone" "$(gpq hang --merge -Q 5,6,7 r0 r2 | head -1 | xargs)" \
	"RANK HOST PID COMMAND STATE STOOD KERNEL LAUNCHED COLLECTIVE CALLED VERDICT"
gpq hang --merge -p 4712 -rno STATE r1 >got
is "a job that is stuck: status" "$? $(cat got)" "7 deadlock"
recorded r3 delta ended
cp r0/proc/4712/kernels r3/proc/4712
is "one waits in the ring" "$(gpq hang --merge -Q 0 -rno LAUNCHED,COLLECTIVE r3)" \
	'queued ncclDevKernel_AllReduce_Sum_f32(ncclDevKernelArgsStorage<4096ul>)'
is "as JSON" "$(gpq hang --merge -Q 5,6,7 -J r0 r1 | jq -c '[.ranks[] | [.rank, .host, .launched]]')" '[[0,"beta","none"],[2,"alpha","at-work"]]'
is "and all that is known of a rank" "$(gpq hang --merge -p 4712 -Q 6 --output-all -J r1 | jq -c '[.ranks[] | del(.file, .host)]')" \
	'[{"rank":0,"pid":4712,"command":"train","state":"hung-or-long","stuck":false,"qid":6,"stood_ns":3000000000,"kernel":"adam_step","launched":"none","collective":null,"called":null,"verdict":"hung-or-long: queue 6: kernel adam_step (packet 5) was taken, and has not ended in 3s: its signal 0xa140 is 1"}]'

# --- flight recorders of PyTorch (tests/data/flight/HOW) ---

flight=$top/tests/data/flight
merged() { gpq hang --merge -p 4712 -Q 5,6,7 "$@" r0 r1 r2; }
is "what was called, of the rank of each name" "$(merged --flight "$flight/rank_1" --flight "$flight/rank_0" -rno RANK,CALLED | sed 's/\\x20/ /g')" \
	"0 all_reduce 4 of default_pg: scheduled, fr.py:11
1 none
2 -"
is "who has not called it" "$(merged --flight "$flight/rank_0" --flight "$flight/rank_1" | grep 'not called')" \
	"default_pg: rank 1 has not called all_reduce 4, which rank 0 has (fr.py:11)"
is "nothing of one rank alone" "$(merged --flight "$flight/rank_0" | grep -oE 'not called|RANK HOST')" "RANK HOST"
is "as JSON, without frames" "$(merged --flight "$flight/json_0" -J | jq -c '[.ranks[].called]')" '["all_reduce 4 of default_pg: scheduled",null,null]'
entry() { # GROUP ABOUT NUMBER NAME STATE RETIRED P2P
	printf '{"frames":[{"filename":"/x/torch/nn/f.py","line":1,"name":"f"},{"filename":"/y/a\\u001bb.py","line":%d,"name":"g"}],"process_group":["%s","%s"],"collective_seq_id":%d,"profiling_name":"%s","state":"%s","retired":%s,"is_p2p":%s}' \
		"$3" "$1" "$2" "$3" "$4" "$5" "$6" "$7"
}
dump() { # RANK STATUS ENTRY...
	local IFS=,
	echo "{\"entries\":[${*:3}],\"pg_status\":$2}" >"flight$1"
}
call() { entry 7 tp "$1" nccl:all_gather "$2" "$3" false; }
dump 0 '{"7":{"last_enqueued_collective":6},"8":{"last_enqueued_collective":-1}}' "$(call 5 completed false)" "$(call 6 started false)"
dump 1 '{"7":{"last_enqueued_collective":4}}' "$(call 4 scheduled true)" "$(entry 7 tp 9 nccl:send started false true)"
dump 2 '{}' "$(call 3 completed true)" "$(call 4 started false)" "$(call 5 started false)"
three="--flight flight0 --flight flight1 --flight flight2"
# shellcheck disable=SC2086 # its words
is "the oldest that has not ended; messages between two ranks are none" "$(merged $three -rno CALLED | sed 's/\\x20/ /g')" \
	"all_gather 6 of tp: started, a\\x1bb.py:6
none
all_gather 4 of tp: started, a\\x1bb.py:4"
# shellcheck disable=SC2086
is "who is behind, of three" "$(merged $three | grep 'not called')" "tp: rank 1 has not called all_gather 5, which rank 0 has (a\\x1bb.py:5)"
dump 2 '{}' "$(call 4 started false)"
# shellcheck disable=SC2086
is "two are behind" "$(merged $three | grep 'not called')" "tp: ranks 1, 2 have not called all_gather 5, which rank 0 has (a\\x1bb.py:5)"
dump 0 '{"7":{"last_enqueued_collective":9}}' "$(call 9 started false)"
# shellcheck disable=SC2086
is "the recorder of the furthest no longer has it" "$(merged $three | grep 'not called')" "7: ranks 1, 2 have not called collective 5, which rank 0 has"
dump 0 '{}' "$(call 9 started false | sed 's/"nccl:all_gather"/5/')"
dump 1 '{}' "$(call 9 started false | sed 's/nccl:all_gather/all_gather/')"
# shellcheck disable=SC2086
is "a name that is none; one without a backend" "$(merged $three -rno RANK,CALLED | sed 's/\\x20/ /g' | head -2)" \
	"0  9 of tp: started, a\\x1bb.py:9
1 all_gather 9 of tp: started, a\\x1bb.py:9"
cp flight0 flight12
is "a rank that no archive has" "$(merged --flight flight12 2>&1 >/dev/null)" "gpq: hang: --flight: no archive has a process of some of these ranks"

# --- mistakes ---

refused() { # STATUS TEXT OPTION...
	local got status
	got=$(gpq hang "${@:3}" 2>&1)
	status=$?
	is "gpq hang ${*:3}" "$status ${got%%$'\n'*}" "$1 gpq: hang: $2"
}
refused 2 '--merge: the archives are missing; gpq hang --merge A.tar.zst B.tar.zst' --merge
refused 2 'b: only one name is expected; gpq hang --merge A B puts archives side by side' a b
refused 2 'x.zip: no such archive can be written; archives are .tar, .tar.gz and .tar.zst' x.zip
refused 2 '--flight is joined to the ranks of archives; gpq hang --merge A B --flight /tmp/nccl_trace_rank_0' --flight x1
refused 2 '--flight trace: the name does not end with a rank; for example --flight /tmp/nccl_trace_rank_3' --merge -p 4712 r0 --flight trace
refused 5 '--flight trace1: No such file or directory; name the dump of a flight recorder' --merge -p 4712 r0 --flight trace1
for text in '' x '{' '{}' '{"entries":{}}' '{"entries":[3]}' '{"entries":[],"pg_status":1}' '{"entries":[],"pg_status":{"0":1}}' '{"entries":[{"state":1}]}'; do
	echo "$text" >trace1
	refused 1 '--flight trace1: no dump of a flight recorder; TORCH_FR_BUFFER_SIZE makes PyTorch write them' --merge -p 4712 r0 --flight trace1
done
for text in 'look 1' 'look x
' 'look 2
look 1
' '10 0
' '10 zz
' '10
' 'ffffffffffffffff 0000
' 'x 00
'; do
	printf '%s' "$text" >a/proc/4712/memory
	is "a damaged record: ${text//$'\n'/ }" "$(may 1 gpq --sysroot a why -p 4712 2>&1 >/dev/null | head -1)" \
		"gpq: why: pid 4712: its memory: Bad message; gpq snapshot records it as root"
done
finish
