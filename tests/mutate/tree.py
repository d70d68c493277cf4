"""Copies of the project under build/mutate: kept in step with it, built there, tests run in a sandbox."""
import concurrent.futures
import filecmp
import glob
import hashlib
import os
import queue
import re
import select
import shlex
import shutil
import signal
import subprocess
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(TOP, "build/mutate")
BUILT = [f"build/plain/{f}" for f in ("gpq", "libgpq.a", "libgpqclient.so", "libgpqclient.a")]
# Warnings do not count, but what the language does not allow is no fault; gcc 12 only warns of it.
REFUSED = " ".join(f"-Werror={w}" for w in ("incompatible-pointer-types", "int-conversion", "discarded-qualifiers", "return-type", "format",
                                            "uninitialized", "implicit-function-declaration"))
# A faulty gpq may signal or remove what is not its own, and runs as root where its tests do. It gets its own process numbers,
# /tmp, /run and /dev/shm, and nothing else that it could write; with the shell, which is process 1 there, all ends.
SANDBOX = r"""
tree=$1 maps=$2 memory=$3
shift 3
exec 9<"$tree" && { [ -z "$maps" ] || exec 8<"$maps"; } &&
mount -t tmpfs -o size=3g,mode=1777 none /tmp && mount -t tmpfs -o mode=755 none /run && mount -t tmpfs -o size=1g,mode=1777 none /dev/shm &&
mkdir -p "$tree" && mount -c --bind /proc/self/fd/9 "$tree" && mount -o remount,bind,ro "$tree" || exit 125
[ -z "$maps" ] || { mkdir /run/probe && mount -c --bind /proc/self/fd/8 /run/probe && export GPQ_PROBE=/run/probe; } || exit 125
mount -o remount,bind,ro / && exec 9<&- 8<&- && cd "$tree" && ulimit -c 0 -v "$memory" || exit 125
"$@"
exit $?
"""
HOST_PIDS = ("tests/cli/events.sh", "tests/cli/trace-live.sh") # gpq says where it does not see the host's process numbers


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def side_by_side(places, jobs, work):
    """[work(place, job)...], each place with one job at a time."""
    free = queue.Queue()
    for p in places:
        free.put(p)

    def one(job):
        place = free.get()
        try:
            return work(place, job)
        finally:
            free.put(place)
    with concurrent.futures.ThreadPoolExecutor(len(places)) as pool:
        return list(pool.map(one, jobs))


def all_tests():
    """What `make check` runs. Left out: a script that builds gpq for itself; each fuzz target is a test of its own."""
    patterns = ("tests/unit/test_*.c", "tests/fuzz/fuzz_*.c", "tests/cli/*.t", "tests/cli/*.sh", "tests/docs/*.sh", "man/*.[1-8]", "README.md")
    return [t for p in patterns for t in sorted(glob.glob(p, root_dir=TOP)) if t != "tests/docs/first-build.sh"]


def program(test):
    """What must be built for the test, beside gpq; None: nothing."""
    folder, name = os.path.split(test[:-2])
    names = {"tests/unit": f"build/plain/unit/{name}", "tests/fuzz": f"build/plain/fuzz/{name[5:]}"}
    return names.get(folder) if test.endswith(".c") else None


class Verdict:
    """Reads TAP as it comes: bad as soon as it is; at the end the plan must have been kept."""

    def __init__(self, needs_plan):
        self.rest, self.ran, self.plan, self.bad, self.needs_plan = b"", 0, None, None, needs_plan

    def take(self, data):
        *lines, self.rest = (self.rest + data).split(b"\n")
        self.rest = self.rest[-65536:]
        for line in lines:
            if re.match(rb"(not )?ok\b", line):
                self.ran += 1
                if line.startswith(b"not") and not re.search(rb"# skip", line, re.I):
                    self.bad = self.bad or line[:300].decode(errors="replace")
            m = re.match(rb"1\.\.(\d+)", line)
            self.plan = int(m.group(1)) if m else self.plan

    def end(self, status):
        if not self.bad and (status or (self.needs_plan and self.plan != self.ran)):
            self.bad = f"exit {status}, plan {self.plan}, ran {self.ran}"


