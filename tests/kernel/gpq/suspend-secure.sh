# gpq set-user-ID root, and with file capabilities, run by another user: the variables that name directories do not count, no
# file is opened and no command run by name, and what is left works. (tests/cli/secure.sh tries the options without a driver.)
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

load gfx942
chmod 666 /dev/kfd /dev/dri/renderD*
chmod 777 /tmp
as_user() { su user -c "$*"; }
as_user mkdir -m 700 /tmp/xdg
mkdir -m 777 /tmp/links

refused() { # WHAT ARGS...
	status_is "$RAISED: $1 is refused" 2 as_user "/tmp/$RAISED $2"
	like "in one line" "$OUT" "^gpq: ([a-z]+: )?[^ ]+: refused, because this gpq is set-user-ID or has file capabilities: .*; use a copy of gpq without these"
}

works() { # FOLDER: where its sockets are
	refused "-- COMMAND" "suspend -p $P -- touch /tmp/ran"
	refused "--marks FILE" "suspend -p $P --marks /tmp/marks"
	refused "--install DIR" "--install /tmp/links"
	refused "snapshot DIR" "snapshot /tmp/links/host"
	empty "nothing was written or run" "$(ls /tmp/links; ls /tmp/marks /tmp/ran 2> /dev/null)"
	moves 0 "nothing was suspended"
	status_is "$RAISED: suspend -p" 0 as_user "XDG_RUNTIME_DIR=/tmp/xdg GPQ_SYSROOT=/tmp/xdg /tmp/$RAISED suspend -p $P"
	still 0 "held" 200
	is "XDG_RUNTIME_DIR does not count" "$(ls /tmp/xdg; find $1 -name "$P-*" | wc -l)" 1
	like "--list" "$(as_user /tmp/$RAISED suspend --list -r -n -o PID,STATE)" "^$P suspended"
	like "the holder has no other capability" "$(grep CapPrm /proc/"$(tracer $P)"/status)" "0000000000080000"
	status_is "$RAISED: resume -p" 0 as_user "XDG_RUNTIME_DIR=/tmp/xdg /tmp/$RAISED resume -p $P"
	moves 0 "resumed"
	within 10 no_holder || fail "no holder is left" "$(holders)"
}

target -q -n 1
status_is "another user's process, without rights" 4 as_user gpq suspend -p $P
RAISED=setuid
cp /bin/gpq /tmp/setuid
chmod 4755 /tmp/setuid
works /run/gpq
RAISED=capable
cp /bin/gpq /tmp/capable
if command -v setcap > /dev/null && setcap cap_sys_ptrace,cap_dac_read_search+ep /tmp/capable; then
	works /tmp/gpq-1000
	as_user /tmp/capable suspend -p $P > /dev/null
	status_is "a gpq without rights resumes for the same user" 0 as_user gpq resume -p $P
	moves 0 "resumed without rights"
	like "cap_dac_read_search is enough for debugfs" "$(as_user /tmp/capable hqd --mqd -r -n -o PID 2>&1)" "$P"
	setcap cap_sys_ptrace+ep /tmp/capable
	status_is "cap_sys_ptrace alone: suspend" 0 as_user /tmp/capable suspend -p $P
	still 0 "held with cap_sys_ptrace alone" 200
	status_is "cap_sys_ptrace alone: resume" 0 as_user /tmp/capable resume -p $P
	status_is "but not debugfs" 4 as_user /tmp/capable hqd
	moves 0 "resumed"
else
	skip "file capabilities" "no setcap in this VM"
fi
reap $P
unload
kernel_is_content
finish
