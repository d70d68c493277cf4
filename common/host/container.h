// Which container a process is in, from /proc/PID/cgroup, for docker, podman, containerd, CRI-O,
// kubernetes, LXC and systemd-nspawn, with cgroup v1 and v2; and which job of Slurm.
#pragma once

#include "common/host/std.h"

struct container {
	char id[80]; // 64 hex digits, or the machine's name (LXC, nspawn); "": not in a container
	// "docker", "podman", "containerd", "cri-o", "kubernetes", "lxc", "nspawn"; "": unknown
	char runtime[16];
	char pod[320]; // kubernetes: "NAMESPACE/NAME"; "": none, or unknown
	char job[24];  // Slurm: the job's number, or its SLUID; "": none, also of a container
};

// Finds the container in the text of /proc/PID/cgroup, which does not tell c->pod. False when there
// is none; c->job is then set all the same.
bool container_parse(struct container *c, const char *cgroup);

// Finds the container and the job of a process. *c is empty also when /proc/PID/cgroup cannot be
// read.
void container_of(struct container *c, pid_t pid);

// Finds the container's name: in the records of docker or podman, which only root can read, or for
// kubernetes among the kubelet's links to logs. False when the name is unknown.
bool container_name(const struct container *c, char *name, size_t size);

// Finds the container's name in the text of docker's config.v2.json.
bool container_parse_docker(const char *config, char *name, size_t size);

// Does `want` (an id, at least 6 leading digits of one, or a name) mean this container?
bool container_is(const struct container *c, const char *want);

// These ask about the control groups in the text of /proc/PID/cgroup, of any hierarchy.
//
// Is one of the process's control groups `path`, or below it? `path` may be the folder of a control
// group, below /sys/fs/cgroup.
bool cgroup_within(const char *cgroup, const char *path);

// Does one of the process's control groups belong to a kubernetes pod whose UID is or begins with
// `uid`? The kubelet writes "podUID" (driver cgroupfs) or "...-podUID.slice"
// with '_' for '-' (driver systemd).
bool cgroup_of_pod(const char *cgroup, const char *uid);

// Does one of the process's control groups belong to this job of Slurm, "JOB" or "JOB.STEP"? As
// Slurm writes them: 123, 123.0, 123.batch; Slurm 26.05 and later may name a job's control groups
// by its SLUID, s5K1KKYAYG5D00.
bool cgroup_of_job(const char *cgroup, const char *job);

// Is one of the process's control groups frozen (docker pause, cgroup.freeze)?
bool cgroup_is_frozen(const char *cgroup);
