"""gpq suspend and gpq resume: several processes, COMMAND, followers, lists, who is silent. commands.py TOP BUILD [WORD]. TAP."""
import fcntl
import json
import subprocess

from scenario import *  # noqa: F403


def suspend_all(r, targets, *args, **how):
    return r.start("suspend", "-p", ",".join(str(t.pid) for t in targets), "-r", "-n", "-o", "PID,QID,RESULT", *args, **how)


# ---- several processes


@scenario("--all-or-none: one queue that is refused, and nothing stays suspended")
def _(r):
    a, b = r.target(0), r.target(0, 1)
    b.kfd.queue(1).refusals = 1
    yield r.finish(suspend_all(r, (a, b), "--all-or-none")), (
        "1 / gpq: suspend: pid t2: queue 1: refused / gpq: suspend: --all-or-none: nothing stays suspended")
    yield (a.off, b.off, r.holders()), ("", "", [])
    yield sorted(r.changes(), key=lambda c: c[:2]), ["t1 enable", "t1 send", "t1 send", "t1 suspend 0 grace=0", "t1 disable", "t2 enable",
                                                       "t2 send", "t2 send", "t2 suspend 0,1 grace=0", "t2 resume 1", "t2 disable"]
    b.kfd.runtime = 0
    yield r.finish(suspend_all(r, (a, b), "--all-or-none")).split(" / ")[::2], ["6", "gpq: suspend: --all-or-none: nothing stays suspended"]
    yield (a.off, b.off, r.holders()), ("", "", [])
    b.kfd.runtime = 1
    yield r.finish(suspend_all(r, (a, b), "--all-or-none")), "0 / t1 0 suspended / t2 0 suspended / t2 1 suspended"
    # Without it the others stay.
    r.gpq("resume", "--all")
    b.kfd.queue(1).refusals = 1
    yield r.finish(suspend_all(r, (a, b))), (
        "3 / t1 0 suspended / t2 0 suspended / t2 1 refused / gpq: suspend: pid t2: queue 1: the hardware did not let go of it; it was "
        "resumed; see the kernel log")
    yield (a.off, b.off), ("0", "0")


@scenario("--all-or-none: a holder that dies before its hold is confirmed; what others held before stays")
def _(r):
    a, b = r.target(0, 1), r.target(0)
    suspend(r, a, "-Q", "1")
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    os.write(write, 4096 * b"x")
    p = r.start("suspend", "-p", f"{a.pid},{b.pid}", "-Q", f"{a.pid}:0,{b.pid}:0", "--all-or-none", stdout=write)
    os.close(write)
    yield r.writes(p), True
    yield (a.off, b.off), ("0,1", "0")
    h = b.holder
    kill(h, signal.SIGKILL)
    yield wait_death(h), True
    r.changes()
    os.read(read, 4096)
    yield r.finish(p), (
        "3 / gpq: suspend: pid t2: the holder ended before it answered (killed?): the queues run; try again / gpq: suspend: "
        "--all-or-none: nothing stays suspended")
    os.close(read)
    yield r.changes(), ["t1 resume 0"]
    yield (a.off, b.off), ("1", "")


@scenario("one process that cannot be held: the others are, and a hold is none without its confirmation")
def _(r):
    a, b = r.target(0), r.target(0, register=False)
    yield r.finish(suspend_all(r, (a, b), "--once")), (
        "3 / t1 0 suspended / gpq: suspend: pid t2: it has not opened /dev/kfd: not a KFD process; gpq queues lists those that have")
    yield (a.off, len(r.holders())), ("0", 1)
    yield r.gpq("resume", "--all", "-r", "-n", "-o", "PID,RESULT"), "0 / t1 resumed"
    with open("/dev/full", "w") as full:
        p = r.start("suspend", "-p", a.pid, stdout=full)
        yield r.finish(p), "1 / gpq: suspend: standard output: No space left on device"
    yield (a.off, len(r.holders())), ("", 0)
    # gpq is killed between the answer and the confirmation.
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    os.write(write, 4096 * b"x")
    p = r.start("suspend", "-p", a.pid, stdout=write)
    os.close(write)
    yield (r.writes(p), a.off), (True, "0")
    h = a.holder
    p.kill()
    yield ends(a, h), ENDED
    os.close(read)


