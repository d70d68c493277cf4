#!/usr/bin/env python3
"""Layout of declarations: no blank line behind those that open a block.

layout.py FILE...        names the places; status 1 when there are any
layout.py --fix FILE...  takes the blank lines away
"""
import re
import sys

DECLARATION = re.compile(
    r"(?!(?:return|goto|else|case|break|continue|do|typedef)\b)"
    r"(?:[A-Za-z_]\w*(?:\([^()]*\))?\s+)+\**\s*\(?\**[A-Za-z_]\w*\)?\s*(?:\[[^;]*?\])*\s*(?:=|;|,|:|\(\w|\()|\}"
)
CALL = re.compile(r"[A-Za-z_]\w*\(")


def is_declaration(line):
    return bool(DECLARATION.match(line)) and not CALL.match(line)


def blank_lines(lines):
    """Indices of blank lines behind the declarations that open a block."""
    for i, line in enumerate(lines):
        if not re.match(r"(\t+(.*(\)|\belse|\bdo) )?)?\{$", line):
            continue
        indent = re.match(r"\t*", line).group() + "\t"
        j = i + 1
        while j < len(lines) and lines[j].strip():
            body = lines[j]
            own = body.startswith(indent) and not body[len(indent)].isspace()
            if own and not body.strip().startswith("//") and not is_declaration(body.strip()):
                break
            if not body.startswith(indent):
                break
            j += 1
        else:
            if j > i + 1 and j < len(lines) and any(is_declaration(s.strip()) for s in lines[i + 1 : j]):
                yield j


def main():
    fix = sys.argv[1:2] == ["--fix"]
    bad = 0
    for name in sys.argv[2 if fix else 1 :]:
        with open(name, encoding="utf-8") as f:
            lines = f.read().split("\n")
        found = list(blank_lines(lines))
        bad += len(found)
        if fix and found:
            drop = set(found)
            with open(name, "w", encoding="utf-8") as f:
                f.write("\n".join(s for i, s in enumerate(lines) if i not in drop))
        elif not fix:
            for i in found:
                print(f"{name}:{i + 1}: blank line behind declarations")
    return 1 if bad and not fix else 0


sys.exit(main())
