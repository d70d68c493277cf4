/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A log as the HIP runtime writes it with AMD_LOG_LEVEL=4, about what mkqueue really did: one
 * stream per AQL queue, one kernel launch per packet.  Shapes of releases 5.7, 6.2, 6.4 and 7.0
 * are those of [amdlog.prefix] and [amdlog.packets] and of logs recorded with 5.7.1 and 6.4.3.
 */
#pragma once

#include <inttypes.h>
#include <pthread.h>
#include "kfdqueue.h"

struct release {
	const char *name;
	bool blank_before_tid; /* "tid: 0x..." instead of "tid:0x..." */
	bool software_queue;   /* SWq= and id=, rptr= and wptr= on packet lines */
	bool demangled;
	int module_line, shader_line, dispatch_line; /* source lines, as seen */
};

static const struct release releases[] = {
	{"5.7", false, false, false, 433, 2901, 867},
	{"6.2", false, true, false, 443, 3027, 891},
	{"6.4", true, true, true, 500, 3236, 965},
	{"7.0", true, true, true, 652, 3377, 1083},
};

static const struct kernel {
	const char *mangled, *demangled;
	uint16_t workgroup;
} kernels[] = {
	{"_Z10vector_addPKfS0_Pfi", "vector_add(float const*, float const*, float*, int)", 256},
	{"_Z9attention6__halfPS_S0_i", "attention(__half, __half*, __half*, int)", 512},
	{"Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1", "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1", 1024},
	{"_Z4copyIfEvPKT_PS0_", "void copy<float>(float const*, float*)", 64},
};
#define N_KERNELS (sizeof(kernels) / sizeof(kernels[0]))

struct hiplog {
	FILE *file;
	const struct release *release;
	int queues_of[3]; /* hardware queues by priority: low, normal, high */
	int next_id;
};

/* What one queue is called in the log. */
struct stream {
	int id;
	uint64_t launches;
};

#define HIP_STREAM(queue) ((uintptr_t)(queue)->indices + 0x200) /* an address of its own */

static inline void hiplog_open(struct hiplog *log, const char *path, const char *release)
{
	*log = (struct hiplog){.next_id = 1};
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		if (!strcmp(release, releases[i].name))
			log->release = &releases[i];
	errno = EINVAL;
	if (!log->release)
		die("--log-release %s (5.7, 6.2, 6.4 and 7.0 are known)", release);
	log->file = strcmp(path, "-") ? fopen(path, "ae") : stderr;
	if (!log->file)
		die("%s", path);
}

__attribute__((format(printf, 5, 6))) static inline void hiplog_line(struct hiplog *log, int level,
								     const char *source, int line,
								     const char *format, ...)
{
	const unsigned long tid = (unsigned long)pthread_self();
	va_list args;
	fprintf(log->file, ":%d:%-25s:%-4d: %010" PRIu64 " us: ", level, source, line, now_us());
	if (log->release->blank_before_tid)
		fprintf(log->file, "[pid:%d tid: 0x%5lx] ", getpid(), tid);
	else
		fprintf(log->file, "[pid:%-5d tid:0x%012lx] ", getpid(), tid);
	va_start(args, format);
	vfprintf(log->file, format, args);
	va_end(args);
	putc('\n', log->file);
}

static inline int hip_priority(const struct queue *queue)
{
	return queue->priority < 7 ? 0 : queue->priority == 7 ? 1 : 2;
}

static inline void hiplog_stream_created(struct hiplog *log, const struct queue *queue,
					 struct stream *stream)
{
	const int priority = hip_priority(queue);
	const uintptr_t software = (uintptr_t)queue->indices, ring = (uintptr_t)queue->ring;
	*stream = (struct stream){.id = log->next_id++};
	hiplog_line(log, 3, "hip_stream.cpp", 375,
		    "\x1b[32m hipStreamCreateWithPriority ( 0x%" PRIxPTR ", 1, %d ) \x1b[0m",
		    (uintptr_t)stream, 1 - priority);
	hiplog_line(log, 3, "rocdevice.cpp", 2732,
		    "%cumber of allocated hardware queues with low priority: %d, with normal "
		    "priority: %d, with high priority: %d, maximum per priority is: 4",
		    log->release->software_queue ? 'N' : 'n', log->queues_of[0], log->queues_of[1],
		    log->queues_of[2]);
	if (log->release->software_queue)
		hiplog_line(log, 3, "rocdevice.cpp", 3129,
			    "Created SWq=0x%" PRIxPTR " to map on HWq=0x%" PRIxPTR
			    " with size %" PRIu64 " with priority %d, cooperative: 0",
			    software, ring, ring_capacity(queue), priority);
	else
		hiplog_line(log, 3, "rocdevice.cpp", 2810,
			    "created hardware queue 0x%" PRIxPTR " with size %" PRIu64
			    " with priority %d, cooperative: 0",
			    software, ring_capacity(queue), priority);
	hiplog_line(log, 3, "rocdevice.cpp", 2902, "acquireQueue refCount: 0x%" PRIxPTR " (1)",
		    log->release->software_queue ? ring : software);
	hiplog_line(log, 3, "hip_stream.cpp", 390,
		    "hipStreamCreateWithPriority: Returned hipSuccess : stream:0x%" PRIxPTR,
		    HIP_STREAM(queue));
	log->queues_of[priority]++;
}

