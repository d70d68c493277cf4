# gpq packets and gpq why against a real HIP program: kernels by name, grids and counts are those of its own record.
# shellcheck shell=dash disable=SC1091,SC2012,SC2086
. /t/lib.sh
. /t/hip/hip.inc

load_hip
hip_start q -s 8 -P -T 4 -n 2000 -p rand -k k -k vector_add -k saxpy_kernel -w 20 -e 20 -u 15000 -H 300

# The GPU stands still: the kernel that stood at a head before has all of a profile's time. A barrier's time may be that of the kernel
# before it.
RATE=/sys/module/amdgpu/parameters/packet_rate
echo 0 > $RATE
within 60 sh -c "gpq packets -p $P --around 0 --filter 'STATE == \"next\" && TYPE == \"dispatch\"' -rno QID,TYPE,KERNEL > /tmp/heads && [ -s /tmp/heads ]"
gpq why -p $P --profile 300ms --perfetto /tmp/heads.json -rno QID,PACKET,KERNEL,SHARE > /tmp/shares
empty "a profile of heads that stand still" "$([ -s /tmp/heads ] || echo none; sed 's/$/ 1/' /tmp/heads | grep -vxFf /tmp/shares)"
if [ -e /usr/bin/python3 ]; then empty "its timeline, by the rules" "$(python3 /t/check-traceevents /tmp/heads.json)"; fi
echo 1000000 > $RATE
gpq why -p $P --profile 500ms -J > /tmp/profile

# While it runs, nothing is said to be stuck for good.
n=0 bad=0
while [ ! -e /tmp/q.truth ] && [ $n -lt 40 ] && ! dead $P; do
	gpq why -p $P --over 20ms -rno PID,QID,STATE,DETAIL > /tmp/why 2> /tmp/why.err
	case $? in
	0 | 3) ;;
	*) bad=$((bad + 1)) && note "$(cat /tmp/why /tmp/why.err)" ;;
	esac
	n=$((n + 1))
done
is "no queue is called stuck in $n looks at a program that goes on" $bad 0
hip_done q
is "a profile of the program as it goes on: looks of each queue add up" "$(gpq why -p $P --profile 300ms -rno QID,SAMPLES,OF | awk '{ n[$1] += $2; of = $3 } END { for (q in n) bad += n[q] != of; print bad + 0 }')" 0
sed -n 's/.*"kernel": "\([^"]*\)".*/\1/p' /tmp/profile | grep -v ^__amd | sort -u > /tmp/got
sed -n 's/^kernel [0-9]* launches [0-9]* name \(.*\)/\1/p' /tmp/q.truth | sort > /tmp/wanted
empty "no other kernels than its own are seen" "$(comm -23 /tmp/got /tmp/wanted)"

# Kernels of the runtime's own, for copies, have names that begin with __amd, or, where no code object has them, none.
# The GPU frees a slot by its header; the rest of a dispatch stays until the slot is used again.
gpq packets -p $P --around 65536 -rno QID,STATE,TYPE,KERNEL,GRID,WORKGROUP > /tmp/packets
ok "every queue's ring is read" test $? -eq 0
is "kernels by name, as often as the program launched them" \
	"$(awk '$3 == "dispatch" && $4 !~ /^(__amd|-)/ { n[$4]++ } END { for (k in n) print k, n[k] }' /tmp/packets | sort)" \
	"$(sed -n 's/^kernel [0-9]* launches \([0-9]*\) name \(.*\)/\2 \1/p' /tmp/q.truth | grep -v ' 0$' | sort)"
sed -n 's/^kernel \([0-9]*\) launches [0-9]* name \(.*\)/\1 \2/p' /tmp/q.truth > /tmp/names
awk '$3 == "dispatch" && $4 !~ /^(__amd|-)/ { print $4, $5, $6 }' /tmp/packets | sort > /tmp/got
awk 'NR == FNR { name[$1] = $2; next } !/^#/ { print name[$3], $4 "x" $5 "x" $6, $7 "x" $8 "x" $9 }' /tmp/names /tmp/q.seq | sort > /tmp/wanted
is "each with its grid and workgroup" "$(diff /tmp/wanted /tmp/got | head -n 5; wc -l < /tmp/got)" 2000
is "all is taken" "$(awk '{ print $2 }' /tmp/packets | sort -u)" taken
empty "and nothing runs" "$(gpq why -p $P -rno STATE | grep -v '^idle')"
is "names are the same for its user as for programs" "$(gpq packets -p $P --around 65536 --ndjson --filter 'KERNEL == "vector_add"' -o KERNEL | sort -u)" \
	'{"record":"packet","kernel":"vector_add"}'
hip_end q
within 20 test ! -d $KFD/proc/$P

# Three packets in four are of one kernel, and the GPU takes as long for each: of n looks 3/4 n are at it, four standard deviations
# of chance more or less.
echo 200 > $RATE
hip_start r -s 1 -n 6000 -k k -k k -k k -k vector_add -H 300
: > /tmp/shares
for _ in 1 2 3 4 5 6; do # however few looks this machine has time for
	gpq why -p $P --profile 4s -rno KERNEL,SAMPLES >> /tmp/shares
	LOOKS=$(awk '$1 == "k" { k += $2 } $1 == "k" || $1 == "vector_add" { n += $2 } END { print k + 0, n + 0 }' /tmp/shares)
	[ "${LOOKS#* }" -lt 50 ] || break
done
ok "looks at a kernel with 3/4 of the packets, of all looks: $LOOKS" \
	awk -v looks="$LOOKS" 'BEGIN { split(looks, l); off = l[1] - 0.75 * l[2]; exit !(l[2] >= 50 && off * off <= 16 * 0.1875 * l[2]) }'
echo 1000000 > $RATE
hip_done r
note "$(sed -n 's/^kernel [0-9]* launches/launches/p' /tmp/r.truth)"
hip_end r
within 20 test ! -d $KFD/proc/$P
unload
kernel_is_content
finish
