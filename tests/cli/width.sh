#!/bin/bash
# Tables fit a terminal of 80 columns on every recorded host, by columns left out and texts cut; rows never depend on the
# terminal, and nothing does that is not a table. One process of Python runs all on pseudo-terminals and prints TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
command -v python3 >/dev/null || skip_all "no python3"
export NO_COLOR=1 TERM=xterm
PYTHONPATH=$top/tests/cli PYTHONDONTWRITEBYTECODE=1 python3 - "$top/tests/hosts" <<'EOF'
import fcntl, glob, os, struct, subprocess, sys, termios

from tap import finish, ok, same

hosts = sys.argv[1]
said = False  # gpq has said something

def on(columns, *args):
    """Standard output of gpq on a terminal of so many columns, and standard error."""
    global said
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen(["gpq", *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE)
    os.close(slave)
    out = b""
    try:
        while piece := os.read(master, 65536):
            out += piece
    except OSError:
        pass
    os.close(master)
    said = said or bool(out)
    return out.decode().replace("\r\n", "\n"), p.communicate()[1].decode()

def plain(*args):
    return subprocess.run(["gpq", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout

def heading(columns, host, *args):
    return " ".join(on(columns, "--sysroot", f"{hosts}/{host}", *args)[0].split("\n")[0].split())

def is_part(few, many):
    many = iter(many)
    return all(word in many for word in few)

def unfit(host, form):
    """What is wrong with this form of output, if anything."""
    args = ["--sysroot", host, *form.split()]
    piped, narrow = plain(*args), on(80, *args)[0]
    if max(map(len, narrow.split("\n"))) > 80:
        return "wider than 80"
    if narrow.count("\n") != piped.count("\n"):
        return "other rows"
    if form in ("queues", "hqd") and not all(
            is_part(few.split(), many.split()) for few, many in zip(narrow.split("\n"), piped.split("\n"))):
        return "other cells"

wrong = []
for host in sorted(glob.glob(hosts + "/*/")):
    for form in "queues", "hqd", "hqd -A", "hqd --summary", "hqd --runlist", "gpus":
        if what := unfit(host, form):
            wrong.append((host, form, what))
ok(said and not wrong, "every table fits 80 columns, on every host", wrong)

one, four = "gfx90a-k6.12", "gfx942-4xcc-k6.12"
every = "PID NSPID COMMAND USER PROCESS CONTAINER GPU BDF QID TYPE RING PRIO STATE BACKLOG EVICTED CUS VRAM"
least = "PID COMMAND CONTAINER GPU QID TYPE RING PRIO STATE BACKLOG"
same("what remains of queues", heading(80, four, "queues"), least)
same("the rightmost go first: NSPID stays where there is room", heading(80, one, "queues"), least.replace("PID", "PID NSPID"))
same("at 102 columns there is room for all but the last three", heading(102, one, "queues"), every.removesuffix(" EVICTED CUS VRAM"))
same("at 101 PCI addresses go as well", heading(101, one, "queues"), every.removesuffix(" EVICTED CUS VRAM").replace("BDF ", ""))
same("at 84 columns NSPID goes before a command name is cut", heading(84, four, "queues"), least)
same("all of them on a wide terminal", heading(125, one, "queues"), every)
same("what remains of hqd", heading(80, four, "hqd"), "GPU TYPE XCC MEC PIPE QUEUE ACTIVE PID COMMAND QID RING PRIO ERROR")
same("-v names what is left out", on(80, "--sysroot", f"{hosts}/{four}", "queues", "-v")[1],
     "gpq: queues: left out, for want of room on the terminal: VRAM, CUS, EVICTED, BDF, PROCESS, USER, NSPID\n")
same("what -o names is shown", heading(20, four, "queues", "-o", "PID,VRAM,BDF"), "PID VRAM BDF")
same("also when it is added", heading(80, four, "queues", "-o", "+VRAM"), least + " VRAM")
same("all with --output-all", heading(80, four, "queues", "--output-all"), " ".join(plain("queues", "--list-columns", "-rno", "COLUMN").split()))

texts = "queues", "-no", "COMMAND,GPU,BDF,QID,STATE"  # pt_main_thread 63420 0000:0a:00.0 QID off-hardware: 50 columns
for columns, text in (50, "pt_main_thread"), (49, "pt_main_threa"), (48, "pt_main_thre"), (30, "pt_main_thre"):
    same(f"{columns} columns: {text}", on(columns, "--sysroot", f"{hosts}/{four}", *texts)[0].split()[0], text)
same("a number of 12 digits is never cut", on(15, "--sysroot", f"{hosts}/{one}", "queues", "-no", "CONTAINER,GPU")[0].split()[:2],
     ["116f54c41d04", "41460"])
for form in "-r", "-P", "-J", "--ndjson":
    args = "--sysroot", f"{hosts}/{four}", "hqd", form
    same(f"{form} on a terminal has all that it has in a file", on(40, *args)[0], plain(*args))
finish()
EOF
