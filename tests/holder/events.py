"""gpq events: streams of the driver that a test writes, and a clock that it moves. Every member of a row that is not null is compared."""
import array
import fcntl
import json
import pwd
import re
import termios

from scenario import *

ALL = 2 ** 64 - 1
BOOT = 7 * SECOND  # fakekfd.c: so far is the time of messages ahead
BDF = "0000:43:00.0"


class Events:
    def __init__(self, r, *args):
        self.r, self.listener, self.begin = r, listen(r), r.page.now_ns
        self.p = r.start("events", "-v", "--ndjson", "--output-all", *args)
        self.c, _ = self.listener.accept()
        self.asked = struct.unpack("=IQ", self.c.recv(12, socket.MSG_WAITALL))
        self.text = {self.p.stdout: b"", self.p.stderr: b""}  # read, but not looked at
        self.said = []
        while not self.said or "at the beginning" not in self.said[-1]:
            self.said.append(self.message())

    def line(self, stream):
        while b"\n" not in self.text[stream]:
            got = os.read(stream.fileno(), 65536) if select.select([stream], [], [], PATIENCE)[0] else b""
            if not got:
                raise EOFError(self.text)
            self.text[stream] += got
        line, _, self.text[stream] = self.text[stream].partition(b"\n")
        return line

    def message(self):
        return json.loads(self.line(self.p.stderr))["message"]

    def tell(self, *lines):
        self.c.sendall("".join(line + "\n" for line in lines).encode())

    def row(self):
        row = json.loads(self.line(self.p.stdout))
        assert row.pop("record") == "event" and row["time_us"] == row["time_ns"] // 1000
        for k in "time_us", "container", "container_id":  # the target's container is that of the test
            del row[k]
        row["time_ns"] -= self.r.page.now_ns
        return {k: v for k, v in row.items() if v is not None}

    def rows(self, n):
        return [self.row() for _ in range(n)]

    def move(self, ns):
        """Once it waits, lest it takes the new time for an older moment."""
        self.r.waits(self.p)
        self.r.move(ns)

    def end(self, sig=signal.SIGTERM):
        self.p.send_signal(sig)
        return self.finish()

    def finish(self):
        ended = self.r.finish(self.p)
        for s in self.c, self.listener:
            s.close()
        os.unlink(self.r.dir + "/smi")
        return ended + b"".join(self.text.values()).decode()


def of(t):
    return {"pid": t.pid, "command": "target", "user": pwd.getpwuid(os.geteuid()).pw_name, "ns_pid": t.pid}


def driver(event, number, text, time_ns=0, clock="driver", gpu=GPU, **more):
    return {"event": event, "number": number, "text": text, "time_ns": time_ns, "clock": clock, "source": "driver", "gpu_id": gpu, "bdf": BDF, **more}


def polled(event, interval_ns=100 * MS, **more):
    return {"event": event, "time_ns": 0, "clock": "polled", "source": "polled", "interval_ns": interval_ns, **more}


