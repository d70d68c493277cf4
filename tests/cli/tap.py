"""TAP for tests in Python, as tap.inc for those in shell: ok(), same(), and finish() at the end."""
import os
import sys

tests = int(os.environ.get("TAP_FROM", 0))
failed = 0


def ok(good, name, detail=""):
    global tests, failed
    tests += 1
    print(f"{'ok' if good else 'not ok'} {tests} - {name}")
    if not good:
        failed += 1
        print("\n".join("# " + line[:600] for line in str(detail).split("\n")[:20]))


def same(name, got, wanted):
    """Two empty texts fail: where nothing is meant, ok() says so."""
    ok(got == wanted and got != "", name, f"wanted {wanted!r}\ngot    {got!r}")


def finish():
    print(f"1..{tests}")
    sys.exit(failed > 0)
