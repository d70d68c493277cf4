#!/bin/bash
# gpq trace --grep and --grep-not: which records are picked, as grep -P and Python's re find them; that everything gpq reports
# then counts these alone; and the same for any number of threads, form of input and cut.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit 1
t() { gpq trace -q "$@" 2>/dev/null; }

# Where records begin that an expression picks: the list of all of them says where each begins, the file where it ends.
cat >picked.py <<'END'
import re, sys
log, want, drop = sys.argv[1], [], []
for arg in sys.argv[2:]:
    (drop if arg[0] == "!" else want).append(re.compile(arg[1:].encode(), re.M))
text = open(log, "rb").read()
at = [int(line) for line in sys.stdin]
bounds = set(at)
for begin in at:
    newline = text.find(b"\n", begin)
    end = newline if newline >= 0 else len(text)
    end = min([b for b in range(begin + 1, end) if b in bounds], default=end)
    record = text[begin:end]
    if end == newline and record.endswith(b"\r"):
        record = record[:-1]
    if (not want or any(r.search(record) for r in want)) and not any(r.search(record) for r in drop):
        print(begin)
END
agrees() { # NAME LOG, then =REGEX or !REGEX
	local name=$1 log=$2 options=() r
	shift 2
	for r; do case $r in =*) options+=(--grep "${r#=}") ;; *) options+=(--grep-not "${r#!}") ;; esac done
	t --list -rn -o OFFSET "$log" >all
	python3 picked.py "$log" "$@" <all >want
	is "$name: $*" "$(may 5 t --threads 1 "${options[@]}" --list -rn -o OFFSET "$log" | sum; may 5 t -J "${options[@]}" "$log" | jq '.totals.records // 0')" \
		"$(sum <want; wc -l <want)"
}

# Regular logs: every line is a record, so grep -P counts the same.
gen-amdlog --release 7.12 --level 5 --lines 30000 --threads 3 --streams 5 >clean 2>/dev/null
while read -r regex; do
	want=$(grep -cP -- "$regex" clean)
	is "records that match $regex: $want" "$(may 5 t -J --threads 3 --grep "$regex" clean | jq '.totals.records // 0')" "$want"
	is "records that do not match $regex" "$(may 5 t -J --threads 3 --grep-not "$regex" clean | jq '.totals.records // 0')" "$(($(wc -l <clean) - want))"
done <<'END'
HWq=
HWq=0x[0-9a-f]+, id=1, Dispatch
^:3:
^:4:[^:]+:12
hipSuccess$
rptr=\d*[05], wptr
(?i)SHADERNAME
ShaderName : [^<]*<
\s\d\s
grid=\[[^\]]*\D1, 1\]
(?<!\d)7(?!\d)
a[^z]*z
(\d)\1\1\1
(*ANYCRLF)\)$
\A:4
(?s)hip.*Success
x*
[^\n]\n
END
is "either of two" "$(t -J --grep ShaderName --grep 'Header' clean | jq .totals.records)" "$(grep -cE 'ShaderName|Header' clean)"
is "and neither of two others" "$(t -J --grep ShaderName --grep 'Header' --grep-not Barrier --grep-not gemm clean | jq .totals.records)" \
	"$(grep -E 'ShaderName|Header' clean | grep -vcE 'Barrier|gemm')"
is "a comma is no list" "$(t -J --grep 'HWq=0x[0-9a-f]+, id=1' clean | jq .totals.records)" "$(grep -cP 'HWq=0x[0-9a-f]+, id=1' clean)"

# Odd logs: records behind other text in a line, carriage returns, colours, torn and mended ones, no newline at the end.
gen-amdlog --release 7.0 --level 4 --lines 6000 --noise --processes 2 --seed 3 >noise 2>/dev/null
gen-amdlog --release 6.3 --level 4 --lines 3000 --noise --crlf --seed 3 >crlf 2>/dev/null
gen-amdlog --release 7.12 --level 5 --lines 6000 --processes 4 --tear 0.02 --seed 4 >torn 2>/dev/null
head -c -200 noise >short
for log in noise crlf short; do
	agrees $log $log '=HWq='
	agrees $log $log '=Success$' '=\d$'
	agrees $log $log '=^:[34]:[^_]*\.cpp' '!\s$' '!rptr=[^,]*7'
	agrees $log $log '!us: \S'
