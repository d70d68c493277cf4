"""gpq why --waves: what it holds, for how long, and what it says of waves that a test has laid into the save area of queue 0."""
import json

from scenario import *

BASE, CODE = MEMORY + 32768, MEMORY + 16384
STACK = 256  # bytes of header and control stack
RECORD = 8 * 64 * 4 + 16 * 4 + 128 + 64  # gfx90a: 8 vector registers of 64 lanes, 16 scalar ones, 16 of the hardware, 16 ttmps, 64 unused
STATE = 1 << 31 | 1 << 24 | 1 << 6
TABLE = "PID COMMAND QID WAVES GROUPS PROGRESS STATE PLACE SOURCE"
COLUMNS = "QID,WAVES,GROUPS,PROGRESS,STATE,FUNCTION_OFFSET,PC"
# SOPP instructions of gfx9.
NOP, END, BARRIER, WAITCNT, HALT, SLEEP, TRAP = (0xbf800000 | n << 16 for n in (0, 1, 10, 12, 13, 14, 18))


def wave(pc, group=0, number=0, packet=0, status=0, trapsts=0, ttmp6=0, mode=0, marked=0, lanes=2 ** 64 - 1, engine=0):
    return {"engine": engine, "mode": mode, "marked": marked, "pc": pc, "group": group, "number": number, "packet": packet, "status": status, "trapsts": trapsts, "ttmp6": ttmp6, "exec": lanes}


def lay(t, laid, xcc=0, **header):
    """Writes a save area: the first wave of the list is the first of the control stack, and the last of the area."""
    at, words = 32768 + t.kfd.area * xcc, [0, 0] + ([STATE] if laid else []) + [w["engine"] << 9 | (1 << 17 if not w["number"] else 0) for w in laid]
    t.memory[at:at + t.kfd.area] = bytes(t.kfd.area)
    fields = {"stack_at": STACK - 4 * len(words), "stack": 4 * len(words), "end": STACK + RECORD * len(laid), "waves": RECORD * len(laid)} | header
    struct.pack_into("IIII", t.memory, at, *(fields[k] for k in ("stack_at", "stack", "end", "waves")))
    struct.pack_into(f"{len(words)}I", t.memory, at + STACK - 4 * len(words), *words)
    for i, w in enumerate(laid):
        registers = at + STACK + RECORD * (len(laid) - i) - 64 - 128
        struct.pack_into("16I", t.memory, registers, 0, w["pc"] & 0xffffffff, w["pc"] >> 32, w["exec"] & 0xffffffff, w["exec"] >> 32, w["status"],
                         w["trapsts"], 0, 0, w["mode"], *[0] * 6)
        struct.pack_into("16I", t.memory, registers + 64, *[0] * 6, w["packet"] | w["ttmp6"], 0, w["group"], 0, 0, w["number"] | w["marked"], *[0] * 4)


def code(t, at, *instructions):
    struct.pack_into(f"{len(instructions)}I", t.memory, 16384 + at, *instructions)


def gfx(r, version):
    path = r.root + "/sys/class/kfd/kfd/topology/nodes/1/properties"
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(re.sub("gfx_target_version .*", f"gfx_target_version {version}", text))


def target(r, *queues, ttmps=1, area=16384, **how):
    """A process whose queue 0 has room for six waves. Its GPU does not promise ttmps: MI200."""
    path = r.root + "/sys/class/kfd/kfd/topology/nodes/1/properties"
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(re.sub("debug_prop .*", "debug_prop 470", text))
    return r.target(*queues or (0,), ttmps=ttmps, area=area, **how)


def looks(r, t, *steps, columns=COLUMNS, args=()):
    """`gpq why --waves`, and a step between two looks, when nothing is held."""
    r.move(0)  # forgets the timers of processes that have ended
    p = r.start("why", "--waves", "-p", t.pid, "--sample", len(steps) + 1, "-rno", columns, *args)
    for step in steps:
        r.until(lambda: r.waits(p) == 0.1)
        assert t.off == ""
        step()
        r.move(100 * MS)
    return r.finish(p)


def at(offset):
    return f"{CODE + offset:#x}"


