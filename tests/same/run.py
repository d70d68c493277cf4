#!/usr/bin/env python3
"""make check-same OLD=GPQ: what both gpq print for each command of the table, byte for byte.

    tests/same/run.py OLD NEW GEN_AMDLOG [WORD]     WORD: only rows of the table with this text

Compared are standard output and error, the exit status, the names of the files it wrote, and their contents where they lie in
the working folder itself. Where one of them differs from itself when it is run again, numbers do not count."""
import concurrent.futures
import difflib
import itertools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
SAMPLES = pathlib.Path(os.environ.get("GPQ_SAMPLES", TESTS.parent.parent / "shared/samples"))
HOST = TESTS / "hosts/gfx90a-k6.12"
LIVE = [["suspend"], ["resume"], ["sched"], ["events"], ["bench"]]  # refuse a recorded host before they look at other options
GENERATED = {
    "gen-a.log": "--release 7.0 --level 4 --lines 3000 --mix torch --streams 3 --seed 3",
    "gen-b.log": "--release 5.4 --level 4 --lines 3000 --noise --crlf --processes 2 --seed 8",
    "gen-c.log": "--release 7.12 --level 5 --lines 3000 --mix gemm --streams 5 --threads 3 --tear 0.02 --seed 5",
}


class Table:
    def __init__(self, old, folder):
        self.old, self.values = old, {}
        names = lambda where: [str(p.relative_to(folder)) for pattern in where for p in sorted(folder.glob(pattern))]
        self.lists = {
            "HOST": sorted(os.listdir(folder / "hosts")),
            "LOG": names(["data/amdlog/*.log", "data/amdlog/odd/*.log", "gen/*.log", "samples/amdlog/*.log"]),
            "BIG": names(["samples/hip-vm/hip*_s4.log.zst"]),
            "TRACE": names(["data/ftrace/*-*.*", "data/ftrace/*.trace"]),
        }

    def expand(self, row):
        """Each command of a row: braces and lists give one command for each of their entries."""
        parts = re.split(r"(\{[^}]*\}|\$[A-Z]+)", row)
        ways = [p[1:-1].split(",") if p[:1] == "{" else self.lists[p[1:]] if p[:1] == "$" else [p] for p in parts]
        return [shlex.split("".join(way)) for way in itertools.product(*ways)]

    def options(self, command):
        text = subprocess.run([self.old, *command, "--help"], capture_output=True, text=True).stdout
        text = re.sub(r"(?ms)^(Options of every command|Columns of).*", "", text)
        found = re.findall(r"(?m)^  (?:-., |    )(--[a-z-]+)( ?)", text)
        return [[o, self.values[o]] if o in self.values else [o] for o, _ in found] + [["-J"], ["-o", "PID"]]

    def pairs(self, row):
        words = shlex.split(row)
        command = words[: 2 if words[0] == "bench" else 1]
        options = self.options(command)
        return [words + a for a in options] + [words + a + b for a, b in itertools.combinations(options, 2)]

    def rows(self):
        for line in (HERE / "commands").read_text().splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "list":
                name, _, entries = rest.partition(" ")
                self.lists[name] = [e.strip() for e in entries.split("|")]
            elif kind == "values":
                self.values.update(word.split("=", 1) for word in shlex.split(rest))
            elif kind != "#" and not (kind == "live" and os.path.exists("/dev/kfd")):
                row = line.removeprefix("live ")
                yield line, self.pairs(row[6:]) if row.startswith("pairs ") else self.expand(row)


