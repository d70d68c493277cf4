# gpq: plain GNU make, no configure step. `make help` lists what one can say.
#
#   make                 ./gpq
#   make SANITIZE=1 ...  the same with ASan and UBSan, in its own build folder
#   make CC=clang ...    likewise
#   make DLOPEN=no ...   likewise, with its libraries linked instead of loaded on demand
#   make testing         build/testing/gpq, with the switches that some tests need (-DGPQ_TESTING)

PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share
LIBDIR  ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
PYTHONDIR    ?= $(DATADIR)/gpq/python
EXAMPLEDIR   ?= $(DATADIR)/doc/gpq/examples
UNITDIR  ?= $(PREFIX)/lib/systemd/system
VERSION := $(shell cat VERSION)
PKG_CONFIG ?= pkg-config

# gpq is built without those of OPTIONAL that pkg-config does not find: what that costs.
REQUIRED := libpci libpcre2-8 libdrm_amdgpu
OPTIONAL := smartcols libarchive libseccomp libelf libtracefs libdw
PKGS     := $(REQUIRED) $(OPTIONAL)
COST_smartcols  := tables have no colours
COST_libarchive := no compressed logs and cores, no archives of hosts
COST_libseccomp := holders and readers keep all system calls
COST_libelf     := no names of kernels
COST_libtracefs := no gpq trace --live, no gpq bench preempt --breakdown
COST_libdw      := no gpq why --stacks, no source lines of kernels

# Names of Debian 11 to 13, Ubuntu 22.04 and 24.04. DEPS build gpq and are what it loads, TEST_DEPS are for `make check lint`.
DEPS      := gcc libc6-dev make pkg-config libpci-dev libpcre2-dev libdrm-dev libsmartcols-dev libarchive-dev libseccomp-dev libelf-dev libdw-dev libtracefs-dev libtraceevent-dev pci.ids
TEST_DEPS := libcmocka-dev jq zstd xz-utils bzip2 mandoc zsh fish perl python3 python3-jsonschema ripgrep procps util-linux libcap2-bin parallel \
             clang clang-tidy clang-format cppcheck valgrind
# The sanitizers' runtime has clang's version in its name, where it is a package of its own (not in Ubuntu 22.04).
CLANG_RT  := $$(apt-cache depends clang 2>/dev/null | sed -n "s/.*Depends: clang-\([0-9]*\)$$/libclang-rt-\1-dev/p" | \
             xargs -r apt-cache show 2>/dev/null | sed -n "s/^Package: //p" | sort -u)

# The same for dnf, yum and zypper: packages say by themselves which file of pkg-config they bring.
RPM_DEPS      := gcc glibc-devel make pkgconfig ${PKGS:%=pkgconfig\(%\)} hwdata
RPM_TEST_DEPS := pkgconfig\(cmocka\) jq zstd xz bzip2 mandoc zsh fish perl python3 python3-jsonschema ripgrep procps-ng util-linux \
                 libcap parallel clang clang-tools-extra compiler-rt cppcheck valgrind libasan libubsan

CSTD     := -std=gnu17
# Warnings are errors in a checkout, not in a release's tarball: later compilers have new ones.
WERROR   ?= $(if $(wildcard .git),-Werror)
WARN     := -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
            -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wcast-qual -Wno-format-nonliteral
# CPPFLAGS, CFLAGS and LDFLAGS are the builder's: `make CPPFLAGS=-DX` adds to these.
DEFINES  := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DGPQ_VERSION='"$(VERSION)"' -I.
CFLAGS   ?= -O2 -g
# What the compiler has of these is asked for in recipes, once: before `make deps` there may be no compiler. The builder's own
# _FORTIFY_SOURCE counts; it needs optimization, and hides functions of the C library from the sanitizers.
OPTIMIZED = $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))
FORTIFY   = $(if $(SANITIZE)$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,$(if $(OPTIMIZED),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(or $(shell \
             echo __USE_FORTIFY_LEVEL | $(CC) -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -include features.h -E -P - 2>/dev/null),2)))
