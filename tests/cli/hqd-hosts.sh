#!/bin/bash
# gpq hqd on the hosts that were recorded in the VM, in every state, against TRUTH: what the programs said they created, what
# a debugger said it suspended, and what the software GPU said it ran.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"

gpq() { command gpq --sysroot "$host" hqd "$@"; }

# pid qid kind ring size priority: "mkqueue PID: queue ID gpu_id G type T doorbell_offset D ring_base R ring_size S priority P"
created() { awk '/^mkqueue .*ring_base/ { sub(":", "", $2); print $2, $4, $8 == 1 ? "sdma" : "compute", $12, $14, $8 == 1 ? "-" : $16 }' "$host/TRUTH" | sort; }
# packets doorbell mqd size: "softgpu: queue aql pasid P doorbell N mqd A size S ...", doorbells in dwords; SDMA slots hold no MQD address.
ran() { awk '/^softgpu: queue/ { printf "%s 0x%x %s %s\n", $3 == "sdma" ? "-" : $3, $7 * 4, $3 == "sdma" ? "-" : "0x" $9, $11 }' "$host/TRUTH" | sort; }
first_xcc() { gpq "$@" --active -rno XCC,TYPE,PACKET_FORMAT,DOORBELL,MQD_ADDR,RING | awk '$2 != "hiq" && ($1 == "0" || $1 == "-") { print $3, $4, $5, $6 }' | sort; }

vmid=$(sed -nE 's/^#define SG_COMPUTE_VMID +([0-9]+).*/\1/p' "$top/tests/kernel/softgpu/softgpu.h")
for host in $(each 3 "$top"/tests/hosts/vm-*); do
	name=${host##*/}
	# There the process was killed between the dumps and the software GPU's word.
	if [[ $name != *-gone ]]; then
		is "$name: the slots hold what the GPU ran: doorbell, MQD, size" "$(first_xcc)" "$(ran)"
		is "$name: who is in no slot is what it did not run" \
			"$(gpq --summary --table waiting -ro RING_ADDR | wc -l)" "$((1 + $(created | wc -l) - $(ran | wc -l)))"
	fi
	rows=$(gpq --active -rno PID,TYPE,RING_ADDR,RING,PRIO | grep -v '^-' | sort -u)
	is "$name: each slot's ring, size, priority and owner are as created" "$(grep -xFf <(created | cut -d' ' -f1,3-) <<<"$rows")" "$rows"
	rows=$(gpq --active -rno PID,QID,RING_ADDR | grep -v ' - ' | grep -v '^-' | sort -u)
	is "$name: queue ids that are certain are right" "$(grep -xFf <(created | cut -d' ' -f1,2,4) <<<"$rows")" "$rows"
	is "$name: every MQD in memory too" \
		"$(gpq --mqd -rno PID,TYPE,RING_ADDR,RING,PRIO | sort -u)" "$(created | cut -d' ' -f1,3- | sort -u)"
	is "$name: the kernel's files alone say the same" \
		"$(debug=$host/sys/kernel/debug/kfd && gpq --hqds "$debug/hqds" --mqds "$debug/mqds" -a -rno TYPE,SLOT,ACTIVE,PID,RING_ADDR,RPTR,WPTR | sum)" \
		"$(gpq -a -rno TYPE,SLOT,ACTIVE,PID,RING_ADDR,RPTR,WPTR | sum)"
	is "$name: every word of the slots" "$(gpq --raw-regs -rno VALUE | sum)" \
		"$(awk '/^    [0-9a-f]+:/ { for (i = 2; i <= NF; i++) { sub(/^0+/, "", $i); print "0x" ($i == "" ? "0" : $i) } }' "$host/sys/kernel/debug/kfd/hqds" | sum)"
	case $name in
	*gfx1100*) ;; # MES has no runlist
	*)
		is "$name: mapped are those in slots, and nobody else" "$(gpq --runlist -rno PACKET,RING_ADDR | sed -n 's/^MAP_QUEUES //p' | sort)" \
			"$(gpq --active -rno TYPE,RING_ADDR | sed -n '/^hiq/!s/.* //p' | sort -u)"
		;;
	esac
	is "$name: the VMID is the one of the software GPU" "$(gpq --active -rno TYPE,VMID | grep -v hiq | sort -u | cut -d' ' -f2 | sort -u)" "$vmid"
	# Where the kernel told the debugger of them: indices and save area, by ring. SDMA queues have no save area, and those of
	# gfx9 no address of the write index in their MQD.
	kernel=$(sed -n 's/^ *queue [0-9]* gpu .* ring_base \(0x[0-9a-f]*\) wptr_addr \(0x[0-9a-f]*\) rptr_addr \(0x[0-9a-f]*\) ctx_save \([0-9a-fx]*\)+\([0-9]*\)$/\1 \2 \3 \4 \5/p' "$host/TRUTH" |
		sed 's/ 0 0$/ - -/' | sort -u)
	[ -z "$kernel" ] || [[ $name != *-suspended ]] ||
		is "$name: addresses are those that the kernel gave a debugger" \
			"$(gpq --mqd -rno XCC,RING_ADDR,WPTR_ADDR,RPTR_ADDR,CWSR_ADDR,CWSR -p "$(sed -n 's/^mkqueue \([0-9]*\):.*/\1/p;T;q' "$host/TRUTH")" |
				sed -n 's/^[-0] //p' | sort)" "$(if [[ $name == *gfx9* ]]; then sed -E 's/^(0x[0-9a-f]+) 0x[0-9a-f]+ (0x[0-9a-f]+ - -)$/\1 - \2/' <<<"$kernel"; else echo "$kernel"; fi)"
	# What the first process has off the GPU: "susp=IDS" in the debugger's own words, or all that it has.
	pid=$(sed -n 's/^mkqueue \([0-9]*\):.*/\1/p;T;q' "$host/TRUTH")
	case $name in
	*-suspended | *-new) ids=$(sed -n 's/^ *susp=\([0-9,]*\) -> .*/\1/p' "$host/TRUTH") ;;
	*-evicted) ids=0,1,2 ;;
	*) ids= ;;
	esac
	if [ "$ids" ]; then
		off=$(created | awk -v pid="$pid" -v ids=",$ids," '$1 == pid && index(ids, "," $2 ",") { print $4 }' | sort)
		is "$name: queues that are off are in no slot" "$(gpq --summary --table waiting -rno RING_ADDR | sort)" "$off"
		[[ $name == *gfx1100* ]] ||
			is "$name: nor in the runlist" "$(gpq --runlist -rno PACKET,RING_ADDR | sed -n 's/^none //p' | sort)" "$off"
	fi
done
# A snapshot of a recorded host has all that gpq hqd reads (common/snapshot/snapshot_items.c).
snap=$work
show() { for form in -a --regs "-a --fields" --raw-regs --mqd --summary --runlist; do command gpq --sysroot "$1" hqd $form -v -J --output-all 2>&1; done; }
for host in "$top"/tests/hosts/{gfx,vm-gfx942-,vm-gfx1100-}*; do
	rm -rf "$snap/s"
	command gpq --sysroot "$host" snapshot "$snap/s" -q >/dev/null 2>&1
	is "${host##*/}: a snapshot shows the same" "$(show "$snap/s" | sum)" "$(show "$host" | sum)"
done
finish
