# Several scripts' TAP in, one TAP stream out: numbered through, each line with its script's name, one plan, a last line
# with the counts. A script that ends without its plan, or another number of assertions than planned, has failed.
# Exit status 1 when anything failed, or when there was nothing at all; what is skipped has not failed.
function line(word, text) {
	n++
	print word " " n " - " text
	fflush()
	if (text ~ /# SKIP/) skipped++
	else if (word == "ok") passed++
	else failed++
}
/^# vm / { vm = substr($0, 6); print; next }
/^# script / { script = $3; planned = -1; seen = 0; next }
/^# end / {
	if (planned != seen)
		line("not ok", vm " " script ": ended with status " $4 " after " seen " assertions, " (planned < 0 ? "without a plan" : planned " were planned"))
	else if (seen == 0)
		line("not ok", vm " " script ": has no assertions")
	script = ""
	next
}
/^# died / {
	line("not ok", vm (script ? " " script : "") ": the VM did not come to its end, status " $3)
	script = ""
	next
}
/^(not )?ok [0-9]+/ {
	seen++
	word = /^ok/ ? "ok" : "not ok"
	sub(/^(not )?ok [0-9]+( - )?/, "")
	line(word, vm (script ? " " script : "") ": " $0)
	next
}
/^1\.\.[0-9]+$/ { planned = substr($0, 4) + 0; next }
{ print (/^#/ ? "" : "# ") $0; fflush() }
END {
	print "1.." n + 0
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0 || n == 0
}
