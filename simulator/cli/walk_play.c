/* walk_play.c: a walk by key, and a walk that asks first.

   Keys are read one at a time with the terminal's line editing off; whatever ends the program, the
   terminal gets its settings back. */
#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "simulator/cli/walk_parts.h"
#include "simulator/scenario_parts.h"

static struct termios before;
static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDINGS = sizeof ending / sizeof ending[0] };
static struct sigaction earlier[ENDINGS];

static void give_back(void)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* tcsetattr, write, unlink, signal and raise may be called here. */
static void on_signal(int number)
{
    static const char cursor[] = "\033[?25h\n";
    give_back();
    files_unlink_unfinished();
    if (write(STDOUT_FILENO, cursor, sizeof cursor - 1) < 0)
        _exit(128 + number);
    signal(number, SIG_DFL);
    raise(number);
}

static bool take_terminal(const char *option, struct message *why)
{
    struct termios raw;
    struct sigaction action;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
        return refuse(why,
                      "%s needs a terminal for input and output; without it the walk is printed",
                      option);
    raw = before;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    for (int i = 0; i < ENDINGS; i++)
        sigaction(ending[i], &action, &earlier[i]);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    return true;
}

static void leave_terminal(void)
{
    give_back();
    for (int i = 0; i < ENDINGS; i++)
        sigaction(ending[i], &earlier[i], NULL);
}

enum key { KEY_NEXT, KEY_BACK, KEY_FIRST, KEY_LAST, KEY_GO, KEY_QUIT, KEY_OTHER };

static int next_byte(void)
{
    unsigned char c;
    return read(STDIN_FILENO, &c, 1) == 1 ? c : -1;
}

/* Is more input already there?  An escape key alone has none behind it. */
static int byte_soon(void)
{
    struct termios now, soon;
    tcgetattr(STDIN_FILENO, &now);
    soon = now;
    soon.c_cc[VMIN] = 0;
    soon.c_cc[VTIME] = 1;
    tcsetattr(STDIN_FILENO, TCSANOW, &soon);
    int c = next_byte();
    tcsetattr(STDIN_FILENO, TCSANOW, &now);
    return c;
}

static enum key next_key(void)
{
    int c = next_byte();
    switch (c) {
    case ' ':
    case 'n':
    case 'j':
    case '\n':
    case '\r':
        return KEY_NEXT;
    case 'b':
    case 'p':
    case 'k':
    case 127:
        return KEY_BACK;
    case 'g':
        return KEY_GO;
    case 'G':
        return KEY_LAST;
    case 'q':
    case 4: /* control-D */
    case -1:
        return KEY_QUIT;
    case 27:
        c = byte_soon();
        c = c == '[' || c == 'O' ? byte_soon() : 'q';
        return c == 'C' || c == 'B'   ? KEY_NEXT
               : c == 'D' || c == 'A' ? KEY_BACK
               : c == 'H'             ? KEY_FIRST
               : c == 'F'             ? KEY_LAST
               : c == 'q'             ? KEY_QUIT
                                      : KEY_OTHER;
    default:
        return KEY_OTHER;
    }
}

static bool colour(void)
{
    const char *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && (no == NULL || no[0] == 0);
}

/* The steps up to n, the last of them marked, then step n in full. */
static void draw(const struct walk *w, const struct scenario *s, int n)
{
    enum { EARLIER = 5 };
    struct report r;
    int from = n > EARLIER ? n - EARLIER : 0;
    report_new(&r, s);
    if (from == 0)
        show_header(&r, w);
    show_columns(&r, w);
    for (int i = from; i <= n; i++) {
        if (i == from || w->steps[i].tile != w->steps[i - 1].tile)
            show_tile(&r, w, w->steps[i].tile);
        if (i == n && colour())
            report_text(&r, "\033[1m");
        show_step(&r, w, &w->steps[i], false);
        if (i == n && colour())
            report_text(&r, "\033[0m");
    }
    report_text(&r, "\n");
    show_detail(&r, w, &w->steps[n]);
    report_text(&r, "\nspace next   b back   g go to   q quit   (%d of %d) ", n + 1, w->step_count);
    printf("\033[H\033[2J%s", r.text);
    fflush(stdout);
    report_free(&r);
}

