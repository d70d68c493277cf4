#!/bin/bash
# Priority inversion: a queue waits for a slot while one of a lower priority is in a slot of its GPU. gpq hqd and gpq why say so on
# recorded hosts whose dumps are changed here to be over-subscribed, and where one thing is missing they do not.
# [debugfs.mqd-compute] has the dwords: 128 and 129 the address of the MQD, 130 on hardware, 133 level, 134 priority,
# 138 read pointer, 182 write pointer. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit 1

# Writes words into each MQD, or slot, whose dword 128 is BASE; registers of slots begin at 0xc914 with dword 128.
put() { # mqds|hqds BASE DWORD=HEX...
	perl -0777 -i -e 'my ($base, @set) = splice @ARGV, 0, @ARGV - 1; my %set = map { split /=/ } @set;
		for my $dump (split /(?=^ +(?:00000000|0000c914): )/m, <>) {
			if ($dump =~ /^ +(?:00000200|0000c914): $base /m) {
				$dump =~ s{^( +)([0-9a-f]{8}): (.*)}{
					my ($space, $at, @w) = ($1, hex $2, split / /, $3);
					my $first = $at < 0xc914 ? $at / 4 : ($at - 0xc914) / 4 + 128;
					for (keys %set) { $w[$_ - $first] = $set{$_} if $_ >= $first && $_ < $first + @w }
					sprintf "%s%08x: %s", $space, $at, join " ", @w }gme }
			print $dump }' "${@:2}" "host/sys/kernel/debug/kfd/$1"
}
# The runlist ends with a packet that runs it again: its GPU is over-subscribed [debugfs.rls-packets].
chain() { # LAST-LINE ADDRESS NEXT-LINE: words
	sed -i "\$s/\$/ $1/; \$a\\  $2: $3" host/sys/kernel/debug/kfd/rls
}
priority() { # mqds|hqds BASE PRIORITY: as the driver writes it, and its level
	put "$1" "$2" 133="0000000$(($3 > 10 ? 2 : $3 > 6))" "134=$(printf %08x "$3")"
}

# --- hqd: two queues of 664 and one of 665, all in slots with priority 7 ---

low=046c7000 high=03069000 third=01a21000
taken_off() { # dwords of the MQD as the firmware leaves them: off, with packets between its pointers
	rm -rf host && cp -r "$top/tests/hosts/vm-gfx942-running" host
	chain "c002a500 00000000" 00000120 "00000000 00000000"
	put mqds $high 130=00000000
	put hqds $high 130=00000000
}
inverted() { # one queue of 664 waits with priority 11, the other has 12, that of 665 3
	taken_off
	for file in mqds hqds; do priority $file $high 11 && priority $file $low 3 && priority $file $third 12; done
}
said() { gpq --sysroot host hqd "$@" 2>&1 >/dev/null | sed -n 's/^gpq: hqd: inversion: //p'; }
column() { gpq --sysroot host hqd --summary --table waiting --csv -no INVERSION 2>/dev/null | tr -d '\r'; }
nothing() { # NAME: the queue is listed as waiting, and no inversion is said
	is "$1: none" "$(gpq --sysroot host hqd --summary --table waiting -rno RING_ADDR,INVERSION 2>/dev/null | grep 0x7f0f85b2b000), $(said)" "0x7f0f85b2b000 -, "
}
waits="a queue of pid 664 (priority 11) waits while queue 0 of pid 665 (priority 3) is in slot p0q2 of XCC 0"
next="INVERSION of gpq hqd --summary has all; --sample 100 tells whether it lasts"