CET       = $(shell $(CC) -Werror -fcf-protection -c -o /dev/null -x c /dev/null 2>/dev/null && echo -fcf-protection)
CHECKED   = $(eval CHECKED := -fstack-protector-strong $(FORTIFY) $(CET))$(CHECKED)
# Tables for unwinding are for debuggers alone, which have others with -g. With sanitizers each string has a descriptor of four
# addresses: where gpq is loaded at a fixed place, no start pays for their relocation.
HARDEN    = $(CHECKED) $(if $(SANITIZE),-fno-pie,-fPIE) -fdata-sections -fno-asynchronous-unwind-tables
# gpq starts for each suspension, and pays for each page that it touches: code and constants share pages, and variables lie by
# their alignment, the large arrays apart from the many small ones. What gpq suspend runs comes first (HOT).
LINK      = $(if $(SANITIZE),-no-pie $(ASAN_IN),-pie -Wl,-z,relro,-z,now) -Wl,-z,noexecstack -Wl,-z,noseparate-code -Wl,--sort-section=alignment
# The 5,000 relative relocations of its tables take 1 KiB instead of 120. glibc knows that form since 2.36.
LINK     += $(shell grep -q GLIBC_ABI_DT_RELR "$$($(CC) -print-file-name=libc.so.6)" 2>/dev/null && echo -Wl,-z,pack-relative-relocs)
VARIANT  := $(if $(filter default,$(origin CC)),plain,$(notdir $(CC)))

# Checks of addresses are calls: gcc takes a third of the time for them that it takes for as many branches.
ifdef SANITIZE
CFLAGS   := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined \
            $(if $(filter default,$(origin CC)),--param asan-instrumentation-with-call-threshold=0)
VARIANT  := $(VARIANT)-san
# gpq starts a quarter faster with the sanitizers' runtime in it. clang does that by itself.
ASAN_IN   = $(if $(wildcard $(shell $(CC) -print-file-name=libasan.a)),-static-libasan -static-libubsan)
endif

# For distributions that want every library in DT_NEEDED. Start-up takes several times as long.
ifeq ($(DLOPEN),no)
DEFINES  += -DGPQ_LINKED
VARIANT  := $(VARIANT)-linked
LINKED    = $(shell $(PKG_CONFIG) --libs $(FOUND)) -l:libstdc++.so.6
endif

# What knows nothing of test switches is in REST, the folder of the build without them, which `make testing` makes first.
REST     := build/$(VARIANT)
ifdef TESTING
DEFINES  += -DGPQ_TESTING
VARIANT  := testing$(patsubst -plain%,%,-$(VARIANT))
endif

# `make deps demo` installs the libraries on the way, so only then may they be missing now.
SETUP      := $(filter deps deps-test,$(MAKECMDGOALS))
NEEDS_LIBS := $(filter-out deps deps-test deps-kernel dist deb clean help uninstall,$(or $(MAKECMDGOALS),all))
NEEDS_TEST := $(if $(filter deps-test,$(SETUP)),,$(filter check check-one,$(MAKECMDGOALS)))
NEEDS_PKGS := $(if $(SETUP),,$(if $(NEEDS_LIBS),$(REQUIRED))) $(if $(NEEDS_TEST),cmocka)
ifneq ($(strip $(NEEDS_PKGS)),)
ifneq ($(shell $(PKG_CONFIG) --exists $(NEEDS_PKGS) 2>/dev/null && echo yes),yes)
$(error libraries are missing ($(strip $(shell for p in $(NEEDS_PKGS); do $(PKG_CONFIG) --exists $$p 2>/dev/null || echo $$p; done))): run `make deps$(if $(NEEDS_TEST),-test)` first, as root or with sudo)
endif
endif
# Asked for in recipes, not while make reads this file: `make deps demo` installs them on the way.
PKG_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(FOUND)) $(WITHOUT)
# libdw's headers include those of libelf.
LEFT_OUT   = $(eval LEFT_OUT := $(shell for p in $(OPTIONAL); do \
              $(PKG_CONFIG) --exists $$p $$(echo $$p | sed -n s/dw/elf/p) 2>/dev/null || echo $$p; done))$(LEFT_OUT)
FOUND      = $(filter-out $(LEFT_OUT),$(PKGS))
WITHOUT    = $(if $(LEFT_OUT),-DGPQ_LEFT_OUT='" $(LEFT_OUT) "' $(LEFT_OUT:%=-Icommon/absent/%))
# None of them is linked, nor libm: they are loaded on demand, see common/host/dlopen.h. -lm is for builds without
# optimization, -ldl and -lrt for glibc before 2.34.
LIBS       = -pthread -Wl,--as-needed $(LINKED) -lm -ldl -lrt

