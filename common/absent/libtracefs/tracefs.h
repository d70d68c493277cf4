#pragma once

#include "common/absent/absent.h"

const char *tracefs_tracing_dir();
char *tracefs_instance_file_read();
