#!/bin/bash
# Every command has its man page, completion and test, and help, man page and completion name the same options and columns.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"

# Lines of a part of a help text on standard input: from the line $1 to the next blank line.
part() { awk -v from="$1" '$0 == from {p = 1; next} p && /^$/ {exit} p'; }
# Long options at the beginning of a line.
options() { may 1 grep -oE '^  (-.,|   ) --[a-z][a-z-]*' | may 1 grep -oE -- '--[a-z-]*' | sort -u; }
# Pages of a command count together: gpq-trace.1 and gpq-trace-*.1.
pages_of() { ls "$pages/$1" && [ "$1" = gpq.1 ] || ls "$pages/${1%.*}"-*."${1##*.}" 2>/dev/null; }
# Pages as they are installed, with the columns of this gpq.
pages=$work/pages
mkdir "$pages"
for page in "$top"/man/*.[1-8]; do
	made=$pages/${page##*/}
	out=$("$top/man/columns" gpq "$page" 2>&1 >"$made" || echo "status $?")
	if grep -q '^\.\\" COLUMNS of' "$page"; then is "${page##*/} gets columns, and tells of no others" "$out$(($(wc -l <"$made") > $(wc -l <"$page")))" 1
	else rig empty "${page##*/} has no columns" "$out"; fi
