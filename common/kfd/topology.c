// Reading /sys/class/kfd/kfd/topology; see topology.h.
#include "common/kfd/topology.h"

#include "common/host/array.h"
#include "common/host/root.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES "/sys/class/kfd/kfd/topology/nodes"

// The name as a decimal number, or -1.
static int64_t entry_number(const char *name)
{
	char *end = NULL;
	if (!isdigit((unsigned char)*name) || strlen(name) > 9)
		return -1;
	long v = strtol(name, &end, 10);
	return *end ? -1 : v;
}

static int compare_node(const void *a, const void *b)
{
	const struct kfd_gpu *x = a, *y = b;
	return (x->node > y->node) - (x->node < y->node);
}

// EINVAL: not a number of 32 bits.
static int read_gpu_id(struct kfd_gpu *g)
{
	char path[80];
	snprintf(path, sizeof(path), NODES "/%u/gpu_id", (unsigned)g->node);
	uint64_t v = 0;
	if (host_read_u64(path, &v))
		return -1;
	errno = EINVAL;
	if (v > UINT32_MAX)
		return -1;
	g->gpu_id = v;
	return 0;
}

enum node_kind { NODE_GPU, NODE_CPU, NODE_GONE };

// A CPU's properties are not read at all: gpu_id 0 says enough.
static enum node_kind read_node(struct kfd_gpu *g, struct buf *b)
{
	if (read_gpu_id(g)) {
		g->error = errno;
		g->error_file = "gpu_id";
	}
	if (g->gpu_id == 0)
		return NODE_CPU;
	// The device cgroup denies both files alike; but a recording may lack just the first.
	if (g->error && g->error != ENOENT && g->error != EINVAL)
		return NODE_GPU;
	if (host_readf(b, NODES "/%u/properties", (unsigned)g->node) < 0) {
		if (errno == ENOENT && g->error == ENOENT)
			return NODE_GONE;
		g->error = errno;
		g->error_file = "properties";
		return NODE_GPU;
	}
	kfd_gpu_parse(g, b->data, b->len);
	kfd_gpu_derive(g);
	return g->gpu_id == KFD_UNKNOWN && g->simd_count == 0 ? NODE_CPU : NODE_GPU;
}

static void read_memory(struct kfd_gpu *g, struct buf *b)
{
	uint64_t sum = g->local_mem_bytes == KFD_UNKNOWN ? 0 : g->local_mem_bytes;
	DIR *d = sum ? NULL : host_opendirf(NODES "/%u/mem_banks", (unsigned)g->node);
	for (struct dirent *e = NULL; d && (e = readdir(d));) {
		int64_t bank = entry_number(e->d_name);
		if (bank >= 0 && host_readf(b, NODES "/%u/mem_banks/%u/properties",
					    (unsigned)g->node, (unsigned)bank) > 0)
			sum += kfd_bank_bytes(b->data, b->len);
	}
	if (d)
		closedir(d);
	if (sum)
		g->vram_bytes = sum;
}

// "0000:0a:00.0"; domains may be longer than four digits.
static bool is_bdf(const char *s)
{
	static const char shape[] = ":xx:xx.x";
	size_t domain = strspn(s, "0123456789abcdefABCDEF");
	if (domain < 4 || strlen(s) != domain + strlen(shape))
		return false;
	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == 'x' ? !isxdigit((unsigned char)s[domain + i])
				    : s[domain + i] != shape[i])
			return false;
	return true;
}

enum owner { OWNER_UNKNOWN, OWNER_PCI, OWNER_XCP };

static enum owner owner_of(struct kfd_gpu *g, const char *device)
{
	if (strncmp(device, "amdgpu_xcp", strlen("amdgpu_xcp")) == 0)
		return OWNER_XCP;
	if (!is_bdf(device) || strlen(device) >= sizeof(g->bdf))
		return OWNER_UNKNOWN;
	snprintf(g->bdf, sizeof(g->bdf), "%.*s", (int)sizeof(g->bdf) - 1, device);
	return OWNER_PCI;
}

// Which device the render node belongs to. That of a GPU's first partition is on the PCI device,
// those of the others on platform devices of their own: amdgpu_xcp.<n> (amdgpu_xcp_drv.c).
static enum owner read_owner(struct kfd_gpu *g, struct buf *b)
{
	char path[64], target[512];
	if (g->render_minor > UINT32_MAX)
		return OWNER_UNKNOWN;
	unsigned minor = (unsigned)g->render_minor;
	snprintf(path, sizeof(path), "/sys/class/drm/renderD%u/device", minor);
	if (host_readlink(path, target, sizeof(target)) > 0) {
		const char *slash = strrchr(target, '/');
		return owner_of(g, slash ? slash + 1 : target);
	}
	// Recordings often hold a directory in place of the link.
	if (host_readf(b, "/sys/class/drm/renderD%u/device/uevent", minor) <= 0)
		return OWNER_UNKNOWN;
	const char *slot = strstr(b->data, "PCI_SLOT_NAME=");
	if (!slot)
		return strstr(b->data, "amdgpu_xcp") ? OWNER_XCP : OWNER_UNKNOWN;
	char *name = b->data + (slot - b->data) + strlen("PCI_SLOT_NAME=");
	name[strcspn(name, "\n")] = '\0';
	return owner_of(g, name);
}