@scenario("messages of the driver, each with all that it has")
def _(r):
    a, b = r.target(0, 1), r.target(2)
    e = Events(r)
    yield e.asked, (GPU, ALL)
    kept = ["without CAP_SYS_ADMIN the driver keeps events of other processes back; their queues are polled"] if os.geteuid() else []
    yield e.said, kept + ["1 GPU, 2 processes, 3 queues at the beginning"]
    e.move(3 * MS)
    at = r.page.now_ns + BOOT
    lines = [
        (f"9 {at - 1000} -{a.pid} a1f4 1", "queue-eviction", -1000, {"trigger": "userptr", "trigger_number": 1, "detail": "userptr"}, a),
        (f"9 {at - 900} -{b.pid} a1f4 6", "queue-eviction", -900, {"trigger_number": 6, "detail": "trigger 6"}, b),
        (f"a {at - 800} -{a.pid} a1f4 R", "queue-restore", -800, {"detail": "rescheduled"}, a),
        (f"a {at - 700} -{b.pid} a1f4", "queue-restore", -700, {}, b),
        (f"5 {at - 600} -{b.pid} @7f00aa(200) 0->a1f4 7:ffffffff 0", "migrate-start", -600, {
            "page": "0x7f00aa", "pages": 512, "from_gpu": 0, "to_gpu": GPU, "prefetch_gpu": 7, "preferred_gpu": 4294967295,
            "trigger": "prefetch", "trigger_number": 0, "detail": "prefetch"}, b),
        (f"6 {at - 500} -{a.pid} @1(2) a1f4->5 3 -11", "migrate-end", -500, {
            "page": "0x1", "pages": 2, "from_gpu": GPU, "to_gpu": 5, "trigger": "ttm", "trigger_number": 3, "detail": "ttm", "errno": -11}, a),
        (f"7 {at - 400} -{a.pid} @7f00ab(a1f4) W", "page-fault-start", -400, {"page": "0x7f00ab", "detail": "write"}, a),
        (f"7 {at - 300} -{b.pid} @7f00ac(a1f4) R", "page-fault-start", -300, {"page": "0x7f00ac", "detail": "read"}, b),
        (f"8 {at - 200} -{a.pid} @7f00ad(a1f4) M", "page-fault-end", -200, {"page": "0x7f00ad", "detail": "migrated"}, a),
        (f"8 {at - 100} -{a.pid} @7f00ae(a1f4) U", "page-fault-end", -100, {"page": "0x7f00ae", "detail": "mapped"}, a),
        (f"b {at} -{a.pid} @7f00af(10) a1f4 2", "unmap-from-gpu", 0, {
            "page": "0x7f00af", "pages": 16, "trigger": "cpu-unmap", "trigger_number": 2, "detail": "cpu-unmap"}, a)]
    e.tell(*(line[0] for line in lines))
    for line, event, time_ns, more, t in lines:
        yield e.row(), driver(event, int(line[0], 16), line, time_ns, **more, **of(t), given_pid=t.pid)
    a.say("thread")
    tid = max(int(t) for t in os.listdir(f"/proc/{a.pid}/task"))
    e.tell(f"1 {tid:x}:any", f"c {b.pid:x} other", "2 8000:1f", "3 4 ring hang", "4 5", "63 some thing", "nonsense", "9 1 2")
    yield e.rows(8), [
        driver("vmfault", 1, f"1 {tid:x}:any", clock="read", **of(a), given_pid=tid),
        driver("process-start", 12, f"c {b.pid:x} other", clock="read", **of(b), given_pid=b.pid),
        driver("thermal-throttle", 2, "2 8000:1f", clock="read", throttle_bits="0x8000", throttle_count=31, detail="bits 0x8000 count 31"),
        driver("gpu-pre-reset", 3, "3 4 ring hang", clock="read", reset=4, detail="ring hang"),
        driver("gpu-post-reset", 4, "4 5", clock="read", reset=5, detail="5"),
        driver("event-99", 99, "63 some thing", clock="read", detail="some thing"),
        {k: v for k, v in driver("unreadable", 0, "nonsense", clock="read", detail="nonsense").items() if k != "number"},
        driver("queue-eviction", 9, "9 1 2", clock="read", detail="1 2")]
    yield e.end(), "143"


def warned(message, follows=None):
    return json.dumps({"level": "warning", "command": "events", "message": message, "next": follows}, separators=(",", ":"))


