# bash completion for gpq: candidates come from the program itself (gpq --complete).
_gpq()
{
	local name=${COMP_WORDS[0]##*/} IFS=$'\n' word
	local words=()
	# Called through a link such as gpq-queues: the name is the command.
	[ "$name" = gpq ] || words=("${name#gpq-}")
	# Bash gives "--output=PID" as three words and replaces the last one.
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do [ "$word" = = ] || words+=("$word"); done
	[ "$word" != = ] || words+=("")
	COMPREPLY=($(gpq --complete -- "${words[@]}" 2>/dev/null | cut -f1))
}
complete -o default -F _gpq gpq gpq-bench gpq-gpus gpq-hqd gpq-merge gpq-queues gpq-resume gpq-snapshot gpq-suspend gpq-trace
