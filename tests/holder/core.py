"""gpq core: what is in the file, what is off and for how long, who is left. core.py TOP BUILD [WORD]. TAP.

The cores are read by core_of() here, which knows the format from common/waves/facts.md and nothing of gpq.
"""
import resource
import threading

from scenario import *  # noqa: F403

RING, DEBUG, KERNEL, ARGS, AREA, PAGE = MEMORY + 0x1000, MEMORY + 0x2000, MEMORY + 0x3000, MEMORY + 0x4000, MEMORY + 0x8000, 4096
GFX90A = 90010


def device(gpu=GPU, version=GFX90A, xccs=1):
    """A struct kfd_dbg_device_info_entry, each member another number."""
    return struct.pack("Q6Q7I2I4I3I", 0x11, *range(0x100, 0x106), gpu, *range(0x201, 0x207), 77, version, *range(0x301, 0x305), xccs, 0x401, 0x101)


def poke(t, at, data):
    t.memory[at - MEMORY:at - MEMORY + len(data)] = data


def area(t, at, packet=0, used=True):
    """The save area of an XCC, on gfx90a: one wave of 8 vector registers, which belongs to a packet."""
    stack = struct.pack("4I", 0, 0, 0x80000000, 1 << 17 | 1 << 16)
    registers = struct.pack("16I", *range(0x700, 0x710))
    ttmps = struct.pack("16I", 0, 0, 0, 0, 0, 0, packet, 0, 5, 6, 7, 0, 0, 0, 0, 0)
    record = bytes(range(256)) * 8 + registers + ttmps + bytes(64)
    size = len(record) if used else 0
    poke(t, at, struct.pack("4I", 0x800, len(stack) if used else 0, 0x800 + (len(stack) if used else 0) + size, size))
    poke(t, at + 0x800, stack + record)


def prepare(t, qid=0, read=3, write=6, packet=4):
    """A queue with a ring of 64 packets, a dispatch in [read, write), its kernel, arguments, a list of code objects, a wave."""
    q = t.kfd.queue(qid)
    q.ring, q.save = (RING, PAGE), (AREA, 0x2000)
    t.kfd.r_debug, t.kfd.ttmps, t.kfd.devices = DEBUG, 1, {GPU: device()}
    t.set_index(qid, read, write)
    for i in range(64):
        poke(t, RING + 64 * i, struct.pack("HHHHHHIIIIIQQQQ", 2, 1, 64, 1, 1, 0, 64, 1, 1, 0, 0, KERNEL, ARGS, 0, 0))
    poke(t, KERNEL, struct.pack("III", 0, 0, 5000) + bytes(range(52)))
    poke(t, ARGS, b"arguments" * 500)
    poke(t, DEBUG, struct.pack("iiQQiiQ", 9, 0, DEBUG + 64, 0, 0, 0, 0))
    poke(t, DEBUG + 64, struct.pack("QQQQQ", MEMORY + 0x5000, DEBUG + 256, 0, DEBUG + 128, 0))
    poke(t, DEBUG + 128, struct.pack("QQQQQ", 0, DEBUG + 320, 0, 0, DEBUG + 64))
    poke(t, DEBUG + 256, b"file:///nowhere\0")
    poke(t, DEBUG + 320, f"memory://1#offset={MEMORY + 0x6000}&size=4097\0".encode())
    area(t, AREA, packet)
    return q


