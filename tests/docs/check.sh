#!/bin/bash
# Every command has its man page, completion and test, and help, man page and completion name the same options and columns.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export PATH=${GPQ_BIN:-$top}:$PATH
n=0 bad=0
ok() { # status, name, detail
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else
		bad=$((bad + 1))
		echo "not ok $n - $2"
		[ -z "${3:-}" ] || printf '%s\n' "$3" | sed 's/^/# /'
	fi
}
same() { # name, text, text
	local d
	d=$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$3"))
	ok $? "$1" "$d"
}

# Lines of a part of a help text on standard input: from the line $1 to the next blank line.
part() { awk -v from="$1" '$0 == from {p = 1; next} p && /^$/ {exit} p'; }
# Long options at the beginning of a line.
options() { grep -oE '^  (-.,|   ) --[a-z][a-z-]*' | grep -oE -- '--[a-z-]*' | sort -u; }
# Pages of a command count together: gpq-trace.1 and gpq-trace-*.1.
pages_of() { ls "$pages/$1" && [ "$1" = gpq.1 ] || ls "$pages/${1%.*}"-*."${1##*.}" 2>/dev/null; }
# Pages as they are installed, with the columns of this gpq.
pages=$(mktemp -d) && trap 'rm -r "$pages"' EXIT
for page in "$top"/man/*.[1-8]; do
	out=$("$top/man/columns" gpq "$page" 2>&1 >"$pages/${page##*/}")
	ok $? "$(basename "$page") says nothing of columns that are not there" "$out"