@scenario("the exit status of all queues together: the first reason if none is off, 3 if some are")
def _(r):
    t = r.target(0, 1, 2)
    t.kfd.queue(0).closing = True
    t.kfd.queue(1).refusals = 1
    yield suspend(r, t, "-Q", "0,1,9").split(" / ")[:4], ["1", "0 closing", "1 refused", "9 unknown"]
    yield suspend(r, t, "-Q", "9")[:11], "5 / 9 unkno"
    yield suspend(r, t, "-Q", "2,9")[:15], "3 / 2 suspended"
    yield resume(r, t, "-Q", "0,9")[:13], "3 / 0 running"
    yield resume(r, t, "-Q", "2")[:13], "0 / 2 resumed"
    yield r.gpq("resume", "-p", t.pid), "5 / gpq: resume: pid t1: not suspended by gpq; gpq suspend --list shows what is"


@scenario("queues of secondary contexts are not reached, and that is said")
def _(r):
    t = r.target(0, 1)
    for context, qid in ((1, 0), (1, 1), (2, 5)):
        folder = f"/sys/class/kfd/kfd/proc/{t.pid}/context_{context}/queues/{qid}"
        for name, value in (("gpuid", GPU), ("size", 4096), ("type", 0)):
            r.write(f"{folder}/{name}", str(value))
    columns = ("-r", "-n", "-o", "CONTEXT,QID,RESULT")
    said = "gpq: suspend: pid t1: {} of {} on: the debug interface does not reach them; gpq queues -o +CONTEXT shows them"
    yield r.gpq("suspend", "-p", t.pid, *columns), (
        "3 / - 0 suspended / - 1 suspended / 1 0 unreachable / 1 1 unreachable / 2 5 unreachable / "
        + said.format("3 queues", "2 secondary contexts run"))
    yield t.off, "0,1"
    yield r.gpq("suspend", "--list", "-r", "-n", "-o", "PID,UNREACHED"), "0 / t1 3"
    yield r.gpq("resume", "-p", t.pid, "-Q", "1,5", *columns), (
        "3 / - 1 resumed / - 5 unknown / gpq: resume: pid t1: queue 5: only a secondary context has one of this id")
    yield r.gpq("suspend", "-p", t.pid, "-Q", "5", *columns), "6 / 2 5 unreachable / " + said.format("1 queue", "1 secondary context runs")
    yield t.off, "0"
    resume(r, t)
    yield suspend(r, t, "--all-or-none"), (
        "6 / gpq: suspend: pid t1: 3 queues of secondary contexts cannot be held / gpq: suspend: --all-or-none: nothing stays suspended")
    yield (t.off, r.holders()), ("", [])
    yield suspend(r, t, "-Q", "0,5", "--all-or-none").split(" / ")[0], "6"
    yield suspend(r, t, "-Q", "9", "--all-or-none"), (
        "5 / gpq: suspend: pid t1: queue 9: unknown / gpq: suspend: --all-or-none: nothing stays suspended")


@scenario("a column that is unknown: neither suspend nor resume touches a queue, and COMMAND does not run")
def _(r):
    t, ran = r.target(0), r.dir + "/ran"
    unknown = "2 / gpq: %s: unknown column NOSUCH in queues; --list-columns lists them"
    yield r.gpq("suspend", "-p", t.pid, "-o", "PID,NOSUCH"), unknown % "suspend"
    yield r.gpq("suspend", "-p", t.pid, "-o", "NOSUCH", "--", "touch", ran), unknown % "suspend"
    yield r.gpq("suspend", "-p", t.pid, "-0o", "PID,QID"), "2 / gpq: suspend: --null takes one column, these are 2; for example -0 -o PID"
    yield (r.changes(), r.holders(), os.path.exists(ran)), ([], [], False)
    suspend(r, t)
    r.changes()
    yield r.gpq("resume", "-p", t.pid, "-o", "NOSUCH"), unknown % "resume"
    yield (r.changes(), t.off), ([], "0")


# ---- COMMAND


