// common/host/container.h: containers, control groups, pods and jobs of processes.
#include "common/host/container.h"

#include "common/host/root.h"

#include "tests/unit/folder.h"

#define ID2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define ID3 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define ID4 "aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899"
#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_container(void **state)
{
	(void)state;
	static const struct {
		const char *cgroup, *id, *runtime;
	} cases[] = {
		{"0::/system.slice/docker-" ID ".scope\n", ID, "docker"},
		{"12:pids:/docker/" ID "\n11:cpu:/docker/" ID "\n", ID, "docker"},
		{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		 ".scope/container\n",
		 ID, "podman"},
		{"0::/machine.slice/libpod-payload-" ID "\n", ID, "podman"},
		{"0::/libpod_parent/libpod-conmon-" ID "\n", ID, "podman"},
		{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
		 "cri-containerd-" ID ".scope\n",
		 ID, "kubernetes"},
		{"0::/kubepods/besteffort/pod1-2/" ID "\n", ID, "kubernetes"},
		{"0::/system.slice/crio-" ID ".scope\n", ID, "cri-o"},
		{"0::/lxc.payload.web/system.slice/nginx.service\n", "web", "lxc"},
		{"4:memory:/lxc/build1\n", "build1", "lxc"},
		{"0::/machine.slice/machine-deb12.scope/payload\n", "deb12", "nspawn"},
		{"0::/lxc.payload/web2\n", "web2", "lxc"},
		{"0::/system.slice/machine-deb13.service/x.y\n", "deb13", "nspawn"},
		{"0::/machine.slice/machine-a.b\n", "a.b", "nspawn"}, // no unit
		{"0::/x/nerdctl-" ID2 ".scope\n", ID2, "containerd"},
		{"0::/containerd/" ID2 "\n", ID2, "containerd"},
		{"0::/system.slice/cri-containerd-" ID2 ".scope\n", ID2, "containerd"},
		{"0::/x/" ID2 "\n", ID2, ""},
		{"0::/" ID2 "\n", ID2, ""},
		// The first of several lines, and of several ids, that is one.
		{"3:cpu:/docker/" ID "\n0::/docker/" ID2 "\n", ID, "docker"},
		{"3:cpu:/\n2:\n0::/lxc/b/docker-" ID2 ".scope/docker-" ID ".scope\n", ID2,
		 "docker"},
	};
	struct container c;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(container_parse(&c, cases[i].cgroup));
		assert_string_equal(c.id, cases[i].id);
		assert_string_equal(c.runtime, cases[i].runtime);
	}
	static const char *const none[] = {"",
					   "0::/\n",
					   "0::/user.slice/user-1000.slice/session-2.scope\n",
					   "0::/system.slice/docker.service\n",
					   "garbage",
					   "1:2",
					   "0::/my-lxc/x\n",
					   "0::/lxc/\n",
					   "0::/docker/" ID "0\n", // 65 digits
					   "0::/docker/0123456789abcdef0123456789abcdef"
					   "0123456789abcdef0123456789abcde\n",
					   "0:" ID};
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(container_parse(&c, none[i]));
	assert_true(container_parse(&c, cases[0].cgroup));
	struct container named;
	assert_true(
		container_parse(&named, "0::/machine.slice/systemd-nspawn@web.service/payload\n"));
	assert_string_equal(named.id, "web");
	assert_string_equal(named.runtime, "nspawn");
	assert_true(container_is(&c, ID));
	assert_true(container_is(&c, "012345"));
	assert_false(container_is(&c, "01234"));
	assert_false(container_is(&c, "012346"));
	assert_false(container_is(&c, ID "0"));
	assert_true(container_is(&named, "web"));
	assert_false(container_is(&named, "we") || container_is(&named, "web0"));
	assert_true(container_parse(&named, "0::/lxc/long-name-of-one\n"));
	assert_false(container_is(&named, "long-name")); // no id: only the whole name
	assert_false(container_is(&(struct container){0}, "a"));
	assert_false(container_is(&c, ""));
}

