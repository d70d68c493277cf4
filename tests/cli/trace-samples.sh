#!/bin/bash
# gpq trace -J on logs in the shape of real ones (tests/data/amdlog), and on real logs, which are not part of the project, against
# counts by grep and against the truth beside the logs: the program's own launch counts (.truth), the driver's queue snapshot
# (.snap), packets the GPU completed (.softgpu). None of the expected values comes from gpq.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"

# "0..11" as SOURCES.md writes a range, "-" when nothing is known.
range='def range($a; $b): if $a == null then "-" else "\($a)..\($b)" end;'

# What gpq counts in a log.
counted() {
	gpq trace -J "$1" | jq -r "$range"'
		[.processes[].pid | select(. != null)] as $pids | .totals |
		"lines \(.lines) prefixed \(.lines - .other_lines) D \(.dispatches // 0) B \(.barriers // 0) H \(.hwqs) K \(.kernels) " +
		"pids \($pids | map(tostring) | join(" ")) rptr \(range(.rptr_min; .rptr_max)) wptr \(range(.wptr_min; .wptr_max))"'
}

# The same by grep and sed, as SOURCES.md of the real logs has it.
least_most() { may 1 grep -aoE "$2=[0-9]+" "$1" | cut -d= -f2 | sort -n | sed -n '1p;$p' | paste -sd' ' | sed -E 's/ /../; s/^$/-/'; }
by_grep() {
	local pids
	pids=$(sed -nE 's/.*\[pid: *([0-9]+) .*/\1/p; s/.* us: ([0-9]+) *: \[.*/\1/p; s/^:[0-9]:[^:]*:[0-9]+ *: [0-9]+: ([0-9]+) *: \[.*/\1/p' "$1" | sort -un)
	echo "lines $(grep -ac '' "$1") prefixed $(grep -acE '^:[0-9]:' "$1") D $(grep -ac 'Dispatch Header' "$1")" \
		"B $(grep -acE 'Barrier-?AND Header' "$1") H $(may 1 grep -aoE 'HWq=0x[0-9a-f]+' "$1" | sort -u | wc -l)" \
		"K $(may 1 grep -aoE 'ShaderName : .*' "$1" | sort -u | wc -l) pids" $pids "rptr $(least_most "$1" rptr) wptr $(least_most "$1" wptr)"
}
for f in "$top"/tests/data/amdlog/shapes/*.log "$top"/tests/data/amdlog/{rocm712-level4,nolocation,cnn,moves,transformer}.log; do
	is "${f##*/}: counts by grep" "$(counted "$f" | sed -E 's/pids  rptr/pids rptr/')" "$(by_grep "$f")"
done

