// Maps an errno of the driver at a step to a fault (`causes`), and a fault to its sentence. Facts:
// [kfd.open-errors], [kfd.ptrace], [kfd.check-order], [kfd.enable], [kfd.suspend].
#include "common/holder/failure.h"

enum { FAILED = 1, USAGE = 2, DENIED = 4, NOT_FOUND = 5, UNSUPPORTED = 6, DEADLINE = 124 };

static const struct sentence {
	int status;
	const char *format;
} sentences[] = {
#define SENTENCE(name, status, sentence) [KFD_FAULT_##name] = {status, sentence},
	KFD_FAULTS(SENTENCE)
#undef SENTENCE
};

static const struct cause {
	enum kfd_step step;
	int error;
	enum kfd_fault fault;
} causes[] = {
	{KFD_STEP_OPEN, ENOENT, KFD_FAULT_NO_DRIVER},
	{KFD_STEP_OPEN, ENXIO, KFD_FAULT_NO_DRIVER},
	{KFD_STEP_OPEN, ENODEV, KFD_FAULT_NO_DRIVER},
	{KFD_STEP_OPEN, EACCES, KFD_FAULT_DEVICE_ACCESS},
	{KFD_STEP_OPEN, EPERM, KFD_FAULT_DEVICE_ACCESS},
	{KFD_STEP_OPEN, EINVAL, KFD_FAULT_DEVICE_LOCKED},
	{KFD_STEP_SEIZE, ESRCH, KFD_FAULT_NO_PROCESS},
	{KFD_STEP_PROBE, ESRCH, KFD_FAULT_NOT_KFD},
	{KFD_STEP_PROBE, EPERM, KFD_FAULT_GONE},
	{KFD_STEP_ENABLE, ESRCH, KFD_FAULT_GONE},
	{KFD_STEP_ENABLE, EPERM, KFD_FAULT_GONE},
	{KFD_STEP_ENABLE, ETIME, KFD_FAULT_NO_STOP},
	{KFD_STEP_ENABLE, EINVAL, KFD_FAULT_DEVICE_LOCKED},
	{KFD_STEP_ENABLE, EALREADY, KFD_FAULT_FOREIGN_SESSION},
	{KFD_STEP_ENABLE, ENODEV, KFD_FAULT_GPU_OLD},
	{KFD_STEP_ENABLE, EBUSY, KFD_FAULT_GPU_BUSY},
	{KFD_STEP_SNAPSHOT, ESRCH, KFD_FAULT_GONE},
	{KFD_STEP_SNAPSHOT, EPERM, KFD_FAULT_GONE},
	{KFD_STEP_SNAPSHOT, EINVAL, KFD_FAULT_SESSION_LOST},
	{KFD_STEP_SUSPEND, ESRCH, KFD_FAULT_GONE},
	{KFD_STEP_SUSPEND, EPERM, KFD_FAULT_RUNTIME_OFF},
	{KFD_STEP_SUSPEND, EINVAL, KFD_FAULT_SESSION_LOST},
	{KFD_STEP_RESUME, ESRCH, KFD_FAULT_GONE},
	{KFD_STEP_RESUME, EPERM, KFD_FAULT_RUNTIME_OFF},
	{KFD_STEP_RESUME, EINVAL, KFD_FAULT_SESSION_LOST},
};

static const char *const step_names[] = {
#define STEP_TEXT(name, text) text,
	KFD_STEPS(STEP_TEXT)
#undef STEP_TEXT
};

// Makes a failure's text one line, whatever the names of programs in it contain.
static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int kfd_fail(struct kfd_failure *f, enum kfd_fault fault, ...)
{
	va_list ap;
	f->status = sentences[fault].status;
	va_start(ap, fault);
	vsnprintf(f->text, sizeof(f->text), sentences[fault].format, ap);
	va_end(ap);
	make_one_line(f->text);
	return -1;
}

int kfd_fail_errno(struct kfd_failure *f, enum kfd_step step, int error)
{
	// Linux 6.4 and older do not know the debug trap at all.
	if (error == ENOTTY)
		return kfd_fail(f, KFD_FAULT_KERNEL_OLD, 1u, 12u);
	for (size_t i = 0; i < COUNT(causes); i++)
		if (causes[i].step == step && causes[i].error == error)
			return kfd_fail(f, causes[i].fault);
	return kfd_fail(f, KFD_FAULT_SYSTEM, step_names[step], strerror(error));
}
