# gpq trace on the log that the real runtime writes, against the program's own count and the GPU's [kernel.hip-ring].
# shellcheck shell=dash disable=SC1091,SC2012,SC2086
. /t/lib.sh
. /t/hip/hip.inc

load_hip
LEVEL=4 hip_start l -s 4 -P -n 2000 -p rand -k k -k vector_add -k saxpy_kernel -H 300
hip_done l
rings $P > /tmp/rings
launches=$(sed -n 's/^total_launches //p' /tmp/l.truth)
is "the program made its launches" "$launches" 2000
is "gpq trace counts them" "$(gpq trace -r -n --by kernel -o NAME,LAUNCHES /tmp/l.log | sort)" \
	"$(sed -n 's/^kernel [0-9]* launches \([0-9]*\) name \(.*\)/\2 \1/p' /tmp/l.truth | sort)"
gpq trace -r -n --by queue -o HWQ,DISPATCHES /tmp/l.log | sort > /tmp/hwq
ok "it finds hardware queues" test -s /tmp/hwq
while read -r ring n; do
	ok "$ring is the ring of a KFD queue" grep -q " $ring\$" /tmp/rings
	is "$ring: as many dispatches as the GPU completed" "$n" "$(dispatches $ring)"
done < /tmp/hwq
hip_end l
unload
kernel_is_content
finish