// A partition's function bits hold its number: the device is that of function 0.
static void read_bdf(struct kfd_gpu *g, struct buf *b)
{
	size_t len = strlen(g->bdf);
	enum owner owner = read_owner(g, b);
	g->bdf_of_device = owner != OWNER_UNKNOWN;
	if (owner == OWNER_XCP && len)
		g->bdf[len - 1] = '0';
}

static void read_more(struct kfd_gpu *g, unsigned what, struct buf *b)
{
	if (what & KFD_TOPOLOGY_BDF)
		read_bdf(g, b);
	if (what & KFD_TOPOLOGY_NAME && host_readf(b, NODES "/%u/name", (unsigned)g->node) > 0)
		snprintf(g->name, sizeof(g->name), "%.*s", (int)strcspn(b->data, "\n"), b->data);
	if (what & KFD_TOPOLOGY_MEMORY)
		read_memory(g, b);
}

static int load_node(struct kfd_topology *t, unsigned node, unsigned what, struct buf *b)
{
	if (ARRAY_GROW(t->gpus, t->cap, t->n))
		return -ENOMEM;
	struct kfd_gpu *g = &t->gpus[t->n];
	kfd_gpu_init(g);
	g->node = node;
	enum node_kind kind = read_node(g, b);
	t->cpu_nodes += kind == NODE_CPU;
	t->n += kind == NODE_GPU;
	if (kind == NODE_GPU && (g->gfx[0] || g->gpu_id != KFD_UNKNOWN))
		read_more(g, what, b);
	return 0;
}

static void number_gpus(struct kfd_topology *t)
{
	uint64_t index = 0;
	if (t->n)
		qsort(t->gpus, t->n, sizeof(*t->gpus), compare_node);
	for (size_t i = 0; i < t->n; i++)
		if (t->gpus[i].gpu_id != KFD_UNKNOWN && !t->gpus[i].error)
			t->gpus[i].index = index++;
}

int kfd_topology_load(struct kfd_topology *t, unsigned what)
{
	struct buf b = {0};
	int r = 0;
	*t = (struct kfd_topology){0};
	DIR *d = host_opendir(NODES);
	if (!d)
		return -errno;
	for (struct dirent *e = NULL; !r && (e = readdir(d));) {
		int64_t node = entry_number(e->d_name);
		if (node >= 0)
			r = load_node(t, (unsigned)node, what, &b);
	}
	closedir(d);
	buf_fini(&b);
	if (r)
		kfd_topology_fini(t);
	else
		number_gpus(t);
	return r;
}

bool kfd_topology_has_gpu(void)
{
	struct kfd_topology t = {0};
	bool any = kfd_topology_load(&t, 0) == 0 && t.n > 0;

	kfd_topology_fini(&t);
	return any;
}

void kfd_topology_fini(struct kfd_topology *t)
{
	free(t->gpus);
	*t = (struct kfd_topology){0};
}

struct kfd_gpu *kfd_topology_find(const struct kfd_topology *t, uint64_t gpu_id)
{
	for (size_t i = 0; i < t->n && gpu_id != KFD_UNKNOWN; i++)
		if (t->gpus[i].gpu_id == gpu_id)
			return &t->gpus[i];
	return NULL;
}

static bool parse_base(const char *s, int base, uint64_t *value)
{
	char *end = NULL;
	if (!isxdigit((unsigned char)*s) || strlen(s) > 10)
		return false;
	*value = strtoull(s, &end, base);
	return *end == '\0';
}

static bool select_index(struct kfd_topology *t, const char *word)
{
	uint64_t v = 0;
	bool found = false;
	for (size_t i = 0; parse_base(word, 10, &v) && i < t->n; i++)
		if (t->gpus[i].index == v)
			found = t->gpus[i].selected = true;
	return found;
}

static bool select_id(struct kfd_topology *t, const char *word, int base)
{
	uint64_t v = 0;
	struct kfd_gpu *g = parse_base(word, base, &v) ? kfd_topology_find(t, v) : NULL;
	if (g)
		g->selected = true;
	return g;
}

static bool select_bdf(struct kfd_topology *t, const char *word)
{
	char full[24];
	bool found = false;
	bool domain = strchr(word, ':') != strrchr(word, ':');
	if (snprintf(full, sizeof(full), "%s%s", domain ? "" : "0000:", word) >= (int)sizeof(full))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (*word && strcasecmp(t->gpus[i].bdf, full) == 0)
			found = t->gpus[i].selected = true;
	return found;
}

const char *kfd_topology_select(struct kfd_topology *t, char *const *words, size_t n)
{
	for (size_t i = 0; i < t->n; i++)
		t->gpus[i].selected = n == 0;
	for (size_t i = 0; i < n; i++)
		if (!select_index(t, words[i]) && !select_id(t, words[i], 10) &&
		    !select_id(t, words[i], 16) && !select_bdf(t, words[i]))
			return words[i];
	return NULL;
}
