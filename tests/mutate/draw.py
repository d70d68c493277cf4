"""Draws faults by a seed: each line of code of all rooms is as likely, then each operator that fits the line."""
import json
import os
import random
import subprocess
import sys

import operators
from source import members, visible


class Fault:
    """An edit of one file; `old` and `new` are the lines that it changes, without their indentation."""

    def __init__(self, source, region, operator, edits):
        self.file, self.region, self.operator = source.path, region, operator
        text = source.text
        self.line, self.end = source.line(edits[0][0]), source.line(edits[-1][1] - 1)
        rest = text.count("\n", edits[-1][1])
        for start, end, new in reversed(edits):
            text = text[:start] + new + text[end:]
        self.text = text
        self.is_label = any(source.tok(i) == "case" for i in range(region.first, region.last)
                            if source.line(source.tokens[i].start) == self.line) if region.kind == "function" else False
        self.old = source.lines(self.line, self.end)
        self.new = "\n".join(l.strip() for l in text.split("\n")[self.line - 1:text.count("\n") - rest + 1])

    @property
    def room(self):
        parts = os.path.dirname(self.file).split("/")
        return "/".join(parts[:2])


class Fields:
    """For each file, for each member of a struct that it sees, the others of its type there."""

    def __init__(self, all_sources):
        self.by_path, self.members, self.seen = {s.path: s for s in all_sources}, members(all_sources), {}

    def of(self, source):
        if source.path not in self.seen:
            files = visible(source, self.by_path)
            self.seen[source.path] = {m: [n for f, n in pairs if f in files] for m, pairs in self.members.items()}
        return self.seen[source.path]


def changed_lines(top, base):
    """Lines that differ from the commit `base`, by file."""
    lines, file = {}, None
    diff = subprocess.run(["git", "diff", "-U0", base, "--", "cmd", "common"], cwd=top, capture_output=True, text=True, check=True).stdout
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            file = line[6:]
        elif line.startswith("@@"):
            first, _, n = line.split()[2][1:].partition(",")
            lines.setdefault(file, set()).update(range(int(first), int(first) + int(n or 1)))
    return lines


def faults_at(source, region, token, others):
    """By operator, with its weight: the edits that begin at this token."""
    for name, operator, weight in operators.FUNCTION if region.kind == "function" else operators.TABLE:
        edits = list(operator(source, token, others))
        if edits:
            yield name, weight, edits


def places(all_sources, wanted):
    """(source, region, tokens) of each line that may be drawn, in a fixed order."""
    for source in all_sources:
        for region in source.regions:
            by_line = {}
            for i in range(region.first + 1, region.last):
                by_line.setdefault(source.line(source.tokens[i].start), []).append(i)
            yield from ((source, region, tokens) for line, tokens in sorted(by_line.items()) if wanted(source.path, line))


def draw(all_sources, seed, wanted, skip):
    """Endless, unless lines run out: faults in the order in which the seed draws them, none twice."""
    fields, rng, seen = Fields(all_sources), random.Random(seed), set()
    lines = list(places(all_sources, wanted))
    misses = 0
    while lines and misses < 200 * len(lines):
        source, region, tokens = rng.choice(lines)
        others, by_name, weights = fields.of(source), {}, {}
        for i in tokens:
            for name, weight, edits in faults_at(source, region, i, others):
                by_name.setdefault(name, []).extend(edits)
                weights[name] = weight
        misses += 1
        if not by_name:
            continue
        name = rng.choices(list(weights), list(weights.values()))[0]
        fault = Fault(source, region, name, rng.choice(by_name[name]))
        key = fault.file, fault.line, fault.old, fault.new
        if key in seen or rng.random() > weights[name] or skip(fault):
            continue
        seen.add(key)
        misses = 0
        yield fault


def read_rows(path, fields):
    """("file:line", fields...) of a table whose fields are separated by tabs; \\n in one is a newline."""
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            row = [t.replace("\\n", "\n") for t in line.rstrip("\n").split("\t")]
            if line.startswith("#") or not line.strip():
                continue
            if len(row) != fields:
                sys.exit(f"{path}:{number}: {len(row)} fields instead of {fields}")
            yield f"{os.path.basename(path)}:{number}", row


def equivalents(path, all_sources):
    """The reviewed faults that change nothing: file, function, old text, new text, reason. A row whose text is gone is an error."""
    rows, regions = set(), {s.path: [(r.name, s.lines(r.line, r.end)) for r in s.regions] for s in all_sources}
    for where, (file, function, old, new, _) in read_rows(path, 5):
        if not any(name == function and old in text for name, text in regions.get(file, ())):
            sys.exit(f"{where} is out of date: {function}() of {file} has no such text")
        rows.add((file, function, old, new))
    return rows


def listing(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def again(all_sources, results):
    """The faults of a listing that no test found, where their text still stands."""
    fields = Fields(all_sources)
    for r in results:
        if r["found"]:
            continue
        for source in all_sources:
            for region in source.regions if source.path == r["file"] else ():
                faults = (Fault(source, region, name, edits) for i in range(region.first + 1, region.last)
                          for name, _, choices in faults_at(source, region, i, fields.of(source)) for edits in choices)
                if region.name == r["function"]:
                    yield from [f for f in faults if (f.old, f.new) == (r["old"], r["new"])][:1]
