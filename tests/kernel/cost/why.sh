# What a profile takes of a processor: less than 3 %, however many queues there are, and it still looks.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

load gfx942
target -q -n 16
GOT=$(gpq why -p $P --profile 2s -rno CPU_TIME,OVER,OF | sort -u)
ok "a profile of 16 queues: ns of processor time, of time, looks: $GOT" \
	sh -c "echo '$GOT' | awk '{ found = \$1 > 0 && \$1 * 100 < \$2 * 3 && \$3 > 20 } END { exit !found || NR != 1 }'"
reap $P
unload
kernel_is_content
finish
