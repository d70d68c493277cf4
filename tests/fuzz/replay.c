// Runs a fuzz target over the files named, as libFuzzer would one after the other; prints TAP.
#include "common/host/std.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct buf b = {0};
		if (buf_read_at(&b, AT_FDCWD, argv[i]) < 0) {
			printf("not ok %d - %s: cannot be read\n", i, argv[i]);
		} else {
			LLVMFuzzerTestOneInput((const uint8_t *)b.data, b.len);
			printf("ok %d - %s\n", i, argv[i]);
		}
		fflush(stdout);
		buf_fini(&b);
	}
	printf("1..%d\n", argc - 1);
	return 0;
}