/* A step's number, typed with the terminal's own line editing. */
static int ask_step(const struct walk *w, int now)
{
    struct termios raw;
    char line[32];
    tcgetattr(STDIN_FILENO, &raw);
    give_back();
    printf("\nstep: ");
    fflush(stdout);
    ssize_t got = read(STDIN_FILENO, line, sizeof line - 1);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    line[got > 0 ? got : 0] = 0;
    long n = strtol(line, NULL, 10);
    return n >= 1 && n <= w->step_count ? (int)n - 1 : now;
}

bool play_steps(const struct walk *w, const struct scenario *s, struct message *why)
{
    int n = 0;
    if (!take_terminal("--interactive", why))
        return false;
    for (enum key key = KEY_OTHER; w->step_count > 0 && key != KEY_QUIT; key = next_key()) {
        n = key == KEY_NEXT && n + 1 < w->step_count ? n + 1
            : key == KEY_BACK && n > 0               ? n - 1
            : key == KEY_FIRST                       ? 0
            : key == KEY_LAST                        ? w->step_count - 1
            : key == KEY_GO                          ? ask_step(w, n)
                                                     : n;
        draw(w, s, n);
    }
    leave_terminal();
    printf("\n");
    return true;
}

/* Right to the digits typed: at least three significant ones, unless fewer say it all. */
static bool answers(const char *text, double value)
{
    char *end;
    double x = strtod(text, &end);
    const char *point = strchr(text, '.');
    int decimals = 0, significant = 0;
    bool leading = true;
    if (end == text || strspn(end, " \t\r\n") != strlen(end))
        return false;
    if (isnan(x) || isinf(x) || isnan(value) || isinf(value) || x == value)
        return x == value || (isnan(x) && isnan(value));
    if (strpbrk(text, "eExX") != NULL)
        return fabs(x - value) <= 5e-4 * fabs(value);
    for (const char *at = text; at < end; at++) {
        leading = leading && strchr("-+0. \t", *at) != NULL;
        significant += !leading && isdigit((unsigned char)*at);
        decimals += point != NULL && at > point && isdigit((unsigned char)*at);
    }
    return significant >= 3 && fabs(x - value) <= 0.5000001 * pow(10, -decimals);
}

/* False when the reader has had enough. */
static bool ask(const struct walk_step *step, const struct walk_group *g,
                const struct walk_line *line, int *asked, int *right)
{
    char text[64];
    char name[48];
    snprintf(name, sizeof name, "%s", g->equation);
    printf("%3d  %-9s  %-19s  ? ", step->number, walk_label(step->step), name);
    fflush(stdout);
    if (fgets(text, sizeof text, stdin) == NULL || text[0] == 'q')
        return false;
    bool ok = answers(text, line->value);
    ++*asked;
    *right += ok;
    printf("%37s%s  %s\n", "", walk_number(line->value, 0, 12).text, ok ? "right" : "no");
    return true;
}

bool play_quiz(const struct walk *w, const struct scenario *s, struct message *why)
{
    enum { OF_ONE_ARRAY = 4 };
    struct report r;
    int asked = 0, right = 0;
    bool go_on = true;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return refuse(
            why, "--quiz needs a terminal for input and output; without it the walk is printed");
    report_new(&r, s);
    show_header(&r, w);
    printf("%sThree digits are enough.  Enter alone passes, q leaves.\n\n", r.text);
    report_free(&r);
    for (int n = 0; go_on && n < w->step_count; n++) {
        if (n == 0 || w->steps[n].tile != w->steps[n - 1].tile) {
            report_new(&r, s);
            show_tile(&r, w, w->steps[n].tile);
            fputs(r.text, stdout);
            report_free(&r);
        }
        for (int i = w->steps[n].first; go_on && i < w->steps[n].first + w->steps[n].count; i++)
            for (int k = 0; go_on && k < w->groups[i].count && k < OF_ONE_ARRAY; k++)
                go_on = ask(&w->steps[n], &w->groups[i], &w->lines[w->groups[i].first + k], &asked,
                            &right);
    }
    printf("\n%d of %d right.\n", right, asked);
    return true;
}
