// Included by both sources. Lines count.
#define device __attribute__((device))
#define global __attribute__((global))

static device inline __attribute__((always_inline)) int twice(volatile int *at)
{
	return *at +
	       at[1];
}
