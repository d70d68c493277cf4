#!/bin/bash
# CU_MASK and CUS_ON of gpq queues and gpq hqd, on recorded hosts whose MQDs get masks here. [debugfs.mqd-compute] has the places
# of the masks, sums are made by hand. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit 1

# Writes words into the compute MQDs of a process of `host`: all, or the N-th of its dumps (from 0).
write() { # PID N|all DWORD=HEX...
	perl -i -e 'my ($want, $only, @set) = splice @ARGV, 0, @ARGV - 1; my ($pid, $n) = ("", -1); my %set = map { split /=/ } @set;
		while (<>) {
			($pid, $n) = ($1, -1) if /^Process (\d+)/;
			$n++ if /^ +00000000: c0310800/;
			$n += 1000 if /SDMA queue/; $n -= 1000 if /Compute queue/ && $n >= 999;
			if ($pid eq $want && ($only eq "all" || $n == $only) && $n < 999 && /^( +)([0-9a-f]{8}): (.*)/) {
				my ($space, $at, @w) = ($1, hex($2) / 4, split / /, $3);
				for (keys %set) { $w[$_ - $at] = $set{$_} if $_ >= $at && $_ < $at + 8 }
				$_ = sprintf "%s%08x: %s\n", $space, $at * 4, join " ", @w }
			print }' "$@" host/sys/kernel/debug/kfd/mqds
}
masked() { # HOST PID N|all DWORD=HEX...: a copy of the host
	rm -rf host && cp -r "$top/tests/hosts/$1" host && write "${@:2}"
}
masks() { gpq --sysroot host queues -p "$1" --type compute -rno QID,CU_MASK,CUS_ON "${@:2}" 2>/dev/null; }
shown() { gpq --sysroot host "$@" 2>/dev/null | sed -nE '1 s/.*(CU_MASK|CUS_ON) +(CUS_ON).*/\1 \2/p'; }

# --- gfx90a: 8 shader engines of 13 CUs, in dwords 23, 24, 26, 27 and 39 to 42 ---

cp -r "$top/tests/hosts/gfx90a-k6.12" host
is "without a mask all CUs: 416 SIMDs / 4" "$(masks 52880)" "0 all 104/104"
is "... and no such columns" "$(for c in queues hqd; do gpq --sysroot host $c 2>/dev/null | head -1 | grep -owE 'PRIO|CU_MASK|CUS_ON'; done | xargs)" "PRIO PRIO"
half=(23=00001fff 24=00001fff 26=00001fff 27=00001fff 39=00000000 40=00000000 41=00000000 42=00000000)
masked gfx90a-k6.12 52880 all "${half[@]}"
engines=00001fff,00001fff,00001fff,00001fff,00000000,00000000,00000000,00000000
is "four of eight engines: 4 * 13" "$(masks 52880)" "0 $engines 52/104"
is "... which shows the columns" "$(shown queues), $(shown hqd)" "CU_MASK CUS_ON, CU_MASK CUS_ON"
is "... of the queue in a slot, too, of others all, of an SDMA queue nothing" \
	"$(gpq --sysroot host hqd -rno PID,TYPE,CU_MASK,CUS_ON 2>/dev/null | grep -v hiq | sort -u)" "41207 compute all 104/104
41207 sdma - -
52880 compute $engines 52/104"
is "... and of its MQD" "$(gpq --sysroot host hqd --mqd -p 52880 -rno CU_MASK,CUS_ON 2>/dev/null)" "$engines 52/104"
is "... in JSON, too" "$(gpq --sysroot host queues -p 52880 -J -o CU_MASK,CUS_ON 2>/dev/null | jq -c '[.queues[] | .cu_mask, .cus_on]')" "[\"$engines\",\"52/104\"]"
is "a filter finds it" "$(gpq --sysroot host queues --filter 'CU_MASK != "all"' -rno PID 2>/dev/null)" 52880
masked gfx90a-k6.12 52880 all 23=00001fff
is "one engine masked, of others it is not known what is there: no sum" "$(masks 52880)" \
	"0 00001fff,ffffffff,ffffffff,ffffffff,ffffffff,ffffffff,ffffffff,ffffffff -"
masked gfx90a-k6.12 52880 all "${half[@]/00000000/00007fff}" 27=0000ffff
is "more CUs than there are (4 * 15 + 3 * 13 + 16): no sum" "$(masks 52880 | cut -d' ' -f3)" -
masked gfx90a-k6.12 52880 all 23=zzzzzzzz
is "a damaged word: unknown" "$(masks 52880)" "0 - -"
masked gfx90a-k6.12 41207 1 "${half[@]}"
is "one of two queues that are not told apart: unknown for both" "$(masks 41207)" "0 all 104/104
1 - -
2 - -"
masked gfx90a-k6.12 52880 all 25=00001fff 28=00001fff 44=00001fff
is "other dwords are no mask" "$(masks 52880)" "0 all 104/104"
rm -r host/sys/class/kfd/kfd/topology
is "without a topology the places are not known" "$(masks 52880)" "0 - -"

# --- gfx942 with 8 XCCs of 38 CUs, each with its own MQD; dwords 39 to 42 are something else ---

pid=$(sed -n 's/^Process \([0-9]*\) .*/\1/p;T;q' "$top/tests/hosts/vm-gfx942x8-running/sys/kernel/debug/kfd/mqds")
eight=(23=000000ff 24=000000ff 26=000000ff 27=000000ff)
masked vm-gfx942x8-running "$pid" all "${eight[@]}"
is "the same on each XCC: 8 * 4 * 8 of 1216 SIMDs / 4" "$(masks "$pid" | cut -d' ' -f2- | sort -u)" "000000ff,000000ff,000000ff,000000ff 256/304"
write "$pid" 0 23=0000000f
is "XCCs that differ are told apart: 256 - 4" "$(gpq --sysroot host hqd --mqd -p "$pid" -rno CU_MASK,CUS_ON 2>/dev/null | grep / | sort -u | grep ' 252')" \
	"0000000f,000000ff,000000ff,000000ff$(printf '/000000ff,000000ff,000000ff,000000ff%.0s' 1 2 3 4 5 6 7) 252/304"

# --- gfx1100: dwords 44 to 47 go on; a bit may be a pair of CUs ---

pid=$(sed -n 's/^Process \([0-9]*\) .*/\1/p;T;q' "$top/tests/hosts/vm-gfx1100-running/sys/kernel/debug/kfd/mqds")
masked vm-gfx1100-running "$pid" all 23=0000ffff 24=0000ffff 26=0000ffff 27=0000ffff 44=0000ffff 45=0000ffff 46=00000000 47=00000000
is "gfx1100: the mask, no sum" "$(masks "$pid" | cut -d' ' -f2- | sort -u)" \
	"0000ffff,0000ffff,0000ffff,0000ffff,0000ffff,0000ffff,00000000,00000000 -"
sed -i 's/^gfx_target_version 110000$/gfx_target_version 100300/' host/sys/class/kfd/kfd/topology/nodes/*/properties
is "gfx1030: four dwords" "$(masks "$pid" | cut -d' ' -f2- | sort -u)" "0000ffff,0000ffff,0000ffff,0000ffff -"
finish