@scenario("a time that cannot be: another program's name with a newline in it; a name may go on behind one")
def _(r):
    a = r.target(0)
    e = Events(r)
    first = e.begin + BOOT - SECOND
    e.move(50 * MS)
    now = r.page.now_ns + BOOT
    for at, believed in (first - 1, False), (first, True), (now, True), (now + 1, False):
        line = f"9 {at} -{a.pid} a1f4 0"
        e.tell(line)
        yield e.row(), driver("queue-eviction", 9, line, at - now, trigger="svm", trigger_number=0, detail="svm", **of(a), given_pid=a.pid) \
            if believed else {k: v for k, v in driver("unreadable", 9, line, clock="read", detail=line).items() if k != "number"}
    e.tell(f"1 {a.pid:x}:my", "2 1:2", f"1 {2 ** 22 - 1:x}:my", "2 1:2")
    rows = e.rows(4)
    yield [(x["event"], x.get("pid")) for x in rows], [("vmfault", a.pid), ("thermal-throttle", None), ("vmfault", None), ("unreadable", None)]
    yield rows[2]["command"], "my"
    # A processor that is lost between two looks at clocks changes no time.
    r.waits(e.p)
    r.page.lost_ms = 6
    line = f"9 {now} -{a.pid} a1f4 0"
    e.tell(line)
    yield e.row(), driver("queue-eviction", 9, line, -6 * MS, trigger="svm", trigger_number=0, detail="svm", **of(a), given_pid=a.pid)
    yield r.page.lost_ms, 0
    # The name of a process that has ended is known, too.
    a.end()
    with r.driver.lock:
        r.driver.reap()
        r.driver.reap()
    e.move(100 * MS)
    e.rows(2)
    e.tell(f"1 {a.pid:x}:my", "2 1:2")
    yield [(x["event"], x.get("pid")) for x in e.rows(2)], [("vmfault", a.pid), ("thermal-throttle", None)]
    yield e.end(), "143"


@scenario("queues and processes come and go between two looks; who ended is known for 5 s")
def _(r):
    a, b = r.target(0), r.target(3)
    e = Events(r, "--interval", "20ms")
    a.add(5, kind=1)
    shutil.rmtree(f"{r.root}/sys/class/kfd/kfd/proc/{a.pid}/queues/0")  # what is known of a queue stays known
    os.mkdir(f"{r.root}/sys/class/kfd/kfd/proc/{a.pid}/queues/0")
    e.move(20 * MS - 1)
    yield r.waits(e.p), 1 / SECOND
    e.move(1)
    yield e.row(), polled("queue-created", 20 * MS, gpu_id=GPU, bdf=BDF, qid=5, type="sdma", ring_bytes=4096 << 5, **of(a))
    c = r.target(1)
    a.remove(0)
    e.move(20 * MS)
    yield e.rows(3), [polled("kfd-open", 20 * MS, **of(c)),
                      polled("queue-destroyed", 20 * MS, gpu_id=GPU, bdf=BDF, qid=0, type="compute", ring_bytes=4096, **of(a)),
                      polled("queue-created", 20 * MS, gpu_id=GPU, bdf=BDF, qid=1, type="compute", ring_bytes=8192, **of(c))]
    b.end()
    with r.driver.lock:
        r.driver.reap()
        r.driver.reap()  # the second one removes its folder
    e.move(20 * MS)
    yield e.rows(2), [polled("queue-destroyed", 20 * MS, gpu_id=GPU, bdf=BDF, qid=3, type="compute", ring_bytes=4096 << 3, **of(b)),
                      polled("kfd-close", 20 * MS, **of(b))]
    for ns, known in (5 * SECOND - 20 * MS, True), (20 * MS, False):
        e.move(ns)
        e.tell(f"d {b.pid:x} old", f"a {r.page.now_ns + BOOT} -{b.pid} a1f4")
        yield [(x["event"], x.get("pid"), x.get("command"), x["given_pid"]) for x in e.rows(2)], [
            ("process-end", b.pid if known else None, "target" if known else "old", b.pid),
            ("queue-restore", b.pid if known else None, "target" if known else None, b.pid)]
    # A message of a process that has come since the last look: that is looked at again.
    d = r.target(7)
    e.tell(f"c {d.pid:x} target")
    yield [(x["event"], x["pid"]) for x in e.rows(2)], [("kfd-open", d.pid), ("process-start", d.pid)]
    stopped = e.end()  # it looks once more
    yield stopped[:5], "143 /"
    yield re.findall('"event":"([a-z-]*)".*"qid":([0-9]*)', stopped), [("queue-created", "7")]