static inline void hiplog_stream_destroyed(struct hiplog *log, const struct queue *queue)
{
	hiplog_line(log, 3, "hip_stream.cpp", 464,
		    "\x1b[32m hipStreamDestroy ( stream:0x%" PRIxPTR " ) \x1b[0m",
		    HIP_STREAM(queue));
	hiplog_line(log, 3, "rocdevice.cpp", 2914, "releaseQueue refCount:0x%" PRIxPTR " (0)",
		    log->release->software_queue ? (uintptr_t)queue->ring
						 : (uintptr_t)queue->indices);
	hiplog_line(log, 3, "hip_stream.cpp", 498, "hipStreamDestroy: Returned hipSuccess : ");
}

static inline void hiplog_dispatch(struct hiplog *log, const struct queue *queue,
				   const struct stream *stream, const struct aql_dispatch *packet)
{
	const struct release *release = log->release;
	char names[64] = "", id[24] = "", indices[80] = "";
	if (release->software_queue) {
		snprintf(names, sizeof(names), "SWq=0x%" PRIxPTR ", ", (uintptr_t)queue->indices);
		snprintf(id, sizeof(id), "id=%d, ", stream->id);
		snprintf(indices, sizeof(indices),
			 ", correlation_id=0, rptr=%" PRIu64 ", wptr=%" PRIu64, *queue->read_index,
			 *queue->write_index);
	}
	hiplog_line(log, 4, "rocvirtual.cpp", release->dispatch_line,
		    "%sHWq=0x%" PRIxPTR ", %sDispatch Header = 0x%x (type=2, barrier=1, acquire=1, "
		    "release=1), setup=%u, grid=[%u, 1, 1], workgroup=[%u, 1, 1], "
		    "private_seg_size=0, group_seg_size=0, kernel_obj=0x%" PRIx64
		    ", kernarg_address=0x%" PRIx64 ", completion_signal=0x0%s",
		    names, (uintptr_t)queue->ring, id, AQL_HEADER_DISPATCH, packet->setup,
		    packet->grid[0], packet->workgroup[0], packet->kernel_object, packet->kernarg,
		    indices);
}

/* The host waits for a stream: from `begin` until now. */
static inline void hiplog_synchronized(struct hiplog *log, uint64_t begin)
{
	hiplog_line(log, 3, "hip_stream.cpp", 503,
		    "hipStreamSynchronize: Returned hipSuccess : : duration: %" PRIu64 " us",
		    now_us() - begin);
}

static inline void hiplog_synchronize(struct hiplog *log, const struct queue *queue)
{
	hiplog_line(log, 3, "hip_stream.cpp", 497,
		    "\x1b[32m hipStreamSynchronize ( stream:0x%" PRIxPTR " ) \x1b[0m",
		    HIP_STREAM(queue));
}

/* One launch: the API call, the kernel's name, the packet, the return. */
static inline void hiplog_launch(struct hiplog *log, const struct queue *queue,
				 struct stream *stream, const struct aql_dispatch *packet,
				 const struct kernel *kernel)
{
	const struct release *release = log->release;
	hiplog_line(log, 3, "hip_module.cpp", release->module_line,
		    "\x1b[32m hipModuleLaunchKernel ( 0x0x%" PRIx64
		    ", %u, 1, 1, %u, 1, 1, 0, stream:0x%" PRIxPTR
		    ", 0x7ffc00000000, char array:<null> ) \x1b[0m",
		    packet->kernel_object, packet->grid[0] / packet->workgroup[0],
		    packet->workgroup[0], HIP_STREAM(queue));
	hiplog_line(log, 4, "command.cpp", 349, "Command (KernelExecution) enqueued: 0x%" PRIxPTR,
		    HIP_STREAM(queue) + 0x100);
	hiplog_line(log, 3, "rocvirtual.cpp", release->shader_line, "ShaderName : %s",
		    release->demangled ? kernel->demangled : kernel->mangled);
	if (release->demangled)
		hiplog_line(log, 3, "rocvirtual.cpp", release->shader_line + 213,
			    "KernargSegmentByteSize = 24 KernargSegmentAlignment = 128");
	hiplog_dispatch(log, queue, stream, packet);
	hiplog_line(log, 3, "hip_module.cpp", release->module_line + 20,
		    "hipModuleLaunchKernel: Returned hipSuccess : ");
	stream->launches++;
}
