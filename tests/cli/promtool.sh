#!/bin/bash
# --openmetrics by Prometheus's own reader, which is of its text format, and the rules of man/examples/prometheus. It takes a minute,
# and promtool, which few have (Debian, Ubuntu: the package prometheus): make check-deep STEPS=metrics.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
command -v promtool >/dev/null || skip_all "promtool is not installed (package prometheus)"
cd "$work" || exit

# shellcheck disable=SC2317 # ok calls it
takes() { [ -s all ] && promtool check metrics <all; } # the file `all`, which is not empty
# What a listing says is appended to `all` without its end: together they are one exposition, in which no name may be there twice.
listing() { gpq "$@" -q --openmetrics 2>/dev/null | sed '/^# EOF$/d' >>all; }

for host in "$top"/tests/hosts/*; do
	: >all
	for l in gpus "gpus --check" ps queues "queues --summary" why packets hqd "hqd --summary" "hqd --runlist" "hqd --regs" "hqd --raw-regs" "hqd --fields"; do
		# shellcheck disable=SC2086 # several words
		listing $l --sysroot "$host" || true
	done
	[ "${host##*/}" = nogpu-k6.12 ] || ok "${host##*/}: promtool takes all listings together" takes
	for l in "queues --output-all" "queues -a --context" "hqd -a --sdma --hiq --output-all" "hqd --mqd" "why --over 60ms" "ps --sort -PID"; do
		: >all
		# shellcheck disable=SC2086
		listing $l --sysroot "$host" || true
		[ ! -s all ] || ok "${host##*/}: $l" takes
	done
done
data=$top/tests/data
for args in "trace $data/amdlog/cnn.log" "trace $data/amdlog/rocm70.log" "trace --gaps $data/amdlog/rocm70.log" "trace --series 1ms $data/amdlog/rocm70.log" \
	"trace --by stream $data/amdlog/rocm70.log" "trace --by api $data/amdlog/rocm70.log" "trace --latency $data/amdlog/rocm70.log" \
	"trace --compare $data/amdlog/cnn.log $data/amdlog/transformer.log" "trace --ftrace $data/ftrace/kprobe-6.12.trace" \
	"trace --ftrace $data/ftrace/kprobe-6.12.trace --breakdown all" "bench report $data/bench/plain.ndjson" "bench report $data/bench/ab.ndjson" \
	"bench report --compare $data/bench/old.ndjson $data/bench/new.ndjson" "merge $data/bench/plain.ndjson" \
	"snapshot --diff -a $top/tests/hosts/vm-gfx90a-running $top/tests/hosts/vm-gfx90a-suspended" \
	"snapshot --compare $top/tests/hosts/vm-gfx90a-running $top/tests/hosts/vm-gfx90a-suspended"; do
	: >all
	# shellcheck disable=SC2086
	listing $args || true
	ok "${args//$top\/tests\//}" takes
done

cd "$top/man/examples/prometheus" || exit
rig ok "rules: promtool takes them" promtool check rules gpq-alerts.yml
rig ok "rules: each alerts when it should" promtool test rules gpq-alerts-test.yml
finish
