# make mutate: faults drawn at random, put into the code one at a time; which does no test find? See run.py.
#
#   make mutate [N=200] [SEED=...] [ROOM=holder] [OTHERS=1] drawn over all rooms, or in those of that name
#   make mutate CHANGED=1 [N=20] [BASE=origin/main]         in lines of the last commits, or that differ from BASE; a survivor fails it
#   make mutate FAULT=common/kfd/topology.c:NAME            one of those once more
#   make mutate KERNEL=6.12 ...                             what these do not find is tried in the VM as well
#   make mutate AGAIN=build/mutate/SEED.ndjson              those of an earlier run that no test found
#   make mutate TABLE=1 [T=PATTERN]                         the rows of table*, each with the test that must find it; those rows

mutate:
	@PYTHONDONTWRITEBYTECODE=1 tests/mutate/run.py -j $$(nproc) $(if $(TABLE),--table $(T),$(if $(N),-n $(N)) $(if $(SEED),--seed $(SEED)) $(if $(ROOM),--room $(ROOM)) \
		$(if $(OTHERS),--rest) $(if $(CHANGED),--changed) $(if $(BASE),--base $(BASE)) $(if $(FAULT),--fault '$(FAULT)') $(if $(AGAIN),--again $(AGAIN)) $(if $(KERNEL),--kernel $(KERNEL)))

.PHONY: mutate