class Core:
    """A core: its note and memory. Any departure from the format is an exception."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.file = f.read()
        ident, kind, machine, version, entry, phoff, shoff, flags, ehsize, phentsize, phnum, _, shnum, _ = struct.unpack_from("16sHHIQQQIHHHHHH", self.file)
        assert (ident, kind, machine, version) == (b"\x7fELF\2\1\1\x40" + bytes(8), 4, 224, 1), ident
        assert (entry, shoff, flags, ehsize, phentsize, shnum) == (0, 0, 0, 64, 56, 0)
        heads = [struct.unpack_from("IIQQQQQQ", self.file, phoff + 56 * i) for i in range(phnum)]
        assert [h[0] for h in heads] == [4] + [1] * (phnum - 1)
        at, size = heads[0][2], heads[0][5]
        assert heads[0][6] == size and struct.unpack_from("III8s", self.file, at) == (7, size - 20, 33, b"AMDGPU\0\0")
        self.note = self.file[at + 20:at + size]
        self.loads = []
        for _, flags, offset, vaddr, _, filesz, memsz, align in heads[1:]:
            assert flags == 6 and filesz == memsz and filesz and align == PAGE and not (vaddr | offset | filesz) % PAGE
            assert not self.loads or self.loads[-1][0] + len(self.loads[-1][1]) <= vaddr
            self.loads.append((vaddr, self.file[offset:offset + filesz]))
            assert len(self.loads[-1][1]) == filesz
        assert offset + filesz == len(self.file)

    def read(self, at, size):
        for start, data in self.loads:
            if start <= at and at + size <= start + len(data):
                return data[at - start:at - start + size]
        return None

    def pages(self):
        """Which pages of the target's memory are in it: their numbers."""
        return sorted(p for start, data in self.loads for p in range((start - MEMORY) // PAGE, (start - MEMORY + len(data)) // PAGE))


def note_of(t, *qids, version=(1, 17)):
    """The note that the model's driver comes to."""
    p, queues = t.kfd, b""
    for qid in sorted(qids):
        q = p.queue(qid)
        save, size = q.save or (MEMORY + 32768 + 4096 * qid if q.kind in (0, 2) else 0, 1024)
        queues += struct.pack("5Q6I", 0, q.ring[0], q.at + 8, q.at, save, qid, q.gpu, q.ring[1], q.kind, size, 0)
    return struct.pack("QIIQIIII", 1, *version, 16, len(p.gpus), 120, len(qids), 64) + struct.pack("QII", p.r_debug, 1, p.ttmps) + b"".join(
        p.devices[g] for g, _ in p.gpus) + queues


def core(r, *targets, to=None, more=(), **how):
    r.move(0)  # frees the timers of those that have ended
    return r.start("core", "-p", ",".join(str(t.pid) for t in targets), "-rn", "-o", "PID,QUEUES,LEFT_OUT,WAVES", *more, to or r.dir + "/core", **how)


def during(r, t, call, sig, *more, others=(), to=None):
    """A gpq core that gets a signal before its holder has the answer to a call of the driver."""
    started = threading.Event()

    def hook(do):
        done = do()
        started.wait(PATIENCE)
        p.send_signal(sig)
        return done
    r.once(call, hook)
    p = core(r, t, *others, more=more, to=to)
    started.set()
    return p


def left(r, t):
    """What is off, who holds, which files there are."""
    files = sorted(f for f in os.listdir(r.dir) if "core" in f)
    for f in files:
        os.unlink(f"{r.dir}/{f}")
    return t.off, t.holder, r.holders(), files


NOTHING = ("", 0, [], [])


@scenario("a core: its note is what the driver tells, its memory what the process has; the queues are back")
def _(r):
    t = r.target(0)
    prepare(t)
    r.changes()
    yield r.finish(core(r, t)), "0 / t1 1 0 1"
    yield r.changes(), ["enable", "send", "send", "suspend 0 grace=0", "disable"]
    c = Core(r.dir + "/core")
    yield c.note, note_of(t, 0)
    yield all(data == t.memory[start - MEMORY:start - MEMORY + len(data)] for start, data in c.loads), True
    yield c.pages(), list(range(16))  # the target's memory is one mapping, in which its code object lies
    yield os.stat(r.dir + "/core").st_mode & 0o777, 0o600
    yield left(r, t), ("", 0, [], ["core"])


@scenario("--light: neither code nor arguments; without an option both, of the dispatches in the ring")
def _(r):
    t = r.target(0)
    prepare(t)
    yield r.finish(core(r, t, more=["--light"])), "0 / t1 1 0 1"
    # Indices, ring, r_debug, kernel descriptor, two pages of the save area.
    yield Core(r.dir + "/core").pages(), [0, 1, 2, 3, 8, 9]
    os.unlink(r.dir + "/core")
    # Nothing names code but the PC of the wave, whose packet is not known; then not even that.
    t.kfd.ttmps = 0
    t.set_index(0, 6, 6)
    poke(t, DEBUG + 8, struct.pack("Q", 0))
    for pc, wanted in (MEMORY + 0xffff, list(range(16))), (MEMORY + 0x10000, [0, 1, 2, 8, 9]):
        poke(t, AREA + 0x810 + 2048 + 4, struct.pack("Q", pc))
        yield r.finish(core(r, t)), "0 / t1 1 0 1"
        yield Core(r.dir + "/core").pages(), wanted
        yield left(r, t), ("", 0, [], ["core"])


@scenario("no queue is touched where the file exists, cannot be made, or nothing may be written")
def _(r):
    t = r.target(0)
    prepare(t)
    with open(r.dir + "/core", "w") as f:
        f.write("mine")
    r.changes()
    yield r.finish(core(r, t)), f"1 / gpq: core: make {r.dir}/core: File exists; remove it, or name another one"
    with open(r.dir + "/core") as f:
        yield f.read(), "mine"
    os.unlink(r.dir + "/core")
    os.symlink(r.dir + "/elsewhere-core", r.dir + "/core")
    yield r.finish(core(r, t))[:1], "1"
    os.unlink(r.dir + "/core")
    yield r.finish(core(r, t, to=r.dir + "/none/core")), f"5 / gpq: core: make {r.dir}/none/core: No such file or directory"
    yield r.finish(core(r, t, more=[r.dir + "/b"])), f"2 / gpq: core: {r.dir}/core: only one name is expected; one FILE or DIR"
    yield r.changes(), []
    yield left(r, t), NOTHING


@scenario("a write that fails, early or at the end, leaves no file and no queue off")
def _(r):
    t = r.target(0)
    prepare(t)

    def limit(size):
        def set_limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return set_limit
    for size in (100, 3 * PAGE, 16 * PAGE):
        yield r.finish(core(r, t, preexec_fn=limit(size))), f"1 / gpq: core: write {r.dir}/core: File too large"
        yield left(r, t), NOTHING
    yield r.finish(core(r, t, preexec_fn=limit(17 * PAGE))), "0 / t1 1 0 1"
    yield os.stat(r.dir + "/core").st_size, 17 * PAGE
    yield left(r, t), ("", 0, [], ["core"])
    r.page.file_error = 28
    yield r.finish(core(r, t, more=["--light"])), f"1 / gpq: core: write {r.dir}/core: No space left on device"
    # There is room for 16 pages, and the default core has 17.
    yield r.finish(core(r, t)), f"1 / gpq: core: {r.dir}/core: no room for 68 KiB; choose another place"
    # How much a compressed one takes is not known before.
    yield r.finish(core(r, t, to=r.dir + "/core.zst")), f"1 / gpq: core: write {r.dir}/core.zst: No space left on device"
    r.page.file_error = 22
    yield r.finish(core(r, t)), "0 / t1 1 0 1"
    r.page.file_error = 0
    yield left(r, t), ("", 0, [], ["core"])


@scenario("a queue that is held already stays held, and is in the core")
def _(r):
    t = r.target(0, 1)
    prepare(t)
    t.kfd.queue(1).ring = (RING, PAGE)
    area(t, MEMORY + 32768 + 4096 * 4, 4)
    t.kfd.queue(1).save = (MEMORY + 32768 + 4096 * 4, 0x2000)
    t.set_index(1, 3, 6)
    suspend(r, t, "-Q", "1")
    holder = t.holder
    yield r.finish(core(r, t)), "0 / t1 2 0 2"
    yield Core(r.dir + "/core").note, note_of(t, 0, 1)
    yield left(r, t), ("1", holder, [holder], ["core"])


@scenario("queues that the driver does not let go, SDMA queues, idle queues: what is left out, and why")
def _(r):
    t = r.target(0, 1, (2, 1), 3)
    prepare(t)
    for qid in (1, 2, 3):
        t.kfd.queue(qid).ring = (RING, PAGE)
    area(t, MEMORY + 0xc000, used=False)
    t.kfd.queue(3).save = (MEMORY + 0xc000, 0x2000)
    t.kfd.queue(1).refusals = 1
    yield r.finish(core(r, t)), (
        "3 / t1 3 1 1 / gpq: core: pid t1: queue 1 is left out: the driver did not suspend it")
    c = Core(r.dir + "/core")
    yield c.note, note_of(t, 0, 2, 3)
    os.unlink(r.dir + "/core")
    t.kfd.queue(0).refusals = t.kfd.queue(1).refusals = t.kfd.queue(2).refusals = t.kfd.queue(3).refusals = 1
    yield r.finish(core(r, t)), (
        "1 / " + "".join(f"gpq: core: pid t1: queue {i} is left out: the driver did not suspend it / " for i in range(4)) +
        "gpq: core: pid t1: it has no queue that can be written")
    yield left(r, t), NOTHING


@scenario("what AMD's library ends at is left out")
def _(r):
    t = r.target(0, 1)
    q = prepare(t)
    t.kfd.queue(1).ring, t.kfd.queue(1).save = (RING, PAGE), (MEMORY + 0xc000, 0x2000)
    area(t, MEMORY + 0xc000, used=False)

    def why():
        found = r.finish(core(r, t)).split(" / ")
        if os.path.exists(r.dir + "/core"):
            os.unlink(r.dir + "/core")
        return " ".join(found[:2]), found[2:] and found[2].split(": ", 3)[3]
    whole, partly = ("0 t1 2 0 1", []), "3 t1 1 1 0"
    outside = (partly, "queue 0 is left out: the packet of a wave is not between its indices")
    for packet, wanted in (2, outside), (3, whole), (5, whole), (6, outside), (63, outside), (64, outside):
        area(t, AREA, packet)
        yield why(), wanted
    t.set_index(0, 62, 66)
    for packet, wanted in (61, outside), (63, whole), (64, outside):  # no slot of the ring is 64
        area(t, AREA, packet)
        yield why(), wanted
    # Indices that have wrapped: slots 62, 63, 0, 1 of the third round.
    t.set_index(0, 2 * 64 + 62, 3 * 64 + 2)
    for packet, wanted in (61, outside), (62, whole), (63, whole), (0, whole), (1, whole), (2, outside):
        area(t, AREA, packet)
        yield why(), wanted
    area(t, AREA, 0)
    poke(t, RING + 32, struct.pack("Q", 0x5000))
    yield why(), (partly, "queue 0 is left out: the kernel descriptor of a wave's packet cannot be read")
    t.kfd.ttmps = 0  # nothing tells the packet of a wave on this GPU
    yield why(), whole
    t.kfd.devices = {GPU: device(version=GFX90A)[:-4] + struct.pack("I", 0x400)}  # but here they always do
    yield why()[0], partly
    t.kfd.devices = {GPU: device(version=1)}  # a GPU whose waves are not known
    yield why(), ("0 t1 2 0 0", [])
    t.kfd.devices = {GPU: device()}
    for at, words, wanted in ((0, (0x800, 12, 0x810 + 2240, 2240), "the header of its save area makes no sense"),
                              (0, (0x800, 16, 0x2001, 2240), "the header of its save area makes no sense"),
                              (0, (0x811 + 2240, 16, 0x810 + 2240, 2240), "the header of its save area makes no sense")):
        area(t, AREA, 62)
        poke(t, AREA + at, struct.pack("4I", *words))
        yield why()[0], partly
    area(t, AREA, 62)
    q.save = (AREA + 0x100000, 0x2000)
    yield why(), (partly, "queue 0 is left out: its save area cannot be read")
    q.save, q.ring = (AREA, 0x2000), (RING + 0xf000, 2 * PAGE)
    yield why(), (partly, "queue 0 is left out: its ring cannot be read")
    q.ring, q.at = (RING, PAGE), MEMORY + 0x10000
    yield why(), (partly, "queue 0 is left out: its indices cannot be read")
    yield left(r, t), NOTHING


@scenario("memory that cannot be opened: nothing is held, and no file is left")
def _(r):
    t = r.target(0)
    prepare(t)
    r.page.mem_error = EACCES
    yield r.finish(core(r, t)), "1 / gpq: core: pid t1: open its memory: Permission denied"
    yield ([c for c in r.changes() if "suspend" in c], os.path.exists(r.dir + "/core")), ([], False)


@scenario("a runtime whose list of code objects cannot be read: the core is written, and the message tells who will not open it")
def _(r):
    t = r.target(0)
    prepare(t)
    unread = "gpq: core: pid t1: the runtime's list of code objects cannot be read: AMD's debugger library will not open the core"
    t.kfd.r_debug = 0x1000
    yield r.finish(core(r, t)), "0 / t1 1 0 1 / " + unread
    os.unlink(r.dir + "/core")
    t.kfd.r_debug = DEBUG
    poke(t, DEBUG + 64 + 24, struct.pack("Q", 0x1000))  # l_next
    yield r.finish(core(r, t)), "0 / t1 1 0 1 / " + unread
    yield left(r, t), ("", 0, [], ["core"])


@scenario("all XCCs of a queue, and the pages of a memory:// code object")
def _(r):
    t = r.target(0, gpus=[(GPU, 2)])
    q = prepare(t)
    t.kfd.devices = {GPU: device(xccs=2)}
    q.save = (AREA, 0x2000)
    area(t, AREA + 0x2000, 5)
    poke(t, DEBUG + 64, struct.pack("Q", 0x1000))
    yield r.finish(core(r, t, more=["--light"])), "0 / t1 1 0 2"
    yield Core(r.dir + "/core").pages(), [0, 1, 2, 3, 8, 9, 10, 11]
    yield left(r, t), ("", 0, [], ["core"])


@scenario("several processes: a file each in a folder, none in a file; one that cannot be held")
def _(r):
    a, b, c = r.target(0), r.target(0), r.target(0, register=False)
    prepare(a)
    prepare(b, packet=5)
    os.mkdir(r.dir + "/cores")
    r.changes()
    yield r.finish(core(r, a, b)), f"2 / gpq: core: {r.dir}/core: one file cannot have the cores of 2 processes; name a folder"
    yield r.changes(), []
    yield r.finish(core(r, a, c, b, to=r.dir + "/cores")), (
        "3 / t1 1 0 1 / t2 1 0 1 / gpq: core: pid t3: it has not opened /dev/kfd: not a KFD process; gpq queues lists those that have")
    yield sorted(os.listdir(r.dir + "/cores")), sorted(f"gpucore.{t.pid}" for t in (a, b))
    yield [Core(f"{r.dir}/cores/gpucore.{t.pid}").note == note_of(t, 0) for t in (a, b)], [True, True]
    shutil.rmtree(r.dir + "/cores")
    yield r.finish(core(r, c)), "5 / gpq: core: pid t3: it has not opened /dev/kfd: not a KFD process; gpq queues lists those that have"
    yield left(r, a)[:3] + left(r, b)[:3], NOTHING[:3] * 2


@scenario("Ctrl-C: the core that is being taken is written, the next ones are not begun")
def _(r):
    a, b = r.target(0), r.target(0)
    prepare(a)
    prepare(b)
    r.changes()
    yield r.finish(during(r, a, "suspend", signal.SIGINT, others=[b], to=r.dir)), (
        "130 / t1 1 0 1 / gpq: core: stopped by SIGINT after 1 of 2 processes")
    yield [c for c in r.changes() if c.startswith("t2")], []
    yield os.listdir(r.dir).count(f"gpucore.{a.pid}"), 1
    yield left(r, a)[3], [f"gpucore.{a.pid}"]
    yield r.finish(during(r, a, "suspend", signal.SIGTERM, to=r.dir)), "0 / t1 1 0 1"
    yield left(r, a), ("", 0, [], [f"gpucore.{a.pid}"])


@scenario("gpq dies while the queues are off, or is stopped: they come back, at the latest after --max-hold")
def _(r):
    t = r.target(0)
    prepare(t)

    def stopped(*more):
        """A gpq that is stopped when its holder has suspended."""
        p = during(r, t, "suspend", signal.SIGSTOP, *more)
        r.wait(lambda: t.kfd.queue(0).off)
        r.until(lambda: status_of(p.pid)["State"][0] == "T")
        return p
    p = stopped()
    yield t.off, "0"
    holder = t.holder
    p.kill()
    r.finish(p)
    yield ends(t, holder), ENDED
    left(r, t)
    for options, hold in ((), 200), (("--max-hold", "50ms"), 50):
        p = stopped(*options)
        r.move(hold * MS - 1)
        yield t.off, "0"
        r.move(1)
        yield r.wait(lambda: not t.kfd.queue(0).off), True
        p.send_signal(signal.SIGCONT)
        yield r.finish(p), (
            "1 / gpq: core: pid t1: 1 of 1 queue was not read in time; a longer --max-hold / gpq: core: pid t1: it has no queue that can be written")
        yield left(r, t), NOTHING
    # In the last moment of the hold all is read.
    p = stopped()
    r.move(200 * MS - 1)
    p.send_signal(signal.SIGCONT)
    yield r.finish(p), "0 / t1 1 0 1"
    yield left(r, t), ("", 0, [], ["core"])


@scenario("--full: what the GPU driver has mapped, as it is once the queues run")
def _(r):
    t = r.target(0)
    prepare(t)
    # Nothing names code, so that no more than what is needed is taken while the queues are off.
    t.set_index(0, 6, 6)
    area(t, AREA, used=False)
    poke(t, DEBUG + 8, struct.pack("Q", 0))
    os.makedirs(r.root + "/dev/dri", exist_ok=True)
    os.rename(t.path, r.root + "/dev/dri/renderD128")

    def run_on(call):
        for at in (RING, MEMORY + 0xd000):
            poke(t, at, b"behind")
        return call()
    poke(t, RING, b"before")
    r.once("disable", run_on)
    yield r.finish(core(r, t)), "0 / t1 1 0 0"
    yield Core(r.dir + "/core").pages(), [0, 1, 2, 8]
    left(r, t)
    poke(t, RING, b"before")
    r.once("disable", run_on)
    yield r.finish(core(r, t, more=["--full"])), "0 / t1 1 0 0"
    c = Core(r.dir + "/core")
    yield c.pages(), list(range(16))
    yield (c.read(MEMORY + 0xd000, 6), c.read(RING, 6)), (b"behind", b"before")
    yield all(c.read(MEMORY + PAGE * i, PAGE) == t.memory[PAGE * i:PAGE * i + PAGE] for i in range(16) if i != 1), True
    left(r, t)
    yield r.finish(during(r, t, "suspend", signal.SIGINT, "--full")), "130 / gpq: core: stopped by SIGINT"
    yield left(r, t), NOTHING
    os.truncate(r.root + "/dev/dri/renderD128", 0xe000)
    yield r.finish(core(r, t, more=["--full"])), "0 / t1 1 0 0 / gpq: core: pid t1: 2 pages could not be read, and are zeros in the core"
    c = Core(r.dir + "/core")
    yield (c.pages(), c.read(MEMORY + 0xd000, 6), c.read(MEMORY + 0xe000, 2 * PAGE)), (list(range(16)), b"behind", bytes(2 * PAGE))
    left(r, t)
    os.unlink(r.root + "/dev/dri/renderD128")
    yield left(r, t), NOTHING


@scenario("gpq is killed during each call of its holder: nothing is held, no file has anything in it")
def _(r):
    t = r.target(0)
    prepare(t)
    for call in ("version", "probe", "enable", "send", "queues", "suspend", "gpus", "disable"):
        yield r.finish(during(r, t, call, signal.SIGKILL)), "-9"
        yield r.until(lambda: not t.holder and not r.holders()), True
        yield os.stat(r.dir + "/core").st_size, 0
        yield left(r, t), ("", 0, [], ["core"])
    yield r.finish(core(r, t)), "0 / t1 1 0 1"
    yield left(r, t), ("", 0, [], ["core"])


@scenario("a holder that was there when the runtime began anew knows nothing of that runtime")
def _(r):
    t = r.target(0)
    prepare(t)
    suspend(r, t)
    r.changes()
    t.runtime_event()
    yield r.wait(lambda: "send" in r.driver.calls), True
    yield r.finish(core(r, t)).split(" / ")[:2], ["0", "t1 1 0 1"]
    yield Core(r.dir + "/core").note[40:56], bytes(16)
    yield left(r, t)[3], ["core"]


@scenario("64 GPUs, which is most")
def _(r):
    gpus = [(GPU, 1)] + [(100 + i, 1) for i in range(64)]
    t = r.target(0, gpus=gpus[:64])
    prepare(t)
    t.kfd.devices = {g: device(g) for g, _ in gpus}
    yield r.finish(core(r, t, more=["--light"])), "0 / t1 1 0 1"
    yield Core(r.dir + "/core").note, note_of(t, 0)
    yield left(r, t), ("", 0, [], ["core"])


@scenario("a holder that dies, and a driver that refuses: no core, no queue off")
def _(r):
    t = r.target(0)
    prepare(t)

    def kill_holder(call):
        done = call()
        kill(t.tracer, signal.SIGKILL)
        return done
    r.once("suspend", kill_holder)
    yield r.finish(core(r, t)), "1 / gpq: core: pid t1: the holder ended before it answered (killed?): the queues run; try again"
    yield left(r, t), NOTHING
    for call, error in ("enable", EIO), ("queues", EIO), ("suspend", EIO):
        r.fail(call, error)
        yield r.finish(core(r, t))[:1], "1"
        yield left(r, t), NOTHING
    # Its own look at the driver, whose version is in the note.
    def deny(call):
        r.page.open_error = EACCES
        return call()
    r.once("enable", deny)
    r.changes()
    yield r.finish(core(r, t)), "4 / gpq: core: pid t1: no right to open /dev/kfd; join its group (usually render), or run as root"
    yield r.changes(), ["enable", "send", "send", "disable"]
    r.page.open_error = 0
    r.once("version", lambda call: call())
    r.once("version", lambda call: -EIO)
    yield r.finish(core(r, t))[:2], "1 "
    yield left(r, t), NOTHING
    t.kfd.runtime = 0
    yield r.finish(core(r, t))[:1], "6"
    yield left(r, t), NOTHING


@scenario("a core says where its waves are: gpq why --core; all queues, of a process nobody knows")
def _(r):
    t = r.target(0)
    prepare(t)
    yield r.finish(core(r, t)), "0 / t1 1 0 1"
    path, wave, lanes = r.dir + "/core", "0x70200000701", "\\x20".join(f"{n:08x}" for n in struct.unpack("64I", bytes(range(256))))
    yield r.gpq("why", "--core", path, "-rno", "PID,COMMAND,GPU,QID,WAVES,PROGRESS,STATE,PC,DISPATCH,WORKGROUP,XCC,EXEC,OFF_FOR"), (
        f"0 / - - {GPU} 0 1 - runs {wave} 4 5,6,7 0 0x70400000703 -")
    # Where lines break depends on the path.
    yield " ".join(r.gpq("why", "--core", path, "-v").split(" / ")), (
        f"0 {path}: queue 0: 1 of 1 waves are at {wave}: runs PID COMMAND QID WAVES GROUPS PROGRESS STATE PLACE SOURCE - - 0 1 1 - runs {wave} -")
    words = "pc 70200000701", "exec 70400000703", "status 00000705", "mode 00000709", "exceptions 00000706", "m0 00000700"
    yield r.gpq("why", "--core", path, "--registers", "--table", "registers", "-rno", "QID,WORKGROUP,WAVE,REGISTER,WORDS").split(" / "), [
        "0", *(f"0 5,6,7 0 {w}" for w in words), *(f"0 5,6,7 0 {v} {lanes}" for v in "v0 v1 v2 v3 a0 a1 a2 a3".split())]
    yield r.gpq("why", "--core", path, "--registers", "-rno", "PC"), f"0 / {wave}"
    yield r.gpq("why", "--core", path, "--folded"), f"0 / ?;compute 0;{wave} 1"
    with open(path, "rb") as f:
        damaged = bytearray(f.read())
    at = damaged.index(struct.pack("4I", 0x800, 16, 0x800 + 16 + 2048 + 64 + 64 + 64, 2048 + 64 + 64 + 64))  # the header of the save area
    struct.pack_into("I", damaged, at, 0x804)
    with open(r.dir + "/damaged", "wb") as f:
        f.write(damaged)
    yield r.gpq("why", "--core", r.dir + "/damaged", "-rno", "WAVES"), f"3 / gpq: why: {r.dir}/damaged: queue 0: no waves, as its header makes no sense"
    os.mkfifo(r.dir + "/pipe")
    yield r.gpq("why", "--core", r.dir + "/pipe"), f"1 / gpq: why: {r.dir}/pipe: it is no file"
    for name, wanted in ("/dev/null", "1 / gpq: why: /dev/null: it is no file"), ("/bin/true", "1 / gpq: why: /bin/true: it is no GPU core"), (
            "/nowhere", "5 / gpq: why: /nowhere: No such file or directory"):
        yield r.gpq("why", "--core", name), wanted


@scenario("a hostile core, whose queues all have the same many waves: after 262144 of them no queue is looked at")
def _(r):
    waves, queues, record, stack = 16000, 20, 4 * 256 + 128 + 64, 4 * 16002  # gfx900: 4 vector registers, no scalar one
    end = 0x10000 + record * waves
    size = (end + PAGE - 1) // PAGE * PAGE
    note = struct.pack("QIIQIIII", 1, 1, 17, 16, 1, 120, queues, 64) + struct.pack("QII", MEMORY, 1, 1) + device(version=90000) + b"".join(
        struct.pack("5Q6I", 0, MEMORY, MEMORY, MEMORY, MEMORY, i, GPU, PAGE, 2, size, 0) for i in range(queues))
    at = (64 + 2 * 56 + 20 + len(note) + PAGE - 1) // PAGE * PAGE
    with open(r.dir + "/hostile-core", "wb") as f:
        f.write(struct.pack("16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1\x40" + bytes(8), 4, 224, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0))
        f.write(struct.pack("IIQQQQQQ", 4, 0, 64 + 2 * 56, 0, 0, 20 + len(note), 20 + len(note), 4))
        f.write(struct.pack("IIQQQQQQ", 1, 6, at, MEMORY, 0, size, size, PAGE))
        f.write(struct.pack("III8s", 7, len(note), 33, b"AMDGPU\0\0") + note)
        f.seek(at)
        f.write(struct.pack("4I", 0x10000 - stack, stack, end, record * waves))
        f.truncate(at + size)  # zeros: each word of the control stack is a wave
    got = r.gpq("why", "--core", r.dir + "/hostile-core", "-rno", "QID,WAVES").split(" / ")
    read = 262144 // waves + 1
    yield got, ["3", *(f"{i} {waves}" for i in range(read)), *(f"gpq: why: {r.dir}/hostile-core: queue {i}: no waves, as those before it have more than gpq looks at "
                                                                "at once" for i in range(read, queues))]
    os.unlink(r.dir + "/hostile-core")


@scenario("gpq why --core names functions by the code in the core; a light one has none")
def _(r):
    t = r.target(0)
    prepare(t)
    base, object = MEMORY + 0xa000, f"{r.top}/tests/data/aql/code/place.co"
    with open(object, "rb") as f:
        elf = f.read()
    for offset, vaddr, size in (0, 0, 0xf40), (0x1000, 0x2000, 0x1240), (0x2240, 0x4240, 0x70):  # as its headers say
        poke(t, base + vaddr, elf[offset:offset + size])
    t.kfd.r_debug = int(t.say(f"load {r.build}/unit/fake/libhsa-runtime64.so.1 {object} {base:x}"), 16)
    poke(t, AREA + 0x810 + 2048 + 4, struct.pack("Q", base + 0x2174))
    for path, more, wanted in ("named", [], "_Z5placePVii+0x74 place.co 0x74 - -"), ("unnamed", ["--light"], f"{base + 0x2174:#x} - - - -"):
        yield r.finish(core(r, t, more=more, to=f"{r.dir}/{path}")), "0 / t1 1 0 1"
        yield r.gpq("why", "--core", f"{r.dir}/{path}", "-rno", "PLACE,OBJECT,FUNCTION_OFFSET,SOURCE,LINE"), f"0 / {wanted}"
    # A limit of files' sizes is no limit of addresses, if it can be lifted.
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    for hard, wanted in (most, "_Z5placePVii+0x74"), (1 << 20, f"{base + 0x2174:#x}"):
        yield r.gpq("why", "--core", r.dir + "/named", "-rno", "PLACE", preexec_fn=lambda n=hard: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, n))), f"0 / {wanted}"