@scenario("-p: of other processes nothing, of unknown ones how many; a stream that ends is told, sysfs is looked at all the same")
def _(r):
    a, b = r.target(0), r.target(1)
    e = Events(r, "-p", b.pid)
    now = r.page.now_ns + BOOT
    e.tell(f"9 {now} -{a.pid} a1f4 1", f"9 {now} -{2 ** 22 - 1} a1f4 1", "4 5", f"9 {now} -{b.pid} a1f4 1", f"1 {2 ** 22 - 2:x}:x")
    yield [(x["event"], x.get("pid")) for x in e.rows(2)], [("gpu-post-reset", None), ("queue-eviction", b.pid)]
    e.c.close()
    yield e.message(), "gpu 41460: its events ended: end of file"
    a.add(2)
    b.add(2)
    e.move(100 * MS)
    yield e.row()["pid"], b.pid
    yield e.end(signal.SIGINT), "130 / " + warned("left out: 2 events of processes that are not known", "without -p and the like they are shown")


@scenario("a process that takes another name: a second later it is known by that, and chosen by it")
def _(r):
    a, b = r.target(0), r.target(1)
    for args in (), ("--comm", "target"):
        a.say("name target")
        e = Events(r, *args)
        lines = f"c {a.pid:x} x", f"c {b.pid:x} y"
        a.say("name other")
        e.move(SECOND - 1)
        e.tell(*lines)
        yield [(x["command"], x["pid"]) for x in e.rows(2)], [("target", a.pid), ("target", b.pid)]
        e.move(1)
        e.tell(*lines)
        yield [(x["command"], x["pid"]) for x in e.rows(1 if args else 2)], [("target", b.pid)] if args else [("other", a.pid), ("target", b.pid)]
        yield e.end(), "143"


@scenario("--gpu: of other GPUs nothing; what is of no GPU is shown")
def _(r):
    a = r.target(0)
    e = Events(r, "--gpu", GPU)
    a.add(2, gpu=7)
    a.add(3)
    b = r.target((4, 1, 7))
    e.move(100 * MS)
    yield [(x["event"], x["pid"], x.get("qid"), x.get("gpu_id")) for x in e.rows(2)], [("kfd-open", b.pid, None, None), ("queue-created", a.pid, 3, GPU)]
    a.remove(2)
    a.remove(3)
    e.move(100 * MS)
    yield [(x["event"], x["qid"]) for x in e.rows(1)], [("queue-destroyed", 3)]
    yield e.end(), "143"


@scenario("--tree: whoever comes is looked at, and who is of the tree and who is not")
def _(r):
    a = r.target(0)
    for t in (os.getpid(), os.getppid()):
        r.register(t)
    for root, shown in (os.getpid(), True), (a.pid, False):
        e = Events(r, "-p", root, "--tree")
        b = r.target(1)
        e.move(100 * MS)
        if shown:
            yield [(x["event"], x["pid"]) for x in e.rows(2)], [("kfd-open", b.pid), ("queue-created", b.pid)]
        yield e.end(), "143"


@scenario("a full buffer, by what one read gives: of the old size and the new one")
def _(r):
    for release, sizes in ("6.12.95", {928: 0, 929: 1, 1024: 1, 1025: 0, 8096: 0, 8192: 0}), ("7.3.4", {929: 0, 1024: 0, 8096: 0, 8097: 1, 8192: 1}):
        r.write("/proc/sys/kernel/osrelease", release + "\n")
        e = Events(r)
        for size, lost in sizes.items():
            line = "4 " + "1" * 12
            n = size // (len(line) + 1)
            lines = [line] * (n - 1)
            lines.append("4 " + "1" * (size - (n - 1) * (len(line) + 1) - 3))
            e.tell(*lines)
            rows = e.rows(n + lost)
            yield [x for x in rows if x["event"] != "gpu-post-reset" and not x["event"] == "unreadable"], [
                {"event": "lost", "source": "gpq", "clock": "read", "time_ns": 0, "gpu_id": GPU, "bdf": BDF,
                 "detail": "the driver's buffer was full: events may be missing"}] * lost
        yield e.end(), "143"


