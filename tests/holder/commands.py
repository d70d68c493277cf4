"""gpq suspend and gpq resume: several processes, COMMAND, followers, lists, who is silent. commands.py TOP BUILD [WORD]. TAP."""
import fcntl
import json
import pwd
import subprocess

from scenario import *  # noqa: F403

CLOCK_NANOSLEEP = 230  # on x86_64
F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", 1031)  # Python before 3.10 has no name for it
ME = pwd.getpwuid(os.geteuid()).pw_name


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
    fcntl.fcntl(write, F_SETPIPE_SZ, 4096)
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
        # Of a process without queues, too, whose document has no row.
        p = r.start("suspend", "-J", "-p", type(a)(r, ()).pid, stdout=full)
        yield "No space left on device" in r.finish(p), True
    yield (a.off, len(r.holders())), ("", 0)
    # gpq is killed between the answer and the confirmation. One that has failed by then holds nothing for it, also late.
    b = r.target(0, 1)
    suspend(r, b, "-Q", "0")
    kill(b.holder, signal.SIGSTOP)
    read, write = os.pipe()
    fcntl.fcntl(write, F_SETPIPE_SZ, 4096)
    os.write(write, 4096 * b"x")
    p = r.start("suspend", "-p", f"{b.pid},{a.pid}", stdout=write)
    os.close(write)
    yield r.still_waits(p, 5), True
    yield (r.writes(p), a.off), (True, "0")
    kill(b.holder, signal.SIGCONT)
    r.link(b).ask("status")
    yield b.off, "0"
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
    for context, qid, kind in ((1, 0, 0), (1, 1, 1), (2, 5, 0)):  # compute, SDMA
        folder = f"/sys/class/kfd/kfd/proc/{t.pid}/context_{context}/queues/{qid}"
        for name, value in (("gpuid", GPU), ("size", 4096), ("type", kind)):
            r.write(f"{folder}/{name}", str(value))
    columns = ("-r", "-n", "-o", "CONTEXT_ID,QID,RESULT")
    said = "gpq: suspend: pid t1: {} of {} on: the debug interface does not reach them; gpq queues -o +CONTEXT_ID shows them"
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
    yield r.gpq("suspend", "-p", t.pid, "--type", "compute", *columns), (
        "3 / - 0 suspended / - 1 suspended / 1 0 unreachable / 2 5 unreachable / " + said.format("2 queues", "2 secondary contexts run"))
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
    yield [(m["pid"], m["qid"], m["result"], m["at_ns"] / SECOND - r.page.now_ns / SECOND) for m in rows], [
        (t.pid, 0, "suspended", -3), (t.pid, 0, "resumed", 0)]
    yield r.gpq("suspend", "-p", t.pid, "--", "sh", "-c", "kill -9 $$"), "-9"
    yield (t.off, len(r.holders())), ("", 0)
    yield r.gpq("suspend", "-p", t.pid, "--", "/nonexistent"), "127 / gpq: suspend: /nonexistent: No such file or directory"
    yield r.gpq("suspend", "-p", t.pid, "--", "/etc/passwd"), "126 / gpq: suspend: /etc/passwd: Permission denied"
    t.kfd.queue(1).refusals = 1
    ran = r.dir + "/ran"
    yield r.gpq("suspend", "-p", t.pid, "--", "touch", ran)[:1], "3"
    yield (os.path.exists(ran), t.off, len(r.holders())), (False, "", 0)


@scenario("-- COMMAND: its end is seen where SIGCHLD is ignored, and signals that are ignored stay so for it")
def _(r):
    t = r.target(0)
    yield r.gpq("suspend", "-p", t.pid, "--", "sh", "-c", "kill -INT $PPID; kill -INT $$; exit 7",
                preexec_fn=lambda: ignore(signal.SIGCHLD, signal.SIGINT)), "7"
    yield (t.off, len(r.holders())), ("", 0)