# `make V=1` shows the commands.
Q := $(if $(V),,@)

B    := build/$(VARIANT)
LIB  := $(B)/libgpq.a
LSRC := $(wildcard common/*/*.c common/*/*/*.c)
CSRC := $(wildcard cmd/*.c cmd/*/*.c)
SWITCHED := $(if $(TESTING),$(shell grep -lE 'GPQ_TESTING|kfd_step' $(LSRC) $(CSRC)))
OBJECTS   = $(patsubst %.c,$(B)/%.o,$(filter $(SWITCHED),$1)) $(patsubst %.c,$(REST)/%.o,$(filter-out $(SWITCHED),$1))
LOBJ := $(call OBJECTS,$(LSRC))
COBJ := $(call OBJECTS,$(CSRC)) $(REST)/topics.o
COMPILE = $(CC) $(CSTD) $(WARN) $(DEFINES) $(CPPFLAGS) $(HARDEN) $(CFLAGS) $(PKG_CFLAGS) -pthread -MMD -MP

# ./gpq is the plain build; a variant (clang, sanitizers) stays in its folder.
all: $(if $(filter plain,$(VARIANT)),gpq,$(B)/gpq)

gpq: build/plain/gpq
	@cp -f $< $@

testing: all
	$(Q)$(MAKE) --no-print-directory TESTING=1 all

HOT := $(addsuffix .o,$(addprefix $(REST)/,cmd/gpq cmd/needs cmd/listing cmd/suspend/% $(foreach r,cli holder host kfd pick rows reader out,common/$r/%)))
HOT := $(filter $(HOT),$(COBJ) $(LOBJ))

$(B)/gpq: $(COBJ) $(LIB)
	@echo '  LD   $@'
	$(Q)$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $(HOT) $(filter-out $(HOT),$(COBJ)) $(LIB) $(LIBS)

$(LIB): $(LOBJ)
	@rm -f $@
	@echo '  AR   $@'
	$(Q)$(AR) rcs $@ $^

# Called where the processor has them only. Expanded in the recipe: `make deps all` installs the compiler on the way.
FLAGS_block_lines_avx2 = $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),-mavx2 -mbmi -mbmi2)

# The stamp makes a change of version or flags rebuild what it must.
$(B)/%.o: %.c VERSION Makefile
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(COMPILE) $(FLAGS_$(basename $(<F))) -c -o $@ $<

# The texts of `gpq help TOPIC` are sections of gpq(1).
$(B)/topics.o: man/topics man/gpq.1 cmd/command.h VERSION Makefile
	@mkdir -p $(@D)
	@echo '  GEN  $@'
	$(Q)man/topics man/gpq.1 > $(@:.o=.c)
	$(Q)$(COMPILE) -c -o $@ $(@:.o=.c)

# With `make deps ...` everything that is compiled waits for the packages.
$(LOBJ) $(COBJ) $(B)/gen-amdlog $(B)/bench-dumps: | $(SETUP)

# Says what is left out. What is compiled follows when that changes, or the builder's flags; flags of a single target do not
# count. What is installed is what was built.
BUILDER := $(CPPFLAGS) $(CFLAGS)
$(filter $(B)/%,$(LOBJ) $(COBJ)): $(B)/flags
$(B)/flags: FORCE | $(SETUP)
	@mkdir -p $(@D)
	@printf '%s' '$(if $(LEFT_OUT),built without (pkg-config finds none; make deps installs them): $(foreach l,$(LEFT_OUT),$l: $(COST_$l);))' | \
		sed 's/;$$/\n/'
	@$(if $(filter install,$(MAKECMDGOALS)),[ ! -e $@ ] ||) now='$(LEFT_OUT) $(subst ','\'',$(BUILDER))'; [ "$$now" = "$$(cat $@ 2>/dev/null)" ] || printf '%s\n' "$$now" >$@

-include $(LOBJ:.o=.d) $(COBJ:.o=.d)
include common/client/client.mk $(wildcard tests/*.mk tests/*/*.mk)

