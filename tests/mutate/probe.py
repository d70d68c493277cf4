"""Which lines each test executes, and how long it takes: from a build whose blocks report that they ran (probe.h)."""
import bisect
import concurrent.futures
import hashlib
import json
import os
import queue
import re
import shutil
import subprocess

from tree import TOP, WORK, Tree, all_tests, program, project_files

MAP = os.path.join(WORK, "map.json")
MAP_BYTES = 1 << 23 # as in probe.h
HERE = os.path.dirname(os.path.abspath(__file__))


def digest(files):
    h = hashlib.sha1()
    for f in sorted(files):
        path = os.path.join(TOP, f)
        h.update(f.encode() + b"\0")
        if os.path.isfile(path):
            with open(path, "rb") as g:
                h.update(g.read())
    return h.hexdigest()


def keys(tests):
    """What the map depends on: for each test its own file, for all of them the rest."""
    rest = [f for f in project_files() if f not in tests and not f.startswith(("tests/mutate/", "tests/kernel/", "tests/mutants/", ".ci/")) and
            not f.endswith(".md")]
    return digest(rest), {t: digest([t]) for t in tests}


class Lines:
    """Of one program: the lines of each block, by the place of its mark in the map."""

    def __init__(self, path):
        calls = []
        after = False
        for line in subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", path], stdout=subprocess.PIPE, text=True).stdout:
            m = re.match(r" +([0-9a-f]+):", line)
            if m and after:
                calls.append(int(m.group(1), 16))
            after = bool(m) and "<__sanitizer_cov_trace_pc>" in line
        self.blocks = {}
        file = None
        for line in subprocess.Popen(["objdump", "--dwarf=decodedline", path], stdout=subprocess.PIPE, text=True).stdout:
            m = re.match(r"(?:\./)?(\S+\.[ch]):", line)
            if m:
                file = m.group(1)
            m = re.match(r"(\S+) +(\d+) +0x([0-9a-f]+)", line)
            if m and file.startswith(("cmd/", "common/")) and file.endswith("/" + m.group(1)):
                at = bisect.bisect_right(calls, int(m.group(3), 16) + 5) - 1 # the call of the block is its first instruction
                if at >= 0:
                    self.blocks.setdefault(calls[at] // 4, set()).add((file, int(m.group(2))))

    def add_executed(self, path, into):
        if os.stat(path).st_blocks:
            with open(path, "rb") as f:
                for m in re.finditer(b"\x01", f.read()):
                    for file, line in self.blocks.get(m.start(), ()):
                        into[file] = into.get(file, 0) | 1 << line


def side_by_side(trees, tests, work):
    """Results of work(tree, test), each tree doing one at a time."""
    free = queue.Queue()
    for t in trees:
        free.put(t)

    def one(test):
        tree = free.get()
        try:
            return work(tree, test)
        finally:
            free.put(tree)
    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        return list(pool.map(one, tests))


def probe(tests, trees, jobs, say):
    """{test: {time, lines, bad}} of these tests, and the lines that have code."""
    tree = Tree("probe", f"-O0 -g -fsanitize-coverage=trace-pc -include {HERE}/probe.h", "-w")
    tree.sync()
    programs = [p for p in map(program, all_tests()) if p]
    say(f"probe: {len(tests)} tests, once to see what they execute, once for their time")
    tree.build(jobs, programs)
    programs += ["build/plain/gpq", "build/plain/hint-server", "build/plain/libgpqclient.so"]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        lines = dict(zip(programs, pool.map(lambda p: Lines(tree.at(p)), programs)))

    def execute(_, test):
        maps = os.path.join(WORK, "maps", test.replace("/", "_"))
        shutil.rmtree(maps, ignore_errors=True)
        os.makedirs(maps)
        os.chmod(maps, 0o777)
        for p in programs:
            path = os.path.join(maps, os.path.basename(p))
            with open(path, "wb") as f:
                f.truncate(MAP_BYTES)
            os.chmod(path, 0o666)
        tree.run(test, 300, maps)
        executed = {}
        for p in programs:
            lines[p].add_executed(os.path.join(maps, os.path.basename(p)), executed)
        shutil.rmtree(maps)
        return executed

    def judge(tree, test):
        tree.link(test)
        bad, seconds = tree.run(test, 300)
        return (None, seconds) if not bad else tree.run(test, 300)
    executed = side_by_side([None] * len(trees), tests, execute)
    judged = side_by_side(trees, tests, judge)
    known = {}
    for l in lines.values():
        for rows in l.blocks.values():
            for file, line in rows:
                known[file] = known.get(file, 0) | 1 << line
    return {t: {"time": s, "bad": bad, "lines": e} for t, e, (bad, s) in zip(tests, executed, judged)}, known


class Map:
    """The tests that can find a fault, from the cached results of the probe."""

    def __init__(self, trees, jobs, say):
        tests = all_tests()
        rest, own = keys(tests)
        stored = {"rest": None, "tests": {}, "known": {}}
        if os.path.exists(MAP):
            with open(MAP, encoding="utf-8") as f:
                stored = json.load(f)
        if stored["rest"] != rest:
            stored = {"rest": rest, "tests": {}, "known": {}}
        stored["tests"] = {t: r for t, r in stored["tests"].items() if own.get(t) == r["own"]}
        todo = [t for t in tests if t not in stored["tests"]]
        if todo:
            results, known = probe(todo, trees, jobs, say)
            for t, r in results.items():
                stored["tests"][t] = {"own": own[t], "time": r["time"], "bad": r["bad"], "lines": {f: hex(m) for f, m in r["lines"].items()}}
            stored["known"] = {f: hex(m) for f, m in known.items()}
            with open(MAP + ".new", "w", encoding="utf-8") as f:
                json.dump(stored, f)
            os.replace(MAP + ".new", MAP)
        self.known = {f: int(m, 16) for f, m in stored["known"].items()}
        self.tests = {t: r for t, r in stored["tests"].items() if not r["bad"]}
        for t, r in stored["tests"].items():
            r["lines"] = {f: int(m, 16) for f, m in r["lines"].items()}
            if r["bad"]:
                say(f"left out: {t} fails without a fault: {r['bad']}")

    def time(self, test):
        return self.tests[test]["time"]

    def all(self):
        return sorted(self.tests, key=self.time)

    def executing(self, wanted):
        """Tests that execute one of these lines, {file: mask}; the quickest first."""
        found = [t for t, r in self.tests.items() if any(r["lines"].get(f, 0) & m for f, m in wanted.items())]
        return sorted(found, key=self.time)

    def lines_of(self, file, first, last):
        return self.known.get(file, 0) & (1 << last + 1) - (1 << first)

    def covering(self, fault, sources):
        """Of code: who executes the lines, or where these have none the whole function. Of a table: who executes a function that names it."""
        region, file = fault.region, fault.file
        if region.kind == "function":
            whole = self.lines_of(file, region.line, region.end)
            first = (whole & (1 << fault.line + 1) - 1).bit_length() - 1 # the statement may begin above
            lines = whole & (1 << fault.end + 1) - (1 << max(first, 0))
            return self.executing({file: whole if fault.is_label or not lines else lines})
        static = any(s.path == file and s.is_static(region) for s in sources)
        wanted = {}
        for s in sources:
            if s.path == file or not static:
                for r in s.regions:
                    if r.kind == "function" and region.name in s.words(r):
                        wanted[s.path] = wanted.get(s.path, 0) | self.lines_of(s.path, r.line, r.end)
        return self.executing(wanted or {file: self.known.get(file, 0)})
