"""Scenarios: what the files of tests/holder share. A scenario is a generator of pairs: what was found, and what should be. It is one
test; the first pair that differs fails it.
"""
import contextlib
import os
import signal
import sys

sys.path.insert(0, sys.argv[1] + "/tests/cli")
import tap  # noqa: E402
from rig import *  # noqa: E402,F403

scenarios = []


def scenario(name):
    return lambda f: scenarios.append((name, f))


def suspend(r, t, *args):
    return r.gpq("suspend", "-p", t.pid, "-r", "-n", "-o", "QID,RESULT", *args)


def resume(r, t, *args):
    return r.gpq("resume", "-p", t.pid, "-r", "-n", "-o", "QID,RESULT", *args)


def ignore(*signals):
    """What is called between fork and exec: the program inherits signals that are ignored."""
    for sig in signals:
        signal.signal(sig, signal.SIG_IGN)


def ends(t, holder):
    """The holder ends, and nothing of it is left."""
    return f"{wait_death(holder)} tracer={t.tracer} off={t.off} session={t.kfd.session is not None}"


def listen(r):
    """A socket for the streams of events that gpq opens, each of which begins with its GPU."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with contextlib.suppress(FileNotFoundError):  # left by an earlier scenario
        os.unlink(r.dir + "/smi")
    listener.bind(r.dir + "/smi")
    listener.listen(4)
    listener.settimeout(PATIENCE)
    return listener


def unread(stream):
    """How many bytes the other side has not taken."""
    left = array.array("i", [0])
    fcntl.ioctl(stream, termios.TIOCOUTQ, left)
    return left[0]


ENDED = "True tracer=0 off= session=False"


def main():
    signal.alarm(300)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
    r = Rig(*sys.argv[1:3])
    for name, f in scenarios:
        if len(sys.argv) > 3 and sys.argv[3] not in name:
            continue
        wrong = ""
        try:
            for n, (got, wanted) in enumerate(f(r)):
                if got != wanted and not wrong:
                    wrong = f"pair {n + 1}\nwanted {wanted!r}\ngot    {got!r}"
                    break
        except Exception as e:  # a fault of gpq may break the scenario
            wrong = f"{e!r} at line {e.__traceback__.tb_next.tb_lineno if e.__traceback__.tb_next else '?'}"
        tap.ok(not wrong, name, wrong)
        r.reset()
    r.close()
    tap.finish()
