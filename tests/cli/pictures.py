"""Looks at pictures and pages as a reader does, and computes what they must show from the input of gpq. TAP.

pictures.py DATA COMMANDS: in the folder that pictures.sh filled."""
import html
import json
import math
import os
import re
import sys
import xml.etree.ElementTree as tree
from statistics import median_low

from tap import finish, ok, same

data, commands = sys.argv[1], sys.argv[2].split()
PHONE = 358  # pixels that a page leaves a picture on a screen of 390
LEFT, RIGHT, AREA, FRAME = 58, 468, 56, 22
DARK = "@media(prefers-color-scheme:dark)"


class Picture:
    """Shapes (class, box), texts (class, box, words) and what the legend names, in units of the picture."""

    def __init__(self, path):
        self.root = tree.parse(path).getroot()
        self.box = [float(v) for v in self.root.get("viewBox").split()]
        self.shapes, self.texts, self.legend, self.titles, self.style = [], [], {}, [], ""
        self.walk(self.root, 0, False)

    def walk(self, e, dy, legend):
        tag = e.tag.split("}")[1]
        css = e.get("class") or ""
        dy += float(re.match(r"translate\(0 (\d+)\)", e.get("transform", "translate(0 0)"))[1])
        legend = legend or css == "legend"
        if tag == "style":
            self.style = e.text
        elif tag == "text":
            self.texts.append((css, text_box(e, dy), e.text))
            if legend and self.shapes:
                self.legend[self.shapes.pop()[0]] = e.text
        elif tag in ("rect", "path", "line") and css != "paper" and "100%" not in e.attrib.values():
            self.shapes.append((css, *shape_box(e, tag, dy)))
        for child in e:
            if child.tag.split("}")[1] == "title" and tag == "g":
                self.titles.append((child.text, self.shape_of(e)))
            elif child.tag.split("}")[1] != "defs":
                self.walk(child, dy, legend)

    @staticmethod
    def shape_of(group):
        r = next(c for c in group if c.tag.endswith("rect"))
        return r.get("class"), *(float(r.get(k)) for k in ("x", "y", "width", "height"))

    def of(self, css):
        return [s for s in self.shapes if s[0] == css]

    def colours(self, dark):
        """Of each class and property: the last rule counts, as in a browser."""
        light, _, night = self.style.replace(" ", "").replace("\n", "").partition(DARK + "{")
        found = {}
        for names, body in re.findall(r"([^{}]+)\{([^{}]*)\}", light + (night if dark else "")):
            for name in names.split(","):
                for item in body.split(";"):
                    if ":#" in item:
                        key, value = item.split(":", 1)
                        found[re.sub(r"^svg(?=[.t])", "", name), key] = value
        return found


def text_box(e, dy):
    small = re.fullmatch(r"font-size:(\d+)px", e.get("style") or "")
    size = int(small[1]) if small else 16 if "title" in (e.get("class") or "") else 14
    # Of DejaVu Sans, which browsers on Linux take where there is no other: as wide as any.
    wide = {c: w for w, letters in ((3.9, "ijl"), (4.5, " .,:;"), (5, "f()"), (5.5, "t"), (5.8, "r"), (7.4, "sz"), (7.7, "c"), (8.2, "kvxy"),
                                    (11.5, "wM"), (13.6, "m%")) for c in letters}
    width = sum(wide.get(c, 8.9) for c in e.text) * size / 14 * (1.1 if "strong" in (e.get("class") or "") else 1)
    x, y = float(e.get("x")), float(e.get("y")) + dy
    left = x - {"middle": width / 2, "end": width}.get(e.get("text-anchor"), 0)
    return left, y - 0.75 * size, left + width, y + 0.2 * size


def steps(d):
    """The corners of a path of M, V, H, h, v, m and l."""
    x = y = 0
    out = []
    for op, args in re.findall(r"([A-Za-z])([^A-Za-z]*)", d):
        v = [float(a) for a in args.replace("-", " -").split()]
        if op in "Mm":
            x, y = (v[0], v[1]) if op == "M" else (x + v[0], y + v[1])
        elif op in "Hh":
            x = v[0] if op == "H" else x + v[0]
        elif op in "Vv":
            y = v[0] if op == "V" else y + v[0]
        elif op == "l":
            x, y = x + v[0], y + v[1]
        elif op == "z":
            continue
        out.append((op, x, y))
    return out