@scenario("-- COMMAND: off while it runs, its status, its end by a signal; --marks says when")
def _(r):
    t = r.target(0, 1)
    marks = r.dir + "/marks"
    p = r.start("suspend", "-p", t.pid, "-Q", "0", "--marks", marks, "--", "sh", "-c", "read x; exit 7", stdin=subprocess.PIPE)
    yield r.wait(lambda: t.off == "0"), True
    h = t.holder
    r.link(t).ask("status")
    r.until(lambda: os.path.exists(marks) and os.path.getsize(marks))
    r.move(3 * SECOND)
    p.stdin.write("\n")
    p.stdin.flush()
    yield r.finish(p), "7"
    yield ends(t, h), ENDED
    with open(marks) as f:
        rows = [json.loads(line) for line in f]
    yield [(m["pid"], m["queue_id"], m["result"], m["at_ns"] / SECOND - r.page.now_ns / SECOND) for m in rows], [
        (t.pid, 0, "suspended", -3), (t.pid, 0, "resumed", 0)]
    yield r.gpq("suspend", "-p", t.pid, "--", "sh", "-c", "kill -9 $$"), "-9"
    yield (t.off, len(r.holders())), ("", 0)
    yield r.gpq("suspend", "-p", t.pid, "--", "/nonexistent"), "127 / gpq: suspend: /nonexistent: No such file or directory"
    yield r.gpq("suspend", "-p", t.pid, "--", "/etc/passwd"), "126 / gpq: suspend: /etc/passwd: Permission denied"
    t.kfd.queue(1).refusals = 1
    ran = r.dir + "/ran"
    yield r.gpq("suspend", "-p", t.pid, "--", "touch", ran)[:1], "3"
    yield (os.path.exists(ran), t.off, len(r.holders())), (False, "", 0)


@scenario("-- COMMAND: the deadline, gpq resume and the end of the process meanwhile; signals go to COMMAND")
def _(r):
    t = r.target(0)

    def run(*args, command=f"trap 'exit 5' TERM; echo $$ >{r.dir}/runs; while :; do read x || exit 6; done"):
        p = r.start("suspend", "-v", "-p", t.pid, *args, "--", "sh", "-c", command, stdin=subprocess.PIPE)
        r.wait(lambda: t.off == "0")
        h = t.holder
        r.until(lambda: os.path.exists(r.dir + "/runs"))
        os.unlink(r.dir + "/runs")
        return p, h
    p, h = run("--for", "5s")
    r.move(5 * SECOND - 1)
    yield r.link(t).ask("status"), "0:suspended until=1e-09, ok held=1 since=-5 until=1e-09 follows"
    r.move(1)
    yield ends(t, h), ENDED
    p.stdin.close()
    p.stdin = None
    yield r.finish(p), "6 / gpq: suspend: pid t1: its time is over; its queues run"
    p, h = run()
    yield resume(r, t), "0 / 0 resumed"
    p.stdin.close()
    p.stdin = None
    yield r.finish(p), "6 / gpq: suspend: pid t1: its holder ended (gpq resume, or killed); its queues run; see gpq queues"
    p, h = run()
    p.send_signal(signal.SIGTERM)
    r.until(lambda: p.poll() is not None)  # before its input is closed
    yield r.finish(p), "5"
    yield ends(t, h), ENDED
    p, h = run()
    p.kill()
    yield ends(t, h), ENDED
    p.stdin.close()
    p.stdin = None
    r.finish(p)
    p, h = run()
    t.end()
    wait_death(h)
    p.stdin.close()
    p.stdin = None
    yield r.finish(p), "6 / gpq: suspend: pid t1: ended"


# ---- lists


