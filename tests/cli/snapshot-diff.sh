#!/bin/bash
# gpq snapshot --diff: against what the recording program said it did (HOW, TRUTH), and against edited trees. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
hosts=$top/tests/hosts
cd "$work" || exit 1

# "PID:QID" of the queues with a change, in one line
with() { # CHANGE BEFORE AFTER
	gpq snapshot --diff -J "$2" "$3" 2>/dev/null |
		jq -r --arg c "$1" '[.changes[] | select(.changes | index($c)) | "\(.pid):\(.qid)"] | join(" ")'
}

# Do details say that what went off is evicted?
called() { gpq snapshot --diff -J "$@" 2>/dev/null | jq -c '.changes[].detail | select(. and startswith("hardware on -> off")) | contains("off (evicted)")' | sort -u; }

# --- queues that the debugger suspended, and that an eviction took ---

for model in gfx90a gfx942 gfx942x8; do
	a=$hosts/vm-$model-running b=$hosts/vm-$model-suspended e=$hosts/vm-$model-evicted
	read -r q1 q2 pid < <(sed -nE 's/.*queues ([0-9]+) and ([0-9]+) of process ([0-9]+) are suspended.*/\1 \2 \3/p' "$b/HOW")
	is "$model: off are the queues that were suspended" "$(with off "$a" "$b")" "$pid:$q1 $pid:$q2"
	is "$model: on are the same, backwards" "$(with on "$b" "$a")" "$pid:$q1 $pid:$q2"
	is "$model: off are all queues of the evicted process" "$(with off "$a" "$e")" \
		"$(gpq --sysroot "$e" queues -p "$pid" -rno PID,QID | sed 's/ /:/' | paste -sd' ')"
	is "$model: the evicted ones are called so" "$(called "$a" "$b") $(called "$a" "$e")" "false true"
	is "$model: nothing is off twice" "$(gpq snapshot --diff -J "$b" "$b" | jq -c .changes)" "[]"
done

# --- progress, by another program: rings by the kernel's own list of queues in TRUTH, positions from the dump of slots ---

position() { # HOST RING_ADDRESS: packets that the AQL queue with this ring (64 KiB) has consumed, and those submitted
	perl -e '
		my ($want, $file) = @ARGV; my @r;
		sub done { return unless @r == 56 && $r[2] & 1 && (($r[9] << 32 | $r[8]) << 8) == $want;
			my $w = $r[55] << 32 | $r[54]; my $ring = 65536 / 4;
			my $waiting = ($w - $r[10]) % $ring; printf "%d %d\n", ($w - $waiting) / 16, $w / 16; exit }
		open F, $file or die; while (<F>) {
			if (/CP Pipe/) { done(); @r = () } elsif (/^    [0-9a-f]{8}: (.*)/) { push @r, map { hex } split / /, $1 } else { done(); @r = () }
		} done()' "$(printf %d "$2")" "$1/sys/kernel/debug/kfd/hqds"
}
a=$hosts/vm-gfx942-running b=$hosts/vm-gfx942-suspended
pid=$(sed -n 's/^mkqueue \([0-9]*\):.*/\1/p;T;q' "$b/TRUTH") # of the process whose queues are suspended
ring=$(sed -nE 's/^ *queue 1 .*ring_base (0x[0-9a-f]+).*/\1/p' "$b/TRUTH")
read -r c1 s1 < <(position "$a" "$ring")
read -r c2 s2 < <(position "$b" "$ring")
is "progress is what the slots say" \
	"$(gpq snapshot --diff "$a" "$b" -rno PID,QID,CONSUMED,SUBMITTED,UNIT | grep "^$pid 1 ")" "$pid 1 $((c2 - c1)) $((s2 - s1)) packets"
while read -r qid ring; do
	is "the ring of queue $qid is the kernel's" \
		"$(gpq snapshot --diff -a "$a" "$b" -rno PID,QID,RING_ADDR_AFTER | grep "^$pid $qid ")" "$pid $qid $ring"
done < <(sed -nE 's/^ *queue ([0-9]+) gpu.*ring_base (0x[0-9a-f]+).*/\1 \2/p' "$b/TRUTH")
is "a suspended queue makes no progress from one look to the next" "$(gpq snapshot --diff "$b" "$b" -ro CHANGE | sort -u)" CHANGE

# --- slots: each XCC has one, which may be another; two GPUs may give the same doorbell ---

