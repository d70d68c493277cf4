#!/bin/bash
# Every number in a report, and in --compare, computed again from the raw samples by another program, in Python with its
# own definitions (exact fractions for the bounds of percentiles).
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
command -v python3 >/dev/null || skip_all "no python3"
data=$top/tests/data/bench
# As if these were two runs with a pause between them.
jq -c '.repeat = (.block % 2)' "$data/old.ndjson" >"$work/repeats.ndjson"
gpq bench report "$work/repeats.ndjson" >"$work/repeats.md" || echo "not ok - report of repeats ends with $?"
gpq bench report --html "$work/page.html" "$data/old.ndjson" >"$work/report.md" || echo "not ok - report ends with $?"
gpq bench report "$data/ab.ndjson" >"$work/ab.md" || echo "not ok - report of the experiment ends with $?"
for what in 'suspend p99 < 7.1ms' 'standstill mean <= 0ms' 'resume p90<1ms' 'effect < 7%' 'online p99 < 401ms' 'online shared median < 1ms' \
	'offline loss < 20%' 'offline shared loss < 90%' 'online slowdown < 0.04%' 'offline held < 44.6%' 'suspend max < 1ms' 'resume mean < 1s'; do
	set -- "$@" --require "$what"
done
gpq bench report "$@" "$data/old.ndjson" "$data/ab.ndjson" >"$work/required.md" 2>"$work/required.err"
echo $? >"$work/required.status"
# Two processes held at once, made of the cycles of one: the second is slower in every third cycle, faster in the others.
python3 - "$data/old.ndjson" >"$work/group.ndjson" <<'PYTHON'
import json, sys
for n, line in enumerate(open(sys.argv[1])):
    one = json.loads(line)
    one.update(queues_wanted=None, still_ns=None, still_look_ns=None, progress_ns=None, progress_look_ns=None, saved_bytes_xcc=None)
    other = dict(one)
    for k in ("suspend", "suspend_ioctl", "resume", "resume_ioctl"):
        other[k + "_ns"] = one[k + "_ns"] * (5 if n % 3 == 0 else 3) // 4 + n
    other["gap_packets"] += 7
    group = dict(one)
    for k in one:
        if k.endswith("_packets") and one[k] is not None:
            group[k] = one[k] + other[k]
    for k in ("suspend", "resume"):
        both = [x[k + "_ns"] for x in (one, other)]
        group.update({k + "_ns": max(both), k + "_first_ns": min(both)})
        group[k + "_ioctl_ns"] = max(x[k + "_ioctl_ns"] for x in (one, other))
    for i, k in enumerate(("unmap", "save", "map", "rest")):
        one[k + "_ns"], other[k + "_ns"] = 1000 * (n % (7 + i)), 1000 * (n % (11 + i))
        group[k + "_ns"] = one[k + "_ns"] + other[k + "_ns"]
    group["queues"] = 2 * one["queues"]
    for i, (process, c) in enumerate(((0, group), (4711, one), (4712, other))):
        print(json.dumps({**c, "process": process, "cycle": 3 * n + i}))
PYTHON
gpq bench report "$work/group.ndjson" >"$work/group.md" || echo "not ok - report of a group ends with $?"
for side in old new; do
	jq -c '.repeat = (.block % 5)' "$data/$side.ndjson" >"$work/$side.ndjson"
done
gpq bench report --compare "$work/old.ndjson" "$work/new.ndjson" -qJ --output-all >"$work/compare.json" || echo "not ok - compare ends with $?"
# The experiment as it would be had each preempted request taken 3 ms longer, and shared ones a little less, some of them.
python3 - "$data" "$work" <<'PYTHON'
import json, sys
with open(sys.argv[2] + "/ab2.ndjson", "w") as out:
    for line in open(sys.argv[1] + "/ab.ndjson"):
        run = json.loads(line)
        run["run"] += "-later"
        more = {"alone": 0, "shared": -40000, "preempt": 3000000}[run["mode"]]
        run["latencies_ns"] = [v + more * (i % 2 or more > 0) for i, v in enumerate(run["latencies_ns"])]
        print(json.dumps(run), file=out)
