// gpq --complete: candidates for shells. The scripts in completions/ call it, so they never
// differ from the option and column tables.
#include "cmd/command.h"

#include "common/bench/ab.h"
#include "common/host/secure.h"
#include "common/kfd/names.h"
#include "common/pick/spec_set.h"
#include "common/rows/queue_rows.h"

#include <ctype.h>

// The word under the cursor, and what the words before it tell.
struct typed {
	const char *keep;            // the part that stays as it is: "--output=PID,"
	int n;                       // bytes of `keep`
	const char *rest;            // the part to complete: "QI"
	const struct command *def;   // NULL: no command is typed yet
	const struct cmd_kind *kind; // NULL: the command has no kinds, or none is typed yet
	const char *pids;            // argument of -p; NULL: none yet
	size_t member;               // of struct container: a text to offer, its place in bytes
};

// Prints the candidate `word` and the first line of `help`, if `word` begins with what is typed.
static void offer(const struct typed *t, const char *word, const char *help)
{
	if (*word && strncasecmp(word, t->rest, strlen(t->rest)) == 0)
		printf("%.*s%s\t%.*s\n", t->n, t->keep, word, (int)strcspn(help, "\n"), help);
}

// Completes only what stands from `end` on; the part before it stays as it is.
static void keep_up_to(struct typed *t, const char *end)
{
	t->n = (int)(end - t->keep);
	t->rest = end;
}

// Completes only the last entry of a comma-separated list.
static void skip_list(struct typed *t)
{
	const char *comma = strrchr(t->rest, ',');
	if (comma)
		keep_up_to(t, comma + 1);
}

// Lists the option tables that apply to the word: the command's or its kind's (all kinds' if none
// is typed yet), and the shared one. NULL ends the list.
static void tables_of(const struct typed *t, const struct opt *tables[8])
{
	unsigned n = 0;
	if (!t->def)
		tables[n++] = gpq_opts_table;
	else if (!t->def->spec->kinds)
		tables[n++] = t->def->spec->opts;
	for (const struct cmd_kind *k = t->def ? t->def->spec->kinds : NULL; k && k->name; k++)
		if ((!t->kind || k == t->kind) && n < 6)
			tables[n++] = k->opts;
	tables[n++] = common_opts_table;
	tables[n] = NULL;
}

static const struct opt *find_any(const struct typed *t, const char *name, char letter)
{
	const struct opt *tables[8], *found = NULL;
	tables_of(t, tables);
	for (unsigned i = 0; tables[i] && !found; i++)
		found = opts_find(tables[i], name, letter);
	return found;
}

// Offers `word`, an option or a key of a SPEC, with the first line of the option's help.
static void offer_option(const struct typed *t, const struct opt *o, const char *word)
{
	char help[128];
	size_t n;
	const char *text = opt_brief(o, &n);
	snprintf(help, sizeof(help), "%.*s", (int)n, text);
	offer(t, word, help);
}

static void offer_options(const struct typed *t)
{
	const struct opt *tables[8];
	char word[64];
	tables_of(t, tables);
	for (unsigned i = 0; tables[i]; i++)
		for (const struct opt *o = tables[i]; o->name; o++) {
			snprintf(word, sizeof(word), "--%s", o->name);
			// An option of several kinds is in the table of each: offer it once.
			if (find_any(t, o->name, 0) == o)
				offer_option(t, o, word);
		}
}

// --- names of columns ---

static bool in_earlier(const struct out_table *const *first, const struct out_table *const *table,
		       const char *name)
{
	for (; first < table; first++)
		for (unsigned i = 0; i < (*first)->ncols; i++)
			if (strcmp((*first)->cols[i].name, name) == 0)
				return true;
	return false;
}

static const struct out_table *const *printed_tables(const struct typed *t)
{
	static const struct out_table *const none[] = {NULL};
	return t->kind ? t->kind->tables : t->def ? t->def->spec->tables : none;
}

