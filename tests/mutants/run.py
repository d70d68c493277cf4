#!/usr/bin/env python3
"""Small faults put into the code one at a time: each must make the test fail that its row names.

    run.py [-j N] [PATTERN...]     rows whose file or test contains a PATTERN; without one all

A row of `table`, `table-state` and so on is four fields, separated by tabs: FILE, the text that is there (exactly once), what takes its place, and
the test: tests/unit/test_*.c, tests/cli/*.t, tests/cli/*.sh, man/*.1 or README.md. \\n and \\t in the texts are a newline
and a tab. Prints TAP: "ok" where the test failed, as it must. A row whose text is not there any more is an error: the
table is to be kept with the code.
"""
import argparse
import concurrent.futures
import glob
import os
import queue
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLES = sorted(glob.glob(os.path.join(TOP, "tests/mutants/table*")))


def rows(patterns):
    for table in TABLES:
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


def make(tree, *args):
    return subprocess.run(["make", "-s", "-C", tree, *args], capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=600)


def new_tree(work, n):
    """A copy of the project with everything built, in which one fault at a time is tried."""
    tree = os.path.join(work, f"tree-{n}")
    shutil.copytree(TOP, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    return tree


def passes(tree, test):
    """Does the test pass there? None: it does not even build."""
    try:
        built = make(tree)
        if built.returncode:
            return None
        return make(tree, "check-one", f"T={test}").returncode == 0
    except subprocess.TimeoutExpired:
        return False


def attempt(trees, row):
    where, file, old, new, test = row
    tree = trees.get()
    path = os.path.join(tree, file)
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if text.count(old) != 1:
            return f"{where} is out of date: the text stands {text.count(old)} times in {file}"
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new))
        result = passes(tree, test)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return {None: "does not compile", True: "survives", False: None}[result]
    finally:
        trees.put(tree)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("pattern", nargs="*")
    args = parser.parse_args()
    todo = list(rows(args.pattern))
    bad = 0
    with tempfile.TemporaryDirectory(prefix="gpq-mutants-") as work:
        trees = queue.Queue()
        for n in range(args.j):
            trees.put(new_tree(work, n))
        sound = {test: passes(trees.queue[0], test) for test in sorted({row[4] for row in todo})}
        for test, good in sound.items():
            if not good:
                sys.exit(f"{test} fails without any fault")
        with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
            for n, (row, complaint) in enumerate(zip(todo, pool.map(lambda r: attempt(trees, r), todo)), 1):
                bad += complaint is not None
                name = f"{row[1]}: {row[2]!r} -> {row[3]!r} ({row[4]})"
                print(f"{'not ' if complaint else ''}ok {n} - {name}" + (f": {complaint}" if complaint else ""), flush=True)
    print(f"1..{len(todo)}")
    print(f"# {len(todo) - bad} of {len(todo)} faults were found", flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
