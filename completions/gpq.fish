# fish completion for gpq: candidates come from the program itself (gpq --complete), file names where it has none.
function __gpq_candidates
	set -l words (commandline -opc)
	set -l token (commandline -ct)
	# Called through a link such as gpq-queues: the name is the command.
	set -l link (string replace -rf '^(.*/)?gpq-' '' -- $words[1])
	# A quote that is still open.
	set -l found (gpq --complete -- $link $words[2..-1] (string replace -r '^[\'"]' '' -- $token) </dev/null 2>/dev/null)
	if set -q found[1]
		string join \n -- $found
	else
		__fish_complete_path $token
	end
end
for name in gpq gpq-(gpq --list)
	complete -c $name -f -a '(__gpq_candidates)'
end