static void offer_tables(struct typed *t)
{
	const struct out_table *const *first = printed_tables(t);
	for (const struct out_table *const *table = first; *table; table++) {
		const struct out_table *const *same = first;
		while (strcmp((*same)->name, (*table)->name) != 0)
			same++;
		if (same == table)
			offer(t, (*table)->name, "table");
	}
}

static void offer_columns(struct typed *t)
{
	const struct out_table *const *first = printed_tables(t);
	for (const struct out_table *const *table = first; *table; table++)
		for (unsigned i = 0; i < (*table)->ncols; i++)
			if (!in_earlier(first, table, (*table)->cols[i].name))
				offer(t, (*table)->cols[i].name, out_col_help(&(*table)->cols[i]));
}

static void offer_output(struct typed *t)
{
	if (t->rest[0] == '+')
		keep_up_to(t, t->rest + 1);
	skip_list(t);
	offer_columns(t);
}

static void offer_sort(struct typed *t)
{
	skip_list(t);
	if (t->rest[0] == '-')
		keep_up_to(t, t->rest + 1);
	offer_columns(t);
}

// Completes an expression such as BACKLOG > 1 && PA: offers columns where a value may stand, and
// operators behind a value.
static void offer_filter(struct typed *t)
{
	static const char *const operators[] = {"==", "!=", "<",  "<=", ">",
						">=", "=~", "!~", "&&", "||"};
	const char *end = t->rest + strlen(t->rest), *word = end, *before;
	unsigned quotes = 0;
	for (const char *p = t->rest; *p; p++)
		quotes += *p == '"';
	if (quotes % 2) // the cursor is in a string
		return;
	while (word > t->rest && (isalnum((unsigned char)word[-1]) || strchr("_%./", word[-1])))
		word--;
	for (before = word; before > t->rest && before[-1] == ' ';)
		before--;
	keep_up_to(t, word);
	bool value = before == t->keep || before[-1] == '=' || strchr("(!<>~&|", before[-1]);
	if (value && !isdigit((unsigned char)*word))
		offer_columns(t);
	for (unsigned i = 0; !value && !*word && i < COUNT(operators); i++)
		offer(t, operators[i], "operator");
}

// --- what the host knows; what cannot be read gives no candidates, and no message ---

// Other users choose the names of processes and containers, so names with characters that are
// special to a shell or a terminal are not offered.
static bool is_tame(const char *word)
{
	return *word && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					   "0123456789._:/@-")];
}

static void offer_escaped(const struct typed *t, const char *word, const char *help)
{
	SCOPED(buf_fini) struct buf b = {0};
	text_escape(&b, help, strlen(help));
	buf_append(&b, "", 1);
	offer(t, word, b.data);
}

// Reads the values `want` (PROCESS_...) of every process that has KFD open, and calls `each`.
static void for_kfd_processes(const struct typed *t, unsigned want,
			      void (*each)(const struct typed *t, const struct process_info *p))
{
	SCOPED(process_cache_fini) struct process_cache cache = {0};
	SCOPED(closedir_at) DIR *dir = host_opendir("/sys/class/kfd/kfd/proc");
	pid_t pid;
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (proc_parse_pid(e->d_name, &pid))
			each(t, process_cache_get(&cache, pid, want));
}

static void offer_pid(const struct typed *t, const struct process_info *p)
{
	char word[16];
	snprintf(word, sizeof(word), "%d", (int)p->pid);
	offer_escaped(t, word, *p->proc.comm ? p->proc.comm : "process with KFD open");
}

static void offer_pids(struct typed *t)
{
	skip_list(t);
	for_kfd_processes(t, PROCESS_STATUS, offer_pid);
}

// --comm takes a regular expression: a dot replaces each special character.
static void offer_command(const struct typed *t, const struct process_info *p)
{
	char word[sizeof(p->proc.comm)], help[32];
	snprintf(word, sizeof(word), "%s", p->proc.comm);
	for (char *c = word; *c; c++)
		if (!is_tame((char[]){*c, 0}) && (unsigned char)*c < 0x80)
			*c = '.';
	snprintf(help, sizeof(help), "process %d", (int)p->pid);
	if (is_tame(word))
		offer(t, word, help);
}

