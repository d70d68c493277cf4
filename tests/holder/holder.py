"""The holder: its session, its calls, its deadlines, its rights. holder.py TOP BUILD [WORD]. TAP."""
import contextlib
import ctypes
import fcntl
import shutil
import socket

from scenario import *  # noqa: F403

NO_TIMER = "no timer for its deadline (Resource temporarily unavailable); raise the limit of pending signals (ulimit -i)"
ATTACH = ["probe !22", "enable", "send", "send"]


# ---- what is called, and in which order


@scenario("a session: probed, enabled, two answers in store, queues listed, suspended, resumed, disabled")
def _(r):
    t = r.target(0, 1, (2, 1))
    yield r.gpq("suspend", "-p", t.pid, "-r", "-n"), "0 / t1 41460 0 compute suspended - / t1 41460 1 compute suspended - / t1 41460 2 sdma suspended -"
    yield r.calls(), ATTACH + ["queues", "suspend 0,1,2 grace=0"]
    yield t.off, "0,1,2"
    h = t.holder
    yield resume(r, t), "0 / 0 resumed / 1 resumed / 2 resumed"
    yield r.calls(), ["resume 0,1,2", "disable"]
    yield ends(t, h), ENDED


@scenario("a process with further threads: ENABLE names another one")
def _(r):
    t = r.target(0)
    t.say("thread")
    yield suspend(r, t), "0 / 0 suspended"
    yield r.calls(), ["probe !22", "enable thread", "send", "send", "queues", "suspend 0 grace=0"]


@scenario("queues and GPUs that are named, a grace period, a queue that is not there")
def _(r):
    t = r.target(0, 1, (2, 2, 7), (3, 2, 7), gpus=[(GPU, 1), (7, 4)])
    yield suspend(r, t, "-Q", "1,9", "--grace", 17), f"3 / 1 suspended / 9 unknown / gpq: suspend: pid t1: no queue 9; gpq queues lists them"
    yield r.changes(), ["enable", "send", "send", "suspend 1 grace=17"]
    link = r.link(t)
    yield link.ask("suspend gpus=7 tie grace=3"), "2:suspended, 3:suspended, ok held=3 since=0 follows"
    yield link.ask("suspend gpus=7 queues=0,3 tie"), "3:already, ok held=3 since=0 follows"
    yield r.changes(), ["suspend 2,3 grace=3"]
    yield resume(r, t, "-Q", "0,2,8"), "3 / 0 running / 2 resumed / 8 unknown / gpq: resume: pid t1: no queue 8; gpq queues lists them"
    yield link.ask("resume gpus=41460"), "0:running, 1:resumed, ok held=1 since=0 follows"
    yield r.changes(), ["resume 2", "resume 1"]
    yield t.off, "3"


# ---- what can stand in the way


FAILURES = [
    # what, how it is made, exit status and sentence, calls that change something
    ("no device", lambda r, t: setattr(r.page, "open_error", 2), 6, "no /dev/kfd here", []),
    ("no right", lambda r, t: setattr(r.page, "open_error", EACCES), 4, "no right to open /dev/kfd", []),
    ("a 32-bit caller", lambda r, t: setattr(r.page, "open_error", EPERM), 4, "no right to open /dev/kfd", []),
    ("a GPU reset", lambda r, t: setattr(r.page, "open_error", EINVAL), 1, "the driver is locked by a GPU reset", []),
    ("another errno", lambda r, t: setattr(r.page, "open_error", EIO), 1, "open /dev/kfd: Input/output error", []),
    ("no version", lambda r, t: r.fail("version", EIO), 1, "ask the KFD version: Input/output error", []),
    ("interface 1.12", lambda r, t: setattr(r.driver, "version", (1, 12)), 6, "its KFD interface is 1.12,", []),
    ("interface 2.13", lambda r, t: setattr(r.driver, "version", (2, 13)), 6, "its KFD interface is 2.13,", []),
    ("no KFD process", lambda r, t: r.driver.processes.clear(), 5, "it has not opened /dev/kfd", []),
    ("a session of somebody else", lambda r, t: r.foreign(t), 4, "somebody else has a debug session", []),
    ("a probe that fails", lambda r, t: r.fail("probe", EIO), 1, "look for a debug session: Input/output error", []),
    ("exec between seizing and probing", lambda r, t: r.fail("probe", EPERM), 5, "ended or replaced itself meanwhile", []),
    ("no hardware scheduler", lambda r, t: r.no_hws(), 6, "without a hardware scheduler", ["enable !22"]),
    ("EINVAL of ENABLE", lambda r, t: r.fail("enable", EINVAL), 1, "the driver is locked by a GPU reset", ["enable !22"]),
    ("a GPU before gfx9", lambda r, t: r.fail("enable", ENODEV), 6, "older than gfx9", ["enable !19"]),
    ("a CU mask", lambda r, t: r.fail("enable", EBUSY), 6, "global wave sync or a CU mask", ["enable !16"]),
    ("a session since the probe", lambda r, t: r.fail("enable", EALREADY), 4, "somebody else has a debug session", ["enable !114"]),
    ("the end of the process at ENABLE", lambda r, t: r.fail("enable", EPERM), 5, "ended or replaced itself meanwhile", ["enable !1"]),
    ("a runtime that is off", lambda r, t: setattr(t.kfd, "runtime", 0), 6, "its runtime is not enabled for debugging",
     ["enable", "send", "send", "disable"]),
    ("a debug VMID that is taken", lambda r, t: setattr(t.kfd, "runtime", 2), 1, "one debug session only, and another process has it",
     ["enable", "send", "send", "disable"]),
    ("a GPU that cannot be prepared", lambda r, t: setattr(t.kfd, "runtime", 3), 1, "could not switch a GPU to debug mode",
     ["enable", "send", "send", "disable"]),
    ("queues that are not listed", lambda r, t: r.fail("queues", EFAULT), 1, "list the queues: Bad address",
     ["enable", "send", "send", "disable"]),
    ("the end of the process at the list", lambda r, t: r.fail("queues", ESRCH), 5, "ended or replaced itself meanwhile",
     ["enable", "send", "send", "disable"]),
    ("EPERM of SUSPEND", lambda r, t: r.fail("suspend", EPERM), 6, "its runtime is not enabled for debugging",
     ["enable", "send", "send", "suspend 0,1 grace=0 !1", "disable"]),
    ("no session at SUSPEND", lambda r, t: r.fail("suspend", EINVAL), 1, "somebody else ended the debug session",
     ["enable", "send", "send", "suspend 0,1 grace=0 !22", "disable"]),
    ("the end of the process at SUSPEND", lambda r, t: r.fail("suspend", ESRCH), 5, "ended or replaced itself meanwhile",
     ["enable", "send", "send", "suspend 0,1 grace=0 !3", "disable"]),
    ("another errno of SUSPEND", lambda r, t: r.fail("suspend", EIO), 1, "suspend the queues: Input/output error",
     ["enable", "send", "send", "suspend 0,1 grace=0 !5", "disable"]),
]


