# common/client/gpq.py against tests/client/hint-server.c: tests/cli/client-python.sh. Prints TAP.
import ast
import asyncio
import concurrent.futures
import contextlib
import errno
import faulthandler
import gc
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

top, server_bin = sys.argv[1:]
module = top + "/common/client/gpq.py"
sys.path.insert(0, os.path.dirname(module))
sys.dont_write_bytecode = True
import gpq  # noqa: E402


class Server:
    def __init__(self, path):
        self.process = subprocess.Popen(
            [server_bin, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.expect("ready")

    def expect(self, *words):
        """The next lines that it prints."""
        for word in words:
            line = self.process.stdout.readline().strip()
            assert line == word, f"{line} instead of {word}"

    def silent(self):
        return not select.select([self.process.stdout], [], [], 0)[0]

    def say(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        self.expect("done")

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.stdout.close()
        assert self.process.wait() == 0


def test_begin_and_end(server, path):
    client = gpq.Client(path)
    assert client.begin(timeout=None) == 0
    server.expect("active")
    assert client.status() == "active 1\nclients 1\n"
    server.say("off 5 3")
    assert client.begin(2**64 - 1, timeout=60) == 3
    assert client.begin(7, 60, "for=30s") == 3
    assert client.begin(8, 60, words="gpu=0") == -errno.EINVAL  # this server knows none
    assert (client.end(7), client.end(8)) == (0, -errno.EINVAL)
    other = gpq.Client(path, words="gpu=0")
    assert (other.begin(9, 60), other.begin(9, 60, "for=1s")) == (-errno.EINVAL, 3)
    other.close()
    for words in ("for=1s\n", "x" * 161):
        try:
            client.begin(8, 60, words)
        except ValueError:
            continue
        assert False, words
    assert client.end(2**64 - 1) == 0
    assert client.end(2**64 - 1) == -errno.EINVAL
    assert client.end() == 0
    server.expect("idle")
    for hint in (-1, 2**64):
        try:
            client.begin(hint)
        except ValueError:
            continue
        assert False, hint
    for hint in range(31):
        assert client.begin(hint, 0) == 0
    assert client.begin(31, None) == 3
    assert client.begin(32) == -errno.EDQUOT
    client.close()
    server.expect("active", "idle")
    assert client.begin() == -errno.EBADF


def test_no_answer(server, path):
    client = gpq.Client(path)
    server.say("mute")
    assert client.begin(1, 0) == 0
    assert client.begin(2, 0.001) == -errno.ETIMEDOUT
    server.expect("active")
    assert client.end(1) == 0 and client.end(2) == 0
    server.expect("idle")
    server.say("off 1 4")
    assert client.begin(3) == 4
    client.close()


def test_silent(server, path):
    """A scheduler that hangs costs one wait: what was waited for in vain is a part of later timeouts. Nothing here waits for an hour."""

    async def alone():
        client = gpq.AsyncClient(path)
        assert await client.begin(1, 0.001) == -errno.ETIMEDOUT
        client._since -= 3600
        assert await client.begin(2, 3600) == -errno.ETIMEDOUT
        client.close()

    client = gpq.Client(path)
    server.say("mute")
    assert client.begin(1, 0.001) == -errno.ETIMEDOUT
    since = client._since
    assert client.begin(1, 0.001) == -errno.ETIMEDOUT and client._since == since
    client._since -= 3600
    assert client.begin(2, 3600) == -errno.ETIMEDOUT
    asyncio.run(alone())
    server.expect("active")
    server.say("off 1 4")
    assert client.begin(2, 7200) == 4  # there is an hour left
    assert client.begin(3, 3600) == 4  # it has answered
    client.close()


def test_no_server(server, path):
    server.stop()
    client = gpq.Client(path)
    assert client.begin(1) == -errno.ENOENT
    assert client.begin(2, 0) == -errno.ENOENT
    assert client.end(2) == -errno.ENOENT
    try:
        client.status()
        assert False
    except FileNotFoundError:
        pass
    client._retry = float("inf")
    server = Server(path)
    assert client.begin(2) == -errno.ENOENT
    client._retry = 0
    assert client.begin(2) == 0
    assert client.status() == "active 2\nclients 1\n"
    server.stop()
    server = Server(path)
    client._retry = 0
    assert client.end(2) == 0
    assert client.status() == "active 1\nclients 1\n"
    server.stop()
    assert gpq.Client("/" + "x" * 200).begin() == -errno.ENAMETOOLONG
    return Server(path)


def test_too_fast(server, path):
    client = gpq.Client(path)
    assert client.begin(1) == 0
    server.expect("active")
    os.kill(server.process.pid, signal.SIGSTOP)
    result = 0
    while result == 0:
        result = client.begin(2, 0)
    assert result == -errno.EAGAIN
    assert client.begin(3, 0.001) == -errno.EAGAIN and client.end(3) == -errno.EINVAL
    assert client.end(1) == 0 and client._socket is None
    os.kill(server.process.pid, signal.SIGCONT)
    server.expect("idle")
    client.close()


def in_child(f):
    """`f` passes in a child."""
    pid = os.fork()
    if pid == 0:
        try:
            f()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def test_fork(server, path):
    client = gpq.Client(path)

    def child():
        assert client.end() == -errno.EINVAL and client._socket is None
        assert client.begin(7) == 0
        assert client.status() == "active 2\nclients 2\n"

    with client.online() as result:
        assert result == 0
        in_child(child)
        for _ in range(1000):  # until the server has noticed the child's end
            if client.status() == "active 1\nclients 1\n":
                break
        assert client.status() == "active 1\nclients 1\n"
    server.expect("active", "idle")
    pid = 0
    with client.online():  # left by the child, too
        pid = os.fork()
    if pid == 0:
        os._exit(0 if client.end() == -errno.EINVAL else 1)
    assert os.waitpid(pid, 0)[1] == 0
    server.expect("active", "idle")
    client.close()


def test_online(server, path):
    inside = threading.Barrier(5)

    def work():
        with gpq.online(timeout=None) as result, gpq.online():
            assert result == 0
            inside.wait()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    inside.wait()
    for thread in threads:
        thread.join()
    server.expect("active", "idle")
    try:
        with gpq.online():
            raise KeyError
    except KeyError:
        server.expect("active", "idle")
    assert server.silent()


def test_renewal(server, path):
    client = gpq.Client(path)
    with client.online():
        sent = client._sent
        client._begun = float("inf")  # too soon
        with client.online():
            assert client._sent == sent
            client._begun = float("-inf")
            with client.online():
                assert client._sent == sent + 1

    async def main():
        client = gpq.AsyncClient(path)
        async with client.online():
            sent, client._begun = client._sent, float("inf")
            async with client.online():
                assert client._sent == sent
            client._begun = float("-inf")
            async with client.online():
                assert client._sent == sent + 1
        client.close()

    asyncio.run(main())


def test_async(server, path):
    async def work():
        async with gpq.online_async(timeout=None) as result:
            async with gpq.online_async():
                await asyncio.sleep(0)
            return result

    async def main():
        server.say("mute")
        tasks = [asyncio.ensure_future(work()) for _ in range(3)]
        await asyncio.sleep(0.001)  # the loop is not blocked
        assert not any(task.done() for task in tasks)
        server.expect("active")
        tasks[0].cancel()  # leaves the others waiting
        server.say("off 1 6")
        # The answers are given as soon as anything happens.
        assert await gpq.AsyncClient(path).status() == "active 1\nclients 2\n"
        assert await asyncio.gather(*tasks[1:]) == [6, 6]
        server.expect("idle")

        server.say("mute")
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        server.expect("active")
        task.cancel()
        await asyncio.wait([task])
        server.expect("idle")

    asyncio.run(main())


def test_async_client(server, path):
    async def main():
        nonlocal server
        client = gpq.AsyncClient(path)
        assert await client.begin(1) == 0
        server.expect("active")
        assert await client.begin(2, 0) == 0
        assert await client.status() == "active 2\nclients 1\n"
        assert client.end(3) == -errno.EINVAL
        server.say("mute")
        assert await client.begin(4, 0.001) == -errno.ETIMEDOUT
        assert client.end(4) == 0
        waiting = asyncio.ensure_future(client.begin(4, None))
        await asyncio.sleep(0)
        assert client.end(4) == 0
        assert await waiting == -errno.ECANCELED
        waiting = asyncio.ensure_future(client.begin(5, None))
        await asyncio.sleep(0)
        server.stop()  # while a task waits for its answer
        client._retry = float("inf")
        assert await waiting == -errno.ECONNRESET
        server = Server(path)
        client._retry = 0
        assert client.end(1) == 0
        assert await client.status() == "active 2\nclients 1\n"
        client.close()
        assert await client.begin() == -errno.EBADF

    asyncio.run(main())
    return server


def test_loops_without_end(server, path):
    """Each asyncio.run() has a loop of its own, and leaves no connection behind."""

    async def work():
        async with gpq.online_async(timeout=None) as result:
            return result

    gc.disable()
    try:
        assert [asyncio.run(work()) for _ in range(100)] == [0] * 100
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            assert list(threads.map(lambda _: asyncio.run(work()), range(100))) == [0] * 100
    finally:
        gc.enable()
    asyncio.run(work())
    # The one that asks, and that of the last loop, if it is still there.
    assert asyncio.run(gpq.AsyncClient(path).status()) in ("active 0\nclients 1\n", "active 0\nclients 2\n")
    gpq._default_async.clear()


class Liar(threading.Thread):
    """A scheduler that says what `lie` writes to each connection, whatever it is asked."""

    def __init__(self, path, lie):
        super().__init__(daemon=True)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        self.listener.listen()
        self.lie = lie
        self.start()

    def run(self):
        kept = []
        with contextlib.suppress(OSError):
            while True:
                connection = self.listener.accept()[0]
                kept.append(connection)
                connection.setblocking(False)
                with contextlib.suppress(OSError):
                    self.lie(connection)
        for connection in kept:
            connection.close()

    def end(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.join()
        self.listener.close()


def ends(call):
    """A result, or an OSError, and nothing else."""
    try:
        result = call()
        assert isinstance(result, (int, str)), result
        return result
    except OSError as e:
        return -e.errno


def test_lies(server, path):
    pieces = [
        b"ok\n", b"ok off=1 missed=2 ns=3\n", b"ok missed=" + b"9" * 5000 + b"\n", b"ok missed=-1\n", b"ok missed=\n",
        "ok missed=\u00b2\u0663\n".encode(), b"error\n", b"error \n", b"error limit\n", b"error ended x\n", b"error nothing known\n",
        b"error \xff\xfe\n", b"o", b"ok", b"ok off", b"\n", b"\0\0\n", bytes(range(256)), b"x" * 70000, b"\r\nok\r\n",
        b"active 1\nok\n", b"okay\n", b"errors\n",
    ]  # fmt: skip
    lies = os.path.dirname(path) + "/lies"
    for seed in range(300):
        rng = random.Random(seed)

        def lie(connection, rng=rng):
            for _ in range(rng.randrange(12)):
                connection.send(rng.choice(pieces) if rng.randrange(4) else rng.randbytes(rng.randrange(200)))
            if rng.randrange(2):
                connection.shutdown(rng.choice([socket.SHUT_WR, socket.SHUT_RDWR]))

        liar = Liar(lies, lie)
        client = gpq.Client(lies)
        for _ in range(6):
            client._retry = 0
            ends(lambda: client.begin(1, rng.choice([0, 0.001])))
            ends(lambda: client.end(1))
            ends(lambda: client.status(0.001))
        client.close()

        async def main(rng=rng):
            client = gpq.AsyncClient(lies)
            for _ in range(6):
                client._retry = 0
                for call in client.begin(1, rng.choice([0, 0.001])), client.status(0.001):
                    with contextlib.suppress(OSError):
                        assert isinstance(await call, (int, str))
                ends(lambda: client.end(1))
            client.close()

        asyncio.run(main())
        liar.end()
        os.unlink(lies)


def test_lies_without_end(server, path):
    """Time is over for an answer that never ends, and for a scheduler that talks and does not listen."""
    lies = os.path.dirname(path) + "/lies"
    for text in b"active 1\n" * 1000, b"x" * 9000:

        def lie(connection, text=text):
            connection.setblocking(True)
            while True:
                connection.send(text)

        liar = Liar(lies, lie)
        client = gpq.Client(lies)
        assert ends(lambda: client.status(0.05)) in (-errno.ETIMEDOUT, -errno.ECONNRESET)
        client.close()

        async def main():
            client = gpq.AsyncClient(lies)
            assert await client.begin(1, 0.05) in (-errno.ETIMEDOUT, -errno.ECONNRESET)
            client.close()

        asyncio.run(main())
        liar.end()
        os.unlink(lies)

    liar = Liar(lies, lambda connection: connection.send(b"ok\n" * 4000))
    client = gpq.Client(lies)
    while client.begin(1, 0) == 0:
        pass
    assert client.begin(1, 0.05) == -errno.EAGAIN
    client.close()
    liar.end()
    os.unlink(lies)


def test_python_3_9(server, path):
    with open(module, encoding="utf-8") as f:
        ast.parse(f.read(), feature_version=(3, 9))


def main():
    faulthandler.dump_traceback_later(120, exit=True)  # what hangs, if anything does
    tests = [f for name, f in globals().items() if name.startswith("test_")]
    failed = 0
    for n, test in enumerate(tests, 1):
        work = tempfile.mkdtemp()
        path = os.environ["GPQ_SCHED_SOCKET"] = work + "/socket"
        server = Server(path)
        try:
            server = test(server, path) or server
            print(f"ok {n} - {test.__name__}")
        except Exception as e:
            failed = 1
            line = e.__traceback__.tb_next.tb_lineno if e.__traceback__.tb_next else 0
            print(f"not ok {n} - {test.__name__}\n# line {line}: {e!r}")
        if server.process.poll() is None:
            server.stop()
        gpq._default = None
        shutil.rmtree(work)
    print(f"1..{len(tests)}", flush=True)
    return failed


sys.exit(main())