static void offer_commands(struct typed *t)
{
	for_kfd_processes(t, PROCESS_STATUS, offer_command);
}

static void offer_container(const struct typed *t, const struct process_info *p)
{
	char name[128], help[160];
	const struct container *c = &p->container;
	if (!*c->id)
		return;
	// Some runtimes write a name in place of an id.
	const bool named = container_name(c, name, sizeof(name)) && strcmp(name, p->short_id) != 0;
	snprintf(help, sizeof(help), "%s, process %d", *c->runtime ? c->runtime : "container",
		 (int)p->pid);
	if (is_tame(p->short_id))
		offer_escaped(t, p->short_id, named ? name : help);
	if (named && is_tame(name))
		offer_escaped(t, name, help);
}

static void offer_containers(struct typed *t)
{
	skip_list(t);
	for_kfd_processes(t, PROCESS_CONTAINER, offer_container);
}

static void offer_member(const struct typed *t, const struct process_info *p)
{
	char help[32];
	const char *word = (const char *)&p->container + t->member;
	snprintf(help, sizeof(help), "process %d", (int)p->pid);
	if (is_tame(word))
		offer_escaped(t, word, help);
}

// Offers the words in t->member of the containers of processes.
static void offer_members(struct typed *t)
{
	skip_list(t);
	for_kfd_processes(t, PROCESS_CONTAINER, offer_member);
}

static bool is_typed(const void *arg, pid_t pid)
{
	const struct pids *typed = arg;
	return !typed->n || pids_has(typed, pid);
}

static void offer_queues(struct typed *t)
{
	char bad[32], word[16], help[48];
	struct pids pids = {0};
	SCOPED(kfd_procs_fini) struct kfd_procs p = {0};
	struct kfd_procs_how how = {.want = KFD_WANT_TYPE, .keep = is_typed, .arg = &pids};
	skip_list(t);
	if (t->pids)
		pids_add(&pids, t->pids, bad);
	if (kfd_procs_read(&p, &how) == 0) {
		for (size_t i = 0; i < p.nqueues; i++) {
			const char *type = kfd_queue_type_name(p.queues[i].type);
			snprintf(word, sizeof(word), "%" PRIu32, p.queues[i].qid);
			snprintf(help, sizeof(help), "%s, process %d", type ? type : "queue",
				 (int)p.procs[p.queues[i].proc].pid);
			offer(t, word, help);
		}
	}
	free(pids.v);
}

static void offer_gpus(struct typed *t)
{
	char word[24], name[160];
	struct kfd_topology topology;
	skip_list(t);
	kfd_topology_load(&topology, KFD_TOPOLOGY_BDF); // a failure leaves no GPUs in it
	struct pci_names *names = pci_names_new();
	for (size_t i = 0; i < topology.n; i++) {
		const struct kfd_gpu *g = &topology.gpus[i];
		*name = 0;
		if (names)
			pci_names_lookup(names, g->vendor_id, g->device_id, name, sizeof(name));
		if (g->index == KFD_UNKNOWN)
			continue;
		snprintf(word, sizeof(word), "%" PRIu64, g->index);
		offer_escaped(t, word, *name ? name : g->gfx);
		snprintf(word, sizeof(word), "%" PRIu64, g->gpu_id);
		offer_escaped(t, word, *name ? name : g->gfx);
		offer_escaped(t, g->bdf, *name ? name : g->gfx);
	}
	pci_names_free(names);
	kfd_topology_fini(&topology);
}

// --- arguments of options ---

static void offer_levels(struct typed *t)
{
	skip_list(t);
	for (unsigned i = 0; prio_level_name(i); i++)
		offer(t, prio_level_name(i), "level of priority");
}

static void offer_types(struct typed *t)
{
	static const int types[] = {KFD_QUEUE_COMPUTE, KFD_QUEUE_SDMA, KFD_QUEUE_SDMA_XGMI};
	skip_list(t);
	for (unsigned i = 0; i < COUNT(types); i++)
		offer(t, kfd_queue_type_name(types[i]), "type of queue");
}

