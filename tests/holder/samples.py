"""gpq hqd --sample and gpq queues: the debugfs of a recorded host, in which a test changes registers between two readings."""
from scenario import *

COLUMNS = "SLOT,PID,QID,SAMPLES,IN_SLOT_SHARE,MOVED_SHARE,BUSY_SHARE,CONSUMED,RPTR"


class Dumps:
    def __init__(self, r):
        self.r, self.text = r, {}
        host = f"{r.top}/tests/hosts/gfx90a-k6.12"
        shutil.copytree(host + "/sys/class/kfd/kfd/proc", r.root + "/sys/class/kfd/kfd/proc", dirs_exist_ok=True)
        for name in "hqds", "mqds", "rls":
            with open(f"{host}/sys/kernel/debug/kfd/{name}") as f:
                self.text[name] = f.read()
            self.write(name, self.text[name])

    def write(self, name, text):
        self.r.write(f"/sys/kernel/debug/kfd/{name}", text)

    def register(self, slot, address, word, value):
        """A word of the line that begins at this address changes in the dump of a slot."""
        before, at, rest = self.text["hqds"].partition(f" Inst 0,  {slot}\n")
        line = re.search(f"^    0000{address:x}: (.*)$", rest, re.M)
        words = line[1].split(" ")
        words[word] = f"{value:08x}"
        self.text["hqds"] = before + at + rest[:line.start(1)] + " ".join(words) + rest[line.end(1):]
        self.write("hqds", self.text["hqds"])


def sampled(r, dumps, *steps, options=()):
    """`gpq hqd --sample`, and between two readings a step."""
    p = r.start("hqd", "--sample", len(steps) + 1, "--interval", "50ms", "-rn", "-o", COLUMNS, *options)
    for step in steps:
        r.until(lambda: r.waits(p) == 0.05)  # not that of a read
        step()
        r.move(50 * MS)
    return r.finish(p)


@scenario("a queue moves, one leaves its slot, one stays: shares of four readings, most movement first")
def _(r):
    d = Dumps(r)
    P0Q2, P1Q2 = "CP Pipe 0, Queue 2", "CP Pipe 1, Queue 2"
    # At c934 the third word is the read pointer: 70128 dwords, then two packets of 16 more, then one; at c914 the third tells that the slot is used.
    found = sampled(r, d, lambda: d.register(P0Q2, 0xc934, 2, 70128 + 32), lambda: d.register(P1Q2, 0xc914, 2, 0),
                    lambda: d.register(P0Q2, 0xc934, 2, 70128 + 48))
    yield found.split(" / "), [
        "0", "p0q2 52880 0 4 1 0.666666667 1 3 70176", "hiq - - 4 1 0 0 0 119", "p0q3 41207 0 4 1 0 0 0 448", "e1r0 41207 3 4 1 0 - 0 15224",
        "p1q2 41207 - 2 0.5 0 0.5 0 72224"]


@scenario("one reading moves nothing; a queue that is made meanwhile gets its owner")
def _(r):
    d = Dumps(r)
    found = sampled(r, d)
    yield [row.split()[3:6] for row in found.split(" / ")[1:]], [["1", "1", "-"]] * 5
    first, second = d.text["mqds"].index("Process 52880"), d.text["mqds"].index("Process 41207")
    d.write("mqds", d.text["mqds"][:first] + d.text["mqds"][second:])
    found = sampled(r, d, lambda: None)
    yield [row.split()[1] for row in found.split(" / ") if row.startswith("p0q2")], ["-"]
    found = sampled(r, d, lambda: d.write("mqds", d.text["mqds"]))
    yield [row.split()[1] for row in found.split(" / ") if row.startswith("p0q2")], ["52880"]


@scenario("stopped after two of four readings: they are shown; a process without a slot; a dump that goes")
def _(r):
    d = Dumps(r)
    p = r.start("hqd", "--sample", 4, "--interval", "50ms", "-rn", "-o", "SLOT,SAMPLES")
    r.until(lambda: r.waits(p) == 0.05)
    r.move(50 * MS)
    r.until(lambda: r.waits(p) == 0.05)
    p.send_signal(signal.SIGTERM)
    yield r.finish(p), "143 / hiq 2 / p0q2 2 / p0q3 2 / p1q2 2 / e1r0 2 / gpq: hqd: stopped by SIGTERM after 2 of 4 samples"
    yield sampled(r, d, lambda: None, options=("-p", 1))[:60], "5 / gpq: hqd: no process that was asked for had a queue in a slot"[:60]
    yield sampled(r, d, lambda: None, options=("-p", 52880)), "0 / p0q2 52880 0 2 1 0 1 0 70128"
    found = sampled(r, d, lambda: os.unlink(r.root + "/sys/kernel/debug/kfd/hqds"))
    yield found[:2], "5 "


@scenario("gpq queues: AQL and SDMA indices are read now, and say with who holds a queue which state it has")
def _(r):
    t = r.target(0, 1, 2, 3, 4)
    suspend(r, t, "-Q", "1")
    procs, mqds = r.root + "/sys/class/kfd/kfd/proc", r.root + "/sys/kernel/debug/kfd/mqds"
    os.rename(r.root + "/sys", r.root + "/kept")
    shutil.copytree(f"{r.top}/tests/hosts/vm73-gfx1100-running/sys", r.root + "/sys", symlinks=True)
    os.rename(procs + "/457", f"{procs}/{t.pid}")
    with open(mqds) as f:
        text = f.read().replace("457", str(t.pid)).replace("00007ff2", f"{MEMORY >> 32:08x}")
    # The low words of the addresses of both indices of each queue, the last of SDMA.
    for qid, low in enumerate(("2f20f", "2c5f9", "299e3", "26dcd", "241b7")):
        text = text.replace(low + "080", f"{16 * qid:08x}").replace(low + "038", f"{16 * qid + 8:08x}")
    aql = text.rindex(" 00000001", 0, text.index("2c0:", text.index(f"{16 * 3:08x} 00000002")) + 60)
    with open(mqds, "w") as f:
        f.write(text[:aql] + " 00000000" + text[aql + 9:])  # queue 3 takes PM4 packets, whose indices give no backlog
    now = {0: (5, 9), 1: (9, 5), 2: (7, 7), 3: (20, 22), 4: (2 ** 24 + 64, 2 ** 24 + 192)}  # no number is a PID that can come
    for qid, (read, write) in now.items():
        t.set_index(qid, read, write)
    yield r.gpq("queues", "-p", t.pid, "-rno", "QID,READ_NOW,WRITE_NOW,BACKLOG,STATE,HOLDER", "-q").split(" / "), [
        "0", "0 5 9 4 running -", "1 9 5 0 suspended h1", "2 7 7 0 idle -", "3 - - - mapped -", "4 16777280 16777408 128 unknown -"]
    shutil.rmtree(r.root + "/sys")
    os.rename(r.root + "/kept", r.root + "/sys")


main()
