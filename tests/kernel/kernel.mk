# The real amdkfd over a software GPU, in a VM: see tests/kernel/README.md.

# What the host needs beyond `make deps`: the emulator, and what packs and unpacks. Kernels and clients come from the
# archive into a cache folder; nothing of them is installed.
KERNEL_DEPS := qemu-system-x86 busybox-static cpio xz-utils zstd e2fsprogs gcc libc6-dev make clang lld llvm

# A shell in the VM; or one command: make lab GPUS=gfx942x8,gfx90a CMD='mkqueue -t 3; gpq queues'
lab: gpq
	@tests/kernel/lab

# CMD is for the VM's shell: its dollars are not make's.
ifdef CMD
override CMD := $(value CMD)
export CMD
endif

# T="gpq/queues.sh stock/table.sh" runs only these.
check-kernel: gpq testing
	@tests/kernel/check $(T)

# The same programs next to the real HIP runtime, rocBLAS, rocm-smi, amd-smi, strace and gdb.
check-hip: gpq
	@tests/kernel/check --hip $(T)

# What AMD's debugger library says of made save areas, against the lists that `make check` judges gpq by. No VM.
check-judge:
	@tests/waves/judge.sh

# gpq queues against rocm-smi and amd-smi in the same VM.
bench-listing: gpq
	@tests/bench/listing

deps-kernel:
	$(if $(filter 0,$(shell id -u)),,sudo) apt-get install -qq -y --no-install-recommends $(KERNEL_DEPS)

.PHONY: lab check-kernel check-hip check-judge bench-listing deps-kernel
