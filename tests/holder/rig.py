"""gpq suspend, resume, sched and bench without a GPU and without a VM.

The gpq under test runs with fakekfd.so preloaded: its /dev/kfd is Driver below, a model of the debug interface after
common/kfd/facts.md, and its clock moves when a test says so. What is traced and held are real processes (target.c), so ptrace,
exec, and the death of anybody are the kernel's. Tests say what is in the model (queues, failures, a call during which something
happens), and judge by the calls that it got and by which queues are off.
"""
import array
import collections
import ctypes
import fcntl
import mmap
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time

TIMERS, PIDS = 64, 1 << 22
MS, SECOND = 1_000_000, 1_000_000_000
MEMORY = 0x200000000
GPU = 41460
PATIENCE = float(os.environ.get("GPQ_RIG_PATIENCE", 20))  # seconds of the host after which a test gives up

OPS = {0: "enable", 1: "disable", 2: "send", 6: "suspend", 7: "resume", 11: "query", 13: "queues", 14: "gpus"}
GET_VERSION, CRIU_OP, DBG_TRAP = 0x80084B01, 0xC0384B22, 0xC0204B26
EPERM, ESRCH, EINTR, EIO, EBADF, EAGAIN, EACCES, EFAULT, EBUSY, ENODEV, EINVAL, ENOTTY, EALREADY = (
    1, 3, 4, 5, 9, 11, 13, 14, 16, 19, 22, 25, 114)
QUEUE_NEW, RUNTIME = 1 << 30, 1 << 47
ERROR, INVALID = 0x40000000, 0x80000000


class Timer(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_int32), ("signal", ctypes.c_int32), ("at_ns", ctypes.c_int64)]


class Page(ctypes.Structure):
    _fields_ = [("now_ns", ctypes.c_int64), ("no_timers", ctypes.c_int32), ("open_error", ctypes.c_int32), ("file_error", ctypes.c_int32),
                ("lost_ms", ctypes.c_int32), ("area_ns", ctypes.c_int64), ("mem_error", ctypes.c_int64), ("timers", Timer * TIMERS), ("is_ours", ctypes.c_uint8 * PIDS)]