static void test_cgroup(void **state)
{
	(void)state;
	static const char text[] =
		"4:memory:/lxc/build1\n1:2\n0::/kubepods.slice/kubepods-burstable.slice/"
		"kubepods-burstable-pod3f2c1a9e_0d1b.slice/crio-1.scope\n";
	static const struct {
		const char *path;
		bool within;
	} paths[] = {
		{"/kubepods.slice", true},
		{"kubepods.slice/", true},
		{"/sys/fs/cgroup/kubepods.slice//", true},
		{"/lxc/build1", true},
		{"/", true},
		{"/lxc/build", false},
		{"/lxc/build1/x", false},
		{"/kubepods", false},
		{"/kubepods-burstable.slice", false},
		{"2", false},
	};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(cgroup_within(text, paths[i].path), paths[i].within);
	assert_true(cgroup_of_pod(text, "3f2c1a9e-0d1b"));
	assert_true(cgroup_of_pod(text, "3f2c1a9e_0"));
	assert_false(cgroup_of_pod(text, "3f2c1a9e-0d1b-1"));
	assert_false(cgroup_of_pod(text, "2c1a9e"));
	assert_false(cgroup_of_pod(text, "s"));
	assert_true(cgroup_of_pod("0::/kubepods/besteffort/pod3f2c1a9e-0d1b/1\n", "3f2c1a9e-0d1b"));
	assert_false(cgroup_of_pod("0::/tripod3f2c1a9e\n", "3f2c1a9e"));
	assert_true(cgroup_of_pod("1:x:/a\n0::/pod1/pod2\n", "2"));
	assert_true(cgroup_of_pod("1:x:/a/podpod2\n0::/b\n", "pod2"));
	assert_false(cgroup_of_pod("0::pod2\n", "2")); // nothing before it
	// The path of the first line, too, one without a slash, and an end in several slashes.
	assert_true(cgroup_within("1:x:/a/b\n0::/c\n", "/a//"));
	assert_true(cgroup_within("1:x:a/b\n0::/c", "c"));
	assert_false(cgroup_within("1:x:/a/b\n0::/c\n", "/b"));
	assert_false(cgroup_within("", "/"));
}

// Jobs of Slurm: cgroup v1 and v2, several slurmd on a node, a SLUID in the place of the number.
static void test_jobs(void **state)
{
	(void)state;
	static const struct {
		const char *cgroup, *job, *step;
	} cases[] = {
		{"4:memory:/slurm/uid_1000/job_123/step_0/task_0\n", "123", "123.0"},
		// Of slurmd 22.05 with cgroup v1, which has only the freezer.
		{"9:name=systemd:/\n8:pids:/\n6:freezer:/slurm_n1/uid_0/job_1/step_0\n4:memory:/"
		 "x\n0::/\n",
		 "1", "1.0"},
		{"1:name=systemd:/system.slice/slurmd.service\n4:freezer:/slurm_n1/uid_0/job_7/"
		 "step_batch\n",
		 "7", "7.batch"},
		// Of slurmd 22.05 and 24.11 with cgroup v2 and without systemd.
		{"0::/system.slice/gpq-lab_slurmstepd.scope/job_1/step_batch/user/task_special\n",
		 "1", "1.batch"},
		{"0::/system.slice/slurmstepd.scope/job_4294901760/step_3+1/user/task_2\n",
		 "4294901760", "4294901760.3+1"},
		{"0::/system.slice/n1_slurmstepd.scope/job_12/step_extern/user/task_special\n",
		 "12", "12.extern"},
		{"0::/system.slice/slurmstepd.scope/s5K1KKYAYG5D00/step_0/user/task_0\n",
		 "s5K1KKYAYG5D00", "s5K1KKYAYG5D00.0"},
		{"0::/../../slurmstepd.scope/job_8\n", "8", NULL},
	};
	static const char *const none[] = {
		"0::/system.slice/slurmstepd.scope/system\n",
		"0::/user.slice/user-1000.slice/slurm/job_5/step_0\n",
		"0::/slurms/job_5/step_0\n",
		"0::/xslurm/job_5\n",
		"0::/slurm/a/job_5\n",
		"0::/kubepods.slice/cri-containerd-aaaa.scope/slurm/job_5\n",
		"0::/machine.slice/n1_slurmstepd.scope/job_5/step_0\n",
		"0::/..slurm/job_5\n",
		"0::/slurm/job_5x\n",
		"0::/slurm/job_\n",
		"0::/slurm/sABC\n",
		"0::/slurm/5K1KKYAYG5D00\n",
		"0::/job_5\n",
		"",
	};
	struct container c;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(container_parse(&c, cases[i].cgroup));
		assert_string_equal(c.job, cases[i].job);
		assert_true(cgroup_of_job(cases[i].cgroup, cases[i].job));
		assert_true(!cases[i].step || cgroup_of_job(cases[i].cgroup, cases[i].step));
		assert_false(cgroup_of_job(cases[i].cgroup, "2"));
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		container_parse(&c, none[i]);
		assert_string_equal(c.job, "");
		assert_false(cgroup_of_job(none[i], "5"));
	}
	assert_false(cgroup_of_job(cases[0].cgroup, "12"));
	assert_false(cgroup_of_job(cases[0].cgroup, "1234"));
	assert_false(cgroup_of_job(cases[0].cgroup, "123.1"));
	assert_false(cgroup_of_job(cases[0].cgroup, "123.00"));
	// A container in a job is of both.
	assert_true(container_parse(
		&c, "0::/system.slice/slurmstepd.scope/job_9/step_0/libpod-"
		    "116f54c41d0405dbb10e7b04ebc31e262a5b8c85c1233fcf36eaee344d91ae58.scope\n"));
	assert_string_equal(c.job, "9");
}

