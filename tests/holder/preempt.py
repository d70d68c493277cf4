"""gpq bench preempt: each time and number that it measures, by a clock of the test's own. preempt.py TOP BUILD [WORD]. TAP."""
import glob

from bench import *  # noqa: F403


def preempt(r, t, *args, **how):
    targets = t if isinstance(t, tuple) else (t,)
    return Bench(r, "preempt", "-p", ",".join(str(t.pid) for t in targets), "--settle", "0", "--warmup", "0", "--baseline-every", "0", *args,
                 first=targets[0].kfd, **{"stdout": subprocess.DEVNULL} | how)


def running(r, t):
    """Looks take 0.25 ms, in which queue 0 takes a packet if it runs."""
    return {"each": lambda: (r.move(MS // 4), t.off or t.set_index(0, r.driver.looks, 10 ** 6))}


@scenario("one cycle: each time and each count")
def _(r):
    t = r.target(0, (1, 1))
    t.set_waves(0, 4096)
    index(t, (100, 110), (64, 64))()
    takes(r, 3, 2)
    takes(r, 4, 5)
    b = Bench(r, "preempt", "-p", t.pid, "--cycles", "2", "--warmup", "0", "--hold", "10ms", "--gap", "20ms", "--settle", "1ms", "--grace", "9",
              "--baseline-every", "2", "-r", "-n", "-o", "SETTING,METRIC,N,MIN,MAX", first=t.kfd, on_look={
        1: index(t, (110, 120), (64, 64)),   # suspend is asked for
        2: index(t, (115, 140), (72, 72)),   # the first look after suspend
        3: index(t, (117, 140), (72, 72)),   # the next look: one queue still drains
        6: index(t, (117, 140), (72, 80)),   # resume is asked for: 23 packets are left, and the other queue has work
        9: index(t, (117, 140), (80, 80)),   # the third look after resume sees that it goes on
        10: index(t, (133, 140), (88, 88)),  # the cycle ends, and the baseline window begins with the next look
        12: index(t, (134, 140), (88, 88)),  # it ends
        13: index(t, (135, 140), (88, 88)),
        18: index(t, (135, 141), (88, 88)),
        19: index(t, (138, 141), (88, 88)),  # the first look after resume sees it
        20: index(t, (141, 141), (88, 88))})
    yield b.finish(), ("0 / all suspend 2 3000000 4000000 / all suspend_ioctl 2 3000000 4000000 / all suspend_gpq 2 0 0 / all standstill 2 0 500000 / "
                       "all resume 2 2000000 5000000 / all resume_ioctl 2 2000000 5000000 / all progress 2 250000 750000 / all cost 2 5000000 9000000 / "
                       "gpq: bench: all: cycles came more often than every 90ms: they took much of the time of other queues on the GPU; a greater "
                       "--gap spares others")
    first = {"cycle": 0, "at_ns": 1000000250000, "suspend_ns": 3 * MS, "suspend_ioctl_ns": 3 * MS, "still_ns": 500000, "still_look_ns": 500000,
             "held_ns": 10250000, "resume_ns": 2 * MS, "resume_ioctl_ns": 2 * MS, "progress_ns": 750000, "progress_look_ns": 250000,
             "gap_ns": 20250000, "read_sum": 110, "suspend_packets": 7, "held_packets": 0, "resume_packets": 0, "gap_packets": 16,
             "backlog_packets": 24, "baseline_ns": 35500000, "baseline_packets": 1}
    second = {"cycle": 1, "at_ns": 1000071750000, "suspend_ns": 4 * MS, "suspend_ioctl_ns": 4 * MS, "still_ns": 0, "still_look_ns": 500000,
              "held_ns": 10250000, "resume_ns": 5 * MS, "resume_ioctl_ns": 5 * MS, "progress_ns": 250000, "progress_look_ns": 250000,
              "gap_ns": 20250000, "read_sum": 135, "suspend_packets": 0, "held_packets": 0, "resume_packets": 3, "gap_packets": 3,
              "backlog_packets": 6, "baseline_ns": None, "baseline_packets": None}
    yield b.samples(*first), [tuple(first.values()), tuple(second.values())]
    both = {"record": "preempt_cycle", "result": "ok", "warmup": False, "repeat": 0, "grace": 9, "queues_wanted": None, "hold_wanted_ns": 10 * MS,
            "gap_wanted_ns": 20 * MS, "process": None, "queues": 2, "suspend_first_ns": None, "resume_first_ns": None, "saved_bytes_xcc": [4096],
            "host": None, "boot_id": None, "kernel": "6.12.95", "kfd_version": "1.17", "scheduler": "HWS", "gpus": "gfx90a 0000:43:00.0 xcc 1 mec 78", "target": f"{t.pid} target",
            "target_queues": "2"}
    yield b.samples(*both), 2 * [tuple(both.values())]
    yield b.waited, [9, 19.25, 35.25, 9, 19.75]
    yield (r.changes(), t.tracer, r.holders()), (
        ["enable", "send", "send", "suspend 0,1 grace=9", "resume 0,1", "suspend 0,1 grace=9", "resume 0,1", "disable"], 0, [])


@scenario("settings and runs: each setting once in a block, warm-up and baseline windows by setting, a pause between runs")
def _(r):
    t = r.target(0, 1)
    orders = []
    for seed in 1, 1, 2, 3, 4:
        b = preempt(r, t, "--cycles", "2", "--warmup", "1", "--sweep", "queues=1,2", "--sweep", "grace=5", "--runs", "2", "--pause", "70ms",
                    "--baseline-every", "2", "--hold", "3ms", "--gap", "2ms", "--seed", seed,
                    on_look={"each": lambda: (r.move(MS // 4), t.set_index(0, r.driver.looks, 10 ** 6))})
        yield b.finish(), "0"
        yield b.samples("cycle", "block", "repeat", "warmup", "baseline_ns", "grace", "seed"), [
            (i, i // 2, i // 6, i % 6 < 2, 5500000 if i % 6 in (2, 3) else None, 5, str(seed)) for i in range(12)]
        yield (b.waited.count(70), b.waited.count(2.75), b.waited.count(1.75), b.waited.count(5.25)), (1, 12, 12, 4)
        order = [q for q, in b.samples("queues_wanted")]
        yield [sorted(order[i:i + 2]) for i in range(0, 12, 2)], 6 * [[1, 2]]
        yield b.samples("queues"), [(q,) for q in order]
        ids = ["0" if q == 1 else "0,1" for q in order]
        yield r.changes()[3:-1], [call for i in ids for call in (f"suspend {i} grace=5", f"resume {i}")]
        orders.append(order)
    yield (orders[0] == orders[1], len({str(o) for o in orders}) > 2), (True, True)


def always(r, op, does):
    """Each time: what happens at the end of a call that suspends or resumes n queues."""
    def hook(call):
        done = call()
        does(done[0])
        r.once(op, hook)
        return done
    r.once(op, hook)


def printed(b):
    """Its lines on standard output."""
    return [line for line in b.finish().split(" / ")[1:] if not line.startswith("gpq: ")]


@scenario("--until-shown: it ends when what is required is shown or refuted in each setting, at the latest after --cycles")
def _(r):
    t = r.target(0, 1)
    always(r, "suspend", lambda n: r.move(3 * MS))
    both = lambda words: "".join(f" / gpq: bench: required: {words % f' with queues={n}'}" for n in (1, 2))
    for limits, cycles, wanted in ((["suspend p50 < 10ms"], 20, "0 / gpq: bench: --until-shown: each limit is shown or refuted"),
                                   (["suspend max < 10ms", "suspend p50 < 1ms"], 20,
                                    "1 / gpq: bench: --until-shown: each limit is shown or refuted" + both("suspend p50 < 1ms: 3.000ms%s")),
                                   (["suspend max < 10ms", "suspend p90 < 10ms"], 80, "0 / gpq: bench: --until-shown: each limit is shown or refuted"),
                                   (["suspend p99 < 10ms"], 100, "8" + both("suspend p99 < 10ms: 3.000ms%s, not shown, n too small: 199 more samples"))):
        b = preempt(r, t, "--until-shown", "--cycles", "100", "--sweep", "queues=1,2", "--warmup", "1", "--hold", "1ms", "--gap", "90ms", "-v",
                    *(w for limit in limits for w in ("--require", limit)), on_look=running(r, t))
        yield b.finish(), wanted
        yield [len([w for w, in b.samples("warmup") if w == warm]) for warm in (True, False)], [2, 2 * cycles]


@scenario("a sweep of queues ends with what grows with their number: suspend takes 1 ms, and 2 ms for each queue; resume 0.5 ms")
def _(r):
    t = r.target(0, 1, 2, 3)
    each = [2 * MS]
    always(r, "suspend", lambda n: r.move((MS if each[0] > 0 else 10 * MS) + n * each[0]))
    always(r, "resume", lambda n: r.move(MS // 2))
    for sweep, told in ((("queues=1,2,9",), ["With 1 to 4 queues: suspend grows by 2.000ms for each queue (95 %: 2.000 to 2.000), 1.000ms do not depend "
                                            "on it; resume does not grow within the interval (95 %: 0.000ms to 0.000ms for each queue) and takes 0.500ms."]),
                        (("queues=4,5",), ["With 4 to 4 queues: not known what grows with their number: choose a process with more."]),
                        (("queues=1", "hold=1ms,2ms"), [])):
        b = preempt(r, t, "--cycles", "3", "--hold", "1ms", *(w for s in sweep for w in ("--sweep", s)), on_look=running(r, t),
                    stdout=subprocess.PIPE)
        lines = printed(b)
        yield [line for line in lines if line.startswith("With ")], told
        yield lines[-1:] == told or not told, True
    each[0] = -2 * MS
    b = preempt(r, t, "--cycles", "3", "--hold", "1ms", "--sweep", "queues=1,2,9", on_look=running(r, t), stdout=subprocess.PIPE)
    yield [line.partition("; ")[0] for line in printed(b) if line.startswith("With ")], [
        "With 1 to 4 queues: suspend shrinks by 2.000ms for each queue (95 %: 2.000 to 2.000)"]
    each[0] = 2 * MS
    b = preempt(r, t, "--cycles", "3", "--hold", "1ms", "--sweep", "queues=1,3", "--sweep", "grace=5,6", "-r", "-n", "--table", "growth",
                "-o", "SETTING,METRIC,SLOPE_NS,CONSTANT_NS,N,VERDICT", on_look=running(r, t), stdout=subprocess.PIPE)
    yield [line for line in printed(b) if " suspend " in line], [f"grace={g} suspend 2000000 1000000 6 grows" for g in (5, 6)]


US = 1000
TRACING = "/sys/kernel/tracing"


def instances(r):
    return glob.glob(r.root + TRACING + "/instances/*")


def traced(r, *targets, lost=()):
    """A tracefs, and what the kernel traces there: a suspension of n queues takes, in us, 10 to find the target, 5, then 60 n to unmap, 300 to
    save, 40 n to the end of unmapping, 5, 50 to map, 10 to the end of suspend_queues, 10 to that of the ioctl. lost: calls it does not have."""
    for name in "trace_clock", "kprobe_events":
        r.write(f"{TRACING}/{name}", "")
    os.makedirs(r.root + TRACING + "/instances", exist_ok=True)
    calls = []

    def put(name, us, args=""):
        r.move(us * US)
        at = r.page.now_ns // US
        where = f"({name[:-4]}+0x9/0x99 [amdgpu] <- {name[:-4]})" if name.endswith("_ret") else f"({name}+0x4/0x99 [amdgpu])"
        return f"      gpq-holder-900     (    900) [000] .....  {at // 10 ** 6}.{at % 10 ** 6:06}: {name}: {where} {args}\n"

    def suspension(target, n):
        return "".join(put(*record) for record in (
            ("kfd_ioctl_set_debug_trap", 0, f"pid={target} op=6"), ("suspend_queues", 10, f"count={n} grace=32 queue=0"), ("unmap_queues_cpsch", 5),
            ("amdkfd_fence_wait_timeout", 60 * n), ("amdkfd_fence_wait_timeout_ret", 300, "ret=0"), ("unmap_queues_cpsch_ret", 40 * n, "ret=0"),
            ("map_queues_cpsch", 5), ("map_queues_cpsch_ret", 50, "ret=0"), ("suspend_queues_ret", 10, f"ret={n}"),
            ("kfd_ioctl_set_debug_trap_ret", 10, "ret=0")))

    def write(n):
        target = next((t for t in targets if len(t.kfd.queues) == n), targets[0])
        text = suspension(1, 7) + suspension(target.pid, n)  # the first is of another process, and takes 1090 us
        calls.append(n)
        for instance in instances(r) if len(calls) not in lost else []:
            with open(instance + "/trace_pipe", "a") as f:
                f.write(text)
    always(r, "suspend", write)


@scenario("--breakdown: the steps of each cycle, from a trace of the kernel that is gone afterwards")
def _(r):
    if os.geteuid():
        return  # only root may trace
    t = r.target(0, 1, 2)
    traced(r, t)
    b = preempt(r, t, "--cycles", "3", "--hold", "1ms", "--sweep", "queues=1,3", "--breakdown", on_look=running(r, t), stdout=subprocess.PIPE)
    lines = printed(b)
    yield [line for line in lines if line.startswith(("These cycles", "With "))], [
        "These cycles were traced (--breakdown), which takes time itself: suspend and resume are longer than without.",
        "With 1 to 3 queues: suspend grows by 0.100ms for each queue (95 %: 0.100 to 0.100), 1.480ms do not depend on it; "
        "unmap grows by 0.100ms for each queue (95 %: 0.100 to 0.100); "
        "save does not grow within the interval (95 %: 0.000ms to 0.000ms for each queue) and takes 0.300ms; "
        "map does not grow within the interval (95 %: 0.000ms to 0.000ms for each queue) and takes 0.050ms; "
        "rest does not grow within the interval (95 %: 0.000ms to 0.000ms for each queue) and takes 0.020ms; "
        "resume does not grow within the interval (95 %: 0.000ms to 0.000ms for each queue) and takes 0.000ms."]
    yield b.samples("unmap_ns", "save_ns", "map_ns", "rest_ns"), [(100 * US * n, 300 * US, 50 * US, 20 * US) for n, in b.samples("queues")]
    yield instances(r), []
    out = r.gpq("bench", "report", "-r", "-n", "-o", "SETTING,METRIC,N,P50,MIN,MAX", b.raw).split(" / ")
    yield [line for line in out if line.split()[1:2] in (["unmap"], ["rest"])], [
        "queues=1 unmap 3 100000 100000 100000", "queues=3 unmap 3 300000 300000 300000",
        "queues=1 rest 3 20000 20000 20000", "queues=3 rest 3 20000 20000 20000"]
    b = preempt(r, t, "--cycles", "1", on_look=running(r, t))
    yield (b.finish()[0], b.samples("unmap_ns", "save_ns", "map_ns", "rest_ns")), ("0", [(None, None, None, None)])


@scenario("--breakdown of several processes: the steps of each, their sums for the group; a suspension that the trace lacks")
def _(r):
    if os.geteuid():
        return  # only root may trace
    a, b = r.target(0), r.target(0, 1)
    x = traced(r, a, b) or preempt(r, (a, b), "--cycles", "2", "--hold", "1ms", "--breakdown", on_look=running(r, a))
    yield x.finish()[:1], "0"
    both = {a.pid: (100, 300, 50, 20), b.pid: (200, 300, 50, 20), 0: (300, 600, 100, 40)}
    yield x.samples("process", "unmap_ns", "save_ns", "map_ns", "rest_ns"), 2 * [(pid, *(us * US for us in both[pid])) for pid in (0, a.pid, b.pid)]
    r.driver.hooks.clear()
    traced(r, a, lost=(2,))
    x = preempt(r, a, "--cycles", "3", "--hold", "1ms", "--breakdown", on_look=running(r, a))
    yield x.finish(), "3 / gpq: bench: --breakdown: the trace has 2 of 3 suspensions; the steps of the others are unknown"
    yield x.samples("save_ns"), [(300 * US,), (None,), (300 * US,)]
    yield instances(r), []


@scenario("--breakdown: whatever ends gpq, the trace is removed; what stands in the way is told before the target is touched")
def _(r):
    if os.geteuid():
        return  # only root may trace
    t = r.target(0)
    r.changes()
    for prepare, told in ((lambda: None, "6 / gpq: bench: --breakdown: there is no tracefs; as root: mount -t tracefs none /sys/kernel/tracing"),
                          (lambda: (traced(r, t), shutil.rmtree(r.root + TRACING + "/instances")),
                           "6 / gpq: bench: --breakdown: /sys/kernel/tracing has no instances; use a kernel with CONFIG_TRACING")):
        prepare()
        yield r.gpq("bench", "preempt", "-p", t.pid, "--breakdown"), told
        yield r.changes(), []
    traced(r, t)
    yield r.gpq("bench", "preempt", "-p", t.pid, "--breakdown", "--samples", "/nosuch/raw"), "5 / gpq: bench: --samples /nosuch/raw: No such file or directory"
    yield (instances(r), r.changes()), ([], [])
    b = preempt(r, t, "--cycles", "3", "--hold", "100ms", "--breakdown", on_look=running(r, t))
    yield (b.until(99.75), len(instances(r))), (True, 1)
    yield b.interrupt()[:1], "3"
    yield (instances(r), t.off), ([], "")
    b = preempt(r, t, "--cycles", "3", "--hold", "100ms", "--breakdown", on_look=running(r, t))
    yield (b.until(99.75), len(instances(r))), (True, 1)
    b.p.kill()
    yield (r.until(lambda: not instances(r)), r.until(lambda: t.off == "")), (True, True)


def write_levels(r, t, *prios):
    """The dump of MQDs (gfx9) of compute queues with these priorities: of dwords that tell what is an MQD, where its ring is, level and priority."""
    text = f"Process {t.pid} PASID 0x8001:\n"
    for qid, prio in reversed(list(enumerate(prios))):
        words = {0: 3224438784, 11: 1, 23: 0xffffffff, 24: 0xffffffff, 128: 16777216 + qid * 40960, 130: 1, 131: 2056, 132: 1073763073,
                 133: (prio > 6) + (prio > 10), 134: prio, 135: 273, 136: 708837376 + qid * 32, 137: 127, 138: 72224, 139: 1560953984 + qid * 4096,
                 140: 32554, 141: 1560953912 + qid * 4096, 142: 32554, 143: 1610612738 + 8 * qid, 145: 469845257 + qid, 149: 11534336, 160: 16384,
                 162: 256, 171: 201326592, 172: 32554, 174: 36864, 175: 36864, 176: 36864, 177: 63508480, 181: 1, 182: 596528}
        text += "  Compute queue on device a1f4\n"
        text += "".join("    %08x: %s\n" % (k * 4, " ".join("%08x" % words.get(k + n, 0) for n in range(8))) for k in range(0, 512, 8))
    for name in "mqds", "hqds", "rls":
        r.write("/sys/kernel/debug/kfd/" + name, text if name == "mqds" else "")


@scenario("a sweep of levels: only their queues are suspended, without those that go, and what is not there is said before")
def _(r):
    t = r.target(0, 1, 2)
    none = "gpq queues -o +PRIO shows what there is"
    r.write("/sys/kernel/debug/kfd/mqds", "")
    yield r.gpq("bench", "preempt", "-p", t.pid, "--sweep", "prio=low,high"), (
        f"5 / gpq: bench: --sweep: pid t1 has no queue of these whose priority is low; {none}")
    write_levels(r, t, 3, 11, 0)
    yield r.gpq("bench", "preempt", "-p", t.pid, "--sweep", "prio=low,medium"), (
        f"5 / gpq: bench: --sweep: pid t1 has no queue of these whose priority is medium; {none}")
    yield [c for c in r.changes() if "suspend" in c], []

    def look(at, link):  # each, as that of a single queue is one
        if link.startswith(b"/proc/"):
            r.move(MS // 8)
            for q in t.kfd.queues:
                if not q.off:
                    t.set_index(q.qid, r.page.now_ns // 1000 % 10 ** 9, 10 ** 12)
        return 0
    usual, r.driver.look = r.driver.look, look

    def swept(gone, after):
        """Its end, where a queue has gone after so many resumes, in which it had no part; and what was suspended."""
        left = [after]

        def resume(call):
            others = not t.kfd.queue(gone).off
            done = call()
            left[0] -= others
            if left[0]:
                r.once("resume", resume)
            else:
                t.kfd.queues.remove(t.kfd.queue(gone))
                shutil.rmtree(f"{r.root}/sys/class/kfd/kfd/proc/{t.pid}/queues/{gone}")
            return done
        if after:
            r.once("resume", resume)
        b = preempt(r, t, "--cycles", "4", "--hold", "1ms", "--gap", "2ms", "--seed", "1", "--sweep", "prio=low,high", "-q")
        end = b.finish()
        return end, [c.split()[1] for c in r.changes() if "suspend" in c], sorted(b.samples("prio_level_wanted", "queues", "result"))
    end, held, samples = swept(None, 0)
    yield (end, sorted(held)), ("0", 4 * ["0,2"] + 4 * ["1"])
    yield samples, 4 * [(0, 2, "ok")] + 4 * [(2, 1, "ok")]
    end, held, samples = swept(2, 2)  # the holder learns that it has gone when it suspends it once more
    yield (end, sorted(set(held)), held[::-1].index("0") < held[::-1].index("0,2")), ("0", ["0", "0,2", "1"], True)
    yield sorted(x[2] for x in samples), 7 * ["ok"] + ["partly"]
    end, held, samples = swept(1, 2)
    yield re.sub("[0-9]+ cycles", "N cycles", end), (
        "1 / gpq: bench: pid t1: after N cycles: not suspended: no queue of these is there any more; the target runs; dmesg may tell more")
    r.driver.look = usual


@scenario("a sweep of hold and gap, and --for")
def _(r):
    t = r.target(0)
    takes(r, 3, 2)
    b = preempt(r, t, "--for", "60ms", "--sweep", "hold=4ms,8ms", "--sweep", "gap=6ms")
    out = b.finish().split(" / ")
    yield out[0], "0"
    yield out[1][12:] in [f"hold={ms}ms: cycles came more often than every 50ms: they took much of the time of other queues on the GPU; a greater "
                          "--gap spares others" for ms in (4, 8)], True
    yield out[2:], ["gpq: bench: pid t1 had nothing to do in 5 of 5 cycles: its progress then says nothing; measure while it has work"]
    rows = b.samples("result", "hold_wanted_ns", "at_ns", "held_ns", "gap_ns", "progress_ns")
    yield sorted(h for _, h, *_ in rows[:4]), [4 * MS, 4 * MS, 8 * MS, 8 * MS]
    yield rows, [("idle", h, at, h + MS // 4, 6 * MS + MS // 4, None) for _, h, at, *_ in rows]
    yield [y[2] - x[2] for x, y in zip(rows, rows[1:])], [x[1] + 6750000 + (0 if i else 5 * MS) for i, x in enumerate(rows[:4])]


@scenario("without --gap, cycles come as seldom as spares other queues: ten times the 90th percentile of what the latest cost")
def _(r):
    t = r.target(0)
    for cost in ((3, 2), (1, 1), (4, 5)):
        takes(r, *cost)
    b = preempt(r, t, "--cycles", "3", "--hold", "1ms", on_look={"each": lambda: (r.move(MS // 4), t.set_index(0, r.driver.looks, 10 ** 6))})
    yield b.finish(), "0"
    rows = b.samples("at_ns", "gap_ns", "gap_wanted_ns")
    yield [(at - rows[0][0], *rest) for at, *rest in rows], [(0, 44 * MS, 10 * MS), (50500000, 47 * MS, 10 * MS), (101 * MS, 80 * MS, 10 * MS)]


@scenario("several processes: a hold of all, lines of the group and of each")
def _(r):
    a, b = r.target(0), r.target(0, (1, 1), 2)
    index(a, (11, 12))()
    index(b, (23, 30), (64, 128), (5, 9))()
    takes(r, 3, 2)
    takes(r, 4, 1)
    x = preempt(r, (a, b), "--cycles", "2", "--hold", "5ms", "--gap", "5ms", "--baseline-every", "2", on_look={
        2: lambda: (b.set_index(0, 24, 30), b.set_index(1, 65, 128)),
        4: lambda: a.set_index(0, 12, 14),
        5: lambda: b.set_index(2, 9, 9),
        7: lambda: (a.set_index(0, 13, 14), b.set_index(0, 27, 30))})
    yield x.finish().split(" / ")[0], "0"
    yield x.samples("cycle", "block", "process", "result", "queues", "still_ns", "progress_ns", "read_sum", "saved_bytes_xcc"), [
        (0, 0, 0, "ok", 4, None, None, None, None), (1, 0, a.pid, "ok", 1, None, None, None, [0]),
        (2, 0, b.pid, "ok", 3, None, None, None, [0]), (3, 1, 0, "ok", 4, None, None, None, None),
        (4, 1, a.pid, "ok", 1, None, None, None, [0]), (5, 1, b.pid, "ok", 3, None, None, None, [0])]
    whole = sum(x.samples("suspend_ns", "held_ns", "resume_ns", "gap_ns")[0])
    yield x.samples("baseline_ns"), 3 * [(whole,)] + 3 * [(None,)]
    yield x.samples("baseline_packets", "suspend_packets", "held_packets", "resume_packets", "gap_packets", "backlog_packets")[:3], [
        (4, 1, 0, 1, 4, 12), (1, 0, 0, 1, 0, 1), (3, 1, 0, 0, 4, 11)]
    group, *each = x.samples("suspend_ns", "suspend_ioctl_ns", "resume_ns", "resume_ioctl_ns", "suspend_first_ns", "resume_first_ns")[:3]
    yield group[0] in (7 * MS, 4 * MS, 3 * MS) and group[2] in (1 * MS, 2 * MS, 3 * MS), True
    yield group, (*map(max, *(e[:4] for e in each)), min(e[0] for e in each), min(e[2] for e in each))
    yield [e[4:] for e in each], 2 * [(None, None)]
    grace, = [c for c in r.changes() if c.startswith("t2 suspend")][:1]
    yield grace, "t2 suspend 0,1,2 grace=32"


@scenario("what is not as it should be: queues that move while they are held, that are refused, that make no progress")
def _(r):
    t = r.target(0, 1)
    index(t, (1, 9), (1, 9))()
    limits = ("--cycles", "1", "--hold", "5ms", "--gap", "5ms", "--require", "suspend p50 < 1s")
    spoiled = "1 / gpq: bench: required: suspend p50 < 1s: max 0.000ms, not all cycles were ok"
    b = preempt(r, t, *limits, on_look={3: lambda: t.set_index(1, 2, 9), 4: lambda: t.set_index(0, 4, 9)})
    yield b.finish(), spoiled
    yield b.samples("result", "queues", "suspend_packets", "held_packets", "resume_packets", "gap_packets", "backlog_packets"), [
        ("moved", 2, 0, 1, 3, 0, 15)]
    for q in 0, 1:
        t.kfd.queue(q).refusals = 1
        b = preempt(r, t, *limits, on_look={5: lambda: t.set_index(0, 5, 9)})
        yield b.finish(), spoiled
        yield b.samples("result", "queues"), [("partly", 2)]
        t.set_index(0, 4, 9)
    t.kfd.queue(0).refusals = t.kfd.queue(1).refusals = 1
    r.changes()
    b = preempt(r, t, "--cycles", "3")
    yield b.finish(), "1 / gpq: bench: pid t1: after 1 cycles: not suspended: refused; the target runs; dmesg may tell more"
    yield (b.samples("result", "held_ns"), t.off, r.changes()[3:]), ([("failed", None)], "", ["suspend 0,1 grace=32", "resume 0,1", "disable"])
    b = preempt(r, t, "--cycles", "3", "--hold", "2ms", "--gap", "2ms", "--patience", "15ms")
    yield b.finish(), ("1 / gpq: bench: pid t1: after 1 cycles: no progress within 0.015s of resume although there is work; nothing is held; "
                       "--patience waits longer")
    yield (b.samples("result", "progress_ns", "backlog_packets"), t.off, r.driver.looks), ([("stuck", None, 12)], "", 64)


@scenario("work that comes late: progress is watched closely for 20 ms, then every 0.1 ms")
def _(r):
    t = r.target(0)
    t.set_index(0, 5, 6)
    b = preempt(r, t, "--cycles", "1", "--hold", "2ms", "--gap", "2ms", look_ns=MS, on_look={40: lambda: t.set_index(0, 6, 6)})
    yield b.finish(), "0"
    yield b.samples("result", "progress_ns", "progress_look_ns", "gap_ns"), [("ok", 38600000, 1100000, 39600000)]
    yield b.waited, [1] + 16 * [0.1]


@scenario("Ctrl-C: in the baseline window, in a hold, between cycles, in the pause")
def _(r):
    t = r.target(0)
    held = ["suspend 0 grace=32", "resume 0"]
    for args, wait, result, calls in ((("--baseline-every", "1", "--hold", "1ms", "--gap", "320ms"), 321.25, "stopped", held),
                                      (("--hold", "300ms"), 299.75, "stopped", held), (("--hold", "1ms", "--gap", "310ms"), 309.75, "stopped", held),
                                      (("--runs", "2", "--pause", "330ms", "--hold", "1ms", "--gap", "1ms"), 330, "ok", held)):
        for sig in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            b = preempt(r, t, "--cycles", "1", *args, on_look=running(r, t))
            yield (wait, b.until(wait)), (wait, True)
            yield (wait, b.interrupt(sig), t.off, r.holders(), b.samples("result")), (
                wait, "3 / gpq: bench: stopped after 1 cycles; the target runs; what was measured follows", "", [], [(result,)])
            yield r.changes(), ["enable", "send", "send", *calls, "disable"]


@scenario("queues whose indices cannot be read are not watched")
def _(r):
    t = r.target(0, 1)
    t.kfd.queue(1).at = 0x300000000  # where nothing is
    b = preempt(r, t, "--cycles", "1", "--hold", "1ms", "--gap", "10ms", on_look=running(r, t))
    yield b.finish(), "0"
    yield b.samples("queues", "result"), [(2, "ok")]
    t.kfd.queue(0).at = 0x300000000
    yield preempt(r, t).finish(), "5 / gpq: bench: pid t1 has no queue of these whose read index can be read; gpq queues shows what there is"


@scenario("a process that ends or calls exec in the middle, a holder that is killed or stopped")
def _(r):
    ended = "5 / gpq: bench: pid {}: after {} cycles: the process ended, or ran another program; what was measured follows"
    a, t = r.target(0), r.target(0)
    for wait, cycles in ((299.75, 1), (309.75, 1)):
        c = r.target(0)
        b = preempt(r, (t, c), "--hold", "300ms", "--gap", "310ms", on_look=running(r, t))
        yield (wait, b.until(wait)), (wait, True)
        c.end()
        yield r.until(lambda: b.p.poll() is not None), True  # at once: the clock stands still
        yield b.finish(), ended.format(c.name, cycles)
        yield (t.off, t.tracer, r.holders()), ("", 0, [])
    c = r.target(0)
    os.mkfifo(r.dir + "/full")
    fd = os.open(r.dir + "/full", os.O_RDWR | os.O_NONBLOCK)
    b = preempt(r, (t, c), "--samples", r.dir + "/full", "--hold", "300ms", on_look=running(r, t))
    yield b.until(299.75), True
    os.write(fd, bytes(1 << 20))  # as much as there is room for
    c.end()
    yield r.writes(b.p), True
    yield t.off, ""  # a reader that does not read stops no queue
    os.close(fd)
    yield b.finish().startswith(f"1 / gpq: bench: --samples {r.dir}/full: stopped after "), True
    c = r.target(0)
    b = preempt(r, c, "--hold", "300ms", on_look=running(r, c))
    yield b.until(299.75), True
    c.say("exec")
    b.step()
    yield b.finish(2), ended.format(c.name, 1)
    yield b.samples("result", "held_ns"), [("stopped", None)]
    b = preempt(r, t, "--hold", "300ms", on_look=running(r, t))
    yield b.until(299.75), True
    kill(t.holder, signal.SIGKILL)
    yield b.finish(2), "1 / gpq: bench: pid t2: after 1 cycles: the holder ended before it answered (killed?): the queues run; try again"
    yield (t.off, b.samples("result")), ("", [("stopped",)])
    b = preempt(r, t, "--hold", "300ms", on_look=running(r, t))
    yield b.until(299.75), True
    kill(t.holder, signal.SIGSTOP)
    b.p.send_signal(signal.SIGINT)
    yield b.finish(1, 1, 5), "124 / gpq: bench: pid t2: after 1 cycles: the holder did not answer within 2 s; gpq resume ends it"
    yield (t.off, b.samples("result")), ("0", [("stopped",)])
    kill(t.holder, signal.SIGCONT)


@scenario("the holder's deadline is a minute behind the longest hold, also in a shorter one")
def _(r):
    t = r.target(0)
    begins, deadlines = [], []
    for _ in range(2):
        r.once("suspend", lambda call: (begins.append(r.page.now_ns), call())[1])
        r.once("resume", lambda call: (deadlines.append((r.page.now_ns - begins[-1]) / SECOND + r.timers_of(t.holder)[0][1]), call())[1])
    b = preempt(r, t, "--cycles", "1", "--sweep", "hold=4ms,300ms", "--gap", "6ms", on_look=running(r, t))
    yield b.finish(), "0"
    yield [round(s, 6) for s in deadlines], [60.3, 60.3]


@scenario("what is told before anything is suspended")
def _(r):
    t, u, many = r.target(0), r.target(0), 256  # PLAN_SETTINGS_MAX
    for args, told in ((("-p", t.pid, "-Q", "9"), "5 / gpq: bench: pid t1 has no queue of these whose read index can be read; gpq queues shows what there is"),
                       (("--comm", "nobody"), "5 / gpq: bench: no process that the options choose has opened /dev/kfd; gpq queues lists those that own queues"),
                       ((), "2 / gpq: bench: preempt needs to know which processes to measure; for example gpq bench preempt -p PID"),
                       (("-p", t.pid, "x"), "2 / gpq: bench: x: no operand is expected; processes of that name: --comm x"),
                       (("-p", t.pid, "-o", "NOSUCH"), "2 / gpq: bench: unknown column NOSUCH in latencies; --list-columns lists them"),
                       (("-p", t.pid, "--grace", "256"), "2 / gpq: bench: --grace: 256 is not 0 to 255"),
                       (("-p", t.pid, "--cycles", "0"), "2 / gpq: bench: --cycles: 0 measures nothing; leave it out for 300, or as many as --for allows"),
                       (("-p", t.pid, "--runs", "0"), "2 / gpq: bench: --runs: 0 measures nothing; leave it out for 1"),
                       (("-p", t.pid, "--runs", "2", "--for", "1s"),
                        "2 / gpq: bench: --runs: --for alone does not say how long a run is; add --cycles"),
                       (("-p", t.pid, "--cycles", "1000000001"), "2 / gpq: bench: that many cycles would never end"),
                       (("-p", t.pid, "--runs", "1001"), "2 / gpq: bench: that many cycles would never end"),
                       (("-p", t.pid, "--warmup", "1000001"), "2 / gpq: bench: that many cycles would never end"),
                       (("-p", t.pid, "--sweep", "speed=1"),
                        "2 / gpq: bench: --sweep: speed=1: sweeps are grace=, queues=, prio=, hold= and gap=; for example --sweep grace=1,32,255"),
                       (("-p", f"{t.pid},{u.pid}", "--sweep", "grace=" + ",".join(map(str, range(many // 3 + 1)))),
                        f"2 / gpq: bench: --sweep: {many // 3 + 1} settings of 2 processes are too many; compare fewer settings"),
                       (("-p", t.pid, "--samples", "/nosuch/raw"), "5 / gpq: bench: --samples /nosuch/raw: No such file or directory")):
        yield r.gpq("bench", "preempt", *args), told
        yield [c for c in r.changes() if "suspend" in c], []
    grace = "grace=" + ",".join(map(str, range(many // 3)))
    yield preempt(r, (t, u), "--sweep", grace, "--for", "1ms", "--hold", "0").finish()[:1], "0"
    suspend(r, t)
    r.changes()
    yield preempt(r, t).finish(), "4 / gpq: bench: pid t1: 1 of its queues are suspended already, by gpq suspend or gpq sched; gpq resume ends that"
    yield (t.off, r.changes()), ("0", [])
    resume(r, t)
    u.remove(0)
    t.remove(0)
    yield preempt(r, t).finish(), "5 / gpq: bench: pid t1 has no queue of these whose read index can be read; gpq queues shows what there is"
    yield r.gpq("bench", "preempt", "--comm", "target"), "5 / gpq: bench: no process that the options choose has queues; gpq queues shows who has some"


@scenario("queues of secondary contexts run on, and that is said; queues that come and go between cycles")
def _(r):
    t = r.target(0)
    for qid in 0, 1:
        r.write(f"/sys/class/kfd/kfd/proc/{t.pid}/context_1/queues/{qid}/gpuid", str(GPU))
    b = preempt(r, t, "--cycles", "3", "--hold", "1ms", "--gap", "100ms", on_look=running(r, t))
    yield b.until(99.75), True
    t.add(1)
    r.move(99750000)
    yield b.until(99.75), True
    t.remove(1)
    yield b.finish(), ("0 / gpq: bench: pid t1: 2 queues of secondary contexts run on in all cycles: the debug interface does not reach them; "
                       "gpq queues -o +CONTEXT_ID shows them")
    yield b.samples("queues", "result"), [(1, "ok"), (2, "ok"), (1, "ok")]


@scenario("what the host is")
def _(r):
    t = r.target(0, (1, 1, 1234))
    with open("/proc/cpuinfo") as f:
        machine = "VM" if " hypervisor" in f.read() else "bare metal"
    facts = {"machine": machine + " (ACME)", "host": "lab7", "boot_id": "5f0e", "kernel": "6.8.0", "driver": "6.10.5", "source": "softgpu", "gpus": "gfx90a 0000:43:00.0 xcc 1 mec 78",
             "parameters": "sched_policy=0 mes=1 preempt_us=7", "target": f"{t.pid} target", "target_queues": "2",
             "processors": str(os.sysconf("SC_NPROCESSORS_ONLN"))}
    for path, text in (("/sys/class/dmi/id/sys_vendor", "ACME"), ("/proc/sys/kernel/hostname", "lab7"), ("/proc/sys/kernel/random/boot_id", "5f0e"), ("/proc/sys/kernel/osrelease", "6.8.0"),
                       ("/sys/module/amdgpu/version", "6.10.5"), ("/sys/module/amdgpu/parameters/sched_policy", "0"),
                       ("/sys/module/amdgpu/parameters/mes", "1"), ("/sys/module/amdgpu/parameters/preempt_us", "7")):
        r.write(path, text + "\n")
    b = preempt(r, t, "--cycles", "1", "--hold", "0", "--gap", "1ms", on_look=running(r, t))
    yield b.finish(), "0 / gpq: bench: this is a software GPU: times here are not a GPU's"
    yield b.samples(*facts), [tuple(facts.values())]
    os.unlink(r.root + "/proc/sys/kernel/hostname")
    os.unlink(r.root + "/proc/sys/kernel/random/boot_id")


@scenario("--progress: how many cycles, or how much of the time, is done")
def _(r):
    t = r.target(0)
    b = preempt(r, t, "--progress", "--cycles", "4", "--hold", "550ms", "--gap", "0", on_look=running(r, t))
    yield b.finish(), ("0 / gpq: [#####---------------] 25 %, cycle 1 of 4, 1.65s left / gpq: [###############-----] 75 %, cycle 3 of 4, 551ms left")
    b = preempt(r, t, "--progress", "--for", "1s", "--hold", "600ms", "--gap", "0", on_look=running(r, t))
    yield b.finish(), "0 / gpq: [############--------] 60 %, cycle 1, 399ms left"


@scenario("--samples: a disk that is full, a reader that went away")
def _(r):
    t = r.target(0)
    yield preempt(r, t, "--samples", "/dev/full", on_look=running(r, t)).finish(), (
        "1 / gpq: bench: --samples /dev/full: stopped after 0 cycles: No space left on device; what was measured up to here follows")
    os.mkfifo(r.dir + "/fifo")
    fd = os.open(r.dir + "/fifo", os.O_RDONLY | os.O_NONBLOCK)
    b = preempt(r, t, "--samples", r.dir + "/fifo", "--gap", "100ms", on_look=running(r, t))
    yield (b.until(99.75), b.step(), b.until(99.75)), (True, 99.75, True)
    os.close(fd)
    yield b.finish(), f"1 / gpq: bench: --samples {r.dir}/fifo: stopped after 1 cycles: Broken pipe; what was measured up to here follows"
    yield t.off, ""


main()