@scenario("--for and --count: the time, and not a nanosecond less; as many, and no more; a reader that is gone")
def _(r):
    a = r.target(0)
    e = Events(r, "--for", "250ms")
    for ns in 100 * MS, 100 * MS, 50 * MS - 1:
        e.move(ns)
    yield r.waits(e.p), 1 / SECOND
    r.move(1)
    yield e.finish(), "0"
    e = Events(r, "--for", "1s", "--count", "2")
    e.tell("4 5")
    e.row()
    e.move(SECOND)
    yield e.finish(), '124 / {"level":"error","command":"events","message":"1 event in this time, of 2 asked for","next":null,"status":124}'
    e = Events(r, "--for", "1s", "--count", "2")
    e.tell("4 5", "4 6", "4 7")
    yield [x["reset"] for x in e.rows(2)], [5, 6]
    yield e.finish(), "0"
    e = Events(r)
    e.p.stdout.close()
    e.p.stdout = None
    yield e.finish(), "141"


@scenario("no /dev/kfd, no stream, no right: each is told, and sysfs is looked at")
def _(r):
    a = r.target(0)
    r.page.open_error = EACCES
    p = r.start("events", "--for", "100ms")
    r.waits(p)
    a.add(1)
    r.move(100 * MS)
    got = r.finish(p)
    yield re.sub(" / TIME_US.*", "", got), "0"
    yield [w for w in got.split() if w in ("queue-created", "missing;")], ["queue-created", "missing;"]
    missing = "/dev/kfd: {}: events of the driver are missing; queues and processes are polled"
    join = missing.format("Permission denied") + "; join the group that owns it (render on most systems), or run as root"
    yield got.endswith(join) or got, True
    r.page.open_error = EIO
    yield r.gpq("events", "--for", "0").endswith(missing.format("Input/output error")), True
    r.page.open_error = 0
    p = r.start("events", "--for", "100ms")
    r.waits(p)
    r.move(100 * MS)
    yield "gpq: events: gpu 41460: its events cannot be had: Inappropriate ioctl for device" in r.finish(p), True


@scenario("gpq trace --live records them where there is no tracefs, until --for is over")
def _(r):
    if os.geteuid():
        return  # only root may
    a, folder = r.target(0), r.dir + "/recorded"
    with listen(r) as listener:
        p = r.start("trace", "--live", "--save", folder, "--for", "300ms", "-p", a.pid, "-q", "--list", "-rno", "SOURCE,NAME,QID")
        stream, _ = listener.accept()
        stream.recv(12, socket.MSG_WAITALL)
        r.until(lambda: r.waits(p) == 0.02)
        at = r.page.now_ns
        a.add(4)
        stream.sendall(f"9 {at + BOOT} -{a.pid} a1f4 1\n9 {at + BOOT} -1 a1f4 1\n".encode())
        r.until(lambda: os.path.getsize(folder + "/events.ndjson"))
        r.until(lambda: r.waits(p) == 0.02)  # only then the look of before is over
        r.move(100 * MS)
        r.until(lambda: r.waits(p) == 0.02)
        r.move(200 * MS - 1)
        r.until(lambda: r.waits(p) == 0.02)
        yield p.poll(), None
        r.move(20 * MS)
        yield r.finish(p).split(" / ")[:3], ["3", "driver queue-eviction -", "polled queue-created 4"]
        stream.close()
    with open(folder + "/events.ndjson") as f:
        rows = [json.loads(line) for line in f]
    yield [(x["event"], x["pid"], x["qid"], x["time_ns"] - at) for x in rows], [("queue-eviction", a.pid, None, 0), ("queue-created", a.pid, 4, 100 * MS)]
    shutil.rmtree(folder)


