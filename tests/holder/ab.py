"""gpq bench ab: what its runs measure, by a clock of the test's own. ab.py TOP BUILD [WORD]. TAP."""
from bench import *  # noqa: F403

RUN = ("mode", "number", "online_ns", "window_ns", "packets", "held_ns", "holds", "latencies_ns", "suspends_ns", "resumes_ns")


def queues(b, key="queues"):
    """The queues that a run has seen: "offline 0 suspended". PIDs do not always rise."""
    return [", ".join(sorted(f"{q['side']} {q['queue_id']}" + " suspended" * q["suspended"] for q in run)) for run, in b.samples(key)]


@scenario("commands in each mode, in the order of a seed: times, packets of the window, one hold for the online command")
def _(r):
    b = Ab(r, "--runs", "2", "--pause", "70ms", "--seed", "7", "--grace", "9", "-v", "--modes", "alone,shared,preempt")
    for mode, ms, before, beside, after in (("shared", 30, 1, 2, 4), ("preempt", 40, 8, 16, 32), ("alone", 50, 64, 128, 256),
                                            ("preempt", 60, 512, 1024, 2048), ("shared", 10, 1, 1, 1), ("alone", 20, 2, 2, 2)):
        if mode == "alone":
            b.begin(b.on, 0, 1)
            b.steps(ms)
            b.end(b.on)
        b.begin(b.off, 0, work=100)
        index = 100
        if mode == "preempt":
            takes(r, 3, 2)
        if mode != "alone":
            b.until(2)
            b.off.set_index(0, index := index + before, 10 ** 6)
            b.begin(b.on, 0, 1)
            b.steps(ms)
            b.off.set_index(0, index := index + beside, 10 ** 6)
            b.end(b.on)
        b.until(2)
        b.off.set_index(0, index + after, 10 ** 6)
        b.ended(b.off)
    said = " / ".join(f"gpq: bench: run {n}" for n in ("1, shared", "1, preempt", "1, alone", "2, preempt", "2, shared", "2, alone"))
    yield (b.finish(), b.waited.count(70)), ("0 / " + said, 5)
    yield b.samples(*RUN), [
        ("shared", 0, 30 * MS, 70 * MS, 7, 0, 0, [30 * MS], [], []),
        ("preempt", 0, 40 * MS, 85 * MS, 56, 40 * MS, 1, [40 * MS], [3 * MS], [2 * MS]),
        ("alone", 0, 50 * MS, 90 * MS, 256, 0, 0, [50 * MS], [], []),
        ("preempt", 1, 60 * MS, 105 * MS, 3584, 60 * MS, 1, [60 * MS], [3 * MS], [2 * MS]),
        ("shared", 1, 10 * MS, 50 * MS, 3, 0, 0, [10 * MS], [], []),
        ("alone", 1, 20 * MS, 60 * MS, 2, 0, 0, [20 * MS], [], [])]
    # The online command begins when the suspend has returned, and the resume is asked for when it has ended.
    yield [(s[0] - h[0], u[0] - s[0]) for s, h, u in b.samples("starts_at_ns", "holds_at_ns", "resumes_at_ns") if h], [(3 * MS, 40 * MS), (3 * MS, 60 * MS)]
    yield [len(x) for run in b.samples("starts_at_ns", "holds_at_ns", "resumes_at_ns") for x in run], [
        1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 0]
    yield queues(b), ["offline 0", "offline 0", "", "offline 0 suspended, online 0, online 1", "offline 0", ""]
    yield queues(b, "queues_offline_alone"), ["", "", "offline 0", "", "", "offline 0"]
    yield [b.samples("queues_offline_alone")[5][0][0][k] for k in ("pid", "type")], [b.off.pid, "compute"]
    attached, held = ["enable", "send", "send"], ["suspend 0 grace=9", "resume 0"]
    yield r.changes(), [c for holds in (0, 1, 0, 1, 0, 0) for c in attached + holds * held + ["disable"]]
    yield (r.holders(), lives(b.on.pid), lives(b.off.pid)), ([], False, False)


