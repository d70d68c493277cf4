#!/bin/bash
# Tables fit a terminal of 80 columns on each third recorded host (with WHOLE=1 on all), by columns left out and texts cut; rows
# never depend on the terminal, and nothing does that is not a table. One process of Python runs all on pseudo-terminals and prints TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
command -v python3 >/dev/null || skip_all "no python3"
export NO_COLOR=1 TERM=xterm
PYTHONPATH=$top/tests/cli PYTHONDONTWRITEBYTECODE=1 python3 - "$top/tests/hosts" <<'EOF'
import fcntl, glob, os, re, struct, subprocess, sys, tempfile, termios

from tap import finish, ok, same

hosts = sys.argv[1]
said = False  # gpq has said something

def on(columns, *args, both=False):
    """Standard output of gpq on a terminal of so many columns, and standard error; or both on the terminal."""
    global said
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen(["gpq", *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave if both else subprocess.PIPE)
    os.close(slave)
    out = b""
    try:
        while piece := os.read(master, 65536):
            out += piece
    except OSError:
        pass
    os.close(master)
    said = said or bool(out)
    return out.decode().replace("\r\n", "\n"), (p.communicate()[1] or b"").decode()

def plain(*args):
    return subprocess.run(["gpq", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout

def heading(columns, host, *args):
    lines = on(columns, "--sysroot", f"{hosts}/{host}", *args)[0].split("\n")
    return " ".join(next(line for line in lines if line[:1] and line == line.upper()).split())  # behind a title

def is_part(few, many):
    many = iter(many)
    return all(word in many for word in few)

def unfit(host, form):
    """What is wrong with this form of output, if anything."""
    args = ["--sysroot", host, *form.split()]
    piped, narrow = plain(*args), on(80, *args)[0]
    if max(map(len, narrow.split("\n"))) > 80:
        return "wider than 80"
    if form in ("why", "gpus --check", "packets"):
        return "" if narrow.count("\n") < 24 else "more than a screen"
    if narrow.count("\n") != piped.count("\n"):
        return "other rows"
    if form in ("queues", "hqd") and not all(
            is_part(few.split(), many.split()) for few, many in zip(narrow.split("\n"), piped.split("\n"))):
        return "other cells"

wrong = []
for host in sorted(glob.glob(hosts + "/*/"))[::1 if os.environ.get("WHOLE") else 3]:
    for form in "ps", "queues", "hqd", "hqd -a", "hqd --summary", "hqd --runlist", "gpus", "gpus --check", "packets", "why":
        if what := unfit(host, form):
            wrong.append((host, form, what))
ok(said and not wrong, "every table fits 80 columns, on recorded hosts", wrong)

log = os.path.dirname(hosts) + "/data/amdlog/transformer.log"
wrong = [f for f in ("", "--list", "--gaps", "--latency", "--series 100ms", "--by kernel", "--by queue", "--by thread", "--by process", "--by api")
         if max(map(len, on(80, "trace", "-q", *f.split(), log)[0].split("\n"))) > 80]
ok(said and not wrong, "every report of a log as well", wrong)
# What says most of a queue or of a suspension stays: the mean backlog, the time of the whole.
data = os.path.dirname(hosts) + "/data"
for row, form, left in (
        (0, f"--by queue {data}/amdlog/rocm70.log", "PID HWQ ID HIP_PRIO STREAMS DISPATCHES KERNELS DEEPEST BACKLOG_MEAN"),
        (0, f"--compare --by queue {data}/amdlog/cnn.log {log}", "LOG PID HWQ IN_OTHER HIP_PRIO STREAMS DISPATCHES RATE BACKLOG_MEAN"),
        (1, f"--ftrace {data}/ftrace/kprobe-6.12.trace --breakdown 1",
         "NUMBER TIME_US PID COMMAND TARGET RETURNED UNMAP SAVE MAP REST LEAVE TOTAL")):
    same("what remains of trace " + form.split("/")[0], on(80, "trace", "-q", *form.split())[0].split("\n")[row].split(), left.split())
rows = on(80, "trace", "-q", "--list", log)[0].split("\n")
same("what remains of trace --list", rows[0].split(), ["TIME_US", "KIND", "HWQ", "API", "KERNEL"])
same("a text within a row is cut to its column", rows[1], "    999999100 api                         - hipStreamCreateWith~ -")
same("the last one to the terminal", rows[11], "   1000450015 kernel                      - -                    attention~ int)")
# Reports of a log fit a screen of 24 lines, unless --top says how many rows there are; a file has all of them.
many = os.path.dirname(hosts) + "/data/amdlog/pairs64.log"
for form in "--gaps", "--latency", "--by api":
    screen, file = on(80, "trace", "-q", *form.split(), many)[0].split("\n"), plain("trace", "-q", *form.split(), many).split("\n")
    left = [int(r.split()[1]) for r in screen if r.startswith("... ")]
    ok(len(screen) <= 24, f"trace {form} fits a screen", screen)
    same(f"... and counts what it has no room for", len(screen) - len(left) + sum(left), len(file))
same("... with --top it has all of them", len(on(80, "trace", "-q", "--gaps", "--top", "9", many)[0].split("\n")), len(plain("trace", "-q", "--gaps", "--top", "9", many).split("\n")))
# Names that are alike as far as there is room are cut where they differ.
alike = tempfile.NamedTemporaryFile("w")
with open(log) as f:
    text = f.read()
for at, kernel in enumerate(sorted(set(re.findall("ShaderName : (.*)", text)))):
    text = text.replace("ShaderName : " + kernel, "ShaderName : " + "x" * 60 + f"_{at}_" + "y" * 60)
alike.write(text)
alike.flush()
cut = [r.split()[-1] for r in on(80, "trace", "-q", "--by", "kernel", "--top", "99", alike.name)[0].split("\n")[1:-1]]
ok(len(cut) > 2 and len(set(cut)) == len(cut), "kernels of one beginning differ", cut)

# A kernel's name is seen by 40 characters at least: other columns go first, and those without a value.
name = "void gemm<float, 64, 128>(float const*, float const*, float*, int, int, int)"
names = tempfile.NamedTemporaryFile("w")
with open(log) as f:
    names.write(re.sub("Cijk_\\w+", name, f.read()).replace("262144", "1048576"))
names.flush()
for form, left in (("--by kernel", "LAUNCHES DISPATCHES QUEUES GRID_MAX NAME"), ("--list --kernel gemm", "TIME_US KIND HWQ KERNEL"),
                   ("--latency --by kernel", "COMPLETED MEAN P50 P90 P99 MAX NAME")):
    rows = on(80, "trace", "-q", *form.split(), names.name)[0].split("\n")
    rows = rows[form[2:5] == "lat":]
    same("what remains of trace " + form, rows[0].split(), left.split())
    ok(any(name[:39 if "list" not in form else 27] in r for r in rows) and max(map(len, rows)) <= 80, "... and 40 characters of a name", rows)
same("the next column goes where less than 40 would be left", [on(n, "trace", "-q", "--by", "kernel", names.name)[0].split("\n")[0].split() for n in (78, 79)],
     [["LAUNCHES", "QUEUES", "GRID_MAX", "NAME"], ["LAUNCHES", "DISPATCHES", "QUEUES", "GRID_MAX", "NAME"]])
same("trace --list --kernel: API is asked for", on(160, "trace", "-q", "--list", "--kernel", "gemm", "-o", "+API", log)[0].split("\n")[0].split()[-2:], ["KERNEL", "API"])
same("... and in a file without", plain("trace", "-q", "--list", "--kernel", "Cijk", "-r", log).split("\n")[0].split()[-2:], ["API", "KERNEL"])
rows = on(160, "trace", "-q", "--list", log)[0].split("\n")
same("where all columns have room, texts may take more than theirs", rows[1].split()[-2:], ["hipStreamCreateWithPriority", "-"])
same("... up to the terminal's edge", (len(rows[17]), rows[17][-8:]), (160, "~64x64x8"))

# On a terminal --by kernel says what it does not tell, and where that is told.
times = "gpq: trace: how long kernels ran is not told here: --latency --by kernel tells how long the host waited for them, rocprofv3 measures it\n"
same("trace --by kernel: no times of kernels", [on(80, "trace", *a, log)[1].count(times) for a in
     (["--by", "kernel"], ["--by", "kernel", "-q"], ["--by", "kernel", "-r"], ["--by", "queue"], ["--latency", "--by", "kernel"])], [1, 0, 0, 0, 0])
same("... in a file without", subprocess.run(["gpq", "trace", "--by", "kernel", log], capture_output=True, text=True).stderr.count("rocprof"), 0)

check = "--sysroot", hosts + "/nogpu-k6.12", "gpus", "--check", "-o", "CHECK,FIX,STATUS"
same("what mends is whole: below its row, where its column has no room", on(80, *check)[0].split("\n")[:6], [
    "CHECK                  STATUS", "gpus                   no", "    FIX: is one plugged in, and does dmesg say why it is not used?",
    "kernel                 unknown", "    FIX: record it: gpq snapshot on that host", "driver                 ok"])
same("... and in several lines if it must", on(48, *check, "-n")[0].split("\n")[:6], [
    "gpus                   no", "    FIX: is one plugged in, and does dmesg say", "      why it is not used?",
    "kernel                 unknown", "    FIX: record it: gpq snapshot on that host", "driver                 ok"])
same("... in its column from 88 columns on", [on(n, *check)[0].split("\n")[1][23:] for n in (87, 88)],
     ["no", "is one plugged in, and does dmesg say why it is not used? no"])
same("... and columns behind it stay, which -o names", heading(60, "nogpu-k6.12", "gpus", "--check", "-o", "+STOPS"), "CHECK FOUND STOPS")
same("... or is alone", on(40, *check[:-1], "FIX")[0].split("\n")[1], "is one plugged in, and does dmesg say why it is not used?")

diff = on(80, "snapshot", "--diff", hosts + "/vm-gfx90a-running", hosts + "/vm-gfx90a-suspended")[0].split("\n")
same("from where to where a queue moved is whole", diff[1:4], [
    "off progress   170 mkqueue 58361   0 compute      958       946 packets",
    "    DETAIL: hardware on -> off; slot p1q2 -> none", "progress       170 mkqueue 58361   1 compute     2081      2086 packets"])

two = [hosts + "/../data/amdlog/" + log for log in ("rocm57.log", "rocm70.log")]
piped = plain("trace", "-q", "--compare", *two).split("\n")
said_of_logs = piped[:piped.index("")]
same("what differs between logs ends the tables on a terminal, where that is seen", on(80, "trace", "-q", "--compare", *two)[0].rstrip("\n").replace("may\n    be", "may be").split("\n")[-7:], ["", *said_of_logs])
same("... and begins them elsewhere", (len(said_of_logs), said_of_logs[0]), (6, "A uses one hardware queue, B uses 3; no overlap"))

ok("... unless they are rows of a table", not any(l.startswith(" ") for l in on(60, "trace", "-q", "--compare", *two, "--table", "findings", "--sort", "FINDING")[0].split("\n")))
of_bench = hosts + "/../data/bench/"
for files, words in (("old new", "Not shown: suspend p50 (queues=1): "), ("ab ab", "Not shown: online p50 (alone): ")):
    ok("--compare of bench ends with a sentence: " + words,
       ("\n\n" + words) in on(80, "bench", "report", "-q", "--compare", *(of_bench + f + ".ndjson" for f in files.split()))[0])

host = "--sysroot", hosts + "/aql-gfx90a", "why"
first = lambda *args: on(80, *host, *args)[0].split("\n")[0].split()[0]
verdicts = ["pid 4711 train: stuck: queue 2 (deadlock): waits for packet 12484 (sdma-atomic)",
            "pid 4712 train: stuck: queue 2 (deadlock): waits for kernel 0x5000 (packet 4) of",
            "pid 4713 train: hung-or-long: queue 2: kernel 0x5000 (packet 0) waits for"]
of_processes = lambda text: [l for l in text.split("\n") if l.startswith("pid")]
same("why ends with the verdict about each process, the worst last", of_processes(on(80, *host)[0]), [verdicts[2], *verdicts[:2]])
same("... what to do below the verdicts of one kind", [l[:18] for l in on(80, *host)[0].split("\n") if l.startswith("  do: ")],
     ["  do: on that host"] * 3)
same("... and begins with them in a pipe", (of_processes(plain(*host)), plain(*host)[:8]), (verdicts, "pid 4711"))
rows = on(80, *host)[0].split("\n")
same("a screen has the worst queues, and how many more there are", ([r.split()[4] for r in rows[1:4]], [r for r in rows if r.startswith("...")]),
     (["deadlock"] * 3, [f"... {18 - rows.index('') + 2} more rows: | less shows them"]))
ok(len(rows) == 24, "... and not a line more than it has room for", rows)
same("... but not above columns or rows that were chosen", [first(*o.split()) for o in ("-o +READ", "--filter STUCK", "--output-all", "-n")], ["PID"] * 3 + ["4711"])

packets = "--sysroot", hosts + "/aql-gfx90a", "packets", "-p", "4712"
screen, file = (t.split("\n") for t in (on(80, *packets)[0], plain(*packets)))
same("packets on a terminal: without what was taken and is gone", sum("taken" in r for r in screen), sum("taken" in r and "invalid" not in r for r in file))
same("... and why tells more of the first that waits", screen[-3:-1], ["", "gpq why -Q 4712:0 tells on what it waits"])
same("... a kernel without a name is called as in why", sorted({r.split()[7] for r in screen if " dispatch " in r}), ["0x5000"])

one, four = "gfx90a-k6.12", "gfx942-4xcc-k6.12"
every = "PID NSPID COMMAND USER PROCESS CONTAINER GPU BDF QID TYPE RING PRIO STATE BACKLOG EVICTED CUS VRAM"
least = "PID COMMAND CONTAINER GPU QID TYPE RING PRIO STATE BACKLOG"
same("what remains of queues", heading(80, four, "queues"), least)
same("the rightmost go first: NSPID stays where there is room", heading(80, one, "queues"), least.replace("PID", "PID NSPID"))
same("at 102 columns there is room for all but the last three", heading(102, one, "queues"), every.removesuffix(" EVICTED CUS VRAM"))
same("at 101 PCI addresses go as well", heading(101, one, "queues"), every.removesuffix(" EVICTED CUS VRAM").replace("BDF ", ""))
same("at 84 columns NSPID goes before a command name is cut", heading(84, four, "queues"), least)
same("all of them on a wide terminal", heading(125, one, "queues"), every)
same("what remains of hqd", heading(80, four, "hqd"), "GPU TYPE XCC MEC PIPE QUEUE ACTIVE PID COMMAND QID RING PRIO ERROR")
same("what remains of hqd --fields: what it says", heading(80, one, "hqd", "--fields"), "SLOT REGISTER FIELD CONTENT UNIT")
same("... to the last", heading(40, one, "hqd", "--fields"), "SLOT CONTENT")
same("what remains of hqd --regs", heading(60, four, "hqd", "--regs"), "SLOT REGISTER VALUE ADDRESS")
same("what remains of ps", heading(60, four, "ps"), "PID COMMAND USER CONTAINER GPUS STATE VRAM")
same("-v names what is left out", on(80, "--sysroot", f"{hosts}/{four}", "queues", "-v")[1],
     "gpq: queues: left out, for want of room on the terminal: VRAM, CUS, EVICTED, BDF, PROCESS, USER, NSPID\n")
same("what -o names is shown", heading(20, four, "queues", "-o", "PID,VRAM,BDF"), "PID VRAM BDF")
same("also when it is added: then another one leaves", heading(80, four, "queues", "-o", "+VRAM"), least.replace("BACKLOG", "VRAM"))
same("a column that rows are sorted by is shown", heading(80, four, "queues", "--sort", "VRAM"), least.replace("BACKLOG", "VRAM"))
same("the first column and texts stay however narrow it is", heading(10, four, "queues"), "PID COMMAND CONTAINER")
same("all with --output-all", heading(80, four, "queues", "--output-all"),
     " ".join(row.split()[0] for row in plain("queues", "--list-columns", "-rno", "COLUMN,TABLE").splitlines() if row.endswith(" queues")))

texts = "queues", "-no", "COMMAND,GPU,BDF,QID,STATE"  # pt_main_thread 63420 0000:0a:00.0 QID off-hardware: 50 columns
for columns, text in (50, "pt_main_thread"), (49, "pt_main_thre~"), (48, "pt_main_thr~"), (30, "pt_main_thr~"):
    same(f"{columns} columns: {text}", on(columns, "--sysroot", f"{hosts}/{four}", *texts)[0].split()[0], text)
os.environ["LC_ALL"] = "C.UTF-8"
same("an ellipsis where the locale is UTF-8", on(48, "--sysroot", f"{hosts}/{four}", *texts)[0].split()[0], "pt_main_thr…")
del os.environ["LC_ALL"]
same("a number of 12 digits is never cut", on(15, "--sysroot", f"{hosts}/{one}", "queues", "-no", "CONTAINER,GPU")[0].split()[:2],
     ["116f54c41d04", "41460"])
args = "--sysroot", f"{hosts}/{four}", "hqd", "--output-all"
same("in colour nothing is cut where there is no terminal", re.sub(r"\x1b\[\d*m", "", plain(*args, "--color=always")).replace(" \n", "\n"), plain(*args))
coloured = re.sub(r"\x1b\[\d*m", "", on(40, *args, "--color=always")[0])
same("... and a terminal has the same in colour", [r.rstrip() for r in coloured.split("\n")], [r.rstrip() for r in on(40, *args)[0].split("\n")])
# gpq alone says on a terminal what to type next, behind a table for people that has rows.
said_next = """
gpq queues -p PID    its queues, one by one
gpq why -p PID       does it run or hang, and on what
gpq suspend -p PID   take it off the GPU; gpq resume -p PID puts it back
"""
same("gpq alone: what to type next", on(80, "--sysroot", f"{hosts}/{one}")[1], said_next)
same("and its table is that of gpq ps", heading(80, one), "PID COMMAND USER CONTAINER GPUS COMPUTE SDMA STATE VRAM CUS BACKLOG")
told = [args for args in (["-q"], ["-r"], ["--ndjson"], ["ps"])
        if on(80, "--sysroot", f"{hosts}/{one}", *args)[1]]
ok(said and not told, "but not elsewhere", told)
# An empty screen could mean that nothing was looked at.
for args, words in ((["--filter", "PID == 1"], "gpq: ps: no row matches --filter\n"), (["queues", "--type", "sdma-xgmi"], "gpq: queues: no queues\n")):
    same(words.strip(), on(80, "--sysroot", f"{hosts}/{one}", *args)[1], words)
words = "gpq: queues: no queues, and no GPU: gpq gpus --check says what is missing\n"
same("no GPU is a reason for none", on(80, "--sysroot", f"{hosts}/nogpu-k6.12", "queues")[1], words)
told = [args for args in (["-q"], ["-r"], ["-P"]) if on(80, "--sysroot", f"{hosts}/{one}", "--filter", "PID == 1", *args)[1]]
ok(said and not told, "but not with -q, nor to programs", told)
# A sentence of few rows stands below each, of many it is cut.
whole = "    DETAIL: waits for packet 12484 (sdma-atomic) of this queue, which is behind\n      it: signal 0xa040 is 3\n"
few, many = (on(80, "--sysroot", f"{hosts}/aql-gfx90a", "why", *args)[0] for args in (["-p", "4711"], []))
ok(whole in few and "DETAIL" not in few.split("\n")[0], "the sentences of five queues stand whole", few)
ok(re.search("waits for packet 12484[…~]", many) and whole not in many, "and those of eighteen are cut", many)
listed = on(80, "trace", "--list", f"{os.path.dirname(hosts)}/data/amdlog/cnn.log")
ok("dispatch" in listed[0] and not listed[1], "nor of records that were written as they came", listed[1])
same("hqd: queues that are not certain", on(80, "--sysroot", f"{hosts}/vm-gfx942-running", "hqd", "-o", "SLOT")[1],
     "gpq: hqd: QID: not certain for 2 slots: several queues fit; gpq hqd --likely takes the likeliest\n")
# Columns that -o names stay, also the readable form of a kernel's name; and so do verdicts.
named = on(80, "--sysroot", f"{hosts}/aql-gfx90a", "why", "-p", "4711", "-o", "+NEXT,KERNEL")[0]
ok("NEXT" in named and "KERNEL" in named and "stuck: queue 2 (deadlock)" in named, "columns that -o adds stay, and verdicts", named)
# A report of samples is latencies and the verdict on a terminal, on one screen; Markdown elsewhere.
samples = f"{data}/bench/old.ndjson"
report = on(80, "bench", "report", samples)[0]
lines = report.rstrip("\n").split("\n")
ok(len(lines) <= 23 and max(map(len, lines)) <= 80, "bench report fits a screen", lines)
same("... suspend and resume first", [l.split()[:4] for l in lines if l.startswith("queues=")][:4],
     [["queues=1", "suspend", "40", "1.15ms"], ["queues=3", "suspend", "40", "1.02ms"], ["queues=1", "resume", "40", "743us"], ["queues=3", "resume", "40", "265us"]])
ok("Goals not shown: suspend p99 max 7.714ms (limit " in " ".join(lines[-6:]), "... the verdict last", lines)
few = "P99 needs 100 samples (gpq bench preempt --cycles 100), here are 40."
ok(few in " ".join(lines), "... why P99 is unknown", lines)
left = re.search("--table NAME one of ([^.]*)", " ".join(lines)).group(1).split(", ")
same("... tables that are left out", [t for t in left if not on(80, "bench", "report", "--table", t, samples)[0] and t != "runs"] or left,
     "effects cycles saved growth runs goals histogram context".split())
def cycles(n):
    """The first line that tells of samples, of n cycles that count."""
    with tempfile.NamedTemporaryFile("w") as f, open(f"{data}/bench/plain.ndjson") as one:
        cycle = next(l for l in one if '"warmup":false' in l)
        f.writelines(cycle.replace('"cycle":', f'"cycle":{i}') for i in range(1000, 1000 + n))
        f.flush()
        return [l[:21] for l in on(80, "bench", "report", f.name)[0].split("\n") if l.startswith("P99") and " needs " in l]
with tempfile.NamedTemporaryFile("w") as f, open(samples) as old:
    for i, line in enumerate(old):
        f.write(line.replace('"grace":32', f'"grace":{254 + i // 2 % 2}').replace('"hold_wanted_ns":10', f'"hold_wanted_ns":{120 + i // 4 % 2}'))
    f.flush()
    heads = [l.split()[3:] for l in on(80, "bench", "report", f.name)[0].split("\n") if l.startswith("SETTING")]
same("... P50 and P99 also where names are long", heads, ["P50 CI_LOW P90 P99 MAX".split()])
same("... or P99.9", [cycles(n) for n in (99, 100, 1000)], [["P99 needs 100 samples"], ["P99.9 needs 1000 samp"], []])
experiment = on(80, "bench", "report", f"{data}/bench/ab.ndjson")[0].rstrip("\n").split("\n")
ok(len(experiment) <= 23 and any(l.startswith("preempt ") and " 401ms " in l for l in experiment) and "Goals for preempt not shown: online p99 slowdown" in " ".join(experiment[-4:]),
   "... and that of an experiment", experiment)
same("... as -n asks", [w in on(80, "bench", "report", "-n", samples)[0] for w in ("METRIC", "suspend")], [False, True])
same("... and Markdown elsewhere", plain("bench", "report", samples).split("\n")[0], "# gpq bench: suspend and resume")
for form in "-r", "-P", "-J", "--ndjson":
    args = "--sysroot", f"{hosts}/{four}", "hqd", form
    same(f"{form} on a terminal has all that it has in a file", on(40, *args)[0], plain(*args))
# Messages break at words on a terminal, and are one line elsewhere; what is cut to the screen leaves room for their lines.
message = "gpq: suspend: --list asks the holders of a running host; gpq why says of a recorded host what is suspended, and by whom"
asked = "--sysroot", hosts + "/vm-gfx942-suspended", "suspend", "--list"
same("a message elsewhere", on(60, *asked)[1], message + "\n")
same("... on a terminal", on(60, *asked, both=True)[0].split("\n"), [
    "gpq: suspend: --list asks the holders of a running host; gpq", "    why says of a recorded host what is suspended, and by", "    whom", ""])
same("suspend -n, at a terminal, may be meant as a dry run", [on(60, "suspend", *n, "-p", "1")[1][:40] for n in (["-n"], ["--dry-run", "-n"])],
     ["gpq: suspend: -n leaves out headings, an", on(60, "suspend", "--dry-run", "-p", "1")[1][:40]])
both = on(50, "--sysroot", hosts + "/aql-gfx90a", "why", both=True)[0].split("\n")
same("... of which there are so many lines", both[:2], ["gpq: why: pid 4711: queue 4: its indices do not", "    fit its ring"])
ok("... the screen is not longer", len(both) <= 24 and any("more rows" in l for l in both), both)

finish()
EOF
