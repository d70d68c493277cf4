// Interrupts of GPUs; see interrupts.h.
#include "common/why/interrupts.h"

#include "common/host/number.h"
#include "common/host/root.h"

static const char driver[] = " amdgpu";

void irqs_look(struct buf *rows, uint64_t ns, struct buf *record)
{
	SCOPED(buf_fini) struct buf all = {0};
	bool here = host_is_live();
	uint64_t n;
	if (host_read(&all, "/proc/interrupts") < 0)
		return;
	if (record)
		buf_printf(record, "look %" PRIu64 "\n", ns);
	for (char *rest = all.data, *line; (line = strsep(&rest, "\n"));) {
		size_t len = strlen(line);
		while (len && line[len - 1] == ' ')
			len--;
		if (strncmp(line, "look ", 5) == 0)
			here = number_whole(line + 5, 10, UINT64_MAX, &n) && n == ns;
		if (!here || len < sizeof(driver) ||
		    strncmp(line + len - (sizeof(driver) - 1), driver, sizeof(driver) - 1) != 0)
			continue;
		buf_printf(rows, "%s\n", line);
		if (record)
			buf_printf(record, "%s\n", line);
	}
}

// Is the row, behind its counts, of this GPU? "IR-PCI-MSIX-0000:c1:00.0 0-edge amdgpu"; in older
// kernels "IR-PCI-MSI 33554432-edge amdgpu".
static bool is_of_gpu(const char *row, const char *bdf)
{
	const size_t len = strcspn(row, " \n"), bytes = strlen(bdf);
	const char *number = row + len + strspn(row + len, " ");
	char other[32] = "";
	uint64_t n;
	if (!memmem(row, len, "PCI-MSI", 7))
		return false;
	if (len > bytes && strncmp(row + len - bytes, bdf, bytes) == 0)
		return true;
	if (row[len - 1] == 'I' && number_read(number, NULL, 10, UINT32_MAX, &n))
		snprintf(other, sizeof(other), "%04x:%02x:%02x.%x", (unsigned)(n >> 27),
			 (unsigned)(n >> 19 & 0xff), (unsigned)(n >> 14 & 0x1f),
			 (unsigned)(n >> 11 & 7));
	return strcmp(other, bdf) == 0;
}

uint64_t irqs_of(const struct buf *rows, const char *bdf)
{
	uint64_t sum = 0, n;
	bool any = false;
	for (const char *s = rows->data; s && bdf && *bdf && (s = strchr(s, ':'));
	     s = strchr(s, '\n')) {
		uint64_t row = 0;
		for (const char *next = ++s; next; s = next ? next : s) {
			s += strspn(s, " ");
			next = number_read(s, NULL, 10, UINT64_MAX, &n);
			row += next ? n : 0;
		}
		if (is_of_gpu(s, bdf)) {
			any = true;
			sum += row;
		}
	}
	return any ? sum : UINT64_MAX;
}