// A label of the image is not the container's name.
static void test_container_name(void **state)
{
	(void)state;
	static const char path[] = "var/lib/docker/containers/" ID "/config.v2.json";
	static const struct {
		const char *json, *name;
	} cases[] = {
		{"{\"ID\":\"" ID "\",\"Name\":\"/web\"}", "web"},
		{"{\"Config\":{\"Labels\":{\"Name\":\"trainer\"}},\"Name\": \"/web\"}", "web"},
		{"{\"Args\":[\"\\\"Name\\\":\\\"x\\\"\",\"{\"],\"Name\":\"/web\"}", "web"},
		{"{\"Path\":\"a\\\"}\",\"Name\":\"/web\"}", "web"},
		{"{\"Path\":\"a\\\\\",\"Name\":\"/web\"}", "web"},
		{"{\"Name\":null,\"Image\":\"x\"}", NULL},
		{"{\"Config\":{\"Name\":\"x\"", NULL},
		{"{\"Config\":\"x\\", NULL},
		{"", NULL},
	};
	struct container c = {.id = ID};
	char dir[] = "/tmp/gpq-test-XXXXXX", name[64];
	assert_non_null(mkdtemp(dir));
	assert_int_equal(host_set_root(dir), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(dir, path, cases[i].json);
		assert_true(container_name(&c, name, sizeof(name)) == (cases[i].name != NULL));
		assert_int_equal(container_is(&c, "web"), cases[i].name != NULL);
		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
	}
	put(dir, path, "{\"Name\":\"/web\"}");
	assert_true(container_name(&c, name, 4) && strcmp(name, "web") == 0);
	assert_true(container_name(&c, name, 3) && strcmp(name, "we") == 0);
	snprintf(c.id, sizeof(c.id), "%s", "lxc-one");
	assert_true(container_name(&c, name, sizeof(name)) && strcmp(name, "lxc-one") == 0);
	assert_false(container_name(&(struct container){0}, name, sizeof(name)));
	host_set_root(NULL);
	remove_tree(dir);
}

// podman has a list of containers for each storage driver, and one of those of `podman run --rm`;
// the second of these containers has no name, the last is in another list.
static void test_podman_names(void **state)
{
	static const char *const lists[] = {
		"overlay-containers/containers.json", "vfs-containers/volatile-containers.json",
		"vfs-containers/containers.json", "btrfs-containers/volatile-containers.json"};
	static const char json[] =
		"[{\"id\":\"" ID "\",\"names\":[\"trainer\",\"other\"],\"image\":\"x\","
		"\"metadata\":\"{\\\"names\\\":[\\\"y\\\"]}\"},\n"
		"{\"id\":\"" ID2 "\",\"image\":\"x\"},\n"
		"{\"id\":\"" ID3 "\",\"names\": [ \"server\"]}]\n";
	static const struct {
		const char *id, *name;
	} cases[] = {{ID, "trainer"}, {ID2, NULL}, {ID3, "server"}, {ID4, "elsewhere"}};
	char name[64], path[128];
	(void)state;
	for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
		char dir[] = "/tmp/gpq-test-XXXXXX";
		assert_non_null(mkdtemp(dir));
		assert_int_equal(host_set_root(dir), 0);
		snprintf(path, sizeof(path), "var/lib/containers/storage/%s", lists[l]);
		put(dir, path, json);
		put(dir, "var/lib/containers/storage/zfs-containers/containers.json",
		    "[{\"id\":\"" ID4 "\",\"names\":[\"elsewhere\"]}]");
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct container c = {0};
			snprintf(c.id, sizeof(c.id), "%s", cases[i].id);
			assert_int_equal(container_name(&c, name, sizeof(name)),
					 cases[i].name != NULL);
			if (cases[i].name)
				assert_string_equal(name, cases[i].name);
			assert_int_equal(container_is(&c, "trainer"), i == 0);
			assert_int_equal(container_is(&c, "server"), i == 2);
		}
		host_set_root(NULL);
		remove_tree(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_container), cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_jobs), cmocka_unit_test(test_container_name),
		cmocka_unit_test(test_podman_names)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
