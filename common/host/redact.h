// Replaces names that people gave by pseudonyms ("user1", "user2"): equal names get equal
// pseudonyms for as long as the object lives. Pseudonyms are numbered in the order in which names
// are met, so a pseudonym tells nothing about its name.
//
// Everything is replaced that is not known to be harmless: the whole name and arguments of a
// program, and each part of a cgroup path that not every system has.
#pragma once

#include "common/host/std.h"

enum redact_kind {
	REDACT_USER,
	REDACT_HOST,
	REDACT_PROGRAM,      // comm
	REDACT_COMMAND,      // command line
	REDACT_GROUP,        // part of a cgroup path
	REDACT_POD,          // name or namespace of a kubernetes pod
	REDACT_CONTAINER,    // name of a container
	REDACT_CONTAINER_ID, // 64 hex digits, and so is its pseudonym
	REDACT_KERNEL,       // name of a GPU kernel
	REDACT_KINDS
};

struct redact;

struct redact *redact_new(void);
void redact_free(struct redact *r);

// The pseudonym of `name`, valid as long as `r`.
const char *redact_name(struct redact *r, enum redact_kind kind, const char *name, size_t len);

// Rewrite the content of a file of /proc in place.
void redact_hostname(struct redact *r, struct buf *b);
void redact_comm(struct redact *r, struct buf *b);
void redact_cmdline(struct redact *r, struct buf *b);
void redact_stat(struct redact *r, struct buf *b);
void redact_status(struct redact *r, struct buf *b);
void redact_cgroup(struct redact *r, struct buf *b);

// Leaves nothing of the text: names may be anywhere in it.
void redact_all(struct redact *r, struct buf *b);

// The same for the names of kernels that a snapshot has: lines "ADDRESS NAME".
void redact_kernels(struct redact *r, struct buf *b);
