// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: what a test can make go wrong.  Writable module parameters, read when a preemption
 * is asked for.
 */
#include <linux/delay.h>
#include "softgpu.h"

static int preempt_us;
module_param(preempt_us, int, 0644);
MODULE_PARM_DESC(preempt_us, "extra time a preemption takes, in microseconds");
static bool preempt_hang;
module_param(preempt_hang, bool, 0644);
MODULE_PARM_DESC(preempt_hang, "the scheduler firmware never answers a preemption");
static int preempt_fail_doorbell;
module_param(preempt_fail_doorbell, int, 0644);
MODULE_PARM_DESC(preempt_fail_doorbell,
		 "the next preemption reports this doorbell as not preempted (HWS; then 0 again)");

void sg_fault_delay(void)
{
	int us = READ_ONCE(preempt_us);

	if (us > 0)
		usleep_range(us, us + 50);
}

bool sg_fault_hang(void)
{
	return READ_ONCE(preempt_hang);
}

u32 sg_fault_take_doorbell(void)
{
	return xchg(&preempt_fail_doorbell, 0);
}