# The slots in use of a dump by their doorbell (register 15), as gpq writes them: "p0q2", or those of all XCCs where they differ.
slots() { # HOST
	perl -e 'my (%of, @order, $at, @r);
		sub done { return unless $at && @r > 15 && $r[2] & 1; my $d = $r[15] & 0x0ffffffc;
			push @order, $d unless $of{$d}; push @{$of{$d}}, $at }
		while (<>) { if (/Inst (\d+), +CP Pipe (\d+), Queue (\d+)/) { done(); @r = (); $at = [$1, "p$2q$3"] }
			elsif (/^    [0-9a-f]{8}: (.*)/) { push @r, map { hex } split / /, $1 } else { done(); $at = undef } }
		done(); for (@order) { my @s = @{$of{$_}}; my %n = map { $_->[1] => 1 } @s;
			print join(",", keys %n == 1 ? $s[0][1] : map { "$_->[0]:$_->[1]" } @s), "\n" }' "$1/sys/kernel/debug/kfd/hqds" | sort
}
x8=$hosts/vm-gfx942x8-running hqds=sys/kernel/debug/kfd/hqds
wanted=$(slots "$x8")
shown() { gpq snapshot --diff -a "$x8" "$1" -rno SLOTS_"$2" | grep -v ^-$ | sort; }
is "the slots of each XCC are those with the queue's doorbell" "$(shown "$x8" AFTER)" "$wanted"
is "... which differ for two queues and are the same for one" "$(shown "$x8" AFTER | sed -E 's/^p.*/same/; s/^0:.*,7:.*/differ/' | xargs)" "differ differ same"
is "... before as after" "$(shown "$x8" BEFORE)" "$wanted"
for order in "first second" "second first"; do # another GPU with the same doorbells, in other slots
	rm -rf two && cp -r "$x8" two && cp "two/$hqds" first
	sed 's/^Node 1, gpu_id .*/Node 2, gpu_id 1234:/; s/Pipe 3, Queue/Pipe 7, Queue/; s/Pipe 2, Queue/Pipe 3, Queue/; s/Pipe 7, Queue/Pipe 2, Queue/' first >second
	# shellcheck disable=SC2086
	cat $order >"two/$hqds"
	is "... of another GPU nothing is taken ($order)" "$(shown two AFTER)" "$wanted"
done

# --- MES: no runlist; what can be seen is that the queue left its slot ---

is "gfx1100: the suspended queue is in no slot any more" \
	"$(gpq snapshot --diff "$hosts/vm-gfx1100-running" "$hosts/vm-gfx1100-suspended" -rno PID,QID,SLOTS_AFTER | grep none)" \
	"$(sed -n 's/^mkqueue \([0-9]*\):.*/\1/p;T;q' "$hosts/vm-gfx1100-suspended/TRUTH") 0 none"
is "its GPU is the driver's number of it, the only one" "$(gpq snapshot --diff -J "$hosts"/vm-gfx1100-{running,suspended} | jq -c '[.changes[] | [.gpu_id, .gpu_index]] | unique')" \
	"$(jq -c '[[., 0] | select(.[0] > 0)]' "$hosts"/vm-gfx1100-running/sys/class/kfd/kfd/topology/nodes/1/gpu_id)"

# --- what only a running host tells: .now ---

now() { rm -rf "$3" && cp -r "$a" "$3" && touch "$3/MANIFEST" && echo "$2" >"$(ls -d "$3"/sys/class/kfd/kfd/proc/"$pid"/queues/"$1")/.now"; }
pid7=$pid
now 2 "4096 8192 -" n1
now 2 "12288 16384 4321" n2
is "held by gpq, and the bytes of an SDMA queue" \
	"$(gpq snapshot --diff n1 n2 -rno QID,CHANGE,CONSUMED,SUBMITTED,UNIT,POINTERS_AFTER)" '2 progress\x20suspended 8192 8192 bytes process'
is "and no more" "$(gpq snapshot --diff n2 n1 -rno QID,CHANGE)" "2 resumed"

# --- edited trees ---

h=$hosts/gfx90a-k6.12
edit() { rm -rf edited && cp -r "$h" edited && cd edited && eval "$1" && cd ..; }
change() { edit "$1" && gpq snapshot --diff "$h" edited -rno PID,QID,CHANGE 2>&1 | paste -sd,; }
kfd=sys/class/kfd/kfd/proc

is "the same tree: nothing" "$(edit : && gpq snapshot --diff "$h" edited -ro CHANGE)" CHANGE
is "a queue went" "$(change "rm -r $kfd/52880/queues/0")" "52880 0 went"
is "of which process, on which GPU" "$(gpq snapshot --diff "$h" edited -J | jq -r '.changes[] | "\(.command) \(.gpu_id) \(.type)"')" \
	"$(sed -n 's/^Name:\t//p' "$h/proc/52880/status") $(cat "$h/$kfd/52880/queues/0/gpuid") compute"