PYTHON
gpq bench report --compare "$data/ab.ndjson" "$work/ab2.ndjson" -qJ --output-all >"$work/compare-ab.json" || echo "not ok - compare of experiments ends with $?"
PYTHONPATH=$top/tests/cli PYTHONDONTWRITEBYTECODE=1 python3 - "$data" "$work" <<'PYTHON'
import functools, html, json, math, re, sys
from fractions import Fraction
from xml.dom import minidom

from tap import finish, ok

data, work = sys.argv[1:]
def read(name, folder=data):
    return [c for c in map(json.loads, open(f"{folder}/{name}")) if not c["warmup"]]

METRICS = {
    "suspend": lambda c: c["suspend_ns"],
    "suspend_ioctl": lambda c: c["suspend_ioctl_ns"],
    "suspend_gpq": lambda c: c["suspend_ns"] - c["suspend_ioctl_ns"],
    "standstill": lambda c: c["still_ns"],
    "resume": lambda c: c["resume_ns"],
    "resume_ioctl": lambda c: c["resume_ioctl_ns"],
    "progress": lambda c: c["progress_ns"],
    "cost": lambda c: c["suspend_ioctl_ns"] + c["resume_ioctl_ns"],
    "suspend_first": lambda c: c.get("suspend_first_ns"),
    "resume_first": lambda c: c.get("resume_first_ns"),
    "unmap": lambda c: c.get("unmap_ns"),
    "save": lambda c: c.get("save_ns"),
    "map": lambda c: c.get("map_ns"),
    "rest": lambda c: c.get("rest_ns"),
}

def values(cycles, metric):
    return sorted(v for v in map(METRICS[metric], cycles) if v is not None)

def percentile(v, p):  # p: a Fraction
    return v[max(1, math.ceil(p * len(v))) - 1]

def tail(n, k, p):
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))

def percentile_bounds(v, p, most=Fraction(1, 20)):
    n = len(v)
    low = max((r for r in range(1, n + 1) if tail(n, r, p) >= 1 - most), default=0)
    high = next((r for r in range(1, n + 1) if tail(n, r, p) <= most), None)
    return v[low - 1] if low else None, v[high - 1] if high else None

def summary(v):
    mean = Fraction(sum(v), len(v))
    sd = math.sqrt(sum((x - mean) ** 2 for x in v) / (len(v) - 1))
    return [percentile(v, Fraction(1, 2)), *percentile_bounds(v, Fraction(1, 2), Fraction(1, 40))] + [carried(v, p) for p in (900, 950, 990, 999)] + [
        v[-1], v[0], float(mean), sd]

def carried(v, mille):  # None: no value lies beyond this percentile
    return percentile(v, Fraction(mille, 1000)) if len(v) * (1000 - mille) >= 1000 else None

def ms(x):
    return "-" if x is None else "%.3f" % (x / 1e6)

def tables(text):  # headings of the first three columns -> rows
    found = {}
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        rows = [[c.strip().replace("\\", "") for c in line.strip("|").split("|")] for line in block.strip().split("\n")]
        found["|".join(rows[0][:3])] = rows[2:]
    return found

old = read("old.ndjson")
settings = {}
for c in old:
    settings.setdefault("queues=%d" % c["queues_wanted"], []).append(c)
md = tables(open(work + "/report.md").read())

ok(len(settings) == 2 and all(len(s) == 40 for s in settings.values()), "the samples are those of two settings # rig")
ONE = [m for m in METRICS if values(old, m)]

def check_times(md, settings, wanted):  # wanted: (metric, setting) of each row
    rows = md["SETTING|METRIC|N"]
    ok(sorted(r[1::-1] for r in rows) == sorted(wanted), "a row for each time and setting", [r[:2] for r in rows])
    for setting, metric, n, *cells in rows:
        v = values(settings[setting], metric)
        want = [str(len(v))] + [ms(x) for x in summary(v)]
        ok([n] + cells == want, f"{metric}, {setting}", f"got {[n] + cells}, wanted {want}")

check_times(md, settings, [[m, s] for m in ONE for s in settings])

def effect_of(cycles):  # loss against the baseline, and what was held
    time, done, held, base, packets = (sum(x) for x in zip(*cycles))
    return 1 - done / time / (packets / base) - held / time