@scenario("--list: states, times by the clock, deadlines")
def _(r):
    a, b, c = r.target(0, 1), r.target(0), r.target(0)
    suspend(r, a, "-Q", "1", "--for", "1h")
    r.move(60 * SECOND)
    suspend(r, b)
    c.kfd.queues.clear()
    suspend(r, c)
    r.move(2 * SECOND)
    yield r.gpq("suspend", "--list", "-r", "-n", "-o", "PID,COMMAND,STATE,QUEUES,QID,HOLDER,SINCE,LEFT,FOLLOWS"), (
        f"0 / t1 target suspended 1 1 h1 {62 * SECOND} {3538 * SECOND} no / t2 target suspended 1 0 h2 {2 * SECOND} - yes / t3 target waiting 0 - h3 - - yes")
    resume(r, b, "--keep")
    kill(a.holder, signal.SIGSTOP)
    p = r.start("suspend", "--list", "-r", "-n", "-o", "PID,STATE,SINCE")
    yield r.still_waits(p, 2.001), True
    yield r.finish(p), "0 / t1 silent - / t2 kept - / t3 waiting -"
    kill(a.holder, signal.SIGCONT)
    yield r.gpq("suspend", "--list", "-p", a.pid, "-r", "-n", "-o", "PID,STATE,SOCKET"), f"0 / t1 suspended {r.socket_of(a).replace(str(a.pid), 't1')}"


@scenario("--method criu: paused by a call on the process's own descriptor, told by a record, resumed by gpq resume alone")
def _(r):
    t = r.target(0, 1)
    record = f"{r.run_dir}/gpq/criu-{t.pid}-{t.start_ticks}"

    def pause(*args):
        out = r.gpq("suspend", "-p", t.pid, "--method", "criu", "-r", "-n", "-o", "PID,QID,RESULT", *args).split(" / ")
        return [line for line in out if "--method criu: nothing resumes a process paused by this method" not in line]
    yield (pause(), t.off, r.calls()), (["0", "t1 - suspended"], "0,1", ["criu 0"])
    yield (t.tracer, r.holders(), open(record).read()), (0, [], "paused\n")
    yield (pause(), t.off, r.calls()), (["0", "t1 - already"], "0,1", [])
    yield r.gpq("suspend", "--list", "-r", "-n", "-o", "PID,STATE"), "0 / t1 paused"
    r.fail("criu", EIO)
    yield r.gpq("resume", "-p", t.pid), "1 / gpq: resume: pid t1: checkpoint interface: Input/output error"
    yield (t.off, r.calls(), os.path.exists(record)), ("0,1", ["criu 2 !5"], True)
    yield (r.gpq("resume", "-p", t.pid), t.off, r.calls(), os.path.exists(record)), ("0", "", ["criu 2"], False)
    yield (r.gpq("resume", "-p", t.pid)[:1], r.calls()), ("5", [])
    # Refused: nothing is paused, and nothing tells that it is.
    for error, status, why in ((EACCES, 4, "the checkpoint interface is refused; run as root (CAP_CHECKPOINT_RESTORE)"),
                               (EIO, 1, "checkpoint interface: Input/output error")):
        r.fail("criu", error)
        yield pause(), [str(status), f"gpq: suspend: pid t1: {why}"]
        yield (t.off, r.calls(), os.path.exists(record)), ("", [f"criu 0 !{error}", "criu 2 !22"], False)
    # A gpq that died in the middle may have paused it, or not.
    for paused, undone in ((False, "criu 2 !22"), (True, "criu 2")):
        t.kfd.paused = paused
        with open(record, "w") as f:
            f.write("intent\n")
        yield (pause(), r.calls(), open(record).read()), (["0", "t1 - suspended"], [undone, "criu 0"], "paused\n")
        with open(record, "w") as f:
            f.write("intent\n")
        yield (r.gpq("resume", "-p", t.pid), t.off, r.calls(), os.path.exists(record)), ("0", "", ["criu 2"], False)
    with open(record, "w") as f:
        f.write("intent\n")
    r.fail("criu", EIO)
    yield (pause()[:1], r.calls(), open(record).read()), (["1"], ["criu 2 !5"], "intent\n")
    os.unlink(record)
    yield pause("--for", "5s"), ["2", "gpq: suspend: --method criu pauses whole processes, and has no deadline; leave out the other options"]


# ---- who is silent


@scenario("gpq suspend asks a holder that is stopped for 5 s, and leaves it")
def _(r):
    t = r.target(0, 1)
    suspend(r, t, "-Q", "0")
    h = t.holder
    kill(h, signal.SIGSTOP)
    p = suspend_all(r, (t,))
    yield r.still_waits(p, 5), True
    yield r.finish(p), "124 / gpq: suspend: pid t1: its holder is stopped (SIGSTOP?) and does not answer; gpq resume ends it, which resumes the queues"
    yield (t.off, lives(h)), ("0", True)
    kill(h, signal.SIGCONT)


