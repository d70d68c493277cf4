"""Arrivals of online work, made up, for `gpq sched --replay`: lines as --log-decisions writes them. Work on GPU 1 holds what
class `offline` has there; a hold takes 4 ms.

    gpq-arrivals.py LOAD [SECONDS [SEED]]

steady  requests come at random, 20 a second, and take 10 ms on average
bursts  the same 60 times a second for 2 s, then nothing for 8 s
chat    answers of seconds, as of a language model: in the shape that traces of such services have been published with,
        gaps vary twice as much as at random, lengths are log-normal (median 2 s), and up to 8 are generated together
night   a request of 50 ms in 10 s
deadline  small batches come at random, one a second, and are served one after the other, each for 300 to 900 ms; from when
        it came each has 4 s
"""

import json
import random
import sys

SECOND = 1_000_000_000
HOLD = 4_000_000


def gaps(load, at, r):
    """Seconds until the next request."""
    if load == "steady":
        return r.expovariate(20)
    if load == "bursts":
        gap = r.expovariate(60)
        return gap if (at + gap) % 10 < 2 else 10 - at % 10 + gap
    if load == "chat":
        return r.gammavariate(0.25, 8)  # 2 s on average, with a coefficient of variation of 2
    return r.expovariate(1 if load == "deadline" else 0.1)


def lengths(load, r):
    """Seconds that a request takes."""
    if load == "chat":
        return min(r.lognormvariate(0.7, 0.8), 30)
    if load == "deadline":
        return r.uniform(0.3, 0.9)
    return 0.05 if load == "night" else r.expovariate(100)


def requests(load, seconds, r):
    """When each comes, is begun and ends: they are served one after the other, or eight together."""
    places, at = [0.0] * (8 if load == "chat" else 1), 0.0
    while (at := at + gaps(load, at, r)) < seconds:
        free = min(places)
        begin = max(at, free)
        end = begin + lengths(load, r)
        places[places.index(free)] = end
        yield at, begin, end


def busy(served):
    """When there is work, from and to."""
    spans = []
    for _, begin, end in served:
        if spans and begin <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([begin, end])
    return spans


def main(load, seconds=600, seed=1):
    lines = [(0, "class", {"class": "online", "gpus": ""}), (0, "class", {"class": "offline", "gpus": ""}),
             (0, "unit", {"class": "offline", "gpus": "1"}), (0, "done", {"class": "offline", "gpus": "1", "took_ns": HOLD})]

    def say(seconds, what, gpus="1", **more):
        lines.append((seconds, what, {"class": "online", "gpus": gpus} | more))
    served = list(requests(load, seconds, random.Random(seed)))
    for at, begin, end in served:
        if load == "deadline":  # the replay finds out when each is work
            say(end, "request", took_ns=int((end - at) * SECOND), deadline_ns=4 * SECOND)
        else:
            say(end, "request", took_ns=int((end - begin) * SECOND))
    for begin, end in busy(served) if load != "deadline" else []:
        say(begin, "work")
        say(end, "work", "")
    for seconds, what, more in sorted(lines, key=lambda line: line[0]):
        print(json.dumps({"record": "decision", "schema": 1, "ns": SECOND + int(seconds * SECOND), "what": what} | more))


if len(sys.argv) < 2 or sys.argv[1] not in ("steady", "bursts", "chat", "night", "deadline"):
    sys.exit(__doc__)
main(sys.argv[1], *map(int, sys.argv[2:]))
