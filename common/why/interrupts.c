// Interrupts of GPUs; see interrupts.h.
#include "common/why/interrupts.h"

#include "common/host/number.h"
#include "common/host/root.h"

// Adds the counts of all processors. False: there is no such interrupt (0: the device has none), or
// the kernel has cut the line to a page.
static bool add_counts(uint64_t *sum, const char *irq)
{
	SCOPED(buf_fini) struct buf b = {0};
	uint64_t n;
	if (*irq == '0' || host_read(&b, PATH("/sys/kernel/irq/%s/per_cpu_count", irq)) <= 0)
		return false;
	const char *s = b.data;
	for (const char *next; (next = number_read(s, NULL, 10, UINT32_MAX, &n)); s = next + 1) {
		*sum += n;
		if (*next != ',')
			return *next == '\n';
	}
	return false;
}

// Returns what stands behind time and GPU in their row, or NULL.
static const char *row_of(const struct buf *rows, uint64_t ns, const char *bdf)
{
	char row[64];
	const int len = snprintf(row, sizeof(row), "%" PRIu64 " %s ", ns, bdf);
	for (const char *s = rows->len ? rows->data : NULL; s && *s; s = strchr(s, '\n')) {
		s += *s == '\n';
		if (strncmp(s, row, (size_t)len) == 0)
			return s + len;
	}
	return NULL;
}

void irqs_look(struct buf *rows, uint64_t ns, const char *bdf)
{
	char irq[16];
	uint64_t sum = 0;
	if (!bdf || !*bdf || row_of(rows, ns, bdf))
		return;
	SCOPED(closedir_at) DIR *d = host_opendir(PATH("/sys/bus/pci/devices/%s/msi_irqs", bdf));
	bool any = !d, all = true;
	if (!d) {
		host_read_line(irq, sizeof(irq), PATH("/sys/bus/pci/devices/%s/irq", bdf));
		all = add_counts(&sum, irq);
	}
	for (struct dirent *e; d && (e = host_readdir(d));)
		if (*e->d_name != '.') {
			any = true;
			all &= add_counts(&sum, e->d_name);
		}
	buf_printf(rows, "%" PRIu64 " %s ", ns, bdf);
	if (any && all)
		buf_printf(rows, "%" PRIu64 "\n", sum);
	else
		buf_puts(rows, "-\n");
}

uint64_t irqs_of(const struct buf *rows, uint64_t ns, const char *bdf)
{
	uint64_t n;
	const char *count = bdf ? row_of(rows, ns, bdf) : NULL;
	return count && number_read(count, NULL, 10, UINT64_MAX, &n) ? n : UINT64_MAX;
}
