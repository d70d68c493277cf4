// Reading /sys/class/kfd/kfd/topology; see topology.h.
#include "common/kfd/topology.h"

#include "common/host/root.h"

#include <ctype.h>

#define NODES "/sys/class/kfd/kfd/topology/nodes"
#define DRM   "/sys/class/drm"

COMPARE_BY(compare_node, struct kfd_gpu, node)

enum node_kind { NODE_GPU, NODE_CPU, NODE_GONE };

// Reads a node's gpu_id, and its properties unless gpu_id is 0, which means a CPU.
static enum node_kind read_node(struct kfd_gpu *g, struct buf *b)
{
	uint64_t id = 0;
	const int failed = host_read_u64(PATH(NODES "/%u/gpu_id", (unsigned)g->node), &id);
	g->error = failed ? errno : id > UINT32_MAX ? EINVAL : 0;
	if (g->error)
		g->error_file = "gpu_id";
	else
		g->gpu_id = id;
	if (g->gpu_id == 0)
		return NODE_CPU;
	// A device cgroup denies properties, too; only a recorded host may lack gpu_id alone.
	if (g->error && g->error != ENOENT && g->error != EINVAL)
		return NODE_GPU;
	if (host_read(b, PATH(NODES "/%u/properties", (unsigned)g->node)) < 0) {
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
	SCOPED(closedir_at)
	DIR *d = sum ? NULL : host_opendir(PATH(NODES "/%u/mem_banks", (unsigned)g->node));
	for (struct dirent *e = NULL; d && (e = host_readdir(d));) {
		uint32_t bank;
		if (kfd_parse_id(e->d_name, &bank) &&
		    host_read(b, PATH(NODES "/%u/mem_banks/%u/properties", (unsigned)g->node,
				      bank)) > 0)
			sum += kfd_bank_bytes(b->data, b->len);
	}
	if (sum)
		g->vram_bytes = sum;
}

// Is this a PCI address like "0000:0a:00.0"? Its domain may have more than four digits.
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

// Takes the PCI address from the name of a render node's device. A GPU's first partition has the
// PCI device; the others have platform devices, amdgpu_xcp.<n> (amdgpu_xcp_drv.c), and a bdf whose
// function may be the number of the partition.
static void set_device(struct kfd_gpu *g, const char *device)
{
	const bool xcp = strncmp(device, "amdgpu_xcp", strlen("amdgpu_xcp")) == 0;
	const size_t len = strlen(g->bdf);
	if (!xcp && (!is_bdf(device) || strlen(device) >= sizeof(g->bdf)))
		return;
	g->bdf_of_device = true;
	if (!xcp)
		snprintf(g->bdf, sizeof(g->bdf), "%.*s", (int)sizeof(g->bdf) - 1, device);
	else if (len)
		g->bdf[len - 1] = '0';
}

static void read_bdf(struct kfd_gpu *g, struct buf *b)
{
	char target[512];
	const unsigned minor = (unsigned)g->render_minor;
	if (g->render_minor > UINT32_MAX)
		return;
	if (host_readlink(PATH(DRM "/renderD%u/device", minor), target, sizeof(target)) > 0) {
		set_device(g, basename(target));
		return;
	}
	// A recorded host may have `device` as a folder in place of a link.
	if (host_read(b, PATH(DRM "/renderD%u/device/uevent", minor)) <= 0)
		return;
	char *slot = strstr(b->data, "PCI_SLOT_NAME=");
	char *name = slot ? slot + strlen("PCI_SLOT_NAME=") : strstr(b->data, "amdgpu_xcp");
	if (name) {
		name[strcspn(name, "\n")] = '\0';
		set_device(g, name);
	}
}

static void load_node(struct kfd_topology *t, unsigned node, unsigned what, struct buf *b)
{
	ARRAY_GROW(t->gpus, t->cap, t->n);
	struct kfd_gpu *g = &t->gpus[t->n];
	kfd_gpu_init(g);
	g->node = node;
	enum node_kind kind = read_node(g, b);
	t->cpu_nodes += kind == NODE_CPU;
	t->n += kind == NODE_GPU;
	if (kind != NODE_GPU || (!g->gfx[0] && g->gpu_id == KFD_UNKNOWN))
		return;
	if (what & KFD_TOPOLOGY_BDF)
		read_bdf(g, b);
	if (what & KFD_TOPOLOGY_NAME && host_read(b, PATH(NODES "/%u/name", node)) > 0)
		snprintf(g->name, sizeof(g->name), "%.*s", (int)strcspn(b->data, "\n"), b->data);
	if (what & KFD_TOPOLOGY_MEMORY)
		read_memory(g, b);
}

int kfd_topology_load(struct kfd_topology *t, unsigned what)
{
	SCOPED(buf_fini) struct buf b = {0};
	uint64_t index = 0;
	*t = (struct kfd_topology){0};
	SCOPED(closedir_at) DIR *d = host_opendir(NODES);
	if (!d)
		return -errno;
	for (struct dirent *e; (e = host_readdir(d));) {
		uint32_t node;
		if (kfd_parse_id(e->d_name, &node))
			load_node(t, node, what, &b);
	}
	ARRAY_SORT(t->gpus, t->n, compare_node);
	for (size_t i = 0; i < t->n; i++)
		if (t->gpus[i].gpu_id != KFD_UNKNOWN && !t->gpus[i].error)
			t->gpus[i].index = index++;
	return 0;
}

bool kfd_topology_has_gpu(void)
{
	SCOPED(kfd_topology_fini) struct kfd_topology t = {0};
	return kfd_topology_load(&t, 0) == 0 && t.n > 0;
}

uint64_t kfd_num_kcq(void)
{
	enum { MOST = 8 }; // and the default
	SCOPED(buf_fini) struct buf b = {0};
	uint64_t n;
	if (host_read(&b, "/sys/module/amdgpu/parameters/num_kcq") <= 0)
		return KFD_UNKNOWN;
	return kfd_parse_number(b.data, b.data + b.len, &n) && n <= MOST ? n : MOST;
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

// What a word of --gpu can mean; an earlier meaning is preferred.
enum meaning { INDEX, DECIMAL_ID, HEX_ID, ADDRESS, DEVICE, MEANINGS };

// Is it the GPU's DRM device, "renderD128" or "card0"? Both have the same parent in sysfs.
static bool is_device(const struct kfd_gpu *g, const char *word)
{
	char render[32], parent[512], of[512];
	uint32_t card;
	snprintf(render, sizeof(render), "renderD%" PRIu64, g->render_minor);
	if (strcmp(word, render) == 0)
		return true;
	return strncmp(word, "card", 4) == 0 && kfd_parse_id(word + 4, &card) &&
	       host_readlink(PATH(DRM "/card%u/device", card), parent, sizeof(parent)) > 0 &&
	       host_readlink(PATH(DRM "/%s/device", render), of, sizeof(of)) > 0 &&
	       strcmp(basename(parent), basename(of)) == 0;
}

static bool is_meant(const struct kfd_gpu *g, const char *word, enum meaning m)
{
	if (m == ADDRESS) {
		bool domain = strchr(word, ':') != strrchr(word, ':');
		size_t skip = domain || strncmp(g->bdf, "0000:", 5) != 0 ? 0 : 5;
		return *word && strcasecmp(g->bdf + skip, word) == 0;
	}
	if (m == DEVICE)
		return is_device(g, word);
	char *end = NULL;
	uint64_t v = strtoull(word, &end, m == HEX_ID ? 16 : 10);
	return isxdigit((unsigned char)*word) && strlen(word) <= 10 && !*end &&
	       v == (m == INDEX ? g->index : g->gpu_id);
}

const char *kfd_topology_select(struct kfd_topology *t, char *const *words, size_t n)
{
	for (size_t i = 0; i < t->n; i++)
		t->gpus[i].selected = n == 0;
	for (size_t i = 0; i < n; i++) {
		bool found = false;
		for (enum meaning m = 0; m < MEANINGS && !found; m++)
			for (size_t k = 0; k < t->n; k++)
				if (is_meant(&t->gpus[k], words[i], m))
					found = t->gpus[k].selected = true;
		if (!found)
			return words[i];
	}
	return NULL;
}
