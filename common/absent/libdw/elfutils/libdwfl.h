#pragma once

#include <elfutils/libdw.h>

typedef struct Dwfl Dwfl;
typedef struct Dwfl_Frame Dwfl_Frame;
typedef struct Dwfl_Module Dwfl_Module;
typedef struct Dwfl_Thread Dwfl_Thread;
typedef struct {
	int (*find_elf)(), (*find_debuginfo)();
} Dwfl_Callbacks;
typedef struct {
	pid_t (*next_thread)();
	bool (*memory_read)(), (*set_initial_registers)();
} Dwfl_Thread_Callbacks;

Dwfl *dwfl_begin(), *dwfl_thread_dwfl();
Dwfl_Module *dwfl_addrmodule(), *dwfl_report_module();
Dwfl_Thread *dwfl_frame_thread();
const char *dwfl_module_addrname(), *dwfl_module_info();
bool dwfl_attach_state(), dwfl_frame_pc(), dwfl_thread_state_registers();
pid_t dwfl_thread_tid();
int dwfl_getthreads(), dwfl_report_end(), dwfl_thread_getframes();
void dwfl_report_begin(), dwfl_thread_state_register_pc();
