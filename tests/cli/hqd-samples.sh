#!/bin/bash
# gpq hqd on dumps of the shape of real ones (tests/data/kfd), and on real captures of MI308X hosts, which are not part of the
# project. Every count and value comes once more from the text itself by grep and awk: word numbers of [debugfs.mqd-compute].
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"

gpq() { command gpq hqd "$@"; }

# One line a slot: gpu kind xcc pipe queue, then all its words in one.
slots() {
	awk '
	function flush() { if (kind != "") print gpu, kind, xcc, pipe, queue, words; words = ""; kind = "" }
	/^Node/ { flush(); gpu = $4; sub(":", "", gpu) }
	/CP Pipe/ { flush(); kind = "compute"; xcc = $2; pipe = $5; queue = $7 }
	/HIQ on/ { flush(); kind = "hiq"; xcc = $2; pipe = $8; queue = $10 }
	/SDMA Eng/ { flush(); kind = "sdma"; xcc = "-"; pipe = $3; queue = $5 }
	/^    [0-9a-f]+:/ { for (i = 2; i <= NF; i++) words = words $i }
	END { flush() }' "$1" | tr -d ','
}

# The slots of compute queues as gpq prints them: hexadecimal words to numbers, ring << 8, doorbell & 0xffffffc.
normalize() {
	local gpu kind xcc pipe queue words w i
	while read -r gpu kind xcc pipe queue words; do
		[ "$kind" = compute ] || continue
		w=()
		for ((i = 0; i < 56; i++)); do w[i]=$((0x${words:i * 8:8})); done
		if [ $((w[2] & 1)) = 0 ]; then
			echo "$((0x$gpu)) $xcc 1 $pipe $queue no - - - - - - - - -"
			continue
		fi
		[ ${w[51]} = 0 ] && i=none || i=error
		printf '%d %d 1 %d %d yes %d 0x%x %d %d %d 0x%x %d 0x%x %s\n' $((0x$gpu)) "$xcc" "$pipe" "$queue" $((w[3] & 15)) \
			$(((w[9] << 32 | w[8]) << 8)) $((8 << (w[17] & 63))) ${w[10]} $((w[55] << 32 | w[54])) $((w[15] & 0xffffffc)) \
			${w[6]} $((w[1] << 32 | w[0])) $i
	done
}

# pid, gpu, XCC and address of each MQD.
mqd_of_xcc() { # pid gpu xcc base
	awk '
	/^Process/ { pid = $2 }
	/queue on device/ { type = $1; gpu = $NF; xcc = -1 }
	/^    00000000:/ { xcc++ }
	/^    00000200:/ && type == "Compute" { print pid, gpu, xcc, $3 $2 }' "$1"
}

# Packets of the runlist: as many MAP_PROCESS and MAP_QUEUES as there are headers among its words.
packets() {
	awk '/^Node/ { gpu = $4; sub(":", "", gpu); print "node", gpu } /^  [0-9a-f]+:/ { for (i = 2; i <= NF; i++) print $i }' "$rls" |
		awk '$1 == "node" { gpu = $2; next } left { left--; if (++at == 1) engine = $1; if (at == 2) db = $1
			if (!left && name == "MAP_QUEUES") print name, gpu, engine, db; next }
			{ name = $1 == "c013a100" ? "MAP_PROCESS" : "MAP_QUEUES"; if ($1 !~ /^c013a100|c005a200$/) name = "BAD"
			  if (name == "MAP_PROCESS") { left = 20; print name, gpu, "-", "-" } else left = 6; at = 0 }'
}