def status_of(pid):
    """/proc/PID/status as a dict, {} for a process that is no more."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as f:
            return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
    except (FileNotFoundError, ProcessLookupError):
        return {}


def lives(pid):
    s = status_of(pid)
    return bool(s) and s["State"][0] not in "ZX"


def wait_stop(pid):
    """Until a process is in a stop, of a signal or of ptrace, or has ended."""
    while status_of(pid).get("State", "Z")[0] not in "TtZX":
        os.sched_yield()


def kill(pid, sig):
    """As kill(2), but a process that gets SIGSTOP has stopped: on a busy machine it may run for a while after the signal."""
    if pid <= 1:
        raise ProcessLookupError(f"there is no process {pid}")
    os.kill(pid, sig)
    if sig == signal.SIGSTOP:
        wait_stop(pid)


def wait_death(pid):
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    dead = bool(select.select([fd], [], [], PATIENCE)[0])
    os.close(fd)
    return dead


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(w) for w in f.read().split()]


class Queue:
    def __init__(self, qid, gpu, kind, new):
        self.qid, self.gpu, self.kind = qid, gpu, kind  # kind: 0 PM4, 1 SDMA, 2 AQL, 3 SDMA over XGMI
        self.pending = QUEUE_NEW if new else 0
        self.off = self.closing = False
        self.refusals = 0  # so many SUSPENDs end with ERROR
        self.at = MEMORY + 16 * qid  # its indices
        self.ring, self.save = (0x7000000 + 0x100000 * qid, 4096 << qid % 8), None  # address and size; save None: see op_queues()


class Session:
    def __init__(self, owner, fd):
        self.owner, self.fd, self.pending = owner, fd, 0


class Process:
    """A KFD process of the model."""

    def __init__(self, name):
        self.name, self.queues, self.session, self.runtime, self.gpus = name, [], None, 1, [(GPU, 1)]
        self.paused, self.r_debug, self.ttmps, self.area = False, 0, 0, 1024  # area: bytes of the save area of one XCC
        self.devices = {}  # gpu_id: the bytes of its snapshot, if these matter

    def queue(self, qid):
        return next((q for q in self.queues if q.qid == qid), None)


class Driver(threading.Thread):
    """Answers the ioctls of all gpq processes, one after the other."""

    def __init__(self, path, sysfs):
        super().__init__(daemon=True)
        self.sysfs = sysfs
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        self.listener.listen(64)
        self.processes, self.calls, self.faults, self.hooks = {}, [], [], collections.defaultdict(list)
        self.version, self.hws, self.untraced = (1, 17), True, False
        self.first, self.looks, self.on_look = None, 0, {}
        self.lock, self.changed = threading.RLock(), None
        self.changed = threading.Condition(self.lock)
        self.start()

    def run(self):
        poll = select.epoll()
        poll.register(self.listener, select.EPOLLIN)
        open_files = {}
        while True:
            for fd, _ in poll.poll():
                if fd == self.listener.fileno():
                    c, _ = self.listener.accept()
                    cred = c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                    open_files[c.fileno()] = (c, struct.unpack("iii", cred)[0])
                    poll.register(c, select.EPOLLIN)
                elif not self.serve(*open_files[fd]):
                    poll.unregister(fd)
                    open_files.pop(fd)[0].close()

    def serve(self, c, opener):
        try:
            data, fds, _, _ = socket.recv_fds(c, 8192, 1)
        except ConnectionError:
            return False
        if not data:
            return False
        with self.lock:
            try:
                answer = self.ioctl(opener, data, fds)
            except Exception as e:  # the test reports it
                self.faults.append(repr(e))
                answer = struct.pack("i", -EIO) + data[8:]
            self.changed.notify_all()
        try:
            c.send(answer)
        except OSError:
            pass
        return True

    def ioctl(self, opener, data, fds):
        tid, request = struct.unpack_from("II", data)
        size = request >> 16 & 0x3FFF
        arg, more = data[8:8 + size], data[8 + size:]
        result, out, extra = -ENOTTY, arg, b""
        if status_of(tid).get("Tgid") != str(opener):
            result = -EBADF  # a child made by fork cannot use the descriptor
        elif request == 0:
            result = self.look(*struct.unpack("Q32s", more))
        elif request == GET_VERSION:
            result, out = self.hook("version", lambda: 0), struct.pack("II", *self.version)
        elif request == CRIU_OP:
            result = self.criu(tid, struct.unpack_from("I", arg, 48)[0])
        elif request == DBG_TRAP and self.version >= (1, 13):
            result, out, extra = self.trap(opener, tid, arg, more, fds)
        for fd in fds:
            os.close(fd)
        return struct.pack("i", result) + out + extra

    def criu(self, tid, op):
        """On a descriptor of the target that the caller traces: 0 evicts its queues, 2 restores them."""
        p = next(p for pid, p in self.processes.items() if status_of(pid)["TracerPid"] == str(tid))

        def call():
            if op == 2 and not p.paused:
                return -EINVAL
            p.paused = op == 0
            for q in p.queues:
                q.off = p.paused
            return 0
        self.note(p, f"criu {op}")
        result = self.hook("criu", call)
        self.calls[-1] += f" !{-result}" if result else ""
        return result

    def look(self, at, link):
        """gpq reads its targets' memory, or the dump of MQDs (GPQ_RIG_LOOKS). A look at memory begins with the first queue of `first`."""
        if not link.startswith(b"/proc/"):
            self.on_look["dump"]()
            return 0
        pid = int(link.split(b"/")[2])
        p = self.processes.get(pid)
        if p and p == self.first and at == 16 * min(q.qid for q in p.queues):
            self.looks += 1
            self.on_look.get(self.looks, lambda: None)()
            self.on_look.get("each", lambda: None)()
        return 0

    # ---- sessions

    def end_session(self, p):
        """As kfd_dbg_trap_disable(): all queues run, exceptions are gone."""
        os.close(p.session.fd)
        p.session = None
        for q in p.queues:
            q.off, q.pending = False, 0

    def reap(self):
        """What the driver's notifiers have done by now for processes that ended."""
        for name in os.listdir(self.sysfs):
            if not lives(int(name)) and int(name) not in self.processes:
                shutil.rmtree(f"{self.sysfs}/{name}")
        for pid in list(self.processes):
            p = self.processes[pid]
            if p.session and not lives(p.session.owner):
                self.end_session(p)
            if not lives(pid):
                if p.session:
                    self.end_session(p)
                del self.processes[pid]

    def raise_event(self, p, what):
        if p.session:
            os.write(p.session.fd, b".")
        what()

    # ---- DBG_TRAP

    def hook(self, name, call):
        """A hook gets the call: it returns the result instead, or calls it at the moment it likes."""
        return self.hooks[name].pop(0)(call) if self.hooks[name] else call()

    def note(self, p, text):
        self.calls.append(f"{p.name} {text}" if p and len(self.processes) > 1 else text)

    def trap(self, opener, tid, arg, more, fds):
        self.reap()
        pid, op = struct.unpack_from("II", arg)
        name = OPS.get(op, str(op))
        leader = int(status_of(pid).get("Tgid", 0))
        p = self.processes.get(leader)
        probe = name == "queues" and struct.unpack_from("QQI", arg, 8) == (0, 0, 0)
        entry = [self.text(name, arg, more, pid != leader) if not probe else "probe"]
        self.note(p, entry[0])
        at = len(self.calls) - 1

        def call():
            r = self.permit(p, leader, tid, opener, op)
            return r if r else getattr(self, "op_" + name)(p, opener, arg, more, fds)
        done = self.hook("probe" if probe else name, call)
        result, out, extra = done if isinstance(done, tuple) else (done, arg, b"")
        if result < 0 and not (name == "query" and result == -EAGAIN):
            self.calls[at] += f" !{-result}"
        return result, out, extra

    @staticmethod
    def text(name, arg, more, by_thread):
        ids = ",".join(str(i) for i in struct.unpack(f"{len(more) // 4}I", more))
        if name == "suspend":
            return f"suspend {ids} grace={struct.unpack_from('I', arg, 28)[0]}"
        if name == "enable":
            mask = struct.unpack_from("Q", arg, 8)[0]
            return "enable" + (" thread" if by_thread else "") + ("" if mask == RUNTIME | QUEUE_NEW else f" {mask:x}")
        if name == "send":
            mask = struct.unpack_from("Q", arg, 8)[0]
            return "send" if mask == RUNTIME else f"send {mask:x}"
        return f"{name} {ids}".rstrip()

    def permit(self, p, leader, tid, opener, op):
        if not self.hws:
            return -EINVAL
        if not leader or not lives(leader):
            return -ESRCH
        traced = status_of(leader)["TracerPid"] == str(tid)
        if not p and not (op == 0 and traced):
            return -ESRCH
        if not p:
            self.faults.append("ENABLE made a KFD process of the target")
            return -ESRCH
        owner = p.session and p.session.owner == opener
        if not (traced or (op == 1 and not self.untraced) or (self.untraced and owner and op != 0)):
            return -EPERM
        if op and not p.session:
            return -EINVAL
        if 4 <= op <= 10 and p.runtime != 1:
            return -EPERM
        return 0

    def op_enable(self, p, opener, arg, more, fds):
        if p.session:
            p.session.owner = opener
            return -EALREADY
        p.session = Session(opener, os.dup(fds[0]))
        os.makedirs(f"{self.sysfs}/{opener}/queues", exist_ok=True)  # who has opened KFD is a KFD process, too
        if os.get_blocking(p.session.fd):
            self.faults.append("a full pipe would block the target")
        return 0, arg, struct.pack("QII", p.r_debug, p.runtime, p.ttmps)[:struct.unpack_from("I", arg, 24)[0]]

    def op_disable(self, p, opener, arg, more, fds):
        self.end_session(p)
        return 0

    def op_send(self, p, opener, arg, more, fds):
        p.answers = getattr(p, "answers", 0) + 1
        return 0

    def op_suspend(self, p, opener, arg, more, fds):
        ids, off = array.array("I", more), 0
        if not ids:
            return -EINVAL
        for i, qid in enumerate(ids):
            q = p.queue(qid)
            if not q or q.closing or q.pending & QUEUE_NEW:
                ids[i] |= INVALID
                continue
            q.off = True
            if q.refusals:
                q.refusals -= 1
                ids[i] |= ERROR
                continue
            off += 1
        return off, arg, ids.tobytes()

    def op_resume(self, p, opener, arg, more, fds):
        ids, on = array.array("I", more), 0
        for i, qid in enumerate(ids):
            q = p.queue(qid)
            if not q:
                ids[i] |= INVALID
                continue
            if q.refusals:
                q.refusals -= 1
                ids[i] |= ERROR
                continue
            q.off = False
            on += 1
        return on, arg, ids.tobytes()

    def op_query(self, p, opener, arg, more, fds):
        clear = struct.unpack_from("Q", arg, 8)[0]
        for q in p.queues:
            if q.pending:
                out = arg[:8] + struct.pack("QII", q.pending, q.gpu, q.qid) + arg[24:]
                q.pending &= ~clear
                return 0, out, b""
        if p.session.pending:
            out = arg[:8] + struct.pack("QII", p.session.pending, 0, 0) + arg[24:]
            p.session.pending &= ~clear
            return 0, out, b""
        return -EAGAIN

    def op_queues(self, p, opener, arg, more, fds):
        clear, buf, room, size = struct.unpack_from("QQII", arg, 8)
        extra = b""
        if not size:
            return -EINVAL
        for q in list(reversed(p.queues))[:room]:
            save, area = q.save or (MEMORY + 32768 + 4096 * q.qid if q.kind in (0, 2) and q.qid < 8 else 0, p.area)
            extra += struct.pack("QQQQQIIIIII", q.pending, q.ring[0], q.at + 8, q.at, save, q.qid, q.gpu, q.ring[1], q.kind, area, 0)
            q.pending &= ~clear
        return 0, arg[:24] + struct.pack("II", len(p.queues), 64), extra

    def op_gpus(self, p, opener, arg, more, fds):
        extra = b"".join(p.devices.get(gpu) or struct.pack("56xI48xI8x", gpu, xccs) for gpu, xccs in p.gpus)
        return 0, arg[:24] + struct.pack("II", len(p.gpus), 120), extra