@scenario("what stands in the way is said, and nothing stays behind")
def _(r):
    for what, make, status, sentence, calls in FAILURES:
        t = r.target(0, 1)
        make(r, t)
        said = suspend(r, t)
        found = f"{said} {r.changes()} tracer={t.tracer} off={t.off} holders={len(r.holders())}"
        good = said.startswith(f"{status} / gpq: suspend: pid t1: ") and sentence in said
        yield (what, found if not good else f"{status} {sentence}", *found.split("[")[1:]), (
            what, f"{status} {sentence}", f"{calls} tracer=0 off= holders=0"[1:])
        r.reset()
    t = r.target(0)
    yield suspend(r, t), "0 / 0 suspended"


@scenario("a runtime that is off and no queue: held, and queues are suspended once the runtime is on")
def _(r):
    t = r.target(runtime=0)
    t.kfd.queues.clear()
    yield suspend(r, t), "0"
    t.kfd.runtime = 1
    t.runtime_event()
    t.add(5)
    yield r.wait(lambda: t.off == "5"), True
    yield r.changes(), ["enable", "send", "send", "send", "suspend 5 grace=0"]


@scenario("exec between the probe and the stop for ENABLE: probed again, and let go")
def _(r):
    t = r.target(0)

    def replace(call):
        r.driver.processes.pop(t.pid)
        t.run.stdin.write("exec\n")
        wait_stop(t.pid)
        return call()
    r.once("probe", lambda call: -EINVAL if [replace(lambda: 0)] else 0)
    said = suspend(r, t)
    yield said, "5 / gpq: suspend: pid t1: the process ended or replaced itself meanwhile"
    yield r.calls(), ["probe !22", "probe !3"]
    yield (t.tracer, len(r.holders()), t.run.stdout.readline()), (0, 0, f"ready {t.pid}\n")


@scenario("signals that the target takes between the probe and the stop for ENABLE: each is handed on as it is")
def _(r):
    def takes(t, sig):
        def hook(call):
            kill(t.pid, sig)
            wait_stop(t.pid)
            return call()
        return hook
    for sig, state in (signal.SIGWINCH, "S"), (signal.SIGSTOP, "t"):
        t = r.target(0)
        r.once("probe", takes(t, sig))
        yield (sig, suspend(r, t), t.off), (sig, "0 / 0 suspended", "0")
        r.until(lambda: status_of(t.pid)["State"][0] == state)
        resume(r, t)
        r.until(lambda: status_of(t.pid)["State"][0] == state.upper())  # it wakes from the holder's stop to go into its own
        yield (sig, status_of(t.pid)["State"][0]), (sig, state.upper())
        r.reset()
    for sig in signal.SIGUSR1, signal.SIGRTMIN:
        t = r.target(0)
        r.once("probe", takes(t, sig))
        yield (sig, suspend(r, t)), (sig, "5 / gpq: suspend: pid t1: the process ended or replaced itself meanwhile")
        yield (t.run.wait(), len(r.holders())), (-sig, 0)
        r.reset()


# ---- queues that do not go off, or not at once


@scenario("the hardware does not let go: refused before 2 s, a timeout from then on, and resumed")
def _(r):
    for took, result, text in ((2 * SECOND - 1, "refused", "the hardware did not let go of it; it was resumed; see the kernel log"),
                               (9 * SECOND, "timeout", "the GPU did not answer within 9 s; the driver resets it, and every process on it "
                                "dies; see the kernel log")):
        t = r.target(0, 1)
        t.kfd.queue(1).refusals = 1
        r.once("suspend", lambda call, took=took: (r.move(took), call())[1])
        yield r.gpq("suspend", "-p", t.pid, "-r", "-n", "-o", "QID,RESULT,LATENCY"), (
            f"3 / 0 suspended {took} / 1 {result} {took} / gpq: suspend: pid t1: queue 1: {text}")
        yield r.changes()[-2:], ["suspend 0,1 grace=0", "resume 1"]
        yield t.off, "0"
        r.reset()


@scenario("a queue that is being destroyed: tried eight times, then said; or suspended if it stays")
def _(r):
    t = r.target(0, 1)
    t.kfd.queue(1).closing = True
    yield suspend(r, t), "3 / 0 suspended / 1 closing / gpq: suspend: pid t1: queue 1 is being destroyed"
    yield r.changes(), ["enable", "send", "send", "suspend 0,1 grace=0"] + 7 * ["suspend 1 grace=0"]
    r.hold = r.link(t)

    def stays(call):
        t.kfd.queue(1).closing = False
        return call()
    for n in range(3):
        r.once("suspend", stays if n == 2 else lambda call: call())
    yield r.hold.ask("suspend tie"), "0:already, 1:suspended, ok held=2 since=0 follows"
    yield r.changes(), 3 * ["suspend 1 grace=0"]
    # A queue that is gone at last is listed no more.
    t.kfd.queue(1).off, t.kfd.queue(1).closing = False, True
    yield r.hold.ask("resume queues=1"), "1:resumed, ok held=1 since=0 follows"
    r.once("suspend", lambda call: (call(), t.remove(1))[0])
    yield r.hold.ask("suspend tie"), "0:already, ok held=1 since=0 follows"


@scenario("a queue that appears while SUSPEND is under way is suspended by the next call")
def _(r):
    t = r.target(0)
    r.once("suspend", lambda call: (t.add(4), call())[1])
    yield suspend(r, t), "0 / 0 suspended / 4 suspended"
    yield r.calls("query"), ATTACH + ["queues", "suspend 0 grace=0", "queues", "suspend 4 grace=0"]
    yield t.off, "0,4"
    t = r.target(0)
    r.calls()
    r.once("suspend", lambda call: (t.add(4), call())[1])
    yield suspend(r, t, "-Q", "0"), "0 / 0 suspended"
    yield t.off, "0"


