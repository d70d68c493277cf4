// The runtime's list of code objects, and what its URIs say; see code.h.
#include "common/aql/code_priv.h"

#include "common/host/number.h"

#include <link.h>

#define URI_MOST  (3 * PATH_MAX + 128) // bytes: a path, each byte as %XX, offset and size
#define URI_CHUNK 256
#define TRIES     3 // how often a list is read that changes while it is read

// Structs of <link.h> in the process, where their pointers are addresses.
_Static_assert(sizeof(struct r_debug) == 40, "r_debug of a 64-bit host");
_Static_assert(sizeof(struct link_map) == 40, "link_map of a 64-bit host");

static uint64_t address(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

// The string at this address; NULL when it cannot be read or is too long. It is read in aligned
// pieces, as the page behind its end may not be mapped.
static char *read_string(int mem, uint64_t at)
{
	char text[URI_MOST + URI_CHUNK];
	size_t len = 0;
	while (len <= URI_MOST) {
		size_t n = URI_CHUNK - (at + len) % URI_CHUNK;
		if (!code_read(mem, at + len, text + len, n))
			return NULL;
		if (memchr(text + len, '\0', n))
			return xstrdup(text);
		len += n;
	}
	return NULL;
}

static void truncate_list(struct code_list *l, size_t n)
{
	while (l->n > n)
		free(l->links[--l->n].uri);
}

void code_list_fini(struct code_list *l)
{
	truncate_list(l, 0);
	free(l->links);
	*l = (struct code_list){0};
}

// Adds links from address `at` on. False at a link that cannot be read, or whose predecessor is
// another: it was removed meanwhile, or closes a cycle.
static bool read_links(struct code_list *l, int mem, uint64_t at, size_t most)
{
	struct link_map k;
	for (uint64_t prev = 0; at && l->n < most; prev = at, at = address(k.l_next)) {
		char *uri = NULL;
		if (code_read(mem, at, &k, sizeof(k)) && address(k.l_prev) == prev && k.l_name)
			uri = read_string(mem, address(k.l_name));
		if (!uri)
			return false;
		*ARRAY_ADD(l->links, l->cap, l->n) = (struct code_link){at, k.l_addr, uri};
	}
	return true;
}

bool code_list_read(struct code_list *l, int mem, uint64_t r_debug, size_t most)
{
	struct r_debug d, again = {0};
	size_t before = l->n;
	bool whole = false;
	for (unsigned try = 0; try < TRIES && !whole; try++) {
		truncate_list(l, before);
		if (!code_read(mem, r_debug, &d, sizeof(d)) || d.r_version < 1)
			return false;
		whole = read_links(l, mem, address(d.r_map), most) &&
			code_read(mem, r_debug, &again, sizeof(again)) && again.r_map == d.r_map &&
			again.r_state == d.r_state;
	}
	return true;
}

// --- URIs of code objects ---

// Copies a URI's path up to '#', '?' or the end, and decodes %XX. Returns the rest, or NULL.
static const char *parse_path(const char *s, char *path)
{
	while (*s && *s != '#' && *s != '?') {
		int high, low;
		if (*s != '%') {
			*path++ = *s++;
			continue;
		}
		high = hex_digit(s[1]);
		low = high < 0 ? -1 : hex_digit(s[2]);
		if (low < 0 || !(high | low))
			return NULL;
		*path++ = (char)(high << 4 | low);
		s += 3;
	}
	*path = '\0';
	return s;
}

// Parses `name` and a number, decimal or 0x and hexadecimal. Returns the rest of `s`, or NULL.
static const char *parse_number(const char *s, const char *name, uint64_t *value)
{
	size_t len = strlen(name);
	if (strncmp(s, name, len) != 0)
		return NULL;
	s += len;
	const bool hex = s[0] == '0' && (s[1] | 0x20) == 'x';
	return number_read(hex ? s + 2 : s, NULL, hex ? 16 : 10, UINT64_MAX, value);
}

bool code_uri_parse(const char *uri, char *path, uint64_t *offset, uint64_t *size)
{
	bool file = strncmp(uri, "file://", 7) == 0;
	const char *s;
	uint64_t pid;
	*path = '\0';
	*offset = *size = 0;
	s = file ? parse_path(uri + 7, path) : parse_number(uri, "memory://", &pid);
	if (file && s && !*s)
		return *path == '/';
	if (!s || (file && *path != '/') || (*s != '#' && (!file || *s != '?')))
		return false;
	s = parse_number(s + 1, "offset=", offset);
	s = s ? parse_number(s, "&size=", size) : NULL;
	return s && !*s && *size;
}
