#!/usr/bin/env python3
"""Small faults put into the code one at a time: which does no test find?

    run.py [-j N] [-n N] [--seed SEED] [--room ROOM] [--changed [--base COMMIT]] [--rest]     faults drawn at random
    run.py [-j N] --table [PATTERN...]                                                        the faults of tests/mutate/table*

A fault drawn at random is tried with the tests of `make check` that execute its lines (probe.py), the quickest first; the first
failure ends it. The other tests are run with --rest only: what does not execute a line can hardly find a fault in it, and a survivor
would cost the time of the whole check. Not found: SURVIVES, or "not executed" where no test comes by. What the compiler makes the same
code of, and rows of `equivalent`, is drawn anew. A release (free, close) that is left out is counted apart: only leak checkers see it.
One line for each fault, and in build/mutate/SEED.ndjson an object; at the end a table by room. Status 1: --changed has a survivor.

A row of a table is four fields, separated by tabs: FILE, the text that is there (exactly once), what takes its place, and the test that must
find it. \\n and \\t in the texts are a newline and a tab. Prints TAP. A row whose text is not there any more is an error.
"""
import argparse
import concurrent.futures
import fcntl
import glob
import json
import os
import random
import sys
import threading

import draw
from probe import Map, side_by_side
from source import sources
from tree import TOP, WORK, Faulty, Tree

HERE = os.path.dirname(os.path.abspath(__file__))


def say(text):
    print(f"# {text}", file=sys.stderr, flush=True)


def limit(seconds):
    return 5 * seconds + 10


def first_failure(tree, tests, seconds, header):
    """The first of these tests that fails, and how; None: they all pass."""
    for test in tests:
        bad = "does not build" if not tree.link(test, header) else tree.run(test, limit(seconds(test)))[0]
        if bad:
            return test, bad
    return None


class Drawn:
    """Tries faults until enough are valid. They are handed out in the order of the seed, so that their choice does not depend on who is quicker."""

    def __init__(self, args, trees):
        self.args, self.trees = args, trees
        self.sources = sources(TOP)
        self.map = Map(trees, args.j, say)
        self.equivalent = draw.equivalents(os.path.join(HERE, "equivalent"), self.sources)
        lines = draw.changed_lines(TOP, args.base) if args.changed else None

        def wanted(path, line):
            return (not args.room or f"/{args.room}/" in f"/{os.path.dirname(path)}/") and (lines is None or line in lines.get(path, ()))
        self.faults = draw.draw(self.sources, args.seed, wanted, lambda f: (f.file, f.region.name, f.old, f.new) in self.equivalent)
        self.lock = threading.Condition()
        self.valid = self.busy = 0
        self.results = []

    def next(self):
        with self.lock:
            while self.valid + self.busy >= self.args.n and self.busy:
                self.lock.wait()
            fault = next(self.faults, None) if self.valid < self.args.n else None
            self.busy += fault is not None
            return fault

    def attempt(self, tree, fault):
        """A result, or None where this is no fault."""
        with Faulty(tree, fault.file, fault.text) as built:
            if not built or built == tree.sound:
                return None
            covering = self.map.covering(fault, self.sources)
            tests = covering + ([t for t in self.map.all() if t not in covering] if self.args.rest else [])
            found = first_failure(tree, tests, self.map.time, fault.file.endswith(".h"))
            return {"file": fault.file, "line": fault.line, "function": fault.region.name, "room": fault.room, "operator": fault.operator,
                    "old": fault.old, "new": fault.new, "found": found and found[0], "how": found and found[1], "covering": covering}

    def work(self, tree):
        while True:
            fault = self.next()
            if not fault:
                return
            result = None
            try:
                result = self.attempt(tree, fault)
            finally:
                with self.lock:
                    self.busy -= 1
                    self.valid += result is not None
                    if result:
                        self.tell(result)
                    self.lock.notify_all()

    def tell(self, r):
        self.results.append(r)
        what = f"found by {r['found']}" if r["found"] else "SURVIVES" if r["covering"] else "not executed"
        print(f"{len(self.results)} {r['file']}:{r['line']} {r['function']}() {r['operator']}: {what}")
        for mark, text in ("-", r["old"]), ("+", r["new"]):
            print("".join(f"\t{mark} {line}\n" for line in text.split("\n")), end="")
        sys.stdout.flush()
        with open(os.path.join(WORK, f"{self.args.seed}.ndjson"), "a", encoding="utf-8") as f:
            f.write(json.dumps(r) + "\n")

    def by_room(self):
        rooms = {}
        for r in self.results:
            if r["operator"] != "release":
                n = rooms.setdefault(r["room"], [0, 0, 0])
                n[0 if r["found"] else 1 if r["covering"] else 2] += 1
        total = [sum(n[i] for n in rooms.values()) for i in range(3)]
        print(f"{'ROOM':<24}{'DRAWN':>6}{'FOUND':>7}{'SURVIVED':>10}{'NOT-EXECUTED':>14}{'%':>6}")
        for room, n in [*sorted(rooms.items()), ("all", total)]:
            print(f"{room:<24}{sum(n):>6}{n[0]:>7}{n[1]:>10}{n[2]:>14}{100 * n[0] / max(sum(n), 1):>6.0f}")
        apart = [r for r in self.results if r["operator"] == "release"]
        print(f"releases left out, counted apart: {len(apart)}, found {sum(bool(r['found']) for r in apart)}")
        print(f"SEED={self.args.seed}", flush=True)
        return total[1] + total[2]


