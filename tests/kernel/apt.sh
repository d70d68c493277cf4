# Sourced: an apt configuration of our own. The machine's sources, lists, cache and state are neither read nor written,
# except for its mirror and its proxy, which are usually the only ones that can be reached.
# shellcheck shell=bash

# The host's Debian mirror; GPQ_DEB_MIRROR names another one.
deb_mirror() {
	local uri=${GPQ_DEB_MIRROR:-}
	[ -n "$uri" ] || uri=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/debian.sources 2> /dev/null | head -n 1)
	[ -n "$uri" ] || uri=$(sed -n 's/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*debian\/*\) .*/\2/p' /etc/apt/sources.list 2> /dev/null | head -n 1)
	echo "${uri:-http://deb.debian.org/debian}"
}

# Make the configuration in DIR for the given suites and select it for the apt-* commands that follow.
apt_private() { # DIR SUITE...
	local d=$1 s uri
	shift
	uri=$(deb_mirror)
	mkdir -p "$d/lists/partial" "$d/cache/archives/partial" "$d/state"
	: >> "$d/state/status" # empty: nothing counts as installed, so a closure is complete
	for s; do echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $s main"; done > "$d/sources.list"
	{
		cat <<-C
			Dir::Etc::sourcelist "$d/sources.list";
			Dir::Etc::sourceparts "/dev/null";
			Dir::Etc::parts "/dev/null";
			Dir::Etc::main "/dev/null";
			Dir::Etc::preferences "/dev/null";
			Dir::Etc::preferencesparts "/dev/null";
			Dir::State "$d/state";
			Dir::State::status "$d/state/status";
			Dir::State::lists "$d/lists";
			Dir::Cache "$d/cache";
			Dir::Log "$d";
			APT::Install-Recommends "false";
			APT::Architecture "amd64";
			APT::Architectures "amd64";
			APT::Sandbox::User "root";
			Acquire::Languages "none";
			Acquire::Retries "3";
			Acquire::Check-Valid-Until "false";
			Debug::NoLocking "true";
		C
		# Signatures are checked; the validity date is not: clocks of build machines and mirrors drift apart.
		apt-config dump 2> /dev/null | grep -iE '^Acquire::[a-z:/.0-9-]*proxy' || :
	} > "$d/apt.conf.new"
	mv "$d/apt.conf.new" "$d/apt.conf"
	export APT_CONFIG=$d/apt.conf
}

# Refresh the lists. Fails when any of the suites cannot be had (apt itself only warns).
apt_lists() {
	local out
	out=$(apt-get -qq -o APT::Update::Error-Mode=any update 2>&1) && return
	die 1 "the package archive cannot be reached ($(deb_mirror)): $(echo "$out" | grep '^[EW]:' | head -n 1 | cut -c1-160)"
}

# Download named packages (NAME or NAME=VERSION) into DIR, unless they are there already.
apt_get() { # DIR PACKAGE...
	local d=$1 p
	shift
	mkdir -p "$d"
	for p; do
		[ -n "$(find "$d" -name "${p%%=*}_*.deb" -print -quit)" ] && continue
		(cd "$d" && apt-get -qq download "$p" 2>&1) > "$d/.log" ||
			die 1 "package ${p/=/ } cannot be downloaded from $(deb_mirror): $(grep '^E:' "$d/.log" | head -n 1 | cut -c1-160)"
	done
}