inverted
is "hqd says it in a line" "$(said)" "$waits; $next"
is "... and with --summary" "$(said --summary)" "$waits; $next"
is "... with the queue's id where that is known" "$(said --likely)" "queue 1${waits#a queue}; $next"
is "... of the process that waits" "$(said -p 664) | $(said -p 665)" "$waits; $next | "
is "... not with the MQDs, of which there are four" "$(gpq --sysroot host hqd --mqd -c 2>&1)" 4
is "a column of --summary has it" "$(column)" "$waits"
is "... which is shown" "$(gpq --sysroot host hqd --summary 2>/dev/null | grep -c 'REASON.* INVERSION$')" 1
is "... and is in JSON" "$(gpq --sysroot host hqd --summary -J 2>/dev/null | jq -c '[.waiting[].inversion]')" "[\"$waits\"]"
priority hqds $third 2
is "of several in slots that of the lowest priority" "$(column)" "a queue of pid 664 (priority 11) waits while a queue of pid 664 (priority 2) is in slot p2q2 of XCC 0"
put mqds $third 130=00000000 && put hqds $third 130=00000000
priority mqds $third 4
is "of several that wait the line has one, the column all" "$(said)
$(column)" "$waits; $next
$waits
${waits/11/4}"

inverted && priority hqds $low 11
nothing "equal priorities"
inverted && priority hqds $low 12
nothing "a higher priority in the slot"
inverted && put mqds $high 138=00003ff0
nothing "no work: the pointers are equal"
inverted && put mqds $high 130=00000001
nothing "it was on hardware when its MQD was read"
inverted && put hqds $high 130=00000001
is "it is in a slot: none" "$(gpq --sysroot host hqd --summary --table waiting -c 2>/dev/null), $(said)" "0, "
inverted && cp "$top/tests/hosts/vm-gfx942-running/sys/kernel/debug/kfd/rls" host/sys/kernel/debug/kfd
nothing "not over-subscribed"
# MAP_QUEUES has the doorbell in its third dword (dword 128 + 15 of the MQD: 0x1008) [debugfs.rls-packets].
inverted && sed -i 's/20000010 00001008 03069000/20000010 00001ff8 03069000/' host/sys/kernel/debug/kfd/rls
nothing "not in the runlist: it is not to run"
inverted && put hqds $low 128=0fffe000 && sed -i s/5b9be038/5b9be03c/ host/sys/kernel/debug/kfd/hqds && put hqds 0fffe000 136=00000001
nothing "a slot whose owner is unknown"
inverted && sed -i '1,/^Process 664/s/on device 5389/on device 538a/' host/sys/kernel/debug/kfd/mqds
perl -0777 -i -pe 's/( Inst 0,  CP Pipe 0, Queue 2\n.*?)(?= Inst)//s; $_ .= "Node 2, gpu_id 538a:\n$1"' host/sys/kernel/debug/kfd/hqds
is "the slot is of another GPU, or partition" "$(gpq --sysroot host hqd -rno GPU,PID,PRIO 2>/dev/null | grep 665)" "$((0x538a)) 665 3"
nothing "... which is another's"

# Linux 7.0 and later write the level alone.
levels() { # of the queue that waits, of those in slots
	taken_off
	for file in mqds hqds; do
		put $file $high 133="0000000$1" && put $file $low 133="0000000$2" && put $file $third 133=00000001
		for base in $high $low $third; do put $file "$base" 134=00000000; done
	done
}
levels 2 0
is "by level, where the driver writes no priorities" "$(said)" "a queue of pid 664 (priority high) waits while queue 0 of pid 665 (priority low) is in slot p0q2 of XCC 0; $next"
levels 1 1
nothing "equal levels"
levels 3 3
nothing "levels that there are not"
# gfx90a: whether its firmware writes dword 130 was not seen [debugfs.mqd-active].
rm -rf host && cp -r "$top/tests/hosts/vm73-gfx90a-oversubscribed" host
first=$(awk '/^ +00000200:/ { print $2; exit }' host/sys/kernel/debug/kfd/mqds)
put mqds "$first" 130=00000000 133=00000002 138=00000010 && put hqds "$first" 130=00000000
is "where the firmware may not write dword 130, one that waits: none" \
	"$(gpq --sysroot host hqd --summary --table waiting -rno WHY,LEVEL,INVERSION 2>/dev/null), $(said)" "takes-turns high -, "

# --- why: queue 7 of 4712 has packets and is in no slot; of 4713 a queue is in the only one in use ---

