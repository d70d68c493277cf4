"""A gpq bench that runs, for preempt.py and ab.py."""
import json
import subprocess
import time

from scenario import *  # noqa: F403


class Bench:
    """A gpq bench that runs. Looks are counted from its start; on_look: what happens before the n-th one, each of which takes look_ns."""

    def __init__(self, r, *args, first=None, on_look=None, look_ns=MS // 4, **how):
        self.r, self.raw = r, r.dir + "/raw"
        with r.driver.lock:
            r.driver.first, r.driver.looks, r.driver.on_look = first, 0, {"each": lambda: r.move(look_ns)} | (on_look or {})
        if os.path.exists(self.raw):
            os.unlink(self.raw)
        self.p = r.start("bench", args[0], *([] if "--raw" in args else ["--raw", self.raw]), *args[1:], env={"GPQ_RIG_LOOKS": "1"}, **how)
        self.waited = []

    def step(self, stop=None):
        """Moves the clock to the end of a wait for time, and tells how many ms it was; at a wait of `stop` it leaves the clock alone. None:
        gpq has ended. Waits for answers (1 s, 2 s) and for the ends of holders (5 s) end by themselves."""
        r, p, end = self.r, self.p, time.monotonic() + PATIENCE
        while time.monotonic() < end:
            left = [t.at_ns - r.page.now_ns for t in r.page.timers if t.pid == p.pid and t.signal == -1 and t.at_ns > r.page.now_ns]
            if left and left[0] < 900 * MS:
                self.waited.append(left[0] / MS)
                r.move(left[0] if left[0] != stop else 0)
                return left[0] / MS
            if not lives(p.pid):
                return None
            time.sleep(0.0005)
        raise AssertionError(f"it waits: {[ns / MS for ns in left]} ms of the test's clock are left")

    def until(self, ms):
        """Lets it run until it waits for so long. False: it never does."""
        while (waits := self.step(ms * MS)) not in (ms, None):
            pass
        return waits == ms

    def interrupt(self, sig=signal.SIGINT):
        self.p.send_signal(sig)
        return self.finish()

    def finish(self, *waits):
        """Lets it run to its end, after it has waited for so many seconds: its status and what it said."""
        for seconds in waits:
            if (done := self.r.still_waits(self.p, seconds)) is not True:
                return f"waited {done}"
        while self.step():
            pass
        return self.r.finish(self.p)

    def samples(self, *members):
        """Of each line of the raw file: these members."""
        with open(self.raw) as f:
            return [tuple(json.loads(line)[m] for m in members) for line in f]


def takes(r, suspend_ms, resume_ms):
    """The next suspend and the next resume take so long in the driver."""
    r.once("suspend", lambda call: (r.move(suspend_ms * MS), call())[1])
    r.once("resume", lambda call: (r.move(resume_ms * MS), call())[1])


def index(t, *pairs):
    return lambda: [t.set_index(qid, *pair) for qid, pair in enumerate(pairs)]
