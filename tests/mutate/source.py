"""C sources as tokens, with the bodies of functions and the initialised tables in which faults are put."""
import bisect
import os
import re
from collections import namedtuple

TOKEN = re.compile(r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)
    |(?P<string>(?:u8|L)?"(?:\\.|[^"\\\n])*")|(?P<char>'(?:\\.|[^'\\\n])*')
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)|(?P<word>[A-Za-z_]\w*)
    |(?P<sign>->|\+\+|--|<<=|>>=|\.\.\.|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||.)""", re.X | re.S | re.M)
OPENERS = {"(": ")", "[": "]", "{": "}"}
# A static function's name is unique in the tree, so (file, name) says which function is meant when lines have moved.
Region = namedtuple("Region", "kind name first last line end")
Token = namedtuple("Token", "kind text start end")


class Source:
    """One file: tokens, for each bracket its partner, for each token the bracket around it, and regions."""

    def __init__(self, top, path):
        self.path = path
        with open(os.path.join(top, path), encoding="utf-8") as f:
            self.text = f.read()
        self.tokens = [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(self.text) if m.lastgroup != "space"]
        self.breaks = [m.start() for m in re.finditer("\n", self.text)]
        self.match, self.around = {}, []
        stack = []
        for i, t in enumerate(self.tokens):
            closes = bool(stack) and t.text == OPENERS[self.tokens[stack[-1]].text]
            if closes:
                self.match[i] = stack.pop()
                self.match[self.match[i]] = i
            self.around.append(stack[-1] if stack else None)
            if t.text in OPENERS:
                stack.append(i)
        self.regions = list(self._regions())

    def line(self, offset):
        return bisect.bisect_left(self.breaks, offset) + 1

    def lines(self, first, last):
        """Text of these lines, without their indentation."""
        return "\n".join(l.strip() for l in self.text.split("\n")[first - 1:last])

    def tok(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def words(self, region):
        return {t.text for t in self.tokens[region.first:region.last]}

    def is_static(self, region):
        """Does its declaration say so? It begins behind the last ; or } outside."""
        i = region.first - 1
        while i >= 0 and self.tok(i) not in (";", "}"):
            i -= 1
        return "static" in (self.tok(j) for j in range(i + 1, region.first))

    def _regions(self):
        for i, t in enumerate(self.tokens):
            if t.text != "{" or self.around[i] is not None or i not in self.match:
                continue
            if self.tok(i - 1) == ")":
                kind, name = "function", self.tok(self.match[i - 1] - 1)
            elif self.tok(i - 1) == "=":
                j = i - 2
                while self.tok(j) == "]":
                    j = self.match[j] - 1
                kind, name = "table", self.tok(j)
            else:
                continue
            last = self.match[i]
            yield Region(kind, name, i, last, self.line(t.start), self.line(self.tokens[last].start))


def sources(top):
    """Every source and header of the product, in the order of their names."""
    found = []
    for folder in "cmd", "common":
        for at, _, names in os.walk(os.path.join(top, folder)):
            found += [os.path.relpath(os.path.join(at, n), top) for n in names if n.endswith((".c", ".h"))]
    return [Source(top, path) for path in sorted(found)]


STRUCT = re.compile(r"\b(?:struct|union)\s*(?:\w+\s*)?\{([^{}]*)\}")
MEMBER = re.compile(r"^((?:const\s+|volatile\s+)?(?:(?:struct|enum|union)\s+)?\w+(?:\s+(?:int|long|char|const))*)([\s*].*)$", re.S)


def visible(source, by_path):
    """The file and all that it includes."""
    seen, todo = set(), [source.path]
    while todo:
        path = todo.pop()
        if path in by_path and path not in seen:
            seen.add(path)
            todo += re.findall(r'^#include "([^"]+)"', by_path[path].text, re.M)
    return seen


def members(all_sources):
    """For each member of a struct the others that are declared with the same type in the same struct, as (file of the struct, name)."""
    others = {}
    for source in all_sources:
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", source.text, flags=re.S)
        found = list(STRUCT.finditer(text))
        while found: # the innermost first
            for m in found:
                by_type = {}
                for declared in m.group(1).split(";"):
                    d = MEMBER.match(declared.strip())
                    for name in d.group(2).split(",") if d else ():
                        n = re.search(r"(\**)\s*(\w+)\s*((?:\[[^]]*\])*)(?:\s*:\s*\d+)?\s*$", name)
                        if n:
                            by_type.setdefault((d.group(1), n.group(1), n.group(3)), []).append(n.group(2))
                for names in by_type.values():
                    for name in names:
                        others.setdefault(name, set()).update((source.path, other) for other in names if other != name)
            text = STRUCT.sub("struct inner", text)
            found = list(STRUCT.finditer(text))
    return {name: sorted(pairs) for name, pairs in others.items() if pairs}