@scenario("a name that ends with .zst: the same file, compressed, and its true size")
def _(r):
    t = r.target(0)
    prepare(t)
    small, plain = r.dir + "/core.zst", r.dir + "/plain-core"
    yield r.finish(core(r, t, to=plain)), "0 / t1 1 0 1"
    yield r.finish(r.start("core", "-p", t.pid, "-rno", "SIZE", small)), f"0 / {os.stat(small).st_size}"
    with open(plain, "rb") as f:
        yield subprocess.run(["zstd", "-dc", small], stdout=subprocess.PIPE, check=False).stdout == f.read(), True
    yield os.stat(small).st_size < os.stat(plain).st_size / 10, True
    os.unlink(small)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    yield r.finish(core(r, t, to=small, preexec_fn=limit)), f"1 / gpq: core: write {small}: File too large"
    yield (os.path.exists(small), left(r, t)), (False, ("", 0, [], ["core", "plain-core"]))


@scenario("a GPU that gave up queues is left alone without --force")
def _(r):
    t = r.target(0)
    prepare(t)
    r.write("/dev/kmsg", "3,100,5000000,-;amdgpu 0000:43:00.0: amdgpu: qcm fence wait loop timeout expired\n")
    r.changes()
    yield r.finish(core(r, t)), ("1 / gpq: core: pid t1: its GPU does not take queues off: qcm fence wait loop timeout expired; --force tries it; if the GPU does not "
                                 "answer, the driver resets it, and every job on it is lost")
    yield r.changes(), []  # to attach takes queues off, too
    yield left(r, t), NOTHING
    yield r.finish(core(r, t, more=["--force"])), "0 / t1 1 0 1"
    r.write("/dev/kmsg", "")
    yield left(r, t), ("", 0, [], ["core"])