# A slot with the registers that the MQD with this address has.
slot() { # BASE QUEUE
	echo " Inst 0,  CP Pipe 1, Queue $2"
	perl -0777 -ne 'for my $dump (split /(?=^ +00000000: )/m) {
		next if $dump !~ /^ +00000200: '"$1"' /m;
		while ($dump =~ /^ +([0-9a-f]{8}): (.*)/gm) { printf "    %08x: %s\n", hex($1) - 512 + 0xc914, $2 if hex($1) >= 512 && hex($1) < 512 + 224 } }' \
		host/sys/kernel/debug/kfd/mqds
}
waits() { # PRIORITY-OF-4712 PRIORITY-IN-SLOT BASE-IN-SLOT
	rm -rf host && cp -r "$top/tests/hosts/aql-gfx90a" host && mkdir -p host/sys/module/amdgpu/parameters
	chain "c002a500 00000000 00000000" 00000300 00000000
	priority mqds 00d00000 "$1" && put mqds 00d00000 130=00000000
	{ echo "Node 1, gpu_id e3f9:" && slot "$3" 3; } >host/sys/kernel/debug/kfd/hqds
	priority hqds "$3" "$2"
	priority mqds "$3" "$2"
}
why() { gpq --sysroot host why -p 4712 -Q 7 --csv -no "$@" 2>/dev/null | tr -d '\r'; }
shares="17 compute queues of 3 processes share the GPU, which has 24 slots"
suspend="on that host: gpq suspend -p 4713 takes the queues of lower priority off; or run fewer processes or queues on this GPU"
fewer="on that host: run fewer processes or queues on this GPU; gpq hqd --summary shows who shares it"

waits 11 3 00e00000
is "why says it in its detail" "$(why STATE,DETAIL)" \
	"waits-slot,\"$shares; inversion: queue 7 of pid 4712 (priority 11) waits while queue 0 of pid 4713 (priority 3) is in slot p1q3 of XCC 0\""
is "... and what to do" "$(why DO)" "$suspend"
is "... and in JSON" "$(gpq --sysroot host why -p 4712 -Q 7 -J 2>/dev/null | jq -r '.queues[].inversion, .processes[].do')" \
	"queue 7 of pid 4712 (priority 11) waits while queue 0 of pid 4713 (priority 3) is in slot p1q3 of XCC 0
$suspend"
waits 7 3 00c00000
is "one of its own process" "$(why INVERSION,DO)" "queue 7 of pid 4712 (priority 7) waits while queue 6 of pid 4712 (priority 3) is in slot p1q3 of XCC 0,$fewer"
waits 11 11 00e00000
is "equal priorities: none" "$(why STATE,DETAIL,INVERSION,DO)" "waits-slot,\"$shares\",,$fewer"
waits 7 8 00e00000
is "a higher priority in the slot: none" "$(why STATE,DETAIL,INVERSION,DO)" "waits-slot,\"$shares\",,$fewer"
waits 11 3 00e00000 && sed -i s/e3f9/e3fa/ host/sys/kernel/debug/kfd/hqds
is "a slot of another GPU: none" "$(why STATE,INVERSION)" "waits-slot,"
waits 11 3 00e00000 && put hqds 00e00000 130=00000000
is "an empty slot: none" "$(why STATE,INVERSION)" "waits-slot,"
waits 3 1 00e00000 && { slot 00d00000 4 >>host/sys/kernel/debug/kfd/hqds; }
put hqds 00d00000 130=00000001 182=00000400 # a write index more than was written, as it is read later
is "it is in a slot: none" "$(why STATE,INVERSION)" "hung-or-long,"
waits 11 3 00e00000 && put mqds 00d00000 130=00000001
is "in no slot, but dword 130 was 1: none" "$(why STATE,INVERSION)" "waits-slot,"
waits 11 3 00e00000
is "of queues that do not wait for a slot: none" "$(may 7 gpq --sysroot host why -p 4712 -rno STATE,INVERSION 2>/dev/null | grep -v ^waits-slot | cut -d' ' -f2 | sort -u)" -
rm host/sys/kernel/debug/kfd/hqds
is "without slots it waits, and nothing tells" "$(why STATE,INVERSION)" "waits-slot,"
finish