@scenario("a queue that the driver lists twice is held once, and put back at once")
def _(r):
    t = r.target(0, 1)
    t.kfd.queues.append(t.kfd.queue(0))
    suspend(r, t)
    link = r.link(t)
    yield link.ask("status").split(", ")[-1], "ok held=2 since=0 follows"
    yield link.ask("resume queues=0").split(", ")[-1], "ok held=1 since=0 follows"
    yield t.off, "1"
    h = t.holder
    yield link.ask("resume").split(", ")[-1], "ok ended"
    yield ends(t, h), ENDED


@scenario("--if-idle: no queue with packets to take, nor one whose waves ran when it was suspended")
def _(r):
    t = r.target(0, 1, (2, 0), (3, 1))
    for q, read, write in ((0, 5, 5), (1, 5, 6), (2, 7, 7), (3, 64, 64)):
        t.set_index(q, read, write)
    t.set_waves(2, 4096)
    yield suspend(r, t, "--if-idle"), "3 / 0 suspended / 1 busy / 2 busy / 3 suspended"
    yield r.changes(), ["enable", "send", "send", "suspend 0,2,3 grace=0", "resume 2"]
    yield t.off, "0,3"
    link = r.link(t)
    yield link.ask("status"), "0:suspended, 3:suspended, ok held=2 since=0"
    t.set_index(1, 6, 6)
    t.set_waves(2, 0)
    r.once("suspend", lambda call: (t.set_index(1, 6, 8), call())[1])  # work comes between the look and the call
    yield link.ask("suspend idle tie"), "0:already, 1:busy, 2:suspended, 3:already, ok held=3 since=0"
    yield r.changes(), ["suspend 1,2 grace=0", "resume 1"]
    t.add(6)
    yield link.ask("status"), "0:suspended, 2:suspended, 3:suspended, ok held=3 since=0"
    yield t.off, "0,2,3"


@scenario("if-idle on a GPU of four XCCs looks at the save area of each")
def _(r):
    t = r.target(0, (1, 2, 7), gpus=[(GPU, 1), (7, 4)])
    t.set_waves(0, 512, xcc=3)
    t.set_waves(1, 512, xcc=3)
    yield suspend(r, t, "--if-idle"), "3 / 0 suspended / 1 busy"
    yield [c for c in r.calls() if "gpus" in c or "resume" in c], ["gpus", "resume 1"]


@scenario("RESUME that fails: a queue that is not put back; a call that fails ends the session")
def _(r):
    t = r.target(0, 1)
    suspend(r, t)
    t.kfd.queue(1).refusals = 1
    link = r.link(t)
    yield resume(r, t, "-Q", "0,1"), "3 / 0 resumed / 1 refused / gpq: resume: pid t1: queue 1: the driver did not put it back; see the kernel log"
    yield (t.off, t.tracer), ("", 0)  # nothing is held any more: the session's end has put it back
    r.reset()
    t = r.target(0, 1)
    suspend(r, t)
    h, link = t.holder, r.link(t)
    r.fail("resume", EIO)
    yield link.ask("resume queues=0"), "error 1 resume the queues: Input/output error"
    yield ends(t, h), ENDED
    yield r.changes()[-2:], ["resume 0 !5", "disable"]


@scenario("a client that does not read is neither waited for nor lost; no other client waits for it")
def _(r):
    t = r.target(*range(64))
    suspend(r, t, "-Q", "0")
    slow, other = r.link(t), r.link(t)
    slow.s.sendall(b"queues addresses\n" * 60)
    for _ in range(3):
        yield other.ask("status"), "0:suspended, ok held=1 since=0"
    answers = [slow.answer() for _ in range(60)]
    yield {(len(a), a[0].split()[1], a[63].split()[1], a[64].split()[0]) for a in answers}, {(65, "id=0", "id=63", "ok")}
    yield slow.ask("status"), "0:suspended, ok held=1 since=0"
    # Lines that are cut, together, wrong or too long.
    slow.s.sendall(b"sta")
    yield other.ask("status"), "0:suspended, ok held=1 since=0"
    slow.s.sendall(b"tus\nnonsense\nsuspend for_ns=0\nsuspend tie=1\nresume queues=\nrelease idle\nsta")
    yield [slow.take() for _ in range(6)], ["0:suspended, ok held=1 since=0", "error 2 bad request: nonsense",
                                            "error 2 bad request: for_ns=0", "error 2 bad request: tie=1",
                                            "error 2 bad request: queues=", "error 2 bad request: idle"]
    slow.s.sendall(b"tus\n")
    yield slow.take(), "0:suspended, ok held=1 since=0"
    for n in 62, 63, 64, 65:  # of a word 63 bytes are shown
        yield other.ask(n * "w"), "error 2 bad request: " + min(n, 63) * "w"
    slow.s.sendall(8192 * b"x")
    yield slow.line(), None
    yield other.ask("status"), "0:suspended, ok held=1 since=0"
    # One that ends before it has read all: its hold ends as any other's.
    slow = r.link(t)
    slow.ask("suspend queues=1,2 tie")
    yield t.off, "0,1,2"
    slow.s.sendall(b"queues addresses\n" * 60)
    yield other.ask("status")[-12:], "held=3 since=0"[-12:]
    slow.close()
    yield r.wait(lambda: t.off == "0"), True
    yield other.ask("status"), "0:suspended, ok held=1 since=0"


@scenario("the end of the holder waits 1 s for a client that has not taken its answers")
def _(r):
    for patient in (True, False):
        t = r.target(*range(64))
        suspend(r, t, "-Q", "0")
        h, slow, other = t.holder, r.link(t), r.link(t)
        slow.s.sendall(b"queues addresses\n" * 60)
        yield other.ask("status"), "0:suspended, ok held=1 since=0"
        late = []  # connects while the session is closed, and is not taken any more
        r.once("disable", lambda call: (late.append(r.link(t)), call())[1])
        yield other.ask("resume").split(", ")[-1], "ok ended"
        yield (r.until(lambda: r.waits(h) == 1), t.off), (True, "")
        yield late[0].line(), None
        r.move(SECOND - 1)
        yield (r.waits(h), lives(h)), (1 / SECOND, True)
        if not patient:
            r.move(1)
            yield wait_death(h), True
            continue
        while (line := slow.line()) is not None:
            last = line
        yield (last.split()[0], ends(t, h)), ("ok", ENDED)


