"""Which lines each test executes, and how long it takes: from a build whose blocks report that they ran (probe.h)."""
import bisect
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess

from tree import TOP, WORK, Tree, all_tests, program, side_by_side

CUT_SECONDS = 60 # taken for the length of a test that the probe cut
MAP_BYTES = 1 << 23 # as in probe.h
HERE = os.path.dirname(os.path.abspath(__file__))


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout.split("\n")


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


class Blocks:
    """Of one program: the lines of each block, by the place of its mark in the map."""

    def __init__(self, path):
        calls, after, file = [], False, ""
        for line in output("objdump", "-d", "--no-show-raw-insn", path):
            m = re.match(r" +([0-9a-f]+):", line)
            if m and after:
                calls.append(int(m.group(1), 16))
            after = bool(m) and "<__sanitizer_cov_trace_pc>" in line
        self.lines = {}
        for line in output("objdump", "--dwarf=decodedline", path):
            m = re.match(r"(?:\./)?(\S+\.[ch]):", line)
            file = m.group(1) if m else file
            m = re.match(r"(\S+) +(\d+) +0x([0-9a-f]+)", line)
            if m and file.startswith(("cmd/", "common/")) and file.endswith("/" + m.group(1)):
                at = bisect.bisect_right(calls, int(m.group(3), 16) + 5) - 1 # the call of a block is its first instruction
                if at >= 0:
                    self.lines.setdefault(calls[at] // 4, set()).add((file, int(m.group(2))))

    def executed(self, data):
        return (l for m in re.finditer(b"\x01", data) for l in self.lines.get(m.start(), ()))


class Functions:
    """Names lines by function: (file:function, text's digest), line from its beginning. So they hold where others have changed."""

    def __init__(self, all_sources):
        self.digest, self.place = {}, {}
        for s in all_sources:
            for r in s.regions:
                if r.kind == "function":
                    key = f"{s.path}:{r.name}"
                    self.digest[key] = hashlib.sha1(s.text[s.tokens[r.first].start:s.tokens[r.last].end].encode()).hexdigest()[:12]
                    self.place.update({(s.path, line): (key, 1 << line - r.line) for line in range(r.line, r.end + 1)})

    def pack(self, lines):
        packed = {}
        for key, bit in (self.place[l] for l in lines if l in self.place):
            packed[key] = [self.digest[key], packed.get(key, (0, 0))[1] | bit]
        return packed


def own_tests():
    """What identifies each test: its text, and that of the Python which it runs."""
    python = {p: read_bytes(os.path.join(TOP, p)) for p in sorted(glob.glob("tests/*/*.py", root_dir=TOP))}

    def digest(test):
        text = read_bytes(os.path.join(TOP, test))
        runs = [q for p, q in python.items() if os.path.basename(p).encode() in text or (p.startswith("tests/holder/") and b"tests/holder/" in text)]
        return hashlib.sha1(b"".join([text, *runs])).hexdigest()
    return {t: digest(t) for t in all_tests()}


def probe(tests, jobs, functions, limit=None):
    """{test: time and lines}, and all lines that have code. What a test does after `limit` seconds is not seen: it is "cut"."""
    tree = Tree("probe", f"-O0 -g -fsanitize-coverage=trace-pc -include {HERE}/probe.h", "-w")
    programs = [p for p in map(program, all_tests()) if p]
    tree.sync()
    tree.build(jobs, programs)
    programs += ["build/plain/gpq", "build/plain/hint-server", "build/plain/libgpqclient.so"]
    blocks = dict(zip(programs, side_by_side(range(jobs), programs, lambda _, p: Blocks(tree.at(p)))))

    def execute(_, test):
        maps = os.path.join(WORK, "maps", test.replace("/", "_"))
        shutil.rmtree(maps, ignore_errors=True)
        os.makedirs(maps)
        files = {p: os.path.join(maps, os.path.basename(p)) for p in programs}
        for path in files.values():
            with open(path, "wb") as f:
                f.truncate(MAP_BYTES)
            os.chmod(path, 0o666) # some tests become another user
        _, seconds = tree.run(test, limit or 300, maps)
        cut = limit is not None and seconds >= limit
        lines = {l for p, path in files.items() if os.stat(path).st_blocks for l in blocks[p].executed(read_bytes(path))}
        shutil.rmtree(maps)
        return {"time": CUT_SECONDS if cut else seconds, "cut": cut, "lines": functions.pack(lines)}
    results = side_by_side(range(jobs), tests, execute)
    return dict(zip(tests, results)), functions.pack({l for b in blocks.values() for ls in b.lines.values() for l in ls})


class Map:
    """The tests that can find a fault. Kept in build/mutate/NAME.json; tests that have changed run anew, and all if many functions have.
    `own`: what identifies each test; probing(tests, jobs, functions): what probe() returns."""

    def __init__(self, name, all_sources, own, probing, jobs, say):
        self.sources, self.functions, stored = all_sources, Functions(all_sources), {"tests": {}, "known": {}}
        path = os.path.join(WORK, name + ".json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                stored = json.load(f)
        stale = [k for k, d in self.functions.digest.items() if stored["known"].get(k, (None,))[0] != d]
        if len(stale) > len(self.functions.digest) / 4:
            stored = {"tests": {}, "known": {}}
        self.tests = {t: stored["tests"][t] for t in own if stored["tests"].get(t, {}).get("own") == own[t]}
        self.known = stored["known"]
        todo = [t for t in own if t not in self.tests]
        if todo:
            say(f"probe: what {len(todo)} tests execute")
            results, self.known = probing(todo, jobs, self.functions)
            self.tests.update({t: {"own": own[t], **r} for t, r in results.items()})
            with open(path + ".new", "w", encoding="utf-8") as f:
                json.dump({"tests": self.tests, "known": self.known}, f)
            os.replace(path + ".new", path)

    def time(self, test):
        return self.tests[test]["time"]

    def executing(self, wanted):
        """Tests that execute one of these, {file:function: lines from its beginning, or None for all}; the quickest first."""
        def hits(lines):
            return any(k in lines and (m is None or lines[k][0] != self.functions.digest.get(k) or lines[k][1] & m) for k, m in wanted.items())
        return sorted((t for t, r in self.tests.items() if r.get("cut") or hits(r["lines"])), key=self.time)

    def of_file(self, path):
        return {k: None for k in self.known if k.startswith(path + ":")}

    def covering(self, fault):
        """Of code: who executes the lines, or where these have none the whole function. Of a table: who executes a function that names it."""
        region, key = fault.region, f"{fault.file}:{fault.region.name}"
        if region.kind == "function":
            digest, mask = self.known.get(key, (None, 0))
            if digest is None:
                return self.executing(self.of_file(fault.file))
            upto = mask & (1 << fault.end - region.line + 1) - 1
            first = (mask & (1 << fault.line - region.line + 1) - 1).bit_length() - 1 # the statement may begin above
            lines = upto & -(1 << max(first, 0))
            return self.executing({key: lines if lines and not fault.is_label and digest == self.functions.digest.get(key) else None})
        static = any(s.path == fault.file and s.is_static(region) for s in self.sources)
        wanted = {f"{s.path}:{r.name}": None for s in self.sources if s.path == fault.file or not static
                  for r in s.regions if r.kind == "function" and region.name in s.words(r)}
        if not wanted and region.name.endswith("_spec"): # found by a macro's name; what help shows of it executes nothing of its file
            wanted = {**self.of_file(fault.file), **self.of_file("cmd/help.c")}
        return self.executing(wanted or self.of_file(fault.file))
