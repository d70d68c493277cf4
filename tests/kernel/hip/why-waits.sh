# gpq why and real HIP programs that wait for a kernel which hangs otherwise than by hipStreamSynchronize: the root is named.
# shellcheck shell=dash disable=SC1091,SC2034,SC2086
. /t/lib.sh
. /t/hip/hip.inc

load_hip
# Of the process.
verdict() { gpq why -p $P --demangle --table processes -rno STATE,WAITING,VERDICT 2> /dev/null | sed 's/\\x20/ /g'; }
hung() { # NAME VERDICT HIPQ-ARGS...
	local name=$1 wanted=$2
	shift 2
	hip_start $name -n 40 -k vector_add -u 50000 -y 1 -H 300 "$@"
	within 60 launched
	object > $PARAMS/hang_object
	[ -z "$MEANWHILE" ] || $MEANWHILE
	within 60 hangs
	like "$name: the root is named" "$(verdict)" "$wanted"
	note "$(gpq why -p $P --demangle 2>&1)"
	echo 0 > $PARAMS/hang_object
	hip_done $name
	hip_end $name
}
echo Y > $PARAMS/hang_taken
ROOT='hung-or-long: queue [0-9]+: kernel vector_add \(packet [0-9]+\) was taken, and has not ended in [0-9.]+m?s'
hung event "^hung-or-long 1 $ROOT; 1 queue waits behind it" -s 2 -w 1
hung copy "^hung-or-long [01] $ROOT" -s 1 -m 1
hung graph "^hung-or-long 0 $ROOT" -s 1 -G
# The file of the code object is a shorter one by now: the name is in the memory of the process.
replace() { head -c 64 $CODE > /tmp/short && mv /tmp/short $CODE; }
cp $CODE /tmp/code.co
KEPT=$CODE CODE=/tmp/code.co MEANWHILE=replace
hung file "^hung-or-long 0 $ROOT" -s 1 -l
CODE=$KEPT MEANWHILE=
KERNEL=__amd_rocclr_streamOpsWait
hung value "^waits-external 0 waits-external: queue [0-9]+: .* waits for a word of memory: hipStreamWaitValue" -s 1 -V

# A function of the host that does not return: the GPU has nothing to do, or with newer runtimes waits for a signal of the host.
hip_start function -s 1 -n 2 -k vector_add -y 1 -f -H 300
ok "a host function" within 60 grep -q 'host function was called' /tmp/function.out
like "function: nothing is at work" "$(verdict)" "^(idle 0 idle|waits-external 0 waits-external: .* no packet of this process sets it: the host)"
# It is a thread of the runtime that calls it.
# A thread that moved while it was looked at is left out of that look.
told() { gpq why -p $P --stacks --table processes -rno STACKS 2>&1 | sed 's/\\x20/ /g' > /tmp/told && grep -q host_function /tmp/told; }
within 20 told
like "function: the thread that does not return is told" "$(cat /tmp/told)" \
	"(usleep|nanosleep)[^:]* host_function \(hipq\) < [^:]*\(libamdhip64\.so\.[0-9]+"
like "function: nothing traces the program" "$(grep -E '^(State|TracerPid)' /proc/$P/status | tr '\n\t' '  ')" "^State: [SR] .* TracerPid: 0 $"
note "$(gpq why -p $P --stacks --demangle 2>&1)"
touch /tmp/function.return
hip_done function
hip_end function
unload
kernel_is_content
finish