class Target:
    """A real process, and what the model and sysfs have of it."""

    def __init__(self, rig, queues, register=True, **process):
        self.map(rig)
        self.run = subprocess.Popen([rig.target_program, self.path, rig.root + "/dev/kfd"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                    bufsize=1)
        assert self.run.stdout.readline() == f"ready {self.run.pid}\n"
        self.enter(self.run.pid)
        for k, v in process.items():
            setattr(self.kfd, k, v)
        if register:
            self.open_kfd(queues)

    def map(self, rig):
        self.rig, self.name = rig, f"t{len(rig.targets) + 1}"
        self.path = f"{rig.dir}/{self.name}"
        rig.targets.append(self)
        with open(self.path, "wb") as f:
            f.truncate(65536)
        with open(self.path, "r+b") as f:
            self.memory = mmap.mmap(f.fileno(), 65536)

    def enter(self, pid):
        self.pid = pid
        self.start_ticks = int(open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1].split()[19])
        self.rig.register(pid)
        self.kfd = Process(self.name)

    def open_kfd(self, queues=()):
        with self.rig.driver.lock:
            self.rig.driver.processes[self.pid] = self.kfd
        self.rig.write(f"/sys/class/kfd/kfd/proc/{self.pid}/pasid", "32769")
        os.makedirs(f"{self.rig.root}/sys/class/kfd/kfd/proc/{self.pid}/queues", exist_ok=True)
        for q in queues:
            self.add(*(q if isinstance(q, tuple) else (q,)), new=False)

    def say(self, word):
        self.run.stdin.write(word + "\n")
        return self.run.stdout.readline()

    def add(self, qid, kind=2, gpu=GPU, new=True):
        """The target makes a queue."""
        with self.rig.driver.lock:
            self.rig.driver.reap()
            q = Queue(qid, gpu, kind, new)
            self.kfd.queues.append(q)
            folder = f"/sys/class/kfd/kfd/proc/{self.pid}/queues/{qid}"
            self.rig.write(folder + "/gpuid", str(gpu))
            self.rig.write(folder + "/size", str(4096 << qid % 8))
            self.rig.write(folder + "/type", str({0: 0, 1: 1, 2: 0, 3: 4}[kind]))
            if new and self.kfd.session:
                os.write(self.kfd.session.fd, b".")
        return q

    def remove(self, qid):
        with self.rig.driver.lock:
            self.kfd.queues.remove(self.kfd.queue(qid))
            shutil.rmtree(f"{self.rig.root}/sys/class/kfd/kfd/proc/{self.pid}/queues/{qid}")

    def runtime_event(self):
        """The target's runtime was enabled or disabled: it waits for the debugger."""
        with self.rig.driver.lock:
            self.kfd.session.pending |= RUNTIME
            os.write(self.kfd.session.fd, b".")

    def set_index(self, qid, read, write):
        struct.pack_into("QQ", self.memory, 16 * qid, read, write)

    def get_index(self, qid):
        return struct.unpack_from("Q", self.memory, 16 * qid)[0]

    def set_waves(self, qid, size, xcc=0):
        """The save area of a queue: a control stack of 64 bytes, and waves."""
        struct.pack_into("IIII", self.memory, 32768 + 4096 * qid + 1024 * xcc, 0, 64, 64, size)

    @property
    def off(self):
        """Ids of the queues that are off the GPU: "0,2"."""
        with self.rig.driver.lock:
            self.rig.driver.reap()
            return ",".join(str(q.qid) for q in sorted(self.kfd.queues, key=lambda q: q.qid) if q.off)

    @property
    def tracer(self):
        return int(status_of(self.pid).get("TracerPid", 0))

    @property
    def holder(self):
        """The holder: its tracer, or who owns its session."""
        with self.rig.driver.lock:
            return self.tracer or (self.kfd.session.owner if self.kfd.session else 0)

    def end(self):
        self.run.kill()
        self.run.wait()
        self.run.stdin.close()
        self.run.stdout.close()


