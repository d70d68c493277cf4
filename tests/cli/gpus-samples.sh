#!/bin/bash
# gpq gpus on topologies that were captured on real machines and are not part of the project.
# Values from the file by eye: 63420 is this machine's device f7bc (SOURCES.md); the save area is
# that of [kfd.save-size], which the capture of its MQDs confirms: control stack 0x2000, in all 0xba6000.
top=$(cd "$(dirname "$0")/../.." && pwd)
sample=${GPQ_SAMPLES:-$top/../shared/samples}/kfd/topology-properties-2.txt
echo 1..1
if [ ! -r "$sample" ]; then
	echo "ok 1 - captured MI308X # skip no real samples"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
node=$work/sys/class/kfd/kfd/topology/nodes/2
mkdir -p "$node"
echo 63420 >"$node/gpu_id"
sed 1,2d "$sample" >"$node/properties"
got=$("${GPQ_BIN:-$top}/gpq" --sysroot "$work" gpus -r -n -b -o \
	INDEX,NODE,GPU,HEX,BDF,GFX,CUS,XCCS,SLOTS,SDMA,XGMI,SDMAQ,SUSPEND,CAPABILITY,DEBUG_PROP,MEC_FW,SDMA_FW,CWSR,CTL_STACK,CWSR_FROM,UNIQUE_ID,HIVE,VRAM,RENDER,DEVICE_ID)
want="0 2 63420 0xf7bc 0000:0a:00.0 gfx942 80 4 24 2 6 8 yes 0x2c77a280 0x5e7 165 21 $((0xba6000)) $((0x2000)) formula $(printf 0x%x 11839909002616174243) $(printf 0x%x 11874769713031422079) - renderD128 0x74a2"
if [ "$got" = "$want" ]; then
	echo "ok 1 - captured MI308X"
else
	echo "not ok 1 - captured MI308X"
	printf '# wanted %s\n# got    %s\n' "$want" "$got"
	exit 1
fi
