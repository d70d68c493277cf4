"""Draws the median of each run of gpq bench with its 95 % interval, by setting and time.

    gpq bench report --csv --table runs *.ndjson | python3 bench-runs.py >runs.svg
"""
import sys

import matplotlib
import pandas

matplotlib.use("svg")
matplotlib.rcParams["svg.fonttype"] = "none"  # texts stay texts
from matplotlib import pyplot  # noqa: E402

runs = pandas.read_csv(sys.stdin)
runs["place"] = runs.groupby("setting", sort=False).ngroup() + 0.05 * runs.groupby("setting").cumcount()
for metric, of in runs.groupby("metric", sort=False):
    reach = [(of.p50_ns - of.p50_low_ns) / 1e6, (of.p50_high_ns - of.p50_ns) / 1e6]  # unknown ends are not drawn
    pyplot.errorbar(of.place, of.p50_ns / 1e6, reach, fmt="o", label=metric)
pyplot.xticks(runs.groupby("setting", sort=False).place.first(), runs.setting.unique(), rotation=20)
pyplot.ylabel("median, ms")
pyplot.ylim(bottom=0)
pyplot.legend()
pyplot.savefig(sys.stdout.buffer, bbox_inches="tight")