static void offer_modes(struct typed *t)
{
	skip_list(t);
	for (unsigned i = 0; i < AB_MODES; i++)
		offer(t, ab_mode_name[i], "mode of the experiment");
}

static void offer_spec(struct typed *t);

static void offer_class(struct typed *t)
{
	const char *name_end = strchr(t->rest, '=');
	if (!name_end)
		return;
	keep_up_to(t, name_end + 1);
	offer_spec(t);
}

static const struct {
	const char *option;
	void (*offer)(struct typed *t);
	size_t member;
} sources[] = {
	{"comm", offer_commands, 0},
	{"container", offer_containers, 0},
	{"filter", offer_filter, 0},
	{"gpu", offer_gpus, 0},
	{"job", offer_members, offsetof(struct container, job)},
	{"modes", offer_modes, 0},
	{"output", offer_output, 0},
	{"pid", offer_pids, 0},
	{"pod", offer_members, offsetof(struct container, pod)},
	{"prio", offer_levels, 0},
	{"queue", offer_queues, 0},
	{"sort", offer_sort, 0},
	{"table", offer_tables, 0},
	{"type", offer_types, 0},
	{"online", offer_spec, 0},
	{"offline", offer_spec, 0},
	{"class", offer_class, 0},
};

// Offers arguments of an option: its fixed words, and what `sources` has for it. For other options
// there are no candidates, and the shell completes file names.
static void offer_values(const struct opt *o, struct typed *t)
{
	for (unsigned i = 0; *opt_word(o, i); i++)
		offer(t, opt_word(o, i), opt_arg(o));
	for (unsigned i = 0; i < COUNT(sources); i++)
		if (strcmp(o->name, sources[i].option) == 0) {
			t->member = sources[i].member;
			sources[i].offer(t);
		}
}

// A SPEC refuses type and prio: they do not choose queues that come later.
static bool is_spec_key(const struct opt *o)
{
	return strcmp(o->name, "type") != 0 && strcmp(o->name, "prio") != 0;
}

// Completes a SPEC, KEY=VALUE,KEY=VALUE: offers keys, and the values that the option of the key's
// name takes.
static void offer_spec(struct typed *t)
{
	const char *comma = t->rest, *value;
	char word[32];
	while ((comma = strchr(comma, ',')))
		if (pick_spec_begins(++comma))
			keep_up_to(t, comma);
	comma = strrchr(t->rest, ',');
	value = strchr(t->rest, '=');
	for (const struct opt *o = pick_spec_keys; o->name && value; o++)
		if (strncmp(t->rest, o->name, strlen(o->name)) == 0 &&
		    t->rest + strlen(o->name) == value && is_spec_key(o)) {
			keep_up_to(t, value + 1);
			offer_values(o, t);
			break;
		}
	if (comma)
		keep_up_to(t, comma + 1); // a key may begin there, too
	for (const struct opt *o = pick_spec_keys; o->name && (comma || !value); o++) {
		snprintf(word, sizeof(word), "%s%s", o->name, opt_arg(o) ? "=" : "");
		if (is_spec_key(o))
			offer_option(t, o, word);
	}
}

// --- the words before the cursor ---

struct place {
	const struct opt *argument_of; // the next word is the argument of this option, or NULL
	bool help;                     // the operands are those of `gpq help`
	bool operands;                 // no more options follow
};

// Returns the option that `word` is, or the last option of a cluster of letters; NULL: no option.
// Sets *argument to an attached argument ("--output=PID", "-oPID"), or NULL.
static const struct opt *option_of(const struct typed *t, const char *word, const char **argument)
{
	char name[64];
	const struct opt *o = NULL;
	*argument = NULL;
	if (word[0] != '-' || !word[1])
		return NULL;
	if (word[1] == '-') {
		const char *equals = strchr(word, '=');
		size_t n = equals ? (size_t)(equals - word) - 2 : strlen(word + 2);
		*argument = equals ? equals + 1 : NULL;
		snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 0), word + 2);
		return find_any(t, name, 0);
	}
	for (word++; *word && (!o || !opt_arg(o)); word++)
		o = find_any(t, NULL, *word);
	if (o && opt_arg(o) && *word)
		*argument = word;
	return o;
}

