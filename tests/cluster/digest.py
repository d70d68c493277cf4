#!/usr/bin/env python3
"""Ranges of a log, read by the workers of a Dask cluster: digest.py SCHEDULER-FILE LOG RANGE FOLDER [kill]

Writes the parts that the tasks returned to standard output. Each task also leaves its part in FOLDER, as one that runs twice does.
With "kill", one of the two workers is killed when the first part is there: its tasks run again on the other.
"""
import os
import signal
import subprocess
import sys
import uuid

from distributed import Client, as_completed


def part(log, at, length, folder):
    """Returns the part of the log that begins at a byte."""
    command = ["gpq", "trace", "--partial", "--range", f"{at}:{length}", log]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    with open(os.path.join(folder, str(uuid.uuid4())), "w", encoding="utf-8") as f:
        f.write(line)
    return line


def main():
    scheduler, log, length, folder = sys.argv[1:5]
    with Client(scheduler_file=scheduler, timeout=60) as client:
        client.wait_for_workers(2, timeout=60)
        pids = client.run(os.getpid)
        starts = range(0, os.path.getsize(log), int(length))
        futures = client.map(part, [log] * len(starts), starts, length=int(length), folder=folder, pure=False)
        if "kill" in sys.argv[5:]:
            next(iter(as_completed(futures)))
            os.kill(min(pids.values()), signal.SIGKILL)
        sys.stdout.writelines(client.gather(futures))


if __name__ == "__main__":
    main()
