#!/bin/bash
# gpq hqd on files of debugfs alone, recorded with the software GPU's own account of the moment: a GPU of gfx1030 in tests/data/kfd,
# and more recordings beside the project (GPQ_RECORDINGS), of GPUs that tests/hosts has, too.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
recordings=${GPQ_RECORDINGS:-$top/../shared/kfd-recordings}

gpq() { command gpq hqd "$@"; }

# packets doorbell mqd size of compute queues: "queue aql pasid P doorbell N mqd A size S ...", doorbells in dwords.
ran() { awk '$1 == "queue" && $2 != "sdma" { printf "%s 0x%x 0x%s %s\n", $2, $6 * 4, $8, $10 }' "$1" | sort; }

for softgpu in "$top"/tests/data/kfd/*/softgpu.* "$recordings"/*/softgpu.*; do
	[ -r "$softgpu" ] || { pass "other recordings # skip none here"; continue; }
	d=${softgpu%/*} state=${softgpu##*/softgpu.}
	files=(--hqds "$d/hqds.$state" --mqds "$d/mqds.$state" --rls "$d/rls.$state")
	name=${d##*/}/$state
	is "$name: number of slots" "$(gpq "${files[@]}" -a -rn | wc -l)" "$(grep -cE 'CP Pipe|HIQ on|SDMA Engine' "$d/hqds.$state")"
	is "$name: compute slots hold what the GPU ran" \
		"$(gpq -q "${files[@]}" -rno XCC,TYPE,PACKET_FORMAT,DOORBELL,MQD_ADDR,RING | sed -n 's/^0 compute //p' | sort)" "$(ran "$softgpu")"
	is "$name: and each has an owner" "$(gpq -q "${files[@]}" -rno TYPE,PID | awk '$1 == "compute" { print $2 == "-" ? "nobody" : "somebody" }' | sort -u)" somebody
	is "$name: MQDs" "$(gpq --mqds "$d/mqds.$state" -rno TYPE,XCC | grep -cE '^sdma|compute 0')" "$(grep -c 'queue on device' "$d/mqds.$state")"
	is "$name: every word of the slots" "$(gpq "${files[@]}" --raw-regs -rno VALUE | sum)" \
		"$(awk '/^    [0-9a-f]+:/ { for (i = 2; i <= NF; i++) { sub(/^0+/, "", $i); print "0x" ($i == "" ? "0" : $i) } }' "$d/hqds.$state" | sum)"
	if ! grep -q 'No active' "$d/rls.$state"; then
		is "$name: the runlist maps as many compute queues as the GPU ran" \
			"$(gpq "${files[@]}" --runlist -rno PACKET,TYPE | grep -c 'MAP_QUEUES compute')" "$(ran "$softgpu" | wc -l)"
	fi
done
finish
