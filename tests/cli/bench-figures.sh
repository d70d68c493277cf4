#!/bin/bash
# The examples that draw the table of runs: each runs as its head says, where its tool is installed, and draws what the samples hold.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
command -v python3 >/dev/null || skip_all "no python3"
cd "$work" || exit 1
cp "$top"/man/examples/bench-runs.* .
# 21 requests, 0.4 ms apart: the 6th and the 16th bound their median. Of the last run there are 3, which bound nothing.
for batch in 8 16; do
	jq -c --argjson batch $batch '({"alone": 20, "shared": 60, "preempt": 30}[.mode] + 5 * .number + if $batch == 16 then 100 else 0 end) as $ms
		| .setting = "BATCH=\($batch)" | .run = "lab,\(.setting)"
		| .latencies_ns = [(if $ms == 135 then range(-1; 2) else range(-10; 11) end) * 400000 + 1000000 * $ms]' "$top/tests/data/bench/ab.ndjson"
done >runs.ndjson
truth="20 25 60 65 30 35 120 125 160 165 130 135"
is "the medians in the table" "$(gpq bench report -rno P50 runs.ndjson | sed 's/000000$//' | xargs)" "$truth"

# Prints the medians, those with an interval of 4 ms around them, and the settings that a picture shows. One pixel is 0.5 ms or less.
cat >read.py <<'PYTHON'
import re, sys
from xml.dom import minidom
kind, truth = sys.argv[1], [float(v) for v in sys.argv[2].split()]
text = open("runs.svg").read()
minidom.parseString(text)
drawn = re.sub(r"<defs>.*?</defs>", "", text, flags=re.S)
paths = [(d.count("C"), [float(v) for v in re.findall(r"-?[0-9.]+", d)]) for line in re.findall(r"\bd=['\"]([^'\"]*)['\"]", drawn) for d in line.split("M")[1:]]
if kind == "R":  # circles, made of curves, the last of which is the legend's
    marks = [((max(v[::2]) + min(v[::2])) / 2, v[1]) for curves, v in paths if curves][:-1]
elif kind == "py":
    inside = re.findall(r"<g clip-path=[^>]*>(.*?)</g>", text, re.S)
    marks = [(float(x), float(y)) for g in inside for x, y in re.findall(r"<use [^>]*x=\"([0-9.]+)\" y=\"([0-9.]+)\"", g)]
else:
    marks = [(float(x), float(y)) for x, y in re.findall(r"#gpPt6' transform='translate\(([0-9.]+),([0-9.]+)\)[^>]*color='rgb", text)]
slope = (truth[-1] - truth[0]) / (marks[-1][1] - marks[0][1])
def ms(y):
    return truth[0] + (y - marks[0][1]) * slope
print(*(round(ms(y)) for _, y in marks))
bars = {(round(v[0]), round(ms(y) * 2)) for _, v in paths if len(v) == 4 and v[0] == v[2] and v[1] != v[3] for y in v[1::2]}
def near(x, at):
    return any((round(x) + i, round(at * 2) + k) in bars for i in (-1, 0, 1) for k in (-1, 0, 1))
print(*(round(ms(y)) for x, y in marks if near(x, ms(y) + 2) and near(x, ms(y) - 2)))
if kind != "R":  # whose texts are outlines
    print(*sorted(set(re.findall(r"[a-z]+,BATCH=[0-9]+", text))))
PYTHON

draws() { # KIND COMMAND...: which can run the example of this kind, or is not installed
	local kind=$1 example=bench-runs.$1
	local shown=$'\nalone,BATCH=16 alone,BATCH=8 preempt,BATCH=16 preempt,BATCH=8 shared,BATCH=16 shared,BATCH=8'
	"${@:2}" >/dev/null 2>&1 || { pass "$example # skip no $2 that can run it"; return; }
	[ "$kind" != R ] || shown=
	rm -f runs.svg
	MPLCONFIGDIR=$work bash -c "$(sed -n "s|python3|$2|; s/^[# ]*\(gpq bench .*\)/\1/p" "$example")" >out 2>&1
	is "$example: medians, intervals, settings" "$? $(python3 read.py "$kind" "$truth" 2>&1)" "0 $truth
${truth% *}$shown"
}

draws gp gnuplot --version
draws R Rscript -e 'stopifnot(capabilities("cairo"))'
python=python3
has='from importlib.util import find_spec as has; assert has("pandas") and has("matplotlib")'
"$python" -c "$has" 2>/dev/null || python=/usr/bin/python3
draws py "$python" -c "$has"
finish