# XCCS HQDS MQDS: a host of so many XCCs a GPU. ON OFF MQDS8 RLS: another one, with so many mapped compute queues, and the PIDs of
# those that are not.
check() {
	local xccs=$1 hqds=$2 mqds=$3 on=$4 off=$5 mqds8=$6 rls=$7 all kind wanted got
	all=$(slots "$hqds")
	is "every compute slot, and what its registers hold" "$(gpq --hqds "$hqds" --mqds "$mqds" -a -rno GPU,XCC,MEC,PIPE,QUEUE,ACTIVE,VMID,RING_ADDR,RING,RPTR,WPTR,DOORBELL,PRIO,MQD_ADDR,ERROR,TYPE | sed -n 's/ compute$//p')" \
		"$(normalize <<<"$all")"
	for kind in 'CP Pipe [0-9]+, Queue=compute' 'HIQ on MEC=hiq' 'SDMA Engine=sdma'; do
		is "number of ${kind#*=} slots" "$(gpq --hqds "$hqds" -a -rno TYPE | grep -c "^${kind#*=}")" "$(grep -cE "${kind%=*}" "$hqds")"
	done
	is "places of all slots" "$(gpq --hqds "$hqds" -a -rno TYPE,XCC,PIPE,QUEUE)" "$(awk '{ print $2, $3, $4, $5 }' <<<"$all")"
	is "nothing left over" "$(gpq -v --hqds "$hqds" --mqds "$mqds" -ro TYPE 2>&1 | sort -u | grep -vE '^(compute|sdma|hiq)$')" TYPE

	# Every MQD, on each of its XCCs, is in a slot of that XCC, and that slot is its owner's: address by address.
	wanted=$(mqd_of_xcc "$mqds" | while read -r pid gpu xcc base; do
		printf '%d %d %d 0x%x mqd\n' "$pid" $((0x$gpu)) "$xcc" $((0x$base))
	done | sort)
	is "each MQD is joined to its slot on each XCC" "$(gpq --hqds "$hqds" --mqds "$mqds" --active -rno PID,GPU,XCC,MQD_ADDR,MATCH | grep -v '^-' | sort)" \
		"$wanted"
	rig is "of all XCCs" "$(wc -l <<<"$wanted")" "$(($(grep -c 'Compute queue on device' "$mqds") * xccs))"

	# SDMA slots keep what they held: the capture has none whose doorbell is enabled (word 18, bit 28).
	is "SDMA slots in use" "$(gpq -q --hqds "$hqds" --sdma -r | wc -l)" \
		"$(awk 'NR == 1 { print "heading" } $2 == "sdma" && substr($6, 18 * 8 + 1, 1) == "1"' <<<"$all" | wc -l)"
	is "SDMA slots with an old ring" "$(gpq --hqds "$hqds" --sdma -a --fields -rno FIELD,CONTENT | grep -c '^RB_ENABLE yes')" \
		"$(awk '$2 == "sdma" && substr($6, 8, 1) ~ /[13579bdf]/' <<<"$all" | wc -l)"

	# All registers: as many as the text has words, the same words in the same order.
	is "all registers" "$(gpq --hqds "$hqds" --raw-regs -rno VALUE)" \
		"$(awk '{ print $6 }' <<<"$all" | tr -d '\n' | fold -w 8 | sed 's/^0*\(.\)/0x\1/')"
	is "all addresses" "$(gpq --hqds "$hqds" --raw-regs -rno ADDRESS,VALUE | awk '{ print $1 }' | grep -xFf <(awk '/^    [0-9a-f]+:/ { a = substr($1, 1, 8); sub(/^0+/, "", a); print "0x" a }' "$hqds" | sort -u))" \
		"$(awk '/^    [0-9a-f]+:/ { a = substr($1, 1, 8); sub(/^0+/, "", a); print "0x" a }' "$hqds")"
	is "every register but the hole has a name" "$(gpq --hqds "$hqds" -a --regs -rno REGISTER | grep -c '^-')" "$(grep -cE 'CP Pipe|HIQ on' "$hqds")"

	# The MQDs of another host, in memory: dword 130 on each XCC, and nobody's slots.
	is "MQDs in memory: on hardware or not, on each XCC" \
		"$(gpq --mqds "$mqds8" -rno TYPE,XCC,ACTIVE | sed -n 's/^compute //p')" \
		"$(awk '/queue on device/ { type = $1; xcc = -1 } /^    00000000:/ { xcc++ } /^    00000200:/ && type == "Compute" { print xcc, $4 == "00000001" ? "yes" : "no" }' "$mqds8")"
	is "MQDs of one host are in no slot of another" "$(gpq --hqds "$hqds" --mqds "$mqds8" -a -rno PID | sort -u)" -

	# The runlist: a row for each packet, of the kind that its header says, by engine (bits 28:26).
	wanted=$(packets | while read -r name gpu engine db; do
		[ "$name" = MAP_QUEUES ] || { echo "$name $((0x$gpu)) - -"; continue; }
		[ $((0x$engine >> 26 & 7)) = 0 ] && kind=compute || kind=sdma
		printf '%s %d %s 0x%x\n' "$name" $((0x$gpu)) "$kind" $((0x$db & 0xffffffc))
	done)
	got=$(gpq --rls "$rls" --mqds "$mqds8" -rno PACKET,GPU,TYPE,DOORBELL --runlist)
	is "every packet of the runlist" "$(grep -v '^none' <<<"$got")" "$wanted"
	is "mapped compute queues" "$(grep -c 'MAP_QUEUES.*compute' <<<"$got") $(grep -c 'MAP_QUEUES.*compute' <<<"$wanted")" "$on $on"
	# [debugfs.mqd-active]: dword 130 is 0 for the queues that have no packet.
	is "unmapped ones" "$(gpq --rls "$rls" --mqds "$mqds8" --runlist -rno PACKET,PID | grep '^none')" "$(tr ' ' '\n' <<<"$off" | sed 's/^/none /')"
	is "every packet has its process" "$(gpq --rls "$rls" --mqds "$mqds8" --runlist -rno PID | grep -c '^[0-9]')" "$(wc -l <<<"$got")"

	# Each captured MQD is in its slots, or there is a reason: here all are, there none is.
	is "no queue without a slot" "$(gpq --hqds "$hqds" --mqds "$mqds" --summary --table waiting -ro WHY)" WHY
	is "a reason for every other one, another where the slots of its GPU are missing" \
		"$(gpq --hqds "$hqds" --mqds "$mqds8" --rls "$rls" --summary --table waiting -rno WHY,REASON |
			sed -E 's/^(off|moving) ..*/slots/; s/^no-slots ..*/none/' | sort | uniq -c)" \
		"$(awk 'NR == FNR { if (/^Node/) gpu[substr($4, 1, length($4) - 1)]; next } /queue on device/ { print $NF in gpu ? "slots" : "none" }' "$hqds" "$mqds8" |
			sort | uniq -c)"
	is "slots in use on each XCC" "$(gpq --hqds "$hqds" --summary --by xcc -rno GPU,XCC,SLOTS,USED,FREE,TYPE | sed -n 's/ compute$//p' | sort)" \
		"$(awk '$2 == "compute" { n[$1 " " $3] += substr($6, 24, 1) == "1" } END { for (k in n) print k, n[k] }' <<<"$all" |
		while read -r gpu xcc n; do echo "$((0x$gpu)) $xcc 24 $n $((24 - n))"; done | sort)"

	# Torn anywhere it is still a dump: no crash, and as many slots as it announces.
	empty "torn" "$(for n in 0 1 24 30 100 4000 65536 300001 700003; do
		head -c $n "$hqds" >"$work/torn"
		got=$(gpq -q --hqds "$work/torn" --mqds "$mqds" -a -rno TYPE 2>/dev/null)
		status=$?
		[ $status = 0 ] || [ $status = 3 ] || [ $n -lt 100 ] || echo "$n: status $status"
		slots=$(head -n "$(wc -l <"$work/torn")" "$work/torn" | grep -cE 'CP Pipe|HIQ on|SDMA Eng')
		[ "$(grep -c . <<<"$got")" = "$slots" ] || echo "$n: $slots slots, got $(grep -c . <<<"$got")"
	done)"
}

data=$top/tests/data/kfd
check 2 "$data/hqds-streams.txt" "$data/mqds-streams.txt" 4 "21904 21904" "$data/mqds-busy.txt" "$data/rls-busy.txt"
kfd=$samples/kfd
if [ -r "$kfd/hqds-16streams.txt" ]; then
	check 4 "$kfd/hqds-16streams.txt" "$kfd/mqds-16streams.txt" 40 "3658041 3658041 3658041" "$kfd/mqds-8gpu-sdma.txt" "$kfd/rls-8gpu.txt"
else
	pass "captures # skip no real samples"
fi
finish