def shape_box(e, tag, dy):
    if tag == "rect":
        x, y, w, h = (float(e.get(k)) for k in ("x", "y", "width", "height"))
        return (x, y + dy, x + w, y + h + dy), None
    if tag == "line":
        return (float(e.get("x1")), float(e.get("y1")) + dy, float(e.get("x2")), float(e.get("y2")) + dy), None
    corners = steps(e.get("d"))
    xs, ys = [c[1] for c in corners], [c[2] + dy for c in corners]
    return (min(xs), min(ys), max(xs), max(ys)), corners


def luminance(colour):
    v = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    v = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in v]
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]


def contrast(a, b):
    a, b = sorted((luminance(a), luminance(b)))
    return (b + 0.05) / (a + 0.05)


def full(c):
    return c if len(c) == 7 else "#" + "".join(2 * x for x in c[1:])


def mixed(over, under, share):
    pair = [(int(over[i:i + 2], 16), int(under[i:i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join("%02x" % round(share * a + (1 - share) * b) for a, b in pair)


def crosses(a, b, room=0.0):
    return a[0] < b[2] - room and b[0] < a[2] - room and a[1] < b[3] - room and b[1] < a[3] - room


def look(path, gpq=True, legend=True):
    """What holds for every picture."""
    name, rig = os.path.basename(path), "" if gpq else " # rig"
    if not os.path.exists(path):
        return ok(False, f"{name} is there")
    p = Picture(path)
    width, height = p.box[2:]
    ok(p.box[:2] == [0, 0] and width == 480 and [p.root.get(k) for k in ("width", "height")] == ["480", "%.0f" % height],
       f"{name}: viewBox and size are the same{rig}", p.box)
    ok(14 * PHONE / width >= 10 and "font:14px" in p.style.replace(": ", ":"), f"{name}: text of 10 pixels on a phone{rig}")
    outside = [t for t in p.texts if t[1][0] < -1 or t[1][2] > width + 1 or t[1][3] > height + 1]
    ok(p.texts and not outside, f"{name}: no text is cut{rig}", outside)
    over = [(a[2], b[2]) for i, a in enumerate(p.texts) for b in p.texts[:i] if crosses(a[1], b[1], 0.5)]
    ok(p.texts and not over, f"{name}: no text covers another{rig}", over)
    over = [(s[:2], t) for s in p.shapes if s[0][:4] in ("goal", "tick") for t in p.texts if crosses((s[1][0] - 0.5, s[1][1], s[1][2] + 0.5, s[1][3]), t[1])]
    ok(p.texts and not over, f"{name}: no line crosses a text{rig}", over)
    drawn = {s[0] for s in p.shapes if s[0] not in ("grid", "box", "arrow")} - ({"frame"} - set(p.legend))
    ok(legend and drawn == set(p.legend) and len(set(p.legend.values())) == len(p.legend),
       f"{name}: the legend names what is drawn, once{rig}", f"{drawn}\n{p.legend}")
    if legend and name != "overview.svg":
        bars = [s for s in p.shapes if s[0] in ("band", "frame") or s[0][:1] == "c"]
        beyond = [b for b in bars if b[1][0] < LEFT - 0.05 or b[1][2] > RIGHT + (4 if name == "timeline.svg" else 0.05)]
        ok(bars and not beyond, f"{name}: no bar beyond the axis{rig}", beyond)
        rows = [s[1] for s in p.of("grid")]
        loose = [b for b in bars if rows and not any(r[1] - 0.05 <= b[1][1] and b[1][3] <= r[3] + 0.05 for r in rows)]
        ok(bars and not loose, f"{name}: every bar stands in its row{rig}", loose)
        ok(all([t for t in p.texts if t[2] == "0" and t[1][2] == LEFT - 6 and abs(t[1][3] - 2.8 - r[3]) < 0.1] or r[3] - r[1] in (8, 18) for r in rows) and p.texts,
           f"{name}: each row has a scale{rig}")
    for dark in (False, True):
        style, low = p.colours(dark), []
        if name == "overview.svg":
            style = {(v, ""): style.get(("svg", "--" + v)) for v in ("ink", "soft", "line", "paper", "box", "on", "onbox", "off", "offbox")}
            c = {k[0]: full(v) for k, v in style.items()}
            pairs = [(c["ink"], c[b], 4.5) for b in ("paper", "box", "onbox", "offbox")] + [(c["soft"], c["box"], 4.5)]
            pairs += [(c[a], c[b], 3) for a, b in (("line", "box"), ("on", "box"), ("off", "box"))]
        else:
            paper, ink = (full(style[k, "fill"]) for k in (".paper", "text"))
            pairs = [(ink, paper, 4.5), (full(style[".goal-text", "fill"]), paper, 4.5), (full(style[".frame", "fill"]), ink, 4.5)]
            pairs += [(full(style["." + k, "stroke"]), paper, 3) for k in ("tick", "goal", "band", "frame")]
            for i in range(6):
                colour = full(style[f".c{i}", "color"])
                pairs += [(colour, paper, 3), (ink, mixed(colour, paper, 0.3), 4.5)]
        low = [(a, b, contrast(a, b)) for a, b, least in pairs if contrast(a, b) < least]
        ok(len(pairs) > 7 and not low, f"{name}: contrasts of WCAG AA in the {'dark' if dark else 'light'}{rig}", low)
    return p


def ns(text):
    m = re.fullmatch(r"([\d.]+)(ns|us|ms|s)", text)
    return m and float(m[1]) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[m[2]]


def axis(p):
    """Labels of the horizontal axis: (x, value). Their places must lie on one scale, linear or logarithmic."""
    top = max(t[1][1] for t in p.texts if ns(t[2]) is not None)
    return sorted(((t[1][0] + t[1][2]) / 2, ns(t[2])) for t in p.texts if t[1][1] == top and ns(t[2]) is not None)


def percentile(values, share):
    v = sorted(values)
    return v[max(0, math.ceil(share * len(v)) - 1)]


def rows_of(path, **wanted):
    out = [json.loads(line) for line in open(path)]
    return [r for r in out if not r.get("warmup") and all(r.get(k) == v for k, v in wanted.items())]


def check_times(p, name, series, low, high, pooled=False):
    """Each row is the distribution of its samples on a logarithmic axis from `low` to `high` ns. Pooled samples have no interval."""
    labels = axis(p)

    def x_of(t):
        return LEFT + (RIGHT - LEFT) * math.log(t / low) / math.log(high / low)

    ok(len(labels) > 2 and all(abs(x - x_of(t)) < 3 for x, t in labels[1:-1]), f"{name}: the labels of the axis lie where their times are", labels)
    rows = [s for s in p.shapes if s[0][:1] == "c" and s[1][3] - s[1][1] > 1]
    same(f"{name}: a row for each series", len(rows), len(series))
    tops = [float(t[2][:-1]) / 100 for t in p.texts if re.fullmatch(r"\d+%", t[2]) and t[1][2] == LEFT - 6]
    strong, thin = p.of("tick strong"), p.of("tick")
    for (_, box, corners), values, top, middle, end in zip(rows, series, tops, strong, thin):
        bottom, n, at, wrong, seen = box[3], len(values), None, [], 0
        for op, x, y in corners:
            if op == "H":  # up to the next sample
                seen = (bottom - y) / AREA * top * n
                least, most = (sum(x_of(v) <= at + d for v in values) for d in (-0.06, 0.06))
                if not least - 0.2 <= seen <= most + 0.2:
                    wrong.append((at, x, seen, least, most))
            at = x
        ok(not wrong and abs(seen - n) < 0.2 and abs(at - RIGHT) < 0.06, f"{name}: the steps are the samples", f"{wrong} {seen} of {n}")
        band = [b for b in p.of("band") if abs(b[1][3] - bottom) < 0.06]
        rank = next(r for r in range(n + 1) if sum(math.comb(n, k) for k in range(r + 1)) > 0.025 * 2**n) * (not pooled)  # of the lower end; 0: none
        ends = [x_of(sorted(values)[i]) for i in (rank - 1, n - rank)] if rank else []
        ok(len(band) == bool(rank) and all(abs(b - e) < 0.11 for b, e in zip(band[0][1][::2] if band else [], ends)), f"{name}: the interval of the median", f"{band} {ends}")
        ok(abs(middle[1][0] - x_of(percentile(values, 0.5))) < 0.06, f"{name}: the median", middle)
        ok(abs(end[1][0] - x_of(percentile(values, 0.99 if n >= 100 else 1))) < 0.06, f"{name}: the far end", end)


def check_rate(p):
    """Rates of the first 20 cycles: held, and running until the next suspend has returned."""
    cycles = rows_of(data + "/bench/plain.ndjson")[:20]
    zero, bands, steps_of = cycles[0]["at_ns"], [], []
    for c, d in zip(cycles, cycles[1:]):
        off = c["at_ns"] + c["suspend_ns"]
        on, then = off + c["held_ns"], d["at_ns"] + d["suspend_ns"]
        ran = d["read_sum"] + d["suspend_packets"] - c["read_sum"] - c["suspend_packets"] - c["held_packets"]
        bands.append((off, on))
        steps_of.append((on, then, ran / ((then - on) / 1e9)))
    span = axis(p)[-1][1]
    got = [(b[1][0], b[1][2]) for b in p.of("band")]
    want = [tuple(LEFT + (RIGHT - LEFT) * (t - zero) / span for t in b) for b in bands]
    ok(len(got) == len(want) and all(abs(g - w) < 0.11 for a, b in zip(got, want) for g, w in zip(a, b)), "the bands are the holds", f"{got}\n{want}")
    (_, box, corners), = [s for s in p.of("c0")]
    scale = {"k": 1e3, "M": 1e6}
    top, = [float(t[2][:-1]) * scale[t[2][-1]] for t in p.texts if re.fullmatch(r"[\d.]+[kM]", t[2])]
    level = [(x, box[3] - y) for op, x, y in corners if op == "H"][1::2]
    want = [(LEFT + (RIGHT - LEFT) * (t - zero) / span, AREA * rate / top) for _, t, rate in steps_of]
    ok(len(level) == len(want) - 1 and all(abs(a - b) < 0.11 for g, w in zip(level, want) for a, b in zip(g, w)), "the steps are the rates",
       f"{level}\n{want}")


def check_settings(p, wanted):
    """wanted: the values of each row."""
    (_, low), *_, (_, high) = axis(p)

    def x_of(t):
        return LEFT + (RIGHT - LEFT) * math.log(t / low) / math.log(high / low)

    bars, ticks = [s for s in p.shapes if s[0][:1] == "c"], p.of("tick strong")
    ok(len(bars) == len(ticks) == len(wanted) == 4, "a mark for each setting and call", bars)
    for bar, tick, values in zip(bars, ticks, wanted):
        n, v = len(values), sorted(values)
        rank = next(r for r in range(n) if sum(math.comb(n, k) for k in range(r + 1)) > 0.025 * 2**n)  # 0: no sample bounds it
        ends = (v[rank - 1], v[n - rank]) if rank else (low, high)
        got, want = (bar[1][0], tick[1][0], bar[1][2]), [x_of(t) for t in (ends[0], percentile(v, 0.5), ends[1])]
        ok(all(abs(g - w) < 0.11 for g, w in zip(got, want)), "a median and its interval", f"{got} {want}")


def check_over_time(p, name, groups, held=()):
    """groups: moments (from, to, ns) of each; times in s. All groups have one scale."""
    end = axis(p)[-1][1] / 1e9
    top = max(ns(t[2]) for t in p.texts if t[1][2] == LEFT - 6 and ns(t[2]))
    ok(max(g[-1][1] for g in groups) <= end and max(m[2] for g in groups for m in g) <= top, f"{name}: all of it has room", (end, top))

    def x_of(t):
        return LEFT + (RIGHT - LEFT) * t / end

    drawn = [s for s in p.shapes if s[0][:1] == "c" and s[1][3] - s[1][1] > 1]
    same(f"{name}: a row for each group", len(drawn), len(groups))
    for (_, box, corners), moments in zip(drawn, groups):
        got = [(x, to, box[3] - y) for (_, x, y), (op, to, _) in zip(corners, corners[1:]) if op == "H"]
        want = [(x_of(a), x_of(b), AREA * v / top) for a, b, v in moments]
        ok(len(got) == len(want) and all(abs(g - w) < 0.11 for a, b in zip(got, want) for g, w in zip(a, b)), f"{name}: levels and times", f"{got}\n{want}")
    got = [(b[1][0], b[1][2]) for b in p.of("band")]
    ok(len(got) == len(held) and all(abs(g - x_of(w)) < 0.11 for a, b in zip(got, held) for g, w in zip(a, b)), f"{name}: what was held", f"{got}\n{held}")


def check_flame(p):
    stacks = [(*line.rsplit(" ", 1)[0].split(";", 2), int(line.rsplit(" ", 1)[1])) for line in open("folded")]
    stacks = [(process, queue, f"[{state.replace(';', ' ')}]", looks) for process, queue, state, looks in stacks]
    total = sum(s[3] for s in stacks)
    unit = (RIGHT - LEFT) / total
    got = [(title.split(": ")[0], box[1:4], title) for title, box in p.titles]
    want, at, spans = [], LEFT, {}
    for process, queue, what, looks in stacks:
        for key in ((process,), (process, queue), (process, queue, what)):
            begin, level, old = spans.get(key, (at, len(key), 0))
            spans[key] = (begin, level, old + looks)
        at += unit * looks
    for key, (begin, level, looks) in spans.items():
        want.append((key[-1], begin, level, looks * unit, f"{key[-1]}: {looks} of {total} samples, {100 * looks / total:.1f}%"))
    base = max(g[1][1] for g in got)
    made = sorted((name, round(x, 1), 1 + (base - y) / FRAME, round(w, 1), title) for name, (x, y, w), title in got)
    wanted = sorted((n, round(b, 1), level, round(w, 1), t) for n, b, level, w, t in want)
    ok(len(made) == len(wanted) > 30 and all(a[0] == b[0] and a[2] == b[2] and a[4] == b[4] and abs(a[1] - b[1]) < 0.11 and abs(a[3] - b[3]) < 0.11
                                             for a, b in zip(made, wanted)), "the frames are the stacks", f"{made}\n{wanted}")
    states = {re.split(r"[\[\] ]", s[2])[1] for s in stacks}
    same("the legend has the states", sorted(p.legend.values()), sorted(states))
    same("levels have names", [t[2] for t in p.texts if t[1][2] == LEFT - 6], ["process", "queue", "packet"])
    state_of = {p.legend[css]: css for css in p.legend}
    ok(all(box[0] == state_of[re.split(r"[\[\] ]", title)[1]] for title, box in p.titles if title[0] == "["), "a frame has the colour of its state")


def check_wide_flame():
    p = look("svg/two.svg")
    if p:
        inside = [t[2] for t in p.texts if t[2].startswith(("train", "compute", "["))]
        same("frames with room have their names, one after the other", inside, ["[waits barrier-and]", "compute 0", "[idle]", "compute 5", "train 4712"])
        ok([t for t in p.texts if t[2] == "share of the samples of all queues"], "the axis has a name")


def check_pages():
    def page(name):
        return open(f"pages/{name}.html").read() if os.path.exists(f"pages/{name}.html") else ""

    def cells(text):
        return [html.unescape(c) for c in re.findall(r"<td[^>]*>([^<]*)</td>", text)]

    bench, trace = page("bench"), page("trace")
    for name, text in (("bench", bench), ("trace", trace)):
        ok(text and not re.search(r"body\{[^}]*max-width", text) and "width=device-width" in text, f"{name}: the page is as wide as the screen")
        ok(text and not re.search(r"\de[+-]\d", text), f"{name}: numbers as people write them")
        ok(os.path.exists("same-" + name), f"{name}: with - the same page alone, else the same table")
    title = re.search(r"<title>(.*?)</title>.*<h1>(.*?)</h1>", bench, re.S)
    ok(title and title[1] == title[2] == f"gpq bench: what changed from {data}/bench/old.ndjson to {data}/bench/new.ndjson", "the title says what is compared", title)
    want = []
    for queues in (1, 3):
        for metric in ("suspend_ns", "resume_ns"):
            a, b = ([r[metric] for r in rows_of(f"{data}/bench/{f}.ndjson", queues_wanted=queues)] for f in ("old", "new"))
            a, b = percentile(a, 0.5), percentile(b, 0.5)
            text = ["%.3gms" % (v / 1e6) if v >= 1e6 else "%.3gus" % (v / 1e3) for v in (a, b)]
            want.append(f"{metric[:-3]} p50 (queues={queues}): {text[0]}, now {text[1]} ({100 * (b / a - 1):+.0f}%), n too small: 4 more runs")
    ok('<p class="verdict unknown">Not shown: ' + "; ".join(want) + ".</p>" in bench, "what one run of each does not tell, in words", want)
    ok(not re.search("Faster|Slower|Equal", bench) and bench, "nothing else is said")
    ok(bench.count("<svg") == 1 and re.findall(">(old, [^<]*|new, [^<]*)<", bench) == [f"{side}, queues={q}, n 40" for q in (1, 3) for side in ("old", "new")] * 2, "old and new times are drawn")
    ok(bench.count("<td>not shown</td>") == 16, "the table has all times")
    open("svg/changes.svg", "w").write((re.findall(r"<svg.*?</svg>", bench, re.S) or [""])[0])
    if bench:
        p = look("svg/changes.svg")
        old, new = (rows_of(f"{data}/bench/{f}.ndjson") for f in ("old", "new"))
        check_times(p, "changes.svg", [[r[m] for r in side if r["queues_wanted"] == q] for m in ("suspend_ns", "resume_ns") for q in (1, 3) for side in (old, new)], 1e5, 1e8, pooled=True)
        same("changes.svg: a colour for each time", list(p.legend.values()), ["suspend: share of the samples within this time", "median", "greatest", "resume: share of the samples within this time"])
    ok("<h1>gpq trace: A is &lt;i&gt;.log, B is " in trace, "names of logs are escaped")
    said = json.load(open("trace.json")) if os.path.getsize("trace.json") else {"verdict": "", "findings": [], "kernels": [], "queues": []}
    paragraphs = [html.unescape(x) for x in re.findall(r"<p>(.*?)</p>", trace)]
    same("sentences of the page", paragraphs, [said["verdict"], *said["findings"]])
    ok([re.findall("<h3>(.*?)</h3>", page(n)) for n in ("trace", "by")] == [["Logs", "Hardware queues", "Kernels"]] * 2, "all tables, whatever the table of --by")
    ok([page(n).count("<table>") for n in ("trace", "by")] == [3, 3], "and no other: findings are paragraphs")
    ok(trace and sorted(cells(page("by"))) == sorted(cells(trace)) and page("all") == trace, "with all their columns, whatever those of -o")
    names = [c for c in cells(page("by")) if c in [k["name"] for k in said["kernels"]]]
    ok(names and names == sorted(names), "in the order of --sort", names)
    names = [k["demangled"] for k in said["kernels"]]
    ok(names and all(n in cells(trace) for n in names), "readable names of kernels", names)
    ok(page("mangled") and "_Z5scalePff" in cells(page("mangled")) and "scale(float*, float)" not in cells(page("mangled")), "or as the log has them")


for file in ("series", "plain/plot-1", "plain/plot-2", "plain/plot-3", "ab/plot-1", "ab/plot-2", "old/plot-1", "old/plot-2", "few/plot-2", "long/plot-3", "wide/plot-1", "flame"):
    picture = look(f"svg/{file}.svg")
    if not picture:
        continue
    if file == "plain/plot-1":
        cycles = rows_of(data + "/bench/plain.ndjson")
        check_times(picture, file, [[c[k] for c in cycles] for k in ("suspend_ns", "resume_ns")], 1e5, 1e7)
        goals = picture.of("goal")
        ok(len(goals) == 2 and all(g[1][0] == g[1][2] == RIGHT for g in goals), "goals of 10ms at the end of the axis", goals)
    elif file == "plain/plot-2":
        cycles = rows_of(data + "/bench/plain.ndjson", result="ok")
        at = [(c["at_ns"] - cycles[0]["at_ns"]) / 1e9 for c in cycles]
        lasts = [sum(c[k] for k in ("suspend_ns", "held_ns", "resume_ns", "gap_ns")) / 1e9 for c in cycles]
        check_over_time(picture, file, [[(a, a + d, c[k]) for a, d, c in zip(at, lasts, cycles)] for k in ("suspend_ns", "resume_ns")])
    elif file == "long/plot-3":
        one = next(c for c in rows_of(data + "/bench/plain.ndjson") if c["cycle"] == 9)
        lasts = sum(one[k] for k in ("suspend_ns", "held_ns", "resume_ns", "gap_ns")) / 1e9
        check_over_time(picture, file, [[(i / 10, i / 10 + lasts, one[k]) for i in range(222) if i != 3] for k in ("suspend_ns", "resume_ns")])
        ok("The plot over time shows the beginning alone." in open("long.html").read(), "it says that later cycles are not drawn")
    elif file == "plain/plot-3":
        check_rate(picture)
    elif file == "ab/plot-2":
        first = [r for m in ("alone", "shared", "preempt") for r in rows_of("ab.ndjson", mode=m)[:1]]
        check_over_time(picture, file, [[(2 * i, 2 * i + v / 1e9, v) for i, v in enumerate(r["latencies_ns"])] for r in first],
                        [(2 * i - 0.004 + v / 1e9, 2 * i + 1.5) for i, v in enumerate(first[2]["suspends_ns"])])
    elif file in ("old/plot-2", "few/plot-2"):
        old = rows_of(data + "/bench/old.ndjson" if file == "old/plot-2" else "few.ndjson")
        check_settings(picture, [[c[m] for c in old if c["queues_wanted"] == q] for m in ("suspend_ns", "resume_ns") for q in (1, 3)])
    elif file == "ab/plot-1":
        runs = rows_of(data + "/bench/ab.ndjson")
        series = [[v for r in runs if r["mode"] == m for v in r["latencies_ns"]] for m in ("alone", "shared", "preempt")]
        lines = {t[2]: t for t in picture.texts}
        check_times(picture, file, series, 2e8, 2e9)
        goal = 1.1 * percentile(series[0], 0.5)
        at = LEFT + (RIGHT - LEFT) * math.log(goal / 2e8) / math.log(10)
        ok(len(picture.of("goal")) == 3 and all(abs(g[1][0] - at) < 0.06 for g in picture.of("goal")), "the goal is 10 % above the median of alone", picture.of("goal"))
    elif file == "old/plot-1":
        old = rows_of(data + "/bench/old.ndjson")
        check_times(picture, file, [[c[m] for c in old if c["queues_wanted"] == q] for m in ("suspend_ns", "resume_ns") for q in (1, 3)], 1e5, 1e8)
        same("old/plot-1: rows have the names of settings", [t[2] for t in picture.texts if ", n 40" in t[2]], ["queues=1, n 40", "queues=3, n 40"] * 2)
    elif file == "wide/plot-1":
        same("of many decades every other one has a label", [t[2] for t in picture.texts if re.fullmatch("10*([nmu]?s)", t[2])], ["1ns", "100ns", "10us", "1ms", "100ms", "10s"])
    elif file == "flame":
        check_flame(picture)
    elif file == "series":
        same("series: what the colours and lines are", picture.legend, {
            "c0": "Dispatches per second", "c1": "Backlog: most packets waiting", "c2": "Hardware queues that got packets", "band": "marked"})
check_wide_flame()
check_pages()
look("svg/timeline.svg", gpq=False)
overview = look("svg/overview.svg", gpq=False)
ok(commands == sorted(t[2] for t in overview.texts if t[0] == "cmd"), "overview.svg has every command", commands)
boxes = [b[1] for b in overview.of("box")]
beyond = [t for t in overview.texts for b in boxes if b[1] < t[1][1] < b[3] and t[1][2] > b[2] - 2]
ok(boxes and not beyond, "overview.svg: texts end in their boxes # rig", beyond)
finish()
