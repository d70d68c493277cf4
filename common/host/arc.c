// libarchive by dlopen(); see arc.h. The ABI has had this name since libarchive 3.0.
#include "common/host/arc.h"

LIB_GETTER(arc, "libarchive.so.13", ARC_FUNCTIONS)
