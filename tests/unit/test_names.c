// Names of GPUs, common/kfd/names.c: libpci and libdrm_amdgpu are the test's, and so is the device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kfd/names.h"

#include "common/host/dlopen.h"
#include "common/host/root.h"
#include "common/kfd/topology.h"

#include <amdgpu.h>
#include <fcntl.h>
#include <pci/pci.h>
#include <sys/mman.h>

// Shared with the child that asks libdrm.
static struct fake {
	bool recorded, no_pci, no_drm, pci_fails;
	int open_error, init;
	const char *marketing;
	int device;            // descriptor of the render node
	unsigned open_devices; // devices of libdrm that are open
	struct pci_access access;
} * shared;
#define fake (*shared)

static bool fake_is_live(void)
{
	return !fake.recorded;
}

static int fake_open(const char *path, int flags)
{
	assert_string_equal(path, "/dev/dri/renderD128");
	assert_int_equal(flags, O_RDWR);
	errno = fake.open_error;
	fake.device = fake.open_error ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
	return fake.device;
}

static struct pci_access *fake_alloc(void)
{
	return &fake.access;
}

static void fake_cleanup(struct pci_access *a)
{
	assert_ptr_equal(a, &fake.access);
	a->error = NULL;
}

static char *fake_lookup(struct pci_access *a, char *text, int size, int flags, ...)
{
	char format[] = "%s";
	va_list ap;
	va_start(ap, flags);
	const int vendor = va_arg(ap, int), device = va_arg(ap, int);
	va_end(ap);
	a->warning(format, text);
	a->debug(format, text);
	if (fake.pci_fails)
		a->error(format, text);
	assert_int_equal(flags & ~(PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE),
			 PCI_LOOKUP_NO_NUMBERS | PCI_LOOKUP_NO_HWDB);
	if (flags & PCI_LOOKUP_VENDOR)
		snprintf(text, (size_t)size, "vendor %x", (unsigned)vendor);
	else
		snprintf(text, (size_t)size, "device %x:%x", (unsigned)vendor, (unsigned)device);
	return vendor == 0xdead ? NULL : text;
}

static int fake_initialize(int fd, uint32_t *major, uint32_t *minor, amdgpu_device_handle *device)
{
	// libdrm writes to descriptor 2: the device is none of the first three, and open once.
	assert_true(fd > STDERR_FILENO && fcntl(fd, F_GETFD) >= 0);
	assert_true(fd == fake.device || fcntl(fake.device, F_GETFD) < 0);
	assert_int_equal(*major | *minor, 0);
	fprintf(stderr, "libdrm says something\n"); // must not be seen
	fake.open_devices += fake.init == 0;
	*device = (void *)&fake;
	return fake.init;
}

static const char *fake_marketing(amdgpu_device_handle device)
{
	assert_ptr_equal(device, &fake);
	return fake.marketing;
}

static int fake_deinitialize(amdgpu_device_handle device)
{
	assert_ptr_equal(device, &fake);
	fake.open_devices--;
	return 0;
}

struct pci {
	__typeof__(&pci_alloc) pci_alloc;
	__typeof__(&pci_cleanup) pci_cleanup;
	__typeof__(&pci_lookup_name) pci_lookup_name;
};
struct drm {
	__typeof__(&amdgpu_device_deinitialize) amdgpu_device_deinitialize;
	__typeof__(&amdgpu_device_initialize) amdgpu_device_initialize;
	__typeof__(&amdgpu_get_marketing_name) amdgpu_get_marketing_name;
};

static const struct pci *pci_get(void)
{
	static const struct pci lib = {fake_alloc, fake_cleanup, fake_lookup};
	return fake.no_pci ? NULL : &lib;
}

static const struct drm *drm_get(void)
{
	static const struct drm lib = {fake_deinitialize, fake_initialize, fake_marketing};
	return fake.no_drm ? NULL : &lib;
}

#undef LIB
#define LIB(type, ...) struct type
#define host_is_live   fake_is_live
#define host_open      fake_open
// NOLINTBEGIN(bugprone-suspicious-include)
#include "common/kfd/names.c"
#include "common/kfd/render.c"
// NOLINTEND(bugprone-suspicious-include)

static int setup(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	return 0;
}

