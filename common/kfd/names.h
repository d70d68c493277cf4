// Names of GPUs for people: from the PCI ID database (libpci) and from libdrm_amdgpu.
#pragma once

#include "common/host/std.h"

// The libraries, loaded on first use; without a library its names are missing.
#define NAMES_LIBPCI "libpci.so.3"
#define NAMES_LIBDRM "libdrm_amdgpu.so.1"

// Opens the PCI ID database (/usr/share/misc/pci.ids). NULL: libpci is missing.
struct pci_names *pci_names_new(void);
void pci_names_free(struct pci_names *n);

// Did libpci give up (no memory, a damaged database)? Names are unknown then.
bool pci_names_broken(const struct pci_names *n);

// Sets `name` to the name of a device, or of its vendor if `device` is KFD_UNKNOWN; "" if unknown.
void pci_names_lookup(struct pci_names *n, uint64_t vendor, uint64_t device, char *name,
		      size_t size);

// Sets `name` to the marketing name of the GPU of /dev/dri/renderD<minor>, or to "". Opens the
// device by render_ask(). Returns 0, or -errno: -EACCES not in the group render, -ENODATA no name
// in libdrm, -ENOPKG no libdrm, others as render_ask().
int drm_marketing_name(uint64_t minor, char *name, size_t size);