is "a queue came" "$(change "cp -r $kfd/52880/queues/0 $kfd/52880/queues/7")" "52880 7 came"
is "a process went" "$(change "rm -r $kfd/41207")" "41207 0 went,41207 1 went,41207 2 went,41207 3 went"
is "a process began anew under the same PID" \
	"$(change "perl -pi -e 's/^((?:\\S+ ){21})\\d+/\${1}999999/' proc/52880/stat")" "52880 0 went,52880 0 came"
is "a queue id was given out again: another type" "$(change "printf 1 >$kfd/52880/queues/0/type")" "52880 0 went,52880 0 came"
is "another ring" "$(change "printf 8192 >$kfd/52880/queues/0/size")" "52880 0 ring"
is "an eviction ended" "$(change "echo 777 >\$(ls -d $kfd/52880/stats_*)/evicted_ms")" "52880 0 evicted"
# Dword 134 of the last MQD, which is of 52880, from 7 to 11.
edit "perl -0pi -e 's/(.*\\n    00000200: (?:\\S+ ){6})00000007/\${1}0000000b/s' sys/kernel/debug/kfd/mqds"
pid=$(tac edited/sys/kernel/debug/kfd/mqds | sed -n 's/^Process \([0-9]*\) .*/\1/p' | head -1)
is "another priority" "$(gpq snapshot --diff "$h" edited -rno PID,CHANGE,PRIO_BEFORE,PRIO_AFTER,DETAIL)" "$pid priority 7 11 priority\\x207\\x20->\\x2011"
# Slot 3 is printed where slot 2 was.
edit "perl -pi -e 's/(CP Pipe \\d, Queue) 2/\$1 9/; s/(CP Pipe \\d, Queue) 3/\$1 2/; s/(CP Pipe \\d, Queue) 9/\$1 3/' sys/kernel/debug/kfd/hqds"
is "other slots, and only those in one" "$(gpq snapshot --diff "$h" edited -rno CHANGE | sort -u)" moved
is "as many as have one" "$(gpq snapshot --diff "$h" edited -rno CHANGE | wc -l)" "$(grep -A1 'CP Pipe' "$h/sys/kernel/debug/kfd/hqds" | awk '$4 ~ /1$/' | wc -l)"
# The last two words of the slot of 52880 are its write pointer: 16 dwords were written, and 70,128 read.
edit "sed -i 's/00051230 00000000$/00000010 00000000/' sys/kernel/debug/kfd/hqds"
is "more is read than was written: how much was consumed is not known" \
	"$(for x in "$h" edited; do gpq snapshot --diff -a "$h" "$x" -rno PID,CONSUMED,UNIT | grep ^52880; done)" "52880 0 packets
52880 - -"
edit "rm -r sys/kernel"
is "without dumps: no difference is made up" "$(gpq snapshot --diff "$h" edited -ro CHANGE)" CHANGE
is "of a moment that has none, and of no other, -v says so" \
	"$(for x in "$h" edited; do gpq snapshot --diff "$h" "$x" -v 2>&1 >/dev/null | grep -c 'mqds:'; done | xargs)" "0 1"
is "and -v says what is unknown" "$(gpq snapshot --diff "$h" edited -v 2>&1 >/dev/null | grep -c 'edited: .*unknown')" 2
edit "rm -r sys/class/kfd"
is "no snapshot" "$(gpq snapshot --diff "$h" edited 2>&1; echo $?)" \
	"gpq: snapshot: edited: no KFD driver: /sys/class/kfd/kfd: No such file or directory; is it a directory that gpq snapshot made?
6"

notes() { gpq snapshot --diff -v "$@" 2>&1 >/dev/null | sed -n 's/^gpq: snapshot: \([0-9]* queues*: [^:(]*\).*/\1/p' | sed 's/ $//'; }
likely="queues: which MQD is whose is likely but not certain" stale="queues: progress is unknown" unknown="queues: on or off hardware is not known at both moments"
is "-v counts what is unsure: queues of one process that dumps do not tell apart, SDMA queues" "$(notes "$a" "$b")" "1 ${stale/queues/queue}
2 $likely"
is "of each two moments" "$(notes "$a" "$b" "$b" "$a" | sort | uniq -c | sed 's/^ *//')" "2 1 ${stale/queues/queue}
3 2 $likely"
rm -rf edited && cp -r "$b" edited && rm edited/sys/kernel/debug/kfd/hqds
is "without slots the pointers of all that are mapped are old" "$(notes "$a" edited)" "3 $stale
2 $likely"
is "an SDMA queue of MES may be off" "$(notes "$hosts/vm-gfx1100-running" "$hosts/vm-gfx1100-suspended")" "1 ${unknown/queues/queue}
1 ${stale/queues/queue}
2 $likely"