# Where Debian's zsh looks: packages have a folder of their own.
ZSHDIR   ?= $(DATADIR)/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
PAGES    := $(wildcard man/*.[1-8])
# Tells man/columns the columns. In a cross build the new gpq does not run here: GPQ_HOST=PATH names one of this version that does.
GPQ_HOST ?= $(B)/gpq
MANDIRS  := $(sort $(patsubst .%,man%,$(suffix $(PAGES))))
# A command may have several pages: gpq-trace-live(1) is of gpq trace.
COMMANDS := $(filter-out gpq-trace-%,$(patsubst man/%.1,%,$(wildcard man/gpq-*.1)))

# One file is both.
UNITS    := $(patsubst %,"$(DESTDIR)$(UNITDIR)/%.service",gpq-sched gpq-sched@)

install: all
	install -d "$(DESTDIR)$(BINDIR)" $(MANDIRS:%="$(DESTDIR)$(MANDIR)/%") "$(DESTDIR)$(DATADIR)/bash-completion/completions" \
		"$(DESTDIR)$(ZSHDIR)" "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d"
	install -m 755 $(B)/gpq "$(DESTDIR)$(BINDIR)/gpq"
	install -d "$(DESTDIR)$(UNITDIR)"
	for u in $(UNITS); do sed 's|/usr/local/bin|$(BINDIR)|' man/gpq-sched.service >"$$u" && chmod 644 "$$u" || exit 1; done
	for p in $(PAGES); do q="$(DESTDIR)$(MANDIR)/man$${p##*.}/$${p##*/}" && man/columns "$(GPQ_HOST)" $$p >"$$q" && chmod 644 "$$q" || exit 1; done
	install -m 644 completions/gpq.bash "$(DESTDIR)$(DATADIR)/bash-completion/completions/gpq"
	install -m 644 completions/_gpq "$(DESTDIR)$(ZSHDIR)/_gpq"
	install -m 644 completions/gpq.fish "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d/gpq.fish"
	@# Both shells look for a file of the command's name, so the links of `gpq --install` need one each.
	for c in $(COMMANDS); do \
		ln -sf gpq "$(DESTDIR)$(DATADIR)/bash-completion/completions/$$c" && \
		ln -sf gpq.fish "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d/$$c.fish" || exit 1; done

# Takes away what `make install` with the same PREFIX and DESTDIR put there; folders stay.
uninstall:
	rm -f "$(DESTDIR)$(BINDIR)/gpq" $(UNITS) "$(DESTDIR)$(ZSHDIR)/_gpq" $(foreach p,$(notdir $(PAGES)),"$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $p))/$p") \
		$(foreach c,gpq $(COMMANDS),"$(DESTDIR)$(DATADIR)/bash-completion/completions/$c" "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d/$c.fish")

# As root or through sudo, for what is not installed yet; where there is no package manager, the names. If the repositories lack
# one, the first ones and, one by one, those that there are: a library of OPTIONAL is then left out, a test may be skipped or fail.
MANAGER      = $(eval MANAGER := $(firstword $(foreach m,apt-get dnf yum zypper,$(shell command -v $m >/dev/null && echo $m))))$(MANAGER)
OF_MANAGER   = $(if $(filter-out apt-get,$(MANAGER)),$(RPM_$1),$($1))
deps: WANTED = $(call OF_MANAGER,DEPS)
deps: FIRST  = $(wordlist 1,7,$(WANTED))
deps-test: WANTED = $(call OF_MANAGER,TEST_DEPS) $(if $(filter apt-get,$(MANAGER)),$(CLANG_RT))
deps-test: FIRST  = $(firstword $(WANTED))
deps-test: deps
deps deps-test:
	@if [ -z "$(MANAGER)" ]; then echo "install: $(WANTED)"; \
	elif $(or $(INSTALLED_$(MANAGER)),rpm -q --quiet --whatprovides $(WANTED) 2>/dev/null); then :; \
	elif [ "$$(id -u)" = 0 ]; then $(INSTALL); \
	elif sudo -n true 2>/dev/null || [ -t 0 ] && command -v sudo >/dev/null; then sudo sh -c '$(INSTALL)'; \
	else echo "no root here; ask for: $(MANAGER) install $(WANTED)"; exit 1; fi
