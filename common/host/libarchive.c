// libarchive by dlopen(); see libarchive.h. The ABI has had this name since libarchive 3.0.
#include "common/host/libarchive.h"

LIB_GETTER(arc, "libarchive.so.13", ARC_FUNCTIONS)
