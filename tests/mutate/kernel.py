"""The scripts of tests/kernel/gpq in a VM with a faulty gpq, and which lines each executes: what `make check` did not find is tried there."""
import glob
import gzip
import hashlib
import os
import re
import shutil
import subprocess

from probe import HERE, Blocks
from tree import TOP, WORK, Tree

FAILED = re.compile(r"not ok \d+ - \S+ (gpq/\S+\.sh): (.*)")
ENDED = re.compile(r"# (gpq/\S+\.sh): (\d+) s,")
PROGRAMS = {"gpq": "build/plain/gpq", "gpq-testing": "build/testing/gpq"}


def scripts():
    return sorted(os.path.relpath(f, TOP) for f in glob.glob(os.path.join(TOP, "tests/kernel/gpq/*.sh")))


def own(script):
    digest = hashlib.sha1()
    for f in [script, *sorted(glob.glob("tests/kernel/gpq/*.inc", root_dir=TOP)), "tests/kernel/lib.sh"]:
        with open(os.path.join(TOP, f), "rb") as g:
            digest.update(g.read())
    return digest.hexdigest()


def build(tree, jobs=1):
    """False: gpq or the variant with switches for tests does not compile."""
    testing = [f for f in tree.flags if not f.startswith("VARIANT=")] + ["VARIANT=testing", "CPPFLAGS=-DGPQ_TESTING"]
    made = subprocess.run(["make", "-s", f"-j{jobs}", "-C", tree.path, *testing, "all"], stdin=subprocess.DEVNULL, capture_output=True)
    return made.returncode == 0 and tree.make("all", jobs=jobs).returncode == 0


class Rig:
    """Runs scripts on the kernel of a series."""

    def __init__(self, series):
        self.series = series

    def run(self, tree, names, seconds, **more):
        """({script: what is wrong}, {script: how long it took}); the first failure ends a VM. Nothing of it outlives this call."""
        scratch = tree.path + ".vm"
        os.makedirs(scratch, exist_ok=True)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS")) and k != "CC"}
        env.update({"KERNEL": self.series, "POOL": "1", "TMPDIR": scratch, "LOGS": scratch, "GPQ": tree.at(PROGRAMS["gpq"]),
                    "GPQ_TESTING": tree.at(PROGRAMS["gpq-testing"]), "SCRIPT_SECONDS": str(seconds), **more})
        command = ["unshare", "--fork", "--pid", "--kill-child", "--mount-proc", os.path.join(TOP, "tests/kernel/check"),
                   *[n.removeprefix("tests/kernel/") for n in names]]
        out = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace").stdout
        shutil.rmtree(scratch)
        wrong = {f"tests/kernel/{s}": text for s, text in reversed(FAILED.findall(out))}
        if not wrong and not re.search(r"^\d+ passed, 0 failed", out, re.M):
            wrong = {names[0]: "the VM did not come to its end"}
        return wrong, {f"tests/kernel/{s}": int(t) for s, t in ENDED.findall(out)}

    def probe(self, todo, jobs, functions):
        """As probe.probe(): {script: time and lines}. Scripts that fail with the slow build of the probe are named."""
        tree = Tree("probe", f"-O0 -g -fsanitize-coverage=trace-pc -include {HERE}/probe.h", "-w")
        tree.sync()
        if not build(tree, jobs):
            raise SystemExit(f"{tree.path} does not build")
        maps = os.path.join(WORK, "maps-kernel")
        shutil.rmtree(maps, ignore_errors=True)
        os.makedirs(maps)
        _, times = self.run(tree, todo, 900, PROBE=maps, POOL=str(jobs), STOP="")
        blocks, results = {p: Blocks(tree.at(path)) for p, path in PROGRAMS.items()}, {}
        for script in todo:
            lines = set()
            for p in PROGRAMS:
                path = os.path.join(maps, f"{os.path.basename(script)}.{p}.gz")
                if os.path.exists(path):
                    with gzip.open(path) as f:
                        lines.update(blocks[p].executed(f.read()))
            results[script] = {"time": times.get(script, 60), "lines": functions.pack(lines)}
        return results, functions.pack({l for b in blocks.values() for ls in b.lines.values() for l in ls})

    def first_failure(self, tree, names, times):
        """(script, what is wrong) of a script that fails twice; None, None: all pass. A busy host can make one fail."""
        while names:
            wrong, _ = self.run(tree, names, 3 * max(times(n) for n in names) + 60, STOP="1")
            if not wrong:
                break
            script = next(iter(wrong))
            again, _ = self.run(tree, [script], 3 * times(script) + 60, STOP="1")
            if again:
                return script, again.get(script, wrong[script])
            names = [n for n in names if n != script]
        return None, None