# Launches per kernel: names are mangled up to 6.3, demangled later, and both cut where the message buffer ends.
launches_of_truth() {
	grep -h '^kernel ' "$@" | awk '$4 > 0 && NF > 5 { print $4, substr($6, 1, 4000) }' | sort
}
launches_of_log() { # truth files; JSON on standard input
	jq -r '.kernels[] | select(.launches > 0) | "\(.launches) \(.name)"' | grep -v ' __amd_rocclr_' >"$work/log"
	grep -h '^kernel ' "$@" | awk 'NF > 5 { print $6 }' | sort -u >"$work/mangled"
	c++filt <"$work/mangled" | paste - "$work/mangled" | perl -e '
		while (<STDIN>) { chomp; my ($d, $m) = split /\t/; $n{substr($_, 0, 4000)} = substr($m, 0, 4000) for $d, $m; last if eof }
		open my $f, "<", $ARGV[0]; while (<$f>) { chomp; my ($c, $x) = /^(\d+) (.*)/; my $k = substr($x, 0, 4000); $sum{$n{$k} // $k} += $c }
		print "$sum{$_} $_\n" for keys %sum' "$work/log" | sort
}
rings_of_snap() { sed -nE 's/.*ring ([0-9]+) .*ring_base (0x[0-9a-f]+) wptr_addr (0x[0-9a-f]+) .*/\2 \1 \3/p' "$@"; }
# ring, packets completed; rings of the process only, and not the 4096 byte ring that ROCr keeps for itself
completed() { # snap, softgpu...
	local snap=$1
	shift
	sed -nE 's/^done .* ring ([0-9a-f]+) size [0-9]+ .* dispatch ([0-9]+) .*/0x\1 \2/p' "$@" | sort -u >"$work/done"
	rings_of_snap "$snap" | awk '$2 > 4096 { print $1 }' | while read -r ring; do grep "^$ring " "$work/done"; done | sort
}
handles() { rings_of_snap "$1" | awk '$2 > 4096' | while read -r ring _ w; do printf '%s 0x%x\n' "$ring" $((w - 0x38)); done | sort; }

# LOG BASE: a log, and the beginning of the names of the files with its truth.
check_truth() {
	local log=$1 b=$2 name=${2##*/}
	gpq trace -J "$log" >"$work/j"
	is "$name: dispatches, barriers by grep" \
		"$(jq -r '.totals | "\(.dispatches // 0) \(.barriers // 0)"' "$work/j")" \
		"$(may 1 grep -ao 'Dispatch Header' "$log" | wc -l) $(may 1 grep -aoE 'Barrier-?AND Header' "$log" | wc -l)"
	is "$name: nothing between records is lost" \
		"$(jq -r '.totals | "\(.lines) \(.records)"' "$work/j")" \
		"$(wc -l <"$log") $(grep -aoE ':[0-9]:[a-z_]+\.[ch]pp +:[0-9]+ *: [0-9]+' "$log" | wc -l)"
	is "$name: standard input gives the same" "$(gpq trace -J - <"$log" | jq -cS 'del(.notes)' | sum)" \
		"$(jq -cS 'del(.notes)' "$work/j" | sum)"
	case $name in
	*_mixed) # two processes in one file: what is torn cannot be had; every queue and process is seen all the same
		is "$name: both processes" "$(jq -r '[.processes[].pid | select(. != null) | tostring] | join(" ")' "$work/j")" \
			"$(cat "$b"_[ab].truth | sed -nE 's/^pid //p' | sort -n | paste -sd' ')"
		is "$name: every ring of both" "$(jq -r '.queues[].hwq | select(. != null)' "$work/j" | sort)" \
			"$(for s in "$b"_[ab].end.snap; do handles "$s"; done | cut -d' ' -f1 | sort)"
		# At least as many as there are records that begin within a line, behind a piece of another.
		is "$name: cut records are counted and told of" "$(jq -r --argjson least "$(grep -acE '.:[0-9]:[a-z_]+\.[ch]pp +:' "$log")" \
				'"\(.totals.cut_records > 0 and .totals.cut_records + .totals.mended >= $least) \(.notes | any(test("cut records")))"' "$work/j")" \
			"true true"
		# No name made of two pieces; those that fit in a first piece (45 characters here) are all there.
		is "$name: no other kernels than those of the programs" "$(jq -r '.kernels[].name' "$work/j" | cut -c1-4000 | sort)" \
			"$(cat "$b"_[ab].truth | awk '/^kernel/ && NF > 5 { print $6 }' | cut -c1-4000 | sort -u)"
		is "$name: launches of kernels with short names" \
			"$(jq -r '.kernels[] | select(.name | length < 40) | "\(.launches) \(.name)"' "$work/j" | sort)" \
			"$(cat "$b"_[ab].truth | awk '/^kernel/ && length($6) < 40 { n[$6] += $4 } END { for (k in n) print n[k], k }' | sort)"
		is "$name: handles joined to rings are the right ones" "$(jq -r '.queues[] | select(.hwq and .swq) | "\(.hwq) \(.swq)"' "$work/j" |
			grep -xFf <(for s in "$b"_[ab].end.snap; do handles "$s"; done))" "$(jq -r '.queues[] | select(.hwq and .swq) | "\(.hwq) \(.swq)"' "$work/j")"
		return ;;
	*) is "$name: nothing is torn" "$(jq .totals.cut_records "$work/j")" 0 ;;
	esac
	if [ -f "$b.truth" ]; then
		is "$name: launches per kernel as the program counted" "$(launches_of_log "$b.truth" <"$work/j")" \
			"$(launches_of_truth "$b.truth")"
		is "$name: launches in all" "$(jq .totals.launches "$work/j")" "$(sed -nE 's/^total_launches //p' "$b.truth")"
	fi
	if [ "$(jq .totals.dispatches "$work/j")" = null ]; then
		is "$name: level 3 tells no dispatch of a queue" "$(jq -r '[.queues[].dispatches] | unique | .[]' "$work/j")" "null"
		# 5.7 prints the handle in queue lines, 6.4 both addresses.
		is "$name: queues by their handles" "$(jq -r '.queues[].swq' "$work/j" | sort)" \
			"$(handles "$b.end.snap" | cut -d' ' -f2 | sort)"
		return
	fi
	is "$name: ring and handle of every queue as in the driver's snapshot" "$(jq -r '.queues[] | "\(.hwq) \(.swq)"' "$work/j" | sort)" \
		"$(handles "$b.end.snap")"
	if ls "$b".end.softgpu >/dev/null 2>&1; then
		is "$name: dispatches per ring as the GPU completed" "$(jq -r '.queues[] | "\(.hwq) \(.dispatches)"' "$work/j" | sort)" \
			"$(completed "$b.end.snap" "$b.end.softgpu")"
	fi
}

# LOG BASE KERNEL. Priorities: streams did not share queues, so each queue has what its stream got (1 low, 0 normal, -1 high).
check_streams() {
	local name=${2##*/}
	is "$name: priorities and launches per stream" \
		"$(gpq trace -J "$1" | jq -r '.queues[] | "\(.hip_prio) \(.dispatches)"' | sort)" \
		"$(sed -nE 's/^stream .* prio_got (-?[0-9]) launches ([0-9]+) .*/\1 \2/p' "$2.truth" |
			sed 's/^1 /low /; s/^0 /normal /; s/^-1 /high /' | sort)"
	is "$name: --list --ndjson gives every record" "$(gpq trace -q --list --ndjson "$1" | wc -l)" \
		"$(grep -acE '^:[0-9]:' "$1")"
	is "$name: --kernel leaves the launches of one kernel" \
		"$(gpq trace -q -J --kernel "^$3" "$1" | jq '[.queues[].dispatches] | add')" \
		"$(awk -v k="$3" '$6 == k { print $4 }' "$2.truth")"
}

data=$top/tests/data/amdlog/truth
for f in "$data"/*.log; do check_truth "$f" "${f%.log}"; done
for name in hip57-l4_s3 hip64-l4_s3; do check_streams "$data/$name.log" "$data/$name" scale; done

if ! [ -d "$samples/amdlog" ] || ! [ -d "$samples/hip-vm" ]; then
	pass "real logs # skip no real samples"
	finish
fi
listed=0
# file | from | release | L | P | D | B | H | K | pids | rptr | wptr | ...
while IFS='|' read -r _ file _ _ l p d b h k pids rptr wptr _; do
	f=$samples/amdlog/$(echo $file) listed=$((listed + 1))
	# A last line without newline is a line here; wc -l does not count it.
	[ -z "$(tail -c 1 "$f")" ] || l=$((l + 1))
	pids=$(echo $pids | sed 's/^none$//')
	# 5.x prints no rptr and wptr, and so on: a dash. A single value is written as a range here.
	rptr=$(echo $rptr | sed -E 's/^([0-9]+)$/\1..\1/') wptr=$(echo $wptr | sed -E 's/^([0-9]+)$/\1..\1/')
	want="lines $((l)) prefixed $((p)) D $((d)) B $((b)) H $((h)) K $((k)) pids $(echo $pids) rptr $rptr wptr $wptr"
	is "$(echo $file): counts as in SOURCES.md" "$(counted "$f")" "$want"
done < <(grep -E '^\| [^ ]+\.log \|' "$samples/amdlog/SOURCES.md")
rig is "SOURCES.md lists every log" "$listed" "$(ls "$samples"/amdlog/*.log | wc -l)"

f=$samples/amdlog/rocm702-l5-4streams-priority.log
is "rocm702: the 670 records, one of them behind a progress line" "$(gpq trace -J "$f" | jq -r '"\(.totals.records) \(.totals.glued)"')" \
	"670 1"
is "rocm702: priority asked -1, 1, -1, 0; dispatches per queue" \
	"$(gpq trace -J "$f" | jq -r '.queues[] | "\(.hwq) \(.id) \(.hip_prio) \(.dispatches)"')" \
	"$(printf '%s\n' '0x7f8acd200000 1 high 6' '0x7f8acc600000 2 low 6' '0x7f8acc400000 3 high 6' '0x7f8acc200000 4 normal 6')"
f=$samples/amdlog/doc-lumi-rocm5-l4-wrapped.log
# Three records stand behind others in one line; the dispatch goes on in the next one.
is "lumi: 7 records on 4 prefixed lines, the wrapped dispatch put together" "$(gpq trace -J "$f" | jq -r '.totals | "\(.records) \(.glued) \(.cut_records) \(.mended)"')" \
	"7 3 0 1"
is "4394: rptr behind wptr by 11" "$(gpq trace -J "$samples/amdlog/issue-ROCm-4394-rocm632.log" | jq '.queues[0].backlog_max')" \
	11
# The last line of these excerpts is cut, in three of them within the prefix.
for f in issue-hip-3769-rocm63-selectedqueue issue-legacy-4358-rocm63-barrier pr-llama-1087-rocm54 issue-legacy-1578-rocm431; do
	is "$f: the cut last line is torn" "$(gpq trace -J "$samples/amdlog/$f.log" | jq .totals.cut_records)" 1
done
is "windows: no packets, nothing known of queues" "$(gpq trace -J "$samples/amdlog/script-windows-rocm7-l7.log" | jq -r '"\(.processes[0].dispatches) \(.totals.dispatches) \(.totals.pids)"')" \
	"null null 4"

for z in $(each 2 "$samples"/hip-vm/*.log.zst); do
	zstd -dqc "$z" >"$work/log"
	check_truth "$work/log" "${z%.log.zst}"
done
for name in hip571-l4_s4 hip643-l4_s4; do
	zstd -dqc "$samples/hip-vm/$name.log.zst" >"$work/log"
	check_streams "$work/log" "$samples/hip-vm/$name" vector_add
done
finish
