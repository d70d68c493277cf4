#!/usr/bin/env python3
"""The summary of a log as an experiment's script makes it: dispatches and barriers of each queue, launches of each kernel.

A peer for tests/bench/trace, in the way such scripts are written: a line at a time, regular expressions, dictionaries.
"""
import collections
import re
import sys

HWQ = re.compile(r"HWq=(0x[0-9a-f]+)")
NAME = re.compile(r"ShaderName : (.*)")


def main():
    queues = collections.defaultdict(lambda: [0, 0])
    kernels = collections.Counter()
    with open(sys.argv[1], errors="replace") as log:
        for line in log:
            if "HWq=" in line:
                found = HWQ.search(line)
                if "Dispatch Header" in line:
                    queues[found[1]][0] += 1
                elif "Barrier" in line:
                    queues[found[1]][1] += 1
            elif "ShaderName" in line:
                kernels[NAME.search(line)[1]] += 1
    for queue, (dispatches, barriers) in queues.items():
        print(queue, dispatches, barriers)
    for name, launches in kernels.most_common(20):
        print(launches, name)


main()
