// Shared libraries that are loaded when they are first needed.
//
// Linked, libpci, libdrm_amdgpu, libpcre2, libsmartcols and libarchive load 22 libraries at the
// start of every gpq (udev, XML, ICU, ...). Suspending a queue must not wait for a PCI database.
//
// A library is a list of the functions that are used, its struct has a member for each of them:
//
//   #define SCOLS_FUNCTIONS(X) X(scols_new_table) X(scols_unref_table)
//   LIB(scols, "libsmartcols.so.1", SCOLS_FUNCTIONS, RECOMMENDED, "smartcols", "coloured tables");
//   ...
//   const struct scols *lib = scols_get();
//   struct libscols_table *t = lib ? lib->scols_new_table() : NULL;
//
// Packagers find each library in an ELF note of the program (`readelf -p .note.dlopen gpq`), as
// https://systemd.io/ELF_DLOPEN_METADATA defines it. `make DLOPEN=no` (GPQ_LINKED) links all
// libraries instead, and writes no notes.
#pragma once

#include "common/host/std.h"

// Looks up `n` functions of the library `soname` and stores their addresses in `api`, in order.
// False with errno ENOPKG when the library or a function is missing, ENOMEM or EMFILE.
// Never unloads the library.
bool lib_load(const char *soname, const char *const *names, size_t n, void *api);

// How many libraries were loaded so far.
unsigned lib_count(void);

#define LIB_MEMBER(name)      __typeof__ (&(name))(name);
#define LIB_STRUCT(FUNCTIONS) FUNCTIONS(LIB_MEMBER)

// Makes a string of a function's name, in two steps as PCRE2's names are macros.
#define LIB_NAME(name)  LIB_NAME_(name)
#define LIB_NAME_(name) #name,

// What a message says of a library that is missing: why, and what to do. GPQ_LEFT_OUT names those
// whose headers `make` did not find (common/absent/absent.h).
#ifdef GPQ_LEFT_OUT
#define LIB_LEFT_OUT(pkg) (strstr(GPQ_LEFT_OUT, " " pkg " ") != NULL)
#else
#define LIB_LEFT_OUT(pkg) false
#endif
#define LIB_WHY(before, pkg, soname, after)                                    \
	(LIB_LEFT_OUT(pkg) ? before "this gpq was built without " soname after \
			   : before soname " is missing" after)
#define LIB_MEND(pkg, package, after)                                                        \
	(LIB_LEFT_OUT(pkg) ? "build it where pkg-config finds " pkg " (make deps all)" after \
			   : "install " package after)

// LIB_GETTER defines const struct TYPE *TYPE_get(void), which returns the functions, valid until
// the program ends; or NULL with errno as lib_load() sets it. Only one thread may call it at a
// time.
#ifdef GPQ_LINKED

#define LIB_ADDRESS(name) &(name),
#define LIB_GETTER(type, soname, FUNCTIONS, priority, feature, description) \
	const struct type *type##_get(void)                                 \
	{                                                                   \
		static const struct type api = {FUNCTIONS(LIB_ADDRESS)};    \
		return &api;                                                \
	}

#else

// What happens without the library: REQUIRED a main task fails, RECOMMENDED an option or a column
// is missing, SUGGESTED something minor is missing.
#define LIB_REQUIRED    "required"
#define LIB_RECOMMENDED "recommended"
#define LIB_SUGGESTED   "suggested"

#define LIB_JSON(soname, priority, feature, description)               \
	"[{\"feature\":\"" feature "\",\"description\":\"" description \
	"\",\"priority\":\"" LIB_##priority "\",\"soname\":[\"" soname "\"]}]"

// An ELF note: its head, the owner, the JSON text with its NUL, zeros up to a multiple of 4 bytes.
// Linkers keep notes, also with --gc-sections.
#define LIB_NOTE(type, text)                                                         \
	static const struct {                                                        \
		uint32_t owner_size, json_size, kind;                                \
		char owner[4];                                                       \
		char json[(sizeof(text) + 3) / 4 * 4];                               \
	} type##_note __attribute__((used, aligned(4), section(".note.dlopen"))) = { \
		4, sizeof(text), 0x407c0c0a, "FDO", text};

#define LIB_GETTER(type, soname, FUNCTIONS, priority, feature, description)     \
	const struct type *type##_get(void)                                     \
	{                                                                       \
		static const char *const names[] = {FUNCTIONS(LIB_NAME)};       \
		static struct type api;                                         \
		static bool loaded;                                             \
		loaded = loaded || lib_load(soname, names, COUNT(names), &api); \
		return loaded ? &api : NULL;                                    \
	}                                                                       \
	LIB_NOTE(type, LIB_JSON(soname, priority, feature, description))

#endif

// Defines the struct and a getter for use in one file. The `struct type` at the end takes the
// semicolon behind the macro.
#define LIB(type, soname, FUNCTIONS, priority, feature, description) \
	struct type {                                                \
		LIB_STRUCT(FUNCTIONS)                                \
	};                                                           \
	static LIB_GETTER(type, soname, FUNCTIONS, priority, feature, description) struct type
