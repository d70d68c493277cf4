// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * plain COMMAND ARGS: run it with every signal at its default.  A shell starts background jobs with
 * SIGINT and SIGQUIT ignored, and cannot undo that.
 */
#include <signal.h>
#include "kfduser.h"

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	execvp(argv[1], argv + 1);
	die("%s", argv[1]);
}
