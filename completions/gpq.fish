# fish completion for gpq: candidates come from the program itself (gpq --complete), file names where it has none.
function __gpq_candidates
	set -l words (commandline -opc)
	# A quote that is still open.
	set -l token (commandline -ct | string replace -r '^(--[^=]*=|)[\'"]' '$1')
	# Called through a link such as gpq-queues: the name is the command.
	set -l link (string replace -rf '^(.*/)?gpq-' '' -- $words[1])
	set -l found (gpq --complete -- $link $words[2..-1] $token </dev/null 2>/dev/null)
	if set -q found[1]
		string join \n -- $found
	else
		set -l option (string match -r '^--[^=]*=' -- $token)
		string join \n -- "$option"(__fish_complete_path (string replace -r '^--[^=]*=' '' -- $token))
	end
end
for name in gpq gpq-(gpq --list)
	complete -c $name -f -a '(__gpq_candidates)'
end