@scenario("the 65th client takes the place of the one that was silent for longest and holds nothing")
def _(r):
    t = r.target(0, 1)
    suspend(r, t, "-Q", "0")
    links = [r.link(t) for _ in range(64)]
    links[0].ask("suspend queues=1 tie")
    for link in links[2:] + links[1:2]:
        link.ask("status")
    more = r.link(t)
    yield more.ask("status"), "0:suspended, 1:suspended, ok held=2 since=0"
    yield links[2].line(), None
    yield [link.ask("status")[:11] for link in links[:2] + links[3:]], 63 * ["0:suspended"]
    # One that has just come is not the oldest, whoever had its place.
    more.close()
    links[5].ask("status")
    new = r.link(t)
    links[6].ask("status")
    yield r.link(t).ask("status")[:11], "0:suspended"
    yield (links[1].line(), new.ask("status")[:11]), (None, "0:suspended")


# ---- deadlines, by the clock


@scenario("--for: off until then and not a nanosecond longer; both timers are set")
def _(r):
    t = r.target(0)
    yield suspend(r, t, "--for", "10m"), "0 / 0 suspended"
    h, link = t.holder, r.link(t)
    yield r.timers_of(h), [(0, 600), (9, 601)]
    r.move(600 * SECOND - 1)
    yield link.ask("status"), "0:suspended until=1e-09, ok held=1 since=-600 until=1e-09 follows"
    yield t.off, "0"
    r.changes()
    r.move(1)
    yield ends(t, h), ENDED
    yield r.changes(), ["disable"]
    yield link.line(), None


@scenario("the timer that kills: a holder that is stopped dies a second after its deadline, not before")
def _(r):
    t = r.target(0)
    suspend(r, t, "--for", "10m")
    h = t.holder
    kill(h, signal.SIGSTOP)
    r.move(601 * SECOND - 1)
    yield (lives(h), t.off), (True, "0")
    r.move(1)
    yield ends(t, h), ENDED


@scenario("no timer, no hold")
def _(r):
    t = r.target(0)
    r.page.no_timers = 1
    yield suspend(r, t, "--for", "10m"), "1 / gpq: suspend: pid t1: " + NO_TIMER
    yield (r.changes(), t.off, t.tracer), ([], "", 0)
    yield suspend(r, t), "0 / 0 suspended"
    yield resume(r, t), "0 / 0 resumed"
    r.page.no_timers = 0
    suspend(r, t, "--for", "10s")
    h, link = t.holder, r.link(t)
    r.page.no_timers = 1
    yield link.ask("suspend tie for_ns=20000000000"), "error 1 " + NO_TIMER.replace("Resource temporarily unavailable", "Invalid argument")
    yield (t.off, r.timers_of(h)), ("0", [(0, 10), (9, 11)])
    r.move(10 * SECOND)
    yield ends(t, h), ENDED


@scenario("each queue has its own deadline; the last one is the holder's")
def _(r):
    t = r.target(0, 1, 2)
    suspend(r, t, "-Q", "0", "--for", "30s")
    h, a, b = t.holder, r.link(t), r.link(t)
    yield a.ask("suspend queues=1 tie for_ns=10000000000"), "1:suspended until=10, ok held=2 since=0 until=30"
    yield r.timers_of(h), [(0, 10), (9, 31)]
    yield b.ask("suspend queues=1,2 tie for_ns=20000000000"), "1:already until=20, 2:suspended until=20, ok held=3 since=0 until=30"
    yield r.timers_of(h), [(0, 10), (9, 31)]
    r.changes()
    r.move(10 * SECOND)
    yield b.ask("status"), "0:suspended until=20, 1:suspended until=10, 2:suspended until=10, ok held=3 since=-10 until=20"
    yield r.timers_of(h), [(0, 10), (9, 21)]
    r.move(5 * SECOND)
    yield a.ask("suspend queues=0 tie for_ns=86400000000000"), "0:already until=86400, ok held=3 since=-15 until=86400"
    yield r.timers_of(h), [(0, 5), (9, 86401)]
    r.move(5 * SECOND)
    yield a.ask("status"), "0:suspended until=86395, ok held=1 since=-20 until=86395"
    yield r.changes(), ["resume 1,2"]
    yield r.timers_of(h), [(0, 10), (9, 86396)]
    a.close()
    yield b.ask("status"), "0:suspended until=10, ok held=1 since=-20 until=10"
    yield r.timers_of(h), [(0, 10), (9, 11)]
    r.move(10 * SECOND)
    yield ends(t, h) if b.line() is None else "lives", ENDED


@scenario("the timers are those of the holds that a request leaves: a longer one in place of another, none of no queue")
def _(r):
    t = r.target(0, 1)
    suspend(r, t, "--for", "10s")
    h, link = t.holder, r.link(t)
    yield link.ask("suspend for_ns=20000000000"), "0:already until=20, 1:already until=20, ok held=2 since=0 until=20 follows"
    yield r.timers_of(h), [(0, 20), (9, 21)]
    yield link.ask("suspend queues=9 tie for_ns=1000000000"), "9:unknown, ok held=2 since=0 until=20 follows"
    yield r.timers_of(h), [(0, 20), (9, 21)]
    yield link.ask("suspend for_ns=5000000000"), "0:already until=20, 1:already until=20, ok held=2 since=0 until=20 follows"
    yield r.timers_of(h), [(0, 20), (9, 21)]


@scenario("a hold that is tied ends with its client, and that alone")
def _(r):
    t = r.target(0, 1)
    suspend(r, t, "-Q", "0")
    h, a, b = t.holder, r.link(t), r.link(t)
    yield a.ask("suspend tie"), "0:already, 1:suspended, ok held=2 since=0 follows"
    r.changes()
    a.close()
    yield r.wait(lambda: t.off == "0"), True
    yield b.ask("status"), "0:suspended, ok held=1 since=0"
    yield r.changes(), ["resume 1"]
    yield b.ask("suspend queues=1 tie"), "1:suspended, ok held=2 since=0"
    yield b.ask("release"), "1:resumed, ok held=1 since=0"
    yield b.ask("release"), "ok held=1 since=0"
    yield b.ask("suspend queues=1 tie"), "1:suspended, ok held=2 since=0"
    yield b.ask("hold"), "ok held=2 since=0"
    b.close()
    c = r.link(t)
    yield c.ask("release"), "ok held=2 since=0"
    yield c.ask("resume"), "0:resumed, 1:resumed, ok ended"
    yield ends(t, h), ENDED


