#!/bin/bash
# --watch on a terminal: pages in the alternate screen, cut to the window, and the terminal given back whatever ends it.
# shellcheck source=tests/cli/tap.inc
# shellcheck disable=SC2016 # what bash -c is given
. "$(dirname "$0")/tap.inc"
command -v python3 >/dev/null || skip_all "no python3"
command -v setsid >/dev/null || skip_all "no setsid(1)"
export TERM=xterm NO_COLOR=1 GPQ_SYSROOT=$top/tests/hosts/gfx90a-k6.12
view() { PYTHONDONTWRITEBYTECODE=1 setsid -w python3 -SE "$top/tests/cli/view.py" "$@" 2>&1; }
now="YYYY-MM-DD hh:mm:ss"
back='\e[?7h\e[?25h\e[?1049l'
interrupted="$back
ended by SIGINT
keys show"
queues=(gpq queues -o "PID,QID,TYPE" --watch 10ms)
head="Every 0.01s: gpq queues -o PID,QID,TYPE"
rows="  PID QID TYPE
41207   0 compute
41207   1 compute
41207   2 compute
41207   3 sdma
52880   0 compute"

is "alternate screen, head line, the listing; Ctrl-C gives the terminal back and gpq dies of it" \
	"$(view 10x70 begin "page 52880" $'key \x03' end -- "${queues[@]}")" "\\e[?1049h\\e[?25l\\e[?7l
$head            $now
$rows
$interrupted"

for signal in TERM HUP QUIT; do
	is "SIG$signal likewise" "$(view 10x70 "page 52880" "kill $signal" end -- "${queues[@]}" | tail -n +8)" "$back
ended by SIG$signal
keys show"
done

is "a signal that is ignored stays ignored" "$(view 10x70 "page 52880" "kill INT" "pages 5" "kill TERM" end -- bash -c 'trap "" INT; exec "${@}"' - "${queues[@]}" | tail -n +8)" "$back
ended by SIGTERM
keys show"

is "Ctrl-Z gives the terminal back and stops; then another page in the alternate screen" "$(view 10x70 "page 52880" $'key \x1a' stop cont begin "page 52880" "kill INT" end -- gpq queues -o PID,QID,TYPE --watch=1h | tail -n +8)" \
	"$back
