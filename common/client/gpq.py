"""Client of gpq sched: tells the scheduler when online work comes and when it is over.

    import gpq

    with gpq.online():              # offline queues are off the GPU inside
        serve(request)

    async with gpq.online_async():  # the same for asyncio; does not block the loop
        await serve(request)

Nested blocks and those of several threads (tasks of a loop) share one hint: it begins with the first
and ends with the last. The work goes on whatever the scheduler says, and without a scheduler:
`with gpq.online() as result` tells. A result of 0: the offline queues are off; above 0: so many
offline processes could not be held; below 0: -errno, as in gpq-client(3).

Client and AsyncClient are for more than one hint, another socket, and status().
Standard library only, Python 3.9 or later.
"""

import asyncio
import contextlib
import errno
import os
import select
import socket
import threading
import time
import weakref

__all__ = ["Client", "AsyncClient", "online", "online_async"]

HINTS = 32  # of one client at a time
RETRY = 1.0  # seconds between attempts to connect
AT_ONCE = 64  # pieces of answers that are read at a time: they may come without end
ANSWER_MAX = 16 << 20  # bytes
RENEW = 0.1  # a hint that is shared is renewed by those who join it, so often at most
ERRORS = {"limit": errno.EDQUOT, "ended": errno.ECANCELED, "expired": errno.ESTALE, "id": errno.EINVAL, "request": errno.EINVAL}
REFUSED = (-errno.EAGAIN, -errno.EDQUOT, -errno.EINVAL)  # the hint was not begun
WORDS = 160  # bytes of words

_clients = weakref.WeakSet()


def _places(path):
    path = path or os.environ.get("GPQ_SCHED_SOCKET")
    if path:
        return [path]
    run = os.environ.get("XDG_RUNTIME_DIR", "")
    own = [run + "/gpq-sched/socket"] if run.startswith("/") else []
    return own + ["/run/gpq-sched/socket"]


def _result(line):
    """What begin() returns for the last line of an answer."""
    words = line.split(" ")
    if words[0] == "error":
        return -ERRORS.get(words[1] if len(words) > 1 else "", errno.EPROTO)
    for word in words:
        if word.startswith("missed=") and word[7:].isascii() and word[7:].isdigit():
            return int(word[7:]) if len(word) < 17 else 2**31 - 1
    return 0


def _begin_line(hint, words):
    return "begin %d %s" % (hint, words) + "\n" if words else "begin %d\n" % hint


def _is_over(deadline):
    return deadline is not None and time.monotonic() >= deadline


