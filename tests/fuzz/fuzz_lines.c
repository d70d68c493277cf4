// libFuzzer target: symbols and debug information of a code object (common/aql/code_elf.c and
// code_lines.c), as the reader's child reads them, but in this process.
//
// The input is the file; the addresses are some of those in the corpus, which is made as
// tests/data/aql/code/HOW says, less what is not read. Beside not crashing: each address is
// told the same alone.
#include "common/aql/code.h"

#include "common/aql/code_priv.h"
#include "common/host/std.h"
#include "tests/fuzz/require.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

// libdw forgets what it made of tables that it then refuses. The reader's child ends with it.
const char *__lsan_default_suppressions(void)
{
	return "leak:libdw.so";
}

static const uint64_t all[] = {0, 0x1500, 0x1508, 0x1520, 0x153f, 0x1674, 0x1680, 0x16df, 0x16e0};

static struct {
	size_t from, n; // of `all`
	unsigned functions, frames[COUNT(all)];
	size_t text[COUNT(all)]; // bytes and lines, added up
} seen;

static void see_symbol(void *arg, const char *name, size_t len, uint64_t value, uint64_t size)
{
	(void)arg, (void)value, (void)size;
	require(len && !memchr(name, '\0', len));
	seen.functions++;
}

static void see_frame(size_t i, const char *function, const char *file, unsigned line)
{
	require(i < seen.n);
	seen.frames[seen.from + i]++;
	seen.text[seen.from + i] += strlen(function) + strlen(file) + line;
}

static void read_debug(void *arg, struct Elf *elf)
{
	(void)arg;
	code_lines_read(elf, all + seen.from, seen.n, see_frame);
}

static void read_file(int fd, size_t size, size_t from, size_t n)
{
	const struct code_bytes bytes = {fd, 0, size};
	uint64_t budget = 1u << 24;
	struct code_extent extent;
	seen.from = from;
	seen.n = n;
	code_elf_symbols(&bytes, 0, &budget, see_symbol, read_debug, NULL, &extent);
	require(budget <= 1u << 24);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	require(fd >= 0 && write_fully(fd, data, size) == 0);
	memset(&seen, 0, sizeof(seen));
	read_file(fd, size, 0, COUNT(all));
	const typeof(seen) together = seen;
	memset(&seen, 0, sizeof(seen));
	for (size_t i = 0; i < COUNT(all); i++)
		read_file(fd, size, i, 1);
	for (size_t i = 0; i < COUNT(all); i++)
		require(seen.frames[i] == together.frames[i] && seen.text[i] == together.text[i]);
	require(seen.functions == together.functions * COUNT(all));
	close(fd);
	return 0;
}