def parts_of(cycles):  # each ends with a baseline window, but the last
    parts = [[0] * 5]
    for n, c in enumerate(cycles):
        row = [sum(c[k + "_ns"] for k in ("suspend", "held", "resume", "gap")), sum(c[k + "_packets"] for k in ("suspend", "held", "resume", "gap")),
               c["held_ns"], c["baseline_ns"] or 0, c["baseline_packets"] or 0]
        parts[-1] = [a + b for a, b in zip(parts[-1], row)]
        if c["baseline_ns"] and any(x["baseline_ns"] for x in cycles[n + 1:]):
            parts.append([0] * 5)
    return parts

def check_throughput(md, settings):  # the effect of each
    effect = {}
    rows = md["SETTING|CYCLES|BASELINE/S"]
    ok(len(rows) == len(settings), "a row of throughput for each setting")
    for setting, *cells in rows:
        s = settings[setting]
        baseline = [c for c in s if c["baseline_ns"] is not None]
        rate0 = sum(c["baseline_packets"] for c in baseline) / (sum(c["baseline_ns"] for c in baseline) / 1e9)
        held = sum(c["held_ns"] for c in s)
        time = sum(c["suspend_ns"] + c["held_ns"] + c["resume_ns"] + c["gap_ns"] for c in s)
        done = sum(c["suspend_packets"] + c["held_packets"] + c["resume_packets"] + c["gap_packets"] for c in s)
        gap = sum(c["gap_packets"] for c in s) / (sum(c["gap_ns"] for c in s) / 1e9)
        loss = 1 - done / (time / 1e9) / rate0
        effect[setting] = loss - held / time
        want = [str(len(s)), *("%.2f" % x for x in (rate0, gap, sum(c["held_packets"] for c in s) / (held / 1e9)))]
        want += ["%.2f" % (100 * x) for x in (held / time, loss, effect[setting], sum(values(s, "cost")) / time)]
        want.append(ms(10 * percentile(values(s, "cost"), Fraction(9, 10))))
        ok(cells == want, f"throughput, {setting}", f"got {cells}, wanted {want}")
    return effect

effect = check_throughput(md, settings)

@functools.cache
def student_t(n, q=0.975):  # its percentile, by Simpson's rule and bisection
    def below(t, steps=2000):
        h = t / steps
        f = [(1 + (i * h) ** 2 / n) ** (-(n + 1) / 2) * (1 if i in (0, steps) else 4 if i % 2 else 2) for i in range(steps + 1)]
        return 0.5 + math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(n * math.pi) * math.fsum(f) * h / 3
    low, high = 1.0, 20.0
    while high - low > 1e-9:
        low, high = (low, (low + high) / 2) if below((low + high) / 2) > q else ((low + high) / 2, high)
    return low

# Confidence bounds of 95 %: of a percentile by exact binomial sums, of a mean by Student's t, of what is made of parts by leaving
# one out, of a ratio by the bounds of both. None: there is none.
def more_samples(v, p, limit):  # all of which are below the limit
    n, beyond = len(v), sum(x >= limit for x in v)
    while n <= beyond or tail(n, n - beyond, p) > Fraction(1, 20):
        n += 1
    return n - len(v)

def mean_bounds(v):
    n, mean = len(v), sum(v) / len(v)
    if n < 2:
        return None, None
    reach = student_t(n - 1, 0.95) * math.sqrt(sum((x - mean) ** 2 for x in v) / n / (n - 1))
    return mean - reach, mean + reach

def parts_bounds(of, parts):  # of(parts): the value
    n, value = len(parts), of(parts)
    v = [n * value - (n - 1) * of(parts[:i] + parts[i + 1:]) for i in range(n)]
    return [x + value - sum(v) / n for x in mean_bounds(v)]

def ratio_bounds(a, of_a, b, of_b):
    if None in (*of_a, *of_b):
        return None, None
    up, down = (math.hypot(math.log(x / a), math.log(b / y)) for x, y in ((of_a[1], of_b[0]), (of_a[0], of_b[1])))
    return a / b / math.exp(down), a / b * math.exp(up)

