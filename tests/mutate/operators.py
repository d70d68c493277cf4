"""What a fault may be. Each operator looks at one token and yields edits: lists of (start, end, text) of the source."""
import re

COMPARE = {"<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",)}
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "<<": ">>", ">>": "<<", "|=": "=", "|": "&", "&": "|"}
ENDS = {")", "]", "}", ",", ";", "?", ":"}
STARTS = {"(", "[", "{", ",", ";", "?", ":", "return", "=", "+=", "-=", "|=", "&="}
KEYWORDS = {"if", "for", "while", "do", "switch", "case", "default", "else", "return", "goto", "sizeof", "break", "continue"}
TYPES = {"struct", "enum", "union", "const", "static", "unsigned", "int", "char", "bool", "size_t", "long", "void", "double", "extern"}
RELEASES = re.compile(r"free|close(_quietly)?|munmap|\w+_(free|fini|close|destroy|release|unlock|end)")
NOTHING = {"0", "NULL", "false", "FOREVER"}


def bounds(s, i, also=()):
    """The tokens around token i, to the ends of the expression that it joins, or to one of `also`."""
    a, b = i - 1, i + 1
    while s.tok(a) not in STARTS and s.tok(a) not in also:
        a = s.match[a] - 1 if s.tok(a) in (")", "]", "}") else a - 1
    while s.tok(b) not in ENDS and s.tok(b) not in also:
        b = s.match[b] + 1 if s.tok(b) in ("(", "[", "{") else b + 1
    return a + 1, b - 1


def span(s, a, b):
    return s.tokens[a].start, s.tokens[b].end


def code(s, a, b):
    return s.text[s.tokens[a].start:s.tokens[b].end]


def compare(s, i, _):
    for new in COMPARE.get(s.tok(i), ()):
        yield [(*span(s, i, i), new)]


def sign(s, i, _):
    binary = s.tokens[i - 1].kind in ("word", "number") and s.tok(i - 1) != "return" or s.tok(i - 1) in (")", "]")
    if binary and s.tok(i) in SIGNS:
        yield [(*span(s, i, i), SIGNS[s.tok(i)])]


def andor(s, i, _):
    if s.tok(i) in ("&&", "||"):
        yield [(*span(s, i, i), "||" if s.tok(i) == "&&" else "&&")]


def condition(s, i, _):
    """One side of && or || is dropped."""
    if s.tok(i) in ("&&", "||"):
        a, b = bounds(s, i, ("||", "&&") if s.tok(i) == "&&" else ("||",))
        yield [(s.tokens[a].start, s.tokens[i + 1].start, "")]
        yield [(s.tokens[i - 1].end, s.tokens[b].end, "")]


def negate(s, i, _):
    if s.tok(i) in ("if", "while") and s.tok(i + 1) == "(":
        a, b = i + 2, s.match[i + 1] - 1
    elif s.tok(i) == "?":
        a, b = bounds(s, i)[0], i - 1
    else:
        return
    yield [(*span(s, a, b), f"!({code(s, a, b)})")]


def is_label(s, colon):
    """Is this colon that of a label, not of ?:"""
    a = colon - 1
    while s.tok(a) not in (";", "{", "}", "?"):
        a -= 1
    return s.tok(a) != "?" and (s.tok(a + 1) in ("case", "default") or a + 2 == colon)


def statement_end(s, i):
    """The semicolon of the statement that begins at token i; None: nothing that can be dropped begins there."""
    before, around = s.tok(i - 1), s.around[i]
    if around is None or s.tok(around) != "{" or not (before in (";", "{", "}", "else", "do") or (before == ":" and is_label(s, i - 1)) or before == ")" and
                                                     s.tok(s.match[i - 1] - 1) in ("if", "for", "while", "switch")):
        return None
    word = s.tok(i) in ("break", "continue", "return")
    if s.tok(i) in TYPES or (s.tok(i) in KEYWORDS and not word) or s.tok(i) in (";", "{", "}"):
        return None
    if not word and s.tokens[i].kind == "word" and (s.tokens[i + 1].kind == "word" or s.tok(i + 1) in ("*", ":")):
        return None # a declaration, or a label
    while s.tok(i) != ";":
        if s.tok(i) in ENDS - {",", "?", ":"}:
            return None
        i = s.match[i] + 1 if s.tok(i) in ("(", "[", "{") else i + 1
    return i


