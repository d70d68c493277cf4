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

# --- queues that the debugger suspended, and that an eviction took ---

for model in gfx90a gfx942 gfx942x8; do
	a=$hosts/vm-$model-running b=$hosts/vm-$model-suspended e=$hosts/vm-$model-evicted
	read -r q1 q2 pid < <(sed -nE 's/.*queues ([0-9]+) and ([0-9]+) of process ([0-9]+) are suspended.*/\1 \2 \3/p' "$b/HOW")
	is "$model: off are the queues that were suspended" "$(with off "$a" "$b")" "$pid:$q1 $pid:$q2"
	is "$model: on are the same, backwards" "$(with on "$b" "$a")" "$pid:$q1 $pid:$q2"
	is "$model: off are all queues of the evicted process" "$(with off "$a" "$e")" \
		"$(gpq --sysroot "$e" queues -p "$pid" -rno PID,QID | sed 's/ /:/' | paste -sd' ')"
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
		"$(gpq snapshot --diff -a "$a" "$b" -rno PID,QID,RING | grep "^$pid $qid ")" "$pid $qid $ring"
done < <(sed -nE 's/^ *queue ([0-9]+) gpu.*ring_base (0x[0-9a-f]+).*/\1 \2/p' "$b/TRUTH")
is "a suspended queue makes no progress from one look to the next" "$(gpq snapshot --diff "$b" "$b" -ro CHANGE | sort -u)" CHANGE

# --- MES: no runlist; what can be seen is that the queue left its slot ---

is "gfx1100: the suspended queue is in no slot any more" \
	"$(gpq snapshot --diff "$hosts/vm-gfx1100-running" "$hosts/vm-gfx1100-suspended" -rno PID,QID,SLOTS | grep none)" \
	"$(sed -n 's/^mkqueue \([0-9]*\):.*/\1/p;T;q' "$hosts/vm-gfx1100-suspended/TRUTH") 0 none"

# --- what only a running host tells: .now ---

now() { rm -rf "$3" && cp -r "$a" "$3" && touch "$3/MANIFEST" && echo "$2" >"$(ls -d "$3"/sys/class/kfd/kfd/proc/"$pid"/queues/"$1")/.now"; }
pid7=$pid
now 2 "4096 8192 -" n1
now 2 "12288 16384 4321" n2
is "held by gpq, and the bytes of an SDMA queue" \
	"$(gpq snapshot --diff n1 n2 -rno QID,CHANGE,CONSUMED,SUBMITTED,UNIT,POINTERS)" '2 progress\x20suspended 8192 8192 bytes process'
is "and no more" "$(gpq snapshot --diff n2 n1 -rno QID,CHANGE)" "2 resumed"

# --- edited trees ---

h=$hosts/gfx90a-k6.12
edit() { rm -rf edited && cp -r "$h" edited && cd edited && eval "$1" && cd ..; }
change() { edit "$1" && gpq snapshot --diff "$h" edited -rno PID,QID,CHANGE 2>&1 | paste -sd,; }
kfd=sys/class/kfd/kfd/proc

is "the same tree: nothing" "$(edit : && gpq snapshot --diff "$h" edited -ro CHANGE)" CHANGE
is "a queue went" "$(change "rm -r $kfd/52880/queues/0")" "52880 0 went"
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
is "another priority" "$(gpq snapshot --diff "$h" edited -rno PID,CHANGE,PRIO_WAS,PRIO,DETAIL)" "$pid priority 7 11 priority\\x207\\x20->\\x2011"
# Slot 3 is printed where slot 2 was.
edit "perl -pi -e 's/(CP Pipe \\d, Queue) 2/\$1 9/; s/(CP Pipe \\d, Queue) 3/\$1 2/; s/(CP Pipe \\d, Queue) 9/\$1 3/' sys/kernel/debug/kfd/hqds"
is "other slots, and only those in one" "$(gpq snapshot --diff "$h" edited -rno CHANGE | sort -u)" moved
is "as many as have one" "$(gpq snapshot --diff "$h" edited -rno CHANGE | wc -l)" "$(grep -A1 'CP Pipe' "$h/sys/kernel/debug/kfd/hqds" | awk '$4 ~ /1$/' | wc -l)"
edit "rm -r sys/kernel"
is "without dumps: no difference is made up" "$(gpq snapshot --diff "$h" edited -ro CHANGE)" CHANGE
is "and -v says what is unknown" "$(gpq snapshot --diff "$h" edited -v 2>&1 >/dev/null | grep -c 'edited: .*unknown')" 2
edit "rm -r sys/class/kfd"
is "no snapshot" "$(gpq snapshot --diff "$h" edited 2>&1; echo $?)" \
	"gpq: snapshot: edited: no KFD driver: /sys/class/kfd/kfd: No such file or directory; is it a directory that gpq snapshot made?