@scenario("gpq trace --live without COMMAND and --for records until Ctrl-C")
def _(r):
    if os.geteuid():
        return  # only root may
    a, folder = r.target(0), r.dir + "/recorded"
    with listen(r) as listener:
        p = r.start("trace", "--live", "--save", folder, "-p", a.pid, "-q", "--list", "-rno", "NAME,QID")
        stream, _ = listener.accept()
        r.until(lambda: r.waits(p) == 0.02)
        a.add(4)
        r.move(3600 * SECOND)
        r.until(lambda: r.waits(p) == 0.02)
        yield p.poll(), None
        p.send_signal(signal.SIGINT)
        yield r.finish(p).split(" / ")[:2], ["3", "queue-created 4"]
        stream.close()
    shutil.rmtree(folder)


def evicted_host(r, a, b):
    """The sysfs and debugfs of a host on which all queues of one process, now that of `a`, are off, and none of another, now that of `b`."""
    host = f"{r.top}/tests/hosts/vm-gfx90a-evicted/sys"
    procs, mqds = r.root + "/sys/class/kfd/kfd/proc", r.root + "/sys/kernel/debug/kfd/mqds"
    shutil.copytree(host, r.root + "/sys", symlinks=True)
    with open(mqds) as f:
        text = f.read()
    for pid, t in ("170", a), ("171", b):
        os.rename(f"{procs}/{pid}", f"{procs}/{t.pid}")
        text = text.replace(f"Process {pid} ", f"Process {t.pid} ")
    with open(mqds, "w") as f:
        f.write(text)
    with open(f"{procs}/{a.pid}/queues/2/gpuid") as f:
        return int(f.read())


@scenario("gpq why --watch knows evictions, and why, until the queues are restored")
def _(r):
    a, b = r.target(0), r.target(0)
    os.rename(r.root + "/sys", r.root + "/kept")
    gpu = evicted_host(r, a, b)
    evicted, either = "evicted", "suspended-or-evicted"
    seen = []
    with listen(r) as listener:
        p = r.start("why", "-p", a.pid, "--watch", "100ms", "--ndjson", "-o", "STATE,DETAIL", "-q")
        stream, _ = listener.accept()
        yield struct.unpack("=IQ", stream.recv(12, socket.MSG_WAITALL)), (gpu, 1 << 63 | 1 << 8 | 1 << 9)  # the mask: events 9 and 10 of all processes
        for told in ([], [f"9 5 -{b.pid} {gpu:x} 0", f"9 5 -{a.pid} {gpu + 1:x} 0"], [f"9 5 -{a.pid} {gpu:x} 1"], [f"9 5 -{a.pid} {gpu:x} 2"],
                     [f"a 5 -{b.pid} {gpu:x} 0", f"a 5 -{a.pid} {gpu + 1:x} 0"], [f"9 5 -{a.pid} {gpu:x} 99"], [f"a 5 -{a.pid} {gpu:x} 0"]):
            if told:
                stream.sendall("".join(line + "\n" for line in told).encode())
                r.move(100 * MS)
            r.until(lambda: r.waits(p) == 0.1)  # it looks at the queues twice
            r.move(100 * MS)
            rows = [json.loads(p.stdout.readline()) for _ in range(3)]
            seen.append(([row["state"] for row in rows], {row["detail"].rpartition("GPU")[2] for row in rows if row["state"] == evicted}))
            r.until(lambda: r.waits(p) == 0.1)
        stream.close()
    nothing = ([evicted, either, either], {""})
    yield seen, [nothing, nothing, ([evicted] * 3, {": userptr"}), ([evicted] * 3, {": ttm"}), ([evicted] * 3, {": ttm"}), ([evicted] * 3, {": ?"}),
                 nothing]
    shutil.rmtree(r.root + "/sys")
    os.rename(r.root + "/kept", r.root + "/sys")