def dropped(s, i):
    """The kind of statement that token i begins, and where it ends."""
    end = statement_end(s, i)
    if end is None:
        return None, None
    if s.tok(i) in ("break", "continue", "return"):
        return ("leave" if s.tok(end + 1) != "}" or s.around[s.around[i]] is not None else None), end
    name = i + 3 if s.tok(i) == "(" and s.tok(i + 1) == "void" else i
    while s.tok(name + 1) in ("->", "."): # a function that a member points to
        name += 2
    if s.tok(name + 1) == "(" and s.match[name + 1] == end - 1:
        return ("release" if RELEASES.fullmatch(s.tok(name)) else "reset" if s.tok(name) == "memset" else "call"), end
    if s.tok(end - 2) == "=" and s.tok(end - 1) in NOTHING:
        return "reset", end
    return "assign", end


def drop(kind):
    def operator(s, i, _):
        what, end = dropped(s, i)
        if what == kind:
            yield [(*span(s, i, end), ";")]
    return operator


def in_either_order(s, i):
    """Is the call the same with its first two arguments swapped? A product is, the greater of two, and what is equal or not."""
    equal = s.tok(i - 1) == "!" or s.tok(s.match[i + 1] + 1) in ("==", "!=")
    return s.tok(i) in ("calloc", "xcalloc", "fmax", "fmin", "greater", "lesser") or s.tok(i) in ("strcmp", "strncmp", "strcasecmp", "memcmp") and equal


def arguments(s, i, _):
    if s.tokens[i].kind != "word" or s.tok(i + 1) != "(" or s.tok(i) in KEYWORDS or i + 1 not in s.match:
        return
    parts, a, end = [], i + 2, s.match[i + 1]
    for j in range(i + 2, end + 1):
        if j == end or (s.tok(j) == "," and s.around[j] == i + 1):
            if a < j:
                parts.append((a, j - 1))
            a = j + 1
    for n, first in enumerate(parts):
        for second in parts[n + 1:]:
            x, y = code(s, *first), code(s, *second)
            if x != y and not (x + y).count('"') and not (parts[:2] == [first, second] and in_either_order(s, i)):
                yield [(*span(s, *first), y), (*span(s, *second), x)]


def field(s, i, others):
    """Another member of the same type; the compiler refuses those of other structs."""
    if s.tok(i - 1) in (".", "->") or s.tok(i - 1) == "(" and s.tok(i - 2) == "COL":
        for new in others.get(s.tok(i), ()):
            yield [(*span(s, i, i), new)]


def constant(s, i, _):
    t = s.tokens[i]
    if t.text in ("true", "false"):
        yield [(t.start, t.end, "false" if t.text == "true" else "true")]
    m = re.fullmatch(r"(0[xX](?=[0-9a-fA-F]))?((?<=[xX])[0-9a-fA-F]+|\d+)([uUlL]*)", t.text) if t.kind == "number" else None
    size = s.tok(i - 1) == "[" and s.tok(i + 1) == "]" and (s.tokens[i - 3].kind == "word" or s.tok(i - 3) in ("*", ",")) and s.tok(i - 3) != "return"
    if not m or size:
        return
    n, form = int(m.group(2), 16 if m.group(1) else 10), "%#x" if m.group(1) else "%d"
    # By one is nothing to a second in nanoseconds.
    for new in (n + 1, n - 1) if 0 < n < 1000 else (1,) if n == 0 else (n * 2, n // 2):
        yield [(t.start, t.end, form % new + m.group(3))]


def result(s, i, _):
    if s.tok(i) == "return" and s.tok(i + 1) != ";":
        end = i + 1
        while s.tok(end) != ";":
            end = s.match[end] + 1 if s.tok(end) in ("(", "[", "{") else end + 1
        value = code(s, i + 1, end - 1)
        if value not in NOTHING:
            yield [(*span(s, i + 1, end - 1), "NULL" if value.startswith("&") else "0")]
        if value not in ("true", "false"):
            yield [(*span(s, i + 1, end - 1), f"!({value})")]


def row(s, i, _):
    """A row of a table is dropped, unless it ends the table."""
    end = s.match.get(i + 1 if s.tok(i + 1) == "(" else i)
    if s.tok(i - 1) in ("{", ",") and end and end > i and s.tok(end + 1) == "," and s.tok(i) != "(" and end - i > 2:
        yield [(s.tokens[i].start, s.tokens[end + 1].end, "")]


# How often each is drawn where several fit a line. A release that is left out shows in no output, so it is rarely drawn.
FUNCTION = [("compare", compare, 1), ("sign", sign, .5), ("and-or", andor, 1), ("condition", condition, 1), ("negate", negate, 1),
            ("assign", drop("assign"), 1), ("call", drop("call"), 1), ("leave", drop("leave"), 1), ("reset", drop("reset"), 1),
            ("release", drop("release"), .2), ("arguments", arguments, 1), ("field", field, 1), ("constant", constant, .7), ("result", result, 1)]
TABLE = [("constant", constant, 1), ("field", field, 1), ("sign", sign, .5), ("row", row, .3)]