def judge(bounds, limit, or_equal=False):
    low, high = bounds
    if high is not None and (high <= limit if or_equal else high < limit):
        return "shown"
    return "refuted" if low is not None and (low > limit if or_equal else low >= limit) else "not shown"

def is_near(text, bounds, share):  # "3.1ms to 4.9ms"; of Student's t gpq has three digits
    if text == "-":
        return tuple(bounds) == (None, None)
    for cell, wanted in zip(text.split(" to "), bounds):
        if (cell == "-") != (wanted is None):
            return False
        if wanted is not None and abs(float(cell.rstrip("%ms")) - wanted * (100 if share else 1e-6)) > 0.006 + 0.002 * abs(wanted) * (100 if share else 1e-6):
            return False
    return True

def line(points):  # slope, ends of its interval, constant
    n = len(points)
    mx, my = (Fraction(sum(p[i] for p in points), n) for i in (0, 1))
    xx, xy = sum((x - mx) ** 2 for x, _ in points), sum((x - mx) * (y - my) for x, y in points)
    slope, constant = xy / xx, my - xy / xx * mx
    reach = student_t(n - 2) * math.sqrt(sum((y - constant - slope * x) ** 2 for x, y in points) / (n - 2) / xx)
    return float(slope), float(slope) - reach, float(slope) + reach, float(constant)

growth = md["SETTING|METRIC|SLOPE_NS"]
ok([r[1] for r in growth] == ONE, "a line of growth for each time", [r[:2] for r in growth])
for setting, metric, *cells in growth:
    points = [(c["queues"], METRICS[metric](c)) for c in old if METRICS[metric](c) is not None]
    slope, low, high, constant = line(points)
    verdict = "grows" if low > 0 else "shrinks" if high < 0 else "same"
    want = ["all", str(len(points)), verdict]
    ok([setting, *cells[4:]] == want and all(abs(int(c) - w) < 1 for c, w in zip(cells, (slope, low, high, constant))),
       f"growth of {metric}", f"got {cells}, wanted {slope, low, high, constant, verdict}")

# A group: of all, of each process, and how long until the first
group = {}
for c in read("group.ndjson", work):
    group.setdefault("process=%s" % (c["process"] or "all"), []).append(c)
group_md = tables(open(work + "/group.md").read())
ok(list(group) == ["process=all", "process=4711", "process=4712"], "the samples are those of two processes, and of both")
check_times(group_md, group, [[m, s] for m in METRICS for s in group
                              if m not in ("standstill", "progress") and (s == "process=all" or not m.endswith("_first"))])
check_throughput(group_md, group)

GOALS = {"suspend p99": "10.000ms", "resume p99": "10.000ms", "effect": "5.00%"}
ok([row[:2] for row in md["GOAL|SETTING|MEASURED"]] == [[g, s] for g in GOALS for s in settings], "a row for each goal and setting")
for goal, setting, measured, found, limit, result, reason in md["GOAL|SETTING|MEASURED"]:
    if goal == "effect":
        of, bound, text, why = parts_bounds(effect_of, parts_of(settings[setting])), 0.05, "%.2f%%" % (100 * effect[setting]), " more baselines$"
    else:  # 40 samples are too few
        v = values(settings[setting], goal.split()[0])
        of, bound, text = percentile_bounds(v, Fraction(99, 100)), 1e7, "max %.3fms" % (v[-1] / 1e6)
        why = f"^n too small: {more_samples(v, Fraction(99, 100), 1e7)} more samples$"
    want = (text, GOALS[goal], judge(of, bound))
    ok((measured, limit, result) == want and is_near(found, of, goal == "effect"), f"goal {goal}, {setting}", f"{measured} {found} {limit} {result}, wanted {want} {of}")
    ok(re.search(why if result == "not shown" else "^-$", reason), f"... and why, {goal}, {setting}", reason)

