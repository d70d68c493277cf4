# make check: unit tests, console transcripts, documentation checks. tests/README.md tells how to add one.

CMOCKA_LIBS = $(shell $(PKG_CONFIG) --libs cmocka)

USRC := $(wildcard tests/unit/test_*.c)
UBIN := $(USRC:tests/unit/%.c=$(B)/unit/%)

$(B)/unit/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(COMPILE) -o $@ $< $(LIB) $(LINK) $(LDFLAGS) $(CMOCKA_LIBS) $(LIBS)

-include $(UBIN:=.d)

# Its own callers are to be found without debug information, too.
$(B)/unit/test_stacks: override CFLAGS += -fasynchronous-unwind-tables

# What test_code.c and test_code_place.c load as the HSA runtime.
$(B)/unit/test_code $(B)/unit/test_code_place: | $(B)/unit/fake/libhsa-runtime64.so.1
$(B)/unit/fake/libhsa-runtime64.so.1: tests/unit/fake_runtime.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(WARN) -shared -fPIC -nostdlib -o $@ $<

# Each transcript, man page and script is a test program of its own, so that they run side by side.
TRANSCRIPTS := $(wildcard tests/cli/*.t man/*.[1-8] README.md)
TWRAPPED     = $(TRANSCRIPTS:%=$(B)/transcript/%)
# The longest first, lest the last processor waits for one of them.
LONG        := $(patsubst %,tests/%.sh,docs/first-build docs/left-out cli/trace-ask cli/trace-rough cli/merge-trace cli/lab cli/trace-grep cli/trace-perfetto)
# What does not run gpq, or only reads its pages, says the same of each compiler: with the plain one.
ifneq ($(VARIANT),plain)
ONCE        := tests/docs/% $(patsubst %,tests/cli/%.sh,tap-merge lab kernel-series vm-terminal)
TRANSCRIPTS := $(filter-out %.md,$(TRANSCRIPTS))
endif
# Which lines of gpq these run, others run as well (but for five hundred of 45,000; `make coverage` counts them): the same lines with
# more data. With sanitizers a start of gpq takes five times as long, and they start it most: there they run in check-deep (WHOLE=1).
ifneq ($(and $(SANITIZE),$(if $(WHOLE),,gate)),)
COVERED     := $(patsubst %,tests/cli/%.sh,bench-report client client-python cu-mask dumps-by-hand hqd-hosts hqd-recordings hqd-samples install \
               inversion merge-hosts merge-trace names queues-samples sched-status schema secure snapshot snapshot-compare snapshot-diff \
               snapshot-series state-small sysroot trace-ask trace-gen trace-grep trace-input trace-kernel trace-perfetto trace-rough \
               trace-samples trace-stop trace-tables why-dmesg width)
TRANSCRIPTS := $(filter-out $(patsubst %,tests/cli/%.t,bench complete frame gpus hqd mistakes packets ps queues queues-73 rows sched trace trace-names \
               trace-rows), \
               $(TRANSCRIPTS))
endif
# One more build of all, which takes minutes, and a program of others that few have: `make check-deep`.
DEEP        := tests/docs/left-out.sh tests/cli/promtool.sh
SCRIPTS     := $(filter-out $(ONCE) $(COVERED) $(DEEP),$(LONG) $(filter-out $(LONG),$(wildcard tests/cli/*.sh tests/docs/*.sh tests/fuzz/*.sh)))

$(B)/transcript/%: % tests/cli/run Makefile
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nGPQ_BIN="%s" exec "%s/tests/cli/run" "%s/%s"\n' '$(CURDIR)/$(B)' '$(CURDIR)' '$(CURDIR)' '$<' >$@
	@chmod +x $@

# T="...": only these programs. WHOLE=1: scripts ask all recordings, and with SANITIZE=1 gpq looks for leaks wherever it runs.
check: export WHOLE := $(WHOLE)
check: export ASAN_OPTIONS := $(or $(ASAN_OPTIONS),$(if $(WHOLE),detect_leaks=1))
check: $(B)/gpq $(UBIN) $(TWRAPPED)
	@CMOCKA_MESSAGE_OUTPUT=TAP GPQ_BIN='$(CURDIR)/$(B)' tests/run $(or $(T),$(SCRIPTS) $(UBIN) $(TWRAPPED))

# Lines of gpq that the tests run, by folder, and what each test adds: make coverage
coverage:
	@$(MAKE) --no-print-directory CC=clang VARIANT=coverage CFLAGS='-O1 -g1 -fprofile-instr-generate -fcoverage-mapping' coverage-run
coverage-run: $(B)/gpq $(UBIN) $(TWRAPPED)
	@tests/coverage $(B) $(or $(T),$(filter-out tests/fuzz/%,$(SCRIPTS)) $(UBIN) $(TWRAPPED))
.PHONY: coverage coverage-run

# One of them: make check-one T=tests/cli/queues.t, T=tests/unit/test_json.c
check-one: $(B)/gpq $(patsubst tests/unit/%.c,$(B)/unit/%,$(filter %.c,$(T)))
	@case $(T) in \
	*.c) CMOCKA_MESSAGE_OUTPUT=TAP $(B)/unit/$(notdir $(T:.c=)) ;; \
	*.sh) GPQ_BIN=$(CURDIR)/$(B) $(T) ;; \
	*) GPQ_BIN=$(CURDIR)/$(B) tests/cli/run $(T) ;; \
	esac

.PHONY: check check-one

# The transcripts once more with every gpq under valgrind: what it finds shows as exit status 99, its words in log.PID.
# That gpq has no debug information: valgrind reads it at each start, which is a fifth of the time of all.
# Left out: suspend.t, gpq core and resume (valgrind 3.19 has no pidfd_open), and trace-names.t (nor seccomp, without
# which the child that demangles does not start). Not counted: reports without a single symbol, which come from code that
# PCRE2 compiled at run time; and memory that is only possibly lost, as the stack of a thread is that still works when a
# closed pipe ends gpq.
VALGRIND_BIN := $(CURDIR)/$(B)/valgrind
VALGRIND_T   := $(filter-out tests/cli/suspend.t tests/cli/trace-names.t,$(sort $(wildcard tests/cli/*.t)))
ifneq ($(PART),) # 0 to 5: a sixth of them
VALGRIND_T   := $(shell printf '%s\n' $(VALGRIND_T) | awk 'NR % 6 == $(PART)')
endif
define VALGRIND_GPQ
#!/bin/sh
case " $$* " in *" core "* | *" resume "*) exec "$(VALGRIND_BIN)/bare/gpq" "$$@" ;; esac
log=$(VALGRIND_BIN)/log.$$$$
valgrind -q --leak-check=full --show-leak-kinds=definite --log-file="$$log" "$(VALGRIND_BIN)/bare/gpq" "$$@"
status=$$?
grep -qE '(at|by) 0x[0-9A-F]+: [^?]' "$$log" && exit 99
exit $$status
endef
export VALGRIND_GPQ

check-valgrind: $(B)/gpq
	@rm -rf "$(VALGRIND_BIN)" && mkdir -p "$(VALGRIND_BIN)/tests/cli"
	@mkdir "$(VALGRIND_BIN)/bare" && strip -g -o "$(VALGRIND_BIN)/bare/gpq" "$(B)/gpq"
	@printf '%s\n' "$$VALGRIND_GPQ" >"$(VALGRIND_BIN)/gpq"
	@for t in $(VALGRIND_T); do \
		printf '#!/bin/sh\nGPQ_BIN="%s" exec "%s/tests/cli/run" "%s/%s"\n' "$(VALGRIND_BIN)" "$(CURDIR)" "$(CURDIR)" $$t \
			>"$(VALGRIND_BIN)/$$t"; done
	@chmod +x "$(VALGRIND_BIN)/gpq" "$(VALGRIND_BIN)"/tests/cli/*
	@tests/run $(VALGRIND_T:%=$(B)/valgrind/%)

.PHONY: check-valgrind

# make check in other surroundings: make check-hermetic [WITH="tmpdir signals"] [T=...]
check-hermetic: $(B)/gpq $(UBIN) $(TWRAPPED)
	@T='$(T)' tests/hermetic
.PHONY: check-hermetic

# All that .ci/run leaves out: make check-deep [STEPS="kernel hip"]
check-deep:
	@STEPS='$(STEPS)' tests/deep
.PHONY: check-deep

# gpq on a real Slurm and a real Dask, in namespaces on this machine: make check-cluster, after make deps-cluster (Debian, Ubuntu)
CLUSTER_DEPS := slurmctld slurmd slurm-client munge python3-distributed parallel jq
deps-cluster:
	@dpkg-query -Wf '$${db:Status-Status}\n' $(CLUSTER_DEPS) 2>&1 | grep -qvx installed || exit 0; \
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(CLUSTER_DEPS) >/dev/null
check-cluster: $(B)/gpq $(B)/gen-amdlog
	@GPQ_BIN='$(CURDIR)/$(B)' tests/run $(or $(T),$(wildcard tests/cluster/*.sh))
.PHONY: deps-cluster check-cluster

# No assertion about gpq may pass where gpq says nothing: make check-stub [T=tests/cli/queues.t] [WITH=false]
check-stub: $(B)/gpq $(B)/gen-amdlog $(B)/hint-server
	@tests/stub '$(CURDIR)/$(B)' $(or $(WITH),true) $(or $(T),$(filter-out tests/fuzz/%,$(SCRIPTS)) $(TRANSCRIPTS))

# What this gpq and an older one print for some thousand commands, byte for byte: make check-same OLD=/path/to/gpq [W=WORD]
check-same: $(B)/gpq $(B)/gen-amdlog
	@test -x "$(OLD)" || { echo "OLD=GPQ: the older gpq"; exit 2; }
	@tests/same/run.py '$(OLD)' $(B)/gpq $(B)/gen-amdlog $(W)

.PHONY: check-same check-stub