# --- statuses and messages ---

status() { # MESSAGE-AND-STATUS of a diff
	gpq snapshot --diff "$@" 2>&1 >listed
	echo $?
}
is "nothing changed: 0" "$(status --exit-code -J "$h" "$h") $(jq -c .changes listed)" "0 []"
is "something changed: 1 with --exit-code" "$(status --exit-code "$a" "$b") $(grep -c off listed)" "1 2"
edit "rm -r $kfd/52880/queues/0"
is "a queue that only went is a change" "$(status --exit-code "$h" edited) $(grep -c went listed)" "1 1"
is "and one that only came" "$(status --exit-code edited "$h") $(grep -c came listed)" "1 1"
is "off hardware, pointers are those that were saved" \
	"$(gpq snapshot --diff -aJ "$h" "$h" 2>/dev/null | jq -c '[.changes[] | select(.on_hw_after == false).pointers_after] | unique')" '["saved"]'
pid=$pid7
now 2 "8192 4096 -" n3
is "indices read one after the other: nothing waits" "$(gpq --sysroot n3 queues -p "$pid7" -J 2>/dev/null | jq '.queues[] | select(.qid == 2).backlog')" 0
is "and 0 without" "$(status "$a" "$b") $(grep -c off listed)" "0 2"
is "one name" "$(status "$a")" "gpq: snapshot: --diff takes two snapshots or more, or a series of them; gpq snapshot --diff BEFORE AFTER; / is the live host
2"
is "no such folder" "$(status "$a" gone)" "gpq: snapshot: gone: No such file or directory; name a folder or an archive that gpq snapshot wrote
5"
touch x.tar
is "no archive" "$(status "$a" x.tar | head -1)" "gpq: snapshot: x.tar: Not a directory; name a folder or an archive that gpq snapshot wrote"
is "the wrong way round" "$(status "$b" "$a" | head -1 | sed 's/[0-9.][0-9.]* s before/N s before/')" \
	"gpq: snapshot: the second moment is N s before the first; name the earlier one first"
cp -r "$b" boot1
cp -r "$a" boot2
boots() { # HOST-1 HOST-2: their names, or - for a host without one; the first is the later moment
	for i in 1 2; do echo "${!i}" >boot$i/proc/sys/kernel/hostname; [ "${!i}" != - ] || rm boot$i/proc/sys/kernel/hostname; done
	status boot1 boot2 | sed -n 's/; compare two moments of one boot$//p; s/.* s before/later/p'
}
is "one boot" "$(boots one two)" "later the first; name the earlier one first"
echo 75032863-4361-4406-bd21-0c9c28582c3f >boot2/proc/sys/kernel/random/boot_id
is "another boot" "$(boots one two)" "gpq: snapshot: one and two are not the same boot: equal PIDs are chance"
is "of nameless hosts" "$(boots - -)" "gpq: snapshot: the first and the second are not the same boot: equal PIDs are chance"
for i in 2 1; do
	: >boot$i/proc/sys/kernel/random/boot_id
	is "a boot that is unknown may be the same, $i" "$(boots one two)" "later the first; name the earlier one first"
done
is "--all without --diff" "$(gpq --sysroot "$h" snapshot -a x 2>&1; echo $?)" "gpq: snapshot: --all is only for --diff; see gpq help snapshot
2"
# shellcheck disable=SC2086 # an empty word is none
is "the snapshot is named where there are more than two" \
	"$(for more in "" "$b"; do gpq snapshot --diff "$a" "$b" $more -q -a | awk 'NR == 1 { print $1 }'; done | xargs)" "CHANGE SNAPSHOT"
cp -r "$top/tests/hosts/gfx90a-k6.12" fewer
rm -r fewer/sys/class/kfd/kfd/proc/52880/queues/*
is "whose the queue was" "$(gpq snapshot --diff "$top/tests/hosts/gfx90a-k6.12" fewer -qrno CHANGE,PID,USER,CONTAINER,POD --filter 'CHANGE == "went"')" \
	"went 52880 1000 24c458cfb46d -"
is "a full disk" "$(gpq snapshot --diff "$a" "$b" 2>&1 >/dev/full; echo $?)" "gpq: snapshot: standard output: No space left on device
1"

finish