class Command(Target):
    """A target that gpq bench starts: `text` is the command, which obeys lines, too."""

    def __init__(self, rig):
        self.map(rig)
        self.pid, self.kfd = 0, Process(self.name)
        os.mkfifo(self.path + ".in")
        self.input = os.open(self.path + ".in", os.O_RDWR)
        self.text = f"unset LD_PRELOAD; exec {rig.target_program} {self.path} <{self.path}.in"

    @property
    def begun(self):
        """Is there one that begin() has not seen?"""
        return struct.unpack_from("i", self.memory, 65532)[0] not in (0, self.pid)

    def begin(self, *queues):
        """It runs, and has made its queues."""
        if not self.rig.until(lambda: self.begun or not any(lives(p.pid) for p in self.rig.running)) or not self.begun:
            raise AssertionError(f"{self.name} was not started")
        self.enter(struct.unpack_from("i", self.memory, 65532)[0])
        self.memory[:65528] = bytes(65528)
        self.open_kfd(queues)

    def say(self, word):
        os.write(self.input, word.encode() + b"\n")
        if word.startswith("end "):
            wait_death(self.pid)
        else:
            self.rig.until(self.has_obeyed)

    def has_obeyed(self):
        """Does it wait for the next line?"""
        left = array.array("i", [0])
        fcntl.ioctl(self.input, termios.FIONREAD, left)
        with open(f"/proc/{self.pid}/syscall") as f:
            return not left[0] and f.read().startswith("0 ")

    def end(self):
        if lives(self.pid):
            kill(self.pid, signal.SIGKILL)
        os.close(self.input)
        os.unlink(self.path + ".in")


