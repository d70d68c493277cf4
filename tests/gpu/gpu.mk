# make check-gpu: gpq on a real GPU (README, "You have an AMD GPU"). YES=1 begins without asking, INDEX=1 is another GPU.

$(B)/gpu/mkqueue: tests/kernel/user/mkqueue.c $(wildcard tests/kernel/user/*.h tests/gpu/include/*/*.h)
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(CC) $(CSTD) -O1 -Wall -Wextra -D_GNU_SOURCE -Itests/gpu/include -o $@ $<

$(B)/gpu/hipq: tests/kernel/hip/hipq.c
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(CC) $(CSTD) -O1 -Wall -Wextra -D_GNU_SOURCE -o $@ $< -ldl -lpthread

check-gpu: $(B)/gpq $(B)/gpu/mkqueue $(B)/gpu/hipq
	@GPQ='$(CURDIR)/$(B)/gpq' MKQUEUE='$(CURDIR)/$(B)/gpu/mkqueue' HIPQ='$(CURDIR)/$(B)/gpu/hipq' tests/gpu/check-gpu $(if $(YES),-y) $(if $(INDEX),-g $(INDEX)) \
		$(if $(CYCLES),-n $(CYCLES))

.PHONY: check-gpu
