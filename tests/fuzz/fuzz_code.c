// libFuzzer target: what the HSA runtime of a process has loaded (common/aql/code.h).
//
// The input is the process's memory, with the runtime's r_debug at address 0; its addresses are
// offsets in it, and so are those of code objects (memory://). The same bytes are also read as a
// URI and as /proc/PID/maps. Beside not crashing: every kernel that is found is found at all
// addresses of its descriptor or of one that begins later, a second look finds what the first did,
// and numbers of a URI are read as they are written.
#include "common/aql/code.h"

#include "common/aql/code_priv.h"
#include "common/host/std.h"
#include "tests/fuzz/require.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(int mem, size_t size)
{
	struct code_names *c = code_names_of(mem, 0);
	char *first = NULL;
	uint64_t at = 0;
	for (; at < 2 * size && !first; at++)
		if (code_name(c, at))
			first = xstrdup(code_name(c, at));
	require(!first || (*first && strlen(first) <= CODE_NAME_MOST));
	require(!first || at == 1 || !code_name(c, at - 2));
	require(!first || code_name(c, at + 62 - (at == 1 ? 63 : 0)));
	code_names_refresh(c);
	require(!first || strcmp(code_name(c, at - 1), first) == 0);
	free(first);
	code_names_free(c);
}

static void check_uri(const char *uri)
{
	char *path = xmalloc(strlen(uri) + 1), again[128];
	uint64_t offset, bytes, offset2, bytes2;
	if (code_uri_parse(uri, path, &offset, &bytes)) {
		require(*path ? *path == '/' : bytes > 0);
		snprintf(again, sizeof(again), "memory://1#offset=0x%" PRIx64 "&size=%" PRIu64,
			 offset, bytes);
		require(!bytes || (code_uri_parse(again, path, &offset2, &bytes2) &&
				   offset2 == offset && bytes2 == bytes));
	}
	free(path);
}

static void check_maps(const char *text)
{
	struct mapping m;
	for (const char *s = text, *from; *s;) {
		from = s;
		if (mapping_parse(s, &s, &m))
			require(m.path > from && m.path + m.len <= s && *m.path == '/');
		require(s > from);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xcalloc(1, size + 1);
	int mem = memfd_create("fuzz", MFD_CLOEXEC);
	if (size)
		memcpy(text, data, size);
	require(mem >= 0 && write_fully(mem, text, size) == 0);
	check_uri(text);
	check_maps(text);
	check_names(mem, size);
	free(text);
	return 0;
}
