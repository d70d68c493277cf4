#!/usr/bin/python3
"""Checks documents and lines of gpq against what gpq --json-schema printed; prints TAP.

    schema.py DIR

DIR has schema.WHOSE and schema.WHOSE.lines, N.json and N.lines, a line `N NAME WHOSE COMMAND...` for each in `cases`, and tables,
keys and types of all columns in `columns`.
"""
import json
import os
import re
import sys
from collections import defaultdict
from pathlib import Path

from jsonschema import Draft202012Validator

from tap import finish, ok

# Of living queues: tests/kernel runs these. Here their schemas are checked, and the lines and tables they are made of.
LIVING = {"gpq.core", "gpq.events", "gpq.hang", "gpq.hqd.sample", "gpq.suspend", "gpq.why.waves"}
# Tables with no rows on the recorded hosts.
WITHOUT_ROWS = {"gpq.suspend.list", "gpq.resume"}

here = Path(sys.argv[1])


def forms(schema):
    """name -> the validator of that form, its properties"""
    found = defaultdict(list)
    for form in schema["anyOf"]:
        found[form["title"]].append((Draft202012Validator(form), form["properties"]))
    return found


def problem(forms_of_name, value):
    """Why a value is of none of the forms; None"""
    first = None
    for validator, _ in forms_of_name:
        error = next(validator.iter_errors(value), None)
        if not error:
            return None
        first = first or f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
    return first or "no form of that name"


def load(path):
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    return forms(schema)


def shape(value):
    """What a schema can tell of a value: its type, its sign, whether it is an address."""
    if isinstance(value, dict):
        return tuple((k, shape(v)) for k, v in value.items())
    if isinstance(value, list):
        return tuple(sorted({repr(shape(v)) for v in value}))
    if isinstance(value, str):
        return "hex" if re.fullmatch("0x[0-9a-f]+", value) else "text"
    return type(value), isinstance(value, (int, float)) and value < 0


checked = set()


def is_new(name, key, row):
    before = len(checked)
    checked.add((name, key, shape(row)))
    return len(checked) > before


commands = sorted(p.name[7:-6] for p in here.glob("schema.*.lines"))
documents = {c: load(here / f"schema.{c}") for c in commands}
lines = {c: load(here / f"schema.{c}.lines") for c in commands}
known = set(os.popen("gpq --list").read().split()) | {"columns"}
ok(set(commands) == known, "each command has a valid schema, of documents and of lines", commands)


def untyped(value, path):
    """The members that may be of any type."""
    for key, member in value.get("properties", {}).items() if isinstance(value, dict) else ():
        yield from untyped(member, f"{path}.{key}")
    if isinstance(value, dict) and "items" in value:
        yield from untyped(value["items"], path + "[]")
    if not {"type", "const", "enum", "anyOf"} & set(value) or "items" in value and value.get("type") not in ("array", ["array", "null"]):
        yield path


loose = [path for of in documents.values() for name, forms_of in of.items() for _, members in forms_of
         for key, member in members.items() for path in untyped(member, f"{name}.{key}")]
ok(documents and not loose, "each member has a type, and rows are in an array", loose)
ok(commands and all((here / f"schema.{c}{kind}").read_text().endswith("}\n") for c in commands for kind in ("", ".lines")), "a schema ends with its line")

kinds = [line.split() for line in (here / "columns").read_text().splitlines()]
mute = [k for _, k, t in kinds if t == "bytes" and "bytes" not in k or t == "nanoseconds" and not k.endswith("_ns")]
addresses = {(t, k) for t, k, kind in kinds if kind.startswith("hex")} - {(t, k) for t, k, kind in kinds if kind == "string"}
ok(len(kinds) > 300 and not mute, "bytes and nanoseconds say so in their keys", mute)

told = defaultdict(set)  # name -> keys of its members
rows_of = {}  # (name, key) -> command, document, row
line_of = {}  # name -> command, line
for case in (here / "cases").read_text().splitlines():
    number, name, command, *arguments = case.split(" ")
    title = re.sub(r"/\S*/", "", " ".join(arguments))
    why = None
    try:
        document = json.loads((here / f"{number}.json").read_text())
        if next(iter(document), None) != "schema":
            why = "schema is not the first member"
        if document.get("schema", {}).get("name") == "gpq.error":  # a failure before the first row
            name = "gpq.error"
        told[name] |= document.keys()
        for key, rows in document.items():
            if isinstance(rows, list):  # one row of each shape: the validator takes its time
                document[key] = [row for row in rows if is_new(name, key, row)]
        why = why or problem(documents[command][name], document)
        for line in (here / f"{number}.lines").read_text().splitlines():
            row = json.loads(line)
            if is_new(name, row["record"], row):
                why = why or problem(lines[command][name], row)
                line_of[name] = (command, row)
    except ValueError as e:
        document, why = {}, e
    for key, value in document.items():
        for row in value if isinstance(value, list) else [value]:
            if isinstance(row, dict) and key != "schema":
                rows_of[name, key] = (command, {"schema": document["schema"], key: [row] if isinstance(value, list) else row}, row)
    ok(not why, f"{title}: {name}", why)

# What a schema speaks of is written.
for command in commands:
    for name, of in documents[command].items():
        if name in LIVING:
            continue
        members = set(of[0][1])
        rows = {k for k, v in of[0][1].items() if (v.get("items") or v).get("type") == "object"}
        missing = members - told[name] or {k for k in rows if (name, k) not in rows_of and name not in WITHOUT_ROWS}
        ok(not missing, f"{name} of {command}: all its members were seen, with rows", missing)

# Anything else is refused.
for (name, key), (command, document, row) in rows_of.items():
    passed = []

    def refused(what):
        if not problem(documents[command][name], document):
            passed.append(what)

    for k, v in list(row.items()):
        row[k] = {}
        refused(f"{k}: an object")
        if (key, k) in addresses:
            row[k] = "10"
            refused(f"{k}: digits without 0x")
        row[k] = v
    row["unknown"] = None
    refused("an unknown key")
    del row["unknown"]
    document["unknown"] = None
    refused("an unknown member")
    del document["unknown"]
    document["schema"]["version"] += 1
    refused("another version")
    document["schema"]["version"] -= 1
    schema = document.pop("schema")
    refused("no schema")
    document["schema"] = schema
    ok(not passed and not problem(documents[command][name], document), f"{name}, {key}: altered, it is refused", passed)

passed = []
for name, (command, row) in line_of.items():
    for change in {"record": "unknown"}, {"unknown": None}, {"record": None}:
        if not problem(lines[command][name], {**row, **change}):
            passed.append(f"{name}: {change}")
    if not problem(lines[command][name], {k: v for k, v in row.items() if k != "record"}):
        passed.append(f"{name}: no record")
ok(len(line_of) > 15 and not passed, "altered lines are refused", passed)

finish()
