"""client.py SOCKET: as client.c, by the Python module, without and with asyncio."""
import asyncio
import errno
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/client"))
import gpq  # noqa: E402

results = []


def note(name, result):
    results.append((name, result if isinstance(result, int) else result.split()[0]))


def tell(call, *args):
    """The result of a request; status() raises what begin() returns."""
    try:
        return call(*args)
    except OSError as e:
        return -(e.errno or errno.EIO)


def plain(path):
    c = gpq.Client(path)
    note("begin", c.begin(7))
    note("renew", c.begin(7))
    note("begin another", c.begin(8, 0))
    note("status", tell(c.status))
    note("end", c.end(7))
    c.close()


async def loop(path):
    c = gpq.AsyncClient(path)
    note("begin of a loop", await c.begin(7))
    try:
        note("status of a loop", await c.status())
    except OSError as e:
        note("status of a loop", -(e.errno or errno.EIO))
    note("end of a loop", c.end(7))
    c.close()


def open_fds():
    def is_open(fd):
        try:
            os.get_inheritable(fd)
            return True
        except OSError:
            return False
    return sum(map(is_open, range(64)))


def main():
    runner = asyncio.new_event_loop()  # its own calls are none of the client's
    fds = open_fds()
    os.getpgid(0)
    plain(sys.argv[1])
    runner.run_until_complete(loop(sys.argv[1]))
    os.getpgid(0)
    if open_fds() != fds:
        os.abort()
    for name, result in results:
        print(name, result)
        if isinstance(result, int) and result < 0:
            print(f"{name}: {os.strerror(-result)}", file=sys.stderr)
    sys.exit(any(isinstance(r, int) and r < 0 for _, r in results))


main()