def outcome(gpq, words, folder):
    """Everything that one run shows. What would never end writes to a full disk, or ends after a second."""
    with tempfile.TemporaryDirectory(dir=folder) as cwd:
        for name in ("hosts", "data", "samples", "gen"):
            os.symlink(folder / name, f"{cwd}/{name}")
        forever = {"--watch", "--follow"} & set(words)
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": cwd, "GPQ_SYSROOT": "hosts/" + HOST.name}
        if "--dry-run" not in words and words[:1] in LIVE or "--live" in words or "--sysroot" in words:
            del env["GPQ_SYSROOT"]
        with open("/dev/full", "wb") as full, open(f"{cwd}/marks", "w") as marks:
            marks.write("90001000 90001500\n")
            marks.flush()
            try:
                p = subprocess.run(["gpq", *words], executable=gpq, cwd=cwd, env=env, stdin=subprocess.DEVNULL, timeout=1 if forever else 20,
                                   stdout=full if forever else subprocess.PIPE, stderr=subprocess.PIPE)
                said = [f"status {p.returncode}".encode(), p.stdout or b"", p.stderr]
            except subprocess.TimeoutExpired:
                said = [b"never ended"]
        written = [p for p in sorted(pathlib.Path(cwd).rglob("*")) if not p.is_symlink()]
        said += [str(p.relative_to(cwd)).encode() for p in written]
        return said + [p.read_bytes() for p in written if p.is_file() and p.parent == pathlib.Path(cwd) and ".tar" not in p.name]


def compare(old, new, words, folder):
    """None where both agree in one of three tries, else the difference; and whether each agrees with itself."""
    pairs = []
    for _ in range(3):
        pairs.append((outcome(old, words, folder), outcome(new, words, folder)))
        if pairs[-1][0] == pairs[-1][1]:
            return None, True
    steady = all(pair == pairs[0] for pair in pairs)
    was, now = pairs[0]
    if not steady:
        was, now = ([re.sub(rb"\d+(\.\d+)?[kMGmun]?s?|\b[um]?s\b|0x[0-9a-f]+| +|-+", b"N", part) for part in o] for o in (was, now))
        if was == now:
            return None, False
    a, b = (b"\n".join(o).decode(errors="backslashreplace").splitlines() for o in (was, now))
    return list(difflib.unified_diff(a, b, "old", "new", n=0, lineterm="")), steady


def main():
    old, new, gen = (os.path.abspath(p) for p in sys.argv[1:4])
    word = sys.argv[4] if len(sys.argv) > 4 else ""
    meant = [re.split(r"  +", line, maxsplit=1)[0] for line in (HERE / "meant").read_text().splitlines() if line[:1] != "#"]
    used, total, differ, unsteady, n, bad = set(), 0, 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        folder = pathlib.Path(name)
        for link, target in ("hosts", TESTS / "hosts"), ("data", TESTS / "data"), ("samples", SAMPLES):
            os.symlink(target, folder / link)
        (folder / "gen").mkdir()
        for file, options in GENERATED.items():
            with open(folder / "gen" / file, "wb") as f:
                subprocess.run([gen, *options.split()], stdout=f, stderr=subprocess.DEVNULL, check=True)
        for row, commands in Table(old, folder).rows():
            if word not in row:
                continue
            found = []
            for words, (diff, steady) in zip(commands, pool.map(lambda w: compare(old, new, w, folder), commands)):
                why = next((m for m in meant if diff and re.search(m, shlex.join(words))), None)
                used.add(why)
                unsteady += not steady
                if diff and why is None:
                    found.append((shlex.join(words), diff))
            n, bad, total, differ = n + 1, bad + bool(found), total + len(commands), differ + len(found)
            print(f"{'not ' if found else ''}ok {n} - {len(commands)} commands, {len(found)} differ: {row}", flush=True)
            for command, diff in found[:3]:
                print("\n".join(["# $ gpq " + command, *("#   " + line[:200] for line in diff[2:10])]), flush=True)
    for m in set(meant) - used:
        print(f"# tests/same/meant: no difference: {m}")
    print(f"1..{n}\n# {total} commands, {differ} differ, {unsteady} not the same twice\n{n - bad} passed, {bad} failed")
    return bad > 0


sys.exit(main())