6"

notes() { gpq snapshot --diff -v "$@" 2>&1 >/dev/null | sed -n 's/^gpq: snapshot: \([0-9]* queues: [^:(]*\).*/\1/p' | sed 's/ $//'; }
likely="queues: which MQD is theirs is likely but not certain" stale="queues: progress is unknown" unknown="queues: on or off hardware is not known at both moments"
is "-v counts what is unsure: queues of one process that dumps do not tell apart, SDMA queues" "$(notes "$a" "$b")" "1 $stale
2 $likely"
is "of each two moments" "$(notes "$a" "$b" "$b" "$a" | sort | uniq -c | sed 's/^ *//')" "2 1 $stale
3 2 $likely"
rm -rf edited && cp -r "$b" edited && rm edited/sys/kernel/debug/kfd/hqds
is "without slots the pointers of all that are mapped are old" "$(notes "$a" edited)" "3 $stale
2 $likely"
is "an SDMA queue of MES may be off" "$(notes "$hosts/vm-gfx1100-running" "$hosts/vm-gfx1100-suspended")" "1 $unknown
1 $stale
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
	"$(gpq snapshot --diff -aJ "$h" "$h" 2>/dev/null | jq -c '[.changes[] | select(.on_hardware_after == false).pointers_after] | unique')" '["saved"]'
pid=$pid7
now 2 "8192 4096 -" n3
is "indices read one after the other: nothing waits" "$(gpq --sysroot n3 queues -p "$pid7" -J 2>/dev/null | jq '.queues[] | select(.qid == 2).backlog')" 0
is "and 0 without" "$(status "$a" "$b") $(grep -c off listed)" "0 2"
is "one name" "$(status "$a")" "gpq: snapshot: --diff takes two snapshots or more, or a series of them; gpq snapshot --diff BEFORE AFTER; / is the live host
2"
is "no such folder" "$(status "$a" gone)" "gpq: snapshot: gone: No such file or directory; name a directory that gpq snapshot made
5"
touch x.tar
is "an archive" "$(status "$a" x.tar | head -1)" "gpq: snapshot: x.tar: Not a directory; unpack an archive with tar -xf first"
is "the wrong way round" "$(status "$b" "$a" | head -1 | sed 's/[0-9.][0-9.]* s before/N s before/')" \
	"gpq: snapshot: the second moment is N s before the first; name the earlier one first"
is "another boot" "$(status "$a" "$hosts/vm-gfx90a-running" | grep -c 'not the same boot: equal PIDs are chance') $(grep -o PID listed)" \
	"$(cmp -s "$a/proc/sys/kernel/random/boot_id" "$hosts/vm-gfx90a-running/proc/sys/kernel/random/boot_id" && echo 0 || echo 1) PID"
is "--all without --diff" "$(gpq --sysroot "$h" snapshot -a x 2>&1; echo $?)" "gpq: snapshot: --all is only for --diff; see gpq help snapshot
2"
is "a full disk" "$(gpq snapshot --diff "$a" "$b" 2>&1 >/dev/full; echo $?)" "gpq: snapshot: standard output: No space left on device
1"

finish
