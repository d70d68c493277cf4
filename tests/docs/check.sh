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

# Long options in a part of --help: from the line $2 to the next blank line.
help_options() { gpq "$1" --help | awk -v from="$2" '$0 == from {p = 1; next} p && /^$/ {exit} p' | grep -oE -- '--[a-z][a-z-]*' | sort -u; }
# Tags (.TP and the line behind it) in a section of a man page.
man_tags() { awk -v s="$2" '/^\.SH/ {gsub(/"/, ""); p = (substr($0, 5) == s)} p && tag {print; tag = 0} p && /^\.TP/ {tag = 1}' "$top/man/$1"; }
man_options() { man_tags "$1" "$2" | sed 's/\\-/-/g' | grep -oE -- '--[a-z][a-z-]*' | sort -u; }
man_columns() { man_tags "$1" COLUMNS | sed -E 's/^\.[BI]R? //; s/"//g' | tr -s ', ' '\n' | grep -E '^[A-Z]' | sort -u; }

same "gpq(1) describes the options of every command" \
	"$(help_options "$(gpq --list | head -1)" 'Options of every command:')" "$(man_options gpq.1 'OPTIONS')"
same "gpq(1) and README name every command" "$(gpq --list)" \
	"$(for c in $(gpq --list); do grep -q "gpq\\\\-$c" "$top/man/gpq.1" && grep -q "gpq $c" "$top/README.md" && echo "$c"; done)"

for c in $(gpq --list); do
	page=gpq-$c.1
	[ -f "$top/man/$page" ]
	ok $? "$c has a man page"
	compgen -G "$top/tests/cli/$c*" >/dev/null || grep -qE "^\\$ gpq $c\\b" "$top"/tests/cli/*.t
	ok $? "$c has a test"
	[ -f "$top/man/$page" ] || continue
	same "$c: options of --help and $page" "$(help_options "$c" 'Options:')" "$(man_options "$page" OPTIONS)"
	same "$c: columns of --list-columns and $page" \
		"$(gpq "$c" --list-columns -r -n -o COLUMN | sort -u)" "$(man_columns "$page")"
	same "$c: completion offers what --help lists" \
		"$(gpq "$c" --help | grep -oE '^  (-.,|   ) --[a-z][a-z-]*' | grep -oE -- '--[a-z-]*' | sort -u)" \
		"$(gpq --complete -- "$c" -- | cut -f1 | sort -u)"
	same "$c: in bash's list of links" "gpq-$c" "$(grep -oE "gpq-$c\b" "$top/completions/gpq.bash" | head -1)"
	help=$(gpq "$c" --help)
	long=$(grep -nE '.{141}' <<<"$help")
	grep -q "^Usage: gpq $c" <<<"$help" && [ -z "$long" ]
	ok $? "$c: --help has a usage line and no endless ones" "$long"
done

for page in "$top"/man/*.[1-8]; do
	if command -v mandoc >/dev/null; then
		out=$(mandoc -T lint -W warning "$page" 2>&1)
		ok $? "$(basename "$page") is clean" "$out"
	fi
done

page=$top/man/gpq-security.7
tests=$(sed 's/\\-/-/g' "$page" | grep -oE 'tests/[A-Za-z0-9_/.-]+\.(sh|c|t|py)\b' | sort -u)
same "the tests that gpq-security(7) names are there" "$tests" "$(cd "$top" && for t in $tests; do ls "$t"; done)"
grep -q '^\.BR gpq\\-security (7)' "$top/man/gpq.1" && grep -q 'man/gpq-security\.7' "$top/README.md"
ok $? "gpq(1) and README name gpq-security(7)"

# The completions as the shells run them.
bash_reply() { bash -c 'source "$1/completions/gpq.bash"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpq; printf "%s\n" "${COMPREPLY[@]}"' - "$top" "$@"; }
same "bash completes commands" "queues" "$(bash_reply gpq que)"
same "bash completes options behind a link" "--ndjson" "$(bash_reply gpq-queues --nd)"
same "bash completes columns" "PID,QID" "$(bash_reply gpq queues -o PID,QI)"
same "bash completes what follows =" "always" "$(bash_reply gpq queues --color = al)"
same "bash completes the empty word behind =" "$(printf 'always\nauto\nnever')" "$(bash_reply gpq gpus --color = | sort)"
same "bash completes a list of processes" "41207,52880" "$(GPQ_SYSROOT=$top/tests/hosts/gfx90a-k6.12 bash_reply gpq queues -p 41207,5)"
same "bash completes choices" "$(printf 'always\nauto')" "$(bash_reply gpq gpus --color a | sort)"
if command -v zsh >/dev/null; then
	zsh_reply() { # WORD...: the candidates that _describe would get
		zsh -fc '_describe() { print -l -- ${candidates%%:*} }; _files() { : }; file=$1; shift
			words=("$@"); CURRENT=$#; set --; source $file' - "$top/completions/_gpq" "$@"
	}
	same "zsh completes options" "--ndjson" "$(zsh_reply gpq queues --nd)"
	same "zsh completes options behind a link" "--ndjson" "$(zsh_reply gpq-queues --nd)"
	same "zsh completes what follows =" "--output=PID,QID" "$(zsh_reply gpq queues --output=PID,QI)"
	same "zsh takes it for gpq and for links" "_gpq _gpq" "$(zsh -fc 'fpath=($1 $fpath); autoload -U compinit
		compinit -D -u; print ${_comps[gpq]} ${_patcomps[gpq-*]}' - "$top/completions")"
else ok 0 "zsh completes # skip no zsh"; fi
if command -v fish >/dev/null; then
	fish_home=$(mktemp -d)
	fish_reply() { HOME=$fish_home fish -N -c "source $top/completions/gpq.fish; complete -C '$1'" | cut -f1; }
	same "fish completes options" "--ndjson" "$(fish_reply 'gpq queues --nd')"
	same "fish completes options behind a link" "--ndjson" "$(fish_reply 'gpq-queues --nd')"
	same "fish completes what follows =" "--output=PID,QID" "$(fish_reply 'gpq queues --output=PID,QI')"
	rm -rf "$fish_home"
else ok 0 "fish completes # skip no fish"; fi
echo "1..$n"
[ "$bad" -eq 0 ]
