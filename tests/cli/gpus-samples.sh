#!/bin/bash
# gpq gpus on a topology of the shape of a real one, and on one that was captured and is not part of the project. Values by
# eye from the files; the save area by [kfd.save-size], in shell arithmetic: 38 and 20 CUs an XCC.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"

columns=INDEX,NODE,GPU,HEX,BDF,GFX,CUS,XCCS,SLOTS,SDMA,XGMI,SDMAQ,SUSPEND,CAPABILITY,DEBUG_PROP,MEC_FW,SDMA_FW,CWSR,CTL_STACK,CWSR_FROM,UNIQUE_ID,HIVE,VRAM,RENDER,DEVICE_ID

check() { # NAME FILE GPU WANTED
	local node=$work/$1/sys/class/kfd/kfd/topology/nodes/2
	[ -r "$2" ] || { pass "$1 # skip no real samples"; return; }
	mkdir -p "$node"
	echo "$3" >"$node/gpu_id"
	grep -E '^[a-z_]+ [0-9]+$' "$2" >"$node/properties"
	is "$1" "$(gpq --sysroot "$work/$1" gpus -r -n -b -o $columns)" "$4"
}

check "eight XCCs" "$top/tests/data/kfd/properties.txt" 15450 "0 2 15450 0x3c5a 0001:e3:00.0 gfx942 304 8 24 2 14 8 yes 0x2c77a680 0x5f7 177 22 \
$((38 * 0x95000 + 0x3000)) $((0x3000)) formula $(printf 0x%x 10771562094481538049) $(printf 0x%x 9914771250863342077) - renderD131 0x74a1"
# 63420 is this machine's device f7bc (SOURCES.md); the capture of its MQDs has the same sizes: 0x2000, in all 0xba6000.
check "captured MI308X" "$samples/kfd/topology-properties-2.txt" 63420 "0 2 63420 0xf7bc 0000:0a:00.0 gfx942 80 4 24 2 6 8 yes 0x2c77a280 0x5e7 165 21 \
$((0xba6000)) $((0x2000)) formula $(printf 0x%x 11839909002616174243) $(printf 0x%x 11874769713031422079) - renderD128 0x74a2"
finish