done
# Tags (.TP and the line behind it) in a section of the pages of $1, or in its subsection $3.
# shellcheck disable=SC2046
man_tags() { awk -v s="$2" -v ss="${3-}" '/^\.SH/ {gsub(/"/, ""); in_s = (substr($0, 5) == s); sub_s = ""} /^\.SS/ {sub_s = substr($0, 5)}
	{p = in_s && (ss == "" || sub_s == ss)} p && tag {print; tag = 0} p && /^\.TP/ {tag = 1}' $(pages_of "$1"); }
man_options() { man_tags "$@" | sed 's/\\-/-/g' | grep -oE -- '--[a-z][a-z-]*' | sort -u; }
# Words of the COLUMNS that are in capitals.
# shellcheck disable=SC2046
man_columns() { awk '/^\.S/ {p = p && /^\.SS/ || $2 == "COLUMNS"} p' $(pages_of "$1") | tr -s ' ,"' '\n' | sed 's/\\-/-/g' | grep -E '^[A-Z]' | sort -u; }

is "gpq(1) describes the options of every command" \
	"$(man_options gpq.1 'OPTIONS')" "$(gpq --help | part 'Options of every command:' | options)"
is "gpq(1) and README name every command" "$(for c in $(gpq --list); do grep -q "gpq\\\\-$c" "$top/man/gpq.1" && grep -q "gpq $c" "$top/README.md" && echo "$c"; done)" \
	"$(gpq --list)"

fits() { # COMMAND HELP
	ok "$1: -h fits a screen" awk 'END { exit NR < 4 || NR > 24 }' <<<"$2"
}

# Help of $1 (a command, or with its kind) in both sizes: lines of 80 columns; of -h one line for each option, but for the rare
# ones, which a last line names; all that --help has; and 24 lines in all.
sizes() {
	local brief all own rare
	# shellcheck disable=SC2086
	brief=$(gpq $1 -h) all=$(gpq $1 --help)
	is "$1: -h and --help have a usage line and no line over 80 columns" \
		"$(grep -c "^Usage: gpq $1" <<<"$brief"$'\n'"$all") $(grep -hnE '.{81}' <<<"$brief"$'\n'"$all")" "2 "
	own=$(part Options: <<<"$brief")
	rare=$(sed -n '/^Also: /,$p' <<<"$own")
	is "$1: -h has the options of --help, each on one line or among the rare ones" \
		"$(($(grep -c . <<<"$own") - $(grep -c . <<<"$rare"))) $(part Options: <<<"$all" | options)" \
		"$(sed '/^Also: /,$d' <<<"$own" | cut -c1-24 | grep -cE -- '^.{6}--') $({ options <<<"$own"; may 1 grep -oE -- '--[a-z-]+' <<<"$rare"; } | sort -u)"
	fits "$1" "$brief"
}
# gpq help TOPIC prints sections of gpq(1): the same words, in lines of 80 columns. mandoc sets the page by itself.
mandoc -Tascii -O width=200 "$top/man/gpq.1" | col -bx >"$work/set"
words() { tr -s ' \n' '\n\n' | grep -vE '^([o-]|)$'; } # bullets differ
is "gpq help lists the topics" "$(gpq help | part 'Topics of gpq help TOPIC:' | awk '{ print $1 ": " substr($0, 14) }')" "$(sed -n 's/^\.\\" TOPIC //p' "$top/man/gpq.1")"
for topic in $(sed -n 's/^\.\\" TOPIC \(.*\):.*/\1/p' "$top/man/gpq.1"); do
	section=$(grep -B1 "TOPIC $topic:" "$top/man/gpq.1" | sed -n 's/^\.SH //p')
	is "gpq help $topic" "$(gpq help "$topic" | words)" "$(awk -v s="$section" '/^[A-Z]/ { on = $0 == s; next } on' "$work/set" | words)"
	ok "gpq help $topic: no line is over 80 columns" awk 'length > 80 { wide = 1 } END { exit wide || NR < 5 }' <<<"$(gpq help "$topic")"
done

for page in "$top"/man/gpq-*.7; do
	page=${page##*/} page=${page%.7}
	is "gpq help ${page#gpq-} names its man page, as gpq help does" "$(gpq help "${page#gpq-}" | grep -oE 'man gpq-[a-z]+') $(gpq help | tr '\n' ' ' | grep -oE "man $page")" "man $page man $page"
done

fits gpq "$(gpq -h)"
is "gpq: no line is over 80 columns" "$( (gpq -h && gpq --help) | grep -cE '^Usage: gpq') $( (gpq -h && gpq --help) | grep -nE '.{81}')" "2 "

for c in $(gpq --list); do
	page=gpq-$c.1
	rig ok "$c has a man page" test -f "$top/man/$page"
	compgen -G "$top/tests/cli/$c*" >/dev/null || rig ok "$c has a test" grep -qE "^\\$ gpq $c\\b" "$top"/tests/cli/*.t
	[ -f "$top/man/$page" ] || continue
	help=$(gpq "$c" --help)
	kinds=$(sed -n 's/^Options of \([a-z]*\):$/\1/p' <<<"$help")
	for kind in $kinds; do
		wanted=$(man_options "$page" OPTIONS "$kind")
		is "$c $kind: options of gpq $c --help and $page" "$wanted" "$(part "Options of $kind:" <<<"$help" | options)"
		is "$c $kind: options of gpq $c $kind --help" "$wanted" "$(gpq "$c" "$kind" --help | part Options: | options)"
		is "$c $kind: completion offers what --help lists" \
			"$(gpq --complete -- "$c" "$kind" -- | cut -f1 | sort -u)" "$(gpq "$c" "$kind" --help | options)"
		sizes "$c $kind"
	done
	[ "$kinds" ] || is "$c: options of --help and $page" "$(man_options "$page" OPTIONS)" "$(part Options: <<<"$help" | options)"
	sizes "$c"
	tables=$(gpq "$c" --list-columns -r -n -o TABLE | uniq | awk '{print $1, ++n[$1]}' | sort)
	told=$(sed -nE "s/^\.\\\\\" COLUMN(S| NAMES) of gpq $c(: )?//p" "$top/man/gpq-$c"[.-]*1 | awk '{print $1, $2 ? $2 : 1}' | sort)
	[ "$told" = " 1" ] || is "$c: tables of --list-columns and $page" "$told" "$tables"
	columns=$(gpq "$c" --list-columns -r -n -o COLUMN | sort -u)
	is "$c: columns of --list-columns and $page" "$(man_columns "$page" | comm -12 - <(printf '%s\n' "$columns"))" "$columns"
	is "$c: completion offers what --help lists" \
		"$(gpq --complete -- "$c" -- | cut -f1 | sort -u)" \
		"$(options <<<"$help")"
	rig is "$c: in bash's list of links" "$(grep -oE "gpq-$c\b" "$top/completions/gpq.bash" | head -1)" "gpq-$c"
done

is "why: the help of STATE and STATES of gpq-why.1" "$(man_tags gpq-why.1 STATES | sed 's/\\-/-/g; s/^\.B //' | sort)" \
	"$(gpq why --list-columns -r -n -o TABLE,COLUMN,HELP | sed -n 's/^queues STATE //p' | sed 's/\\x20//g' | tr , '\n' | sort)"
rig empty "why: each state of gpq-why.1 says what to look at, and then what to do" \
	"$(awk '/^\.S/ { here = $2 == "STATES" } here && /^\.(TP|PP)/ { if (name != "" && text !~ /Look at: .*Do: /) print name; name = text = "" }
		here && /^\.B / && name == "" { name = $2 } here { text = text $0 " " }' "$top/man/gpq-why.1")"

for page in "$pages"/*; do
	if command -v mandoc >/dev/null; then
		out=$(mandoc -T lint -W warning "$page" 2>&1)
		rig empty "$(basename "$page") is clean" "$out"
	fi
done

rig is "gpq-client(3) describes what gpq-client.h declares" "$(man_tags gpq-client.3 DESCRIPTION | grep -oE '^\.BI gpq_[a-z_]+' | cut -d' ' -f2 | sort)" \
	"$(grep -oE '^[a-z].*\bgpq_[a-z_]+\(' "$top/common/client/gpq-client.h" | grep -oE 'gpq_[a-z_]+' | grep -v gpq_client | sort)"
named() { # PAGE SECTION WORD: in gpq(1), and WORD in README
	rig ok "gpq(1) and README name $1($2)" eval "grep -q '^.BR ${1/-/.-} ($2)' '$top/man/gpq.1' && grep -q '$3' '$top/README.md'"
}
named gpq-client 3 'gpq-client(3)'

page=$top/man/gpq-security.7
tests=$(sed 's/\\-/-/g' "$page" | grep -oE 'tests/[A-Za-z0-9_/.-]+\.(sh|c|t|py)\b' | sort -u)
rig is "the tests that gpq-security(7) names are there" "$(cd "$top" && for t in $tests; do ls "$t"; done)" "$tests"
named gpq-security 7 'man/gpq-security\.7'
named gpq-examples 7 'man/gpq-examples\.7'
named gpq-cluster 7 'man/gpq-cluster\.7'

# What HACKING.md names is there: files, by path or by name alone; functions, tables, structs, enums and constants of the code.
hacking=$(grep -oE '`[^`]+`' "$top/HACKING.md" | tr -d '`' | grep -v NAME | sort -u)
files=$(grep -xE '(cmd|common|tests|man|completions|packaging)/[^: ]+[^./: ]' <<<"$hacking" && sed -nE 's/^make check-one T=//p' <<<"$hacking" | grep / && grep -xE '[a-z0-9_-]+\.(c|h|sh|t|py)' <<<"$hacking")
there() { # each of the files, of which some are patterns
	grep / <<<"$files" | while read -r file; do compgen -G "$top/$file" >/dev/null && echo "$file"; done
	grep -v / <<<"$files" | grep -xF -f <(find "$top/cmd" "$top/common" "$top/tests" -printf '%f\n')
}
rig is "the files that HACKING.md names are there" "$(there | sort)" "$(sort <<<"$files")"
symbols=$(grep -xE '[A-Za-z_0-9]+(\(\)|\[\])|(struct|enum) [a-z_0-9]+|[A-Z0-9]+_[A-Z0-9_]+' <<<"$hacking" | grep -vxE '(run|take)\(\)' | sed 's/[([].*//')
rig is "the functions, tables, types and constants that HACKING.md names are there" \
	"$(grep -rhoE '\b((struct|enum) )?[A-Za-z_][A-Za-z_0-9]*' "$top/cmd" "$top/common" | grep -xF -e "$symbols" | sort -u)" "$(sort -u <<<"$symbols")"
# Links between pages: [words](file#heading).
lost=$(cd "$top" && for page in README.md HACKING.md SECURITY.md tests/README.md tests/kernel/README.md; do
	may 1 grep -oE '\]\([^):]+\)' "$page" | sed 's/^](//; s/)$//' | sort -u | while IFS='#' read -r file heading; do
		to=${file:+$(dirname "$page")/$file}
		to=${to:-$page}
		[ -e "$to" ] && { [ -z "$heading" ] || sed -n 's/^##* //p' "$to" | tr 'A-Z ' 'a-z-' | tr -d '`:,?.()' | grep -qx "$heading"; } || echo "$page: $file#$heading"
	done
done)
rig empty "links of README.md, HACKING.md and the tests' pages lead somewhere" "$lost"

# Whatever TAB is pressed behind, there is no message, no wrong end and no waiting for input.
export GPQ_SYSROOT=$top/tests/hosts/gfx90a-k6.12
: >"$work/asked"
tab() { gpq --complete -- "$@" >/dev/null || echo "status $?: $*"; }
wrong=$(for c in $(gpq --list); do
	# One that other commands have, too, is asked for once.
	gpq --complete -- "$c" -- >"$work/options"
	while IFS=$'\t' read -r o _; do tab "$c" "$o" ''; done < <(sort "$work/options" | comm -23 - "$work/asked")
	sort -u -o "$work/asked" "$work/asked" "$work/options"
	tab "$c" '' && tab "$c" nosuch -x --nosuch= $'\xff' "'"
done 2>&1 <&-)
is "every TAB behind every option" "$(gpq --complete -- '' | grep -cx 'queues.*') $wrong" "1 "
unset GPQ_SYSROOT

# The completions as the shells run them.
bash_reply() { bash -c 'source "$1/completions/gpq.bash"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpq; printf "%s\n" "${COMPREPLY[@]}"' - "$top" "$@"; }
is "bash completes commands" "$(bash_reply gpq que)" "queues"
is "bash completes options behind a link" "$(bash_reply gpq-queues --nd)" "--ndjson"
is "bash completes columns" "$(bash_reply gpq queues -o PID,QI)" "PID,QID"
is "bash completes what follows =" "$(bash_reply gpq queues --color = al)" "always"
is "bash completes the empty word behind =" "$(bash_reply gpq gpus --color = | sort)" "$(printf 'always\nauto\nnever')"
is "bash completes a list of processes" "$(GPQ_SYSROOT=$top/tests/hosts/gfx90a-k6.12 bash_reply gpq queues -p 41207,5)" "41207,52880"
export GPQ_SYSROOT=$top/tests/hosts/gfx90a-k6.12
is "bash completes what it parts at colons" "$(bash_reply gpq queues --gpu 0000 :)" "43:00.0"
is "bash completes it to its end" "$(bash_reply gpq queues --gpu 0000 : 43 : 00)" "00.0"
is "bash completes a quoted word" "$(bash_reply gpq queues -o "'PID,QI")" "PID,QID"
is "bash completes kinds of bench, and the options of one" "$({ bash_reply gpq bench r && bash_reply gpq-bench ab --onl; } | paste -sd" ")" \
	"report --online-cmd --online-pid --online --online-log"
is "bash completes columns to sort by" "$(bash_reply gpq queues --sort PID,-BACKL)" "PID,-BACKLOG"
is "bash completes a column in an expression" "$(bash_reply gpq queues --filter "'BACKLOG > 1 && CONTAINER_N")" "BACKLOG > 1 && CONTAINER_NAME"
is "bash completes operators behind a value, and nothing in a text" "$({ bash_reply gpq queues --filter "'PID " | cut -d" " -f2 && bash_reply gpq queues --filter "'COMMAND == \"PI"; } | grep . | paste -sd" ")" \
	"== != < <= > >= =~ !~ && ||"
is "bash is left to complete files" "$(bash_reply gpq trace '')$(bash_reply gpq trace --mark '')$(bash_reply gpq suspend -- -)$(bash_reply gpq que)" queues
is "bash completes choices" "$(bash_reply gpq gpus --color a | sort)" "$(printf 'always\nauto')"
if command -v zsh >/dev/null; then
	zsh_reply() { # WORD...: the candidates that _describe would get
		zsh -fc '_describe() { print -l -- ${candidates%%:*} }; _files() { print files }; compset() { : }; file=$1; shift
			words=("$@"); CURRENT=$#; set --; source $file' - "$top/completions/_gpq" "$@"
	}
	is "zsh completes options" "$(zsh_reply gpq queues --nd)" "--ndjson"
	is "zsh completes options behind a link" "$(zsh_reply gpq-queues --nd)" "--ndjson"
	is "zsh completes what follows =" "$(zsh_reply gpq queues --output=PID,QI)" "PID,QID"
	is "zsh completes a quoted word" "$(zsh_reply gpq queues -o '"PID,QI')" "PID,QID"
	rig is "zsh completes files where gpq has no word" "$({ zsh_reply gpq trace '' && zsh_reply gpq trace --mark=x; } | paste -sd" ")" "files files"
	rig is "zsh takes it for gpq and for links" "$(zsh -fc 'fpath=($1 $fpath); autoload -U compinit
		compinit -D -u; print ${_comps[gpq]} ${_patcomps[gpq-*]}' - "$top/completions")" "_gpq _gpq"
else pass "zsh completes # skip no zsh"; fi
if command -v fish >/dev/null; then
	fish_home=$work/fish
	no_config=-N
	fish -N -c true 2>/dev/null || no_config= # fish 3.1 has no such option
	# shellcheck disable=SC2086 # none, or one word
	fish_reply() { HOME=$fish_home fish $no_config -c "source $top/completions/gpq.fish; complete -C '$1'" | cut -f1; }
	is "fish completes options" "$(fish_reply 'gpq queues --nd')" "--ndjson"
	is "fish completes options behind a link" "$(fish_reply 'gpq-queues --nd')" "--ndjson"
	is "fish completes what follows =" "$(fish_reply 'gpq queues --output=PID,QI')" "--output=PID,QID"
	is "fish completes a quoted word" "$(fish_reply 'gpq queues -o "PID,QI')" "PID,QID"
	rig is "fish completes files where gpq has no word" "$(fish_reply "gpq trace --mark=$top/Makef")" "--mark=$top/Makefile"
else pass "fish completes # skip no fish"; fi
finish
