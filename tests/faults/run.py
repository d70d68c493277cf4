#!/usr/bin/env python3
"""Each allocation and each system call of a command fails once; prints TAP, a line for each command.

    run.py GPQ-FOLDER FAULTS-FOLDER          the second has alloc.so, syscalls and client
    run.py GPQ-FOLDER FAULTS-FOLDER NAME N   one run: the fault number N of the test NAME, and what it printed

{d} is a folder of each run's own. Names and contents of the files that a command leaves there must be as those of a run without
a fault, too.
What a run with one fault may do: print all that a run without prints, and exit as that; or exit with another status
than 0 and a message; or leave single values unknown, as many rows as before, and say so with -v. It may not crash, hang,
drop rows silently or print JSON that is none.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOSTS = os.path.join(TOP, "tests/hosts")
LOGS = os.path.join(TOP, "tests/data/amdlog")
BENCH = os.path.join(TOP, "tests/data/bench")
MOST = 4000  # faults of one command; none has so many

# What is not ours to mend: libpci writes through the pointer that a failed malloc() gave it (pci_load_name_list).
FOREIGN = {("alloc: gpus -v --sysroot {h}/gfx90a-k6.12", "alloc 24", "crashed")}

COMMANDS = [
    "gpus -v --sysroot {h}/gfx90a-k6.12",
    "gpus --check -v --sysroot {h}/vm-gfx942-running",
    "ps -v --sysroot {h}/gfx942-4xcc-k6.12",
    "--sysroot {h}/gfx90a-k6.12",
    "queues -v --sysroot {h}/gfx942-4xcc-k6.12",
    "queues -vJ --output-all --sysroot {h}/gfx90a-k6.12",
    "queues -v -o PID,USER,COMMAND --sysroot {w}/jail",
    'queues -v --filter QID>=0&&COMMAND=~"." --sort -RING,QID --csv --sysroot {h}/gfx90a-k6.12',
    "queues -vJ --wait 1 --comm . --sysroot {h}/gfx90a-k6.12",
    "queues --json-schema",
    "packets -v -p 4711 --around 20 --sysroot {h}/aql-gfx90a",
    "packets -vJ --output-all --sysroot {h}/aql-gfx90a",
    "why -v -p 4712 -o PID,QID,STATE,READ,WRITE,SIGNAL_VALUE,BY_QID,DETAIL --sysroot {h}/aql-gfx90a",
    "why -v -p 4712 -o PID,QID,STATE,DETAIL --dmesg {l}/../kfd/dead-mes.dmesg --sysroot {h}/aql-gfx90a",
    "why -v --profile 1s --folded --perfetto {w}/timeline -p 4711,4712 --sysroot {h}/aql-gfx90a",
    "suspend --dry-run -v --cmdline . --type compute --user 0 --sysroot {h}/gfx90a-k6.12",
    "events -vJ --for 0 --comm .",
    "sched --dry-run -v --online comm=vllm --offline tree,pid=41207 --offline cmdline=.,gpu=0 --sysroot {h}/gfx90a-k6.12",
    "bench ab --dry-run -v --online-pid 52880 --offline-cmd true --offline cmdline=. --sysroot {h}/gfx90a-k6.12",
    "hqd -v --sysroot {h}/gfx90a-k6.12",
    "hqd -v -Q 41207:0 --cgroup / --sysroot {h}/gfx90a-k6.12",
    "hqd --fields -vJ --sysroot {h}/gfx1100-k6.12-mes",
    "hqd --summary -v --sysroot {h}/vm-gfx90a-running",
    "hqd --runlist -v --sysroot {h}/vm-gfx90a-running",
    "queues -v --openmetrics --sort -QID --sysroot {h}/gfx90a-k6.12",
    "snapshot --diff -v --user 0 --gpu 0 {h}/vm-gfx942-running {h}/vm-gfx942-suspended",
    "snapshot --compare -vJ -p 140 {h}/vm73-gfx942-contexts {h}/vm73-gfx942-contexts",
    "snapshot -v -rno PROCS,QUEUES,FILES,DUMPS --redact --sysroot {h}/gfx90a-k6.12 {d}/saved",
    "snapshot -v -rno PROCS,QUEUES,FILES,DUMPS --sysroot {h}/gfx1100-k6.12-mes {d}/saved.tar",
    "trace -v --threads 1 {l}/rocm70.log",
    "trace -vJ --threads 1 {l}/torn.log",
    "trace -vJ --threads 3 {l}/rocm57.log",
    "trace --list --ndjson -v --threads 1 {l}/rocm63-level4.log",
    "trace --grep attention -v {l}/rocm70.log",
    "trace --gaps -vJ {l}/cnn.log",
    "trace --latency -vJ {l}/rocm63-level4.log",
    "trace --series 50ms -vJ --by queue {l}/cnn.log",
    "trace --series 50ms -v --svg {w}/picture {l}/cnn.log",
    "trace --perfetto - -v {l}/cnn.log",
    "trace --list -v --ftrace {l}/../ftrace/kprobe-tgid-7.3.trace --ftrace-clock mono {l}/../ftrace/container.log",
    "trace --list -vJ --ftrace {l}/../ftrace/holds.trace",
    "trace --compare -vJ {l}/cnn.log {l}/transformer.log",
    "trace --by kernel --demangle -v --threads 1 {l}/mangled.log",
    "trace --partial -v {l}/rocm70.log",
    "merge -vJ {w}/part-1 {w}/part-2",
    "merge -vJ --drop kernel {b}/ab.ndjson {b}/plain.ndjson",
    "bench report {b}/ab.ndjson",
    "bench report {b}/old.ndjson {b}/new.ndjson",
    "bench report --html - {b}/plain.ndjson",
    "bench report -J {b}/old.ndjson",
    "bench report --require effect<9% --require loss<1% {b}/plain.ndjson",
    "bench preempt --dry-run -v --cmdline . --sysroot {h}/gfx90a-k6.12",
    "--help",
    "trace --help",
]
# Programs that use the libraries of gpq-client(3): what each is called, itself and its kinds of faults. Allocations of
# Python are the interpreter's.
CLIENTS = [
    ("C client", ["{f}/client", "{w}/socket"], ("alloc", "marked")),
    ("Python client", [sys.executable, os.path.join(TOP, "tests/faults/client.py"), "{w}/socket"], ("marked",)),
]


# Commands that refuse a recorded host get its /sys in a mount namespace of their own, which takes root.
ON_SYS = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /sys && exec "$@"', os.path.join(HOSTS, "vm-gfx90a-running/sys")]


def saved(folder):
    """Each file and link below FOLDER, also those in an archive; without the head of MANIFEST and its times of reading."""
    files = {}
    for path, dirs, names in os.walk(folder):
        dirs[:] = [d for d in dirs if not d.startswith(".saved")]  # not finished, under a name that says so
        for name in [n for n in names if not n.startswith(".saved")] + dirs:
            full = os.path.join(path, name)
            if name.endswith(".tar"):
                with tarfile.open(full) as tar:
                    files.update((m.name, tar.extractfile(m).read() if m.isfile() else m.linkname.encode()) for m in tar)
            elif os.path.islink(full):
                files[full[len(folder):]] = os.readlink(full).encode()
            elif os.path.isfile(full):
                files[full[len(folder):]] = open(full, "rb").read()
    for name in files:
        if os.path.basename(name) == "MANIFEST":
            files[name] = re.sub(rb"(?m)^([^\t\n]*)\t[^\t\n]*\t[^\t\n]*\t|^([a-z_]+) .*", rb"\1\2\t", files[name])
    return b"".join(b"\n%s: %s" % (name.encode(), text) for name, text in sorted(files.items()))


def is_watch(command):
    return command[1] == "events"


def execute(command, prefix, env, timeout=20):
    with tempfile.TemporaryDirectory() as own:
        status, out, err = execute_in([word.replace("{d}", own) for word in command], prefix, env, timeout)
        return status, out.replace(own.encode(), b"{d}"), err.replace(own.encode(), b"{d}"), saved(own)


def execute_in(command, prefix, env, timeout):
    if is_watch(command):  # the faults are the command's, not the shell's
        command = ON_SYS + prefix + (["env"] + [f"{k}={v}" for k, v in env.items()] if env else []) + command
        env = {}
    else:
        command = prefix + command
    p = subprocess.run(command, capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL,
                       env=dict(os.environ, LC_ALL="C", **env))
    return p.returncode, p.stdout, p.stderr


def rows(text):
    return text.count(b"\n") + text.count(b"{")


def wrong(base, got):
    """Why the run GOT is not right beside BASE, each (status, stdout, stderr, files); None: it is."""
    status, out, err, files = got
    if status < 0 or status > 128 and status != 141:
        return "crashed"
    if b"Sanitizer" in err:
        return "sanitizer"
    if b"Traceback" in err:
        return "raises what the caller does not expect"
    if status not in (0, 3) and files not in (b"", base[3]):
        return "an unfinished result is left"
    if (status, out, files) == (*base[:2], base[3]):
        return None
    if len(err.splitlines()) <= len(base[2].splitlines()) and set(err.splitlines()) <= set(base[2].splitlines()):
        return "differs without a word"
    if status != 0:
        return None
    return "rows are missing, status 0" if rows(out) < rows(base[1]) else None


class Kind:
    def __init__(self, name, prefix, env):
        self.name, self.prefix, self.env = name, prefix, env

    def run(self, command, n, report):
        prefix = [a.format(n=n, report=report) for a in self.prefix]
        env = {k: v.format(n=n, report=report) for k, v in self.env.items()}
        return execute(command, prefix, env)


def attempt(kind, command, n, base):
    """(what failed or None, complaint or None, result)"""
    with tempfile.TemporaryDirectory() as d:
        report = os.path.join(d, "report")
        try:
            got = kind.run(command, n, report)
        except subprocess.TimeoutExpired:
            return "?", "hangs", None
        what = open(report).read().strip() if os.path.exists(report) else None
        return what, wrong(base, got), got


def test(name, kind, command, base, pool):
    """Returns (faults tried, [(n, what failed, complaint)])."""
    tried, bad = 0, []
    for first in range(1, MOST, 64):
        results = list(pool.map(lambda n: (n, attempt(kind, command, n, base)), range(first, first + 64)))
        for n, (what, complaint, _) in results:
            tried += what is not None
            if complaint and (name, what, complaint) not in FOREIGN:
                bad.append((n, what, complaint))
        if any(what is None for _, (what, _, _) in results):
            return tried, bad
    return tried, bad + [(MOST, "-", "has more faults than are tried")]


def make_jail(work):
    """A recorded host with links out of it, absolute and relative: no name of the outside may show, whatever call fails."""
    jail, outside = os.path.join(work, "jail"), os.path.join(work, "outside")
    shutil.copytree(os.path.join(HOSTS, "gfx90a-k6.12"), jail, symlinks=True)
    with open(outside, "w", encoding="ascii") as f:
        f.write("escaped:x:0:0::/:/bin/sh\nescaped:x:1000:1000::/:/bin/sh\nName:\tescaped\nUid:\t0\t0\t0\t0\n")
    os.makedirs(os.path.join(jail, "etc"), exist_ok=True)
    for path, target in (("etc/passwd", outside), ("proc/41207/status", "../../../outside")):
        full = os.path.join(jail, path)
        if os.path.lexists(full):
            os.unlink(full)
        os.symlink(target, full)


def commands(kind, gpq, places):
    """What each is called, and its words."""
    if kind != "marked":
        yield from ((text, [gpq] + text.format(**places).split()) for text in COMMANDS)
    for name, words, kinds in CLIENTS:
        if kind in kinds:
            yield name, [word.format(**places) for word in words]


def start_server(program, path):
    server = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if server.stdout.readline() != b"ready\n":
        sys.exit("hint-server does not serve")
    threading.Thread(target=server.stdout.read, daemon=True).start()
    return server


def main():
    gpq, folder = os.path.join(os.path.abspath(sys.argv[1]), "gpq"), os.path.abspath(sys.argv[2])
    kinds = [
        Kind("alloc", [], {"LD_PRELOAD": os.path.join(folder, "alloc.so"), "FAULT_N": "{n}",
                           "FAULT_REPORT": "{report}"}),
        Kind("syscall", [os.path.join(folder, "syscalls"), "{n}", "{report}"], {}),
        Kind("marked", [os.path.join(folder, "syscalls"), "-m", "{n}", "{report}"], {}),
    ]
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for i, log in enumerate(("cnn.log", "rocm70.log"), 1):
            with open(os.path.join(work, f"part-{i}"), "wb") as f:
                subprocess.run([gpq, "trace", "--partial", os.path.join(LOGS, log)], stdout=f, check=True)
        make_jail(work)
        server = start_server(os.path.join(os.path.dirname(gpq), "hint-server"), os.path.join(work, "socket"))
        number = failed = 0
        for kind in kinds:
            for text, command in commands(kind.name, gpq, {"h": HOSTS, "l": LOGS, "b": BENCH, "w": work, "d": "{d}", "f": folder}):
                name = f"{kind.name}: {text}"
                if len(sys.argv) > 3 and sys.argv[3] != name:
                    continue
                if is_watch(command) and subprocess.run(ON_SYS + ["true"], capture_output=True, check=False).returncode:
                    number += 1
                    print(f"ok {number} - {name} # skip another /sys takes root and a mount namespace")
                    continue
                base = execute(command, [], {})
                if b"escaped" in base[1]:
                    sys.exit(f"{name}: read what lies outside of the recorded host")
                if len(sys.argv) > 4:
                    print(*attempt(kind, command, int(sys.argv[4]), base), sep="\n")
                    continue
                tried, bad = test(name, kind, command, base, pool)
                number += 1
                failed += bool(bad) or not tried
                print(f"{'not ' if bad or not tried else ''}ok {number} - {name}: {tried} faults", flush=True)
                for n, what, complaint in bad[:12]:
                    print(f"#   {n}, {what}: {complaint}")
                if len(bad) > 12:
                    print(f"#   and {len(bad) - 12} more")
        print(f"1..{number}")
        server.stdin.close()  # it ends with its input
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