class _Connection:
    """What both clients are: requests go out and answers are taken without waiting."""

    def __init__(self, path=None, words=""):
        self._places = _places(path)
        self._words = words  # of hints that have none of their own
        self._socket = None
        self._error = errno.ENOTCONN
        self._retry = 0.0
        self._hints = {}  # those begun and not ended, in order: their words
        self._begun = 0.0  # when the hint of online() was begun or renewed
        self._new_connection()
        _clients.add(self)

    def _new_connection(self):
        self._sent = self._answered = 0
        self._silent = None  # _answered when a wait was in vain
        self._since = 0.0  # when that wait, the first of several, began
        self._input = b""
        self._lines, self._size = [], 0  # of status
        self._answer = 0, []  # the last one: result, lines

    def _forget(self):
        """The child of a fork has a connection of its own, and no hints."""
        if self._socket:
            self._socket.close()
        self._socket = None
        self._retry = 0.0
        self._hints.clear()
        self._new_connection()

    def _lost(self):
        """One connection too many is told so before it is closed."""
        self._socket.close()
        self._socket = None
        full = self._answered and self._answer[0] == -errno.EDQUOT
        self._error = errno.EDQUOT if full else errno.ECONNRESET
        return -self._error

    def _on_answer(self):
        pass

    def _parse(self, line):
        if line != "ok" and not line.startswith(("ok ", "error ")):
            self._lines.append(line)
            self._size += len(line) + 1
            return
        self._answer = _result(line), self._lines
        self._lines, self._size = [], 0
        self._answered += 1
        self._on_answer()

    def _take(self):
        """Reads what has come, a part of what comes without end. 0, or -errno when the connection is lost."""
        for _ in range(AT_ONCE):
            if self._answered >= self._sent:
                break
            try:
                data = self._socket.recv(65536)
            except BlockingIOError:
                return 0
            except OSError:
                data = b""
            if not data:
                return self._lost()
            *lines, self._input = (self._input + data).split(b"\n")
            for line in lines:
                self._parse(line.decode("utf-8", "replace"))
            if len(self._input) + self._size > ANSWER_MAX:  # none of gpq's
                return self._lost()
        return 0

    def _put(self, text, requests=1):
        """Sends requests. 0; -EAGAIN: not sent, the scheduler is behind; -errno: the connection is lost."""
        r = self._take()
        if r < 0:
            return r
        try:
            sent = self._socket.send(text.encode(), getattr(socket, "MSG_NOSIGNAL", 0))
        except BlockingIOError:
            return -errno.EAGAIN
        except OSError:
            sent = 0
        self._sent += requests
        if sent == len(text):
            return 0
        r = self._take()  # it may have said why
        return r if r < 0 else self._lost()

    def _open(self):
        error = errno.ENOENT
        for place in self._places:
            s = None
            try:
                s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)  # closed on exec (PEP 446)
                s.setblocking(False)
                s.connect(place)
                return s, 0
            except OSError as e:
                error = e.errno or errno.ENAMETOOLONG  # without errno: the path is too long
                error = errno.ECONNREFUSED if error == errno.EAGAIN else error
                if s:
                    s.close()
        return None, error

    def _ensure(self):
        """There is a connection, or -errno. At most one is tried in a second."""
        if self._socket:
            return 0
        now = time.monotonic()
        if now < self._retry:
            return -self._error
        self._retry = now + RETRY
        self._socket, self._error = self._open()
        if not self._socket:
            return -self._error
        self._new_connection()
        text = "".join(_begin_line(hint, words) for hint, words in self._hints.items())
        return self._put(text, len(self._hints)) if text else 0

    def _begin(self, hint, words):
        """Sends a `begin`; as _put()."""
        r = self._ensure()
        r = r if r < 0 else self._put(_begin_line(hint, words))
        if r == -errno.ECONNRESET:
            r = self._ensure()
            r = r if r < 0 else self._put(_begin_line(hint, words))
        return r

    def _in_vain(self, begun):
        """Notes that a wait was in vain, until somebody answers."""
        if self._silent != self._answered:
            self._silent, self._since = self._answered, begun
        return -errno.ETIMEDOUT

    def _limit(self, deadline):
        """Until when to wait: a scheduler that hangs is waited for once, not by each request."""
        if deadline is not None and self._socket and self._silent == self._answered:
            self._take()
        silent = deadline is not None and self._silent == self._answered
        return deadline - (time.monotonic() - self._since) if silent else deadline

    def _may_begin(self, hint, words):
        if not 0 <= hint < 1 << 64:
            raise ValueError("a hint is a number from 0 to 2**64 - 1")
        if len(words.encode()) > WORDS or "\n" in words:
            raise ValueError("words are at most %d bytes of one line" % WORDS)
        return hint in self._hints or len(self._hints) < HINTS

    def _renew_due(self):
        now = time.monotonic()
        due = now - self._begun > RENEW
        self._begun = now if due else self._begun
        return due

    def _end(self, hint):
        if hint not in self._hints:
            return -errno.EINVAL
        del self._hints[hint]
        if not self._socket:
            return self._ensure()  # the others begin again
        r = self._put("end %d\n" % hint)
        if r == -errno.EAGAIN:  # the end of the connection ends it, too
            self._lost()
            r = 0
        return self._ensure() if r == -errno.ECONNRESET else r

    def close(self):
        """Ends all hints."""
        self._forget()
        self._retry, self._error = float("inf"), errno.EBADF


