#!/bin/bash
# make install: what it puts where, and that man pages and completions are found there, for links of `gpq --install`, too.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
dest="$work/a root"
debian=(PREFIX=/usr LIBDIR=/usr/lib/triplet PYTHONDIR=/usr/lib/python3/dist-packages)
ok "make install, with whatever umask" eval '(umask 077; mk install DESTDIR="$dest" "${debian[@]}")'
rig empty "everybody may read all of it, and nobody but its owner write" "$(find "$dest"/* ! -type l ! -perm 644 ! -perm 755)"
# shellcheck disable=SC2046 # patterns, one a line
rig is "each file is in one package" "$(cd "$dest" && find $(cat "$top"/packaging/debian/*.install) ! -type d 2>&1 | sort)" "$(cd "$dest" && find usr ! -type d | sort)"
rpm=$(sed -n '/^%files/,$ { s|%{_bindir}|usr/bin|; s|%{_libdir}|usr/lib/triplet|; s|%{_includedir}|usr/include|; s|%{_mandir}|usr/share/man|
	s|%{_docdir}|usr/share/doc|; s|%{_datadir}|usr/share|; s|^/||; /^usr/p }' "$top/packaging/gpq.spec")
# shellcheck disable=SC2086
rig is "and in an RPM, but for the Python module and a file that the spec installs itself" "$(cd "$dest" && { find $rpm ! -type d 2>/dev/null || :; } | grep -v sysusers | sort)" \
	"$(cd "$dest" && find usr ! -type d | grep -v dist-packages | sort)"
share=$dest/usr/share
is "the program" "$("$dest/usr/bin/gpq" --version)" "gpq $(cat "$top/VERSION")"
is "a man page for each command" "$(cd "$share/man/man1" && ls | grep -v '^gpq-[a-z]*-')" \
	"$(gpq --list | sed 's/.*/gpq-&.1/' | (cat && echo gpq.1) | sort)"
is "all pages of all sections" "$(cd "$share/man" && echo man*/*)" \
	"$(cd "$top/man" && for p in *.[1-8]; do echo "man${p##*.}/$p"; done | sort | xargs)"
is "pages tell the columns of this gpq" "$(grep -cE '^\.BR [A-Z/_]+ "' "$share/man/man1/gpq-queues.1")" "$(gpq queues --list-columns -n -r -o COLUMN | grep -c .)"
is "and what is said by hand" "$(grep -A2 '^\.BR PRIO ' "$share/man/man1/gpq-queues.1" | tail -1)" "Unknown where the driver does not write it: Linux 7.0 and later write the level alone."
is "bash finds completions by the command's name" "$(cd "$share/bash-completion/completions" && ls)" \
	"$(gpq --list | sed 's/^/gpq-/' | (echo gpq && cat) | sort)"
is "so does fish" "$(cd "$share/fish/vendor_completions.d" && ls)" \
	"$(gpq --list | sed 's/.*/gpq-&.fish/' | (echo gpq.fish && cat) | sort)"
ok "they are the same" cmp "$share/bash-completion/completions/gpq-queues" "$top/completions/gpq.bash"
is "zsh, as Debian has it" "$(ls "$share/zsh/vendor-completions")" _gpq
printf '#!/bin/sh\necho "queues PID pid yes of\\x20$1"\n' >"$work/gpq" && chmod +x "$work/gpq"
sed -n '/^\.SH/q; p' "$top/man/gpq-queues.1" >"$work/page.1" && printf '.SH COLUMNS\n.\\" COLUMNS of gpq queues\n' >>"$work/page.1"
rig is "columns of another gpq, as in a cross build" "$("$top/man/columns" "$work/gpq" "$work/page.1" | tail -1)" "of queues."
printf '.\\" COLUMN NOSUCH\nIt is.\n' >>"$work/page.1"
rig is "a text for a column that is not there" "$("$top/man/columns" "$work/gpq" "$work/page.1" 2>&1 >/dev/null; echo $?)" \
	"$work/page.1: a text for NOSUCH, which is no column of gpq queues
1"
rig is "a page whose gpq does not run" "$("$top/man/columns" false "$work/page.1" 2>/dev/null >&2; echo $?)" 1
"$dest/usr/bin/gpq" --install "$dest/usr/bin"
is "one for each command" "$("$dest/usr/bin/gpq-trace" --version)" "gpq $(cat "$top/VERSION")"
ok "below /usr/local" mk install DESTDIR="$work/local"
is "zsh, below /usr/local" "$(cd "$work/local" && find . -name _gpq)" ./usr/local/share/zsh/site-functions/_gpq
rig is "the unit runs the installed program" "$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$dest/usr/lib/systemd/system/gpq-sched.service" "$work/local/usr/local/lib/systemd/system/gpq-sched.service")" \
	"/usr/bin/gpq
/usr/local/bin/gpq"
rig ok "the template is the same" cmp "$dest/usr/lib/systemd/system/gpq-sched.service" "$dest/usr/lib/systemd/system/gpq-sched@.service"
rig is "examples" "$(cd "$share/doc/gpq/examples" && find . -type f | sort)" "$(cd "$top/man/examples" && find . -type f | sort)"
rig ok "make uninstall" mk uninstall DESTDIR="$dest" "${debian[@]}"
rig empty "only the links of gpq --install are left" "$(find "$dest" ! -type d | grep -v '/bin/gpq-[a-z]*$')"
finish