@scenario("gpq resume kills a holder that is stopped after 1 s")
def _(r):
    t = r.target(0)
    suspend(r, t)
    h = t.holder
    kill(h, signal.SIGSTOP)
    p = r.start("resume", "-p", t.pid)
    yield r.still_waits(p, 1), True
    yield r.finish(p), "0 / gpq: resume: pid t1: its holder did not answer and was killed; the queues run"
    yield ends(t, h), ENDED


@scenario("--verify: read three times, 10 ms apart")
def _(r):
    for moves, proof, status in (((0, 0), "stopped", 0), ((1, 0), "draining", 0), ((1, 1), "moving", 1), ((0, 1), "moving", 1)):
        t = r.target(0, (1, 1))
        t.set_index(0, 5, 9)
        t.set_waves(0, 4096)
        p = r.start("suspend", "-p", t.pid, "-r", "-n", "-o", "QID,RESULT,PROOF,SAVED,BACKLOG", "--verify")
        for n, by in enumerate(moves):
            r.until(lambda: r.waits(p) == 0.01)
            t.set_index(0, 5 + sum(moves[:n + 1]), 9)
            yield r.still_waits(p, 0.01), True
        left = 4 - sum(moves)
        yield r.finish(p), f"{status * 3} / 0 suspended {proof} 4160 {left} / 1 suspended stopped - 0"
        r.reset()


@scenario("--verify shows its columns, unless -o says which")
def _(r):
    t, usual = r.target(0), "PID GPU QID TYPE RESULT LATENCY"
    for args, columns in ((), usual), (("--once",), usual), (("--verify",), usual + " PROOF SAVED BACKLOG"), (("--verify", "-o", "QID"), "QID"):
        p = r.start("suspend", "-p", t.pid, *args)
        for _ in range(2 if "--verify" in args else 0):
            r.until(lambda: r.waits(p) == 0.01)
            r.move(10 * MS)
        yield (args, r.finish(p).split(" / ")[1]), (args, columns)
        r.gpq("resume", "-p", t.pid)


@scenario("gpq resume kills holders that hang in the driver after 20 s, however many they are")
def _(r):
    a, b = r.target(0), r.target(0)
    suspend(r, a)
    suspend(r, b)
    h = a.holder, b.holder
    with r.driver.lock:  # the driver does not answer
        p = r.start("resume", "-p", f"{b.pid},{a.pid}", "-r", "-n", "-o", "PID,RESULT")
        for seconds in (1, 19, 0.001, 0.001):
            yield (seconds, r.still_waits(p, seconds)), (seconds, True)
        killed = "gpq: resume: pid {}: its holder did not answer and was killed; the queues run"
        yield r.finish(p), f"0 / {killed.format('t2')} / {killed.format('t1')}"
    yield (wait_death(h[0]), wait_death(h[1]), a.off, b.off), (True, True, "", "")


# ---- followers


@scenario("a follower takes in what comes to fit, looks every 50 ms, and ends with resume")
def _(r):
    a = r.target(0)
    yield r.gpq("suspend", "--user", os.geteuid(), "-r", "-n", "-o", "PID,QID,RESULT"), "0 / t1 0 suspended"
    yield r.gpq("suspend", "--user", os.geteuid(), "--once", "-r", "-n", "-o", "PID,QID,RESULT"), "0 / t1 0 already"  # not its holder
    yield r.gpq("resume", "--user", os.geteuid(), "-r", "-n", "-o", "PID,QID,RESULT"), "0 / t1 0 resumed"
    yield (r.followers(), r.holders()), ([], [])
    yield r.gpq("suspend", "--comm", "target", "-r", "-n", "-o", "PID,QID,RESULT"), "0 / t1 0 suspended"
    f = r.followers()
    yield len(f), 1
    b = r.target(0, 1)
    r.until(lambda: r.waits(f[0]) == 0.05)
    r.move(50 * MS)
    yield r.wait(lambda: b.off == "0,1"), True
    r.until(lambda: "kept" not in r.link(b).ask("status") and os.path.exists(r.socket_of(b)))
    yield r.until(lambda: "follows" in r.link(b).ask("status")), True
    yield r.gpq("suspend", "--list", "-r", "-n", "-o", "PID,STATE,SELECTOR"), (
        "0 / t1 suspended - / t2 suspended - / - following --comm\\x20target")
    yield sorted(r.gpq("resume", "--comm", "target", "-r", "-n", "-o", "PID,RESULT").split(" / ")[1:]), [
        "t1 resumed", "t2 resumed", "t2 resumed"]
    yield (a.off, b.off, r.followers(), len(r.holders())), ("", "", [], 0)
    c = r.target(0)
    r.move(SECOND)
    yield (c.off, a.off), ("", "")


