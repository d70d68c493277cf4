// What the kernel's log says about AMD GPUs: resets, queues that were lost, faults, and what else
// goes wrong in the driver; what each line means, and what to do about it.
//
// Facts: [kfd.log].
#pragma once

#include "common/host/std.h"

enum klog_kind {
	KLOG_FAULT = 1,  // a page fault, an uncorrectable error
	KLOG_LOST = 2,   // the driver gave up queues that the GPU did not let go
	KLOG_RESET = 4,  // the GPU was reset
	KLOG_DEAD = 8,   // the GPU was to be reset, and was not
	KLOG_FREED = 16, // a process freed memory that its queues need: they stay off
	KLOG_NONE = 32,  // the driver had no queue left to give
};

#define KLOG_NO_TIME UINT64_MAX

struct klog_line {
	uint64_t us; // since boot, as the log counts; KLOG_NO_TIME: the line has another clock
	enum klog_kind kind;
	char bdf[16];        // PCI address of the GPU; "": the driver does not say
	int64_t pid;         // process that the line is about, as the host numbers it; 0: unknown
	uint64_t pasid;      // its PASID; 0: unknown
	const char *text;    // in klog.text: without the driver's name and the address
	const char *meaning; // in few words; NULL: the line says it
};

struct klog {
	struct klog_line *v; // lines of these kinds, the oldest first
	size_t n;
	size_t lines; // of a kernel's log, whatever they say
	struct buf text;
};

// Opens the log of a live host, or that of a recorded one. Returns a descriptor, or -1 with errno.
int klog_open(void);

// Reads what the log has from the descriptor's position on, without waiting.
void klog_read_from(struct klog *k, int fd);

// Reads the log, without waiting. Without the right to do so, and on a host that was recorded
// without it, there are no lines.
void klog_read(struct klog *k);

// Fills `k` from text as /dev/kmsg, dmesg or journalctl -k give it.
void klog_parse(struct klog *k, const char *text, size_t len);

// Whom lines are to be about.
struct klog_whose {
	const char *bdf;   // PCI address of the GPU; NULL: unknown
	int64_t pid;       // process; 0: any
	uint64_t pasid;    // its PASID; KFD_UNKNOWN, 0: unknown
	uint64_t since_us; // lines are not older; those without a time count
	bool unnamed;      // also lines that do not say which GPU
};

// Returns the last line of one of `kinds` about a GPU, and not about another process alone, or
// NULL. Who waited for queues may call them lost while the driver resets the GPU, or within 5 s
// behind that: such a line does not count, as the reset is what became of them.
const struct klog_line *klog_last(const struct klog *k, const struct klog_whose *whose,
				  unsigned kinds);

// The kind in a word, as events are called, and what to do; NULL: that depends on the queue.
const char *klog_word(enum klog_kind kind);
const char *klog_remedy(enum klog_kind kind);
void klog_fini(struct klog *k);
