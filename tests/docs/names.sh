#!/bin/bash
# A name means one thing in all tables of all commands: a heading has one type and one unit, a key of JSON one type and one
# heading, an option one kind of argument and one meaning.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"

# Lines KIND NAME MEANINGS of names with several, from lines HEADING, KEY, TYPE that tabs separate. Types are those of
# --list-columns: number, bytes, nanoseconds, string ...; the unit of a number is the end of its key. A fraction is of 1
# (share) or of 100 (percent, "%" behind the heading): not both under one name.
collisions() {
	awk -F'\t' 'function saw(kind, name, meaning) {
			if (!((kind, name, meaning) in seen)) { meanings[kind " " name] = meanings[kind " " name] "," meaning; number[kind " " name]++ }
			seen[kind, name, meaning]
		}
		{
			unit = $3 == "number" && match($2, /(^|_)(per_s|percent|share|us)$/) ? substr($2, RSTART) : ""
			if (unit) sub(/^_?/, " ", unit)
			saw("heading", $1, $3 unit); saw("key", $2, $3); saw("headings-of", $2, $1)
			if (unit ~ /share|percent/) { sub(/%$/, "", $1); saw("fraction", $1, substr(unit, 2)) }
		}
		END { for (name in number) if (number[name] > 1) print name, substr(meanings[name], 2) }' < <(LC_ALL=C sort -t$'\t' -k3) |
		LC_ALL=C sort
}
rig is "what a collision is" "$(printf '%s\t%s\t%s\n' RING ring_bytes bytes SIZE ring_bytes bytes RING ring_addr 'hex string' RING ring_bytes bytes \
	QID qid number QIDS qid array QIDS qids array RATE rate_per_s number RATE rate number SHARE share number 'SHARE%' share_percent number \
	'HELD%' held_percent number HELD held_ns nanoseconds AT at_us number AT at_ns nanoseconds FAIR fair_share number | collisions)" \
	"fraction SHARE share,percent
heading AT nanoseconds,number us
heading RATE number,number per_s
heading RING bytes,hex string
headings-of qid QIDS,QID
headings-of ring_bytes RING,SIZE
key qid array,number"

columns=$(for c in $(gpq --list); do gpq "$c" --list-columns -J | jq -r '.columns[] | [.column, .key, .type] | @tsv'; done)
ok "columns are found" test "$(wc -l <<<"$columns")" -gt 1000
is "no name has two meanings" "$(collisions <<<"$columns")${columns:+none}" none
# A heading of several keys: a value of its table (P50 is of what the table is of), or one word for what its table tells apart.
is "which headings have several keys is reviewed" "$(cut -f1,2 <<<"$columns" | sort -u | cut -f1 | uniq -d | xargs)" \
	"CALLS COUNT CUS ENGINE GAP GPUS HOLD MAX MEAN OFF P50 P90 P99 PRIOS PRIO_LEVEL QIDS QUEUES SDMA SLOTS TOTAL UNREACHED WAVE"
is "words of a heading are joined by _" "$(cut -f1 <<<"$columns" | grep -vxE '[A-Z][A-Z0-9_]*(%|/S|\.9)?')${columns:+all}" all

# What readers of tables and of JSON rely on, reviewed line by line: each key with its type and heading, and the keys of each table.
# RENEW=1 writes both files anew.
keys_of() { cut -f1-3 <<<"$columns" | awk -F'\t' -v OFS='\t' '{ print $2, $3, $1 }' | LC_ALL=C sort -u; }
tables_of() { # one line for each place in a document, its keys below it
	for c in $(gpq --list); do gpq "$c" --json-schema; done | jq -r '.anyOf[] | .properties.schema.const.name as $s |
		paths(type == "object" and has("type")) as $p | ($p | map(select(. != "properties" and . != "items"))) as $k |
		select($k | length > 0) | "\([$s] + $k[:-1] | join(".")) \($k[-1])"' | LC_ALL=C sort -u |
		awk 'function put() { if (line) print line; line = "" }
			$1 != t { put(); print t = $1 }
			length(line) + length($2) > 120 { put() }
			{ line = line "\t" $2 } END { put() }' | sed 's/\t/ /2g'
}
for f in keys tables; do
	${f}_of >"$work/$f"
	[ -z "${RENEW-}" ] || [ ! -s "$work/$f" ] || cp "$work/$f" "$top/tests/data/names/$f"
	same "tests/data/names/$f (RENEW=1 tests/docs/names.sh writes it anew)" "$work/$f" "$top/tests/data/names/$f"
done