@scenario("-- COMMAND: the deadline, gpq resume and the end of the process meanwhile; signals go to COMMAND")
def _(r):
    t = r.target(0)

    def run(*args, off="0", command=f"trap 'exit 5' TERM; echo $$ >{r.dir}/runs; while :; do read x || exit 6; done"):
        p = r.start("suspend", "-v", "-p", t.pid, *args, "--", "sh", "-c", command, stdin=subprocess.PIPE)
        r.wait(lambda: t.off == off)
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
    # Of two deadlines the later one counts: what ends behind the earlier one is not over.
    r.reset()
    t = r.target(0, 1)
    for longer in "0", "1":
        suspend(r, t, "-Q", longer, "--for", "9s")
        p, h = run("--for", "5s", off="0,1")
        r.move(6 * SECOND)
        yield r.wait(lambda: t.off == longer), True
        yield resume(r, t), "0 / 0 {} / 1 {}".format(*(("resumed", "running") if longer == "0" else ("running", "resumed")))
        p.stdin.close()
        p.stdin = None
        yield r.finish(p), "6 / gpq: suspend: pid t1: its holder ended (gpq resume, or killed); its queues run; see gpq queues"
    r.reset()
    t = r.target(0)
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
    yield r.gpq("suspend", "--list", "-r", "-n", "-o", "PID,COMMAND,USER,OWNER,STATE,QUEUES,HELD_QIDS,HOLDER,SINCE,LEFT,FOLLOWS"), (
        f"0 / t1 target {ME} {ME} suspended 1 1 h1 {62 * SECOND} {3538 * SECOND} no / t2 target {ME} {ME} suspended 1 0 h2 {2 * SECOND} - yes / t3 target {ME} {ME} waiting 0 - h3 - - yes")
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
    # A record that may not outlive a crash of the host is none.
    r.page.file_error = EIO
    yield pause(), ["1", "gpq: suspend: pid t1: write the record of the pause: Input/output error"]
    yield (t.off, r.calls()), ("", [])
    r.page.file_error = 0
    # A gpq that died in the middle may have paused it, or not.
    for paused, undone, text in ((False, "criu 2 !22", "intent\n"), (True, "criu 2", "intent\n"), (True, "criu 2", "")):
        t.kfd.paused = paused
        with open(record, "w") as f:
            f.write(text)
        yield (pause(), r.calls(), open(record).read()), (["0", "t1 - suspended"], [undone, "criu 0"], "paused\n")
        with open(record, "w") as f:
            f.write("intent\n")
        yield (r.gpq("resume", "-p", t.pid), t.off, r.calls(), os.path.exists(record)), ("0", "", ["criu 2"], False)
    with open(record, "w") as f:
        f.write("intent\n")
    r.fail("criu", EIO)
    yield (pause()[:1], r.calls(), open(record).read()), (["1"], ["criu 2 !5"], "intent\n")
    os.unlink(record)
    # Killed behind the call: undone; or, if that fails, the record tells what may be.
    for errors, off, why in (([], "", "the holder ended before it answered (killed?): the queues run; try again"),
                             ([EIO], "0,1", "checkpoint interface: Input/output error")):
        r.once("criu", lambda call: (call(), kill(t.tracer, signal.SIGKILL))[0])
        for error in errors:
            r.fail("criu", error)
        yield pause(), ["1", f"gpq: suspend: pid t1: {why}"]
        yield (t.off, r.calls(), os.path.exists(record)), (off, ["criu 0", "criu 2" + " !5" * len(errors)], bool(errors))
    with open(record) as f:
        yield f.read(), "intent\n"
    yield (r.gpq("resume", "-p", t.pid), t.off, os.path.exists(record)), ("0", "", False)
    yield pause("--for", "5s"), ["2", "gpq: suspend: --method criu pauses whole processes, and has no deadline; leave out the other options"]


@scenario("records and sockets of processes that have ended are removed by who looks at all, others stay")
def _(r):
    t = r.target(0)
    r.gpq("suspend", "-p", t.pid, "--method", "criu")
    folder = r.run_dir + "/gpq/"
    stays = [f"criu-{t.pid}-{t.start_ticks}", "criu-1x-2", "other"]
    goes = [f"criu-{t.pid}-{t.start_ticks + 1}", f"criu-{PIDS - 1}-5"]
    for name in stays[1:] + goes:
        with open(folder + name, "w") as f:
            f.write("paused\n")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(f"{folder}{PIDS - 1}-6")  # of a holder that was killed
    r.gpq("queues", "-o", "HOLDER")  # reads only
    yield sorted(os.listdir(folder)), sorted(stays + goes + [f"{PIDS - 1}-6"])
    yield r.gpq("suspend", "--list", "-r", "-n", "-o", "PID,STATE"), "0 / t1 paused"
    yield sorted(os.listdir(folder)), sorted(stays)
    r.gpq("resume", "-p", t.pid)


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


