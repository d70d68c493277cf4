# gpq why and real HIP programs: the kernel that hangs is named, with who waits behind it, whether the GPU's read index moves when a
# kernel is launched or when it ends; and no program that goes on is called stuck, stopped and let go on at random as it may be.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/hip/hip.inc

load_hip

hip_start f -s 6 -P -T 4 -n 100000 -p rand -k k -k vector_add -w 20 -e 20 -y 100 -u 3000 -H 300
n=0 bad=0
while [ $n -lt 200 ] && ! dead $P; do
	case $((n % 4)) in 1) kill -STOP $P ;; 2) kill -CONT $P ;; esac
	gpq why -p $P --over 10ms -rno PID,QID,STATE,DETAIL > /tmp/why 2> /tmp/why.err
	[ $? -ne 7 ] || { bad=$((bad + 1)) && note "$(cat /tmp/why /tmp/why.err)"; }
	n=$((n + 1))
done
kill -CONT $P
is "looks at a program that goes on, but when it is stopped" $n 200
is "of them say that it is stuck" $bad 0
reap $P

export HIPQ_SLEEP=1 # a thread that spins has no stack
for taken in Y N; do
	echo $taken > $PARAMS/hang_taken
	hip_start h$taken -s 1 -n 100 -k vector_add -u 50000 -y 1 -H 300
	within 60 launched
	object > $PARAMS/hang_object
	ok "hang_taken $taken: the kernel that a program synchronizes on hangs" within 60 hangs
	was=$([ $taken = Y ] && echo "was taken" || echo "waits for nothing")
	like "it is named in the first line" "$(gpq why -p $P --demangle | head -n 2 | tr -s '\n ' ' ')" \
		"^pid $P hipq: hung-or-long: queue [0-9]+: kernel vector_add \(packet [0-9]+\) $was, and has not ended in [0-9.]+m?s"
	# By name, where the library has names of its functions. Threads of the runtime itself wait, too, and are not told.
	host=$(gpq why -p $P --stacks --demangle | sed -n '/host:/,/do:/p' | tr -s '\n ' ' ')
	like "the thread that waits for it is told" "$host" \
		", thread $P in ([A-Za-z_:0-9]*(Signal::Wait|hsa_signal_wait|hsa_amd_signal_wait|hsaKmtWaitOn)[A-Za-z_0-9]*|libhsa-runtime64[.a-z0-9]*) at two looks 200ms apart"
	is "and no other" "$(echo "$host" | grep -o 'at two looks' | wc -l)" 1
	status_is "and is stuck after a while" 7 gpq why -p $P --stuck-after 300ms
	echo 0 > $PARAMS/hang_object
	hip_done h$taken
	empty "once it has ended nothing is at work" "$(gpq why -p $P -rno STATE | grep -v '^idle')"
	hip_end h$taken
done
unload
kernel_is_content
finish