@scenario("a recorded host with cores: gpq why --waves of the chosen processes and queues")
def _(r):
    t = r.target(0, 3)
    prepare(t)
    prepare(t, 3, 0, 6, 4)
    yield r.finish(core(r, t, to=r.dir + "/two")), "0 / t1 2 0 2"
    host, path = r.dir + "/recorded", f"proc/{t.pid}"
    shutil.copytree(r.root, host, symlinks=True)
    os.makedirs(f"{host}/{path}")
    for name in "stat", "status", "comm", "cmdline":
        shutil.copy(f"/proc/{t.pid}/{name}", f"{host}/{path}/{name}")
    columns = "-rno", "PID,COMMAND,QID,WAVES,DISPATCH"
    yield r.gpq("--sysroot", host, "why", "--waves", *columns), "5 / gpq: why: /proc/t1/gpucore: No such file or directory; gpq hang --waves records them"
    shutil.copy(r.dir + "/two", f"{host}/{path}/gpucore")
    yield r.gpq("--sysroot", host, "why", "--waves", *columns), "0 / t1 target 0 1 4 / t1 target 3 1 4"
    yield r.gpq("--sysroot", host, "why", "--waves", "-p", t.pid, "-Q", 3, *columns), "0 / t1 target 3 1 4"
    yield r.gpq("--sysroot", host, "why", "--waves", "-p", 1, *columns), (
        "5 / gpq: why: none of the chosen processes has a compute queue; gpq queues lists those that have")
    with open(f"{host}/{path}/gpucore", "r+b") as f:
        f.truncate(4096)
    yield r.gpq("--sysroot", host, "why", "--waves", *columns), "1 / gpq: why: /proc/t1/gpucore: it is cut off"


main()