stopped by SIGTSTP
keys show
\\e[?1049h\\e[?25l\\e[?7l
Every 3600s: gpq queues -o PID,QID,TYPE            $now
$rows
$interrupted"

is "in the background it stops before the first page, and can be ended" "$(view 10x70 background stop "kill TERM" cont end -- "${queues[@]}")" "stopped by SIGTTOU
keys show
ended by SIGTERM
keys show"

# --- the window's size ---

# One run: what it says of each size.
is "rows cut to the height, and how many there are more; just so; a row; two; lines cut to the width, and the head line's right part" \
	"$(view 4x60 "page more" "size 7x60" "page 52880" "size 1x60" "page gpq" "size 2x60" "page more" "size 8x9" "page 52880" -- "${queues[@]}")" "$head  $now
  PID QID TYPE
41207   0 compute
... 4 more lines
$head  $now
$rows
$head  $now
$head  $now
... 6 more lines
Every 0.0
  PID QID
41207   0
41207   1
41207   2
41207   3
52880   0"
is "another size of the window: another page at once" "$(view 20x60 "page 52880" "size 5x59" "page more" "size 9x46" "page 52880" -- gpq queues -o PID,QID,TYPE --watch 1h | tail -n +8)" "Every 3600s: gpq queues -o PID,QID,TYPE $now
  PID QID TYPE
41207   0 compute
41207   1 compute
... 3 more lines
Every 3600s: gpq queues -o $now
$rows"
is "no size known: that of COLUMNS and LINES" "$(COLUMNS=47 LINES=2 view 0x0 "page more" -- gpq queues --watch=0.01 -q)" "Every 0.01s: gpq queues -q  $now
... 6 more lines"
is "what may be cut in a table is cut to the width" "$(view 9x60 "page python3" -- gpq queues -o PID,CMDLINE --watch 10ms | awk 'length($0) > n { n = length($0) } END { print n }')" \
	60

is "a colour that is cut ends there; what fills a line is not erased" "$(view 3x2 "raw ye" -- gpq gpus -o SUSPEND --color always --watch 10ms)" 'Ev
SU\e[m
\e[32mye\e[m'

# --- the head line ---

is "host name; control characters escaped, words quoted, wide characters counted" \
	"$(
		cp -r "$GPQ_SYSROOT" "$work/host" && mkdir -p "$work/host/proc/sys/kernel" && printf 'host\a\nx' >"$work/host/proc/sys/kernel/hostname"
		GPQ_SYSROOT=$work/host view 9x95 "page queues" -- gpq queues --comm $'python3|\a|語 x' --watch 1500ms --type sdma | head -1
	)" "Every 1.5s: gpq queues --comm 'python3|\\x07|語 x' --type sdma     host\\x07: $now"

# --- messages ---

few=(gpq queues -p "52880,9" -o PID --watch 10ms)
is "a message stands below the listing, and on the terminal afterwards" "$(view 9x70 "page 52880" "kill INT" end -- "${few[@]}")" "Every 0.01s: gpq queues -p 52880,9 -o PID          $now
  PID
52880
gpq: queues: pid 9: no such process; without -p all are listed
${back}gpq: queues: pid 9: no such process; without -p all are listed
ended by SIGINT
keys show"
cp -r "$GPQ_SYSROOT" "$work/leaving"
is "the messages of the last page, then those of the list that failed" "$(GPQ_SYSROOT=$work/leaving view 9x70 "page 52880" \
	"sh rm -r $work/leaving/proc/52880; mv $work/leaving/sys/class/kfd/kfd/proc/52880 $work/went" end -- "${few[@]}" | tail -n +5)" "${back}gpq: queues: pid 52880: no such process; without -p all are listed
gpq: queues: pid 9: no such process; without -p all are listed
  PID
52880
exit status 5
keys show"
is "it is broken between words; three lines and how many more there are" "$(view 12x42 "page 52880" -- gpq queues -p 52880,9,8,6 -o PID --watch 10ms | sed '1s/ $//')" "Every 0.01s: gpq queues -p 52880,9,8,6 -o
  PID
52880
gpq: queues: pid 9: no such process;
without -p all are listed
gpq: queues: pid 8: no such process;
... 3 more lines"
is "messages take half of the window at most" "$(view 4x70 "page PID" -- gpq queues -p 41207,9,8 -o PID --watch 10ms | sed 1d)" "  PID
... 4 more lines
... 2 more lines"
is "where standard error is a file they go there" "$(view 9x70 "page 52880" -- bash -c '"${@}" 2>'"$work/err" - "${few[@]}")" "Every 0.01s: gpq queues -p 52880,9 -o PID          $now
  PID
52880"
is "... all of them" "$(sort -u "$work/err")" "gpq: queues: pid 9: no such process; without -p all are listed"

is "files that cannot be read are told of in each page" "$(view 9x70 "pages 15" "page 52880" -- bash -c 'ulimit -n 6; "${@}"' - gpq queues -p 52880 -o PID,QID,PRIO --watch 10ms | tail -n +4)" \
	"gpq: queues: queues: Too many open files: what it says is missing
gpq: queues: /sys/class/kfd/kfd/topology/nodes/0/gpu_id: Too many open
files: what it says is missing
... 2 more lines"

is "an error at once: the terminal is left as it is" "$(view 9x70 end -- gpq queues -p 9 --watch 10ms)" "gpq: queues: pid 9: no such process; without -p all are listed
exit status 5
keys show"
is "an error later: the message can be read" "$(GPQ_SYSROOT=$work/host view 9x70 "page 52880" "sh rm -r $work/host/proc/52880; mv $work/host/sys/class/kfd/kfd/proc/52880 $work/gone" end -- gpq queues -p 52880 -o PID --watch 10ms | tail -n +4)" "${back}gpq: queues: pid 52880: no such process; without -p all are listed
  PID
52880
exit status 5
keys show"

is "a page that cannot be written ends it" "$(view 9x70 end -- bash -c '"${@}" 1</dev/tty 2>'"$work/err; echo status \$?" - "${queues[@]}"; cat "$work/err")" "status 1
exit status 0
keys show
gpq: queues: standard output: Bad file descriptor"

# --- keys ---

hour=(gpq queues -o "PID,QID,TYPE" --watch 1h)
# The head lines of pages, without the time, and the first column of what is below.
heads() { sed -E "s/ +$now//; s/^(.*)Every 3600s: gpq queues -o PID,QID,TYPE$/> \1/; s/^(> .*[^ ]) $/\1/"; }
shape() { heads | awk '/^>|^Filter|^gpq/ { if (rows != "") print rows; print; rows = ""; next } { rows = rows (rows == "" ? "" : ",") $1 "." $2 } END { print rows }'; }
is "s sorts by the next column, numbers from the greatest on, and by none behind the last; r turns; q ends" \
	"$(view 10x90 "page 52880" "key r" "key s" "page -PID" "key s" "page -QID" "key r" "page sort QID" "key r" "page -QID" "key s" "page TYPE" "key r" "page -TYPE" "key s" "page 52880" "key s" "page -PID" "key q" end -- "${hour[@]}" | shape)" \
	"> 
PID.QID,41207.0,41207.1,41207.2,41207.3,52880.0
> --sort -PID
PID.QID,52880.0,41207.0,41207.1,41207.2,41207.3
> --sort -QID
PID.QID,41207.3,41207.2,41207.1,41207.0,52880.0
> --sort QID
PID.QID,41207.0,52880.0,41207.1,41207.2,41207.3
> --sort -QID
PID.QID,41207.3,41207.2,41207.1,41207.0,52880.0
> --sort TYPE
PID.QID,41207.0,41207.1,41207.2,52880.0,41207.3
> --sort -TYPE
PID.QID,41207.3,41207.0,41207.1,41207.2,52880.0
> 
PID.QID,41207.0,41207.1,41207.2,41207.3,52880.0
> --sort -PID
PID.QID,52880.0,41207.0,41207.1,41207.2,41207.3,$back.,exit.status,keys.show"
is "/ reads a filter: Backspace, Escape; an empty one is none; a wrong one is told, and can be mended" \
	"$(view 10x90 "page 52880" "key /" $'key QID==4\x7f3\r' "page 'QID==3'" "key /" $'key PID==5\e' "page 'QID==3'" "key /" $'key \x7f\r' "page 52880" "key /" $'key QI==3\r' "page QI in" $'key \x7f\x7f\x7f\x7fID==2\b1\r' "page 'QID==1" "key q" end -- "${hour[@]}" | shape)" \
	"> 
PID.QID,41207.0,41207.1,41207.2,41207.3,52880.0
> --filter 'QID==3'
PID.QID,41207.3
> --filter 'QID==3'
PID.QID,41207.3
> 
PID.QID,41207.0,41207.1,41207.2,41207.3,52880.0
Filter: QI==3
PID.QID,41207.0,41207.1,41207.2,41207.3,52880.0
gpq: queues: --filter: unknown column QI in queues, did you mean QID, at column 1;
--list-columns.lists
> --filter 'QID==1'
PID.QID,41207.1,$back.,exit.status,keys.show"
is "arrows, pages, Home and End scroll behind the heading, as far as there is something" \
	"$(view 5x60 "page more" $'key \e[A' "page 3 more" $'key \e[B' "page 2 more" $'key \eOB' "page 52880" $'key \e[B' "page 52880" $'key \e[5~' "page 2 more" $'key \e[6~' "page 52880" $'key \e[1~' "page 3 more" $'key \e[F' "page 52880" $'key \eOH' "page 3 more" $'key \e[Z' "page 3 more" "key q" end -- "${hour[@]}" | shape | grep -v '^>')" \
	"PID.QID,41207.0,41207.1,....3
PID.QID,41207.0,41207.1,....3
PID.QID,41207.1,41207.2,....2
PID.QID,41207.2,41207.3,52880.0
PID.QID,41207.2,41207.3,52880.0
PID.QID,41207.1,41207.2,....2
PID.QID,41207.2,41207.3,52880.0
PID.QID,41207.0,41207.1,....3
PID.QID,41207.2,41207.3,52880.0
PID.QID,41207.0,41207.1,....3
PID.QID,41207.0,41207.1,....3,$back.,exit.status,keys.show"
is "the same keys as other terminals send them" \
	"$(view 5x60 "page more" $'key \e[F' "page 52880" $'key \eOA' "page 2 more" $'key \e[H' "page 3 more" $'key \eOF' "page 52880" $'key \e[1~' "page 3 more" $'key \e[4~' "page 52880" "key q" end -- "${hour[@]}" | shape | grep -v '^>' | sed 's/,\\e.*//')" \
	"PID.QID,41207.0,41207.1,....3
PID.QID,41207.2,41207.3,52880.0
PID.QID,41207.1,41207.2,....2
PID.QID,41207.0,41207.1,....3
PID.QID,41207.2,41207.3,52880.0
PID.QID,41207.0,41207.1,....3
PID.QID,41207.2,41207.3,52880.0"
cp -r "$GPQ_SYSROOT" "$work/paused"
is "Space pauses, and goes on" "$(GPQ_SYSROOT=$work/paused view 10x90 "page 52880" "key  " "page paused" "sh mv $work/paused/sys/class/kfd/kfd/proc/52880 $work/later" "pages 30" "page 52880" "key  " "page !paused" "key q" end -- "${queues[@]}" | sed 's/0.01s/3600s/' | shape)" "> 
PID.QID,41207.0,41207.1,41207.2,41207.3,52880.0
> (paused)
PID.QID,41207.0,41207.1,41207.2,41207.3,52880.0
> (paused)
PID.QID,41207.0,41207.1,41207.2,41207.3,52880.0
> 
PID.QID,41207.0,41207.1,41207.2,41207.3,$back.,exit.status,keys.show"
is "h shows the keys, any key the listing again" "$(view 12x90 "page 52880" "key h" "page scroll" "key x" "page 52880" "key h" "page scroll" "key h" "page 52880" "key q" end -- "${hour[@]}" | grep -c 'scroll\|  PID')" 5
is "s goes through the columns of the table that is shown" "$(view 12x100 "page MAP" "key s" "page -GPU" "key s" "page PACKET" "key q" end -- gpq hqd --runlist --watch 1h | grep 'Every\|^gpq' | sed -E '/Every/s/ +[^ ]+ [^ ]+$//')" \
	"Every 3600s: gpq hqd --runlist
--sort -GPU Every 3600s: gpq hqd --runlist
--sort PACKET Every 3600s: gpq hqd --runlist"
is "... of those of --table" "$(view 12x100 "page WHY" "key s" "page -GPU" "key s" "page -PID" "key q" end -- gpq hqd --summary --table waiting --watch 1h | grep Every | sed -E 's/ +[^ ]+ [^ ]+$//')" \
	"Every 3600s: gpq hqd --summary --table waiting
--sort -GPU Every 3600s: gpq hqd --summary --table waiting
--sort -PID Every 3600s: gpq hqd --summary --table waiting"
cp -r "$GPQ_SYSROOT" "$work/ended"
is "it goes on where something is stuck" "$(GPQ_SYSROOT=$top/tests/hosts/aql-gfx90a view 10x90 "page deadlock" "pages 3" "key q" end -- gpq why -p 4712 -Q 2 -o STATE --watch 10ms | tail -3)" "$back
exit status 7
keys show"
is "what was listed last stays on the terminal where it ends by itself" "$(GPQ_SYSROOT=$work/ended view 10x90 "page 52880" "sh mv $work/ended/sys/class/kfd/kfd/proc/52880 $work/went" end -- gpq queues -p 52880 -o PID,TYPE --watch 10ms | tail -5)" "${back}gpq: queues: pid 52880: owns no queue, it never opened KFD
  PID TYPE
52880 compute
exit status 5
keys show"
is "no keys where standard input is no terminal" "$(view 10x90 "page 52880" "key q" "pages 5" "kill INT" end -- bash -c 'exec "${@}" </dev/null' - "${queues[@]}" | tail -3)" "$interrupted"

# --- other listings, and what is none ---

is "gpus" "$(view 9x70 "page gfx90a" -- gpq gpus -o GPU,GFX --watch 10ms | sed 1d)" "  GPU GFX
41460 gfx90a"
is "gpus --check" "$(view 3x70 "page STATUS" -- gpq gpus --check -o CHECK,STATUS --watch 10ms | sed '1d; s/  */ /; s/CHECK /CHECK   /')" "CHECK   STATUS
... 21 more lines"
is "hqd --summary" "$(view 9x70 "page SLOTS" -- gpq hqd --summary --table occupancy -o GPU,SLOTS --watch 10ms | sed 1d)" "  GPU SLOTS
41460    24
41460    16
41460    24"
is "suspend --list: nothing is held" "$(GPQ_SYSROOT='' XDG_RUNTIME_DIR=$work view 9x32 "page suspend" -- "$bin/gpq" suspend --list --watch 10ms)" \
	"Every 0.01s: gpq suspend --list"
is "a dumb terminal gets one list below the other" "$(TERM=dumb view 9x70 "lines 4" "kill TERM" end -- gpq queues -p 52880 -o PID --watch 10ms | head -4)" "  PID
52880
52880
52880"
finish