@scenario("the same waves at the same instructions stand: most first; for each look the queue is off, and only then")
def _(r):
    t = target(r)
    code(t, 0, NOP, WAITCNT)
    lay(t, [wave(CODE + 4, 0, 0), wave(CODE + 4, 0, 1), wave(CODE + 4, 1, 0), wave(CODE, 1, 1, lanes=15)])
    yield looks(r, t, lambda: None, lambda: None), f"7 / 0 3 2 stands waits - {at(4)} / 0 1 1 stands runs - {at(0)}"
    yield r.changes(), ["enable", "send", "send", *["suspend 0 grace=0", "resume 0"] * 3, "disable"]
    yield (t.off, t.tracer), ("", 0)
    yield looks(r, t), f"0 / 0 3 2 - waits - {at(4)} / 0 1 1 - runs - {at(0)}"
    yield looks(r, t, columns="WAVES,EXEC"), f"0 / 3 0x{'f' * 16} / 1 0xf"
    yield looks(r, t, args=("-v",)).split(" / ")[-1], "gpq: why: queues were off for 0ns at most, at each of 1 samples"


@scenario("the same waves at other instructions loop, other waves move; without ttmps nobody knows which waves these are")
def _(r):
    first = [wave(CODE, 0, 0), wave(CODE, 0, 1)]
    other = [wave(CODE + 8, 0, 0), wave(CODE + 4, 0, 1)]
    for what, then, ttmps, wanted in (
            ("loops", other, 1, "0 / loops 1 {4} {0} {8} / loops 1 {8} {0} {8}"), ("goes-on", other, 0, "0 / goes-on 1 {4} {0} {8} / goes-on 1 {8} {0} {8}"),
            ("another workgroup", [wave(CODE, 0, 0), wave(CODE, 1, 1)], 1, "0 / moves 2 {0} {0} {0}"),
            ("another wave", [wave(CODE, 0, 0), wave(CODE, 0, 2)], 1, "0 / moves 2 {0} {0} {0}"),
            ("another dispatch", [wave(CODE, 0, 0, 1), wave(CODE, 0, 1, 1)], 1, "0 / moves 2 {0} {0} {0}"),
            ("one ended", [wave(CODE, 0, 1)], 0, "0 / moves 1 {0} {0} {0}"),
            ("exchanged", [wave(CODE, 0, 1), wave(CODE, 0, 0)], 1, "7 / stands 2 {0} {0} {0}"),
            ("the same, perhaps", first, 0, "7 / stands 2 {0} {0} {0}")):
        t = target(r, ttmps=ttmps)
        lay(t, first)
        shown = " / ".join(" ".join(at(int(w[1:-1])) if w[0] == "{" else w for w in row.split()) for row in wanted.split(" / "))
        got = looks(r, t, lambda: lay(t, then), columns="PROGRESS,WAVES,PC,LOW,HIGH")
        yield what, got and what if got == shown else got
        r.reset()
    t = target(r, ttmps=0)
    lay(t, first)
    yield looks(r, t, lambda: t.set_index(0, 1, 1), columns="PROGRESS,WAVES"), "0 / goes-on 2"  # the queue has taken a packet
    r.reset()
    t = target(r)
    lay(t, first)
    yield looks(r, t, lambda: t.set_index(0, 1, 1), columns="PROGRESS,WAVES"), "7 / stands 2"  # and these are still the same


@scenario("what stands at an instruction, halts, or was stopped")
def _(r):
    t = target(r)
    code(t, 0, NOP, BARRIER, WAITCNT, SLEEP, HALT, TRAP, END)
    stopped, held = 1 << 30, 1 << 29
    for n, (given, wanted) in enumerate((
            ((), "runs"), ((), "at-barrier"), ((), "waits"), ((), "sleeps"), ((), "halted"), ((), "traps"), ((), "ends"),
            ((1 << 12,), "at-barrier"), ((1 << 13,), "halted"), ((1 << 13 | 1 << 12,), "halted"),
            ((0, 1 << 28, stopped), "memory-violation"), ((0, 1 << 8, stopped), "address-error"), ((0, 1 << 28 | 1 << 8 | 1 << 11, stopped),
             "memory-violation,illegal-instruction"), ((0, 1 << 28, 0), "runs"), ((0, 0, stopped), "stopped"), ((0, 0, stopped | held), "stopped"),
            ((0, 0, stopped | 2 << 25), "assert"), ((0, 0, stopped | 1 << 25), "breakpoint"), ((0, 0, stopped | 3 << 25), "debug-trap"),
            ((0, 0, stopped | 4 << 25), "trap"), ((0, 1, stopped, 1 << 12), "math-error"), ((0, 1 << 7, stopped, 1 << 19), "watchpoint"))):
        # The PC of what a trap handler of ROCr stopped is in ttmp7 and ttmp11, here 0.
        lay(t, [wave(CODE + 4 * (n if not given else 0), 0, 0, 0, *given)])
        end = "7" if wanted == "stopped" or given[2:] and given[2] & stopped or wanted == "halted" and given else "0"
        yield looks(r, t, columns="STATE"), f"{end} / {wanted}"


