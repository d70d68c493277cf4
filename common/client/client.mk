# libgpqclient: what other programs link, apart from gpq; and the Python module. gpq sched --status uses the same object.

CLIENT_SO := $(B)/libgpqclient.so
CLIENT_A  := $(B)/libgpqclient.a
CLIENT_SONAME := libgpqclient.so.$(firstword $(subst ., ,$(VERSION)))
EXAMPLES  := $(patsubst man/examples/%,%,$(wildcard man/examples/*.* man/examples/*/*))

$(REST)/common/client/client.o: HARDEN = $(CHECKED) -fPIC

$(CLIENT_A): $(REST)/common/client/client.o
	@rm -f $@
	@echo '  AR   $@'
	$(Q)$(AR) rcs $@ $^

$(CLIENT_SO): $(REST)/common/client/client.o common/client/gpqclient.map
	@echo '  LD   $@'
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,$(CLIENT_SONAME) -Wl,--version-script=common/client/gpqclient.map -Wl,-z,relro,-z,now -Wl,-z,noexecstack \
		$(if $(SANITIZE),,-Wl,-z,defs) $(LDFLAGS) -o $@.new $< -pthread
	@ln -sf $(@F) $(B)/$(CLIENT_SONAME) && mv $@.new $@

$(REST)/common/client/client.o: common/client/client.mk

all: $(CLIENT_SO) $(CLIENT_A)

install: install-client
install-client: all
	install -d "$(DESTDIR)$(LIBDIR)" "$(DESTDIR)$(PKGCONFIGDIR)" "$(DESTDIR)$(INCLUDEDIR)" "$(DESTDIR)$(PYTHONDIR)" "$(DESTDIR)$(EXAMPLEDIR)"
	install -m 644 common/client/gpq-client.h "$(DESTDIR)$(INCLUDEDIR)/gpq-client.h"
	install -m 755 $(CLIENT_SO) "$(DESTDIR)$(LIBDIR)/$(CLIENT_SONAME)"
	ln -sf $(CLIENT_SONAME) "$(DESTDIR)$(LIBDIR)/libgpqclient.so"
	install -m 644 $(CLIENT_A) "$(DESTDIR)$(LIBDIR)/libgpqclient.a"
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@PYTHONDIR@|$(PYTHONDIR)|; s|@VERSION@|$(VERSION)|' \
		common/client/gpqclient.pc.in >"$(DESTDIR)$(PKGCONFIGDIR)/gpqclient.pc"
	chmod 644 "$(DESTDIR)$(PKGCONFIGDIR)/gpqclient.pc"
	install -m 644 common/client/gpq.py "$(DESTDIR)$(PYTHONDIR)/gpq.py"
	for e in $(EXAMPLES); do install -D -m 644 "man/examples/$$e" "$(DESTDIR)$(EXAMPLEDIR)/$$e" || exit; done

uninstall: uninstall-client
uninstall-client:
	rm -f "$(DESTDIR)$(INCLUDEDIR)/gpq-client.h" "$(DESTDIR)$(LIBDIR)/$(CLIENT_SONAME)" "$(DESTDIR)$(LIBDIR)/libgpqclient.so" \
		"$(DESTDIR)$(LIBDIR)/libgpqclient.a" "$(DESTDIR)$(PKGCONFIGDIR)/gpqclient.pc" "$(DESTDIR)$(PYTHONDIR)/gpq.py" \
		$(foreach e,$(EXAMPLES),"$(DESTDIR)$(EXAMPLEDIR)/$e")

.PHONY: install-client uninstall-client
