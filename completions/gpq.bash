# bash completion for gpq: candidates come from the program itself (gpq --complete).
_gpq()
{
	local name=${COMP_WORDS[0]##*/} word last='' typed words=()
	# Called through a link such as gpq-queues: the name is the command.
	[ "$name" = gpq ] || words=("${name#gpq-}")
	# Bash parts words at = and : too, and replaces the last part. What follows = is a word of its own, what follows : is not.
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
		case $word in
		\'* | \"*) word=${word#?} ;; # a quote that is still open
		esac
		if [[ $word = : || $last = : ]] && ((${#words[@]})); then
			words[-1]+=$word
		elif [ "$word" != = ]; then
			words+=("${word%[\'\"]}")
		fi
		last=$word
	done
	[ "$last" != = ] || words+=("")
	typed=${words[-1]}
	mapfile -t COMPREPLY < <(gpq --complete -- "${words[@]}" </dev/null 2>/dev/null | cut -f1)
	if [[ $typed = *:* && ${COMP_WORDS[COMP_CWORD]} != [\'\"]* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${typed%"${typed##*:}"}"}")
	fi
}
complete -o default -F _gpq gpq gpq-bench gpq-core gpq-events gpq-gpus gpq-hang gpq-hqd gpq-merge gpq-packets gpq-ps gpq-queues gpq-resume gpq-sched gpq-snapshot gpq-suspend gpq-trace gpq-why
