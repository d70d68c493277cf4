// C++ names for people: _Z5scalePff -> scale(float*, float).
//
// The demangler of libstdc++ (__cxa_demangle) reads the names. It was made for names of compilers:
// a made-up name of 90 characters keeps it busy for hours, one of 200 makes it write gigabytes. So
// it runs in the reader's child (reader.h), with a limit of processor time for each name, which
// also bounds its memory, and one for all. A name that ends the child stays mangled.
#pragma once

#include "common/host/std.h"

#define DEMANGLE_FROM_MOST 4096  // bytes of a name; libstdc++ itself refuses more than 1024
#define DEMANGLE_TO_MOST   16384 // bytes of a demangled name, with NUL
#define DEMANGLE_MS        50    // ms of processor time for one name; usual names take 0.05
#define DEMANGLE_LOST_MOST 4     // lost names (too slow, or fatal to the child) that end demangling
// Limit of processor time for all names, in ns: the first number, plus the second for each name.
#define DEMANGLE_ALL_NS  500000000u
#define DEMANGLE_EACH_NS 500000u

struct demangler;

// Returns NULL with errno ENOPKG if there is no libstdc++.so.6.
struct demangler *demangler_new(void);
void demangler_free(struct demangler *d); // NULL: does nothing

// Returns the demangled name, valid until the next call; NULL when `name` does not begin with _Z,
// the library refuses it, or a limit is reached. For one thread at a time.
const char *demangle(struct demangler *d, const char *name);

// Returns how many names took too long, ended the child, or could not be given to a child.
unsigned demangler_lost(const struct demangler *d);
