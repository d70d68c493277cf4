#!/usr/bin/env python3
"""Small faults put into the code one at a time: which does no test find?

    run.py [-j N] [-n N] [--seed SEED] [--room ROOM] [--rest] [--kernel SERIES]
                                                                  faults drawn at random
    run.py [-j N] --again FILE [--rest] [--kernel SERIES]         those of FILE (.ndjson) that no test found
    run.py [-j N] [-n N] --changed [--base COMMIT]                in lines of the last commits (changed.py), or that differ from COMMIT
    run.py [-j N] --fault NAME                                    one of those once more
    run.py [-j N] --table [PATTERN...]                            the faults of tests/mutate/table*

A fault drawn at random is tried with the tests of `make check` that execute its lines (probe.py), the quickest first; the first
that fails twice ends it (a busy host can make one fail once). The other tests are run with --rest only: what does not execute a
line can hardly find a fault in it, and a survivor would cost the time of the whole check. With --kernel what passes is tried in
the VM as well, with the scripts that execute its lines (kernel.py). Not found: SURVIVES, or "not executed" where no test comes by. What the compiler makes the same
code of, and rows of `equivalent`, is drawn anew. A release (free, close) that is left out is counted apart: only leak checkers see it.
One line for each fault, and in build/mutate/SEED.ndjson an object; at the end a table by room.

--changed ends with what no test found, as a difference, and a line `N passed, N failed`. A test that takes long is looked at by the probe for
some seconds only, and tried with each fault that the others do not find; one that does not end in time has failed. Status 1: a fault was not found.

A row of a table is four fields, separated by tabs: FILE, the text that is there (exactly once), what takes its place, and the test that must
find it. \\n and \\t in the texts are a newline and a tab. Prints TAP. A row whose text is not there any more is an error.

Tests run as root in a sandbox (tree.py). The first builds and the probe take some minutes; build/mutate keeps both.
"""
import argparse
import difflib
import fcntl
import functools
import glob
import json
import os
import random
import subprocess
import sys
import threading

import changed
import draw
from kernel import Rig, build, own, scripts
from probe import Map, own_tests, probe
from source import sources
from tree import TOP, WORK, Faulty, Tree, side_by_side

PROBE_SECONDS = 8
HERE = os.path.dirname(os.path.abspath(__file__))


def say(text):
    print(f"# {text}", file=sys.stderr, flush=True)


class Judge:
    """Looks for a test that fails twice with a fault. A test counts only if it passes without: tried when it first fails."""

    def __init__(self, seconds):
        self.seconds, self.sound = seconds, {}

    def first_failure(self, tree, file, text, tests_of):
        """(built, test, how): built says what was built, or None where it does not compile; test and how are None where all pass."""
        tests = None
        while True:
            with Faulty(tree, file, text) as built:
                tests = tests_of(built) if tests is None else tests
                test, how = None, None
                for test in [t for t in tests if self.sound.get(t, True)]:
                    how = self.run(tree, test, file)
                    if how and "no end within" not in how:
                        how = self.run(tree, test, file)
                    if how:
                        break
            if not how:
                return built, None, None
            if test not in self.sound:
                tree.build()
                bad = self.run(tree, test)
                if bad:
                    bad = self.run(tree, test)
                self.sound[test] = not bad
                if bad:
                    say(f"left out: {test} fails without a fault: {bad}")
            if self.sound[test]:
                return built, test, how

    def run(self, tree, test, faulty=None):
        return tree.run(test, 5 * self.seconds(test) + 10)[0] if tree.link(test, faulty) else "does not build"