ok(sorted(r[:2] for r in md["SETTING|XCC|SAVED_MEAN bytes"]) == [[s, "0"] for s in sorted(settings)], "a row of saved waves for each setting")
ok(sorted(r[0] for r in md["SETTING|OK|IDLE_CYCLES"]) == sorted(settings), "a row of cycles for each setting")
for setting, xcc, mean, most in md["SETTING|XCC|SAVED_MEAN bytes"]:
    v = [c["saved_bytes_xcc"][int(xcc)] for c in settings[setting]]
    ok((mean, most) == (str(sum(v) // len(v)), str(max(v))), f"saved waves, {setting}, XCC {xcc}")
for setting, *cells in md["SETTING|OK|IDLE_CYCLES"]:
    want = [str(sum(c["result"] == r for c in settings[setting]))
            for r in ("ok", "idle", "moved", "partly", "failed", "stuck", "stopped")]
    want += ["3", "32", setting[-1], "-", "10.000", "20.000", "-"]  # what ran to warm up, and the setting
    ok(cells == want, f"cycles, {setting}", f"got {cells}, wanted {want}")

# Runs of one measurement, one by one
half = Fraction(1, 2)
found = [row[1:5] + row[6:] for row in tables(open(work + "/repeats.md").read())["MEASUREMENT|RUN|SETTING"]]
want = []
for setting, s in settings.items():
    for metric in ("suspend", "resume"):
        for run in (0, 1):
            v = values([c for c in s if c["block"] % 2 == run], metric)
            ends = [x for p in (half, Fraction(99, 100)) for x in percentile_bounds(v, p, Fraction(1, 40))]
            want.append([str(run + 1), setting, metric, str(len(v)), *(ms(x) for x in (percentile(v, half), *ends[:2], carried(v, 990), *ends[2:]))])
ok(sorted(found) == sorted(want) and len({row[4] for row in found}) > 4, "each run of several", f"got {found}, wanted {want}")
ok("MEASUREMENT|RUN|SETTING" not in md, "one run has no such table")

# Two sets of runs
new = {}
for c in read("new.ndjson", work):
    new.setdefault("queues=%d" % c["queues_wanted"], []).append(c)

def both_tails(t, n, steps=20000):  # beyond t, of Student's t: with x = sqrt(n) tan(angle)
    def area(low):
        h = (math.pi / 2 - low) / steps
        f = [math.cos(low + i * h) ** (n - 1) * (1 if i in (0, steps) else 4 if i % 2 else 2) for i in range(steps)]
        return math.fsum(f) * h / 3
    return area(math.atan(t / math.sqrt(n))) / area(0)

def change_of(a, b):  # values of runs: ratio, p (not corrected), whether it is within 5 % (likewise)
    logs = [[math.log(max(v, 1)) for v in side] for side in (a, b)]
    mean = [sum(v) / len(v) for v in logs]
    part = [sum((x - m) ** 2 for x in v) / (len(v) - 1) / len(v) for v, m in zip(logs, mean)]
    change = mean[1] - mean[0]
    if not sum(part):
        return math.exp(change), float(change == 0), 0
    error = math.sqrt(sum(part))
    freedom = min(map(len, logs)) - 1
    inside = math.log(1.05) - abs(change)
    beyond = both_tails(abs(inside) / error, freedom) / 2
    return math.exp(change), both_tails(abs(change) / error, freedom), beyond if inside > 0 else 1 - beyond

def holm(p):
    most, right = 0, list(p)
    for k, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        most = max(most, (len(p) - k) * p[i])
        right[i] = min(most, 1)
    return right

def check_changes(changes, sides):  # (setting, metric) -> values of runs, old and new
    of = [change_of(*sides[c["setting"], c["metric"]]) for c in changes]
    for c, (ratio, _, _), p, equal in zip(changes, of, holm([x[1] for x in of]), holm([x[2] for x in of])):
        verdict = ("slower" if ratio > 1 else "faster") if p < 0.01 else "equal within 5%" if equal < 0.01 else "not shown"
        a, b = sides[c["setting"], c["metric"]]
        right = (c["runs_old"], c["runs_new"], c["statistic"], c["verdict"]) == (len(a), len(b), "p50", verdict)
        right = right and math.isclose(c["p"], p, rel_tol=1e-3) and (c["change_percent"] is None) == (not any(a))
        right = right and (not any(a) or math.isclose(1 + c["change_percent"] / 100, ratio, rel_tol=1e-6))
        low, high = c["change_low_percent"], c["change_high_percent"]
        right = right and (low is None or c["p"] == 1 or abs((1 + low / 100) * (1 + high / 100) - ratio * ratio) < 1e-6 * ratio * ratio)
        ok(right and (c["more"] is None) == (verdict != "not shown"), f"change of {c['metric']}, {c['setting']}", f"{c} wanted {ratio, p, equal, verdict}")

def medians(cycles, metric, of):
    return [percentile(v, half) for v in (values([c for c in cycles if of(c) == run], metric) for run in sorted(set(map(of, cycles)))) if v]

changes = json.load(open(work + "/compare.json"))["changes"]
ok(len(changes) == 2 * len(ONE), "a change for each time and setting")
check_changes(changes, {(n, m): [medians(s[n], m, lambda c: c["block"] % 5) for s in (settings, new)] for n in settings for m in ONE})
ok(all(c["verdict"] == "slower" for c in changes if c["metric"] == "suspend"), "5 ms more are seen")

# The page
page = open(work + "/page.html").read()
svgs = re.findall(r"<figure>(.*?)</figure>", page, re.S)
ok([re.search("<title>(.*?)</title>", s)[1] for s in svgs] == ["How long suspend and resume took", "All settings", "Suspend and resume over time, all settings"],
   "the page has three plots; there is none of rates, as the queues watched change")
ok(all(minidom.parseString(s) for s in svgs), "it is well-formed XML")
order = [page.find(x) for x in ('<p class="verdict unknown">Goals not shown: suspend p99 max 7.714ms (limit 10.000ms, queues=1, n too small: 259 more samples), resume p99 max 19.261ms', "<figure>", "<table", ">boot id<")]
ok(-1 not in order and order == sorted(order), "verdict, plot, tables, and the context behind them", order)
ok(all("@media(prefers-color-scheme:dark)" in x for x in (page[:page.find("<svg")], *svgs)), "page and plots have colours for the dark")
for name, s in settings.items():  # 743us, 1.15ms
    for metric in ("suspend", "resume"):
        x = percentile(values(s, metric), Fraction(1, 2))
        text = "%.3gms" % (x / 1e6) if x >= 1e6 else "%.3gus" % (x / 1e3)
        ok(f">median {text}</text>" in svgs[0], f"its median is on the plot: {metric}, {name}", text)
ok(">p99" not in svgs[0] and ">greatest 19.3ms</text>" in svgs[0], "40 samples carry no 99th percentile")
text_outside = re.sub(r"<title>.*?</title>|<desc>.*?</desc>", "", svgs[0], flags=re.S)
ok(not re.search(r'textLength|font-size="', text_outside), "all text has the sizes of the style")
ok(not re.search(r"<script|<link|src=|href=|@import|url\(|nan|inf\b", page), "it needs nothing else, and has no holes")
cells = re.findall(r'<t(?:d|h scope="row")[^>]*>([^<]*)</t[dh]>', page)
flat = [c for rows in md.values() for row in rows for c in row]
ok([html.unescape(c) for c in cells] == flat, "page and Markdown have the same cells")

# The experiment: online latencies, offline rates, goals, from the raw lines alone
runs = [json.loads(line) for line in open(data + "/ab.ndjson")]
ab = tables(open(work + "/ab.md").read())
half = Fraction(1, 2)
mode = {}
for name in ("alone", "shared", "preempt"):
    r = [x for x in runs if x["mode"] == name]
    lat = sorted(v for x in r for v in x["latencies_ns"])
    rates = [x["packets"] / (x["window_ns"] / 1e9) for x in r]
    mode[name] = dict(
        n=len(r), lat=lat, rates=rates, mean=sum(rates) / len(rates),
        held=sum(x["held_ns"] for x in r) / sum(x["online_ns"] for x in r), runs=r, holds=sum(x["holds"] for x in r),
        off=sorted(v for x in r for v in x["suspends_ns"]), on=sorted(v for x in r for v in x["resumes_ns"]))
ok([row[0] for row in ab["MODE|RUNS|N"]] == list(mode), "the experiment has a row for each mode")
for name, *cells in ab["MODE|RUNS|N"]:
    m = mode[name]
    s = summary(m["lat"])
    want = [str(m["n"]), str(len(m["lat"]))] + [ms(x) for x in (s[9], s[10], s[0], s[4], s[5], s[7])]
    want.append("%.2f" % (percentile(m["lat"], half) / percentile(mode["alone"]["lat"], half)))
    rate = lambda x: sum(len(r["latencies_ns"]) for r in x["runs"]) / sum(r["online_ns"] / 1e9 for r in x["runs"])
    want += ["-", "%.2f" % rate(m), "%.2f" % rate(mode["alone"]), "-"]  # 12 requests have no 99th percentile
    ok(cells == want, f"online latency, {name}", f"got {cells}, wanted {want}")
def loss_of(name, runs):  # of pairs of runs, one alone; in the time in which the online work ran
    rates = [sum(x[i]["packets"] / x[i]["window_ns"] for x in runs) for i in (0, 1)]
    return (1 - rates[1] / rates[0]) * sum(x[1]["window_ns"] for x in runs) / sum(x[1]["online_ns"] for x in runs)

def held_of(runs):
    return sum(x[1]["held_ns"] for x in runs) / sum(x[1]["online_ns"] for x in runs)

pairs = {name: list(zip(mode["alone"]["runs"], mode[name]["runs"])) for name in mode}
for name, *cells in ab["MODE|RUNS|RATE"]:
    m = mode[name]
    sd = math.sqrt(sum((x - m["mean"]) ** 2 for x in m["rates"]) / (len(m["rates"]) - 1))
    times = [x for v in (m["off"], m["on"]) for x in (ms(percentile(v, half) if v else None), ms(carried(v, 990)))]
    want = [str(m["n"]), "%.2f" % m["mean"], "%.2f" % sd, str(m["holds"]), *times, "%.2f" % (100 * m["held"])]
    want.append("%.2f" % (100 * loss_of(name, pairs[name])))
    ok([c.replace("-0.00", "0.00") for c in cells] == want, f"offline work, {name}", f"got {cells}, wanted {want}")
p = mode["preempt"]
def slowdown(name, of):
    a, b = mode[name]["lat"], mode["alone"]["lat"]
    low, high = ratio_bounds(percentile(a, of), percentile_bounds(a, of), percentile(b, of), percentile_bounds(b, of))
    return percentile(a, of) / percentile(b, of) - 1, (low and low - 1, high and high - 1)
def effect_ab(runs):
    return loss_of("preempt", runs) - held_of(runs)
judged = [("online slowdown", "", *slowdown("preempt", half), 0.10), ("online p99 slowdown", "max ", *slowdown("preempt", Fraction(99, 100)), 0.10),
          ("offline effect", "", effect_ab(pairs["preempt"]), parts_bounds(effect_ab, pairs["preempt"]), 0.05)]
ok([row[0] for row in ab["GOAL|SETTING|MEASURED"]] == [row[0] for row in judged], "the experiment has three goals")
for (goal, _, measured, found, limit, result, _), (_, most, value, of, bound) in zip(ab["GOAL|SETTING|MEASURED"], judged):
    want = (most + "%.2f%%" % (100 * value), "%.2f%%" % (100 * bound), judge(of, bound, True))
    ok((measured, limit, result) == want and is_near(found, of, True), goal, f"{measured} {found} {limit} {result}, wanted {want} {of}")
# Which queues: of both sides in every run; alone they are two moments
ids = {}
for x in runs:
    for part in ("queues", "queues_offline_alone"):
        for side in ("online", "offline"):
            found = sorted(q["queue_id"] for q in x[part] if q["side"] == side)
            if found:
                ids.setdefault(side, []).append(found)
for side, process, _, seen, _, least, most, _, _, _, same, *_ in ab["PROGRAM|WORKER|COMMAND"]:
    num = str(len(ids[side][0]))
    want = (str(len(ids[side])), num, num, "yes" if all(i == ids[side][0] for i in ids[side]) else "no")
    ok((seen, least, most, same) == want, f"queue ids, {side}", f"got {(seen, least, most, same)}, wanted {want}")
# Two experiments
later = [json.loads(line) for line in open(work + "/ab2.ndjson")]
changes = json.load(open(work + "/compare-ab.json"))["changes"]
ok([(c["setting"], c["metric"]) for c in changes] == [(m, "online") for m in mode], "a change of online latency for each mode")
check_changes(changes, {(m, "online"): [[percentile(sorted(x["latencies_ns"]), half) for x in side if x["mode"] == m] for side in (runs, later)]
                        for m in mode})
# Requirements: of every setting, and of the experiment
def row(name, setting, v, of, limit, n, or_equal=False):
    share = limit < 1
    p = re.search(r" p(\d+)$", name)
    most = "max " if p and n * (100 - int(p[1])) < 100 else ""
    return [name, setting, most + ("%.2f%%" % (100 * v) if share else "%.3fms" % (v / 1e6)), judge(of, limit, or_equal)]

def of_time(statistic, v):  # value, bounds
    if statistic == "max":
        return v[-1], (v[-1], v[-1])
    if statistic == "mean":
        return sum(v) / len(v), mean_bounds(v)
    p = half if statistic == "median" else Fraction(int(statistic[1:]), 100)
    return percentile(v, p), percentile_bounds(v, p)

want = []
for name, limit in (("suspend p99", 7.1e6), ("standstill mean", 1e-9), ("resume p90", 1e6), ("effect", 0.07), ("suspend max", 1e6), ("resume mean", 1e9)):
    for setting, s in settings.items():
        value, of = of_time(name.split()[1], values(s, name.split()[0])) if name != "effect" else (
            effect[setting], parts_bounds(effect_of, parts_of(s)))
        r = row(name, setting, value, of, limit, len(s))
        want.append([*r[:2], "0.000ms", "shown"] if name == "standstill mean" else r)
def loss_pair(name):
    return lambda runs: loss_of(name, runs)
p = mode["preempt"]
for name, v, of, limit in [
        ("suspend p99", *of_time("p99", p["off"]), 7.1e6), ("resume p90", *of_time("p90", p["on"]), 1e6), ("online p99", *of_time("p99", p["lat"]), 401e6),
        ("online shared median", *of_time("median", mode["shared"]["lat"]), 1e6),
        ("offline loss", loss_of("preempt", pairs["preempt"]), parts_bounds(loss_pair("preempt"), pairs["preempt"]), 0.2),
        ("offline shared loss", loss_of("shared", pairs["shared"]), parts_bounds(loss_pair("shared"), pairs["shared"]), 0.9),
        ("online slowdown", *slowdown("preempt", half), 0.0004), ("offline held", held_of(pairs["preempt"]), parts_bounds(held_of, pairs["preempt"]), 0.446),
        ("suspend max", *of_time("max", p["off"]), 1e6), ("resume mean", *of_time("mean", p["on"]), 1e9)]:
    want.append(row(name, "-", v, of, limit, 12))
text = open(work + "/required.md").read()
got = [[c.strip() for c in line.strip("|").split("|")] for block in re.findall(r"(?:^\|.*\n)+", text, re.M) if block.startswith("| GOAL |")
       for line in block.strip().split("\n")[2:]]
# A requirement stands in the place of the goal of its name; goals that none replaced are not required.
ok([row[0] for row in got if row[1] == "queues=1"] ==
      ["suspend p99", "resume p99", "effect", "standstill mean", "resume p90", "suspend max", "resume mean"], "goals and requirements in one table")
got = sorted([a, b, c, e] for a, b, c, _, _, e, _ in got if [a, b] not in (["resume p99", s] for s in settings) and a not in ("offline effect", "online p99 slowdown"))
want.sort()
ok(got == want, "requirements", f"got {got}, wanted {want}")
ok(all(sum(w[3] == word for w in want) > 2 for word in ("shown", "refuted", "not shown")), "some are shown, some refuted, some neither", want)
said = open(work + "/required.err").read().strip().split("\n")
ok(len(said) == sum(w[3] != "shown" for w in want) and int(open(work + "/required.status").read()) == 1, "each that is not shown is said, and the status", said)
# Looks at suspended queues
looks = [x[part] for x in runs for part in ("queues", "queues_offline_alone") if x[part]]
off = sum(any(q.get("suspended") for q in look) for look in looks)
said = re.search(r"in (\d+) of (\d+) looks the offline queues were suspended", open(work + "/ab.md").read())
ok((said.groups() if said else None) == ((str(off), str(len(looks))) if off else None), "in how many looks queues were suspended")
finish()
PYTHON
