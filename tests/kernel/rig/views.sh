# What the driver shows of queues, on every model: topology, sysfs, debugfs. The joins that gpq relies on must hold
# against what mkqueue says it created.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/rig/rig.inc

created() { awk -v q="$1" -v k="$2" '$4 == q && /ring_base/ { for (i = 3; i < NF; i += 2) if ($i == k) print $(i + 1) }' /tmp/mkqueue.log; } # QUEUE WORD

# GFX version and XCCs that belong to a model's name.
expected() {
	case $GPU in
	gfx942) echo "90402 1" ;;
	gfx942x8) echo "90402 8" ;;
	gfx942cpx) echo "90402 1" ;;
	gfx950) echo "90500 1" ;;
	gfx90a) echo "90010 1" ;;
	gfx908) echo "90008 1" ;;
	gfx906) echo "90006 1" ;;
	gfx1030) echo "100300 1" ;;
	gfx1100) echo "110000 1" ;;
	gfx1151) echo "110501 1" ;;
	gfx1201) echo "120001 1" ;;
	esac
}

topology_of_model() {
	is "topology: GFX version and XCCs" "$(topology 1 gfx_target_version) $(topology 1 num_xcc)" "$(expected)"
	is "a render node" "$(echo /dev/dri/renderD*)" /dev/dri/renderD128
	is "a PCI device of AMD's" "$(cat /sys/class/drm/renderD128/device/vendor)" 0x1002
}

sysfs_of_queues() {
	local q=$KFD/proc/$P/queues
	is "sysfs: types" "$(cat $q/0/type) $(cat $q/1/type) $(cat $q/2/type)" "0 0 1"
	is "sysfs: the GPU" "$(cat $q/0/gpuid)" "$(created 0 gpu_id)"
	is "sysfs: ring size" "$(cat $q/1/size)" "$(created 1 ring_size)"
}

# MQD words 136 and 137 are the ring's address divided by 256, 128 and 129 the MQD's own address.
mqds_of_queues() {
	local xccs
	xccs=$(topology 1 num_xcc)
	is "mqds: the newest queue comes first" "$(printf '0x%x' $((0x$(mqd_word 0 137)$(mqd_word 0 136) << 8)))" "$(created 1 ring_base)"
	is "mqds: then the one before" "$(printf '0x%x' $((0x$(mqd_word 1 137)$(mqd_word 1 136) << 8)))" "$(created 0 ring_base)"
	is "mqds: gpu_id in hex" "$(awk '/Compute queue/ { print $5; exit }' $KFDEBUG/mqds)" "$(printf %x "$(created 0 gpu_id)")"
	is "mqds: one dump per XCC" "$(awk '/queue on device/ { c = /Compute/ } c && /^    00000000:/ { n++ } END { print n }' $KFDEBUG/mqds)" $((2 * xccs))
	is "mqds: word 130, active" "$(mqd_word 1 130)" 00000001
}

slots_with() { grep -c ": $1 " $KFDEBUG/hqds; } # MQD-ADDRESS-LOW-WORD: the first register of a slot

hqds_of_queues() {
	local low
	low=$(mqd_word 1 128)
	is "hqds: the queue has a slot, by its MQD's address" "$(slots_with $low)" 1
	hold_queues 0
	is "hqds: none while it is suspended" "$(slots_with $low)" 0
	is "mqds: word 130 is 0 while it is suspended" "$(mqd_word 1 130)" 00000000
	is "mqds: its neighbour's is not" "$(mqd_word 0 130)" 00000001
	is_mes || unlike "rls: no MAP_QUEUES with its MQD's address" "$(cat $KFDEBUG/rls)" " $low "
	kill_debugger
	within 10 sh -c "grep -q ': $low ' $KFDEBUG/hqds"
	is "hqds: its slot again, resumed" "$(slots_with $low)" 1
}

# "engine rlc" of the slot whose second register is the SDMA ring's address divided by 256.
# Compared as strings: busybox awk takes 90e12345 for an infinite number, and that is not equal to itself there.
sdma_slot() {
	awk -v low="$(printf %08x $(($(created 2 ring_base) >> 8 & 0xffffffff)))" '
		/SDMA Engine/ { slot = $3 $5; first = 1; next }
		first { first = 0; if (($3 "") == (low "")) print slot }' $KFDEBUG/hqds
}

# The driver leaves RLC 0 and 1 of gfx11 and gfx12 to graphics and paging (kfd_device.c, reserved_sdma_queues_bitmap).
first_sdma_slot() { if is_mes; then echo 0,2; else echo 0,0; fi; }

hqds_of_sdma() {
	is "hqds: the SDMA queue is in the first RLC" "$(sdma_slot)" "$(first_sdma_slot)"
	hold_queues 2
	empty "hqds: in none while it is suspended" "$(sdma_slot)"
	kill_debugger
	within 10 sh -c "[ \$(grep -c '^queue sdma' $SOFT/0) = 1 ]"
	is "hqds: again, resumed" "$(sdma_slot)" "$(first_sdma_slot)"
}

no_gpu() {
	load ""
	is "without a GPU: one node, the processor's" "$(ls $KFD/topology/nodes)" 0
	empty "no render node" "$(ls /dev/dri 2> /dev/null)"
	is "/dev/kfd is there" "$(ls /dev/kfd)" /dev/kfd
	unload
}

no_gpu
for model in ${MODELS:-$ALL_MODELS}; do
	load $model || continue
	topology_of_model
	target -n 2 -s
	sysfs_of_queues
	mqds_of_queues
	hqds_of_queues
	hqds_of_sdma
	reap $P
	unload
done
kernel_is_content
finish
