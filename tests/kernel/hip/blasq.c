/*
 * blasq: rocBLAS calls on several HIP streams: real library kernels (Tensile), hundreds of them.
 *
 * usage: blasq STREAMS CALLS [PREFIX [HOLD-SECONDS]]; PREFIX.truth says what was called on each
 * stream and appears when all is done; the streams stay until PREFIX.go appears.
 * Prototypes and constants follow rocBLAS's public header (rocblas.h): handles are opaque pointers,
 * 111 is "not transposed".
 */
#define __HIP_PLATFORM_AMD__
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <hip/hip_runtime_api.h>

enum { MAX_STREAMS = 16, NO_TRANSPOSE = 111, LEADING = 4096 };
enum call { SGEMM, DGEMM, SAXPY, SSCAL, CALLS };

static const char *const call_names[CALLS] = {"sgemm", "dgemm", "saxpy", "sscal"};

static struct {
	__typeof__(hipInit) *init;
	__typeof__(hipMalloc) *malloc;
	__typeof__(hipStreamCreateWithPriority) *stream;
	__typeof__(hipStreamSynchronize) *sync;
	int (*create)(void **);
	int (*set_stream)(void *, hipStream_t);
	int (*sgemm)(void *, int, int, int, int, int, const float *, const float *, int,
		     const float *, int, const float *, float *, int);
	int (*dgemm)(void *, int, int, int, int, int, const double *, const double *, int,
		     const double *, int, const double *, double *, int);
	int (*saxpy)(void *, int, const float *, const float *, int, float *, int);
	int (*sscal)(void *, int, const float *, float *, int);
} fn;

static struct {
	hipStream_t handle;
	void *blas;
	long calls[CALLS];
} streams[MAX_STREAMS];

static void *memory;

static void must(int r, const char *what)
{
	if (!r)
		return;
	fprintf(stderr, "blasq: %s: %d\n", what, r);
	exit(1);
}

static void *library(const char *name)
{
	void *l = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
	if (l)
		return l;
	fprintf(stderr, "blasq: %s\n", dlerror());
	exit(1);
}

static void *symbol(void *lib, const char *name)
{
	void *s = dlsym(lib, name);
	if (s)
		return s;
	fprintf(stderr, "blasq: %s\n", dlerror());
	exit(1);
}

static void load(void)
{
	const char *name = getenv("HIPLIB");
	void *hip = library(name ? name : "libamdhip64.so.5"), *blas = library("librocblas.so.0");
	fn.init = symbol(hip, "hipInit");
	fn.malloc = symbol(hip, "hipMalloc");
	fn.stream = symbol(hip, "hipStreamCreateWithPriority");
	fn.sync = symbol(hip, "hipStreamSynchronize");
	fn.create = symbol(blas, "rocblas_create_handle");
	fn.set_stream = symbol(blas, "rocblas_set_stream");
	fn.sgemm = symbol(blas, "rocblas_sgemm");
	fn.dgemm = symbol(blas, "rocblas_dgemm");
	fn.saxpy = symbol(blas, "rocblas_saxpy");
	fn.sscal = symbol(blas, "rocblas_sscal");
}

static unsigned next_random(void)
{
	static unsigned x = 12345;
	x = x * 1664525u + 1013904223u;
	return x >> 8;
}

/* One call of a random kind and size on a random stream; five in eight are sgemm. Nothing is
 * transposed: each form of a gemm is one more library of kernels to load, which takes an emulated
 * processor half a minute. */
static void call(int n_streams)
{
	static const int sizes[][3] = {{64, 64, 64},    {128, 128, 128}, {512, 512, 512},
				       {1024, 64, 256}, {17, 33, 65},    {2048, 2048, 32},
				       {1, 4096, 512},  {768, 3072, 768}};
	static const float one = 1, half = 0.5;
	static const double done = 1, dhalf = 0.5;
	int s = next_random() % n_streams;
	const int *z = sizes[next_random() % 8];
	unsigned kind = next_random() % 8;
	enum call c = kind < 5 ? SGEMM : (enum call)(kind - 4);
	void *b = streams[s].blas;
	switch (c) {
	case SGEMM:
		must(fn.sgemm(b, NO_TRANSPOSE, NO_TRANSPOSE, z[0], z[1], z[2], &one, memory,
			      LEADING, memory, LEADING, &half, memory, LEADING),
		     "sgemm");
		break;
	case DGEMM:
		must(fn.dgemm(b, NO_TRANSPOSE, NO_TRANSPOSE, z[0], z[1], z[2], &done, memory,
			      LEADING, memory, LEADING, &dhalf, memory, LEADING),
		     "dgemm");
		break;
	case SAXPY: must(fn.saxpy(b, z[0] * 100, &one, memory, 1, memory, 1), "saxpy"); break;
	default: must(fn.sscal(b, z[0] * 100, &half, memory, 1), "sscal");
	}
	streams[s].calls[c]++;
}

static void write_truth(const char *prefix, int n)
{
	char from[512], to[512];
	FILE *f;
	snprintf(from, sizeof(from), "%s.new", prefix);
	snprintf(to, sizeof(to), "%s.truth", prefix);
	f = fopen(from, "w");
	must(!f, from);
	fprintf(f, "pid %d\n", getpid());
	for (int i = 0; i < n; i++) {
		fprintf(f, "stream %d handle %p", i, (void *)streams[i].handle);
		for (int c = 0; c < CALLS; c++)
			fprintf(f, " %s %ld", call_names[c], streams[i].calls[c]);
		fputc('\n', f);
	}
	fclose(f);
	rename(from, to);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2, calls = argc > 2 ? atoi(argv[2]) : 100;
	int hold_s = argc > 4 ? atoi(argv[4]) : 0;
	char go[512];
	if (n < 1 || n > MAX_STREAMS || calls < 0) {
		fprintf(stderr, "usage: blasq STREAMS CALLS [PREFIX [HOLD-SECONDS]]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	load();
	must(fn.init(0), "hipInit");
	must(fn.malloc(&memory, 256 << 20), "hipMalloc");
	for (int i = 0; i < n; i++) {
		must(fn.stream(&streams[i].handle, hipStreamNonBlocking, 1 - i % 3), "stream");
		must(fn.create(&streams[i].blas), "rocblas_create_handle");
		must(fn.set_stream(streams[i].blas, streams[i].handle), "rocblas_set_stream");
	}
	printf("blasq: pid %d start launching\n", getpid());
	for (int i = 0; i < calls; i++)
		call(n);
	for (int i = 0; i < n; i++)
		must(fn.sync(streams[i].handle), "hipStreamSynchronize");
	if (argc > 3)
		write_truth(argv[3], n);
	printf("blasq: %d calls done\n", calls);
	snprintf(go, sizeof(go), "%s.go", argc > 3 ? argv[3] : "/tmp/blasq");
	for (int i = 0; i < hold_s * 50 && access(go, F_OK); i++)
		usleep(20000);
	return 0;
}
