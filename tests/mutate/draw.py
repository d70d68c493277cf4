"""Draws faults by a seed: each line of code of all rooms is as likely, then each operator that fits the line."""
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
    by_path, all_members, seen_by = {s.path: s for s in all_sources}, members(all_sources), {}
    rng, seen = random.Random(seed), set()
    lines = list(places(all_sources, wanted))
    misses = 0
    while lines and misses < 200 * len(lines):
        source, region, tokens = rng.choice(lines)
        if source.path not in seen_by:
            files = visible(source, by_path)
            seen_by[source.path] = {m: [n for f, n in pairs if f in files] for m, pairs in all_members.items()}
        others = seen_by[source.path]
        by_name, weights = {}, {}
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


def equivalents(path, all_sources):
    """The reviewed faults that change nothing: file, function, old text, new text, reason. A row whose text is gone is an error."""
    rows, by_path = set(), {s.path: s for s in all_sources}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.startswith("#") or not line.strip():
                continue
            fields = line.rstrip("\n").split("\t")
            if len(fields) != 5:
                sys.exit(f"{path}:{number}: {len(fields)} fields instead of 5")
            file, function, old, new = fields[0], fields[1], *(t.replace("\\n", "\n") for t in fields[2:4])
            source = by_path.get(file)
            if not source or not any(r.name == function and old in source.lines(r.line, r.end) for r in source.regions):
                sys.exit(f"{path}:{number} is out of date: {function}() of {file} has no such text")
            rows.add((file, function, old, new))
    return rows