@scenario("what fails leaves what was held, and nothing of its own")
def _(r):
    t = r.target(0, 1, 2)
    suspend(r, t, "-Q", "0")
    link = r.link(t)
    r.once("suspend", lambda call: -EIO)
    yield link.ask("suspend queues=1 tie for_ns=7000000000"), "error 1 suspend the queues: Input/output error"
    yield link.ask("status"), "0:suspended, ok held=1 since=0"
    yield (t.off, r.timers_of(t.holder)), ("0", [])
    # The second call of a request fails: what the first has suspended is resumed.
    r.changes()
    r.once("suspend", lambda call: (t.add(5), call())[1])
    r.once("suspend", lambda call: -EIO)
    yield link.ask("suspend tie"), "error 1 suspend the queues: Input/output error"
    yield link.ask("status"), "0:suspended, ok held=1 since=0"
    yield r.changes(), ["suspend 1,2 grace=0", "suspend 5 grace=0 !5", "resume 1,2"]
    yield t.off, "0"


@scenario("the last of 16 lasting holds: one that fails leaves no deadline, one that is made has its own")
def _(r):
    t = r.target(*range(17))
    suspend(r, t, "-Q", "16", "--for", "100s")
    link = r.link(t)
    for n in range(14):
        yield link.ask(f"suspend queues={n} for_ns=200000000000").split(",")[0], f"{n}:suspended until=200"
    r.fail("suspend", EIO)
    yield link.ask("suspend queues=14 for_ns=300000000000"), "error 1 suspend the queues: Input/output error"
    r.until(lambda: r.timers_of(t.holder) == [(0, 100), (9, 201)])  # set back behind the answer
    yield r.timers_of(t.holder), [(0, 100), (9, 201)]
    yield link.ask("suspend queues=14 for_ns=300000000000").split(", ")[0], "14:suspended until=300"
    yield r.timers_of(t.holder), [(0, 100), (9, 301)]
    # There is no place for one more: that which ends last takes it in.
    yield link.ask("suspend queues=15 for_ns=50000000000").split(", ")[0], "15:suspended until=300"
    yield (r.timers_of(t.holder), t.off), ([(0, 100), (9, 301)], ",".join(map(str, range(17))))


# ---- keeping


@scenario("resume --keep, release keep: the holder stays, and the next suspend needs no session")
def _(r):
    t = r.target(0)
    suspend(r, t)
    h = t.holder
    yield resume(r, t, "--keep"), "0 / 0 resumed"
    r.changes()
    yield r.gpq("suspend", "--list", "-r", "-n", "-o", "PID,STATE,QUEUES"), "0 / t1 kept 0"
    yield suspend(r, t), "0 / 0 suspended"
    yield (r.changes(), t.holder == h), (["suspend 0 grace=0"], True)
    link = r.link(t)
    yield link.ask("resume queues=0"), "0:resumed, ok kept"
    yield link.ask("resume"), "0:running, ok ended"
    yield ends(t, h), ENDED
    suspend(r, t)
    h, link = t.holder, r.link(t)
    yield link.ask("suspend tie"), "0:already, ok held=1 since=0 follows"
    yield link.ask("release keep"), "ok held=1 since=0 follows"
    yield r.link(t).ask("resume keep"), "0:resumed, ok kept"
    yield link.ask("release"), "ok kept"
    yield r.link(t).ask("resume"), "0:running, ok ended"
    yield ends(t, h), ENDED
    suspend(r, t)
    h, a, b = t.holder, r.link(t), r.link(t)
    yield a.ask("suspend tie"), "0:already, ok held=1 since=0 follows"
    yield b.ask("release keep"), "ok held=1 since=0 follows"
    yield a.ask("release"), "ok held=1 since=0 follows"


# ---- new queues


@scenario("queues that appear are suspended, on the GPUs that are held, and none that was named")
def _(r):
    t = r.target(0, (1, 2, 7), gpus=[(GPU, 1), (7, 1)])
    suspend(r, t, "--grace", 9)
    r.changes()
    t.add(2)
    yield r.wait(lambda: t.off == "0,1,2"), True
    yield r.changes(), ["suspend 2 grace=9"]
    link = r.link(t)
    yield link.ask("status"), "0:suspended, 1:suspended, 2:suspended, ok held=3 since=0 follows"
    yield link.ask("resume queues=2"), "2:resumed, ok held=2 since=0 follows"
    r.changes()
    t.add(3, gpu=7)
    yield r.wait(lambda: t.off == "0,1,3"), True
    yield r.changes(), ["suspend 3 grace=9"]
    yield link.ask("resume"), "0:resumed, 1:resumed, 2:running, 3:resumed, ok ended"
    r.reset()
    t = r.target(0, (1, 2, 7), gpus=[(GPU, 1), (7, 1)])
    suspend(r, t, "--gpu", GPU)
    link = r.link(t)
    t.add(2, gpu=7)
    t.add(3)
    yield r.wait(lambda: t.off == "0,3"), True
    yield link.ask("status"), "0:suspended, 3:suspended, ok held=2 since=0 follows"
    r.reset()
    t = r.target(0)
    suspend(r, t, "-Q", "0")
    link = r.link(t)
    t.add(2)
    yield link.ask("queues"), "0:suspended, 2:running, ok held=1 since=0"
    yield t.off, "0"
    r.reset()
    # A queue that was resumed by name, and that another client holds, is not taken in beside the new one.
    t = r.target(0, 1)
    suspend(r, t)
    r.link(t).ask("resume queues=1")
    link = r.link(t)
    yield link.ask("suspend tie queues=0,1"), "0:already, 1:suspended, ok held=2 since=0 follows"
    t.add(2)
    yield r.wait(lambda: t.off == "0,1,2"), True
    link.close()
    yield r.wait(lambda: t.off == "0,2"), True


@scenario("a new queue that cannot be suspended: nothing is followed any more")
def _(r):
    t = r.target(0)
    suspend(r, t)
    link = r.link(t)
    r.fail("suspend", EIO)
    t.add(1)
    yield r.wait(lambda: "suspend 1 grace=0 !5" in r.driver.calls), True
    yield link.ask("status"), "0:suspended, ok held=1 since=0"
    t.add(2)
    yield link.ask("queues"), "0:suspended, 1:running, 2:running, ok held=1 since=0"
    yield t.off, "0"


@scenario("calls that fail when a queue appears: it is taken in later, or all queues run")
def _(r):
    t = r.target(0)
    suspend(r, t)
    h, link = t.holder, r.link(t)
    r.fail("queues", EIO)
    t.add(1)
    yield r.wait(lambda: "queues !5" in r.driver.calls), True
    yield (link.ask("status"), t.off), ("0:suspended, ok held=1 since=0 follows", "0")
    r.fail("queues", EIO)
    yield link.ask("queues"), "error 1 list the queues: Input/output error"
    yield link.ask("queues"), "0:suspended, 1:running, ok held=1 since=0 follows"
    yield (link.ask("status"), t.off), ("0:suspended, 1:suspended, ok held=2 since=0 follows", "0,1")
    r.fail("query", EIO)
    t.add(2)
    yield ends(t, h), ENDED
    r.reset()
    t = r.target(0)
    t.kfd.runtime = 0
    r.fail("queues", EIO)
    yield suspend(r, t), "1 / gpq: suspend: pid t1: list the queues: Input/output error"
    yield (t.tracer, t.kfd.session, r.holders()), (0, None, [])