@scenario("whose workgroups are known: those of GPUs that always say so, else of processes that asked for it")
def _(r):
    path = r.root + "/sys/class/kfd/kfd/topology/nodes/1/properties"
    for ttmps, line, wanted in ((0, "debug_prop 470", "-"), (1, "debug_prop 470", "7,0,0"), (0, "debug_prop 1494", "7,0,0"), (1, "debug_prop 1494", "7,0,0"),
                                (0, "debug_nothing 1", "-"), (1, "debug_nothing 1", "7,0,0")):
        t = target(r, ttmps=ttmps)
        lay(t, [wave(CODE, 7)])
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(re.sub("debug_prop .*", line, text))
        yield (ttmps, line, looks(r, t, columns="WORKGROUP")), (ttmps, line, f"0 / {wanted}")
        with open(path, "w") as f:
            f.write(text)
        r.reset()


@scenario("a wave in single steps (MI300: the trap handler marks what it wrote)")
def _(r):
    t = target(r)
    gfx(r, 90402)
    lay(t, [wave(CODE, trapsts=1 << 25, ttmp6=1 << 30, marked=1 << 31)])
    yield looks(r, t, columns="STATE"), "7 / single-step"
    gfx(r, 90010)


@scenario("without ttmps a trap handler's mark counts from version 10 of the runtime's list on, and where that is not known")
def _(r):
    t = target(r, ttmps=0)
    lay(t, [wave(CODE, status=1 << 18, ttmp6=1 << 30)])
    known = int(t.say(f"load {r.build}/unit/fake/libhsa-runtime64.so.1 /nowhere 0"), 16)
    for r_debug, version, wanted in ((known, 9, "0 / runs"), (known, 10, "7 / stopped"), (0, 9, "7 / stopped"), (0x1000, 9, "7 / stopped")):
        t.kfd.r_debug = r_debug
        with open(f"/proc/{t.pid}/mem", "r+b", 0) as f:
            f.seek(known)
            f.write(struct.pack("i", version))
        yield (hex(r_debug), looks(r, t, columns="STATE")), (hex(r_debug), wanted)


@scenario("the sentence about each, and what to do")
def _(r):
    first, stopped = [wave(CODE), wave(CODE, 0, 1)], 1 << 30
    stands = ("stand still at {0}: runs", "do: gpq why -p t1 --waves --every 2s: if they still stand, the kernel hangs at", "this place")
    for ttmps, before, after, wanted in (
            (1, first, first, stands),
            (1, first, [wave(CODE + 8), wave(CODE + 8, 0, 1)], ("loop between {0} and {8}: runs",
             "do: gpq why -p t1 --waves --every 2s: if they stay there, the kernel waits for", "what does not come, or computes for long")),
            (0, first, [wave(CODE + 8), wave(CODE + 8)], ("go on at {8}: runs",
             "do: start the program with HSA_ENABLE_DEBUG=1 to tell a loop from progress")),
            (1, first, [wave(CODE, 1), wave(CODE, 1, 1)], ("move on at {0}: runs",)),
            (1, *[[wave(CODE, status=1 << 13), wave(CODE, 0, 1, status=1 << 13)]] * 2, ("are halted at {0}: halted",
             "do: end the debugger that halted them, if there is one")),
            (1, *[[wave(CODE, ttmp6=stopped | 2 << 25), wave(CODE, 0, 1, ttmp6=stopped | 2 << 25)]] * 2, ("were stopped at 0x0: assert",
             "do: it failed at this place; rocgdb -p t1 shows the variables there"))):
        t = target(r, ttmps=ttmps)
        lay(t, before)
        p = r.start("why", "--waves", "-p", t.pid, "--sample", 2)
        r.until(lambda: r.waits(p) == 0.1)
        lay(t, after)
        r.move(100 * MS)
        said = [re.sub(r"{(\d)}", lambda m: at(int(m[1])), line) for line in wanted]
        got = r.finish(p).split(" / ")[1:]
        # Where lines break depends on the digits of the PID.
        yield " ".join(got[:got.index(TABLE)]), " ".join([f"pid t1 target: queue 0: 2 of 2 waves {said[0]}", *said[1:]])
        r.reset()


