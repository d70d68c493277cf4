// What gpq why is given beside a host: earlier moments of it, as recorded hosts, and its kernel's
// log.
#include "cmd/why.h"

#include "common/cli/input.h"
#include "common/host/proc.h"
#include "common/host/root.h"

// Makes a recorded host the one that is read, after the one that was recorded at `*before`.
static int choose_moment(const char *root, bool first, uint64_t *before, char boot[40])
{
	char here[40];
	const char *was = host_only_dumps();
	int status = input_root(root, "sysroot ");
	const bool alone = host_only_dumps() != NULL;
	if (status)
		return status;
	status = alone ? GPQ_OK : needs_check(NEED_KFD);
	const uint64_t now = proc_recorded_ns();
	host_read_line(here, sizeof(here), "/proc/sys/kernel/random/boot_id");
	if (!status && !first && alone != (was != NULL))
		status = err_fail(GPQ_USAGE, "name two whole ones, or two with dumps alone",
				  "%s: its clock is not that of the host before", root);
	if (!status && !first && *boot && *here && strcmp(boot, here) != 0)
		status = err_fail(GPQ_USAGE, "name two moments of one boot",
				  "%s: another boot than the host before", root);
	if (!status && !first && !alone && (now < *before || (now > 0 && *before == 0)))
		status = err_fail(GPQ_USAGE, "name the earlier one first",
				  "%s was recorded before the host that stands before it", root);
	*before = now;
	memcpy(boot, here, sizeof(here));
	return status;
}

int why_look_before(const struct words *roots, struct why_heads *heads)
{
	const struct pick_opts all = {0};
	const struct pick_queues_opts queues = {0};
	const struct rings_how how = {.pick = &all, .queues = &queues, .before = true};
	const struct why_how look = {.heads = heads};
	uint64_t before = 0;
	char boot[40] = "";
	int status = GPQ_OK;
	for (size_t i = 0; i < roots->n && !status; i++) {
		struct rings rings = {0};
		status = choose_moment(roots->v[i], !i, &before, boot);
		if (status || i + 1 == roots->n)
			break;
		status = rings_load(&rings, &how);
		if (!status) {
			struct why w;
			why_look_on(&w, &rings, &look);
			why_fini(&w);
		}
		rings_fini(&rings);
	}
	return status;
}

int why_read_log(struct klog *log, const char *file)
{
	SCOPED(buf_fini) struct buf text = {0};
	const int status = input_read(&text, file);
	klog_parse(log, text.data ? text.data : "", text.len);
	if (!status && !log->lines)
		return err_fail(GPQ_FAILED, "give what dmesg or journalctl -k prints",
				"--dmesg: %s: %s", input_name(file),
				text.len ? "no line of it is one of a kernel's log"
					 : "it is empty");
	return status;
}