@scenario("the target's runtime ends and begins: answered, no queue counts as held, new ones are followed")
def _(r):
    t = r.target(0, 1)
    suspend(r, t)
    link = r.link(t)
    r.changes()
    for q in t.kfd.queues:
        q.off = False
    t.remove(0)
    t.remove(1)
    t.runtime_event()
    yield r.wait(lambda: "send" in r.driver.calls), True
    yield link.ask("status"), "ok follows"
    t.add(0)
    yield r.wait(lambda: t.off == "0"), True
    yield r.changes(), ["send", "suspend 0 grace=0"]
    yield link.ask("status"), "0:suspended, ok held=1 since=0 follows"


# ---- ends


@scenario("who dies: the holder, the target, and the session by another's hand")
def _(r):
    t = r.target(0)
    for sig in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        suspend(r, t)
        h = t.holder
        kill(h, sig)
        yield (sig, ends(t, h)), (sig, ENDED)
    r.gpq("suspend", "-p", t.pid, preexec_fn=lambda: ignore(signal.SIGTERM))
    h = t.holder
    kill(h, signal.SIGTERM)
    yield ends(t, h), ENDED
    yield suspend(r, t), "0 / 0 suspended"
    h = t.holder
    t.end()
    yield wait_death(h), True
    r.reset()
    t = r.target(0)
    suspend(r, t)
    h, link = t.holder, r.link(t)
    with r.driver.lock:
        r.driver.end_session(t.kfd)
    yield (ends(t, h), link.line()), (ENDED, None)
    # The same, noticed by a request.
    t.add(1, new=False)
    suspend(r, t, "-Q", "0")
    h, link = t.holder, r.link(t)
    r.once("suspend", lambda call: (r.driver.end_session(t.kfd), call())[1])
    yield link.ask("suspend tie"), "error 1 somebody else ended the debug session: the queues run again"
    yield ends(t, h), ENDED


@scenario("the target calls exec: it is let go, and can be held again")
def _(r):
    t = r.target(0)
    suspend(r, t)
    h = t.holder
    with r.driver.lock:
        r.driver.end_session(t.kfd)
        r.driver.processes.pop(t.pid)
    t.run.stdin.write("exec\n")
    yield t.run.stdout.readline(), f"ready {t.pid}\n"
    yield wait_death(h), True
    t.open_kfd()
    yield suspend(r, t), "0 / 0 suspended"


# ---- rights


@scenario("the lock-down: 100 ms after the first suspend, in full, and all goes on")
def _(r):
    def rights(h):
        s = status_of(h)
        return s["Seccomp"], s["NoNewPrivs"], f"{int(s['CapEff'], 16) & ~(1 << 19):x}", f"{int(s['CapPrm'], 16) & ~(1 << 19):x}"
    before = status_of(os.getpid())
    mine = f"{int(before['CapEff'], 16) & ~(1 << 19):x}"
    t = r.target(0, (1, 1))
    suspend(r, t)
    h, link = t.holder, r.link(t)
    r.move(100 * MS - 1)
    yield link.ask("status"), "0:suspended, 1:suspended, ok held=2 since=-0.1 follows"
    yield rights(h), ("0", before["NoNewPrivs"], mine, mine)
    r.move(1)
    link.ask("status")
    link.ask("status")  # the lock-down follows the first answer
    yield rights(h), ("0" if r.sanitized else "2", "1", "0", "0")
    yield bool(int(status_of(h)["CapEff"], 16)), bool(int(before["CapEff"], 16) & 1 << 19)
    r.changes()
    t.add(2)
    yield r.wait(lambda: t.off == "0,1,2"), True
    yield link.ask("resume queues=0"), "0:resumed, ok held=2 since=-0.1 follows"
    yield link.ask("suspend queues=0 tie idle for_ns=1000000000"), "0:suspended until=1, ok held=3 since=-0.1 follows"
    yield r.timers_of(h), [(0, 1)]
    r.move(SECOND)
    yield link.ask("status"), "1:suspended, 2:suspended, ok held=2 since=-1.1 follows"
    t.runtime_event()
    yield r.wait(lambda: "send" in r.driver.calls), True
    yield r.changes(), ["suspend 2 grace=0", "resume 0", "suspend 0 grace=0", "resume 0", "send"]
    h = t.holder
    link.ask("resume")
    yield ends(t, h), ENDED
    driver_7_2(r)  # a new queue before GPU 7: whether that one is acquired is looked up now
    t = r.target((0, 2, 8), gpus=[(GPU, 1), (7, 1), (8, 1)])
    suspend(r, t)
    r.move(100 * MS)
    link = r.link(t)
    link.ask("status")
    link.ask("status")
    r.write(f"/sys/kernel/debug/kfd/proc/{t.pid}/pasid_7", "32771")
    t.add(1)
    yield r.wait(lambda: t.off == "0,1"), True


# ---- the driver that can crash; holding without tracing


@contextlib.contextmanager
def tracing(t):
    """The test is a debugger that traces the target."""
    ptrace = ctypes.CDLL(None).ptrace
    if ptrace(0x4206, t.pid, 0, 0):  # SEIZE
        raise OSError("ptrace")
    try:
        yield
    finally:
        ptrace(0x4207, t.pid, 0, 0)  # INTERRUPT
        os.waitpid(t.pid, 0x40000000)
        ptrace(17, t.pid, 0, 0)  # DETACH


def driver_7_2(r):
    r.write("/proc/sys/kernel/osrelease", "7.2.0\n")
    r.driver.version, r.driver.untraced = (1, 23), True


