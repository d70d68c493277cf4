# A driver for gpq suspend, resume, sched and bench without a GPU and without a VM; tests/holder/rig.py tells how.

RIG := $(B)/rig

$(RIG)/fakekfd.so: tests/holder/fakekfd.c tests/holder/faketracefs.c common/kfd/abi.h
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(CC) $(CSTD) $(WARN) -D_GNU_SOURCE -I. -O1 -g -fPIC -shared -o $@ $(filter %.c,$^) -pthread -ldl

$(RIG)/target: tests/holder/target.c
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(CC) $(CSTD) $(WARN) -D_GNU_SOURCE -O1 -g -o $@ $< -pthread -ldl

check check-one check-stub coverage-run: $(RIG)/fakekfd.so $(RIG)/target $(B)/unit/fake/libhsa-runtime64.so.1
