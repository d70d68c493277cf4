// Host, driver, GPUs and target of a measurement, so that it can be compared with others. Every raw
// sample has it.
#pragma once

#include "common/out/members.h"
#include "common/bench/attached.h"

// The items: key in JSON, label for people.
#define BENCH_CONTEXT(X)                                                           \
	X(run, "run") /* host, time, pid and setting: names the run */             \
	X(host, "host")                                                            \
	X(started, "started") /* UTC */                                            \
	X(source, "source")   /* live, softgpu */                                  \
	X(machine, "machine") /* bare metal, or the hypervisor */                  \
	X(kernel, "kernel")                                                        \
	X(boot_id, "boot id")                                                      \
	X(driver, "amdgpu version") /* out-of-tree drivers only */                 \
	X(kfd_version, "KFD interface")                                            \
	X(parameters, "amdgpu parameters")                                         \
	X(scheduler, "queue scheduler") /* HWS or MES */                           \
	X(gpus, "GPUs")                 /* gfx942x4xcc 0000:0a:00.0 mec 163 ... */ \
	X(processors, "processors")                                                \
	X(target, "target") /* pid and name */                                     \
	X(target_queues, "queues of the target")                                   \
	X(gpq, "gpq version")                                                      \
	X(seed, "seed")                                                            \
	X(setting, "setting") /* of gpq bench ab --sweep-env: BATCH=8 */           \
	X(command, "command")

enum bench_context_item {
#define ITEM(key, label) CONTEXT_##key,
	BENCH_CONTEXT(ITEM)
#undef ITEM
		CONTEXT_ITEMS
};

struct bench_context {
	char text[CONTEXT_ITEMS][512]; // "": unknown
};

extern const struct member bench_context_members[]; // all items of a context, by JSON key
extern const char *const bench_context_label[CONTEXT_ITEMS];

// Clears *c, then notes the host, its driver and all its GPUs.
void bench_context_host(struct bench_context *c);

// Notes the version of the KFD interface. A child reads it, since a process that has opened KFD is
// a KFD process until its end.
void bench_context_driver(struct bench_context *c);

// Notes the measured processes, the number of their queues, and the GPUs that these are on.
void bench_context_targets(struct bench_context *c, const struct attached *a);

// Was the run with this context measured on a GPU, not on the software GPU?
bool bench_context_is_gpu(const struct bench_context *c);