INSTALLED_apt-get = ! dpkg-query -Wf '$${db:Status-Status}\n' $(WANTED) 2>&1 | grep -qvx installed
INSTALL_apt-get   = DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$$@" >/dev/null
INSTALL_zypper    = zypper -q -n install "$$@"
INSTALL = $(if $(filter apt-get,$(MANAGER)),apt-get update -qq &&) get() { $(or $(INSTALL_$(MANAGER)),$(MANAGER) install -q -y "$$@"); } && \
	{ get $(WANTED) || { get $(FIRST) && for p in $(filter-out $(FIRST),$(WANTED)); do get $$p || echo "not in these repositories: $$p"; done; }; }

# A release: what is committed, under a folder of its name.
dist:
	@packaging/version >/dev/null
	git archive --prefix=gpq-$(VERSION)/ -o gpq-$(VERSION).tar.gz HEAD

# Packages of it for Debian, in build/deb.
deb:
	@packaging/deb

demo: all
	@tests/demo

C_FILES := $(LSRC) $(CSRC) $(USRC) $(wildcard man/examples/*.c)
# How many states of a function the analyzer looks at; with its own limit, 225,000 (make check-deep), it takes five times as long.
# What it would say of unit tests, the sanitizers say.
ANALYZER := 30000
# OPTIONS, FILES
TIDY = printf '%s\n' $(2) | xargs -P $$(nproc) -n 4 sh -c 'clang-tidy --quiet $(1) "$$@" -- $(CSTD) $(filter-out -DGPQ_VERSION%,$(DEFINES)) "-DGPQ_VERSION=\"lint\"" -Icommon/client $(PKG_CFLAGS) 2>/dev/null' _
lint:
	clang-format --dry-run -Werror $(C_FILES) $(wildcard common/absent/*/*/*.h cmd/*.h cmd/*/*.h common/*/*.h common/*/*/*.h tests/unit/*.h)
	$(call TIDY,$(patsubst %,--extra-arg=%,-Xclang -analyzer-config -Xclang max-nodes=$(ANALYZER)),$(filter-out $(USRC),$(C_FILES)))
	$(call TIDY,--checks=-clang-analyzer-*,$(USRC))
	cppcheck --quiet --error-exitcode=1 --inline-suppr --enable=warning,performance,portability \
		--suppress=missingIncludeSystem -j $$(nproc) -I. -D_GNU_SOURCE $(filter-out tests/%,$(C_FILES))

clean:
	rm -rf build gpq

help:
	@echo 'make            build ./gpq'
	@echo 'make deps       install what building needs (apt-get, dnf, yum, zypper); make deps-test: what make check and make lint need'
	@echo 'make demo       show the main job on a recorded host and a log'
	@echo 'make check      the tests; make check SANITIZE=1 with ASan and UBSan; make check-valgrind'
	@echo 'make mutate     small faults in the code, drawn at random: which does no test find? (tests/mutate)'
	@echo 'make coverage   lines of gpq that tests run, and how many each test adds'
	@echo 'make check-deep all that the gate (.ci/run) leaves out, some hours; STEPS="kernel hip"'
	@echo 'make check-faults   each allocation and system call of many commands fails once'
	@echo 'make check-stub    each assertion fails where gpq is replaced by a program that says nothing'
	@echo 'make check-same OLD=GPQ   what an older gpq prints for some thousand commands, byte for byte'
	@echo 'make testing    build/testing/gpq, with test switches, for make check-kernel'
	@echo 'make check-one  T=tests/cli/queues.t'
	@echo 'make lint       clang-format, clang-tidy, cppcheck'
	@echo 'make bench      benchmarks (tests/bench)'
	@echo 'make check-kernel, check-hip, lab    the real amdkfd driver in a VM (tests/kernel); make deps-kernel before'
	@echo 'make check-cluster  logs of a real Slurm and a real Dask, as root'
	@echo 'make check-judge    what the debugger library of AMD says of save areas that tests make'
	@echo 'make check-gpu  gpq on a real GPU, with programs of its own; asks first (YES=1: begins)'
	@echo 'make install    DESTDIR= PREFIX=/usr/local; make uninstall takes it away; make dist: a tarball'
	@echo 'make deb        Debian packages in build/deb; DEB_BUILD_OPTIONS=nocheck: without the tests'
	@echo 'make clean      remove build and ./gpq; V=1 shows the commands, CC=clang, SANITIZE=1 and DLOPEN=no build beside'

FORCE:
.PHONY: all testing clean install uninstall deps deps-test dist deb demo lint help FORCE
.DELETE_ON_ERROR:
