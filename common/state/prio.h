// Priorities of queues: what a dump says of them, and which queues --prio chooses.
//
// A program gives a compute queue a priority from 0 to 15. The driver writes two registers of it
// into the MQD: cp_hqd_pipe_priority (dword 133), the level 0 to 2 (pipe_priority_map[] in
// kfd_mqd_manager.c), always; cp_hqd_queue_priority (dword 134), the number itself, up to Linux
// 6.19 (set_priority() in kfd_mqd_manager_v*.c). Where it does not, dword 134 is 0 and the number
// is unknown. SDMA queues have neither.
#ifndef GPQ_STATE_PRIO_H
#define GPQ_STATE_PRIO_H

#include "common/debugfs/hqds.h"
#include "common/debugfs/mqds.h"
#include "common/kfd/driver.h"

#include <stdint.h>

// "low" (priorities 0 to 6), "medium" (7 to 10), "high" (11 to 15); NULL for any other number,
// UINT64_MAX (unknown) among them.
const char *prio_level_name(uint64_t pipe_prio);

// Does the driver that made this dump write dword 134? Decided by the dump: a compute queue with
// level medium or high has a priority above 0, so 0 in dword 134 means no, and any other value
// yes. Where the dump has neither, or both, the facts of `d` decide (NULL: a file of a host that
// is not known). UNKNOWN: all queues are of level low, and their numbers are not to be trusted.
enum kfd_answer3 prio_written(const struct mqds *m, const struct kfd_driver *d);

// The same by a dump of slots that comes without MQDs.
enum kfd_answer3 prio_written_slots(const struct hqds *h);

// What --prio chooses: bit N stands for priority N.
struct prio_choice {
	const char *text; // as given, not owned; NULL: all queues
	uint16_t prios;
};

// Reads "low", "high,medium", "8" (8 to 15) or "0:7". GPQ_OK, or GPQ_USAGE after a message. `text`
// NULL: chooses all.
int prio_parse(struct prio_choice *c, const char *text);

// Refuses a range that cuts a level where numbers are not known. GPQ_OK, or GPQ_UNSUPPORTED after
// a message.
int prio_check(const struct prio_choice *c, enum kfd_answer3 written);

// Is this queue chosen? `prio` and `level` (0 to 2) are UINT64_MAX where unknown. UNKNOWN: what is
// known leaves it open.
enum kfd_answer3 prio_fits(const struct prio_choice *c, uint64_t prio, uint64_t level);

#endif