# Lines OPTION ARGUMENT HELP of the options of a command or a kind, parted by tabs.
options_of() {
	gpq "$@" --help | awk 'function put() { if (name) print name "\t" arg "\t" help; name = "" }
		match($0, /^  (-.,|   ) --[a-z-]+/) { put(); split(substr($0, 7), w, " "); name = w[1]; arg = ""; help = substr($0, 8 + length(name))
			if (help ~ /^[A-Z[]/) { arg = w[2]; help = substr(help, length(arg) + 1) }; sub(/^ +/, "", help); next }
		name && /^            / { sub(/^ +/, ""); help = help (help ? " " : "") $0; next }
		{ put() } END { put() }'
}
# Which options have several arguments, and which several texts of help, that says of other commands what they do with it.
both() { sort -u | awk -F'\t' -v arg="$1" '{ what = arg ? $2 : $3 } !(($1, what) in seen) { seen[$1, what]; n[$1]++ } END { for (o in n) if (n[o] > 1) print o }' | sort; }
rig is "what two meanings of an option are" "$(printf -- '--%s\t%s\t%s\n' log FILE x log DIR x raw '' x raw FILE x all '' a all '' b pid PID a pid PID a >"$work/o"; both 1 <"$work/o"; both '' <"$work/o")" \
	"--log
--raw
--all"
{ for c in $(gpq --list | grep -v bench) "bench ab" "bench preempt" "bench report"; do
	# shellcheck disable=SC2086
	options_of $c
done; } >"$work/options"
ok "options are found" test "$(cut -f1 "$work/options" | sort -u | wc -l)" -gt 120
# --count of events and snapshot is older than the one of all listings, which is -c there, as gpq(1) says.
# --breakdown of trace chooses among the suspensions of a recording, bench takes all of its own.
is "no option takes two kinds of arguments, but --count and --breakdown" "$(both 1 <"$work/options")$(test -s "$work/options" && echo none)" \
	"--breakdown
--countnone"
# Options whose help differs. Each means one thing, which is written here; one that means another thing gets another name.
meanings='all: leave nothing out
breakdown: suspensions in steps
by: what a table is of
cgroup: choose by it
cmdline: choose by it
comm: choose by it
compare: the operands with each other
container: choose by it
count: end after so many
demangle: names of kernels as in the source
dry-run: show what it would be done to
every: time from one to the next
for: end after this time
force: also where the GPU did not let go of queues
gpu: choose by it
grace: time for waves to end
html: write a page
idle: an online burst is over when nothing was to do for so long
interval: time between two looks
job: choose by it
likely: guess, where it is not certain
list: one row for each, not a summary
log-decisions: write what comes to work and what is held
max-hold: queues come back after so long
mqds: a copy of that file of debugfs
no-demangle: names of kernels as in the file
ns-pid: -p as in a container
offline: processes of that side
online: processes of that side
over: the time in which it looks more than once
partial: sums that gpq merge takes
perfetto: write a timeline
pid: choose by it
pod: choose by it
redact: pseudonyms for names
require: a limit that decides the exit status
runs: so many times
sample: look so many times
samples: write the raw samples
seed: of the order
summary: how much there is of what
top: show so many
tree: choose descendants
user: choose by it
waves: take queues off for a look at their waves'
is "an option means one thing, which is reviewed" "$(both '' <"$work/options" | cut -c3-)" "$(cut -d: -f1 <<<"$meanings")"
letters=$(for c in $(gpq --list); do gpq "$c" --help; done | may 1 grep -oE '^  -., --[a-z-]+' | sort -u)
is "a letter is one option's" "$(cut -c3-4 <<<"$letters" | uniq -d)${letters:+none}" none

# A change that readers must know of raises the version of a schema.
versions='gpq.bench.ab 1, gpq.bench.changes 1, gpq.bench.preempt 1, gpq.bench.runs 1, gpq.bench.sides 1, gpq.core 1, gpq.error 1, gpq.events 1, gpq.gpus 1, gpq.gpus.check 1, gpq.hang 1, gpq.hang.merge 1, gpq.hqd 1,
gpq.hqd.fields 1, gpq.hqd.raw-regs 1, gpq.hqd.regs 1, gpq.hqd.runlist 1, gpq.hqd.sample 1, gpq.hqd.summary 1, gpq.merge 1, gpq.packets 1, gpq.ps 1,
gpq.queues 1, gpq.queues.summary 1, gpq.resume 1, gpq.sched 1, gpq.snapshot 1, gpq.snapshot.compare 1, gpq.snapshot.diff 1, gpq.suspend 1, gpq.suspend.list 1, gpq.trace 1,
gpq.trace.breakdown 1, gpq.trace.compare 1, gpq.trace.ftrace 1, gpq.trace.gaps 1, gpq.trace.latency 1, gpq.trace.list 1, gpq.trace.series 1,
gpq.trace.timeline 1, gpq.why 1, gpq.why.profile 1, gpq.why.waves 1'
is "versions of schemas" "$(for c in $(gpq --list); do gpq "$c" --json-schema; done | jq -r '.anyOf[].properties.schema.const | "\(.name) \(.version)"' | LC_ALL=C sort -u)" \
	"$(tr ',' '\n' <<<"${versions//$'\n'/}" | sed 's/^ //')"
finish