@scenario("gpq hang: three looks, each in the memory that is kept; what is printed, the rank, verdicts; nothing of it is left when it cannot be written")
def _(r):
    os.environ.update(RANK="3", LOCAL_RANK="", WORLD_SIZE="8x", OMPI_COMM_WORLD_RANK="12", NO_RANK="5")
    a, b = r.target(0), r.target(0)
    for name in "RANK", "LOCAL_RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "NO_RANK":
        del os.environ[name]
    os.rename(r.root + "/sys", r.root + "/kept")
    gpu = evicted_host(r, a, b)

    def hang(*args, first=lambda p: None, then=lambda p: None):
        begin, looks = r.page.now_ns, []
        p = r.start("hang", "--over", "300ms", *args)
        first(p)
        for _ in range(3):
            r.until(lambda: r.waits(p) == 0.1)
            looks += [r.page.now_ns, r.page.now_ns + 100 * MS]
            r.move(100 * MS)
        then(p)
        return r.finish(p), looks

    def kept(path):
        try:
            with open(f"{r.dir}/{path}") as f:
                return f.read()
        except FileNotFoundError:
            return None
    r.write("/dev/kmsg", "3,1,5000000,-;amdgpu 0000:c0:00.0: amdgpu: Failed to evict process queues\n6,2,6000000,-;usb 1-1: new device\n"
            "4,3,7000000,-;amdgpu 0000:c1:00.0: amdgpu: [gfxhub0] page fault in x\n")
    r.write("/sys/bus/pci/devices/0000:c0:00.0/msi_irqs/130", "msi\n")
    r.write("/sys/kernel/irq/130/per_cpu_count", "3,0,4\n")
    # A py-spy that knows the first process alone.
    os.mkdir(r.dir + "/bin")
    with open(r.dir + "/bin/py-spy", "w") as f:
        f.write(f'#!/bin/sh\necho "$*"\necho main\n[ $4 = {a.pid} ]\n')
    os.chmod(r.dir + "/bin/py-spy", 0o755)
    path = r.env["PATH"]
    r.env["PATH"] = f"{r.dir}/bin:{path}"
    one = f"{r.dir}/one"
    said, looks = hang("-p", a.pid, one)
    evicted = "evicted: queue 2: by the driver, with all queues of the process on this GPU"
    host = "host: the first thread: anon_pipe_read"
    do = "do: wait some seconds; if it lasts: gpq events -p t1 names what evicts it, most often memory, and gpq ps who has how much"
    head = f"0 pid t1 target: {evicted} {host} {do} PATH PROCS QUEUES FILES SIZE DUMPS CONSISTENT WINDOW"  # lines end where PIDs let them
    yield said.replace(" / ", " ")[:len(head)], head
    yield said.split(" / ")[-1].split()[:3], [one, "1", "3"]
    yield kept(f"one/proc/{a.pid}/memory"), "".join(f"look {ns}\n" for ns in looks)
    yield kept("one/INTERRUPTS"), "".join(f"{ns} 0000:c0:00.0 7\n" for ns in dict.fromkeys(looks))  # one for each time
    yield kept(f"one/proc/{a.pid}/rank"), "RANK=3\nOMPI_COMM_WORLD_RANK=12\n"
    yield kept(f"one/proc/{b.pid}/memory"), None
    lost = "4,0,5000000,-;amdgpu 0000:c0:00.0: amdgpu: Failed to evict process queues\n"
    yield kept("one/dev/kmsg"), lost + "4,1,7000000,-;amdgpu 0000:c1:00.0: amdgpu: [gfxhub0] page fault in x\n"
    yield [os.path.exists(f"{r.dir}/one/sys/class/kfd/kfd/proc/{t.pid}") for t in (a, b)], [True, False]
    yield " ".join(kept("one/VERDICTS").split()), f"pid {a.pid} target: {evicted} {host} {do.replace('t1', str(a.pid))}"
    yield kept(f"one/proc/{a.pid}/task/{a.pid}/wchan"), "anon_pipe_read"
    yield kept(f"one/proc/{a.pid}/python"), f"dump --nonblocking --pid {a.pid}\nmain\n"
    yield [kept(f"one/proc/{a.pid}/{name}") for name in ("frozen", "shared")], [None, None]
    # Nothing is replaced, and what cannot be written leaves nothing.
    yield hang(one)[0].split(" / ")[-1], f"gpq: hang: {one} is there already; choose another name, or remove it first"
    yield hang(f"{r.dir}/none/two")[0][:2], "5 "
    # All processes, names replaced; as rows and as a document.
    yield hang("--redact", "-rno", "PID,STATE,STUCK,QUEUES,STUCK_QUEUES", "--table", "processes", f"{r.dir}/two")[0], \
        "0 / t1 evicted no 3 0 / t2 hung-or-long no 1 0"  # by its slot, which has packets and does not move
    yield kept("two/VERDICTS"), None
    yield kept(f"two/proc/{a.pid}/python"), None
    r.env["PATH"] = path
    yield kept("two/dev/kmsg"), lost
    yield [os.path.exists(f"{r.dir}/two/sys/class/kfd/kfd/proc/{t.pid}") for t in (a, b)], [True, True]
    yield {re.sub("[0-9]", "", kept(f"two/proc/{t.pid}/comm")) for t in (a, b)}, {"program\n"}
    document = hang("-J", "-p", a.pid, f"{r.dir}/three")[0]
    yield re.findall('"(schema|name|state|stood_ns|path|queues)": ?"?([^",]*)', document), [
        ("schema", "{"), ("name", "gpq.hang"), ("state", "evicted"), ("stood_ns", "null"), ("queues", "3"), ("path", f"{r.dir}/three"), ("queues", "3")]
    # Events of the process that come between the looks. Who listens ends with gpq, also where it is killed.
    with listen(r) as listener:
        def tell(p):
            stream, _ = listener.accept()
            child, left = children(p.pid)[-1], array.array("i", [0])  # the one before it reads memory
            r.until(lambda: r.syscall(child) == 7)  # poll
            at = r.page.now_ns + BOOT
            stream.sendall(f"9 {at - 2} -{b.pid} {gpu:x} 1\n9 {at - 1} -{a.pid} {gpu:x} 1\n".encode())
            r.until(lambda: fcntl.ioctl(stream, termios.TIOCOUTQ, left) or not left[0] and r.syscall(child) == 7)
            listeners.append((child, stream))

        listeners = []
        yield hang("-p", a.pid, f"{r.dir}/told", first=tell)[0][:2], "0 "
        yield [(row["event"], row["pid"], row["trigger"]) for row in map(json.loads, kept("told/EVENTS").splitlines()) if "trigger" in row], [
            ("queue-eviction", a.pid, "userptr")]
        yield lives(listeners[0][0]), False
        yield hang("-p", a.pid, "--redact", f"{r.dir}/untold", first=tell)[0][:2], "0 "
        yield kept("untold/EVENTS"), None
        p = r.start("hang", "--over", "1h", "-p", a.pid, f"{r.dir}/killed")
        tell(p)
        p.kill()
        yield wait_death(listeners[2][0]), True
    # A py-spy that does not end is waited for 10 s.
    with open(r.dir + "/bin/py-spy", "w") as f:
        f.write(f"#!/bin/sh\necho main\necho >{r.dir}/begun\nLD_PRELOAD= exec sleep 60\n")
    r.env["PATH"] = f"{r.dir}/bin:{path}"
    yield hang("-p", a.pid, f"{r.dir}/slow", then=lambda _: (r.until(lambda: os.path.exists(r.dir + "/begun")), r.move(10 * SECOND)))[0][:2], "0 "
    yield kept(f"slow/proc/{a.pid}/python"), None
    r.env["PATH"] = path
    # Without the dumps there are no rings; without queues there is nothing to look at.
    with open(r.root + "/sys/kernel/debug/kfd/mqds", "w"):
        pass
    yield r.gpq("hang", f"{r.dir}/four"), "5 / gpq: hang: no process has queues: nothing can hang; gpq ps lists processes that use a GPU"
    os.unlink(r.root + "/sys/kernel/debug/kfd/mqds")
    yield r.gpq("hang", f"{r.dir}/four")[:2], "6 "
    yield kept("four/MANIFEST"), None
    shutil.rmtree(r.root + "/sys")
    os.rename(r.root + "/kept", r.root + "/sys")


main()
