// target FILE [DEVICE]: a process with KFD queues, as far as gpq sees it. FILE is its memory at
// MEMORY, which the test shares; DEVICE is its /dev/kfd: indices and save areas of queues (rig.py).
//
// Prints "ready PID", then obeys lines of standard input, answering each with "done":
//   thread  starts a thread that sleeps
//   name X  is called X from now on
//   exec    replaces itself by itself, and prints "ready PID" again
//   say X   prints X, and no "done"
//   end N   ends with status N
//   hint X  says X to the hint socket whose path is FILE.socket, and prints the answer, and no
//   "done" load RUNTIME FILE ADDRESS  has an HSA runtime (tests/unit/fake_runtime.c) that loaded a
//   code
//           object; prints the address of its list
// The end of the input ends it. The last bytes of the memory have its pid.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MEMORY ((void *)UINT64_C(0x200000000))
#define SIZE   65536

static void *sleep_on(void *arg)
{
	pause();
	return arg;
}

static void load(char *words)
{
	static struct link_map object;
	static char uri[512];
	char *at = strtok(words, " "), *file = strtok(NULL, " ");
	void *runtime = dlopen(at, RTLD_NOW);
	struct r_debug *list = runtime ? dlsym(runtime, "_amdgpu_r_debug") : NULL;
	if (!list)
		exit(1);
	snprintf(uri, sizeof(uri), "file://%s", file);
	object.l_name = uri;
	object.l_addr = strtoull(strtok(NULL, "\n"), NULL, 16);
	list->r_map = &object;
	printf("%p\n", (void *)list);
}

static void hint(const char *file, const char *request)
{
	static struct sockaddr_un place = {.sun_family = AF_UNIX};
	static int s = -1;
	char answer[512];
	if (s < 0) {
		s = socket(AF_UNIX, SOCK_STREAM, 0);
		snprintf(place.sun_path, sizeof(place.sun_path), "%s.socket", file);
		if (connect(s, (struct sockaddr *)&place, sizeof(place)) < 0)
			exit(1);
	}
	if (write(s, request, strlen(request)) < 0)
		exit(1);
	const ssize_t n = read(s, answer, sizeof(answer) - 1);
	printf("%.*s", n > 0 ? (int)n : 0, answer);
}

static void obey(char **argv)
{
	pthread_t t;
	char line[512];
	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "thread\n") == 0)
			pthread_create(&t, NULL, sleep_on, NULL);
		else if (strncmp(line, "name ", 5) == 0)
			prctl(PR_SET_NAME, strtok(line + 5, "\n"));
		else if (strcmp(line, "exec\n") == 0)
			execv("/proc/self/exe", argv);
		else if (strncmp(line, "end ", 4) == 0)
			_exit(atoi(line + 4));
		else if (strncmp(line, "say ", 4) == 0) {
			fputs(line + 4, stdout);
			continue;
		} else if (strncmp(line, "hint ", 5) == 0) {
			hint(argv[1], line + 5);
			continue;
		} else if (strncmp(line, "load ", 5) == 0) {
			load(line + 5);
			continue;
		} else
			exit(1);
		puts("done");
	}
}

int main(int argc, char **argv)
{
	const int fd = argc >= 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	if (argc == 3 && open(argv[2], O_RDWR) < 0)
		return 1;
	setvbuf(stdin, NULL, _IONBF, 0); // what is not read yet is left to the next program of exec
	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (mmap(MEMORY, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) !=
	    MEMORY)
		return 1;
	((volatile int *)MEMORY)[SIZE / sizeof(int) - 1] = getpid();
	printf("ready %d\n", (int)getpid());
	obey(argv);
}
