// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: a PCI root bus made of software, one device per GPU.
 *
 * Config space only, no BARs: enough for lspci, sysfs and the driver core to treat the GPUs as
 * PCI devices with a bus address of their own (0000:c0:NN.0 unless told otherwise).
 */
#include <linux/pci.h>
#include "softgpu.h"

#define SG_SUBSYSTEM_ID 0x5af7

static int pci_domain;
module_param(pci_domain, int, 0444);
MODULE_PARM_DESC(pci_domain, "PCI domain of the GPUs (default 0)");
static int pci_bus = 0xc0;
module_param(pci_bus, int, 0444);
MODULE_PARM_DESC(pci_bus, "PCI bus of the GPUs (default 0xc0)");

static struct {
	const struct sg_model *model;
	u8 config[256];
} slots[SG_MAX_GPUS];
static int n_slots;
static struct pci_bus *root_bus;

static int config_read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	int slot = PCI_SLOT(devfn);

	*value = ~0;
	if (PCI_FUNC(devfn) || slot >= n_slots)
		return PCIBIOS_DEVICE_NOT_FOUND;
	*value = 0;
	if (where + size <= (int)sizeof(slots[slot].config))
		memcpy(value, &slots[slot].config[where], size);
	return PCIBIOS_SUCCESSFUL;
}

/* Only the command register is writable; there are no BARs to size. */
static int config_write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	if (where == PCI_COMMAND && PCI_SLOT(devfn) < n_slots)
		memcpy(&slots[PCI_SLOT(devfn)].config[where], &value, 2);
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops bus_ops = {.read = config_read, .write = config_write};
static struct pci_sysdata bus_sysdata = {.node = NUMA_NO_NODE};
static struct resource bus_resource = {.name = "softgpu bus", .flags = IORESOURCE_BUS};

static void add_slot(const struct sg_model *model)
{
	u8 *config = slots[n_slots].config;

	slots[n_slots++].model = model;
	*(u16 *)(config + PCI_VENDOR_ID) = PCI_VENDOR_ID_ATI;
	*(u16 *)(config + PCI_DEVICE_ID) = model->device_id;
	*(u16 *)(config + PCI_SUBSYSTEM_VENDOR_ID) = PCI_VENDOR_ID_ATI;
	*(u16 *)(config + PCI_SUBSYSTEM_ID) = SG_SUBSYSTEM_ID;
	config[PCI_REVISION_ID] = model->revision;
	*(u16 *)(config + PCI_CLASS_DEVICE) = PCI_CLASS_ACCELERATOR_PROCESSING;
}

static int parse_models(const char *models)
{
	char *list = kstrdup(models, GFP_KERNEL), *rest = list, *name;
	int err = list ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, ","))) {
		const struct sg_model *model = sg_model_find(name);

		if (!*name)
			continue;
		if (!model || n_slots == SG_MAX_GPUS) {
			pr_err("softgpu: gpus=%s: %s\n", name,
			       model ? "too many GPUs" : "no such model");
			err = -EINVAL;
		} else {
			add_slot(model);
		}
	}
	kfree(list);
	return err;
}

/* The GPU driver must be registered: its probe runs from here. */
int sg_bus_add(const char *models)
{
	LIST_HEAD(resources);
	int err = parse_models(models);

	if (err || !n_slots)
		return err;
	bus_sysdata.domain = pci_domain;
	bus_resource.start = bus_resource.end = pci_bus;
	pci_add_resource(&resources, &bus_resource);
	root_bus = pci_create_root_bus(NULL, pci_bus, &bus_ops, &bus_sysdata, &resources);
	if (!root_bus) {
		pci_free_resource_list(&resources);
		return -EBUSY;
	}
	pci_lock_rescan_remove();
	pci_scan_child_bus(root_bus);
	pci_bus_add_devices(root_bus);
	pci_unlock_rescan_remove();
	return 0;
}

void sg_bus_remove(void)
{
	if (!root_bus)
		return;
	pci_lock_rescan_remove();
	pci_stop_root_bus(root_bus);
	pci_remove_root_bus(root_bus);
	pci_unlock_rescan_remove();
}

/* The driver's ID table matches every AMD device: this keeps it off real cards. */
const struct sg_model *sg_bus_model(const struct pci_dev *pdev)
{
	return root_bus && pdev->bus == root_bus ? slots[PCI_SLOT(pdev->devfn)].model : NULL;
}
