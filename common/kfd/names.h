// Names of GPUs for people: from the PCI ID database (libpci) and from libdrm_amdgpu.
#ifndef GPQ_KFD_NAMES_H
#define GPQ_KFD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The libraries, loaded on first use; without them there are no names.
#define NAMES_LIBPCI "libpci.so.3"
#define NAMES_LIBDRM "libdrm_amdgpu.so.1"

// The PCI ID database (/usr/share/misc/pci.ids); the bus is not scanned. NULL: the library is
// missing.
struct pci_names *pci_names_new(void);
// Did libpci give up: no memory, or a damaged database? Names are unknown then.
bool pci_names_broken(const struct pci_names *n);
void pci_names_free(struct pci_names *n);

// Name of a vendor, or of a device when `device` is not KFD_UNKNOWN, in `name`; empty when the
// database does not know it, is missing or damaged.
void pci_names_lookup(struct pci_names *n, uint64_t vendor, uint64_t device, char *name,
		      size_t size);

// Marketing name of the GPU behind /dev/dri/renderD<minor> of the live host, or empty. Opens the
// render node, which wakes a GPU that sleeps. 0, or -errno: why there is no name (-EACCES: not in
// the group render; -ENODATA: the library knows none; -ENOPKG: there is no library).
int drm_marketing_name(uint64_t minor, char *name, size_t size);

#endif