class Client(_Connection):
    """A connection to the scheduler, made when it is needed. Threads may share it; their calls go one
    after the other."""

    def __init__(self, path=None, words=""):
        self._lock = threading.Lock()
        self._users = 0
        self._online = 0
        self._users_lock = threading.Lock()
        super().__init__(path, words)

    def _forget(self):
        super()._forget()
        self._users = 0

    def _after_fork(self):
        self._lock = threading.Lock()
        self._users_lock = threading.Lock()
        self._forget()

    def close(self):
        with self._lock:
            super().close()

    def _wait(self, events, deadline):
        left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        poll = select.poll()
        poll.register(self._socket, events)
        try:
            return bool(poll.poll(left))
        except OSError:  # no memory: whoever waits looks at the socket and at the deadline
            return True

    def _last_answer(self, deadline):
        begun = time.monotonic()
        while self._answered < self._sent:
            if not self._wait(select.POLLIN, deadline):
                return self._in_vain(begun)
            r = self._take()
            if r < 0:
                return r
            if self._answered < self._sent and _is_over(deadline):
                return self._in_vain(begun)  # what comes without end is no answer
        return self._answer[0]

    def _begin_and_wait(self, hint, words, timeout, deadline):
        deadline = self._limit(deadline)
        while True:
            r = self._begin(hint, words)
            if r != -errno.EAGAIN or timeout == 0:
                break
            # What has come and no request asked for is not read, and not waited for either.
            events = select.POLLOUT | (select.POLLIN if self._answered < self._sent else 0)
            if not self._wait(events, deadline) or _is_over(deadline):
                break
        return r if r < 0 or timeout == 0 else self._last_answer(deadline)

    def begin(self, hint=0, timeout=1.0, words=None):
        """Online work comes. Returns when the offline queues are off, after `timeout` seconds at the
        latest. 0: does not wait; None: waits without limit. `words` tell of the work, as those of
        gpq_begin_with() in gpq-client(3), whose results these are; None: those of the client. end() is due but for -EAGAIN,
        -EDQUOT and -EINVAL."""
        deadline = None if timeout is None else time.monotonic() + timeout
        words = self._words if words is None else words
        with self._lock:
            if not self._may_begin(hint, words):
                return -errno.EDQUOT
            r = self._begin_and_wait(hint, words, timeout, deadline)
            if r == -errno.ECONNRESET:
                r = self._begin_and_wait(hint, words, timeout, deadline)
            if r not in REFUSED:
                self._hints[hint] = words
            return r

    def end(self, hint=0):
        """The work is over. Does not wait. 0; -EINVAL: no such hint; else as begin()."""
        with self._lock:
            return self._end(hint)

    def status(self, timeout=1.0):
        """The scheduler's statistics as text. OSError when it cannot be had."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._lock:
            r = self._ensure()
            r = r if r < 0 else self._put("status\n")
            r = r if r < 0 else self._last_answer(deadline)
            if r < 0:
                raise OSError(-r, os.strerror(-r), self._places[-1])
            return "".join(line + "\n" for line in self._answer[1])

    @contextlib.contextmanager
    def online(self, timeout=1.0):
        """One hint for all threads that are inside; the first waits for the queues, others with it."""
        with self._users_lock:
            self._users += 1
            if self._users == 1:
                self._begun = time.monotonic()
                try:
                    self._online = self.begin(0, timeout)
                except BaseException:
                    self._leave()
                    raise
            elif self._renew_due():
                self.begin(0, 0)
            result = self._online
        pid = os.getpid()
        try:
            yield result
        finally:
            if pid == os.getpid():  # a child that was made inside has no hint
                with self._users_lock:
                    self._leave()

    def _leave(self):
        self._users -= 1
        if self._users == 0:
            self.end(0)


class AsyncClient(_Connection):
    """The same for the tasks of one asyncio loop. begin() and status() are awaited; end() does not
    wait."""

    def __init__(self, path=None, words=""):
        self._waiting = {}  # number of a request -> future of its answer
        self._reading = None  # the loop that watches the socket
        self._users = 0
        self._online = None
        super().__init__(path, words)

    def _after_fork(self):
        self._waiting = {}
        self._reading = None
        self._users = 0
        self._online = None
        self._forget()

    def _on_answer(self):
        future = self._waiting.pop(self._answered, None)
        if future and not future.done():
            future.set_result(self._answer)

    def _watch(self, loop):
        """Watches the socket as long as somebody waits."""
        loop = loop if self._socket and self._waiting else None
        if self._reading and not loop:
            self._reading.remove_reader(self._fd)
        if loop and not self._reading:
            self._fd = self._socket.fileno()
            loop.add_reader(self._fd, self._readable)
        self._reading = loop

    def _readable(self):
        self._take()
        self._watch(self._reading)

    def _fail_waiting(self, error):
        waiting, self._waiting = self._waiting, {}
        self._watch(None)
        for future in waiting.values():
            if not future.done():
                future.set_result((error, []))

    def _lost(self):
        self._watch(None)
        error = super()._lost()
        self._fail_waiting(error)
        return error

    def close(self):
        self._fail_waiting(-errno.EBADF)
        super().close()

    async def _last_answer(self, timeout):
        """The answer to the request that was sent last."""
        loop, begun = asyncio.get_running_loop(), time.monotonic()
        number, future = self._sent, loop.create_future()
        self._waiting[number] = future
        try:
            self._watch(loop)
            return await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError:
            return self._in_vain(begun), []
        except OSError as e:  # the loop cannot watch one more descriptor
            return -(e.errno or errno.EIO), []
        finally:
            if self._waiting.get(number) is future:
                del self._waiting[number]
            self._watch(loop)

    async def _begin_and_wait(self, hint, words, timeout, deadline):
        deadline = self._limit(deadline)
        while True:
            r = self._begin(hint, words)
            if r != -errno.EAGAIN or timeout == 0 or _is_over(deadline):
                break
            await asyncio.sleep(0.001)  # the scheduler is behind
        if r < 0 or timeout == 0:
            return r
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        return (await self._last_answer(left))[0]

    async def begin(self, hint=0, timeout=1.0, words=None):
        """As Client.begin()."""
        deadline = None if timeout is None else time.monotonic() + timeout
        words = self._words if words is None else words
        if not self._may_begin(hint, words):
            return -errno.EDQUOT
        had = self._hints.get(hint)
        self._hints[hint] = words  # also if this task is cancelled; another may end it meanwhile
        r = await self._begin_and_wait(hint, words, timeout, deadline)
        if r == -errno.ECONNRESET and hint in self._hints:
            r = await self._begin_and_wait(hint, words, timeout, deadline)
        if r in REFUSED and hint in self._hints:
            self._hints[hint] = had
            if had is None:
                del self._hints[hint]
        return r

    def end(self, hint=0):
        """As Client.end()."""
        return self._end(hint)

    async def status(self, timeout=1.0):
        """As Client.status()."""
        r = self._ensure()
        r = r if r < 0 else self._put("status\n")
        lines = []
        if r == 0:
            r, lines = await self._last_answer(timeout)
        if r < 0:
            raise OSError(-r, os.strerror(-r), self._places[-1])
        return "".join(line + "\n" for line in lines)

    @contextlib.asynccontextmanager
    async def online(self, timeout=1.0):
        """As Client.online(), for the tasks of this loop."""
        self._users += 1
        if self._users == 1:
            self._begun = time.monotonic()
            self._online = asyncio.ensure_future(self.begin(0, timeout))
        elif self._renew_due():
            self._begin(0, self._words)
        pid = os.getpid()
        try:
            # Shielded: a task that is cancelled leaves the others waiting.
            yield await asyncio.shield(self._online)
        finally:
            if pid == os.getpid():
                self._users -= 1
                if self._users == 0:
                    self._online = None  # a task holds its loop
                    self.end(0)


def _after_fork():
    global _default_lock
    _default_lock = threading.Lock()
    for client in list(_clients):
        client._after_fork()


os.register_at_fork(after_in_child=_after_fork)

_default_lock = threading.Lock()
_default = None
_default_async = weakref.WeakKeyDictionary()  # loop -> AsyncClient


def online(timeout=1.0):
    """Client.online() of one client for the whole process."""
    global _default
    with _default_lock:
        _default = _default or Client()
    return _default.online(timeout)


def online_async(timeout=1.0):
    """AsyncClient.online() of one client for each loop."""
    loop = asyncio.get_running_loop()
    with _default_lock:
        for old in [old for old in _default_async if old.is_closed()]:
            _default_async.pop(old)._after_fork()  # nobody ends its connection otherwise
        client = _default_async.get(loop)
        if client is None:
            client = _default_async[loop] = AsyncClient()
    return client.online(timeout)
