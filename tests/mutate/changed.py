"""The faults of CHANGED=1: in lines that the last commits wrote, the newest first. Which ones follows from the text of the lines alone.

So the same commit has the same verdict everywhere, a commit has the faults that it had before it was committed or rebased, and the next one
adds faults in its own lines: who sees a survivor wrote, or has just untested, what it is about.
"""
import difflib
import hashlib
import os
import random
import re
import subprocess

import draw
from tree import read

COMMITS, LINES_A_FAULT, FAULTS_A_COMMIT = 60, 10, 6


def git(top, *command):
    return subprocess.run(["git", *command], cwd=top, capture_output=True, text=True, errors="replace").stdout


class Group:
    """Lines with one origin, and how many valid faults are wanted there."""

    def __init__(self, title, lines):
        self.title, self.lines, self.wanted, self.faults = title, lines, 0, ()


def commits(top):
    """(hash, hash before it, title) of the last commits that touched the product; first what is not committed, as the hash of zeros. One
    whose parent is not here, as in a clone without history, is none: its lines are those of all commits before it."""
    yield "0" * 40, "HEAD", "not committed"
    for line in git(top, "log", f"-{COMMITS}", "--no-merges", "--format=%H\t%P\t%h %s", "--", "cmd", "common").splitlines():
        commit, parent, title = line.split("\t", 2)
        if parent:
            yield commit, parent, title


def code_of(text):
    """Its lines without comments and spaces."""
    return ["".join(re.sub(r"//.*|/\*.*?\*/", "", line).split()) for line in text.split("\n")]


def wrote(before, after):
    """Numbers of the lines whose code is new or changed."""
    codes = difflib.SequenceMatcher(None, code_of(before), code_of(after), False).get_opcodes()
    return {n + 1 for what, _, _, first, end in codes if what in ("insert", "replace") for n in range(first, end)}


def lines_of(top, commit, parent):
    """The lines of code that the commit wrote and that still stand, by file."""
    lines, is_commit = {}, bool(commit.strip("0"))
    for file in git(top, "diff", "--name-only", parent, *([commit] if is_commit else []), "--", "cmd", "common").splitlines():
        path = os.path.join(top, file)
        if not file.endswith((".c", ".h")) or not os.path.exists(path):
            continue
        new = wrote(git(top, "show", f"{parent}:{file}"), git(top, "show", f"{commit}:{file}") if is_commit else read(path))
        origin = git(top, "blame", "-s", "-p", f"^{parent}", "--", file) if new else ""
        lines[file] = {int(now) for then, now in re.findall(rf"^{commit} (\d+) (\d+)", origin, re.M) if int(then) in new}
    return lines


def name_of(fault):
    text = "\t".join((fault.file, fault.region.name, fault.old, fault.new))
    return f"{fault.file}:{hashlib.sha1(text.encode()).hexdigest()[:10]}"


class Chooser:
    def __init__(self, all_sources, equivalent, seed):
        self.sources, self.equivalent, self.seed, self.fields = all_sources, equivalent, seed or "", draw.Fields(all_sources)

    def of_line(self, source, region, tokens):
        """(a number of this line, its faults in an order of their own)."""
        line = source.line(source.tokens[tokens[0]].start)
        text = source.lines(line, line)
        above = source.lines(region.line, line - 1).split("\n").count(text) if line > region.line else 0
        rng = random.Random(f"{self.seed} {source.path} {region.name} {above} {text}")
        number, by_name, weights = rng.random(), {}, {}
        for i in tokens:
            for name, weight, edits in draw.faults_at(source, region, i, self.fields.of(source)):
                if name != "release": # only leak checkers see one that is left out
                    by_name.setdefault(name, []).extend(edits)
                    weights[name] = weight
        names = []
        while weights:
            names += rng.choices(list(weights), list(weights.values()))
            del weights[names[-1]]
        return number, [(source, region, name, edits) for name in names for edits in rng.sample(by_name[name], len(by_name[name]))]

    def faults(self, by_line):
        """One of each line, then another of each line ..."""
        for n in range(max(map(len, by_line), default=0)):
            for line in by_line:
                fault = draw.Fault(*line[n]) if n < len(line) else None
                if fault and (fault.file, fault.region.name, fault.old, fault.new) not in self.equivalent:
                    yield fault

    def fill(self, group):
        """Sets the faults of a group; returns how many of its lines have any."""
        places = draw.places([s for s in self.sources if group.lines.get(s.path)], lambda path, line: line in group.lines.get(path, ()))
        by_line = [faults for _, faults in sorted((self.of_line(*p) for p in places), key=lambda l: l[0]) if faults]
        group.faults = self.faults(by_line)
        return len(by_line)


def groups(top, chooser, n, base):
    """What to try: n faults, or fewer. None where the history is not known."""
    if base:
        group = Group(f"since {base}", draw.changed_lines(top, base))
        group.wanted = n if chooser.fill(group) else 0
        return [group]
    found, known = [], list(commits(top))
    for commit, parent, title in known:
        if not n:
            break
        group = Group(title, lines_of(top, commit, parent))
        group.wanted = min(FAULTS_A_COMMIT, -(-chooser.fill(group) // LINES_A_FAULT), n)
        n -= group.wanted
        found += [group] if group.wanted else []
    return found if len(known) > 1 else None


def named(all_sources, name):
    """The fault of this name, in a group of its own."""
    file, fields, group = name.rpartition(":")[0], draw.Fields(all_sources), Group("named", {})
    every = (draw.Fault(s, region, operator, edits) for s in all_sources if s.path == file for region in s.regions
             for i in range(region.first + 1, region.last) for operator, _, choices in draw.faults_at(s, region, i, fields.of(s)) for edits in choices)
    group.faults, group.wanted = iter([f for f in every if name_of(f) == name][:1]), 1
    return [group]