static void test_pci(void **state)
{
	static const struct {
		uint64_t vendor, device;
		const char *name;
	} cases[] = {
		{0x1002, 0x740f, "device 1002:740f"},
		{0x1002, KFD_UNKNOWN, "vendor 1002"},
		{0xffff, 0xffff, "device ffff:ffff"},
		{0x10000, 1, ""},
		{1, 0x10000, ""},
		{KFD_UNKNOWN, KFD_UNKNOWN, ""},
		{0xdead, 1, ""},
		{0xdead, KFD_UNKNOWN, ""},
	};
	char name[32];
	(void)state;
	fake.no_pci = true;
	struct pci_names *n = pci_names_new();
	assert_null(n);
	assert_false(pci_names_broken(n));
	strcpy(name, "x");
	pci_names_lookup(n, 1, 2, name, sizeof(name));
	assert_string_equal(name, "");
	pci_names_free(n);
	fake.no_pci = false;
	n = pci_names_new();
	for (size_t i = 0; i < COUNT(cases); i++) {
		strcpy(name, "x");
		pci_names_lookup(n, cases[i].vendor, cases[i].device, name, sizeof(name));
		assert_string_equal(name, cases[i].name);
	}
	pci_names_lookup(n, 0x1002, 0x740f, name, 9);
	assert_string_equal(name, "device 1");
	assert_false(pci_names_broken(n));
	fake.pci_fails = true; // once: it is not asked again
	pci_names_lookup(n, 0x1002, 0x740f, name, sizeof(name));
	assert_string_equal(name, "");
	assert_true(pci_names_broken(n));
	fake.pci_fails = false;
	strcpy(name, "x");
	pci_names_lookup(n, 0x1002, 0x740f, name, sizeof(name));
	assert_string_equal(name, "");
	pci_names_free(n);
	assert_null(fake.access.error); // pci_cleanup() was called
}

// Each way to a name, or to none; nothing stays open, and standard error is as before.
static void test_marketing(void **state)
{
	static const struct {
		const char *marketing;
		int open_error, init, status;
		bool recorded, no_drm;
	} cases[] = {
		{"AMD Instinct MI210", 0, 0, 0, false, false},
		{"x", 0, 0, -ENOENT, true, false},
		{"x", 0, 0, -ENOPKG, false, true},
		{"x", EACCES, 0, -EACCES, false, false},
		{"x", ENOENT, 0, -ENOENT, false, false},
		{"x", 0, -EPERM, -EPERM, false, false},
		{"x", 0, 1, -EIO, false, false},
		{NULL, 0, 0, -ENODATA, false, false},
	};
	char name[64], said[64] = "";
	FILE *f = tmpfile();
	(void)state;
	const int saved = dup(STDERR_FILENO);
	dup2(fileno(f), STDERR_FILENO);
	for (size_t i = 0; i < COUNT(cases); i++) {
		setup(NULL);
		fake.recorded = cases[i].recorded;
		fake.no_drm = cases[i].no_drm;
		fake.open_error = cases[i].open_error;
		fake.init = cases[i].init;
		fake.marketing = cases[i].marketing;
		fake.device = -1;
		strcpy(name, "x");
		const int next = dup(0); // the lowest free descriptor
		close(next);
		assert_int_equal(drm_marketing_name(128, name, sizeof(name)), cases[i].status);
		assert_string_equal(name, cases[i].status ? "" : cases[i].marketing);
		assert_int_equal(fake.open_devices, 0);
		const int again = dup(0);
		close(again);
		assert_int_equal(again, next);
		assert_int_equal(fake.device >= 0, !cases[i].recorded && !cases[i].open_error);
		fprintf(stderr, "%zu", i);
	}
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_true(pread(fileno(f), said, sizeof(said) - 1, 0) > 0);
	assert_string_equal(said, "01234567");
	fclose(f);
	fake.device = -1;
	assert_int_equal(drm_marketing_name(UINT64_C(1) << 32, name, sizeof(name)), -ENOENT);
	assert_int_equal(drm_marketing_name(KFD_UNKNOWN, name, sizeof(name)), -ENOENT);
	assert_int_equal(fake.device, -1);
	fake.marketing = "AMD Instinct";
	assert_int_equal(drm_marketing_name(128, name, 4), 0);
	assert_string_equal(name, "AMD");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_pci, setup),
						  cmocka_unit_test_setup(test_marketing, setup)};
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
