// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: what a test can make go wrong.  Writable module parameters, read when a preemption
 * is asked for, or when a packet's turn has come.
 *
 * wave_states says what the waves of dispatches do when their queue is saved (waves.c), those of
 * hang_object when there is one: a list, separated by commas, of
 *
 *     FIRST[-LAST]=STATE[@OFFSET][+SPAN]
 *
 * FIRST and LAST count the waves of a dispatch, through its workgroups; of several that name a
 * wave the last one counts.  OFFSET is in bytes behind the kernel's entry; within SPAN bytes from
 * there the PC goes round, by 4 each time its queue is saved, and with +0 it stands still.
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

static ulong hang_object;
module_param(hang_object, ulong, 0644);
MODULE_PARM_DESC(hang_object, "dispatches of this kernel object do not complete (0: none)");
static bool hang_taken;
module_param(hang_taken, bool, 0644);
MODULE_PARM_DESC(hang_taken,
		 "Y: the read pointer moves when a kernel that hangs is launched; N: it "
		 "would when the kernel completes");

static const char *const wave_states[] = {
	[SG_WAVE_RUN] = "run",
	[SG_WAVE_BARRIER] = "barrier",
	[SG_WAVE_HALT] = "halt",
	[SG_WAVE_HANDLER] = "handler",
	[SG_WAVE_VIOLATION] = "violation",
	[SG_WAVE_ADDRESS] = "address",
	[SG_WAVE_ILLEGAL] = "illegal",
	[SG_WAVE_MATH] = "math",
	[SG_WAVE_BREAKPOINT] = "breakpoint",
	[SG_WAVE_ASSERT] = "assert",
	[SG_WAVE_DEBUGTRAP] = "debugtrap",
};

#define MOST_RULES 16

static DEFINE_MUTEX(rules_lock);
static struct sg_wave_rule rules[MOST_RULES];
static u32 n_rules, rules_version;
static char rules_text[256] = "\n";

/* Takes a number behind this character, if there is one. */
static bool take(const char **text, char before, u32 *value)
{
	char *end;

	if (before && **text != before)
		return false;
	*value = simple_strtoul(*text + !!before, &end, 0);
	if (end == *text + !!before)
		return false;
	*text = end;
	return true;
}

static bool parse_rule(const char *text, struct sg_wave_rule *rule)
{
	size_t n, i;

	*rule = (struct sg_wave_rule){0};
	if (!take(&text, 0, &rule->first))
		return false;
	rule->last = rule->first;
	take(&text, '-', &rule->last);
	if (*text++ != '=')
		return false;
	n = strcspn(text, "@+");
	for (i = 0; i < ARRAY_SIZE(wave_states); i++)
		if (strlen(wave_states[i]) == n && !strncmp(text, wave_states[i], n))
			break;
	rule->state = i;
	text += n;
	take(&text, '@', &rule->at);
	rule->moves = take(&text, '+', &rule->span);
	return i < ARRAY_SIZE(wave_states) && !*text && rule->first <= rule->last;
}

static int rules_set(const char *text, const struct kernel_param *unused)
{
	struct sg_wave_rule fresh[MOST_RULES];
	char copy[sizeof(rules_text) - 1], *rest, *one;
	u32 n = 0;

	if (strscpy(copy, text, sizeof(copy)) < 0)
		return -EINVAL;
	rest = strim(copy);
	while ((one = strsep(&rest, ",")))
		if (*one && (n == MOST_RULES || !parse_rule(one, &fresh[n++])))
			return -EINVAL;
	mutex_lock(&rules_lock);
	memcpy(rules, fresh, n * sizeof(*rules));
	n_rules = n;
	rules_version++;
	snprintf(rules_text, sizeof(rules_text), "%s\n", strim(strcpy(copy, text)));
	mutex_unlock(&rules_lock);
	return 0;
}

static int rules_get(char *buffer, const struct kernel_param *unused)
{
	int n;

	mutex_lock(&rules_lock);
	n = sprintf(buffer, "%s", rules_text);
	mutex_unlock(&rules_lock);
	return n;
}

static const struct kernel_param_ops rules_ops = {.set = rules_set, .get = rules_get};
module_param_cb(wave_states, &rules_ops, NULL, 0644);
MODULE_PARM_DESC(wave_states, "what saved waves do: FIRST[-LAST]=STATE[@OFFSET][+SPAN],...");

struct sg_wave_rule sg_fault_wave(u64 kernel_object, u32 number)
{
	const u64 only = READ_ONCE(hang_object);
	struct sg_wave_rule rule = {.state = SG_WAVE_RUN};
	u32 i;

	mutex_lock(&rules_lock);
	for (i = 0; i < n_rules && (!only || only == kernel_object); i++)
		if (rules[i].first <= number && number <= rules[i].last)
			rule = rules[i];
	rule.version = rules_version;
	mutex_unlock(&rules_lock);
	return rule;
}

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

bool sg_fault_kernel_hangs(u64 kernel_object)
{
	return kernel_object && kernel_object == READ_ONCE(hang_object);
}

bool sg_fault_hang_taken(void)
{
	return READ_ONCE(hang_taken);
}

u32 sg_fault_take_doorbell(void)
{
	return xchg(&preempt_fail_doorbell, 0);
}