@scenario("--until-shown looks when each mode has run twice")
def _(r):
    for limit, runs, status in (("suspend max < 1s", 2, 0), ("suspend max < 1ms", 2, 1), ("suspend p50 < 1s", 4, 8)):
        b = Ab(r, "--until-shown", "--runs", "4", "--modes", "preempt", "--require", limit)
        for _ in range(runs):
            b.begin(b.off, 0, work=100)
            takes(r, 3, 2)
            b.until(2)
            b.begin(b.on, 0)
            b.steps(5)
            b.end(b.on)
            b.until(2)
            b.ended(b.off)
        yield int(b.finish().split(" / ")[0]), status
        yield b.samples("number"), [(n,) for n in range(runs)]


@scenario("--burst-on progress: what runs already is held while the online queues have work, and each request is timed")
def _(r):
    on, off = r.target(0), r.target(0)
    off.set_index(0, 5, 10 ** 6)
    log = r.dir + "/of-ab"
    b = Bench(r, "ab", "--online-pid", on.pid, "--offline-pid", off.pid, "--runs", "1", "--lead", "20ms", "--for", "15ms", "--idle", "1ms", "--seed", "7",
              "--log-decisions", log, stdout=subprocess.DEVNULL)
    for mode in "shared", "preempt", "alone":
        b.until(0.05)
        b.steps(2)
        if mode == "preempt":
            takes(r, 1, 2)
        for read, ms, rest in ((1, 3, 0.5), (2, 2, 3)):
            on.set_index(0, read, read + 1)
            b.steps(ms)
            yield (off.off, lives(b.p.pid)), ("" if mode == "shared" else "0", True)
            on.set_index(0, read + 1, read + 1)
            b.steps(rest)
        off.set_index(0, off.get_index(0) + len(mode), 10 ** 6)
        while b.step() in (0.05, 0.5):
            pass
    yield b.finish(), "0"
    yield b.samples(*RUN), [("shared", 0, 15 * MS, 55 * MS, 6, 0, 0, [3 * MS, 2 * MS], [], []),
                            ("preempt", 0, 15 * MS, 55 * MS, 7, 5500000, 1, [3 * MS, 2 * MS], [MS], [2 * MS]),
                            ("alone", 0, 15 * MS, 56 * MS, 0, 0, 0, [3 * MS, 2 * MS], [], [])]
    # Requests begin 3.5 ms apart; the hold is asked for when the first is seen.
    yield [(s[1] - s[0], [h - s[0] for h in held]) for s, held in b.samples("starts_at_ns", "holds_at_ns")], [
        (3500000, []), (3500000, [0]), (3500000, [])]
    yield b.samples("looks_ns"), 3 * [([50000, 50000],)]
    yield [c for c in r.changes() if c.split()[1] in ("suspend", "resume")], 2 * ["t2 suspend 0 grace=32", "t2 resume 0"]
    yield (on.tracer, off.tracer, on.off, off.off, r.holders()), (0, 0, "", "", [])
    with open(log) as f:
        lines = [json.loads(line) for line in f]
    gpu, hold = f"work {GPU}", ["hold", "done"]
    yield [d["what"] + (" " + d["gpus"]) * (d["what"] == "work") for d in lines], [
        "class", "class", *(x for held in ([], hold) for x in ("unit", gpu, *held, "work ", gpu, "work ", *(held and ["release", "done"]), "ended")),
        *2 * [gpu, "work "]]
    yield [d["took_ns"] for d in lines if d["what"] == "done"], [MS, 2 * MS]
    yield r.gpq("sched", "--replay", log, "--table", "classes", "-rno", "CLASS,BURSTS,CONTENDED"), "0 / online 6 0 / offline - 10000000"


@scenario("a request counts if it is seen to begin: what the queues of a process had before the first look is not timed")
def _(r):
    on, off = r.target(0), r.target(0)
    off.set_index(0, 5, 10 ** 6)
    on.set_index(0, 1, 2)
    b = Bench(r, "ab", "--online-pid", on.pid, "--offline-pid", off.pid, "--runs", "1", "--modes", "shared", "--lead", "2ms", "--for", "15ms",
              stdout=subprocess.DEVNULL)
    b.until(0.05)
    b.steps(3)
    on.set_index(0, 2, 2)
    b.steps(1)
    on.set_index(0, 2, 3)
    b.steps(2.05)
    on.set_index(0, 3, 3)
    r.move(MS)  # a look that comes late
    while b.step() in (0.05, 0.5):
        pass
    yield b.finish(), "0"
    yield b.samples("latencies_ns"), [([3 * MS],)]
    yield b.samples("looks_ns"), [([MS],)]
    yield "Requests are seen in looks at the queues, at most 1ms apart" in r.gpq("bench", "report", b.raw), True


