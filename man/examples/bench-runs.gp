# Draws the median of each run of gpq bench with its 95 % interval, side by side in the order of the table. In --csv, gnuplot
# would cut settings at their comma.
#
#   gpq bench report -r --table runs *.ndjson | gnuplot bench-runs.gp >runs.svg
set terminal svg size 900, 500 noenhanced
set datafile columnheaders
set ylabel "median, ms"
set yrange [0:*]
set offsets 0.5, 0.5, 0, 0
set rmargin 24
set xtics rotate by -30
ms(name) = column(strcol(name) eq "-" ? "P50" : name) / 1e6 # the median, where an end is unknown
label(i) = strcol("METRIC") . " " . strcol("SETTING") . ", run " . strcol("RUN")
plot "/dev/stdin" using 0:(ms("P50")):(ms("P50_LOW")):(ms("P50_HIGH")):xtic(label(0)) with yerrorbars pointtype 7 notitle
