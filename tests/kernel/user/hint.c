// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * hint SOCKET MS BUSY IDLE GPUS: online work of bursts, told to gpq sched by hints: for MS
 * milliseconds, or with Nx instead N of them, bursts of BUSY ms with IDLE ms between them (0: one
 * burst, renewed each 200 ms).  It has no queues: all queues on the first GPUS software GPUs are
 * offline work, and what these GPUs say of it is the judge (/sys/kernel/debug/softgpu/N):
 *
 *   bursts N        bursts
 *   begun-off N     of these, such that were answered with no queue on a GPU
 *   moved N         packets taken between an answer and the first look after it, 2 ms later
 *   missed N        processes that answers named as not held, at most
 *   longest-off MS  the longest time in which no queue was on a GPU: no look saw one, and the GPUs'
 *                   clock, which also counts what is between two looks, stood still
 *   ran A B ...     with IDLE 0, of each half minute: per cent of the time with a queue on a GPU, by
 *                   the GPUs' own clock
 *
 * hint SOCKET REQUEST...: sends the requests, prints each answer, and stays connected until it is
 * killed. "wait MS" is not sent: it waits; "exec" neither: what follows is a program, which has
 * the connection from then on.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS   2000000ull
#define RENEW_NS  200000000ull
#define WINDOW_NS 30000000000ull

struct seen {
	unsigned queues;  /* on the GPUs now */
	uint64_t packets;     /* taken ever */
	uint64_t occupied_ns; /* time with a queue on a GPU; of all GPUs */
};

static int sock;

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void look(int gpus, struct seen *s)
{
	char name[64], line[512];
	unsigned long long n;
	const char *at;
	*s = (struct seen){0};
	for (int i = 0; i < gpus; i++) {
		snprintf(name, sizeof(name), "/sys/kernel/debug/softgpu/%d", i);
		FILE *f = fopen(name, "r");
		while (f && fgets(line, sizeof(line), f)) {
			s->queues += !strncmp(line, "queue ", 6);
			at = strncmp(line, "runlists ", 9) ? NULL : strstr(line, " packets ");
			if (sscanf(line, "occupied_ns %llu", &n) == 1)
				s->occupied_ns += n;
			if (at && sscanf(at, " packets %llu", &n) == 1)
				s->packets += n;
		}
		if (f)
			fclose(f);
	}
}

static void ask(const char *request, char answer[256])
{
	size_t n = 0;
	if (dprintf(sock, "%s\n", request) < 0)
		exit(1);
	while (n < 255 && (!n || answer[n - 1] != '\n'))
		if (read(sock, answer + n, 1) == 1)
			n++;
		else
			exit(1);
	answer[n] = '\0';
}

static void rest(uint64_t ns)
{
	const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	nanosleep(&t, NULL);
}

static struct {
	unsigned bursts, begun_off, missed;
	uint64_t moved, off_since, longest_off;
	uint64_t on_ns; /* occupied_ns of the last look */
	uint64_t window, occupied; /* when the present one began, and what was occupied then */
	unsigned windows;
	double ran[64];
} sum;

/* At the end of each window, and of all. */
static void count(int gpus, const struct seen *s, uint64_t now, bool end)
{
	if (now - sum.window < WINDOW_NS && !end)
		return;
	if (now - sum.window > WINDOW_NS / 2 && sum.windows < 64)
		sum.ran[sum.windows++] = 100.0 * (double)(s->occupied_ns - sum.occupied) /
					 (double)(now - sum.window) / gpus;
	sum.window = now;
	sum.occupied = s->occupied_ns;
}

/* Where many wait for the processor, queues come and go between two looks. */
static void note_off(const struct seen *s, uint64_t now)
{
	const bool was_on = s->occupied_ns != sum.on_ns;
	sum.on_ns = s->occupied_ns;
	if (s->queues)
		sum.off_since = 0;
	else if (!sum.off_since || was_on)
		sum.off_since = now;
	else if (now - sum.off_since > sum.longest_off)
		sum.longest_off = now - sum.off_since;
}

static void burst(int gpus, uint64_t until)
{
	char answer[256];
	unsigned missed = 0;
	struct seen first, s;
	uint64_t now, renew;
	ask("begin 7", answer);
	look(gpus, &first);
	sum.bursts++;
	sum.begun_off += !first.queues;
	if (sscanf(answer, "ok off=%*u missed=%u", &missed) == 1 && missed > sum.missed)
		sum.missed = missed;
	rest(LOOK_NS);
	look(gpus, &s);
	sum.moved += s.packets - first.packets;
	sum.window = now_ns();
	sum.occupied = s.occupied_ns;
	for (renew = sum.window + RENEW_NS; (now = now_ns()) < until; rest(LOOK_NS)) {
		look(gpus, &s);
		note_off(&s, now);
		count(gpus, &s, now, now + LOOK_NS >= until);
		if (now >= renew) {
			dprintf(sock, "begin 7\n");
			if (read(sock, answer, sizeof(answer)) <= 0)
				exit(1);
			renew = now + RENEW_NS;
		}
	}
	ask("end 7", answer);
}

int main(int argc, char **argv)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char answer[256];
	struct seen s;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", argc > 1 ? argv[1] : "");
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(sock, (struct sockaddr *)&a, sizeof(a))) {
		perror(a.sun_path);
		return 1;
	}
	if (argc < 6 || !strchr("0123456789", argv[2][0])) {
		for (int i = 2; i < argc; i++) {
			if (!strncmp(argv[i], "wait ", 5)) {
				rest(strtoull(argv[i] + 5, NULL, 10) * 1000000);
				continue;
			}
			if (!strcmp(argv[i], "exec")) {
				fcntl(sock, F_SETFD, 0);
				execvp(argv[i + 1], argv + i + 1);
				return 127;
			}
			ask(argv[i], answer);
			fputs(answer, stdout);
			fflush(stdout);
		}
		return pause();
	}
	const uint64_t busy = strtoull(argv[3], NULL, 10) * 1000000;
	const uint64_t idle = strtoull(argv[4], NULL, 10) * 1000000;
	const int gpus = atoi(argv[5]);
	const uint64_t end = now_ns() + strtoull(argv[2], NULL, 10) * 1000000;
	const unsigned bursts = strchr(argv[2], 'x') ? (unsigned)atoi(argv[2]) : 0;
	while (bursts ? sum.bursts < bursts : now_ns() < end) {
		burst(gpus, idle ? now_ns() + busy : end);
		for (uint64_t until = now_ns() + idle; now_ns() < until; rest(LOOK_NS)) {
			look(gpus, &s);
			note_off(&s, now_ns());
		}
	}
	printf("bursts %u\nbegun-off %u\nmoved %llu\nmissed %u\nlongest-off %llu\nran", sum.bursts,
	       sum.begun_off, (unsigned long long)sum.moved, sum.missed,
	       (unsigned long long)sum.longest_off / 1000000);
	for (unsigned i = 0; i < sum.windows; i++)
		printf(" %.1f", sum.ran[i]);
	printf("\n");
	return 0;
}
