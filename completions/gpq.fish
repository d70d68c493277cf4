# fish completion for gpq: candidates come from the program itself (gpq --complete).
complete -c gpq -a '(gpq --complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
