# gpq set-user-ID root, run by another user: the variables that name directories do not count, no file is opened and no
# command run by name, and what is left works. (tests/cli/secure.sh does the same with file capabilities, without a driver.)
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

load gfx942
chmod 777 /tmp
cp /bin/gpq /tmp/gpq-raised
chmod 4755 /tmp/gpq-raised
as_user() { su user -c "$*"; }
as_user mkdir -m 700 /tmp/xdg
as_user mkdir -m 777 /tmp/links
mkdir -p -m 700 /run/gpq

target -q -n 1
status_is "suspend by another user without rights" 4 as_user gpq suspend -p $P
status_is "set-user-ID: -- COMMAND is refused" 2 as_user "/tmp/gpq-raised suspend -p $P -- touch /tmp/ran"
like "in one line" "$OUT" "^gpq: suspend: touch: refused, because this gpq is set-user-ID or has file capabilities: .*; use a copy of gpq without these"
ok "the command did not run" test ! -e /tmp/ran
status_is "set-user-ID: --marks is refused" 2 as_user "/tmp/gpq-raised suspend -p $P --marks /tmp/marks"
status_is "set-user-ID: --install is refused" 2 as_user "/tmp/gpq-raised --install /tmp/links"
status_is "set-user-ID: a directory to write is refused" 2 as_user "/tmp/gpq-raised snapshot /tmp/links/host"
is "nothing was written" "$(ls /tmp/links; ls /tmp/marks 2> /dev/null)" ""
moves 0 "nothing was suspended"
status_is "set-user-ID: suspend -p" 0 as_user "XDG_RUNTIME_DIR=/tmp/xdg GPQ_SYSROOT=/tmp/xdg /tmp/gpq-raised suspend -p $P"
still 0 "held" 200
is "XDG_RUNTIME_DIR does not count: the socket is root's" "$(ls /tmp/xdg; ls /run/gpq | grep -c "^$P-")" 1
status_is "set-user-ID: resume -p" 0 as_user "XDG_RUNTIME_DIR=/tmp/xdg /tmp/gpq-raised resume -p $P"
moves 0 "resumed"
within 10 no_holder || fail "no holder is left" "$(holders)"
reap $P
unload
kernel_is_content
finish