class Drawn:
    """Tries faults until enough are valid. They are handed out in the order of the seed, so that their choice does not depend on who is quicker."""

    def __init__(self, args, trees):
        self.args = args
        all_sources = sources(TOP)
        equivalent = draw.equivalents(os.path.join(HERE, "equivalent"), all_sources)

        def wanted(path, _):
            return not args.room or f"/{args.room}/" in f"/{os.path.dirname(path)}/"
        earlier = draw.listing(args.again) if args.again else []
        self.faults = draw.again(all_sources, earlier) if args.again else \
            draw.draw(all_sources, args.seed, wanted, lambda f: (f.file, f.region.name, f.old, f.new) in equivalent)
        self.map, self.kernel = Map("map", all_sources, own_tests(), probe, args.j, say), None
        if args.kernel:
            self.rig = Rig(args.kernel)
            self.kernel = Map(f"map-{args.kernel}", all_sources, {s: own(s) for s in scripts()}, self.rig.probe, args.j, say)
        self.judge = Judge(self.map.time)
        self.turn, self.valid, self.busy = threading.Condition(), 0, 0
        self.results = [r for r in earlier if r["found"]]
        self.out = os.path.join(WORK, f"{args.seed}.ndjson")
        if args.n:
            with open(self.out, "w", encoding="utf-8") as f:
                f.writelines(json.dumps(r) + "\n" for r in self.results)
        threads = [threading.Thread(target=self.work, args=[t]) for t in trees]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    def next(self):
        with self.turn:
            while self.valid + self.busy >= self.args.n and self.busy:
                self.turn.wait()
            fault = next(self.faults, None) if self.valid < self.args.n else None
            self.busy += fault is not None
            return fault

    def work(self, tree):
        for fault in iter(self.next, None):
            result = None
            try:
                result = self.attempt(tree, fault)
            finally:
                with self.turn:
                    self.busy -= 1
                    self.valid += result is not None
                    if result:
                        self.tell(result)
                    self.turn.notify_all()

    def attempt(self, tree, fault):
        """A result, or None where this is no fault."""
        covering = self.map.covering(fault)
        tests = covering + [t for t in sorted(self.map.tests, key=self.map.time) if self.args.rest and t not in covering]
        built, found, how = self.judge.first_failure(tree, fault.file, fault.text, lambda b: tests if b and b != tree.sound else ())
        if not built or built == tree.sound:
            return None
        if not found and self.kernel:
            in_vm = self.kernel.covering(fault)
            found, how = self.in_vm(tree, fault, in_vm) if in_vm else (None, None)
            covering += in_vm
        return {"file": fault.file, "line": fault.line, "function": fault.region.name, "room": fault.room, "operator": fault.operator,
                "old": fault.old, "new": fault.new, "found": found, "how": how, "covering": covering}

    def in_vm(self, tree, fault, names):
        with Faulty(tree, fault.file, fault.text):
            return self.rig.first_failure(tree, names, self.kernel.time) if build(tree) else (None, None)

    def tell(self, r):
        self.results.append(r)
        what = f"found by {r['found']}" if r["found"] else "SURVIVES" if r["covering"] else "not executed"
        print(f"{len(self.results)} {r['file']}:{r['line']} {r['function']}() {r['operator']}: {what}")
        for mark, text in ("-", r["old"]), ("+", r["new"]):
            print("".join(f"\t{mark} {line}\n" for line in text.split("\n")), end="", flush=True)
        with open(self.out, "a", encoding="utf-8") as f:
            f.write(json.dumps(r) + "\n")

    def by_room(self):
        """Prints the table; returns how many were not found."""
        rooms = {}
        for r in self.results:
            if r["operator"] != "release":
                rooms.setdefault(r["room"], [0, 0, 0])[0 if r["found"] else 1 if r["covering"] else 2] += 1
        total = [sum(n[i] for n in rooms.values()) for i in range(3)]
        print(f"{'ROOM':<24}{'DRAWN':>6}{'FOUND':>7}{'SURVIVED':>10}{'NOT-EXECUTED':>14}{'%':>6}")
        for room, n in [*sorted(rooms.items()), ("all", total)]:
            print(f"{room:<24}{sum(n):>6}{n[0]:>7}{n[1]:>10}{n[2]:>14}{100 * n[0] / max(sum(n), 1):>6.0f}")
        apart = [bool(r["found"]) for r in self.results if r["operator"] == "release"]
        print(f"releases left out, counted apart: {len(apart)}, found {sum(apart)}\nSEED={self.args.seed}", flush=True)


