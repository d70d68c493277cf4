# A scheduler's socket without a scheduler, for the tests of clients (tests/cli/client.sh).

$(B)/hint-server: tests/client/hint-server.c $(LIB)
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(COMPILE) -o $@ $< $(LIB) $(LINK) $(LDFLAGS) $(LIBS)

-include $(B)/hint-server.d

check check-one coverage-run: $(B)/hint-server $(CLIENT_SO) $(CLIENT_A)