@scenario("a driver that crashes on a GPU that the process has not acquired: refused, unless a queue or its PASID proves it")
def _(r):
    def pasid(t, gpu, text):
        r.write(f"/sys/kernel/debug/kfd/proc/{t.pid}/pasid_{gpu}", text)
    driver_7_2(r)
    t = r.target(0, gpus=[(GPU, 1), (7, 1), (8, 1)])
    pasid(t, 7, "32771")
    yield suspend(r, t), (
        "4 / gpq: suspend: pid t1: this kernel's driver can crash when it suspends a process that has not opened GPU 8, and only debugfs of "
        "the host shows whether it has; run as root on the host, with debugfs mounted")
    pasid(t, 8, "0")
    yield suspend(r, t), (
        "6 / gpq: suspend: pid t1: it has not opened GPU 8, and this kernel's driver can crash when it suspends such a process; start it "
        "where it opens all GPUs, or hide that GPU from it (device cgroup)")
    yield [c for c in r.calls() if "suspend" in c], []
    pasid(t, 8, "32772")
    yield suspend(r, t), "0 / 0 suspended"
    r.reset()
    driver_7_2(r)
    t = r.target((0, 2, 8), gpus=[(GPU, 1), (7, 1), (8, 1)])
    yield suspend(r, t), "0 / 0 suspended"  # no GPU comes after it
    r.reset()
    driver_7_2(r)
    t = r.target(0, (1, 2, 7), gpus=[(GPU, 1), (7, 1)])
    yield suspend(r, t, "-Q", "0"), "0 / 0 suspended"  # the queue on the second one shows that it is acquired
    r.reset()
    driver_7_2(r)
    t = r.target((0, 2, 999), gpus=[(GPU, 1), (7, 1)])  # where the queue's GPU stands is unknown: all others must be acquired
    yield suspend(r, t)[:85], "4 / gpq: suspend: pid t1: this kernel's driver can crash when it suspends a process t"
    yield t.off, ""


@scenario("--no-trace: the session stays, the tracer goes; taken back when somebody takes it")
def _(r):
    t = r.target(0)
    yield suspend(r, t, "--no-trace"), (
        "6 / gpq: suspend: pid t1: this kernel's driver lets only the tracer of a process suspend its queues; leave out --no-trace")
    yield (r.calls(), t.tracer, t.off), (ATTACH + ["probe !1", "probe !1", "probe", "enable 0 !114", "disable"], 0, "")
    driver_7_2(r)
    r.fail("enable", EBUSY)
    yield "global wave sync or a CU mask" in suspend(r, t, "--no-trace"), True
    yield (r.changes(), t.tracer, t.off, r.holders()), (["enable !16"], 0, "", [])
    yield suspend(r, t, "--no-trace"), "0 / 0 suspended"
    h = t.holder
    yield r.calls()[:8], ATTACH + ["probe", "queues", "gpus", "suspend 0 grace=0"]
    yield (t.tracer, t.off, h > 0), (0, "0", True)
    yield suspend(r, t), "0 / 0 already"
    t.add(1)
    yield r.wait(lambda: t.off == "0,1"), True
    link = r.link(t)
    yield link.ask("resume queues=1"), "1:resumed, ok held=1 since=0 follows"
    # Another debugger comes and goes; within 500 ms it is noticed.
    r.calls()
    t.kfd.session.owner = os.getpid()
    r.until(lambda: r.waits(h) == 0.1)  # not locked down yet
    r.move(100 * MS)
    r.until(lambda: r.waits(h) == 0.5)
    yield r.calls(), []
    r.move(399 * MS)
    link.ask("status")
    yield (r.calls(), t.tracer), ([], 0)
    r.move(2 * MS)
    yield link.ask("status")[:11], "0:suspended"
    link.ask("status")
    yield r.calls(), ["probe !1", "probe", "enable 0 !114"]
    yield (t.tracer, t.kfd.session.owner, t.off), (h, h, "0")
    kill(t.pid, signal.SIGWINCH)  # passed on: a target that stays in the stop would not answer
    t.run.stdin.write("thread\n")
    yield bool(select.select([t.run.stdout], [], [], PATIENCE)[0]), True
    yield resume(r, t), "0 / 0 resumed / 1 running"
    yield ends(t, h), ENDED
    suspend(r, t)
    yield suspend(r, t, "--no-trace"), "1 / gpq: suspend: pid t1: it is held already, by a holder that traces it; gpq resume ends that one"
    yield t.off, "0,1"


@scenario("--no-trace: while another debugger traces, the queues stay as they are, and that is said")
def _(r):
    driver_7_2(r)
    t = r.target(0)
    suspend(r, t, "--no-trace")
    h, link = t.holder, r.link(t)
    with tracing(t):
        t.kfd.session.owner = os.getpid()
        taken = ("another debugger has taken the debug session, and its queues stay as they are; end that debugger, then gpq resume")
        yield link.ask("resume queues=0"), "error 1 " + taken
        yield resume(r, t), "1 / gpq: resume: pid t1: " + taken
        yield (lives(h), t.off), (True, "0")
        yield link.ask("release"), "error 1 " + taken
        yield (lives(h), t.off), (True, "0")
    r.until(lambda: r.waits(h) in (0.1, 0.5, None))
    r.move(500 * MS)
    yield ends(t, h), ENDED


@scenario("--no-trace: another debugger that has taken the session ends it: so does the holder")
def _(r):
    driver_7_2(r)
    t = r.target(0)
    suspend(r, t, "--no-trace")
    h = t.holder
    with tracing(t):
        t.kfd.session.owner = os.getpid()
        r.calls()
        r.until(lambda: r.waits(h) in (0.1, 0.5))
        r.move(501 * MS)
        yield r.wait(lambda: "probe !1" in r.driver.calls), True
        yield lives(h), True
        with r.driver.lock:
            r.driver.end_session(t.kfd)
        yield wait_death(h), True
        yield [c for c in r.driver.calls if c.startswith("disable")], []  # of a session that is no more
    yield (t.off, r.holders()), ("", [])


@scenario("--no-trace: a holder that is stopped is killed, and what can be known of its queues is said")
def _(r):
    def killed(t, *wanted):
        kill(t.holder, signal.SIGSTOP)
        r.calls()
        p = r.start("resume", "-p", t.pid)
        yield r.still_waits(p, 1), True
        yield r.finish(p), wanted[0]
        yield r.calls(), list(wanted[1:])
    runs = "0 / gpq: resume: pid t1: its holder did not answer and was killed; the queues run"
    driver_7_2(r)
    t = r.target(0)
    suspend(r, t, "--no-trace")
    yield from killed(t, runs, "probe !22")
    yield (t.off, t.tracer), ("", 0)
    # A debugger had taken the session: it is ended in its place.
    suspend(r, t, "--no-trace")
    h = t.holder
    kill(h, signal.SIGSTOP)
    t.kfd.session.owner = os.getpid()
    p = r.start("resume", "-p", t.pid)
    yield r.still_waits(p, 1), True
    r.calls()
    yield r.finish(p), runs
    yield [c for c in r.calls() if c != "probe"], ["enable 0 !114", "disable"]
    yield t.off, ""
    # Who traces it hides that.
    suspend(r, t, "--no-trace")
    h = t.holder
    kill(h, signal.SIGSTOP)
    with tracing(t):
        p = r.start("resume", "-p", t.pid)
        yield r.still_waits(p, 1), True
        yield r.finish(p), ("1 / gpq: resume: pid t1: its holder did not answer and was killed, but whether its queues run is hidden by who "
                            "traces it; see gpq queues")