@scenario("a stopped holder that cannot be connected to: its backlog is full, or its socket is gone; gpq resume kills it")
def _(r):
    t = r.target(0, 1)
    full = "124 / {}its holder h1 takes no requests (too many connections?), and the queues stay as they are; gpq resume ends it, which resumes them"
    gone = "4 / {}held by the gpq holder h1, which cannot be talked to from here (another PID namespace?); gpq resume ends it, which resumes the queues"
    for why in full, gone:
        suspend(r, t, "-Q", "0")
        h, links = t.holder, []
        kill(h, signal.SIGSTOP)
        while why == full and (not links or not links[-1].connect_ex(r.socket_of(t))):
            links.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK))
        if why == gone:
            os.unlink(r.socket_of(t))
        for command, said in ("suspend", why), ("resume", "0 / {}its holder did not answer and was killed; the queues run"):
            p = r.start(command, "-p", t.pid)
            if links:  # it tries a second for each way to the socket, and sleeps (230) between two tries
                r.until(lambda: p.poll() is not None or r.until_when(p.pid) or (r.syscall(p) == 230 and r.move(SECOND)))
                r.move(SECOND)
            else:
                yield (command, r.still_waits(p, 1)), (command, True)
            yield r.finish(p), said.format(f"gpq: {command}: pid t1: ")
            yield t.off, "0" if command == "suspend" else ""
        yield ends(t, h), ENDED
        for s in links:
            s.close()


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


@scenario("--verify: a queue whose indices cannot be read has no proof, which does not count as a failure; -v tells of it")
def _(r):
    t = r.target(0, 1)
    t.kfd.queue(1).at = 4096  # nothing is there
    p = r.start("suspend", "-v", "-p", t.pid, "-r", "-n", "-o", "QID,RESULT,PROOF,BACKLOG", "--verify")
    for _ in range(2):
        yield r.still_waits(p, 0.01), True
    said = r.finish(p).split(" / ")
    yield said, [
        "0", "0 suspended stopped 0", "1 suspended - -", "gpq: suspend: pid t1: queue 1: its indices cannot be read"]


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
    yield os.readlink(f"/proc/{f[0]}/cwd"), "/"
    yield os.getsid(f[0]), f[0]
    b = r.target(0, 1)
    r.until(lambda: r.waits(f[0]) == 0.05)
    files = sorted(os.listdir(f"/proc/{f[0]}/fd"))
    r.move(50 * MS)
    yield r.wait(lambda: b.off == "0,1"), True
    r.until(lambda: "kept" not in r.link(b).ask("status") and os.path.exists(r.socket_of(b)))
    yield r.until(lambda: "follows" in r.link(b).ask("status")), True
    r.until(lambda: r.waits(f[0]) == 0.05)
    yield sorted(os.listdir(f"/proc/{f[0]}/fd")), files
    yield r.gpq("suspend", "--list", "-r", "-n", "-o", "PID,STATE,SELECTOR"), (
        "0 / t1 suspended - / t2 suspended - / - following --comm\\x20target")
    yield sorted(r.gpq("resume", "--comm", "target", "-r", "-n", "-o", "PID,RESULT").split(" / ")[1:]), [
        "t1 resumed", "t2 resumed", "t2 resumed"]
    yield (a.off, b.off, r.followers(), len(r.holders())), ("", "", [], 0)
    c = r.target(0)
    r.move(SECOND)
    yield (c.off, a.off), ("", "")