def rows(patterns):
    for table in sorted(glob.glob(os.path.join(HERE, "table*"))):
        with open(table, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                if line.startswith("#") or not line.strip():
                    continue
                where, fields = f"{os.path.basename(table)}:{number}", line.rstrip("\n").split("\t")
                if len(fields) != 4:
                    sys.exit(f"{where}: {len(fields)} fields instead of 4")
                fields[1:3] = [t.replace("\\n", "\n").replace("\\t", "\t") for t in fields[1:3]]
                if not patterns or any(p in fields[0] or p in fields[3] for p in patterns):
                    yield where, *fields


def try_row(tree, row, seconds):
    where, file, old, new, test = row
    with open(tree.at(file), encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        return f"{where} is out of date: the text stands {text.count(old)} times in {file}"
    with Faulty(tree, file, text.replace(old, new)) as built:
        if not built:
            return "does not compile"
        return None if first_failure(tree, [test], seconds.get, file.endswith(".h")) else "survives"


def run_table(trees, patterns):
    todo, seconds, bad = list(rows(patterns)), {}, 0

    def judge(tree, test):
        return tree.run(test, 300) if tree.link(test) else ("does not build", 0)
    tests = sorted({row[4] for row in todo})
    for test, (wrong, took) in zip(tests, side_by_side(trees, tests, judge)):
        if wrong:
            sys.exit(f"{test} fails without any fault: {wrong}")
        seconds[test] = took

    lock = threading.Lock()
    done = 0

    def attempt(tree, row):
        nonlocal bad, done
        complaint = try_row(tree, row, seconds)
        with lock:
            done += 1
            bad += complaint is not None
            print(f"{'not ' if complaint else ''}ok {done} - {row[1]}: {row[2]!r} -> {row[3]!r} ({row[4]})" + (f": {complaint}" if complaint else ""),
                  flush=True)
    side_by_side(trees, todo, attempt)
    print(f"1..{len(todo)}\n# {len(todo) - bad} of {len(todo)} faults were found", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("-n", type=int)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**6)))
    parser.add_argument("--room")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--base")
    parser.add_argument("--rest", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("pattern", nargs="*")
    args = parser.parse_args()
    args.n = args.n if args.n is not None else 20 if args.changed else 200
    os.makedirs(WORK, exist_ok=True)
    lock = open(os.path.join(WORK, "lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    trees = [Tree(f"tree-{n}") for n in range(args.j)]
    for tree in trees:
        tree.sync(like=trees[0] if tree is not trees[0] else None)
        tree.build(args.j)
    if args.table:
        return run_table(trees, args.pattern) > 0
    drawn = Drawn(args, trees)
    print(f"SEED={args.seed}", flush=True)
    threads = [threading.Thread(target=drawn.work, args=[t]) for t in trees]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return drawn.by_room() > 0 and args.changed


if __name__ == "__main__":
    sys.exit(main())
