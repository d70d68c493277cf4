"""A gpq bench that runs, for preempt.py and ab.py."""
import array
import fcntl
import json
import subprocess
import termios
import time

from scenario import *  # noqa: F403


class Bench:
    """A gpq bench that runs. Looks are counted from its start; on_look: what happens before the n-th one, each of which takes look_ns."""

    def __init__(self, r, *args, first=None, on_look=None, look_ns=MS // 4, **how):
        self.r, self.raw, self.traced = r, r.dir + "/raw", "--breakdown" in args
        with r.driver.lock:
            r.driver.first, r.driver.looks, r.driver.on_look = first, 0, {"each": lambda: r.move(look_ns)} | (on_look or {})
        if os.path.exists(self.raw):
            os.unlink(self.raw)
        self.p = r.start("bench", args[0], *([] if "--samples" in args else ["--samples", self.raw]), *args[1:], env={"GPQ_RIG_LOOKS": "1"}, **how)
        self.waited = []

    def step(self, stop=lambda ms: False):
        """Moves the clock to the end of a wait for time, and tells how many ms it was; at a wait at which to stop it leaves the clock alone.
        None: gpq has ended. Waits for answers (1 s, 2 s) and for the ends of holders (5 s) end by themselves."""
        r, p, end = self.r, self.p, time.monotonic() + PATIENCE
        while time.monotonic() < end:
            left = [at - r.page.now_ns for at in r.until_when(p.pid)]
            if left and left[0] < 900 * MS and "gpq" not in self.children():
                if not stop(left[0] / MS):
                    self.waited.append(left[0] / MS)
                    r.move(left[0] * (10 if left[0] == 10 * MS else 1))  # it waits for a side, and looks each 10 ms
                return left[0] / MS
            if not lives(p.pid):
                return None
            time.sleep(0.0005)
        raise AssertionError(f"it waits: {[ns / MS for ns in left]} ms of the test's clock are left")

    def children(self):
        """The names of its children that live: "gpq" for one that has just begun, or that reads for it; not the guard of a trace."""
        return [s["Name"] for c in children(self.p.pid) if (s := status_of(c)) and s["State"][0] != "Z" and not (
            self.traced and s["Name"] == "gpq" and s["NSsid"].split()[0] == str(c))]

    def until(self, ms):
        """Lets it run until it waits for so long. False: it never does."""
        while (waits := self.step(lambda wait: wait == ms)) not in (ms, None):
            pass
        return waits == ms

    def steps(self, ms):
        """Lets ms of time pass, until it waits again."""
        until = self.r.page.now_ns + ms * MS
        while self.step(lambda _: self.r.page.now_ns >= until) and self.r.page.now_ns < until:
            pass
        self.step(lambda _: True)

    def interrupt(self, sig=signal.SIGINT):
        self.p.send_signal(sig)
        return self.finish()

    def finish(self, *waits):
        """Lets it run to its end, after it has waited for so many seconds: its status and what it said."""
        for seconds in waits:
            if (done := self.r.still_waits(self.p, seconds)) is not True:
                return f"waited {done}"
        end = self.r.page.now_ns + 100 * SECOND
        while self.step() and self.r.page.now_ns < end:
            pass
        return self.r.finish(self.p)

    def samples(self, *members):
        """Of each line of the raw file: these members."""
        with open(self.raw) as f:
            return [tuple(json.loads(line)[m] for m in members) for line in f]


def takes(r, suspend_ms, resume_ms):
    """The next suspend and the next resume take so long in the driver."""
    r.once("suspend", lambda call: (r.move(int(suspend_ms * MS)), call())[1])
    r.once("resume", lambda call: (r.move(int(resume_ms * MS)), call())[1])


def index(t, *pairs):
    return lambda: [t.set_index(qid, *pair) for qid, pair in enumerate(pairs)]


class Ab(Bench):
    """A gpq bench ab of two commands."""

    def __init__(self, r, *args, **how):
        self.on, self.off = Command(r), Command(r)
        how = {"stdout": subprocess.DEVNULL} | how
        super().__init__(r, "ab", "--online-cmd", self.on.text, "--offline-cmd", self.off.text, *([] if "--runs" in args else ["--runs", "1"]), "--lead", "20ms", *args, **how)

    def commands(self):
        """How many commands run."""
        return sum(name in ("sh", "target") for name in self.children())

    def begin(self, command, *queues, work=False):
        """Lets it run until it has started the command and waits, so that it has looked for queues; then the command makes some, which have had
        work or have not."""
        started = [False]
        while not started[-1] and self.step(lambda ms: started.append(self.commands() > lives(self.off.pid)) or started[-1]):
            pass
        command.begin(*queues)
        for q in queues:
            command.set_index(q, work, work)

    def ended(self, command):
        """Lets it run until it has ended the command."""
        while lives(command.pid) and self.step(lambda ms: not lives(command.pid)):
            pass

    def prints(self, command, *lines):
        """The command prints lines, which gpq reads at once."""
        for line in lines:
            command.say("say " + line)
        with open(f"/proc/{command.pid}/fd/1", "wb", buffering=0) as pipe:
            left = array.array("i", [1])
            return self.r.until(lambda: not fcntl.ioctl(pipe, termios.FIONREAD, left) and not left[0])

    def end(self, command, status=0):
        """Ends a command, of which gpq hears at once."""
        self.step(lambda ms: True)
        kill(self.p.pid, signal.SIGSTOP)
        command.say(f"end {status}")
        self.p.send_signal(signal.SIGCONT)
        self.r.until(lambda: not status_of(command.pid))