@scenario("-- COMMAND: what comes to fit while it runs is suspended until it ends")
def _(r):
    a = r.target(0)
    p = r.start("suspend", "--comm", "target", "--", "sh", "-c", "read x; exit 3", stdin=subprocess.PIPE)
    yield r.wait(lambda: a.off == "0"), True
    yield r.until(lambda: r.followers()), True
    f, = r.followers()
    r.until(lambda: r.waits(f) == 0.05)
    b = r.target(0)
    r.move(50 * MS)
    yield r.wait(lambda: b.off == "0"), True
    h = a.holder, b.holder
    p.stdin.write("\n")
    p.stdin.close()
    p.stdin = None
    yield r.finish(p), "3"
    yield (wait_death(f), ends(a, h[0]), ends(b, h[1])), (True, ENDED, ENDED)


@scenario("a follower goes on to try those that could not be held at first, and leaves alone those that are")
def _(r):
    a, b, c = r.target(0), r.target(0), r.target(0)
    r.foreign(b)
    yield r.gpq("suspend", "--comm", "target", "-r", "-n", "-o", "PID,RESULT").split(" / ")[:3], ["3", "t1 suspended", "t3 suspended"]
    f, = r.followers()
    r.until(lambda: r.waits(f) == 0.05)
    yield (a.off, b.off, c.off), ("0", "", "0")
    r.changes()
    os.close(b.kfd.session.fd)
    b.kfd.session = None
    r.move(SECOND)  # it looks again at each once a second
    yield r.wait(lambda: b.off == "0"), True
    r.until(lambda: r.waits(f) == 0.05)
    yield [call for call in r.changes() if not call.startswith("t2 ")], []


@scenario("a follower ends at its deadline, with --once there is none, and when all it took in run again")
def _(r):
    a = r.target(0)
    r.gpq("suspend", "--comm", "target", "--for", "10s")
    f, = r.followers()
    r.until(lambda: r.waits(f) == 0.05)
    r.move(9 * SECOND)
    r.until(lambda: r.waits(f) == 0.05)
    b = r.target(0)
    r.move(50 * MS)
    yield r.wait(lambda: b.off == "0"), True
    link = r.link(b)
    yield link.ask("status"), "0:suspended until=0.95, ok held=1 since=0 until=0.95 follows"
    r.move(950 * MS)
    yield wait_death(f), True
    r.until(lambda: not a.off + b.off)
    yield (a.off, b.off), ("", "")
    r.gpq("suspend", "--comm", "target", "--once")
    yield r.followers(), []


@scenario("a follower looks at once when what it took in was resumed by another selector; others of it go on")
def _(r):
    a = r.target(0)
    r.gpq("suspend", "--comm", "target")
    f, = r.followers()
    yield r.gpq("resume", "--cmdline", "/rig/target", "-r", "-n", "-o", "RESULT"), "0 / resumed"
    yield (wait_death(f), a.off), (True, "")
    # While one of two is held, it goes on.
    b = r.target(0)
    r.gpq("suspend", "--comm", "target")
    f, = r.followers()
    r.gpq("resume", "-p", a.pid)
    r.until(lambda: r.waits(f) == 0.05)
    r.move(1001 * MS)
    r.until(lambda: r.waits(f) == 0.05)
    yield (lives(f), a.off, b.off), (True, "", "0")
    r.gpq("resume", "-p", b.pid)
    r.until(lambda: r.waits(f) == 0.05)
    r.move(999 * MS)
    r.until(lambda: r.waits(f) == 0.05)
    yield lives(f), True
    r.move(50 * MS)
    yield wait_death(f), True


main()
