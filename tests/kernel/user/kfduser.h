/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the programs that run in the VM share: ending with a message, time, and the GPUs as the
 * topology in sysfs describes them.  They use the kernel's own kfd_ioctl.h and nothing of gpq's,
 * so that they can bear witness about gpq.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include "linux/kfd_ioctl.h"

/* Older headers do not have it; what an older driver answers to it is asked, too. */
#ifndef AMDKFD_IOC_CREATE_PROCESS
#define AMDKFD_IOC_CREATE_PROCESS AMDKFD_IO(0x27)
#endif

#define TOPOLOGY  "/sys/class/kfd/kfd/topology/nodes"
#define MAX_NODES 64

/* One GPU node: a line of its properties file is "name value". */
struct node {
	uint32_t gpu_id;
	uint32_t drm_render_minor, ctl_stack_size, cwsr_size, simd_count, simd_per_cu, num_xcc;
	uint32_t gfx_target_version, array_count, simd_arrays_per_engine;
};

__attribute__((noreturn, format(printf, 1, 2))) static inline void die(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	fprintf(stderr, ": %s\n", strerror(errno));
	va_end(args);
	exit(1);
}

static inline uint64_t now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static inline void node_property(struct node *node, const char *name, uint32_t value)
{
	const struct {
		const char *name;
		uint32_t *field;
	} table[] = {
		{"drm_render_minor", &node->drm_render_minor},
		{"ctl_stack_size", &node->ctl_stack_size},
		{"cwsr_size", &node->cwsr_size},
		{"simd_count", &node->simd_count},
		{"simd_per_cu", &node->simd_per_cu},
		{"num_xcc", &node->num_xcc},
		{"gfx_target_version", &node->gfx_target_version},
		{"array_count", &node->array_count},
		{"simd_arrays_per_engine", &node->simd_arrays_per_engine},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(name, table[i].name))
			*table[i].field = value;
}

/* false: no such node.  A CPU node has gpu_id 0. */
static inline bool node_read(int number, struct node *node)
{
	char path[128], name[64];
	unsigned long long value;
	FILE *f;
	memset(node, 0, sizeof(*node));
	snprintf(path, sizeof(path), TOPOLOGY "/%d/gpu_id", number);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%u", &node->gpu_id) != 1)
		node->gpu_id = 0;
	fclose(f);
	snprintf(path, sizeof(path), TOPOLOGY "/%d/properties", number);
	f = fopen(path, "r");
	while (f && fscanf(f, "%63s %llu", name, &value) == 2)
		node_property(node, name, (uint32_t)value);
	if (f)
		fclose(f);
	if (!node->num_xcc) /* older kernels do not say */
		node->num_xcc = 1;
	return true;
}

/* Returns how many GPUs there are, at most max. */
static inline int nodes_read(struct node *nodes, int max)
{
	int n = 0;
	for (int i = 0; i < MAX_NODES && n < max && node_read(i, &nodes[n]); i++)
		if (nodes[n].gpu_id)
			n++;
	return n;
}