@scenario("resume while a follower takes one in: that is found once the follower has ended, and resumed, too")
def _(r):
    a = r.target(0)
    r.gpq("suspend", "--comm", "target")
    f, = r.followers()
    r.until(lambda: r.waits(f) == 0.05)
    lock = os.open(r.run_dir + "/gpq", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    b = r.target(1)
    r.move(50 * MS)
    r.until(lambda: r.syscall(f) == 230)  # for the lock, without which no holder is started
    p = r.start("resume", "--comm", "target", "-r", "-n", "-o", "PID,QID,RESULT")
    r.until(lambda: r.syscall(p) == 230)  # for the follower: it has asked all holders that there are
    yield b.off, ""
    os.close(lock)
    yield wait_death(f), True
    yield b.off, "1"
    yield r.finish(p).split(" / "), ["0", "t1 0 resumed", "t2 1 resumed"]
    yield (a.off, b.off, r.holders()), ("", "", [])


@scenario("resume gives a follower that is stopped 1 s to end, then kills it")
def _(r):
    a = r.target(0)
    r.gpq("suspend", "--comm", "target")
    f, = r.followers()
    kill(f, signal.SIGSTOP)
    p = r.start("resume", "--comm", "target", "-r", "-n", "-o", "PID,RESULT")
    r.until(lambda: r.syscall(p) == 230)  # for the follower
    r.move(SECOND - 1)
    r.until(lambda: r.syscall(p) == 230)
    yield (p.poll(), lives(f)), (None, True)
    r.move(1)
    yield (r.finish(p), lives(f)), ("0 / t1 resumed", False)
    yield (a.off, r.holders()), ("", [])


@scenario("-- COMMAND: what comes to fit while it runs is suspended until it ends")
def _(r):
    a = r.target(0)
    p = r.start("suspend", "--comm", "target", "--", "sh", "-c", "read x; exit 3", stdin=subprocess.PIPE)
    yield r.wait(lambda: a.off == "0"), True
    yield r.until(lambda: r.followers()), True
    f, = r.followers()
    r.until(lambda: r.waits(f) == 0.05)
    yield {os.readlink(f"/proc/{f}/fd/{fd}") for fd in range(3)}, {"/dev/null"}
    yield int(status_of(f)["SigIgn"], 16) >> signal.SIGPIPE - 1 & 1, 1
    b = r.target(0)
    r.move(50 * MS)
    yield r.wait(lambda: b.off == "0"), True
    r.until(lambda: r.waits(f) == 0.05)
    r.move(50 * MS)
    r.until(lambda: r.waits(f) == 0.05)
    yield b.off, "0"
    h = a.holder, b.holder
    p.stdin.write("\n")
    p.stdin.close()
    p.stdin = None
    yield r.finish(p), "3"
    yield (wait_death(f), ends(a, h[0]), ends(b, h[1])), (True, ENDED, ENDED)
    # Nothing is kept of one that cannot be held; the end of gpq ends the follower, too.
    p = r.start("suspend", "--comm", "target", "--", "sh", "-c", "read x", stdin=subprocess.PIPE)
    r.until(lambda: r.followers())
    f, = r.followers()
    r.until(lambda: r.waits(f) == 0.05)
    files = os.listdir(f"/proc/{f}/fd")
    r.foreign(r.target(0))
    r.move(50 * MS)
    r.until(lambda: r.waits(f) == 0.05)
    yield os.listdir(f"/proc/{f}/fd"), files
    p.kill()
    yield wait_death(f), True


def connections(pid):
    return sum(os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:") for fd in os.listdir(f"/proc/{pid}/fd"))


@scenario("-- COMMAND: the follower takes in neither COMMAND nor what it has started, but others that fit")
def _(r):
    for how in "exec sh -c '{}'", "sh -c '{}'; exit 4", "sh -c \"sh -c '{}'; exit 4\"; exit 4":
        a, x = r.target(0), Command(r)
        p = r.start("suspend", "--comm", "target", "--", "sh", "-c", how.format(x.text))
        x.begin(0)
        r.until(lambda: r.followers())
        f, = r.followers()
        r.until(lambda: r.waits(f) == 0.05)
        yield connections(f), 0  # gpq itself holds what was there
        b = r.target(0)
        r.move(SECOND)
        yield r.wait(lambda: b.off == "0"), True
        r.until(lambda: r.waits(f) == 0.05)
        yield (how, a.off, x.off, b.off), (how, "0", "", "0")
        yield connections(f), 1
        x.say("end 4")
        yield r.finish(p), "4 / ready t2"
        yield wait_death(f), True
        r.until(lambda: not a.off + b.off)
        r.reset()


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


@scenario("a follower goes on without what has ended or cannot be held, but not without a root of --tree")
def _(r):
    def looks(f):
        r.until(lambda: r.waits(f) == 0.05)
        r.move(1001 * MS)
        return r.until(lambda: r.waits(f) == 0.05 or not lives(f)) and lives(f)
    a = r.target(0)
    r.gpq("suspend", "--comm", "target")
    f, = r.followers()
    a.end()
    yield looks(f), True
    b = r.target(0)
    r.foreign(b)
    yield looks(f), True
    c = r.target(0)
    r.gpq("suspend", "-p", c.pid, "--tree")
    others = {f}
    f, = set(r.followers()) - others
    yield looks(f), True
    c.end()
    yield looks(f), False
    d, e = r.target(0), r.target(0)
    r.gpq("suspend", "-p", f"{d.pid},{e.pid}", "--tree")
    f, = set(r.followers()) - others
    for t, goes_on in (d, True), (e, False):
        t.end()
        yield looks(f), goes_on


@scenario("a follower looks at once when the driver tells of a process, and takes from the stream what it tells")
def _(r):
    with listen(r) as listener:
        a = r.target(0)
        r.gpq("suspend", "--comm", "target")
        f, = r.followers()
        r.until(lambda: r.waits(f) == 0.05)
        stream, _ = listener.accept()
        yield struct.unpack("=I", stream.recv(4)), (GPU,)
        for lines in 1, 1000:  # more than one read takes
            b = r.target(0, 1)
            stream.sendall(lines * b"200 41207 target\n")
            yield r.wait(lambda: b.off == "0,1"), True
            yield r.until(lambda: not unread(stream)), True
            r.until(lambda: r.waits(f) == 0.05)
        yield (a.off, lives(f)), ("0", True)
        stream.close()
    os.unlink(r.dir + "/smi")


@scenario("a follower goes on while what it took in is held, silent, paused, or held as soon as it has a queue")
def _(r):
    def looks(f):
        until = r.page.now_ns + 5 * SECOND  # it asks a silent holder for 2 s
        while lives(f) and r.page.now_ns < until:
            r.until(lambda: r.until_when(f) or not lives(f))
            r.move(50 * MS)
        return lives(f)

    def paused(t):
        r.gpq("resume", "-p", t.pid)
        r.gpq("suspend", "-p", t.pid, "--method", "criu")

    def named(t):
        r.gpq("resume", "-p", t.pid)
        r.gpq("suspend", "-p", t.pid, "-Q", 1)

    def waiting(t):
        r.gpq("resume", "-p", t.pid)
        t.kfd.queues.clear()
        r.gpq("suspend", "-p", t.pid)
    for how, make, state in (("by name alone", named, "t1 suspended no"),
                             ("silent", lambda t: kill(t.holder, signal.SIGSTOP), "t1 silent -"),
                             ("paused", paused, "t1 paused yes"),
                             ("waiting", waiting, "t1 waiting yes")):
        a = r.target(0, 1)
        r.gpq("suspend", "--comm", "target")
        f, = r.followers()
        r.until(lambda: r.waits(f) == 0.05)
        make(a)
        yield (how, looks(f)), (how, True)
        p = r.start("suspend", "--list", "-p", a.pid, "-rno", "PID,STATE,FOLLOWS")
        if how == "silent":
            yield r.still_waits(p, 2.001), True
        yield r.finish(p), "0 / " + state
        if how == "silent":
            kill(a.holder, signal.SIGCONT)
        r.gpq("resume", "-p", a.pid)
        # Its looks, however many: while they outrun a holder that has no processor, that is silent again.
        yield r.until(lambda: not lives(f) or (r.until_when(f) and r.move(50 * MS))), True
        r.reset()


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



# ---- snapshots


@scenario("a snapshot has the driver's version: of a live host whose driver tells it, not of a recorded one")
def _(r):
    def version(*args, take):
        r.gpq("snapshot", *args, "-q", f"{r.dir}/{take}")
        with open(f"{r.dir}/{take}/MANIFEST") as f:
            return re.findall("^(?:source|kfd) (.*)", f.read(), re.M)
    t = r.target(0)
    r.driver.version = (3, 7)
    yield version(take="live"), ["live", "3.7"]
    with open(f"{r.dir}/live/MANIFEST") as f:  # times of what is read as close together as possible
        timed = [line.split("\t")[4].rstrip("\n") for line in f if re.match("[0-9]+\t[0-9]", line)]
    yield timed, [f"/sys/class/kfd/kfd/proc/{t.pid}/queues/0/{name}" for name in ("gpuid", "size", "type")]
    yield version("--sysroot", r.dir + "/live", take="recorded"), ["recorded", "-"]
    r.fail("version", EIO)
    yield version(take="silent"), ["live", "-"]
    r.page.open_error = EACCES
    yield version(take="closed"), ["live", "-"]


@scenario("queues that come while the dumps are read: read again, three times at most, and it is said that they may not agree")
def _(r):
    for times in 0, 1, 2, 3:
        r.write("/sys/kernel/debug/kfd/mqds", "")
        t, looks = r.target(0), iter([0, *range(1, times + 1)])
        r.driver.on_look["dump"] = lambda: [r.move(3 * MS), *(t.add(n) for n in [next(looks, 0)] if n)]
        said = r.gpq("snapshot", f"{r.dir}/settled{times}", "-rno", "CONSISTENT,QUEUES,WINDOW", env={"GPQ_RIG_LOOKS": "1"})
        yield said, f"0 / {'no' if times == 3 else 'yes'} {times + 1} {3 * MS}" + times // 3 * (
            " / gpq: snapshot: queues came or went during each of 3 attempts: the dumps may not agree; take another one when things are quiet")
        with open(f"{r.dir}/settled{times}/MANIFEST") as f:
            yield re.findall("^(?:dumps_read|consistent) (.*)", f.read(), re.M), [str(min(times + 1, 3)), "no" if times == 3 else "yes"]
        r.reset()


@scenario("a hangup while the dumps are read: a file is not made, and that is said; a stream ends as other programs do")
def _(r):
    r.write("/sys/kernel/debug/kfd/mqds", "")
    r.target(0)
    stopped = "stopped; nothing is left behind"
    for path, said, *more in ((f"{r.dir}/hung", "-1 / gpq: snapshot: " + stopped), ("-", "-1"),
                              (f"{r.dir}/hung", {"level": "error", "command": "snapshot", "message": stopped, "next": None, "status": 129}, "--json")):
        looks = iter([0, 1])
        with r.driver.lock:  # it looks once `p` is known
            r.driver.on_look["dump"] = lambda: [kill(p.pid, signal.SIGHUP) for n in [next(looks, 0)] if n]
            p = r.start("snapshot", path, *more, env={"GPQ_RIG_LOOKS": "1"})
        if more:
            yield (json.load(p.stdout)["error"], p.wait()), (said, -1)
        else:
            yield r.finish(p), said
    yield os.path.exists(f"{r.dir}/hung"), False


@scenario("--every: a snapshot at each moment, and how many moments passed while the one before was made")
def _(r):
    r.target(0)

    def series(name, *args, take, then):
        """The n-th snapshot lasts take[n] ms; until the next one it waits then[n] ms."""
        begin = r.page.now_ns
        for ms in take:
            r.once("version", lambda call, ms=ms: (r.move(ms * MS), call())[1])
        p = r.start("snapshot", "--every", "100ms", *args, f"{r.dir}/{name}", "-rno", "PATH,MISSED")
        for ms in then:
            yield r.still_waits(p, ms / 1000), True
        said = r.finish(p).replace(f"{r.dir}/{name}/", "").split(" / ")
        yield [line for line in said if "debugfs" not in line]
        with open(f"{r.dir}/{name}/index.ndjson") as f:
            yield [(x["missed"], (x["monotonic_ns"] - begin) // MS) for x in map(json.loads, f)]
    *waits, said, index = series("for", "--for", "1s", take=[0, 250, 100, 101, 1000], then=[100, 50, 99])
    yield waits, 3 * [(True, True)]
    yield said, ["0", "000001 0", "000002 0", "000003 2", "000004 0", "000005 1",
                 "gpq: snapshot: 5 moments were missed, since a snapshot took longer than --every; a longer --every, "
                 "or a selector that leaves more out"]
    yield index, [(0, 0), (0, 100), (2, 400), (0, 500), (1, 700)]
    *waits, said, index = series("count", "--count", "2", take=[100, 900], then=[])
    yield said, ["0", "000001 0", "000002 0"]
    yield index, [(0, 0), (0, 100)]
    # Stopped while it waits for the third: what it has printed is whole.
    for how in ("-J",), ("-rn", "--sort", "-PATH"):
        folder = f"{r.dir}/stopped{how[0]}"
        p = r.start("snapshot", "--every", "100ms", folder, "-o", "PATH", *how)
        yield r.still_waits(p, 0.1), True
        r.until(lambda: r.waits(p) == 0.1)
        p.send_signal(signal.SIGTERM)
        out, err = p.communicate(timeout=PATIENCE)
        r.running.remove(p)
        yield [x["path"][-6:] for x in json.loads(out)["snapshots"]] if how[0] == "-J" else [line[-6:] for line in out.splitlines()], (
            ["000001", "000002"] if how[0] == "-J" else ["000002", "000001"])
        yield (p.returncode, "stopped after 2 snapshots, all of them whole" in err), (143, True)


main()
