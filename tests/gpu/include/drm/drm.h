// <linux/kfd_ioctl.h> wants it here; Debian has it in libdrm-dev, in another folder.
#include <libdrm/drm.h>