class Link:
    """A client of a holder, or (path) of a scheduler."""

    def __init__(self, rig, target=None, path=None):
        self.rig = rig
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(PATIENCE)
        self.s.connect(path or rig.socket_of(target))
        self.text = b""

    def send(self, request):
        self.s.sendall(request.encode() + b"\n")
        return self

    def line(self):
        """The next line; None: the other side has closed."""
        while b"\n" not in self.text:
            try:
                more = self.s.recv(65536)
            except ConnectionError:
                more = b""
            if not more:
                return None
            self.text += more
        line, self.text = self.text.split(b"\n", 1)
        return line.decode()

    def answer(self):
        """The lines of one answer."""
        lines = []
        while not lines or (lines[-1] and lines[-1].split()[0] not in ("ok", "error")):
            lines.append(self.line())
        return lines

    def brief(self, line):
        """A line of an answer in short, times in seconds from now: "0:suspended until=600", "ok held=1 since=-2 follows"."""
        word, *rest = line.split()
        if word == "error":
            return self.rig.named(line)
        fields = dict(w.split("=") for w in rest)
        shown = [f"{fields.pop('id')}:{fields.pop('result')}" if word == "queue" else word]
        for key in ("gpu", "type", "packets", "holder", "target"):
            fields.pop(key, None)
        for key, value in fields.items():
            if key in ("since_ns", "until_ns") and value != "0":
                shown.append(f"{key[:-3]}={(int(value) - self.rig.page.now_ns) / SECOND:g}")
            elif key in ("follows", "kept", "ended"):
                shown += [key] if value == "1" else []
            elif value != "0":
                shown.append(f"{key}={value}")
        return " ".join(shown)

    def take(self):
        return ", ".join("closed" if line is None else self.brief(line) for line in self.answer())

    def ask(self, request):
        return self.send(request).take()

    def close(self):
        self.s.close()