@scenario("a process that was chosen ends in a run: it is said of which side, and no run is kept")
def _(r):
    on, off = r.target(0), r.target(0)
    off.set_index(0, 5, 10 ** 6)
    b = Bench(r, "ab", "--online-pid", on.pid, "--offline-pid", off.pid, "--modes", "shared", "--runs", "1", "--lead", "2ms", "--for", "15ms",
              stdout=subprocess.DEVNULL)
    b.until(0.05)
    b.steps(2)
    off.end()
    b.steps(2)
    yield b.finish(), "1 / gpq: bench: run 1, shared: a process of the offline side ended; nothing is held"
    yield (b.samples(), on.tracer, r.holders()), ([], 0, [])


@scenario("--burst-on progress: a hold lasts ten times what the latest ones have cost, or longer")
def _(r):
    on, off = r.target(0), r.target(0)
    off.set_index(0, 5, 10 ** 6)
    for _ in range(2):
        takes(r, 0.1, 0.2)
    b = Bench(r, "ab", "--online-pid", on.pid, "--offline-pid", off.pid, "--modes", "preempt", "--runs", "1", "--lead", "2ms", "--for", "15ms", "--idle",
              "1ms", stdout=subprocess.DEVNULL)
    b.until(0.05)
    for n, (ms, rest) in enumerate(((1, 4), (0.5, 4))):
        on.set_index(0, n, n + 1)
        b.steps(ms)
        on.set_index(0, n + 1, n + 1)
        b.steps(rest)
    yield b.finish(), "0"
    # 1 + 1 (idle) - 0.1 (suspending), and 3 - 0.1
    yield b.samples("holds", "held_ns", "suspends_ns", "resumes_ns"), [(2, 4800000, 2 * [MS // 10], 2 * [MS // 5])]


@scenario("numbers that commands print: latencies with their unit, the offline rate of the window, the line that says it has begun")
def _(r):
    b = Ab(r, "--modes", "shared", "--metric", "took ([0-9.naif]+)", "--metric-unit", "us", "--offline-metric", "rate ([0-9.]+)", "--offline-ready",
           "^step [0-9]+$")
    b.begin(b.off, 0)
    b.off.say("say rate 1000")
    b.steps(600)
    yield b.commands(), 1  # packets of the offline command do not say that it is ready
    b.prints(b.off, "step 1")  # which gpq has read before time passes
    b.begin(b.on)
    for line in "took nan", "took 1.5", "took nothing", "it took 20 us", "took inf", "took 300":
        b.on.say("say " + line)
    said = r.page.now_ns
    yield b.prints(b.off, "rate 30"), True
    b.steps(10)
    yield b.prints(b.off, "rate 8", "rate 13"), True
    b.end(b.on)
    yield b.finish(), "0"
    # 30 for the lead of 20 ms, the mean of both for the 10 ms behind it
    yield b.samples("latencies_ns", "offline_rate", "online_ns", "leads_ns"), [([1500, 20000, 300000], 23.5, 10 * MS, 40 * MS)]
    (lines, at), = b.samples("offline_lines", "offline_lines_at_ns")
    yield lines, [1000, 30, 8, 13]
    yield [at[2] - at[1], at[3] - at[2]], [10 * MS, 0]
    yield [[s + v - said for s, v in zip(*run)] for run in b.samples("starts_at_ns", "latencies_ns")], [[0, 0, 0]]  # they end when read
    for unit, ns in (("ns", 1), ("ms", MS), ("s", SECOND)):
        b = Ab(r, "--modes", "shared", "--metric", "took ([0-9.]+)", "--metric-unit", unit)
        b.begin(b.off, 0, work=1)
        b.begin(b.on)
        b.on.say("say took 7")
        b.end(b.on)
        yield (unit, b.finish(), b.samples("latencies_ns")), (unit, "0", [([7 * ns],)])


@scenario("a second group of --metric: latencies count from when requests were due, by either clock, unless a line does not say when")
def _(r):
    no = "gpq: bench: run 1, shared: 1 of 3 lines do not say when a request was due; so all count as if none did"
    for last, warning in (("4 at {ahead}", ""), ("4", no), ("4 at {later}", no), ("4 at {before}", no)):
        b = Ab(r, "--modes", "shared", "--metric", "took ([0-9.]+)(?: at ([0-9.]+))?")
        b.begin(b.off, 0, work=1)
        b.begin(b.on)
        began = r.page.now_ns
        r.move(20 * SECOND)
        b.steps(2)
        now = r.page.now_ns
        at = {"ahead": now / 1e9 + 0.005, "later": now / 1e9 + 2, "before": began / 1e9 - 5}
        # A moment since 1970 is known to the time that the host takes to read it.
        for line in f"25 at {now / 1e9 - 0.020:.6f}", f"7 at {time.time():.6f}", last.format(**at), "1e300 at 5", "-1":
            b.on.say("say took " + line)
        b.end(b.on)
        yield b.finish(), f"0 / {warning}".strip(" /")
        (starts, took, due), = b.samples("starts_at_ns", "latencies_ns", "starts_are_due")
        yield (took, due), ([25 * MS, 7 * MS, 4 * MS], not warning)
        yield abs(starts[0] - (now - 20 * MS)) < MS, True
        yield began <= starts[1] < now + SECOND, True
        yield abs(starts[2] - (now + 5 * MS if not warning else now - 4 * MS)) < MS, True


@scenario("what a run has measured is in FILE.part before it ends, and stays there if gpq is killed, but not beside a pipe")
def _(r):
    modes = "--modes", "shared,preempt", "--seed", "7", "--metric", "took ([0-9]+)", "--offline-metric", "rate ([0-9.]+)"
    b = Ab(r, *modes)

    def lines(name):
        with open(name) as f:
            return [json.loads(line) for line in f]
    for mode, number in ("shared", 0), ("preempt", 1):
        b.begin(b.off, 0, work=1)
        b.begin(b.on)
        b.on.say("say took 7")
        b.on.say("say took 12345678901")
        b.prints(b.off, "rate 30.5")
        b.steps(120)
        moments = [("request", 7 * MS), ("request", 12345678901 * MS), ("hold", 0), ("line", 30.5)]
        yield [(x["mode"], x["number"], x["what"], x.get("took_ns", x.get("value"))) for x in lines(b.raw + ".part")], [
            (mode, 0, *m) for m in moments if mode == "preempt" or m[0] != "hold"]
        yield len(lines(b.raw)), number
        if mode == "shared":
            b.end(b.on)
            b.ended(b.off)
    run, = {x["run"] for x in lines(b.raw) + lines(b.raw + ".part")}
    yield len(run) > 8, True
    kill(b.p.pid, signal.SIGKILL)
    b.p.wait()
    yield [len(lines(b.raw)), len(lines(b.raw + ".part"))], [1, 4]
    yield r.gpq("bench", "report", "-r", "--table", "runs", "-n", "-o", "N,RUN", b.raw + ".part"), (
        f"5 / gpq: bench: {b.raw}.part: 4 lines are no samples; {b.raw}.part line 1: of a run of ab that did not end; left out / "
        f"gpq: bench: {b.raw}.part: no samples there; gpq bench preempt or ab --samples FILE writes them")
    fifo = r.dir + "/fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    for raw, has in (b.raw, True), (fifo, False):  # it is made anew, and goes at the end; what is no file has none
        b = Ab(r, "--modes", "shared", "--metric", "took ([0-9]+)", "--samples", raw)
        b.begin(b.off, 0, work=1)
        b.begin(b.on)
        b.on.say("say took 7")
        b.steps(60)
        yield os.path.exists(raw + ".part"), has
        b.end(b.on)
        b.ended(b.off)
        yield (b.finish(), os.path.exists(raw + ".part")), ("0", False)
    yield os.read(reader, 1 << 20).count(b"\n"), 1
    os.close(reader)


@scenario("a rate that is printed is work over time: 5 packets a ms, and none while it is held, whatever its lines say of that")
def _(r):
    b = Ab(r, "--modes", "preempt", "--offline-metric", "rate ([0-9.]+)")
    b.begin(b.off, 0, work=100)
    b.until(2)
    b.steps(10)
    yield b.prints(b.off, "rate 5"), True
    b.begin(b.on)
    b.steps(40)
    b.end(b.on)
    b.steps(10)
    yield b.prints(b.off, "rate 1.6666666667"), True  # 10 ms before and 10 ms behind the hold of 40 ms
    b.steps(8)
    yield b.prints(b.off, "rate 5"), True
    b.off.set_index(0, 300, 10 ** 6)
    yield b.finish(), "0"
    rows = b.samples("offline_rate", "packets", "window_ns", "leads_ns", "held_ns")
    yield [(round(rate, 6), *rest) for rate, *rest in rows], [(round(190 / 78, 6), 200, 80 * MS, 40 * MS, 40 * MS)]
    # Without a line after the hold: 5 for 10 ms, nothing for the 40 ms of the hold.
    b = Ab(r, "--modes", "preempt", "--offline-metric", "rate ([0-9.]+)")
    b.begin(b.off, 0, work=100)
    b.until(2)
    b.steps(10)
    yield b.prints(b.off, "rate 5"), True
    b.begin(b.on)
    b.steps(40)
    b.end(b.on)
    yield b.finish(), "0"
    yield b.samples("offline_rate"), [(1,)]


@scenario("commands that fail: each says how, nothing is held, and what the other has started ends")
def _(r):
    def fails(*args, on="", off="", work=1, steps=0):
        """Lines that make the commands fail; "-" for one that is not begun."""
        b = Ab(r, "--modes", "preempt", *args)
        b.begin(b.off, *([0] if work is not None else []), work=work)
        if on != "-":
            b.begin(b.on)
        b.steps(steps)
        for command, lines in ((b.off, off), (b.on, on)):
            for line in lines.split(";") if lines not in ("", "-") else []:
                command.say(line)
        out = b.finish()
        return re.sub(r"gpq: bench: run 1, preempt: | t\d+", "", out), r.holders(), lives(b.on.pid), lives(b.off.pid), b.samples()
    nothing = ([], False, False, [])
    said = "1 / the {} command ended with {}; it said last: {}; nothing is held"
    for n in 199, 200, 201:
        yield (n, fails(on=f"say {n * 'x'};end 3")[0]), (n, said.format("online", "status 3", min(n, 200) * "x"))
    for args, wanted in (({"on": "say bad weights;end 3"}, said.format("online", "status 3", "bad weights")),
                         ({"off": "say ;end 4", "on": "say x;end 0"}, said.format("offline", "status 4", "ready")),
                         ({"off": "say no data;end 0", "on": "-", "work": 0, "steps": 600}, said.format("offline", "status 0 before it was at work", "no data")),
                         ({"off": "end 0", "on": "-", "work": None}, said.format("offline", "status 0 before it had queues", "ready"))):
        yield (args, *fails(**args)), (args, wanted, *nothing)
    yield Bench(r, "ab", "--online-cmd", "true", "--offline-cmd", "exit 3", "--modes", "shared", "--runs", "1", stdout=subprocess.DEVNULL).finish(), (
        "1 / gpq: bench: run 1, shared: the offline command ended with status 3 before it had queues; it said last: nothing; nothing is held")
    yield Bench(r, "ab", "--online-cmd", "true", "--offline-cmd", "kill -9 $$", "--modes", "shared", "--runs", "1", stdout=subprocess.DEVNULL).finish(), (
        "1 / gpq: bench: run 1, shared: the offline command ended with signal 9 before it had queues; it said last: nothing; nothing is held")
    # no queues
    b = Ab(r, "--modes", "shared", "--ready", "1s")
    b.begin(b.off)
    yield b.finish(), "1 / gpq: bench: run 1, shared: the offline command had no queues within 1 s; nothing is held"
    b = Ab(r, "--modes", "shared", "--ready", "1s")
    b.begin(b.off, 0)
    yield b.finish(), "1 / gpq: bench: run 1, shared: the offline command has queues, but they took nothing within 1 s; nothing is held"
    b = Ab(r, "--modes", "shared", "--ready", "700ms", "--offline-ready", "never")
    b.begin(b.off, 0, work=1)
    yield b.finish(), "1 / gpq: bench: run 1, shared: the offline command printed no line that matches --offline-ready within 0.7 s; nothing is held"
    b = Ab(r, "--modes", "shared", "--burst-on", "progress")
    b.begin(b.off, 0, work=1)
    b.begin(b.on)
    b.on.say("end 0")
    yield b.finish(), "1 / gpq: bench: run 1, shared: the online command ended with status 0 before it had queues; it said last: ready t21; nothing is held"
    b = Ab(r, "--modes", "shared", "--metric", "x([0-9]+)")
    b.begin(b.off, 0, work=1)
    b.begin(b.on)
    b.on.say("end 0")
    yield b.finish(), "1 / gpq: bench: run 1, shared: no line of the online command's output matches --metric; nothing is held"
    b = Ab(r, "--modes", "shared", "--burst-on", "progress")
    b.begin(b.off, 0, work=1)
    b.begin(b.on, 0)
    b.steps(3)
    b.on.say("end 0")
    yield b.finish(), "1 / gpq: bench: run 1, shared: the online command's queues never had anything to do; nothing is held"


@scenario("Ctrl-C, a holder that is killed, a disk that is full")
def _(r):
    for sig in signal.SIGINT, signal.SIGTERM:
        b = Ab(r, "--modes", "preempt")
        b.begin(b.off, 0, work=1)
        b.begin(b.on)
        b.steps(10)
        yield b.off.off, "0"
        yield b.interrupt(sig), "3 / gpq: bench: stopped in run 1; nothing is held; what was measured follows"
        yield (r.holders(), lives(b.on.pid), lives(b.off.pid), b.samples()), ([], False, False, [])
    b = Ab(r, "--modes", "shared", "--runs", "2", "--pause", "80ms")
    b.begin(b.off, 0, work=1)
    b.begin(b.on)
    b.end(b.on)
    yield b.until(80), True
    yield b.interrupt(), "3 / gpq: bench: stopped before run 2; what was measured follows"
    yield b.samples("number"), [(0,)]
    b = Ab(r, "--modes", "preempt")
    b.begin(b.off, 0, work=1)
    b.begin(b.on)
    b.steps(10)
    kill(b.off.holder, signal.SIGKILL)
    yield b.finish(), ("1 / gpq: bench: run 1, preempt: pid t8: the holder ended before it answered (killed?): the queues run; try again; "
                       "nothing is held")
    b = Ab(r, "--modes", "shared", "--runs", "2", "--samples", "/dev/full")
    b.begin(b.off, 0, work=1)
    b.begin(b.on)
    b.end(b.on)
    yield b.finish(), "1 / gpq: bench: --samples /dev/full: No space left on device; what was measured up to here follows"


@scenario("AMD logs: latencies and packets of the time that is measured; --log-dir names a file for each run and side")
def _(r):
    def log(path, *lines):
        with open(path, "w") as f:
            for ms, text in lines:
                f.write(f":3:hip.cpp :1 : {1000000000 + int(ms * 1000)} us: [pid:7 tid:0x7] {text}\n")

    def packets(rptr):
        return ("SWq=0x7e00, HWq=0x7f00, id=1, Dispatch Header = 0xb02 (type=2, barrier=1, acquire=1, release=1), setup=3, grid=[64, 1, 1], "
                "workgroup=[64, 1, 1], private_seg_size=0, group_seg_size=0, kernel_obj=0x1, kernarg_address=0x2, completion_signal=0x0, "
                f"correlation_id=0, rptr={rptr}, wptr=4294967295")
    launch, sync = "hipLaunchKernel ( 1 ) ", "hipStreamSynchronize: Returned hipSuccess : "
    r.page.now_ns = 1000 * SECOND  # as many digits as in a log
    b = Ab(r, "--modes", "shared", "--online-log", r.dir + "/on", "--offline-log", r.dir + "/off")
    b.begin(b.off, 0, work=1)
    b.begin(b.on)
    begun = (r.page.now_ns - 1000 * SECOND) / MS
    log(r.dir + "/on", (begun - 5, launch), (begun - 4, sync), (begun + 1, launch), (begun + 3, sync), (begun + 4, launch), (begun + 4.5, sync),
        (begun + 11, launch), (begun + 12, sync))
    log(r.dir + "/off_33", (begun - 25, packets(100)), (begun - 15, packets(107)), (begun + 25, packets(120)), (begun + 35, packets(190)))
    b.steps(10)
    b.end(b.on)
    yield b.finish(), "0"
    yield b.samples("online_ns", "latencies_ns", "offline_logged_packets", "packets"), [(10 * MS, [2 * MS, MS // 2], 20, 0)]
    yield b.samples("starts_at_ns"), [([1000 * SECOND + int(begun * MS) + MS, 1000 * SECOND + int(begun * MS) + 4 * MS],)]


    # None of a time within; none at all; a folder of gpq's own.
    b = Ab(r, "--modes", "shared", "--online-log", r.dir + "/on", "--offline-log", r.dir + "/none")
    b.begin(b.off, 0, work=1)
    b.begin(b.on)
    b.end(b.on)
    yield b.finish(), (f"1 / gpq: bench: run 1, shared: the online command's log {r.dir}/on has no record of the time it ran; nothing is held")
    b = Ab(r, "--modes", "shared", "--log-dir", r.dir + "/logs")
    b.begin(b.off, 0, work=1)
    b.begin(b.on)
    with open(f"/proc/{b.on.pid}/environ") as on, open(f"/proc/{b.off.pid}/environ") as off:
        yield [sorted(w for w in f.read().split("\0") if w.startswith("AMD_LOG")) for f in (on, off)], [
            ["AMD_LOG_LEVEL=4", f"AMD_LOG_LEVEL_FILE={r.dir}/logs/shared-1-{side}.log"] for side in ("online", "offline")]
    log(r.dir + "/logs/shared-1-online.log", (r.page.now_ns / MS - 1000000 + 1, sync))
    b.steps(10)
    b.end(b.on)
    yield b.finish(), (f"1 / gpq: bench: run 1, shared: the online command's log {r.dir}/logs/shared-1-online.log has no launch that a call waits for; "
                       "nothing is held")
    b = Ab(r, "--modes", "shared", "--log-dir", r.dir + "/logs", "--metric", "took ([0-9]+)")
    b.begin(b.off, 0, work=1)
    b.begin(b.on)
    b.on.say("say took 4")
    b.end(b.on)
    yield b.finish(), (f"1 / gpq: bench: run 1, shared: the offline command's log {r.dir}/logs/shared-1-offline.log: it wrote none; does it use HIP?; "
                       "nothing is held")


@scenario("processes that are no descendants of a command: who was not taken in, who lives on; queues that come while they are held")
def _(r):
    b = Ab(r, "--modes", "shared", "--ready", "1s")
    b.begin(b.off)
    t = r.target(0)
    yield b.finish(), ("1 / gpq: bench: run 1, shared: the offline command had no queues within 1 s; pid t3 (target) began meanwhile, is no descendant of "
                       "it, and runs on: --offline takes such processes in; nothing is held")
    t.end()
    b = Ab(r, "--modes", "preempt", "--offline", f"cmdline={r.dir}/t[67]")
    b.begin(b.off)
    t, dead = r.target(0), r.target(0)
    t.set_index(0, 1, 9)
    b.begin(b.on)
    b.steps(10)
    yield (t.name, t.off, dead.name, dead.off), ("t6", "0", "t7", "0")
    kill(dead.pid, signal.SIGKILL)  # nobody reaps it
    wait_death(dead.pid)
    t.add(1)
    b.steps(60)
    yield t.off, "0,1"
    b.end(b.on)
    yield b.finish(), ("0 / gpq: bench: run 1, preempt: pid t6 (target) of a command lives on: it left the command's process group; gpq did not end it")
    yield (t.off, lives(t.pid), t.tracer, r.holders()), ("", True, 0, [])


@scenario("--sweep-env: each value is a measurement of its own, interleaved in each round, and both commands have it in their environment")
def _(r):
    def run(*args, values, runs):
        """Runs an experiment in which a request takes as many ms as the value: what the commands had in each run, and what it said."""
        b = Ab(r, "--modes", "shared", "--seed", "7", "--sweep-env", "GPQ_TEST=" + values, "--require", "online shared max < 12ms", "--runs", runs, *args,
               stdout=subprocess.PIPE)
        had = []
        for _ in range(runs * len(values.split(","))):
            b.begin(b.off, 0, work=1)
            b.begin(b.on)
            for c in b.on, b.off:
                with open(f"/proc/{c.pid}/environ") as f:
                    had += [w[9:] for w in f.read().split("\0") if w.startswith("GPQ_TEST=")]
            b.steps(int(had[-1]))
            b.end(b.on)
            b.ended(b.off)
        return b, had, b.finish().split(" / ")
    required = "gpq: bench: {}: required: online shared max < 12ms: 16.000ms, of these samples alone"
    rows = ["shared,GPQ_TEST=8;1;8000000", "shared,GPQ_TEST=8;2;8000000", "shared,GPQ_TEST=16;1;16000000", "shared,GPQ_TEST=16;2;16000000"]
    b, had, said = run("-v", "--csv", "-o", "SETTING,RUN,MEAN", values="8,16", runs=2)
    yield had[::2], had[1::2]
    yield [sorted(had[:4]), sorted(had[4:])], 2 * [["16", "16", "8", "8"]]  # each value once in a round
    name = b.samples("run")[0][0].split(",")[0]
    yield said[:6], ["1", "setting,run,mean_ns"] + ['"{}",{},{}'.format(*row.split(";")) for row in rows]
    yield said[6:], [f"gpq: bench: run {n}, shared, GPQ_TEST={v}" for n, v in zip((1, 2, 3, 4), had[::2])] + [required.format(name + ",GPQ_TEST=16")]
    yield sorted(b.samples("setting", "run", "number", "latencies_ns")), sorted(
        (f"GPQ_TEST={v}", f"{name},GPQ_TEST={v}", n, [int(v) * MS]) for n, v in enumerate(had[::2]))
    # What was measured is read again as it is.
    yield sorted(r.gpq("bench", "report", "-q", "-rn", "-o", "SETTING,RUN,MEAN", b.raw).split(" / ")), sorted(["0"] + [row.replace(";", " ") for row in rows])
    told = [w.replace("\\", "") for w in r.gpq("bench", "report", "-q", b.raw).split(" / ")]
    yield [w for w in told if w.startswith("| setting | GPQ") and w.count("|") == 4], [f"| setting | GPQ_TEST={v} | {name},GPQ_TEST={v} |" for v in (8, 16)]
    yield [w.split(" runs")[0] for w in told if w.startswith("## Online")], [
        f"## Online requests beside offline work, GPQ_TEST={v}: 2" for v in (8, 16)]
    yield r.gpq("merge", "-rn", "-o", "SETTING,N,MEAN", b.raw), "0 / GPQ_TEST=16 2 16000000 / GPQ_TEST=8 2 8000000"
    # A block for each value; one that is met does not hide one that is not.
    b, had, said = run(values="16,8", runs=1)
    yield [said[0]] + [w for w in said if re.match("Host, |shared 1 1 |gpq: ", w)], ["1"] + [w for v in (16, 8) for w in (
        f"Host, driver, target: GPQ_TEST={v}", f"shared 1 1 {v}ms - {v}ms - - {v}ms - - {1000 / v:g} - -")] + [required.format("GPQ_TEST=16")]


@scenario("--progress: which run of how many")
def _(r):
    b = Ab(r, "--modes", "shared,preempt", "--progress", "--seed", "7", "--pause", "800ms")
    for _ in range(2):
        b.begin(b.off, 0, work=1)
        b.begin(b.on)
        b.end(b.on)
        b.ended(b.off)
    lines = b.finish().split(" / ")
    yield [re.sub(", [0-9.]+m?s left", "", line) for line in lines], [
        "0", "gpq: [--------------------] 0 %, run 1 of 2, shared", "gpq: [##########----------] 50 %, run 2 of 2, preempt"]


main()
