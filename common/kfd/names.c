// Names from libpci and libdrm_amdgpu; see names.h.
#include "common/kfd/names.h"

#include "common/host/dlopen.h"
#include "common/host/root.h"
#include "common/kfd/render.h"
#include "common/kfd/topology.h"

#include <amdgpu.h>
#include <pci/pci.h>
#include <setjmp.h>

#define PCI_FUNCTIONS(X) X(pci_alloc) X(pci_cleanup) X(pci_lookup_name)

#define DRM_FUNCTIONS(X)              \
	X(amdgpu_device_deinitialize) \
	X(amdgpu_device_initialize)   \
	X(amdgpu_get_marketing_name)

LIB(pci, NAMES_LIBPCI, PCI_FUNCTIONS, RECOMMENDED, "pci", "Names of GPUs and their vendors");
LIB(drm, NAMES_LIBDRM, DRM_FUNCTIONS, RECOMMENDED, "drm", "Marketing names of GPUs");

struct pci_names {
	const struct pci *lib;
	struct pci_access *access;
	bool broken;
};

// Where handle_error() jumps to, as libpci ends the program if its error handler returns (a damaged
// database); the handler gets no argument of ours.
static _Thread_local jmp_buf on_error;

static void __attribute__((noreturn)) handle_error(char *message, ...)
{
	(void)message;
	longjmp(on_error, 1);
}

// Drops messages of libpci, which needs a handler for them: pci_init() would set one, but it also
// scans the bus.
static void ignore_message(char *message, ...)
{
	(void)message;
}

struct pci_names *pci_names_new(void)
{
	const struct pci *lib = pci_get();
	if (!lib)
		return NULL;
	struct pci_names *n = xcalloc(1, sizeof(*n));
	n->lib = lib;
	n->access = lib->pci_alloc();
	n->access->error = handle_error;
	n->access->warning = ignore_message;
	n->access->debug = ignore_message;
	return n;
}

bool pci_names_broken(const struct pci_names *n)
{
	return n && n->broken;
}

void pci_names_free(struct pci_names *n)
{
	if (n)
		n->lib->pci_cleanup(n->access);
	free(n);
}

void pci_names_lookup(struct pci_names *n, uint64_t vendor, uint64_t device, char *name,
		      size_t size)
{
	*name = '\0';
	if (!n || n->broken || vendor > 0xffff || (device > 0xffff && device != KFD_UNKNOWN))
		return;
	if (setjmp(on_error)) {
		n->broken = true;
		*name = '\0';
		return;
	}
	int what = (device == KFD_UNKNOWN ? PCI_LOOKUP_VENDOR : PCI_LOOKUP_DEVICE) |
		   PCI_LOOKUP_NO_NUMBERS | PCI_LOOKUP_NO_HWDB;
	char text[256];
	const char *found = n->lib->pci_lookup_name(n->access, text, sizeof(text), what,
						    (int)vendor, (int)(device & 0xffff));
	if (found)
		snprintf(name, size, "%s", found);
}

// libdrm writes messages of its own to standard error, which is closed in the child.
static int ask_library(int fd, void *name, size_t size)
{
	const struct drm *lib = drm_get();
	uint32_t major_version = 0, minor_version = 0;
	amdgpu_device_handle device = NULL;
	if (!lib)
		return ENOPKG;
	int r = lib->amdgpu_device_initialize(fd, &major_version, &minor_version, &device);
	if (r)
		return r < 0 ? -r : EIO;
	const char *found = lib->amdgpu_get_marketing_name(device);
	if (found)
		snprintf(name, size, "%s", found);
	lib->amdgpu_device_deinitialize(device);
	return found ? 0 : ENODATA;
}

int drm_marketing_name(uint64_t minor, char *name, size_t size)
{
	memset(name, 0, size);
	if (host_is_live())
		drm_get(); // loaded here, once, for the children
	const int error = render_ask(minor, ask_library, name, size);
	name[size - 1] = '\0';
	return -error;
}