done
# Tags (.TP and the line behind it) in a section of the pages of $1, or in its subsection $3.
# shellcheck disable=SC2046
man_tags() { awk -v s="$2" -v ss="${3-}" '/^\.SH/ {gsub(/"/, ""); in_s = (substr($0, 5) == s); sub_s = ""} /^\.SS/ {sub_s = substr($0, 5)}
	{p = in_s && (ss == "" || sub_s == ss)} p && tag {print; tag = 0} p && /^\.TP/ {tag = 1}' $(pages_of "$1"); }
man_options() { man_tags "$@" | sed 's/\\-/-/g' | grep -oE -- '--[a-z][a-z-]*' | sort -u; }
# Words of the COLUMNS that are in capitals.
# shellcheck disable=SC2046
man_columns() { awk '/^\.S/ {p = p && /^\.SS/ || $2 == "COLUMNS"} p' $(pages_of "$1") | tr -s ' ,"' '\n' | sed 's/\\-/-/g' | grep -E '^[A-Z]' | sort -u; }

same "gpq(1) describes the options of every command" \
	"$(gpq --help | part 'Options of every command:' | options)" "$(man_options gpq.1 'OPTIONS')"
same "gpq(1) and README name every command" "$(gpq --list)" \
	"$(for c in $(gpq --list); do grep -q "gpq\\\\-$c" "$top/man/gpq.1" && grep -q "gpq $c" "$top/README.md" && echo "$c"; done)"

# Help of $1 (a command, or with its kind) in both sizes: lines of 80 columns; of -h one line for each option, but for the rare
# ones, which a last line names; all that --help has; and 24 lines in all.
sizes() {
	local brief all own rare bad
	# shellcheck disable=SC2086
	brief=$(gpq $1 -h) all=$(gpq $1 --help)
	bad=$(grep -hnE '.{81}' <<<"$brief"$'\n'"$all")
	grep -q "^Usage: gpq $1" <<<"$all" && grep -q "^Usage: gpq $1" <<<"$brief" && [ -z "$bad" ]
	ok $? "$1: -h and --help have a usage line and no line over 80 columns" "$bad"
	own=$(part Options: <<<"$brief")
	rare=$(sed -n '/^Also: /,$p' <<<"$own")
	same "$1: -h has the options of --help, each on one line or among the rare ones" \
		"$(sed '/^Also: /,$d' <<<"$own" | cut -c1-24 | grep -cE -- '^.{6}--') $({ options <<<"$own"; grep -oE -- '--[a-z-]+' <<<"$rare"; } | sort -u)" \
		"$(($(grep -c . <<<"$own") - $(grep -c . <<<"$rare"))) $(part Options: <<<"$all" | options)"
	[ "$(grep -c '' <<<"$brief")" -le 24 ]
	ok $? "$1: -h fits a screen" "$(grep -c '' <<<"$brief") lines"
}
long=$(gpq -h && gpq --help) && long=$(grep -nE '.{81}' <<<"$long")
[ -z "$long" ] && [ "$(gpq -h | grep -c '')" -le 24 ]
ok $? "gpq: -h fits a screen, and no line is over 80 columns" "$long"

for c in $(gpq --list); do
	page=gpq-$c.1
	[ -f "$top/man/$page" ]
	ok $? "$c has a man page"
	compgen -G "$top/tests/cli/$c*" >/dev/null || grep -qE "^\\$ gpq $c\\b" "$top"/tests/cli/*.t
	ok $? "$c has a test"
	[ -f "$top/man/$page" ] || continue
	help=$(gpq "$c" --help)
	kinds=$(sed -n 's/^Options of \([a-z]*\):$/\1/p' <<<"$help")
	for kind in $kinds; do
		wanted=$(man_options "$page" OPTIONS "$kind")
		same "$c $kind: options of gpq $c --help and $page" "$(part "Options of $kind:" <<<"$help" | options)" "$wanted"
		same "$c $kind: options of gpq $c $kind --help" "$(gpq "$c" "$kind" --help | part Options: | options)" "$wanted"
		same "$c $kind: completion offers what --help lists" \
			"$(gpq "$c" "$kind" --help | options)" "$(gpq --complete -- "$c" "$kind" -- | cut -f1 | sort -u)"
		sizes "$c $kind"
	done
	[ "$kinds" ] || same "$c: options of --help and $page" "$(part Options: <<<"$help" | options)" "$(man_options "$page" OPTIONS)"
	sizes "$c"
	tables=$(gpq "$c" --list-columns -r -n -o TABLE | uniq | awk '{print $1, ++n[$1]}' | sort)
	told=$(sed -nE "s/^\.\\\\\" COLUMN(S| NAMES) of gpq $c(: )?//p" "$top/man/gpq-$c"[.-]*1 | awk '{print $1, $2 ? $2 : 1}' | sort)
	[ "$told" = " 1" ] || same "$c: tables of --list-columns and $page" "$tables" "$told"
	columns=$(gpq "$c" --list-columns -r -n -o COLUMN | sort -u)
	same "$c: columns of --list-columns and $page" "$columns" "$(man_columns "$page" | comm -12 - <(printf '%s\n' "$columns"))"
	same "$c: completion offers what --help lists" \
		"$(options <<<"$help")" \
		"$(gpq --complete -- "$c" -- | cut -f1 | sort -u)"
	same "$c: in bash's list of links" "gpq-$c" "$(grep -oE "gpq-$c\b" "$top/completions/gpq.bash" | head -1)"
done

for page in "$pages"/*; do
	if command -v mandoc >/dev/null; then
		out=$(mandoc -T lint -W warning "$page" 2>&1)
		ok $? "$(basename "$page") is clean" "$out"
	fi
done

same "gpq-client(3) describes what gpq-client.h declares" "$(grep -oE '^[a-z].*\bgpq_[a-z]+\(' "$top/common/client/gpq-client.h" | grep -oE 'gpq_[a-z]+' | grep -v gpq_client | sort)" \
	"$(man_tags gpq-client.3 DESCRIPTION | grep -oE '^\.BI gpq_[a-z]+' | cut -d' ' -f2 | sort)"
grep -q '^\.BR gpq\\-client (3)' "$top/man/gpq.1" && grep -q 'gpq-client(3)' "$top/README.md"
ok $? "gpq(1) and README name gpq-client(3)"

page=$top/man/gpq-security.7
tests=$(sed 's/\\-/-/g' "$page" | grep -oE 'tests/[A-Za-z0-9_/.-]+\.(sh|c|t|py)\b' | sort -u)
same "the tests that gpq-security(7) names are there" "$tests" "$(cd "$top" && for t in $tests; do ls "$t"; done)"
grep -q '^\.BR gpq\\-security (7)' "$top/man/gpq.1" && grep -q 'man/gpq-security\.7' "$top/README.md"
ok $? "gpq(1) and README name gpq-security(7)"

# Whatever TAB is pressed behind, there is no message, no wrong end and no waiting for input.
export GPQ_SYSROOT=$top/tests/hosts/gfx90a-k6.12
tab() { gpq --complete -- "$@" >/dev/null || echo "status $?: $*"; }
bad_tabs=$(for c in $(gpq --list); do
	for o in $(gpq --complete -- "$c" -- | cut -f1); do tab "$c" "$o" ''; done
	tab "$c" '' && tab "$c" nosuch -x --nosuch= $'\xff' "'"
done 2>&1 <&-)
same "every TAB behind every option" "" "$bad_tabs"
unset GPQ_SYSROOT

# The completions as the shells run them.
bash_reply() { bash -c 'source "$1/completions/gpq.bash"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpq; printf "%s\n" "${COMPREPLY[@]}"' - "$top" "$@"; }
same "bash completes commands" "queues" "$(bash_reply gpq que)"
same "bash completes options behind a link" "--ndjson" "$(bash_reply gpq-queues --nd)"
same "bash completes columns" "PID,QID" "$(bash_reply gpq queues -o PID,QI)"
same "bash completes what follows =" "always" "$(bash_reply gpq queues --color = al)"
same "bash completes the empty word behind =" "$(printf 'always\nauto\nnever')" "$(bash_reply gpq gpus --color = | sort)"
same "bash completes a list of processes" "41207,52880" "$(GPQ_SYSROOT=$top/tests/hosts/gfx90a-k6.12 bash_reply gpq queues -p 41207,5)"
export GPQ_SYSROOT=$top/tests/hosts/gfx90a-k6.12
same "bash completes what it parts at colons" "43:00.0" "$(bash_reply gpq queues --gpu 0000 :)"
same "bash completes it to its end" "00.0" "$(bash_reply gpq queues --gpu 0000 : 43 : 00)"
same "bash completes a quoted word" "PID,QID" "$(bash_reply gpq queues -o "'PID,QI")"
same "bash completes kinds of bench, and the options of one" "report --online --online-pid --online-select --online-log" \
	"$({ bash_reply gpq bench r && bash_reply gpq-bench ab --onl; } | paste -sd" ")"
same "bash completes columns to sort by" "PID,-BACKLOG" "$(bash_reply gpq queues --sort PID,-BACKL)"
same "bash completes a column in an expression" "BACKLOG > 1 && CONTAINER_NAME" "$(bash_reply gpq queues --filter "'BACKLOG > 1 && CONTAINER_N")"
same "bash completes operators behind a value, and nothing in a text" "== != < <= > >= =~ !~ && ||" \
	"$({ bash_reply gpq queues --filter "'PID " | cut -d" " -f2 && bash_reply gpq queues --filter "'COMMAND == \"PI"; } | grep . | paste -sd" ")"
same "bash is left to complete files" "" "$(bash_reply gpq trace '')$(bash_reply gpq trace --mark '')$(bash_reply gpq suspend -- -)"
same "bash completes choices" "$(printf 'always\nauto')" "$(bash_reply gpq gpus --color a | sort)"
if command -v zsh >/dev/null; then
	zsh_reply() { # WORD...: the candidates that _describe would get
		zsh -fc '_describe() { print -l -- ${candidates%%:*} }; _files() { print files }; compset() { : }; file=$1; shift
			words=("$@"); CURRENT=$#; set --; source $file' - "$top/completions/_gpq" "$@"
	}
	same "zsh completes options" "--ndjson" "$(zsh_reply gpq queues --nd)"
	same "zsh completes options behind a link" "--ndjson" "$(zsh_reply gpq-queues --nd)"
	same "zsh completes what follows =" "PID,QID" "$(zsh_reply gpq queues --output=PID,QI)"
	same "zsh completes a quoted word" "PID,QID" "$(zsh_reply gpq queues -o '"PID,QI')"
	same "zsh completes files where gpq has no word" "files files" "$({ zsh_reply gpq trace '' && zsh_reply gpq trace --mark=x; } | paste -sd" ")"
	same "zsh takes it for gpq and for links" "_gpq _gpq" "$(zsh -fc 'fpath=($1 $fpath); autoload -U compinit
		compinit -D -u; print ${_comps[gpq]} ${_patcomps[gpq-*]}' - "$top/completions")"
else ok 0 "zsh completes # skip no zsh"; fi
if command -v fish >/dev/null; then
	fish_home=$(mktemp -d)
	fish_reply() { HOME=$fish_home fish -N -c "source $top/completions/gpq.fish; complete -C '$1'" | cut -f1; }
	same "fish completes options" "--ndjson" "$(fish_reply 'gpq queues --nd')"
	same "fish completes options behind a link" "--ndjson" "$(fish_reply 'gpq-queues --nd')"
	same "fish completes what follows =" "--output=PID,QID" "$(fish_reply 'gpq queues --output=PID,QI')"
	same "fish completes a quoted word" "PID,QID" "$(fish_reply 'gpq queues -o "PID,QI')"
	same "fish completes files where gpq has no word" "--mark=$top/Makefile" "$(fish_reply "gpq trace --mark=$top/Makef")"
	rm -rf "$fish_home"
else ok 0 "fish completes # skip no fish"; fi
echo "1..$n"
[ "$bad" -eq 0 ]