done
# What stands in the first piece of a record is there in torn ones, too.
agrees torn torn '=\[pid:\d*[02468] '
agrees torn torn '!^:[0-9]:rocvirt'
# The rest of a record that was put together counts as its text: rptr and wptr are never in the first piece.
is "a torn record is matched as it was mended" "$(t --list -rn --grep 'wptr=\d+$' -o RPTR torn | sed 's/[0-9].*/yes/' | sort -u)" yes
is "and all of these are found" "$(t --list -rn --grep 'wptr=\d+$' -o OFFSET torn | sum)" \
	"$(t --list -rn -o WPTR,OFFSET torn | awk '$1 != "-" { print $2 }' | sum)"
for log in $(each 3 "$top"/tests/data/amdlog/shapes/*.log "$samples"/amdlog/*.log); do
	[ -f "$log" ] || continue
	agrees "$(basename "$log")" "$log" '=0x[0-9a-f]+\b[^0]*$' '!hip[DM]\w+ '
done

# Every question counts the picked records alone.
q=$(grep -o 'HWq=0x[0-9a-f]*' clean | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
dispatches=$(grep "$q" clean | grep -c 'Dispatch Header')
is "--by queue" "$(t --by queue -rn -o HWQ,DISPATCHES --grep "$q," clean)" "${q#HWq=} $dispatches"
is "kernels that other lines name" "$(t --by kernel -rn -o DISPATCHES,NAME --grep "$q," clean | sort)" \
	"$(t --list -rn -o KIND,HWQ,KERNEL clean | awk -v q="${q#HWq=}" '$1 == "dispatch" && $2 == q { n[$3]++ } END { for (k in n) print n[k], k }' | sort)"
is "--series" "$(t --series 10ms --ndjson --grep "$q," clean | jq -s '[.[] | select(.record == "interval") | .dispatches] | add')" "$dispatches"
is "--compare" "$(t --compare -J --grep "$q," clean clean | jq -c '[.logs[] | .dispatches]')" "[$dispatches,$dispatches]"
is "--gaps: no other queue" "$(t --gaps -J --grep "$q," clean | jq -r '[.queues[].hwq_or_all] | join(" ")')" "all ${q#HWq=}"
t --perfetto timeline --grep "$q,.*Dispatch" clean >out
is "--perfetto" "$(jq '[.traceEvents[] | select(.args.wptr?)] | length' timeline)" "$dispatches"
is "--by api" "$(t --by api -rn -o CALLS,NAME --grep 'hipLaunchKernel \(' clean)" "$(grep -c 'hipLaunchKernel (' clean) hipLaunchKernel"
is "--follow" "$(may 124 timeout --foreground -k 60 -s TERM 2 gpq trace -q --follow --list -rn -o OFFSET --grep 'Dispatch Header' clean 2>/dev/null | sum)" \
	"$(grep -b 'Dispatch Header' clean | cut -d: -f1 | sum)"
is "with --since and --pid" "$(since=$(t --list -rn -o TIME_US clean | sed -n 15000p) && t -J --grep Header --since "${since}us" --until +1h clean | jq .totals.records)" \
	"$(since=$(t --list -rn -o TIME_US clean | sed -n 15000p) && t --list -rn -o TIME_US,OFFSET clean | awk -v s="$since" '$1 >= s { print $2 }' |
		grep -cxFf <(grep -b Header clean | cut -d: -f1))"

# The same however it is read.
gzip -c torn >torn.gz
for regex in 'rptr=[^,]*[05], wptr' '^:4:\D+\d\d\s' '(?s)Shader.*<'; do
	t -J --threads 1 --grep "$regex" --grep-not gemm torn >want
	for threads in 2 3 8; do is "$threads threads: $regex" "$(may 5 t -J --threads $threads --grep "$regex" --grep-not gemm torn | sum)" "$(sum <want)"; done
	# shellcheck disable=SC2002 # a pipe is meant
	is "a pipe: $regex" "$(cat torn | may 5 t -J --grep "$regex" --grep-not gemm - | sum)" "$(sum <want)"
	is "gzip: $regex" "$(may 5 t -J --grep "$regex" --grep-not gemm torn.gz | sum)" "$(sum <want)"
	counts='.totals | [.lines, .records, .launches, .dispatches // 0, .barriers // 0, .cut_records, .mended, .glued, .other_lines]'
	share=$(($(stat -c %s torn) / 4 + 1))
	is "four ranges: $regex" "$(for i in 0 1 2 3; do may 5 t -J --range $((i * share)):$share --grep "$regex" torn | jq -c "$counts"; done |
		jq -sc 'transpose | map(add)')" "$(may 5 t -J --grep "$regex" torn | jq -c "$counts")"
	is "parts of them added up: $regex" \
		"$(for i in 0 1 2 3; do t --partial --range $((i * share)):$share --grep "$regex" torn; done | gpq merge -q -J | jq -S "{totals, queues, kernels}")" \
		"$(may 5 t -J --grep "$regex" torn | jq -S "{totals, queues, kernels}")"
done

# What cannot be.
is "no regular expression" "$(gpq trace --grep 'a(' clean 2>&1; echo $?)" "gpq: trace: --grep: a(: missing closing parenthesis at character 2; see pcre2pattern(3)
2"
is "nor UTF-8" "$(gpq trace --grep-not '(*UTF)a' clean 2>&1; echo $?)" "gpq: trace: --grep-not: (*UTF)a: using UTF is disabled by the application at character 6; see pcre2pattern(3)
2"
is "with --latency" "$(gpq trace --latency --grep a clean 2>&1; echo $?)" \
	"gpq: trace: --grep leaves out one of the two lines that --latency is between; choose processes or times, or use --list --grep
2"
is "nothing matches" "$(gpq trace --grep nonesuch clean 2>&1; echo $?)" "gpq: trace: no record is of the processes, kernels, times or text asked for
5"
mkdir lib && : >lib/libpcre2-8.so.0
is "without libpcre2" "$(LD_LIBRARY_PATH=$PWD/lib gpq trace --grep a clean 2>&1; echo $?)" \
	"gpq: trace: --grep: libpcre2-8.so.0 is missing; install libpcre2-8-0, or leave it out
6"
# One record on which an expression takes exponentially many steps, in a line of its own and behind a progress bar.
bomb=":3:rocvirtual.cpp           :3351: 0090001015 us: [pid:4711 tid: 0x7f00000e5400] ShaderName : $(head -c 3000 /dev/zero | tr '\0' a)"
{ cat clean && echo "$bomb" && cat clean; } >line
{ cat clean && printf 'epoch 1 \r%s\n' "$bomb" && cat clean; } >glued
for log in line glued; do
	for how in "" -J --list --partial --gaps "--by kernel" "--threads 1"; do
		# shellcheck disable=SC2086 # its words
		gpq trace -q $how --grep '(a+)+[bc]' $log >out 2>err
		is "too many steps on a $log record: $how" "$? $(wc -l <err) $(grep -c 'match limit exceeded.*use a simpler expression' err) $(grep -c dispatches out)" "1 1 1 0"
	done
done
for options in "--grep Shader --grep-not (a+)+[bc]" "--grep-not nowhere --grep (a+)+[bc]" "--grep (a+)+[bc] --grep-not nowhere"; do
	# shellcheck disable=SC2086 # its words
	gpq trace -q $options line 2>err >out
	is "the expression that takes too many is named: $options" "$(sed 's/(a+)+\[bc\]: .*/it/' err)" \
		"gpq: trace: $(grep -oE -- '--grep(-not)? \(' <<<"$options" | cut -d' ' -f1): it"
done
is "not on lines that are no records" "$({ cat clean && head -c 3000 /dev/zero | tr '\0' a; } | t -J --grep '(a+)+[bc]' - | jq .totals.records)" \
	"$(grep -c 'a[bc]' clean)"
finish
