# Messages that no other test reaches, in the order of the files that write them; tests/coverage lists those that are left.

# A part that was stopped, and parts that overlap: lines begin at 1029 and 1557 (grep -b), the file has 8117 bytes.
$ gpq trace --partial $DATA/amdlog/cnn.log | sed 's/"stopped":false/"stopped":true/' | gpq merge 2>&1 >/dev/null | sed "s|$DATA/||"
> { gpq trace --partial --range 0:1500 $DATA/amdlog/cnn.log; gpq trace --partial --range 1000: $DATA/amdlog/cnn.log; } | gpq merge 2>&1 >/dev/null | sed "s|$DATA/||"
gpq: merge: amdlog/cnn.log was read to byte 8117 only; what comes behind is missing
gpq: merge: amdlog/cnn.log: bytes 1029 to 1557 are in two parts; what is in both counts twice; make the parts anew, side by side

$ gpq trace --range 0:1K --since +1s $DATA/amdlog/cnn.log
gpq: trace: --range: a time from the first record differs from range to range; give the log's own time
? 2

$ gpq trace --range 0: /dev/null
gpq: trace: /dev/null: --range of what has no size; name a file that is not empty
? 2

# One stream more than are told apart: that of the log's first lines, and 65536 further ones.
$ { head -7 $DATA/amdlog/rocm70.log; seq 65536 | awk '{ p = sprintf(" : 00%d us: [pid:4711 tid: 0x7f00000e5400] ", 90000200 + $1)
>   printf ":3:a.cpp :1%ship%s ( 0x7ffd, 1, 0 )\n:3:a.cpp :2%sacquireQueue refCount: 0x7f0000b20000 (2)\n", p, f = "StreamCreateWithPriority", p
>   printf ":3:a.cpp :3%ship%s: Returned hipSuccess : stream:0x%x0\n", p, f, $1 }'; } | gpq trace -q --by stream -c -
gpq: trace: --by stream: more than 65536 periods: the rest is left out; choose by --pid or --since
65536
? 3

$ gpq bench report --svg-dir /dev/null/x $DATA/bench/ab.ndjson 2>&1 >/dev/null
gpq: bench: --svg-dir /dev/null/x: Not a directory
? 5

# A recorded host does not change, however long one looks.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 why --stuck-after 1s 2>&1 >/dev/null | tail -1
gpq: why: --stuck-after: nothing moves on a recorded host, however long one looks
? 3

# A GPU that pci.ids does not know, without a device in /sys/class/drm; then without a runlist, and without debugfs.
$ cp -r $HOSTS/gfx90a-k6.12 host; chmod -R u+w host; sed -i 's/^device_id .*/device_id 65535/' host/sys/class/kfd/kfd/topology/nodes/1/properties
> rm -rf host/sys/class/drm; gpq --sysroot host gpus -v -o DEVICE 2>&1 >/dev/null
> : >host/sys/kernel/debug/kfd/rls; gpq --sysroot host hqd --runlist 2>&1 >/dev/null
> rm -r host/sys/kernel/debug/kfd; gpq --sysroot host snapshot saved 2>&1 >/dev/null
gpq: gpus: node 1: BDF: from location_id, since /sys/class/drm does not lead to the device; of a partition, the last digit is its number
gpq: gpus: node 1: DEVICE: the PCI ID database does not know 1002:ffff; update-pciids may help
gpq: hqd: /sys/kernel/debug/kfd/rls: no GPU in it; queues then run without a scheduler, or root is needed to read it
gpq: snapshot: without the dumps of debugfs: on or off, pointers and slots are unknown
