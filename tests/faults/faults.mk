# make check-faults: each allocation and each system call of many commands fails once; see run.py.

FAULTS := $(B)/faults

$(FAULTS)/alloc.so: tests/faults/alloc.c
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(CC) $(CSTD) $(WARN) $(DEFINES) $(CPPFLAGS) -O2 -g -fPIC -shared -o $@ $<

$(FAULTS)/syscalls: tests/faults/syscalls.c
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(CC) $(CSTD) $(WARN) $(DEFINES) $(CPPFLAGS) -O2 -g -o $@ $<

$(FAULTS)/client: tests/faults/client.c $(B)/libgpqclient.a
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(CC) $(CSTD) $(WARN) $(DEFINES) $(CPPFLAGS) -O2 -g -o $@ $^ -pthread

check-faults: $(B)/gpq $(B)/hint-server $(FAULTS)/alloc.so $(FAULTS)/syscalls $(FAULTS)/client
	@printf '#!/bin/sh\nexec "%s" "%s" "%s"\n' '$(CURDIR)/tests/faults/run.py' '$(CURDIR)/$(B)' '$(CURDIR)/$(FAULTS)' >$(FAULTS)/run
	@chmod +x $(FAULTS)/run
	@tests/run $(FAULTS)/run

.PHONY: check-faults