@scenario("a barrier that not all waves of a workgroup reach: how many are missing, and where one is")
def _(r):
    t = target(r)
    code(t, 0, NOP, BARRIER)
    lay(t, [wave(CODE + 4, 0, 0), wave(CODE + 4, 0, 1), wave(CODE, 0, 2), wave(CODE + 4, 1, 0), wave(CODE, 2, 0)])
    place = f"0 3 2 stands at-barrier 1 {at(0)} / 0 2 2 stands runs 0 -"
    yield looks(r, t, lambda: None, columns="QID,WAVES,GROUPS,PROGRESS,STATE,MISSING,MISSING_PLACE"), "7 / " + place
    yield r.gpq("why", "--waves", "-p", t.pid, "--sample", 1).split(" / ")[1:], [
        f"pid t1 target: queue 0: 3 of 5 waves are at {at(4)}: at-barrier", "do: take more samples: --sample 3", TABLE,
        f"t1 target 0 3 2 - at-barrier {at(4)} -", f"t1 target 0 2 2 - runs {at(0)} -"]
    p = r.start("why", "--waves", "-p", t.pid, "--sample", 2)
    r.until(lambda: r.waits(p) == 0.1)
    r.move(100 * MS)
    yield " ".join(r.finish(p).split(" / ")[1:]), (
        f"pid t1 target: queue 0: 3 of 5 waves wait at a barrier that others of their workgroup do not reach, at {at(4)}; 1 missing, at {at(0)}: at-barrier "
        f"do: look at the branches before this barrier: waves of one workgroup took different ones {TABLE} "
        f"t1 target 0 3 2 stands at-barrier {at(4)} - t1 target 0 2 2 stands runs {at(0)} -")
    lay(t, [wave(CODE + 4, 0, 0), wave(CODE + 4, 0, 1), wave(CODE + 4, 1, 0)])
    yield looks(r, t, lambda: None, columns="WAVES,MISSING"), "7 / 3 0"
    t.kfd.ttmps = 0  # whose workgroup is whose is not known
    lay(t, [wave(CODE + 4, 0, 0), wave(CODE + 4, 0, 1), wave(CODE, 0, 2)])
    yield looks(r, t, lambda: None, columns="WAVES,GROUPS,MISSING"), "7 / 2 - 0 / 1 - 0"


@scenario("one wave with all that is known of it; ids of dispatches when the ring has wrapped")
def _(r):
    t = target(r)
    lay(t, [wave(CODE, 7, 3, packet=5, lanes=0xf0, engine=5)])
    t.set_index(0, 6, 9)
    ring = 4096 // 64
    got = json.loads(r.gpq("why", "--waves", "-p", t.pid, "--sample", 1, "--ndjson").split(" / ")[1].replace(":t1", ":1"))
    yield {k: got[k] for k in ("qid", "waves", "workgroups", "progress", "state", "dispatch", "workgroup", "wave_in_group", "xcc", "shader_engine", "lanes", "exec", "seen",
                               "samples", "off_ns", "gpu_id", "command", "function", "source", "object", "elf_address", "missing_place")}, {
        "qid": 0, "waves": 1, "workgroups": 1, "progress": None, "state": "runs", "dispatch": 5, "workgroup": "7,0,0",
        "wave_in_group": 3, "xcc": 0, "shader_engine": 5, "lanes": 64, "exec": "0xf0", "seen": 1, "samples": 1, "off_ns": 0, "gpu_id": GPU, "command": "target",
        "function": None, "source": None, "object": None, "elf_address": None, "missing_place": None}
    for write, packet, wanted in ((6, 5, "5"), (5, 5, "-"), (ring + 5, 5, "5"), (ring + 6, 5, "69"), (2 * ring, 63, "127"), (2 * ring, 0, "64"), (9, 64, "-")):
        t.set_index(0, 0, write)
        lay(t, [wave(CODE, packet=packet)])
        yield looks(r, t, columns="DISPATCH"), f"0 / {wanted}"


@scenario("two XCCs, each with its area; a queue without waves is idle; SDMA queues stay where they are")
def _(r):
    t = target(r, 0, (1, 1), area=8192, gpus=[(GPU, 2)])
    lay(t, [wave(CODE), wave(CODE, 0, 1)])
    lay(t, [wave(CODE + 4, 1)], xcc=1)
    yield looks(r, t, columns="QID,WAVES,XCC"), "0 / 0 2 0 / 0 1 1"
    yield [c for c in r.changes() if "suspend" in c or "resume" in c], ["suspend 0 grace=0", "resume 0"]
    lay(t, [])
    lay(t, [], xcc=1)
    yield looks(r, t), "0 / 0 0 0 - no-waves - -"
    yield r.gpq("why", "--waves", "-p", t.pid, "--sample", 1), " / ".join([
        "0", "pid t1 target: no waves: nothing of it runs on a GPU", TABLE, "t1 target 0 0 0 - no-waves - -"])
    yield looks(r, t, args=("-Q", "1")), "5 / gpq: why: none of the chosen processes has a compute queue; gpq queues lists those that have"


@scenario("an area that makes no sense, one that cannot be read, a GPU whose areas nobody knows: named, and the others are shown")
def _(r):
    t = target(r)
    said = "3 / gpq: why: pid t1: queue 0: no waves, as its {}"
    for wrong, header in (("header makes no sense", {"stack_at": 8}), ("header makes no sense", {"end": 16385}), ("header makes no sense", {"stack": 20}),
                          ("wave area has more than its control stack tells of", {"end": STACK + RECORD + 4, "waves": RECORD + 4}),
                          ("control stack has more waves than its wave area", {"end": STACK + RECORD - 4, "waves": RECORD - 4})):
        lay(t, [wave(CODE)], **header)
        yield looks(r, t), said.format(wrong)
    r.reset()
    t = target(r)
    gfx(r, 90500)
    many = target(r, 0, 1)
    yield looks(r, many, columns="WAVES"), ("0 / 0 / 0 / gpq: why: how gfx_target_version 90500 saves waves is read by the driver's sources alone: no other reader has "
                                         "confirmed it")
    gfx(r, 90011)
    yield looks(r, t), "3 / gpq: why: pid t1: queue 0: no waves, as how its GPU saves waves is not known"
    gfx(r, 90010)
    r.reset()
    t = target(r, (0, 2, 7), gpus=[(7, 1)], ttmps=0)  # of a GPU that sysfs does not have
    yield looks(r, t), "3 / gpq: why: pid t1: queue 0: no waves, as how its GPU saves waves is not known"


def off_for(r, ns):
    """The next look keeps queues off for so long."""
    r.once("resume", lambda call: (r.move(ns), call())[1])


@scenario("without a process to look at nothing is waited for; one that ends is looked at no more, and another one is")
def _(r):
    yield r.gpq("why", "--waves", "-p", 999999999, "-rno", "WAVES"), "5 / gpq: why: pid 999999999: no such process; gpq queues lists those that own queues"
    sdma = target(r, (0, 1))
    yield r.gpq("why", "--waves", "-p", sdma.pid), "5 / gpq: why: none of the chosen processes has a compute queue; gpq queues lists those that have"
    a, b = target(r), target(r)
    lay(a, [wave(CODE)])
    lay(b, [wave(CODE)])
    r.move(0)
    p = r.start("why", "--waves", "-p", f"{a.pid},{b.pid}", "-rno", "PID,PROGRESS")
    r.until(lambda: r.waits(p) == 0.1)
    pid = a.pid
    a.end()
    r.move(100 * MS)
    r.until(lambda: r.waits(p) == 0.1)
    r.move(100 * MS)
    yield r.finish(p).replace(str(pid), "t2").split(" / "), ["7", "t3 stands", "gpq: why: pid t2: the process ended or replaced itself meanwhile"]
    yield (b.off, b.tracer), ("", 0)


@scenario("memory that cannot be opened: queues are never held")
def _(r):
    t = target(r)
    r.page.mem_error = EACCES
    yield looks(r, t), "1 / gpq: why: pid t1: read its memory: Permission denied"
    yield [c for c in r.changes() if "suspend" in c], []


@scenario("looks are so far apart that queues are off for a fiftieth of the time; what is not read within --max-hold is not shown")
def _(r):
    t = target(r)
    lay(t, [wave(CODE)])
    off_for(r, 10 * MS)
    p = r.start("why", "--waves", "-p", t.pid, "--sample", 3, "-rno", "WAVES,OFF_FOR,SEEN,SAMPLES")
    r.until(lambda: r.waits(p) == 0.5)
    off_for(r, MS)
    r.move(500 * MS)
    r.until(lambda: r.waits(p) == 0.1)
    r.move(100 * MS)
    yield r.finish(p), "7 / 1 10000000 3 3"
    # The time that the GPU takes to let go of queues is a part of it, too.
    r.once("suspend", lambda call: (r.move(10 * MS), call())[1])
    p = r.start("why", "--waves", "-p", t.pid, "--sample", 2, "-rno", "WAVES,OFF_FOR")
    r.until(lambda: r.waits(p) == 0.5)
    r.move(500 * MS)
    yield r.finish(p), "7 / 1 0"
    for after, args, wanted in ((200 * MS - 1, (), "0 / 1"), (200 * MS, (), "3 / gpq: why: pid t1: queue 0: no waves, as it could not be read within --max-hold"),
                                (200 * MS, ("--max-hold", "201ms"), "0 / 1")):
        r.page.area_ns = after
        yield looks(r, t, columns="WAVES", args=args), wanted
        r.until(lambda: (t.off, t.tracer) == ("", 0))


@scenario("a look that could not read the queue is no look at it")
def _(r):
    t = target(r)
    lay(t, [wave(CODE)])
    yield looks(r, t, lambda: lay(t, [wave(CODE)], end=9), lambda: lay(t, [wave(CODE)]), columns="PROGRESS"), "7 / stands"
    yield looks(r, t, lambda: lay(t, []), lambda: lay(t, [wave(CODE)]), columns="PROGRESS"), "0 / moves"


@scenario("ended in the middle of a look: the queue comes back")
def _(r):
    for sig in signal.SIGKILL, signal.SIGTERM:
        t = target(r)
        lay(t, [wave(CODE)])
        r.move(0)
        p = r.start("why", "--waves", "-p", t.pid, "--sample", 9, "-rno", "WAVES")
        r.until(lambda: r.waits(p) == 0.1)
        r.once("suspend", lambda call: (call(), os.kill(p.pid, sig))[0])
        r.move(100 * MS)
        yield r.finish(p), "-9" if sig == signal.SIGKILL else "143 / 1"
        r.until(lambda: (t.off, t.tracer) == ("", 0))
        r.reset()


@scenario("a process that is held already: its waves are shown, and it stays held")
def _(r):
    t = target(r)
    lay(t, [wave(CODE)])
    suspend(r, t)
    yield looks(r, t, columns="WAVES"), "0 / 1"
    yield t.off, "0"
    resume(r, t)


@scenario("a GPU that gave up queues is left alone without --force")
def _(r):
    t = target(r)
    lay(t, [wave(CODE)])
    lost = "3,100,5000000,-;amdgpu 0000:43:00.0: amdgpu: qcm fence wait loop timeout expired\n"
    reset = "6,101,6000000,-;amdgpu 0000:43:00.0: amdgpu: GPU reset(1) succeeded!\n"
    late, again = (lost.replace("3,100,5000000", f"3,102,{us}") for us in (10999999, 11000000))  # less than 5 s behind the reset
    refused = ("1 / gpq: why: pid t1: its GPU does not take queues off: qcm fence wait loop timeout expired; --force tries it; if the "
               "GPU does not answer, the driver resets it, and every job on it is lost")
    for log, args, wanted in ((lost, (), refused), (lost, ("--force",), "0 / 1"), (lost + reset, (), "0 / 1"), ("", (), "0 / 1"),
                              (reset + late, (), "0 / 1"), (reset + again, (), refused)):
        r.write("/dev/kmsg", log)
        r.changes()
        yield looks(r, t, columns="WAVES", args=args), wanted
        yield bool(r.changes()), wanted[0] == "0"  # to attach takes queues off, too
    r.write("/dev/kmsg", lost.replace("43:00.0", "44:00.0"))
    yield looks(r, t, columns="WAVES"), "0 / 1"  # another GPU


@scenario("functions and source lines of the code object that the program has loaded")
def _(r):
    t = target(r)
    base, object = 0x7000000000, f"{r.top}/tests/data/aql/code/place.co"
    t.kfd.r_debug = int(t.say(f"load {r.build}/unit/fake/libhsa-runtime64.so.1 {object} {base:x}"), 16)
    lay(t, [wave(base + at) for at in (0x2034, 0x2174, 0x2174, 0x2174, 0x21b0, 0x1fff)])
    # What stands where in place.co was told by LLVM's own tools (tests/unit/test_code_place.c).
    yield looks(r, t, columns="WAVES,FUNCTION,FUNCTION_OFFSET,OBJECT,ELF_ADDRESS,SOURCE").split(" / "), [
        "0", "3 _Z5placePVii 0x74 place.co 0x2174 twice.h:7\\x20<\\x20place.hip:6\\x20<\\x20place.hip:19", "1 - 0x1fff place.co 0x1fff -",
        "1 _ZL5apartPVii 0x34 place.co 0x2034 place.hip:12", "1 _Z5placePVii 0xb0 place.co 0x21b0 -"]
    yield looks(r, t, columns="PLACE,FILE,LINE,DEMANGLED").split(" / ")[1:3], [
        "_Z5placePVii+0x74 /src/twice.h 7 place(int\\x20volatile*,\\x20int)", "place.co+0x1fff - - -"]
    said = r.gpq("why", "--waves", "-p", t.pid, "--sample", 1, "--demangle", "-v").split(" / ")
    yield said[-1], f"gpq: why: the code there: llvm-objdump -d --start-address=0x2134 --stop-address=0x21b4 {object}"
    yield " ".join(said[1:4]), ("pid t1 target: queue 0: 3 of 6 waves are at place(int volatile*, int)+0x74 (twice.h:7 < place.hip:6 < place.hip:19): runs "
                                "do: take more samples: --sample 3")
    for low, high, lines in (0x2000, 0x2034, "place.hip:11 to place.hip:12"), (0x2174, 0x217c, "twice.h:7 < place.hip:6 < place.hip:19 to "
                             "twice.h:7 < place.hip:7 < place.hip:19"), (0x2008, 0x2034, ""), (0x2034, 0x206f, "place.hip:12 to place.hip:14"):
        lay(t, [wave(base + low)])
        p = r.start("why", "--waves", "-p", t.pid, "--sample", 2)
        r.until(lambda: r.waits(p) == 0.1)
        lay(t, [wave(base + high)])
        r.move(100 * MS)
        said = " ".join(r.finish(p).split(" / ")[1:])
        yield re.findall(r"loop between \S+ and \S+ ?(?:\((.*?)\))?: runs", said), [lines]
    lay(t, [wave(base + at) for at in (0x2034, 0x2174, 0x2174, 0x2174, 0x21b0, 0x1fff)])
    size = os.path.getsize(object)  # a part of a file, of which this one is all
    t.kfd.r_debug = int(t.say(f"load {r.build}/unit/fake/libhsa-runtime64.so.1 {object}#offset=0&size={size} {base:x}"), 16)
    yield r.gpq("why", "--waves", "-p", t.pid, "--sample", 1, "-v").split(" / ")[-1], (
        f"gpq: why: the code there: tail -c +1 {object} | head -c {size} >code.o; llvm-objdump -d --start-address=0x2134 --stop-address=0x21b4 code.o")
    yield r.gpq("why", "--waves", "-p", t.pid, "--sample", 1, "--folded").split(" / ")[1:], [
        "target t1;compute 0;_Z5placePVii;_Z5placePVii+0xb0 1", "target t1;compute 0;_Z5placePVii;twice.h:7 < place.hip:6 < place.hip:19 3",
        "target t1;compute 0;_ZL5apartPVii;place.hip:12 1", "target t1;compute 0;place.co+0x1fff 1"]
    yield r.gpq("why", "--waves", "-p", t.pid, "--sample", 1, "--folded", "--demangle").split(" / ")[1], "target t1;compute 0;apart(int volatile*, int);place.hip:12 1"


@scenario("stacks for flame graphs; two processes, of one the queue is chosen")
def _(r):
    a, b = target(r), target(r)
    code(a, 0, NOP, WAITCNT)
    lay(a, [wave(CODE), wave(CODE + 4, 0, 1), wave(CODE + 4, 0, 2)])
    lay(b, [wave(CODE)])
    yield r.gpq("why", "--waves", "-p", f"{a.pid},{b.pid}", "--sample", 1, "--folded").split(" / "), [
        "0", f"target t1;compute 0;{at(0)} 1", f"target t1;compute 0;{at(4)} 2", f"target t2;compute 0;{at(0)} 1"]
    lay(a, [wave(CODE, packet=1), wave(CODE, 0, 1, packet=2)])
    yield r.gpq("why", "--waves", "-p", a.pid, "--sample", 1, "--folded").split(" / "), ["0", f"target t1;compute 0;{at(0)} 2"]
    p = r.start("why", "--waves", "-p", a.pid, "--sample", 4, "--folded")
    for places in (0, 4), (4,), (0,):
        r.until(lambda: r.waits(p) == 0.1)
        lay(a, [wave(CODE + o, n) for n, o in enumerate(places)])
        r.move(100 * MS)
    yield r.finish(p).split(" / "), ["0", f"target t1;compute 0;{at(0)} 4", f"target t1;compute 0;{at(4)} 2"]
    lay(a, [wave(CODE), wave(CODE + 4, 0, 1), wave(CODE + 4, 0, 2)])
    yield r.gpq("why", "--waves", "-p", f"{a.pid},{b.pid}", "--sample", 1, "-rno", "PID,WAVES").split(" / "), ["0", "t1 2", "t1 1", "t2 1"]
    yield r.gpq("why", "--waves", "-p", f"{a.pid},1", "--sample", 1, "-rno", "PID,WAVES").split(" / ")[:3], ["3", "t1 2", "t1 1"]


