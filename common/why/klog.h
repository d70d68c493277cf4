// What the kernel's log says about AMD GPUs: resets, queues that were lost, faults.
//
// Facts: [kfd.log].
#pragma once

#include "common/host/std.h"

enum klog_kind {
	KLOG_FAULT = 1, // a page fault, an uncorrectable error
	KLOG_LOST = 2,  // the driver gave up queues that the GPU did not let go
	KLOG_RESET = 4, // the GPU was reset
};

struct klog_line {
	uint64_t us; // since boot, as the log counts
	enum klog_kind kind;
	char bdf[16];     // PCI address of the GPU
	const char *text; // in klog.text: without the driver's name and the address
};

struct klog {
	struct klog_line *v; // lines of these kinds, the oldest first
	size_t n;
	struct buf text;
};

// Reads the log, without waiting. Without the right to do so, and on a host that was recorded
// without it, there are no lines.
void klog_read(struct klog *k);

// Fills `k` from text in the format of /dev/kmsg.
void klog_parse(struct klog *k, const char *text, size_t len);

// Returns the last line of one of `kinds` about a GPU, not older than `since_us`, or NULL.
const struct klog_line *klog_last(const struct klog *k, const char *bdf, uint64_t since_us,
				  unsigned kinds);
void klog_fini(struct klog *k);
