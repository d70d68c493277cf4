# Draws the median of each run of gpq bench with its 95 % interval, by setting and time.
#
#   gpq bench report --csv --table runs *.ndjson | Rscript bench-runs.R runs.svg
runs <- read.csv(file("stdin"))
setting <- factor(runs$setting, unique(runs$setting))
metric <- factor(runs$metric, unique(runs$metric))
place <- as.integer(setting) + 0.05 * (ave(seq_along(setting), setting, FUN = seq_along) - 1)
ms <- runs[c("p50_low_ns", "p50_ns", "p50_high_ns")] / 1e6

svg(commandArgs(TRUE)[1])
par(mar = c(12, 4, 1, 1))
plot(place, ms$p50_ns, pch = 19, col = metric, xaxt = "n", xlab = "", ylab = "median, ms", ylim = c(0, max(ms, na.rm = TRUE)))
segments(place, ms$p50_low_ns, place, ms$p50_high_ns, col = metric) # none where an end is unknown
axis(1, seq_along(levels(setting)), levels(setting), las = 2)
legend("topright", levels(metric), pch = 19, col = seq_along(levels(metric)))