@scenario("registers of a wave of the first row: those of the look, though the queue has run on")
def _(r):
    t = target(r, 0, 1)
    laid = [wave(CODE, 3, 1), wave(CODE + 4, 0, 0), wave(CODE + 4, 0, 1)]

    def mark(number):
        for i in range(len(laid)):
            struct.pack_into("II", t.memory, 32768 + STACK + RECORD * (len(laid) - 1 - i), 0xa0 + i + number, 0xb0 + i + number)

    def show(*args, columns="QID,WORKGROUP,WAVE,REGISTER,WORDS"):
        r.move(0)
        mark(0)
        r.once("resume", lambda call: (mark(0x100), call())[1])
        got = r.gpq("why", "--waves", "-p", t.pid, "--sample", 1, "--registers", "--table", "registers", "-rno", columns, *args).split(" / ")
        return got[0], [line.split("\\x20")[0:2] for line in got[1:]]
    lay(t, laid)
    status, rows = show()
    yield status, "0"
    yield [row[0].split()[3] for row in rows], ["pc", "exec", "status", "mode", "exceptions", "m0", *(f"s{n}" for n in range(16)), *(f"v{n}" for n in range(8))]
    yield [row for row in rows if " v0 " in row[0] or " pc " in row[0]], [[f"0 0,0,0 0 pc {CODE + 4:08x}"], ["0 0,0,0 0 v0 000000a1", "000000b1"]]
    lay(t, laid[:1])
    yield [row for row in show()[1] if " v0 " in row[0]], [["0 3,0,0 1 v0 000000a2", "000000b2"]]
    lay(t, [])
    yield show(), ("0", [])
    t.kfd.ttmps = 0
    lay(t, laid[:1])
    yield [row for row in show()[1] if " v0 " in row[0]], [["0 - - v0 000000a2", "000000b2"]]
    yield (t.off, t.tracer), ("", 0)


@scenario("waves as a flame graph")
def _(r):
    a, b = target(r), target(r)
    lay(a, [wave(CODE), wave(CODE + 4, 0, 1), wave(CODE + 4, 0, 2)])
    lay(b, [wave(CODE)])
    path = r.dir + "/flame.svg"
    yield r.gpq("why", "--waves", "-p", f"{a.pid},{b.pid}", "--sample", 1, "--flame", path, "-rno", "WAVES"), "0 / 2 / 1 / 1"
    with open(path) as f:
        text = f.read()
    yield sorted(re.findall("<title>([^<]*) of 4 waves, ([^<]*)</title>", text)), sorted([
        (f"target {a.pid}: 3", "75.0%"), (f"target {b.pid}: 1", "25.0%"), ("compute 0: 3", "75.0%"), ("compute 0: 1", "25.0%"), (f"{at(0)}: 1", "25.0%"),
        (f"{at(0)}: 1", "25.0%"), (f"{at(4)}: 2", "50.0%")])
    yield re.findall(">(samples[^<]*)<", text)[-1], "samples: 1, queues off for 0ns at most"
    yield r.gpq("why", "--waves", "-p", a.pid, "--sample", 1, "--flame", "/dev/full", "-rno", "WAVES"), "1 / 2 / 1 / gpq: why: --flame /dev/full: No space left on device"


@scenario("gpq why --attach asks the debug interface where rings are; --demangle also shows in the sentence")
def _(r):
    t = target(r)
    base = 0x7000000000
    t.kfd.queue(0).ring = (MEMORY + 0x1000, 4096)
    t.kfd.r_debug = int(t.say(f"load {r.build}/unit/fake/libhsa-runtime64.so.1 {r.top}/tests/data/aql/code/place.co {base:x}"), 16)
    for i in range(2):
        struct.pack_into("HHHHHHIIIIIQQQQ", t.memory, 0x1000 + 64 * i, 2, 1, 64, 1, 1, 0, 64, 1, 1, 0, 0, base + 0xdc0, 0, 0, 0)
    t.set_index(0, 0, 2)

    def why(*args):
        r.move(0)
        p = r.start("why", "-p", t.pid, "--attach", *args)
        r.until(lambda: r.waits(p) == 0.1)
        r.move(100 * MS)
        return r.finish(p)
    r.changes()
    yield why("-qrno", "QID,STATE,BACKLOG,KERNEL"), "0 / 0 hung-or-long 2 _Z5placePVii"
    yield [c for c in r.changes() if "suspend" in c], []
    for form, name in (("--demangle",), "place(int volatile*, int)"), ((), "_Z5placePVii"):
        said = why("-q", "--table", "processes", "-rno", "VERDICT", *form).replace("\\x20", " ")
        yield said, f"0 / hung-or-long: queue 0: kernel {name} (packet 0) waits for nothing, and has not ended in 100ms"
    yield (t.off, t.tracer), ("", 0)


main()