class Changed:
    """Tries the faults of groups of lines (changed.py); returns the exit status from run()."""

    def __init__(self, args, trees):
        self.all_sources, self.trees, self.lock = sources(TOP), trees, threading.Lock()
        equivalent = draw.equivalents(os.path.join(HERE, "equivalent"), self.all_sources)
        self.groups = changed.named(self.all_sources, args.fault) if args.fault else \
            changed.groups(TOP, changed.Chooser(self.all_sources, equivalent, args.seed), args.n, args.base)
        self.results, self.args = [], args

    def run(self):
        if self.groups is None:
            return skip("the history is not here, so what changed is not known")
        if any(g.wanted for g in self.groups):
            for tree in self.trees:
                tree.sync(like=self.trees[0] if tree is not self.trees[0] else None)
                tree.build(self.args.j)
            self.map = Map("map-changed", self.all_sources, own_tests(), functools.partial(probe, limit=PROBE_SECONDS), self.args.j, say)
            self.judge = Judge(self.map.time)
            side_by_side(self.trees, self.groups, self.try_group)
        missed = [r for r in self.results if not r[2]]
        for group, fault, _, covering in missed:
            text = [source.text for source in self.all_sources if source.path == fault.file][0]
            print(f"\nnot found by a test{'' if covering else ', nor executed by one'}; the line is of: {group.title}")
            print("".join(difflib.unified_diff(text.splitlines(True), fault.text.splitlines(True), fault.file, fault.file)), end="")
            print(f"a test must fail with this, or tests/mutate/equivalent says why none can; alone: make mutate FAULT={changed.name_of(fault)}")
        print(f"{len(self.results) - len(missed)} passed, {len(missed)} failed, 0 skipped", flush=True)
        return bool(missed) or bool(self.args.fault and not self.results)

    def try_group(self, tree, group):
        valid = 0
        while valid < group.wanted and (fault := next(group.faults, None)):
            tests = self.map.covering(fault)
            built, found, _ = self.judge.first_failure(tree, fault.file, fault.text, lambda b: tests if b and b != tree.sound else ())
            if not built or built == tree.sound:
                continue
            valid += 1
            with self.lock:
                self.results.append((group, fault, found, tests))
                what = f"found by {found}" if found else "NOT FOUND"
                print(f"{len(self.results)} {changed.name_of(fault)} line {fault.line}, {fault.region.name}(), {fault.operator}: {what}", flush=True)


def skip(reason):
    print(f"# skipped: {reason}\n0 passed, 0 failed, 1 skipped")
    return 0


def rows(patterns):
    for table in sorted(glob.glob(os.path.join(HERE, "table*"))):
        for where, fields in draw.read_rows(table, 4):
            fields[1:3] = [t.replace("\\t", "\t") for t in fields[1:3]]
            if not patterns or any(p in fields[0] or p in fields[3] for p in patterns):
                yield where, *fields


def run_table(trees, patterns):
    todo, judge, lock, complaints = list(rows(patterns)), Judge(lambda test: 60), threading.Lock(), []

    def attempt(tree, row):
        where, file, old, new, test = row
        with open(tree.at(file), encoding="utf-8") as f:
            text = f.read()
        if text.count(old) != 1:
            complaint = f"{where} is out of date: the text stands {text.count(old)} times in {file}"
        else:
            built, found, _ = judge.first_failure(tree, file, text.replace(old, new), lambda built: [test] if built else ())
            complaint = "does not compile" if not built else None if found else "survives"
        with lock:
            complaints.append(complaint)
            print(f"{'not ' if complaint else ''}ok {len(complaints)} - {file}: {old!r} -> {new!r} ({test})" + (f": {complaint}" if complaint else ""),
                  flush=True)
    side_by_side(trees, todo, attempt)
    print(f"1..{len(todo)}\n# {complaints.count(None)} of {len(todo)} faults were found", flush=True)
    return complaints.count(None) < len(todo)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("-n", type=int)
    for option in "--seed", "--room", "--base", "--again", "--kernel", "--fault":
        parser.add_argument(option)
    for option in "--changed", "--rest", "--table":
        parser.add_argument(option, action="store_true")
    parser.add_argument("pattern", nargs="*")
    args = parser.parse_args()
    args.n = args.n if args.n is not None else 20 if args.changed else 10**6 if args.again else 200
    by_lines = args.changed or args.fault
    if not by_lines and not args.seed:
        args.seed = os.path.basename(args.again).removesuffix(".ndjson") if args.again else str(random.SystemRandom().randrange(10**6))
    if os.getuid() or subprocess.run(["unshare", "--mount", "--pid", "--fork", "mount", "-t", "tmpfs", "none", "/tmp"], check=False).returncode:
        reason = "faulty programs run in namespaces of their own: this takes root"
        return skip(reason) if args.changed else sys.exit(reason)
    os.makedirs(WORK, exist_ok=True)
    lock = open(os.path.join(WORK, "lock"), "w", encoding="utf-8")
    fcntl.flock(lock, fcntl.LOCK_EX)
    trees = [Tree(f"tree-{n}") for n in range(args.j)]
    if by_lines:
        return Changed(args, trees).run()
    for tree in trees:
        tree.sync(like=trees[0] if tree is not trees[0] else None)
        tree.build(args.j)
        if args.kernel and not build(tree, args.j):
            sys.exit(f"{tree.path}: build/testing/gpq does not build")
    if args.table:
        return run_table(trees, args.pattern)
    print(f"SEED={args.seed}", flush=True)
    return Drawn(args, trees).by_room()


if __name__ == "__main__":
    sys.exit(main())
