"""gpq sched: holds for hints and for work that it sees, by a clock of the test's own. sched.py TOP BUILD [WORD]. TAP."""
import contextlib
import json
import resource
import time

from scenario import *  # noqa: F403


def few_files(most=None):
    """The scheduler itself has to raise its limit, up to `most`."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, most or 256), most or resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def begin(most_files, ignored):
    few_files(most_files)
    ignore(*ignored)


class Sched:
    """A scheduler that runs; `link` is a client of its socket."""

    def __init__(self, r, *args, most_files=None, ignored=(), env=None):
        self.r, self.path = r, r.dir + "/hints"
        if os.path.exists(self.path) and "--for" not in args:
            os.unlink(self.path)
        self.p = r.start("sched", "--socket", self.path, *args, preexec_fn=lambda: begin(most_files, ignored), env=env or {})
        r.until(self.listens)
        self.link, self.asker, self.client_of_turns, self.asked = self.client(), self.client(), None, 0

    def listens(self):
        try:
            self.client().close()
            return True
        except OSError:
            return self.p.poll() is not None

    def client(self):
        return Link(self.r, path=self.path)

    def ask(self, request):
        """The answer, after which the scheduler has done its turn."""
        answer = self.link.ask(request)
        return answer

    def rows(self, record):
        self.asked += 1
        if self.asked % 8 == 0:  # a client may ask ten times at once (HINTS_STATUS_COST)
            self.asker.close()
            self.asker = self.client()
        self.asker.send("status")
        rows = []
        while (line := self.asker.line()) != "ok":
            if line is None:
                raise AssertionError(f"no answer: {self.p.poll()} {self.r.finish(self.p)}")
            rows.append(json.loads(line))
        return [row for row in rows if row["record"] == record]

    def until(self, condition):
        """Until the condition on its statistics holds. Seldom enough for the limit of connections."""
        until = time.monotonic() + PATIENCE
        while not (held := condition()) and time.monotonic() < until:
            time.sleep(0.005)
        return bool(held)

    def of(self, name, *members):
        """Members of a class."""
        return [row[m] for row in self.rows("class") if row["class"] == name for m in members]

    def members(self):
        return self.r.named(", ".join(f"{m['pid']} {m['class']} {m['state']}" for m in sorted(self.rows("member"), key=lambda m: m["pid"])))

    def settled(self, n):
        """Until n processes are attached to."""
        return self.until(lambda: self.members().count(" runs") >= n)

    def at(self, ns):
        """Moves the clock, and lets the scheduler take its turn."""
        self.r.move(ns)
        self.client_of_turns = self.client_of_turns or self.client()
        for _ in range(2):
            self.client_of_turns.ask("turn")  # no verb: an answer, and no more

    def answered(self, *targets):
        """Holders answer requests in their order: now the scheduler has the answers to its own."""
        for t in targets:
            link = self.r.link(t)
            link.ask("status")
            link.close()
        self.at(0)

    def end(self):
        self.p.send_signal(signal.SIGTERM)
        return self.r.finish(self.p)


def pids(*targets):
    return "pid=" + ",".join(str(t.pid) for t in targets)


@scenario("a hint holds, its end and --idle resume; answers tell how many are off; statistics")
def _(r):
    a, b = r.target(0), r.target(0, 1)
    s = Sched(r, "--offline", pids(a, b), "--idle", "5ms", "--max-hold", "10m", "--grace", "9")
    yield s.settled(2), True
    r.changes()
    yield s.ask("begin 1"), "ok off=2"
    yield (a.off, b.off), ("0", "0,1")
    yield sorted(r.changes()), ["t1 suspend 0 grace=9", "t2 suspend 0,1 grace=9"]
    with open(f"/proc/{s.p.pid}/limits") as f:
        soft, hard = next(line.split()[3:5] for line in f if line.startswith("Max open files"))
    yield soft, hard
    yield r.timers_of(a.holder), [(0, 600), (9, 601)]
    yield s.of("offline", "processes", "off", "missed", "holds"), [2, 2, 0, 1]
    s.at(3 * SECOND)
    yield s.ask("end 1"), "ok"
    s.at(5 * MS - 1)
    yield (a.off, b.off), ("0", "0,1")
    s.at(1)
    r.until(lambda: not a.off + b.off)
    yield (a.off, b.off), ("", "")
    yield sorted(r.changes()), ["t1 resume 0", "t2 resume 0,1"]
    s.until(lambda: s.of("offline", "longest_hold_ns") != [0])
    yield s.of("offline", "off", "holds", "contended_ns", "longest_hold_ns"), [0, 1, 3 * SECOND, 3005 * MS]
    yield s.of("online", "bursts", "busy_ns"), [1, 3 * SECOND]
    h = a.holder, b.holder
    yield s.end()[:1], "0"
    yield (wait_death(h[0]), wait_death(h[1]), a.tracer, r.holders()), (True, True, 0, [])


@scenario("what it could not read at some time is in its messages, and no failure at its end")
def _(r):
    t = r.target(0)
    s = Sched(r, "--offline", pids(t))
    yield s.settled(1), True
    s.at(0)
    files = resource.prlimit(s.p.pid, resource.RLIMIT_NOFILE)
    for limit in (4, files[1]), files:
        resource.prlimit(s.p.pid, resource.RLIMIT_NOFILE, limit)
        s.at(100 * MS)
    said = s.end()
    yield said[:1], "0"
    yield "Too many open files: what it says is missing" in said, True


@scenario("a signal that was ignored when it started does not end it")
def _(r):
    t = r.target(0)
    s = Sched(r, "--offline", pids(t), ignored=(signal.SIGINT, signal.SIGHUP))
    yield s.settled(1), True
    for sig in signal.SIGINT, signal.SIGHUP:
        s.p.send_signal(sig)
        s.at(0)
        yield (sig, s.ask("begin 1"), t.off, s.ask("end 1")), (sig, "ok off=1", "0", "ok")
    yield s.end()[:1], "0"


@scenario("a hold that ends before its holders have answered is none, and does not last as long as the one before")
def _(r):
    t = r.target(0)
    t.set_index(0, 5, 9)
    s = Sched(r, "--offline", pids(t), "--idle", "5ms", "--max-hold", "10m")
    yield s.settled(1), True
    yield s.ask("begin 1"), "ok off=1"
    s.at(SECOND)
    yield s.ask("end 1"), "ok"
    s.at(5 * MS)
    yield s.until(lambda: s.of("offline", "longest_hold_ns") == [1005 * MS]), True
    s.at(10 * SECOND)
    h = t.holder
    kill(h, signal.SIGSTOP)
    s.link.send("begin 1")
    s.at(10 * MS)
    s.link.send("end 1")
    s.at(0)
    s.at(5 * MS)
    kill(h, signal.SIGCONT)
    yield (s.link.take(), s.link.take())[1], "ok"
    for _ in range(3):  # it is suspended, then resumed
        s.answered(t)
    yield (t.off, s.members()), ("", "t1 offline runs")
    yield s.of("offline", "holds", "longest_hold_ns"), [1, 1005 * MS]
    yield s.end()[:1], "0"


@scenario("a socket that cannot be put in its place is said, and no other is left")
def _(r):
    t = r.target(0)
    os.mkdir(r.dir + "/place")
    r.page.file_error = EINVAL
    yield r.gpq("sched", "--offline", pids(t), "--socket", r.dir + "/place/hints").replace(r.dir, ""), (
        "1 / gpq: sched: /place/hints: put the socket in its place: Invalid argument")
    yield (os.listdir(r.dir + "/place"), r.holders()), ([], [])


@scenario("queues of secondary contexts run on: counted at the first hold of a process, and once")
def _(r):
    a, b, c = r.target(0), r.target(0), r.target(0)
    for t, qids in (a, (0, 1)), (c, (5,)):
        for context, qid in enumerate(qids):
            for file, text in ("gpuid", GPU), ("size", 4096), ("type", 0):
                r.write(f"/sys/class/kfd/kfd/proc/{t.pid}/context_{context + 1}/queues/{qid}/{file}", str(text))
    s = Sched(r, "-v", "--offline", pids(a, b, c), "--idle", "5ms", "--max-hold", "10m")
    yield s.settled(3), True
    yield s.of("offline", "unreached_queues"), [0]
    for _ in range(2):
        yield s.ask("begin 1"), "ok off=3"
        s.at(100 * MS)
        s.answered(a, b, c)
        yield s.of("offline", "unreached_queues", "off"), [3, 3]
        s.ask("end 1")
        s.at(5 * MS)
        r.until(lambda: not a.off + b.off + c.off)
        s.answered(a, b, c)
    said = s.end()
    yield (said[:1], said.count("gpq: sched: 3 processes so far; hints come in at ")), ("0", 1)


@scenario("what a hold costs: from the hint to the last queue off, from the decision to resume to the last queue on")
def _(r):
    a = r.target(0)
    s = Sched(r, "--offline", pids(a), "--idle", "5ms", "--max-hold", "10m")
    s.settled(1)
    r.once("suspend", lambda call: (r.move(3 * MS), call())[1])
    r.once("resume", lambda call: (r.move(2 * MS), call())[1])
    yield s.ask("begin 1"), "ok off=1 ns=3000000"
    s.at(SECOND)
    yield s.ask("end 1"), "ok"
    s.at(5 * MS)
    s.until(lambda: s.of("offline", "resume_max_ns") != [None])
    yield s.of("offline", "driver_calls", "reaction_p50_ns", "reaction_max_ns", "resume_p50_ns", "resume_max_ns", "cost_ns", "contended_ns",
               "longest_hold_ns"), [2, 3 * MS, 3 * MS, 2 * MS, 2 * MS, 5 * MS, 1003 * MS, 1007 * MS]


@scenario("--max-hold and --rest: no hold is longer, and the rest is as long")
def _(r):
    a = r.target(0)
    s = Sched(r, "--offline", pids(a), "--max-hold", "2s", "--rest", "300ms", "--lease", "2s")
    s.settled(1)
    yield s.ask("begin 1"), "ok off=1"
    s.at(1999 * MS)
    yield a.off, "0"
    s.link.ask("begin 1")  # renews the hint, not the hold
    s.at(1 * MS)
    r.until(lambda: not a.off)
    yield a.off, ""
    s.at(299 * MS)
    yield a.off, ""
    s.at(1 * MS)
    r.until(lambda: a.off)
    yield a.off, "0"
    s.at(1698 * MS)
    yield (a.off, s.of("online", "bursts")), ("0", [1])
    s.at(2 * MS)  # the hint is older than --lease
    s.at(10 * MS)
    r.until(lambda: not a.off)
    yield (a.off, s.rows("scheduler")[0]["hints"]), ("", 0)


@scenario("a hold that goes on as it was ended and begun while the holder was silent: renewed when its deadline has passed")
def _(r):
    a = r.target(0)
    s = Sched(r, "--offline", pids(a), "--idle", "5ms", "--max-hold", "2s")
    s.settled(1)
    yield s.ask("begin 1"), "ok off=1"
    s.at(500 * MS)
    h = a.holder
    kill(h, signal.SIGSTOP)
    a.add(1)  # its queues are asked for
    s.at(100 * MS)
    yield s.ask("end 1"), "ok"
    s.at(5 * MS)
    yield s.ask("begin 1"), "ok off=1"
    kill(h, signal.SIGCONT)
    s.answered(a)
    yield a.off, "0,1"
    s.at(1395 * MS)  # two seconds after the first hold
    s.answered(a)
    yield r.until(lambda: a.off), True
    yield Link(r, a).ask("status").split(", ")[-1], "ok held=2 since=0 until=2 follows"


@scenario("a client that ends, ends its hints; clients of their own do not end those of others")
def _(r):
    a = r.target(0)
    s = Sched(r, "--offline", pids(a), "--max-hold", "10m")
    s.settled(1)
    one, two = s.client(), s.client()
    yield one.ask("begin"), "ok off=1"
    yield two.ask("begin 7"), "ok off=1"
    one.close()
    s.at(SECOND)
    yield a.off, "0"
    yield two.ask("end 8"), "error id no such hint"
    two.close()
    s.until(lambda: s.rows("scheduler")[0]["hints"] == 0)
    s.at(10 * MS)
    r.until(lambda: not a.off)
    yield a.off, ""


@scenario("the scheduler is killed: everything runs; it hangs: the deadline of its holds ends them")
def _(r):
    a = r.target(0)
    s = Sched(r, "--offline", pids(a), "--max-hold", "2s")
    s.settled(1)
    s.ask("begin 1")
    h = a.holder
    kill(s.p.pid, signal.SIGSTOP)
    r.move(2 * SECOND - 1)
    yield Link(r, a).ask("status"), "0:suspended until=1e-09, ok held=1 since=-2 until=1e-09 follows"
    r.move(1)
    r.until(lambda: not a.off)
    yield (a.off, lives(h)), ("", True)
    s.p.send_signal(signal.SIGCONT)
    s.p.kill()
    yield ends(a, h), ENDED


@scenario("holders answer in any order: a hint is answered with the last of them")
def _(r):
    ts = [r.target(0) for _ in range(3)]
    s = Sched(r, "--offline", pids(*ts), "--idle", "5ms", "--max-hold", "10m")
    s.settled(3)
    for late in ts:
        kill(late.holder, signal.SIGSTOP)
        s.link.send("begin 1")
        r.until(lambda: all(t.off for t in ts if t is not late))
        yield late.off, ""
        kill(late.holder, signal.SIGCONT)
        yield s.link.take(), "ok off=3"
        s.at(SECOND)
        s.ask("end 1")
        s.at(5 * MS)
        r.until(lambda: not any(t.off for t in ts))
        s.answered(*ts)
        s.at(SECOND)


@scenario("a holder that does not answer for 2 s is missed, and its late answer is taken")
def _(r):
    a, b = r.target(0), r.target(0)
    s = Sched(r, "--offline", pids(a, b), "--max-hold", "10m")
    s.settled(2)
    kill(a.holder, signal.SIGSTOP)
    s.link.send("begin 1")
    yield s.until(lambda: "t2 offline off" in s.members()), True
    other = s.client()
    r.move(2 * SECOND - 1)
    for _ in range(3):
        other.ask("x")
    s.link.s.setblocking(False)
    try:
        early = s.link.s.recv(100)
    except BlockingIOError:
        early = None
    s.link.s.settimeout(PATIENCE)
    yield early, None
    r.move(1)
    for _ in range(3):
        other.ask("x")
    yield s.link.take(), "ok off=1 missed=1 ns=2000000000"
    yield s.members(), "t1 offline missed, t2 offline off"
    kill(a.holder, signal.SIGCONT)
    r.until(lambda: a.off)
    s.until(lambda: s.of("offline", "off") == [2])
    yield s.of("offline", "off", "missed"), [2, 0]


@scenario("newcomers that fit, and those that end; the first class that fits; what was idle for 10 s is left alone")
def _(r):
    a = r.target(0)
    s = Sched(r, "--online", "pid=1", "--offline", "comm=target", "--max-hold", "10m", "--no-activity")
    yield s.settled(1), True
    b = r.target(0)
    r.until(lambda: r.waits(s.p))
    for ms in 50, 99:
        yield (s.at(ms * MS), s.members())[1], "t1 offline runs, t2 offline joins"  # it may end at once
    s.at(1 * MS)
    yield s.settled(2), True
    young = r.target(0)
    s.at(50 * MS)
    yield s.ask("begin"), "ok off=2 missed=1"  # it is attached to behind the answer
    yield s.until(lambda: s.of("offline", "off") == [3]), True
    young.end()
    s.ask("end")
    s.at(10 * MS)
    r.until(lambda: not a.off + b.off)
    s.answered(a, b)
    a.end()
    s.at(100 * MS)
    s.until(lambda: s.of("offline", "processes") == [1])
    yield s.members(), "t2 offline runs"
    for _ in range(10):
        s.answered(b)
        s.at(980 * MS)
    s.answered(b)
    yield s.ask("begin 1"), "ok off=1"
    yield (s.ask("end 1"), s.at(10 * MS), r.until(lambda: not b.off))[::2], ("ok", True)
    for _ in range(11):
        s.answered(b)
        s.at(SECOND)
    s.answered(b)
    yield s.ask("begin 1"), "ok"
    yield (b.off, s.of("offline", "idle_processes", "missed")), ("", [1, 0])
    b.set_index(0, 3, 4)  # work comes while it is idle and should be held
    s.until(lambda: s.at(1 * MS) or s.of("offline", "off") == [1])  # the reader may answer a look later
    yield (b.off, s.of("offline", "idle_processes", "off")), ("0", [0, 1])


@scenario("a newcomer of the first class is watched at once")
def _(r):
    off = r.target(0)
    s = Sched(r, "--online", "comm=serve", "--offline", pids(off), "--interval", "1ms")
    yield s.settled(1), True
    on = r.target(0)
    on.say("name serve")
    s.at(50 * MS)
    yield s.settled(2), True  # the clock stands still
    on.set_index(0, 5, 6)
    yield s.until(lambda: s.at(1 * MS) or off.off), True
    s.end()
    s = Sched(r, "--online", "comm=serve", "--offline", "comm=target", "--no-activity")
    yield s.settled(2), True
    young = r.target(0)
    s.at(50 * MS)
    young.say("name serve")
    s.at(SECOND)  # it moves before it is attached to
    yield s.until(lambda: s.members() == "t1 offline runs, t2 online runs, t3 online runs"), True


@scenario("the queues of the first class tell that it has work: held from then on, until --idle after the last")
def _(r):
    on, off = r.target(0), r.target(0)
    s = Sched(r, "--online", pids(on), "--offline", pids(off), "--idle", "20ms", "--interval", "1ms")
    yield s.settled(2), True
    s.at(1 * MS)
    yield (on.off, off.off, s.of("online", "bursts")), ("", "", [0])
    on.set_index(0, 5, 6)
    s.until(lambda: s.at(1 * MS) or off.off)
    yield (on.off, off.off, s.of("online", "bursts")), ("", "0", [1])
    on.set_index(0, 6, 6)
    s.at(1 * MS)
    s.at(19 * MS)
    yield off.off, "0"
    s.until(lambda: s.at(2 * MS) or not off.off)
    yield off.off, ""


@scenario("three classes: the middle one is held for hints, and holds the last for its own work")
def _(r):
    mid, off = r.target(0), r.target(0)
    s = Sched(r, "--class", f"mid={pids(mid)}", "--offline", pids(off), "--idle", "20ms", "--max-hold", "10m")
    yield s.settled(2), True
    mid.set_index(0, 1, 2)
    s.until(lambda: s.at(1 * MS) or s.of("offline", "holds") == [1])
    yield (mid.off, off.off, s.of("mid", "bursts", "holds"), s.of("offline", "bursts", "holds")), ("", "0", [1, 0], [None, 1])
    yield s.ask("begin 1"), "ok off=2"
    yield (mid.off, off.off), ("0", "0")


def two_gpus(r):
    """A second GPU, of gpu_id 7."""
    nodes = r.root + "/sys/class/kfd/kfd/topology/nodes"
    shutil.copytree(nodes + "/1", nodes + "/2", dirs_exist_ok=True)
    r.write("/sys/class/kfd/kfd/topology/nodes/2/gpu_id", "7\n")


@scenario("GPU by GPU: work on one GPU holds what has queues there, and there alone")
def _(r):
    two_gpus(r)
    a, b, c = r.target(0), r.target((0, 2, 7)), r.target((0, 2, GPU), (1, 2, 7))
    s = Sched(r, "--offline", pids(a, b, c), "--idle", "5ms", "--max-hold", "10m")
    yield s.settled(3), True
    r.changes()
    yield s.ask("begin 1 gpu=0"), "ok off=2"
    yield (a.off, b.off, c.off), ("0", "", "0")
    yield s.ask("begin 2 gpu=7"), "ok off=2"  # by gpu_id
    yield (a.off, b.off, c.off), ("0", "0", "0,1")
    s.at(SECOND)
    yield s.ask("end 1"), "ok"
    s.at(5 * MS)
    r.until(lambda: not a.off and c.off == "1")
    s.answered(a, b, c)
    yield (a.off, b.off, c.off), ("", "0", "1")
    yield sorted(r.changes()), [
        "t1 resume 0", "t1 suspend 0 grace=0", "t2 suspend 0 grace=0", "t3 resume 0", "t3 suspend 0 grace=0", "t3 suspend 1 grace=0"]
    yield [[j[k] for k in ("class", "gpu_index", "gpu_id", "state", "for", "processes", "holds", "contended_ns")] for j in s.rows("job")], [
        ["offline", 0, GPU, "runs", None, 2, 1, SECOND], ["offline", 1, 7, "held", "online", 2, 1, 1005 * MS]]
    yield s.of("offline", "off", "holds", "contended_ns", "contended_off_ns"), [2, 2, 2005 * MS, 2005 * MS]
    yield s.ask("begin gpu=2"), "error request there is no such GPU"
    yield s.ask("begin 3 class=nosuch"), "error request there is no such class"
    a.add(3, 2, 7)  # on a GPU where others are held
    s.at(100 * MS)
    yield r.until(lambda: a.off), True
    yield a.off, "3"
    yield s.ask("end 2"), "ok"
    s.at(5 * MS)
    yield r.until(lambda: not a.off + b.off + c.off), True
    yield s.end()[:1], "0"


@scenario("GPU by GPU: what a SPEC does not choose is not named, and its end ends no other hold")
def _(r):
    two_gpus(r)
    a, b = r.target(0), r.target((0, 2, 7), (1, 2, GPU))
    s = Sched(r, "--offline", pids(a), "--offline", pids(b) + ",gpu=7", "--idle", "5ms", "--max-hold", "10m")
    yield s.settled(2), True
    r.changes()
    yield s.ask("begin 1 gpu=0"), "ok off=1"
    yield s.ask("begin 2 gpu=7"), "ok off=1"
    yield s.ask("end 1"), "ok"
    s.at(5 * MS)
    r.until(lambda: not a.off)
    s.answered(a, b)
    yield (a.off, b.off), ("", "0")
    yield sorted(r.changes()), ["t1 resume 0", "t1 suspend 0 grace=0", "t2 suspend 0 grace=0"]
    os.unlink(f"{r.root}/sys/class/kfd/kfd/proc/{b.pid}/queues/1/gpuid")
    os.mkdir(f"{r.root}/sys/class/kfd/kfd/proc/{b.pid}/queues/1/gpuid")  # cannot be read as a number
    b.add(2, 2, 7)
    s.at(100 * MS)
    s.answered(a, b)
    yield s.ask("begin 1 gpu=0"), "ok off=1"
    yield (a.off, b.off), ("0", "0,2")
    os.rmdir(f"{r.root}/sys/class/kfd/kfd/proc/{b.pid}/queues/1/gpuid")


@scenario("another SPEC of the same class, another class after an exec: what is chosen follows")
def _(r):
    two_gpus(r)
    a = r.target((0, 2, GPU), (1, 2, 7))
    s = Sched(r, "--class", "mid=comm=x", "--offline", "comm=target,gpu=0", "--offline", "comm=other,gpu=7", "--idle", "5ms", "--max-hold", "10m")
    yield s.settled(1), True
    yield s.ask("begin"), "ok off=1"
    yield a.off, "0"
    a.say("name other")
    s.at(SECOND)
    yield s.until(lambda: s.at(1 * MS) or a.off == "1"), True
    s.ask("end")
    s.at(5 * MS)
    yield r.until(lambda: not a.off), True
    yield s.end()[:1], "0"


@scenario("whose a hint is: of the class and on the GPUs of its process, which never holds itself")
def _(r):
    two_gpus(r)
    mid, off, other = r.target(0), r.target(0), r.target((0, 2, 7))
    s = Sched(r, "--class", f"mid={pids(mid)}", "--offline", pids(off, other), "--max-hold", "10m")
    yield s.settled(3), True
    for t in mid, off:
        os.symlink(s.path, t.path + ".socket")
    yield mid.say("hint begin 1").split()[:3], ["ok", "off=1", "missed=0"]
    yield (mid.off, off.off, other.off), ("", "0", "")
    yield sorted(c["class"] + str(c["gpus"]) for c in s.rows("client") if c["pid"] == mid.pid), ["mid0"]
    yield mid.say("hint begin 2 class=online"), "error request the client belongs to a class below, and would hold itself\n"
    yield mid.say("hint end 1"), "ok\n"
    s.at(10 * MS)
    yield r.until(lambda: not off.off), True
    yield off.say("hint begin").split()[:3], ["ok", "off=0", "missed=0"]  # for the last class nobody is held
    yield (mid.off, off.off, other.off), ("", "", "")
    yield s.ask("begin"), "ok off=3"  # of no class, without queues: online work on any GPU


@scenario("a client without queues belongs to the class that its SPEC says: the server in front of an engine")
def _(r):
    engine, off = r.target(0), r.target(0)
    s = Sched(r, "--class", f"mid={pids(engine)},{os.getpid()}", "--offline", pids(off), "--max-hold", "10m")
    yield s.settled(2), True
    s.at(100 * MS)
    yield s.ask("begin 1"), "ok off=1"
    yield (engine.off, off.off), ("", "0")
    yield [c["class"] for c in s.rows("client") if c["hints"]], ["mid"]


@scenario("--job-by: all processes of a job are held, on all of their GPUs, or none is")
def _(r):
    two_gpus(r)
    a, b = r.target(0), r.target((0, 2, 7))
    s = Sched(r, "--offline", "comm=target", "--job-by", "parent", "--idle", "5ms", "--max-hold", "10m")
    yield s.settled(2), True
    yield s.ask("begin gpu=0"), "ok off=2"
    yield (a.off, b.off), ("0", "0")
    yield [[j[k] for k in ("job_by", "gpu_index", "state", "processes")] for j in s.rows("job")], [[f"parent {os.getpid()}", None, "held", 2]]
    s.ask("end")
    s.at(5 * MS)
    r.until(lambda: not a.off + b.off)
    s.answered(a, b)
    c = r.target(0)
    r.foreign(c)  # a debugger has it
    s.at(50 * MS)
    s.at(100 * MS)
    s.until(lambda: s.members().count("missed"))
    s.at(SECOND)
    yield s.ask("begin gpu=7"), "ok missed=3"
    yield (a.off, b.off, [j["state"] for j in s.rows("job")]), ("", "", ["refused"])
    c.end()
    yield s.until(lambda: s.at(100 * MS) or s.of("offline", "processes") == [2]), True
    # 5 s later, or after a holder that had no processor for an answer, which refuses once more.
    # Time stands still once it is tried again: it would end the hint before a slow holder answers.
    yield s.until(lambda: s.at(SECOND if s.rows("job")[0]["state"] == "refused" else 0) or a.off + b.off == "00"), True


@scenario("who no longer fits is let go, who fits another class moves")
def _(r):
    a, b = r.target(0), r.target(0)
    s = Sched(r, "--class", "mid=comm=mid", "--offline", "comm=target", "--idle", "5ms", "--max-hold", "10m")
    yield s.settled(2), True
    yield s.ask("begin"), "ok off=2"
    h = a.holder
    a.say("name other")
    s.at(SECOND)
    yield (a.off, "t1 offline off" in s.members()), ("0", True)  # it may be a mistake of one look
    s.at(SECOND)
    yield r.until(lambda: not a.off), True
    yield (wait_death(h), s.members(), b.off), (True, "t2 offline off", "0")
    b.say("name mid")
    s.at(SECOND)
    yield s.until(lambda: s.members() == "t2 mid off"), True
    s.ask("end")
    s.at(5 * MS)
    yield r.until(lambda: not b.off), True
    a.say("name target")
    s.at(SECOND)
    s.at(100 * MS)
    yield s.until(lambda: s.members() == "t1 offline runs, t2 mid runs"), True
    b.set_index(0, 1, 2)  # work of the class that it came to
    yield s.until(lambda: s.at(1 * MS) or a.off), True
    yield b.off, ""


@scenario("a hint for longer than --max-hold: holds and rests take turns, and what has expired is told")
def _(r):
    a = r.target(0)
    s = Sched(r, "--offline", pids(a), "--max-hold", "1s", "--rest", "100ms")
    s.settled(1)
    yield s.ask("begin 1 for=8s"), "ok off=1"
    for _ in range(7):
        s.at(SECOND)
        yield r.until(lambda: not a.off), True
        s.answered(a)
        s.at(100 * MS)
        yield r.until(lambda: a.off), True
        s.answered(a)
    yield s.rows("scheduler")[0]["expired"], 0
    s.at(300 * MS + 1)
    yield s.until(lambda: s.rows("scheduler")[0]["expired"] == 1), True
    s.at(10 * MS)
    yield r.until(lambda: not a.off), True
    s.link.send("end 1")
    yield s.link.line(), "ok expired"
    s.at(SECOND)
    yield s.ask("begin 2"), "ok off=1"
    s.at(60 * SECOND)
    yield s.rows("scheduler")[0]["expired"], 1
    s.at(1)
    yield s.rows("scheduler")[0]["expired"], 2


@scenario("--status: what it counts of itself and of its clients; rates are by the clock")
def _(r):
    a = r.target(0)
    s = Sched(r, "--offline", pids(a), "--max-hold", "10m", "--share", "80:20", "--period", "400ms")
    s.settled(1)
    s.at(5 * SECOND)
    s.asked = 0  # one client asks from here on: requests are counted of those that are connected
    many = s.client()
    many.s.sendall(b"end 3\n" * 210)  # 200 at once, then one each 0.5 ms
    yield {many.take() for _ in range(200)}, {"error id no such hint"}
    (row,) = s.rows("scheduler")
    yield [row[k] for k in ("policy", "up_ns", "max_hold_ns", "clients", "hints", "throttled", "refused", "left_out")], [
        "share 80:20", 5 * SECOND, 600 * SECOND, 4, 0, 1, 0, 0]
    requests = row["requests"]
    s.at(5 * MS)
    yield {many.take() for _ in range(10)}, {"error id no such hint"}
    (row,) = s.rows("scheduler")
    yield row["requests"] - requests, 10 + 2 + 1  # those, two of at(), the status itself
    many.close()
    s.at(0)
    yield s.rows("scheduler")[0]["clients"], 3


@scenario("at least 16 are held however few files may be open; that others run is said once, and counted")
def _(r):
    if os.geteuid():
        return  # a user but root may have a quarter of them
    targets = [r.target(0) for _ in range(18)]
    s = Sched(r, "--offline", pids(*targets), "--max-hold", "10m", most_files=140)
    yield s.settled(16), True
    yield s.rows("scheduler")[0]["left_out"], 2
    yield [x for x in s.end().split(" / ") if "as many" in x], [
        "gpq: sched: 16 processes are as many as can be held: further ones run; gpq sched --status counts them (LEFT_OUT)"]


@scenario("--share 80:20: the class below gets its slice of contended time")
def _(r):
    a = r.target(0)
    s = Sched(r, "--offline", pids(a), "--max-hold", "10m", "--share", "80:20", "--period", "400ms")
    s.settled(1)
    s.at(100 * MS)  # it asks for the queues once more
    s.answered(a)
    yield s.ask("begin 1"), "ok off=1"
    s.at(320 * MS - 1)
    s.answered(a)
    yield a.off, "0"
    s.at(2)
    r.until(lambda: not a.off)
    yield a.off, ""
    s.at(79 * MS)
    yield a.off, ""
    s.at(2 * MS)
    r.until(lambda: a.off)
    yield a.off, "0"


@scenario("--slo: while requests keep the goal, some run beside the class below; when they miss it, none does")
def _(r):
    a = r.target(0)
    s = Sched(r, "--offline", pids(a), "--slo", "p90 < 50ms", "--idle", "1ms", "--max-hold", "10s")
    s.settled(1)

    def request(ms):
        answer = s.ask("begin 1")
        s.at(ms * MS)
        s.answered(a)
        s.ask("end 1")
        s.at(2 * MS)
        r.until(lambda: not a.off)
        s.answered(a)
        return answer

    def policy():
        return s.rows("scheduler")[0]["policy"]
    yield policy(), "p90 < 50ms 100:0"
    yield {request(40) for _ in range(20)}, {"ok off=1"}
    yield policy(), "p90 < 50ms 97.5:2.5"
    yield {request(40) for _ in range(120)}, {"ok off=1", "ok missed=1"}
    yield policy(), "p90 < 50ms 90.5:9.54"
    for ms in 60, 40, 60, 40, 60:  # clients that give up: those that waited for longer than the goal count
        c = s.client()
        c.ask("begin 1")
        s.at(ms * MS)
        c.close()
        s.until(lambda: s.rows("scheduler")[0]["hints"] == 0)
        s.at(2 * MS)
        r.until(lambda: not a.off)
        s.answered(a)
    yield policy(), "p90 < 50ms 95.2:4.77"
    for _ in range(6):
        request(60)
    yield policy(), "p90 < 50ms 100:0"
    yield {request(40) for _ in range(10)}, {"ok off=1"}


def turns(s, n, a, b):
    """Which of two is off, as that changes in n looks 4 ms apart. Each is asked at the same time: for a moment both may be off, or on."""
    seen = []
    for _ in range(n):
        s.at(4 * MS)
        s.answered(a, b)
        now = (a.off, b.off)
        if now in (("", "0"), ("0", "")) and seen[-1:] != [now]:
            seen.append(now)
    return seen


@scenario("deadline=: what is below runs as long as that leaves more time than requests need")
def _(r):
    a, on = r.target(0), r.target(0)
    s = Sched(r, "--online", pids(on), "--offline", pids(a), "--idle", "1ms", "--max-hold", "10s")
    s.settled(2)

    def request(ms, deadline="", lax=0):
        """Its answer, whether the class below was off before `lax` ms, and whether it was then."""
        answer, early, held = s.ask(f"begin 1{deadline}"), False, None
        for at in range(0, ms, 5):
            if at < lax:
                early |= a.off != ""
            elif held is None:
                held = r.until(lambda: a.off)
            s.at(5 * MS)
        s.ask("end 1")
        s.until(lambda: s.at(1 * MS) or not a.off)
        return answer, early, held
    yield request(60), ("ok off=1", False, True)
    yield s.of("online", "need_ns"), [None]  # those without a deadline say nothing of those with one
    yield request(40, " deadline=100ms"), ("ok off=1", False, True)
    yield s.of("online", "need_ns"), [40 * MS]
    yield [request(ms, " deadline=100ms", 100) for ms in (40, 55)], [("ok", False, None)] * 2
    yield request(90, " deadline=100ms", 60), ("ok", False, True)
    yield s.of("online", "deadlines", "late"), [4, 0]
    yield request(120, " deadline=100ms", 60), ("ok", False, True)  # that is 60 ms, and 20 ms late
    yield s.of("online", "deadlines", "late"), [5, 1]
    yield request(90, " deadline=100ms", 20), ("ok", False, True)
    yield [request(30) for _ in range(3)][-1][0], "ok off=1"
    yield s.of("online", "need_ns"), [80 * MS]
    # Only the hint of a process itself speaks for its queues.
    s.ask("begin 2 deadline=1h")
    on.set_index(0, 3, 4)
    yield s.until(lambda: s.at(1 * MS) or a.off), True
    s.end()
    s = Sched(r, "--offline", pids(a), "--idle", "1ms", "--max-hold", "10s", "--no-deadlines")
    s.settled(1)
    yield [request(40, " deadline=100ms") for _ in range(2)], [("ok off=1", False, True)] * 2
    yield s.of("online", "deadlines", "late", "need_ns"), [2, 0, 40 * MS]


@scenario("--share 50:50 of two classes that both work: they take turns, and online work stops both")
def _(r):
    mid, off = r.target(0), r.target(0)
    s = Sched(r, "--class", f"mid={pids(mid)}", "--offline", pids(off), "--max-hold", "10m", "--share", "50:50", "--period", "200ms")
    s.settled(2)
    mid.set_index(0, 1, 2)
    yield s.until(lambda: s.at(1 * MS) or off.off), True
    yield (mid.off, off.off), ("", "0")
    yield turns(s, 110, mid, off), [("", "0"), ("0", "")] * 2 + [("", "0")]
    yield s.until(lambda: s.at(1 * MS) or mid.off), True
    s.at(20 * MS)  # in the middle of that turn
    yield s.ask("begin"), "ok off=2"
    yield (mid.off, off.off), ("0", "0")


@scenario("--slice: jobs of a class that share a GPU take turns, and online work holds both")
def _(r):
    a, b = r.target(0), r.target(0)
    s = Sched(r, "--offline", pids(a, b), "--job-by", "process", "--slice", "200ms", "--max-hold", "10m")
    yield s.until(lambda: s.at(1 * MS) or a.off or b.off), True
    seen = turns(s, 200, a, b)
    yield sorted(set(seen)), [("", "0"), ("0", "")]
    yield 3 <= len(seen) <= 5, True
    off = "t1" if a.off else "t2"
    yield off + r.gpq("sched", "--explain", (a if a.off else b).pid, "--socket", s.path).partition("all of its GPUs: ")[2].partition(" for ")[0], off + "held"
    yield ": it is the turn of another job of its class (--slice)" in r.gpq("sched", "--explain", (a if a.off else b).pid, "--socket", s.path), True
    yield s.ask("begin"), "ok off=2"
    yield (a.off, b.off), ("0", "0")
    s.ask("end")
    yield s.until(lambda: s.at(1 * MS) or not (a.off and b.off)), True
    s.at(20 * MS)
    yield sorted((a.off, b.off)), ["", "0"]


@scenario("--slice: the job of which a request has the earliest deadline that counts has the next slice, at once")
def _(r):
    a, b = r.target(0), r.target(0)
    s = Sched(r, "--offline", pids(a, b), "--job-by", "process", "--slice", "5m", "--max-hold", "10m")
    for t in a, b:
        with contextlib.suppress(FileExistsError):  # of another scenario, and to the same socket
            os.symlink(s.path, t.path + ".socket")
    yield s.until(lambda: s.at(1 * MS) or a.off or b.off), True
    runs, waits = (b, a) if a.off else (a, b)
    waits.say("hint begin 1")  # without a deadline it is work like any other
    s.at(SECOND)
    s.answered(a, b)
    yield (runs.off, waits.off), ("", "0")
    waits.say("hint begin 2 deadline=1m")
    yield s.until(lambda: s.at(1 * MS) or (runs.off and not waits.off)), True
    runs.say("hint begin 1 deadline=30s")
    yield s.until(lambda: s.at(1 * MS) or (waits.off and not runs.off)), True
    runs.say("hint end 1")
    yield s.until(lambda: s.at(1 * MS) or (runs.off and not waits.off)), True


@scenario("gpq sched --status, from outside")
def _(r):
    a, b = r.target(0), r.target(0)
    s = Sched(r, "--offline", pids(a, b), "--max-hold", "10m")
    s.settled(2)
    s.ask("begin 1")
    s.at(3 * SECOND)
    yield r.gpq("sched", "--status", "--socket", s.path, "-r", "-n", "-o", "CLASS,PROCS,OFF,HOLDS,CONTENDED"), (
        f"0 / online 0 0 0 0 / offline 2 2 1 {3 * SECOND}")
    yield sorted(r.gpq("sched", "--status", "--table", "members", "--socket", s.path, "-r", "-n", "-o", "PID,CLASS,STATE").split(" / ")), [
        "0", "t1 offline off", "t2 offline off"]
    yield r.gpq("sched", "--status", "--socket", s.path, "--table", "decisions", "-rno", "AGE,WHAT,CLASS,GPUS,FOR").split(" / "), [
        "0", f"{3 * SECOND} unit offline 0 -", f"{3 * SECOND} work online all -", f"{3 * SECOND} hold offline 0 online",
        f"{3 * SECOND} done offline 0 online"]
    found = r.gpq("sched", "--status", "--socket", s.path, "--table", "latency", "-rno", "CLASS,WHAT,LE,COUNT").split(" / ")[1:]
    yield [x for x in found if " 0.001 " in x or "Inf" in x], [
        "online wait 0.001 1", "online wait +Inf 1", "online request 0.001 0", "online request +Inf 0",
        "offline request 0.001 0", "offline request +Inf 0", "offline reaction 0.001 1", "offline reaction +Inf 1",
        "offline resume 0.001 0", "offline resume +Inf 0"]
    kill(s.p.pid, signal.SIGSTOP)
    p = r.start("sched", "--status", "--socket", s.path)
    yield r.still_waits(p, 5), True  # gpq_status() of libgpqclient
    yield r.finish(p), "1 / gpq: sched: ask the scheduler: Connection timed out"
    s.p.send_signal(signal.SIGCONT)


@scenario("--log-decisions and --replay: the same work under the same policy gives the same decisions; no disk ends nothing")
def _(r):
    two_gpus(r)
    a, b = r.target(0), r.target((0, 2, 7))
    log, again = r.dir + "/log", r.dir + "/again"
    policy = "--idle", "6ms", "--max-hold", "500ms", "--rest", "40ms", "--lease", "500ms"
    s = Sched(r, "--offline", pids(a, b), *policy, "--log-decisions", log)
    yield s.settled(2), True
    other = s.client()
    for link, request, ms in (
            (s.link, "begin 1 gpu=0", 20), (s.link, "begin 2 gpu=7", 100), (s.link, "end 1", 4), (s.link, "begin 1 gpu=0 for=9s", 600),
            (s.link, "end 2", 300), (s.link, "end 1", 50), (s.link, "begin 3 gpu=0 deadline=200ms", 30), (s.link, "end 3", 20),
            (s.link, "begin 3 gpu=0 deadline=100ms", 20), (other, "begin gpu=0 deadline=90ms", 66), (s.link, "end 3", 20), (other, None, 20),
            (s.link, "begin 3 gpu=7 deadline=60ms", 40), (s.link, "end 3", 20)):
        link.send(request) if request else link.close()
        s.answered(a, b)
        for _ in range(ms // 2):
            s.at(2 * MS)
            s.answered(a, b)
    found = s.of("offline", "holds", "contended_ns", "contended_off_ns", "longest_hold_ns")
    yield s.end()[:1], "0"

    def decisions(name):
        with open(name) as f:
            lines = [json.loads(line) for line in f]
        return [(d["what"], d["ns"], d["gpus"], d.get("for")) for d in lines if d["what"] in ("hold", "release")]
    holds = [d for d in decisions(log) if d[0] == "hold"]
    # Two of the first GPU; the second hint expires after 500 ms. The first with a deadline, and 30 ms before theirs those at 70, 80 and 30 ms.
    yield (found[0], len(holds)), (6, 6)
    with open(log) as f:
        yield [(d["what"], d["took_ns"] // MS, d["deadline_ns"] // MS) for d in map(json.loads, f) if d["deadline_ns"]], [
            ("request", 30, 200), ("request", 86, 100), ("abandoned", 86, 90), ("request", 40, 60)]
    yield r.gpq("sched", "--replay", log, *policy, "--log-decisions", again, "--table", "classes", "-rno", "CLASS,HOLDS,CONTENDED").split(" / "), [
        "0", "online 0 0", f"offline {found[0]} {found[1]}"]
    yield decisions(again), decisions(log)
    s = Sched(r, "--offline", pids(a, b), "--log-decisions", "/dev/full")
    yield s.settled(2), True
    yield s.ask("begin"), "ok off=2"
    yield [x for x in s.end().split(" / ") if "--log-d" in x], [
        "gpq: sched: --log-decisions: No space left on device; nothing more is logged there"]


@scenario("a service manager is told that it is ready, that it runs, and that it ends")
def _(r):
    a = r.target(0)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(r.dir + "/manager")
        manager.settimeout(PATIENCE)
        s = Sched(r, "--offline", pids(a), env={"NOTIFY_SOCKET": r.dir + "/manager", "WATCHDOG_USEC": "4000000"})
        yield manager.recv(64), b"READY=1"
        s.at(0)
        yield manager.recv(64), b"WATCHDOG=1"
        s.at(2 * SECOND - 1)
        s.at(1)
        yield manager.recv(64), b"WATCHDOG=1"  # of 4 s it takes half
        yield s.end()[:1], "0"
        yield manager.recv(64), b"STOPPING=1"
        manager.setblocking(False)
        try:
            yield manager.recv(64), None
        except BlockingIOError:
            pass
        s = Sched(r, "--offline", pids(a), "--for", "1s", env={"NOTIFY_SOCKET": r.dir + "/manager", "WATCHDOG_USEC": "4000000", "WATCHDOG_PID": "1"})
        manager.settimeout(PATIENCE)
        yield manager.recv(64), b"READY=1"
        s.end()
        yield manager.recv(64), b"STOPPING=1"  # the watchdog was another process's


@scenario("--config: SIGHUP reads it again: what is held stays held, and what is wrong changes nothing")
def _(r):
    a, b = r.target(0), r.target(0)
    path = r.dir + "/conf"

    def write(*lines):
        with open(path, "w") as f:
            f.write("".join(line + "\n" for line in lines))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(r.dir + "/asks")
        manager.settimeout(PATIENCE)

        def reload(*lines):
            write(*lines)
            s.p.send_signal(signal.SIGHUP)
            return [manager.recv(64).decode().split("=")[0] for _ in range(2)] == ["RELOADING", "READY"]
        write("# the first", "", f"\toffline = {pids(a)}", "class mid=comm=nobody", "max-hold=100ms", "idle 5ms \r")
        s = Sched(r, "--config", path, "--rest", "1s", "--grace", "0", env={"NOTIFY_SOCKET": r.dir + "/asks"})
        yield manager.recv(64), b"READY=1"
        yield s.settled(1), True
        yield reload(f"offline = {pids(a)}", "class mid=comm=nobody", "max-hold 10m", "idle 5ms"), True
        yield s.ask("begin"), "ok off=1"
        s.at(SECOND)  # its holder has the new deadline
        yield a.off, "0"
        r.changes()
        more = [f"offline {pids(a)}", f"offline {pids(b)}", "class mid=comm=nobody", "max-hold 20m", "idle 9ms", "idle 5ms", "rest 3s", "grace 9", "log /nix"]
        yield reload(*more), True
        yield s.rows("scheduler")[0]["max_hold_ns"], 1200 * SECOND
        yield r.until(lambda: b.off), True
        yield [x for x in r.changes() if "t1" in x or "suspend" in x], ["t2 suspend 0 grace=0"]
        yield reload("offline comm=target,nosuch=1"), True
        yield reload("offline comm=target", "class other=comm=x"), True
        yield reload("offline comm=target", "idl 5ms"), True
        yield reload("offline comm=target", "share 1:1", "slo p99 < 1ms"), True
        yield reload("offline comm=target", "class mid=comm=x", "share 4:3:2:1"), True
        yield reload("offline comm=target", "class mid=comm=x", "job-by process", "slice 100ms"), True
        os.unlink(path)
        s.p.send_signal(signal.SIGHUP)
        yield [manager.recv(64)[:9] for _ in range(2)], [b"RELOADING", b"READY=1"]
        yield (s.members(), a.off, b.off), ("t1 offline off, t2 offline off", "0", "0")
        yield reload("offline pid=999999999", "offline " + pids(b), *more[2:4], "idle 7ms", "no-deadlines"), True  # one that has ended
        yield s.until(lambda: s.at(SECOND) or s.members() == "t2 offline off"), True
        yield r.until(lambda: not a.off), True  # its holder ends in its own time
        yield b.off, "0"
        said = [x.replace(path, "FILE") for x in s.end().split(" / ") if x.startswith("gpq:")]
        wrong = ["gpq: sched: FILE: the scheduler goes on as before"]
        yield said, [
            "gpq: sched: --class comm=nobody: fits nothing now; gpq ps -a lists what can be chosen",
            "gpq: sched: FILE: reloaded: max-hold: 100ms -> 10m",
            "gpq: sched: FILE: reloaded: offline: pid=t1 -> pid=t1, pid=t2",
            "gpq: sched: FILE: reloaded: max-hold: 10m -> 20m",
            "gpq: sched: FILE: --log is as it was when the scheduler started; restart it for that",
            "gpq: sched: FILE: --offline: nosuch is no key; KEY=VALUE chooses, as comm=train or container=serve; keys: pid, ns-pid, tree, "
            "container, cgroup, pod, job, user, comm, cmdline, queue, gpu", *wrong,
            "gpq: sched: FILE: the classes have other names, or another order; restart the scheduler for that", *wrong,
            "gpq: sched: FILE: line 2: idl is no option of such a file, did you mean idle; long names of options, without dashes", *wrong,
            "gpq: sched: FILE: --slo and --share exclude each other; --slo finds the parts itself, by how long hints last", *wrong,
            "gpq: sched: FILE: --share 4:3:2:1 gives parts to 4 classes, but there are 3; two parts are for any number of classes", *wrong,
            "gpq: sched: FILE: --slice is for jobs, and it started without --job-by; restart the scheduler for that", *wrong,
            "gpq: sched: FILE: No such file or directory", *wrong,
            "gpq: sched: FILE: reloaded: offline: pid=t1, pid=t2 -> pid=999999999, pid=t2",
            "gpq: sched: FILE: reloaded: idle: 5ms -> 7ms",
            "gpq: sched: FILE: reloaded: no-deadlines: (nothing) -> given"]


@scenario("--config: --slice can go, though --tenant-by stays as it was; weights are read again")
def _(r):
    a, b = r.target(0), r.target(0)
    path = r.dir + "/conf"

    def write(*lines):
        with open(path, "w") as f:
            f.write("".join(line + "\n" for line in ("job-by process", "max-hold 10m", "offline comm=target", *lines)))
    write("slice 200ms", "tenant-by user")
    s = Sched(r, "--config", path)
    yield s.until(lambda: s.at(1 * MS) or a.off or b.off), True
    write("slice 200ms", "weight 0=3")
    os.kill(s.p.pid, signal.SIGHUP)
    s.at(20 * MS)
    c = r.target(0)  # comes after it, and is a job of the same tenant
    yield s.until(lambda: s.at(1 * MS) or len(s.rows("job")) == 3), True
    yield sorted(j["job_by"] for j in s.rows("job")), sorted(f"pid {t.pid}" for t in (a, b, c))
    yield len({j["tenant"] for j in s.rows("job")} - {""}), 1
    write()
    os.kill(s.p.pid, signal.SIGHUP)
    s.at(20 * MS)
    yield s.until(lambda: s.at(1 * MS) or not (a.off or b.off or c.off)), True
    kept = "gpq: sched: FILE: --tenant-by is as it was when the scheduler started; restart it for that"
    yield [x.replace(path, "FILE") for x in s.end().split(" / ") if x.startswith("gpq:")], [
        "gpq: sched: FILE: reloaded: weight: (nothing) -> 0=3", kept,
        "gpq: sched: FILE: reloaded: slice: 200ms -> (nothing)", "gpq: sched: FILE: reloaded: weight: 0=3 -> (nothing)", kept]


@scenario("SIGHUP goes on in a new log of decisions where the old one was moved, and both can be replayed")
def _(r):
    a = r.target(0)
    path, log = r.dir + "/conf", r.dir + "/moved"
    with open(path, "w") as f:
        f.write(f"max-hold 10m\noffline {pids(a)}\nlog-decisions {log}\n")
    s = Sched(r, "--config", path)
    yield s.settled(1), True
    s.ask("begin 1")
    s.at(SECOND)
    for to in None, log + ".1":
        if to:
            os.rename(log, to)
        s.p.send_signal(signal.SIGHUP)
        s.at(0)  # it sees the signal before the request
        s.at(SECOND)
    s.ask("end 1")
    s.at(10 * MS)
    r.until(lambda: not a.off)
    yield s.end()[:1], "0"
    whats = []
    for name in log + ".1", log:
        with open(name) as f:
            whats += [[json.loads(line)["what"] for line in f]]
    yield [w[:4] for w in whats], [["class", "class", "unit", "work"], ["class", "class", "work", "unit"]]
    yield [w.count("class") for w in whats], [2, 2]  # a file that was not moved goes on
    whole = os.path.getsize(log)
    with open(log, "a") as f:
        f.write('{"record":"deci')  # a scheduler that was killed
    yield r.gpq("sched", "--replay", log + ".1", "--log-decisions", log)[:1], "0"
    with open(log) as f:
        yield [line for line in f.read().split("\n") if '"record"' in line and not line.endswith("}")], ['{"record":"deci']
    os.truncate(log, whole + 15)
    yield [r.gpq("sched", "--replay", name, "--table", "classes", "-rno", "HOLDS").split(" / ")[-1] for name in (log + ".1", log)], ["1", "1"]


@scenario("without --config SIGHUP ends it; --audit says once who sends hints, and who is refused")
def _(r):
    a = r.target(0)
    s = Sched(r, "--offline", pids(a), "--audit")
    s.settled(1)
    for request in "begin 1", "begin 2", "nonsense", "begin 3 class=x", "end 1":
        s.ask(request)
    other = s.client()
    yield other.ask("begin class=nosuch"), "error request there is no such class"
    s.p.send_signal(signal.SIGHUP)
    said = r.finish(s.p).split(" / ")
    who = f"pid {os.getpid()} of user {os.getuid()}"
    yield (said[0], [x for x in said if who in x]), ("0", [
        f"gpq: sched: {who} sends hints",
        f"gpq: sched: {who} is refused: request expected begin [ID] [gpu=] [class=] [for=] [deadline=], end [ID] or status",
        f"gpq: sched: {who} is refused: there is no such class"])


@scenario("--explain: why a process is held or runs, for whom, and for how long at most")
def _(r):
    two_gpus(r)
    a, mid, other = r.target((0, 2, GPU), (1, 2, 7)), r.target(0), r.target(0)
    s = Sched(r, "--class", f"mid={pids(mid)}", "--offline", pids(a), "--idle", "5ms", "--max-hold", "10s", "--rest", "1s", "--online", pids(other))
    yield s.settled(3), True

    def explain(t):
        return r.gpq("sched", "--explain", t.pid, "--socket", s.path).replace(str(os.getpid()), "me")
    yield explain(other), "0 / pid t3 (target) is of class online, which is never held"
    yield explain(a), ("0 / pid t1 (target) is of class offline / GPU 0: runs: no class above has work there / "
                       "GPU 1: runs: no class above has work there")
    yield s.ask("begin gpu=0 for=30s"), "ok off=2"
    s.at(3 * SECOND)
    yield explain(a), ("0 / pid t1 (target) is of class offline / GPU 0: held for 3s: online has work (hints of pid me); 7s more at most / "
                       "GPU 1: runs: no class above has work there")
    mid.set_index(0, 1, 2)
    s.at(7 * SECOND + 1)
    yield r.until(lambda: not a.off), True
    s.answered(a, mid)
    yield explain(mid), ("0 / pid t2 (target) is of class mid / GPU 0: runs after a hold of --max-hold: online has work (hints of pid me); "
                         "1s more at least")
    s.ask("end")
    s.ask("begin 2 class=mid gpu=7")
    yield [c["hinted"] for c in s.rows("client") if c["hints"]], ["mid:1"]
    yield explain(a).split(" / ")[3], "GPU 1: held for 0ns: mid has work (hints of pid me); 10s more at most"
    s.ask("end 2")
    s.at(1 * MS)
    yield explain(a).split(" / ")[3], "GPU 1: held for 1ms: work above was there a moment ago (--idle, COST); 10s more at most"
    mid.set_index(0, 2, 2)
    s.ask("begin 3 gpu=7 deadline=1h")
    s.at(1 * MS)
    s.ask("end 3")
    s.ask("begin 3 gpu=7 deadline=1h")
    s.until(lambda: s.at(5 * MS) or explain(a).count("runs") == 2)
    yield explain(a).split(" / ")[2:], ["GPU 0: runs: no class above has work there",
                                        "GPU 1: runs: no class above has work there (deadlines of hints leave time)"]
    yield [c["hinted"] for c in s.rows("client") if c["hints"] + c["later"]], ["later:online:1"]
    yield r.gpq("sched", "--explain", 1, "--socket", s.path), (
        "5 / gpq: sched: pid 1 belongs to no class of the scheduler: it runs; gpq sched --status --table members lists them")


@scenario("a second scheduler on the same socket, a socket that a killed one has left, no socket")
def _(r):
    a = r.target(0)
    s = Sched(r, "--offline", pids(a))
    s.settled(1)
    said = r.gpq("sched", "--socket", s.path, "--offline", pids(a))
    yield said, f"1 / gpq: sched: {s.path}: a scheduler listens there already (pid {s.p.pid}); end that one, or name another with --socket"
    s.p.kill()
    s.p.wait()
    r.until(lambda: not r.holders())
    yield r.gpq("sched", "--status", "--socket", s.path), f"5 / gpq: sched: no scheduler at {s.path}; --socket FILE says where it listens"
    s = Sched(r, "--offline", pids(a), "--for", "7s")
    s.settled(1)
    r.until(lambda: r.waits(s.p))
    r.move(7 * SECOND - 1)
    s.link.ask("x")
    yield s.p.poll(), None
    r.move(1)
    said = r.finish(s.p)
    yield said if said[:2] != "0 " else "0", "0"


@scenario("the driver's sysfs without its device, as in a container")
def _(r):
    a = r.target(0)
    os.unlink(r.root + "/dev/kfd")
    yield r.gpq("sched", "--socket", r.dir + "/hints", "--offline", pids(a)), (
        "6 / gpq: sched: /dev/kfd: No such file or directory; load the amdgpu module; in a container, pass the device in")
    r.write("/dev/kfd", "")


@scenario("without the driver, a recorded host is named only to commands that take one")
def _(r):
    kfd, missing = r.root + "/sys/class/kfd/kfd", "no KFD driver here: /sys/class/kfd/kfd: No such file or directory"
    os.rename(kfd, kfd + "-gone")
    yield r.gpq("sched", "--no-socket", "--online", "comm=x", "--offline", "comm=y"), f"6 / gpq: sched: {missing}; load the amdgpu module"
    yield r.gpq("events"), f"6 / gpq: events: {missing}; load the amdgpu module"
    yield r.gpq("bench", "preempt", "-p", "1"), f"6 / gpq: bench: {missing}; load the amdgpu module"
    with_sysroot = "load the amdgpu module, or give a recorded host with --sysroot FILE"
    yield r.gpq("bench", "preempt", "-p", "1", "--dry-run"), f"6 / gpq: bench: {missing}; {with_sysroot}"
    yield r.gpq("queues"), f"6 / gpq: queues: {missing}; {with_sysroot}"
    os.rename(kfd + "-gone", kfd)


@scenario("a column that is unknown in the statistics is told before a process is attached to")
def _(r):
    a = r.target(0)
    yield r.gpq("sched", "--socket", r.dir + "/hints", "--offline", pids(a), "-o", "CLASS,NOSUCH"), (
        "2 / gpq: sched: unknown column NOSUCH in classes; --list-columns lists them")
    yield r.changes(), []


@scenario("--log: packets that are logged from now on are work, also where a read ends in the middle of the word")
def _(r):
    a, log = r.target(0), r.dir + "/log"

    def write(text):
        with open(log, "a") as f:
            f.write(text)

    def held(ms):
        """Is it on again after so many steps of 1 ms?"""
        n = 0
        while a.off and n < 100:
            s.at(1 * MS)
            s.answered(a)
            n += 1
        return n == ms or n
    write("SWq=0x1, HWq=0x7f00\n")
    s = Sched(r, "--offline", pids(a), "--log", log, "--idle", "20ms", "--interval", "1ms", "--max-hold", "10m")
    yield s.settled(1), True
    for text, off in (("", ""), ("HWq=0\nWq=0x1, SWq=0x7, HWq=0", ""), ("x7f00, id=1", "0")):
        write(text)
        for _ in range(5):
            s.at(1 * MS)
            s.answered(a)
        yield (text, a.off), (text, off)
    yield held(38), True  # of 43: seen after 1 ms, work for 22 more (idle and two samples), idle for 20
    write("HWq=0x7f00")
    s.at(1 * MS)
    s.at(1 * MS)
    yield r.until(lambda: a.off), True
    yield held(41), True


@scenario("a log that cannot be opened ends it, without statistics")
def _(r):
    a = r.target(0)
    yield r.gpq("sched", "--socket", r.dir + "/hints", "--offline", pids(a), "--log", "/dev/null/x"), (
        "1 / gpq: sched: --log /dev/null/x: Not a directory")


main()