class Rig:
    def __init__(self, top, build):
        self.top, self.build = top, build
        self.gpq_program, self.target_program = f"{build}/gpq", f"{build}/rig/target"
        self.dir = tempfile.mkdtemp(prefix="rig-")
        self.root = self.dir + "/root"
        with open(self.dir + "/page", "wb") as f:
            f.truncate(ctypes.sizeof(Page))
        with open(self.dir + "/page", "r+b") as f:
            self.mapping = mmap.mmap(f.fileno(), ctypes.sizeof(Page))
        self.page = Page.from_buffer(self.mapping)
        self.page.now_ns = 1000 * SECOND
        self.targets, self.running = [], []
        self.run_dir = self.dir + "/run"
        os.mkdir(self.run_dir, 0o700)
        os.makedirs(self.root + "/run")
        os.makedirs(self.root + "/sys/class/kfd/kfd/proc")
        shutil.copytree(f"{top}/tests/hosts/gfx90a-k6.12/sys/class/kfd/kfd/topology", self.root + "/sys/class/kfd/kfd/topology")
        self.write("/dev/kfd", "")
        self.write("/proc/sys/kernel/osrelease", "6.12.95\n")
        self.driver = Driver(self.dir + "/kfd", self.root + "/sys/class/kfd/kfd/proc")
        with open(self.gpq_program, "rb") as f:
            self.sanitized = b"__asan_init" in f.read()
        linked = subprocess.run(["ldd", self.gpq_program], capture_output=True, text=True).stdout
        preload = [w for w in linked.split() if "libasan.so" in w and w.startswith("/")] + [f"{build}/rig/fakekfd.so"]
        self.env = dict(os.environ, GPQ_RIG=self.dir, LD_PRELOAD=":".join(preload), XDG_RUNTIME_DIR=self.run_dir, LC_ALL="C")
        if self.sanitized:  # AddressSanitizer makes system calls that the lock-down forbids
            self.write("/lib/libseccomp.so.2", "")
            os.chmod(self.dir, 0o711)
            self.env["LD_LIBRARY_PATH"] = self.root + "/lib"
        self.env.pop("GPQ_SYSROOT", None)

    def write(self, path, text):
        os.makedirs(os.path.dirname(self.root + path), exist_ok=True)
        with open(self.root + path, "w") as f:
            f.write(text)

    def register(self, pid):
        self.page.is_ours[pid] = 1

    # ---- time

    def move(self, ns):
        """Moves the clock, and sends the signals of timers that are due."""
        self.page.now_ns += ns
        for t in self.page.timers:
            if t.pid and not lives(t.pid):
                t.pid = 0
            elif t.pid and t.signal > 0 and t.at_ns and t.at_ns <= self.page.now_ns:
                t.at_ns = 0
                os.kill(t.pid, t.signal)

    def timers_of(self, pid):
        """Of a holder: its timers as (signal, seconds from now)."""
        return sorted((t.signal, (t.at_ns - self.page.now_ns) / SECOND) for t in self.page.timers
                      if t.pid == pid and t.at_ns and t.signal >= 0)

    def until_when(self, pid):
        """[the time until which a gpq waits]; []: it does not."""
        return [at for t in self.page.timers if t.pid == pid and t.signal == -1 and (at := t.at_ns) > self.page.now_ns]

    def waits(self, p):
        """For how many seconds a gpq (its Popen, or a pid) waits, once it does."""
        pid = p if isinstance(p, int) else p.pid
        found = []
        self.until(lambda: found.extend(self.until_when(pid)) or found or not lives(pid))
        return (found[0] - self.page.now_ns) / SECOND if found else None

    # ---- who is there

    def target(self, *queues, **process):
        return Target(self, queues or (0,), **process)

    def socket_of(self, t):
        return f"{self.run_dir}/gpq/{t.pid}-{t.start_ticks}"

    def link(self, t):
        return Link(self, t)

    def ours(self):
        """The pids of all processes of this scenario, also of those that have ended."""
        found, first = [], Page.is_ours.offset
        at = self.mapping.find(b"\1", first)
        while at >= 0:
            found.append(at - first)
            at = self.mapping.find(b"\1", at + 1)
        return found

    def holders(self, name="rig-holder"):
        """The pids of all holders of this rig."""
        return [pid for pid in self.ours() if lives(pid) and status_of(pid).get("Name") == name]

    def followers(self):
        found = self.holders("rig-follower")  # with children that are about to become holders
        return [f for f in found if int(status_of(f).get("PPid", 0)) not in found]

    # ---- gpq

    def start(self, *args, **how):
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE} | how
        p = subprocess.Popen([self.gpq_program, *map(str, args)], stderr=subprocess.PIPE, text=True,
                             env=dict(self.env, **how.pop("env", {})), **how)
        self.running.append(p)
        return p

    def finish(self, p):
        try:
            out, err = (s or "" for s in p.communicate(timeout=PATIENCE))
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = (s or "" for s in p.communicate())
            err += "(did not end)\n"
        self.running.remove(p)
        return " / ".join([str(p.returncode)] + [self.named(" ".join(line.split())) for line in (out + err).splitlines()])

    def named(self, text):
        """The text with t1 for the pid of the first target ..., and h1 for its holder's."""
        names = {str(t.pid): t.name for t in self.targets if t.pid} | {str(t.holder): "h" + t.name[1:] for t in self.targets if t.holder}
        return re.sub(r"\b\d+\b", lambda m: names.get(m[0], m[0]), text)

    def gpq(self, *args, **how):
        return self.finish(self.start(*args, **how))

    def until(self, condition):
        """Until the condition holds, of which nobody tells."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if condition():
                return True
            time.sleep(0.0005)
        raise AssertionError("waited in vain")

    def still_waits(self, p, seconds):
        """Does it wait so long, and still when a nanosecond is left? Then the time has come."""
        self.until(lambda: p.poll() is not None or self.waits(p) == seconds)
        found = self.waits(p)
        self.move(int(seconds * SECOND) - 1)
        found = found, self.waits(p)
        self.move(1)
        return found == (seconds, 1 / SECOND) or found

    def writes(self, p):
        """Until a gpq is blocked in write(2)."""
        return self.until(lambda: self.syscall(p) == 1)

    @staticmethod
    def syscall(p):
        """The number of the system call that a gpq (its Popen, or a pid) waits in; -1: none."""
        with open(f"/proc/{p if isinstance(p, int) else p.pid}/syscall") as f:
            word = f.read().split()[0]
        return int(word) if word.isdigit() else -1

    # ---- the model

    def foreign(self, t):
        """Somebody else debugs the target."""
        t.kfd.session = Session(os.getpid(), os.open("/dev/null", os.O_WRONLY))

    def no_hws(self):
        self.driver.hws = False
        self.write("/sys/module/amdgpu/parameters/sched_policy", "2\n")

    def calls(self, *without):
        """The driver's calls since the last time; "queues" and "query" change nothing and are left out unless named."""
        with self.driver.lock:
            got, self.driver.calls = self.driver.calls, []
            faults, self.driver.faults = self.driver.faults, []
        return [c for c in got + faults if not set(c.split()[:2]) & set(without)]

    def changes(self):
        return self.calls("query", "queues", "gpus", "probe")

    def wait(self, condition):
        """Until the condition holds, which a call of the driver makes true."""
        with self.driver.lock:
            return self.driver.changed.wait_for(condition, PATIENCE)

    def once(self, name, hook):
        with self.driver.lock:
            self.driver.hooks[name].append(hook)

    def fail(self, name, error):
        self.once(name, lambda call: -error)

    def reset(self):
        """Ends all, for the next test."""
        for p in self.running:
            p.kill()
            p.wait()
        self.running = []
        for t in self.targets:
            t.end()
        for f in self.followers():
            os.kill(f, signal.SIGKILL)
            wait_death(f)
        for h in self.holders():
            if status_of(h).get("State", "Z")[0] == "T" or not wait_death(h):
                os.kill(h, signal.SIGKILL)
                wait_death(h)
        self.targets = []
        for pid in self.ours():
            self.page.is_ours[pid] = 0  # whoever has the number next is another one
        with self.driver.lock:
            shutil.rmtree(self.root + "/sys/class/kfd/kfd/proc")
            os.mkdir(self.root + "/sys/class/kfd/kfd/proc")
            self.driver.reap()
            self.driver.hooks.clear()
            self.driver.on_look, self.page.area_ns, self.page.mem_error = {}, 0, 0
            self.driver.version, self.driver.hws, self.driver.untraced = (1, 17), True, False
        for path in (self.root + "/sys/module", self.root + "/sys/kernel", self.run_dir + "/gpq"):
            shutil.rmtree(path, ignore_errors=True)
        self.write("/proc/sys/kernel/osrelease", "6.12.95\n")
        self.calls()
        self.page.no_timers = self.page.open_error = self.page.file_error = 0

    def close(self):
        self.reset()
        shutil.rmtree(self.dir, ignore_errors=True)
