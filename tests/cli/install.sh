#!/bin/bash
# make install: what it puts where, and that man pages and completions are found there, for links of `gpq --install`, too.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
dest="$work/a root"
mk() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$top" -o all B="$bin" "$@" 2>&1; } # -o: what was built is tested
ok "make install" mk install DESTDIR="$dest" PREFIX=/usr
share=$dest/usr/share
is "the program" "$("$dest/usr/bin/gpq" --version)" "gpq $(cat "$top/VERSION")"
is "a man page for each command" "$(cd "$share/man/man1" && ls)" \
	"$(gpq --list | sed 's/.*/gpq-&.1/' | (cat && echo gpq.1) | sort)"
is "all pages of all sections" "$(cd "$share/man" && echo man*/*)" \
	"$(cd "$top/man" && for p in *.[1-8]; do echo "man${p##*.}/$p"; done | sort | xargs)"
is "bash finds completions by the command's name" "$(cd "$share/bash-completion/completions" && ls)" \
	"$(gpq --list | sed 's/^/gpq-/' | (echo gpq && cat) | sort)"
is "so does fish" "$(cd "$share/fish/vendor_completions.d" && ls)" \
	"$(gpq --list | sed 's/.*/gpq-&.fish/' | (echo gpq.fish && cat) | sort)"
ok "they are the same" cmp "$share/bash-completion/completions/gpq-queues" "$top/completions/gpq.bash"
is "zsh, as Debian has it" "$(ls "$share/zsh/vendor-completions")" _gpq
ok "links" "$dest/usr/bin/gpq" --install "$dest/usr/bin"
is "one for each command" "$("$dest/usr/bin/gpq-trace" --version)" "gpq $(cat "$top/VERSION")"
ok "below /usr/local" mk install DESTDIR="$work/local"
is "zsh, below /usr/local" "$(cd "$work/local" && find . -name _gpq)" ./usr/local/share/zsh/site-functions/_gpq
is "the unit runs the installed program" "$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$dest/usr/lib/systemd/system/gpq-sched.service" "$work/local/usr/local/lib/systemd/system/gpq-sched.service")" \
	"/usr/bin/gpq
/usr/local/bin/gpq"
is "examples" "$(ls "$share/doc/gpq/examples")" "$(ls "$top/man/examples")"
ok "make uninstall" mk uninstall DESTDIR="$dest" PREFIX=/usr
is "only the links of gpq --install are left" "$(find "$dest" ! -type d | grep -v '/bin/gpq-[a-z]*$')" ""
finish