@scenario("who is traced already is left alone")
def _(r):
    t = r.target(0)
    with tracing(t):
        name = status_of(os.getpid())["Name"]
        yield suspend(r, t), (f"4 / gpq: suspend: pid t1: already traced by pid h1 ({name}), and a process can have one tracer "
                              "only; detach that one first")
    yield suspend(r, t), "0 / 0 suspended"


# ---- the directory of the sockets


@scenario("the socket directory belongs to its user alone, and is closed to others")
def _(r):
    t = r.target(0)
    folder = r.run_dir + "/gpq"
    os.mkdir(folder, 0o700)
    wrong = f"1 / gpq: suspend: pid t1: socket directory {folder}: must belong to you and be closed to others; chmod 700"
    for mode in (0o750, 0o701, 0o704, 0o770):
        os.chmod(folder, mode)
        yield (mode, suspend(r, t)), (mode, wrong)
    os.chmod(folder, 0o700)
    if os.geteuid() == 0:
        os.chown(folder, 4242, -1)
        yield suspend(r, t), wrong
        os.chown(folder, 0, -1)
    yield suspend(r, t), "0 / 0 suspended"
    yield oct(os.stat(folder).st_mode & 0o777), "0o700"
    # A killed holder leaves its socket; a list takes it away, and the next holder replaces it.
    h = t.holder
    kill(h, signal.SIGKILL)
    wait_death(h)
    yield os.listdir(folder), [os.path.basename(r.socket_of(t))]
    yield r.gpq("suspend", "--list", "-r", "-n"), "0"
    yield os.listdir(folder), []
    suspend(r, t)
    h = t.holder
    kill(h, signal.SIGKILL)
    wait_death(h)
    yield suspend(r, t), "0 / 0 suspended"
    h = t.holder
    resume(r, t)
    yield (ends(t, h), os.listdir(folder)), (ENDED, [])


@scenario("where the socket is: XDG_RUNTIME_DIR if it is the user's, else /run, /run/user or /tmp")
def _(r):
    uid = os.geteuid()
    os.makedirs(r.root + "/tmp", exist_ok=True)
    shutil.rmtree(r.root + "/run")
    places = [({}, "/tmp/gpq-%d" % uid), ({}, "/run/user/%d/gpq" % uid)] + ([({}, "/run/gpq")] if uid == 0 else [])
    for env, place in places:
        t = r.target(0)
        os.makedirs(os.path.dirname(r.root + place), exist_ok=True)
        if place == "/run/user/%d/gpq" % uid and uid == 0:
            os.chown(r.root + "/run", 4242, -1)
        if place == "/run/gpq":
            os.chown(r.root + "/run", 0, -1)
        r.gpq("suspend", "-p", t.pid, env={"XDG_RUNTIME_DIR": "relative"})
        yield (place, os.path.exists(f"{r.root}{place}/{t.pid}-{t.start_ticks}")), (place, True)
        # Whatever it is, holders are found.
        yield r.gpq("resume", "-p", t.pid, "-r", "-n", "-o", "RESULT"), "0 / resumed"
    t = r.target(0)
    suspend(r, t)
    yield os.path.exists(r.socket_of(t)), True


@scenario("a holder whose socket is in a folder that only it knows is found by its descriptors")
def _(r):
    t = r.target(0)
    other = r.dir + "/other"
    os.makedirs(other, 0o700, exist_ok=True)
    yield r.gpq("suspend", "-p", t.pid, "-r", "-n", "-o", "RESULT", env={"XDG_RUNTIME_DIR": other}), "0 / suspended"
    path = f"{other}/gpq/{t.pid}-{t.start_ticks}"
    yield r.gpq("suspend", "--list", "-r", "-n", "-o", "PID,STATE,SOCKET"), "0 / t1 suspended " + r.named(path)
    yield suspend(r, t), "0 / 0 already"
    yield resume(r, t), "0 / 0 resumed"
    # A socket of that name at which somebody else listens is not believed.
    r.gpq("suspend", "-p", t.pid, env={"XDG_RUNTIME_DIR": other})
    h = t.holder
    os.makedirs(r.run_dir + "/gpq", 0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as liar:
        liar.bind(r.socket_of(t))
        liar.listen()
        yield r.gpq("suspend", "--list", "-r", "-n", "-o", "PID,STATE,SOCKET"), "0 / t1 suspended " + r.named(path)
        yield resume(r, t), "0 / 0 resumed"
        yield ends(t, h), ENDED


@scenario("a folder where the socket would be: no holder, and nothing is held")
def _(r):
    t = r.target(0)
    os.makedirs(r.socket_of(t), 0o700)
    os.chmod(r.run_dir + "/gpq", 0o700)
    yield suspend(r, t), "1 / gpq: suspend: pid t1: make the holder's socket: Socket operation on non-socket"
    yield (r.calls(), r.holders(), t.tracer), ([], [], 0)


@scenario("a process that is called as holders are, and names no target, holds none")
def _(r):
    other = r.target(register=False)
    other.say("name rig-holder")
    t = r.target(0)
    suspend(r, t)
    yield r.gpq("suspend", "--list", "-r", "-n", "-o", "PID,STATE"), "0 / t2 suspended"


@scenario("a folder that somebody has locked is waited for, 2 s")
def _(r):
    t = r.target(0)
    os.makedirs(r.run_dir + "/gpq", 0o700, exist_ok=True)
    fd = os.open(r.run_dir + "/gpq", os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    p = r.start("suspend", "-p", t.pid)
    r.until(lambda: r.syscall(p) == 230)  # clock_nanosleep
    r.move(2 * SECOND - 1)
    yield r.until(lambda: r.syscall(p) == 230) or (r.syscall(p), status_of(p.pid), p.poll()), True
    r.move(1)
    yield r.finish(p), "1 / gpq: suspend: pid t1: lock the socket directory: somebody holds a lock on it"
    p = r.start("suspend", "-p", t.pid, "-r", "-n", "-o", "RESULT")
    r.until(lambda: r.syscall(p) == 230)
    os.close(fd)
    yield r.finish(p), "0 / suspended"


main()