class Tree:
    def __init__(self, name, cflags="-O2", warn=REFUSED):
        self.path = os.path.join(WORK, name)
        self.flags = ["VARIANT=plain", f"CC={os.environ.get('CC', 'gcc')}", "WERROR=", f"WARN={warn}", f"CFLAGS={cflags}"]
        self.links = {}
        self.sound = None # what identifies the programs without a fault

    def at(self, path):
        return os.path.join(self.path, path)

    def sync(self, like=None):
        """Makes the copy equal to the project. A new one begins with what another has built."""
        if like and not os.path.isdir(self.path):
            shutil.copytree(like.path, self.path, symlinks=True)
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=TOP, capture_output=True, text=True, check=True)
        keep = {f for f in listed.stdout.split("\0") if f and os.path.lexists(os.path.join(TOP, f))}
        for f in keep:
            new, old = os.path.join(TOP, f), self.at(f)
            if os.path.islink(new) or not os.path.isfile(old) or not filecmp.cmp(new, old, shallow=False):
                os.makedirs(os.path.dirname(old), exist_ok=True)
                if os.path.lexists(old):
                    os.remove(old)
                shutil.copy(new, old, follow_symlinks=False)
        for at, folders, names in os.walk(self.path):
            if at == self.path and "build" in folders:
                folders.remove("build")
            for n in set(names) - {"gpq"}:
                if os.path.relpath(os.path.join(at, n), self.path) not in keep:
                    os.remove(os.path.join(at, n))

    def make(self, *targets, jobs=1):
        return subprocess.run(["make", "-s", f"-j{jobs}", "-C", self.path, *self.flags, *targets], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace")

    def build(self, jobs=1, programs=()):
        """All that tests need, without a fault."""
        made = self.make("check-one", "T=/dev/null", "build/plain/unit/fake/libhsa-runtime64.so.1", "all", *programs, jobs=jobs)
        if made.returncode:
            raise SystemExit(f"{self.path} does not build:\n{made.stdout}{made.stderr}")
        self.sound = self.identity()
        self.included = {f for path in glob.glob(self.at("c*/**/*.c"), recursive=True) for f in re.findall(r'^#include "(\S+\.c)"', read(path), re.M)}

    def identity(self):
        digest = hashlib.sha1()
        for f in BUILT:
            with open(self.at(f), "rb") as g:
                digest.update(g.read())
        return digest.digest()

    def used(self, obj):
        """The files that an object was made of; none: it is not there."""
        return [self.at(f) for f in read(self.at(obj[:-1] + "d")).replace("\\\n", "").split()[1:] if f[-1] != ":"] \
            if os.path.exists(self.at(obj)) else []

    def link(self, test, faulty=None):
        """Links the program of a test. Its own sources are compiled when they changed, and apart where they include the faulty file."""
        out = program(test)
        if not out:
            return True
        if test not in self.links:
            lines = self.make("-n", "V=1", "-W", test, out).stdout.replace("\\\n", " ").split("\n")
            self.links[test] = shlex.split(next(l for l in lines if f"-o {out} " in l))
        words = self.links[test]
        os.makedirs(os.path.dirname(self.at(out)), exist_ok=True)
        for n, source in enumerate(w for w in words if w.endswith(".c")):
            sound = obj = f"{out}{n}.o"
            used = self.used(obj)
            stale = not used or any(not os.path.exists(f) or os.path.getmtime(self.at(obj)) < os.path.getmtime(f) for f in used)
            if faulty and (stale or self.at(faulty) in used):
                obj = f"{out}{n}.faulty.o"
            if obj != sound or stale:
                flags = words[1:words.index("-o")]
                if subprocess.run([words[0], *flags, "-c", "-o", obj, source], cwd=self.path, capture_output=True).returncode:
                    return False
            if obj != sound and self.at(faulty) not in self.used(obj): # the first time: it includes no fault
                for suffix in "d", "o":
                    os.replace(self.at(obj[:-1] + suffix), self.at(sound[:-1] + suffix))
                obj = sound
            words = [obj if w == source else w for w in words]
        words = [w for w in words if w not in ("-MMD", "-MP")]
        return subprocess.run(words, cwd=self.path, capture_output=True).returncode == 0

    def command(self, test, maps):
        memory = "unlimited" if "-fsanitize" in read(self.at(test)) else "4194304"
        own = [] if test in HOST_PIDS else ["--pid", "--kill-child", "--mount-proc"]
        what = [program(test)] if test.endswith(".c") else [test] if test.endswith(".sh") else ["tests/cli/run", test]
        if test.startswith("tests/fuzz/"):
            what += sorted(glob.glob(f"tests/fuzz/corpus/{os.path.basename(what[0])}/*", root_dir=self.path))
        return ["unshare", "--fork", "--mount", *own, "bash", "-c", SANDBOX, "sandbox", self.path, maps, memory, *what]

    def run(self, test, limit, maps=""):
        """What is wrong, in a line (None: it passes), and how long it took."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "GPQ_")) and k != "CC"}
        env.update(GPQ_BIN=self.at("build/plain"), CMOCKA_MESSAGE_OUTPUT="TAP", CCACHE_DISABLE="1",  # its cache cannot be written
                   GPQ_SAMPLES=os.environ.get("GPQ_SAMPLES", os.path.join(TOP, "../shared/samples")))
        begin, verdict = time.monotonic(), Verdict(not test.startswith("tests/fuzz/"))
        p = subprocess.Popen(self.command(test, maps), env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             start_new_session=True)
        data = b"x"
        while data and (maps or not verdict.bad): # what a test executes behind a failure counts for the map: a probe is linked with more
            left = begin + limit - time.monotonic()
            if left <= 0 or not select.select([p.stdout], [], [], left)[0]:
                verdict.bad = f"no end within {limit:.0f} s"
                break
            data = os.read(p.stdout.fileno(), 65536)
            verdict.take(data)
        try:
            verdict.end(p.wait(timeout=0 if data and verdict.bad else 10))
        except subprocess.TimeoutExpired:
            verdict.bad = verdict.bad or "no end behind its output"
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        p.stdout.close()
        return verdict.bad, time.monotonic() - begin


class Faulty:
    """`with Faulty(tree, file, text) as built`: the fault is in the tree; built is None where it does not compile."""

    def __init__(self, tree, file, text):
        self.tree, self.text, self.path = tree, text, tree.at(file)
        self.object = file[:-2] + ".o"
        self.obj = tree.at(f"build/plain/{self.object}") if file.endswith(".c") and file not in tree.included else None

    def __enter__(self):
        self.stat = os.stat(self.path)
        self.sound = read(self.path)
        if self.obj:
            os.rename(self.obj, self.obj + ".sound")
        self.write(self.text)
        made = self.tree.make("all")
        return None if made.returncode else self.tree.identity()

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(text)

    def __exit__(self, *_):
        self.write(self.sound)
        if self.obj:
            os.utime(self.path, ns=(self.stat.st_atime_ns, self.stat.st_mtime_ns))
            os.replace(self.obj + ".sound", self.obj)
        for f in *BUILT, *(f"build/testing/{f}" for f in ("gpq", "libgpq.a", self.object)): # made of an object that is not there any more, or that object
            if os.path.exists(self.tree.at(f)):
                os.remove(self.tree.at(f))
