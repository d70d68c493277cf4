# gpq queues against a real HIP program: streams of three priorities, threads, processes [kernel.hip-own-queue],
# [kernel.hip-shared-rings], [kernel.hip-types].
# shellcheck shell=dash disable=SC1091,SC2012,SC2086
. /t/lib.sh
. /t/hip/hip.inc

load_hip
hip_start q -s 8 -P -T 4 -n 800 -k k -H 300
hip_done q
is "every queue of the process is listed" "$(gpq queues -p $P -r -n -o QID | tr '\n' ' ')" \
	"$(ls $KFD/proc/$P/queues | sort -n | tr '\n' ' ')"
is "under its name" "$(gpq queues -p $P -r -n -o COMMAND | sort -u)" hipq
rings $P > /tmp/rings
ok "the debug interface knows as many" test "$(wc -l < /tmp/rings)" -eq "$(ls $KFD/proc/$P/queues | wc -l)"
gpq queues -p $P -r -n -o QID,RING_ADDR > /tmp/listed
bad=$(awk 'NR == FNR { ring[$1] = $2; next } $2 != "-" && $2 != ring[$1] { print "queue " $1 ": got " $2 ", wanted " ring[$1] }' /tmp/rings /tmp/listed)
empty "each ring address that gpq tells is the queue's" "$bad"
ok "and it tells at least one" grep -q 0x /tmp/listed
# The runtime keeps one queue for itself; streams of one priority share up to four.
# Linux 7.0 and later write the level of a priority alone.
case $(uname -r) in
6.*) column=PRIO ;;
*) column=LEVEL ;;
esac
ok "streams of three priorities have queues of three priorities ($column)" \
	test "$(gpq queues -p $P -r -n -o $column | grep -v - | sort -u | wc -l)" -ge 3
hip_end q
within 20 test ! -d $KFD/proc/$P
empty "nothing is listed after its end" "$(gpq queues -r -n)"
unload
kernel_is_content
finish