static void take_typed_argument(struct typed *t, const struct opt *o, const char *argument)
{
	if (strcmp(o->name, "pid") == 0)
		t->pids = argument;
	if (strcmp(o->name, "sysroot") == 0 && !host_secure())
		host_set_root(argument);
}

static void take_typed_operand(struct typed *t, struct place *at, const char *word)
{
	if (!t->def) {
		t->def = command_find(word, strlen(word));
		at->help |= !t->def && strcmp(word, "help") == 0;
	} else if (t->def->spec->kinds && !t->kind) {
		t->kind = command_kind(t->def, word);
	} else {
		at->operands = t->def->spec->stop_at_operand;
	}
}

static void take_typed_word(struct typed *t, struct place *at, const char *word)
{
	const char *argument;
	const struct opt *o = at->argument_of;
	at->argument_of = NULL;
	if (o) {
		take_typed_argument(t, o, word);
	} else if (at->operands) {
		return;
	} else if (strcmp(word, "--") == 0) {
		at->operands = true;
	} else if (word[0] != '-' || !word[1]) {
		take_typed_operand(t, at, word);
	} else if ((o = option_of(t, word, &argument)) && opt_arg(o)) {
		if (argument)
			take_typed_argument(t, o, argument);
		else
			at->argument_of = o;
	}
}

static bool begins_command(const char *typed)
{
	for (const struct command *c = gpq_commands; c->name; c++)
		if (strncmp(c->name, typed, strlen(typed)) == 0)
			return true;
	return false;
}

static void offer_word(const void *arg, const char *word, const char *leads)
{
	offer(arg, word, leads);
}

static void offer_operands(const struct typed *t, bool help)
{
	const struct command *def = t->def;
	const char *operands = t->kind ? t->kind->operands : def ? def->spec->operands : NULL;
	const bool command =
		operands && strcmp(operands, "COMMAND") == 0; // gpq gpus --check COMMAND
	if (!def || (command && *t->rest)) {
		for (const struct command *c = gpq_commands; c->name; c++)
			offer(t, c->name, c->summary);
		for (const struct help_topic *topic = help_topics; help && topic->name; topic++)
			offer(t, topic->name, topic->summary);
		if (!help && !def)
			offer(t, "help", "show the help of a command or a topic");
		// Where nothing else begins so: a word for it, and what to type instead.
		if (!def && *t->rest && (help || !begins_command(t->rest)))
			words_each(offer_word, t);
	} else if (def->spec->kinds && !t->kind) {
		for (const struct cmd_kind *k = def->spec->kinds; k->name; k++)
			offer(t, k->name, k->summary);
	} else if (!help && (!operands || command || def->spec->stop_at_operand) && !*t->rest) {
		offer_options(t);
	}
}

int complete_words(int n, char **words)
{
	const char *root = host_getenv("GPQ_SYSROOT"); // if unset or wrong, the live host is read
	const char *word = n > 0 ? words[n - 1] : "", *argument = NULL;
	struct typed t = {.keep = word, .rest = word};
	struct place at = {0};
	if (root && *root)
		host_set_root(root);
	for (int i = 0; i + 1 < n; i++)
		take_typed_word(&t, &at, words[i]);
	const struct opt *o = at.argument_of; // the option whose argument is completed
	if (!o && !at.operands && (o = option_of(&t, word, &argument)) && argument)
		keep_up_to(&t, argument);
	else if (!at.argument_of)
		o = NULL;
	if (o)
		offer_values(o, &t);
	else if (at.operands)
		; // files or a command: left to the shell
	else if (word[0] == '-' && word[1] && word[1] != '-' && option_of(&t, word, &argument))
		offer(&t, word, "option");
	else if (word[0] == '-')
		offer_options(&t);
	else
		offer_operands(&t, at.help);
	host_set_root(NULL);
	// ferror() tells of earlier writes that failed.
	return fflush(stdout) || ferror(stdout) ? err_sys(errno, NULL, "standard output") : GPQ_OK;
}
