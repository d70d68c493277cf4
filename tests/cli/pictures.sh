#!/bin/bash
# Pictures and pages: pictures.py reads what gpq drew, and the pictures of README.md, and judges by the input. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
command -v python3 >/dev/null || skip_all "no python3"
data=$top/tests/data
cd "$work" || exit 1
mkdir svg pages
printf '1000.2s 1000.3s\n' >marks
gpq trace -q --series 20ms --mark marks --svg svg/series.svg "$data/amdlog/cnn.log" "$data/amdlog/transformer.log" >/dev/null
gpq bench report --svg-dir svg/plain "$data/bench/plain.ndjson" >/dev/null
# Requests begin every 2 s. A hold is asked for 4 ms before a request, and ended after 1.5 s.
jq -c '.starts_at_ns = [.latencies_ns | keys[] | 5e12 + 2e9 * .] | .holds_at_ns = [.suspends_ns | keys[] | 5e12 + 2e9 * . - 4e6] |
	.resumes_at_ns = [.resumes_ns | keys[] | 5e12 + 2e9 * . + 1.5e9]' "$data/bench/ab.ndjson" >ab.ndjson
gpq bench report --svg-dir svg/ab ab.ndjson >/dev/null
gpq bench report --svg-dir svg/old --goal suspend=9ms "$data/bench/old.ndjson" >/dev/null
jq -c 'select(.cycle < 14)' "$data/bench/old.ndjson" >few.ndjson
gpq bench report --svg-dir svg/few few.ndjson >/dev/null
# Cycles of eight processes and their group: a report keeps the first 2000 lines, 223 cycles. Two lack a time although they are "ok".
jq -c 'select(.cycle == 9) | range(250) as $c | range(9) as $p | .cycle = 9 * $c + $p | .process = if $p > 0 then 100 + $p else 0 end |
	.at_ns = 5e12 + 1e8 * $c | if $c == 3 then .held_ns = null elif $c == 222 then .resume_ns = null else . end' "$data/bench/plain.ndjson" >long.ndjson
gpq bench report --html long.html --svg-dir svg/long long.ndjson >/dev/null
jq -c 'if .cycle == 9 then .suspend_ns = 1 elif .cycle == 10 then .suspend_ns = 2e10 else . end' "$data/bench/plain.ndjson" >wide.ndjson
gpq bench report --svg-dir svg/wide wide.ndjson >/dev/null
gpq --sysroot "$top/tests/hosts/aql-gfx90a" why -q -p 4713,4711,4712 --profile 1 --flame svg/flame.svg --folded >folded
gpq --sysroot "$top/tests/hosts/aql-gfx90a" why -q -p 4712 -Q 0,5 --profile 1 --flame svg/two.svg >/dev/null
gpq bench report --compare -q --html pages/bench.html "$data/bench/old.ndjson" "$data/bench/new.ndjson" >table
gpq bench report --compare -q --html - "$data/bench/old.ndjson" "$data/bench/new.ndjson" | cmp - pages/bench.html && gpq bench report --compare -q "$data/bench/old.ndjson" "$data/bench/new.ndjson" | cmp - table && touch same-bench
cp "$data/amdlog/cnn.log" '<i>.log'
gpq trace --compare -q --html pages/trace.html '<i>.log' "$data/amdlog/mangled.log" >table
gpq trace --compare -q --html - '<i>.log' "$data/amdlog/mangled.log" | cmp - pages/trace.html && gpq trace --compare -q '<i>.log' "$data/amdlog/mangled.log" | cmp - table && touch same-trace
gpq trace --compare -qJ --demangle '<i>.log' "$data/amdlog/mangled.log" >trace.json
gpq trace --compare -q --by kernel -o NAME --sort NAME --html pages/by.html '<i>.log' "$data/amdlog/mangled.log" >/dev/null
gpq trace --compare -q --output-all --html pages/all.html '<i>.log' "$data/amdlog/mangled.log" >/dev/null
gpq trace --compare -q --no-demangle --html pages/mangled.html '<i>.log' "$data/amdlog/mangled.log" >/dev/null
cp "$top/man/overview.svg" "$data/amdlog/timeline.svg" svg
PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/cli/pictures.py" "$data" "$(gpq --list | xargs)"
