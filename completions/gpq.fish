# fish completion for gpq: candidates come from the program itself (gpq --complete).
function __gpq_candidates
	set -l words (commandline -opc)
	# Called through a link such as gpq-queues: the name is the command.
	set -l link (string replace -rf '^(.*/)?gpq-' '' -- $words[1])
	gpq --complete -- $link $words[2..-1] (commandline -ct) 2>/dev/null
end
for name in gpq gpq-(gpq --list)
	complete -c $name -a '(__gpq_candidates)'
end
