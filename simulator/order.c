/* order.c: parenthesis trees: read from text, built by halves, kept as stack programs.

   tree  := group          group := '(' item item* ')'          item := number | group
   A group is the chain of its items from left to right.  Nothing in the text is trusted: numbers,
   nesting and size are bounded, and every term must appear exactly once. */
#include "simulator/order.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "reference/tensor.h"
#include "simulator/mma.h"

enum { MOST_TERMS = 1 << 16, MOST_NESTING = 1024, MOST_TEXT = 1 << 20 };

static const char *const order_names[] = {
#define ORDER(id, name, meaning) name,
#include "simulator/orders.def"
#undef ORDER
};

static const char spaces[] = " \t\r\n";

struct parser {
    const char *start, *at;
    const char *where; /* what messages call the text */
    int *program;
    int length, terms, nesting;
    struct message *why;
};

/* "... at character 7", counted from 1. */
static bool refuse_here(const struct parser *p, const char *problem)
{
    return refuse(p->why, "%.200s: %s at character %d; a tree looks like ((0 1) (2 3))", p->where,
                  problem, (int)(p->at - p->start) + 1);
}

static bool parse_term(struct parser *p)
{
    long n = 0;
    const char *end = p->at;
    for (; *end >= '0' && *end <= '9' && n < MOST_TERMS; end++)
        n = 10 * n + (*end - '0');
    if (n >= MOST_TERMS || p->terms == MOST_TERMS)
        return refuse(p->why, "%.200s: a tree has at most %d terms, numbered from 0", p->where,
                      (int)MOST_TERMS);
    p->at = end;
    p->program[p->length++] = (int)n;
    p->terms++;
    return true;
}

static bool parse_group(struct parser *p)
{
    if (p->nesting == MOST_NESTING)
        return refuse(p->why, "%.200s: parentheses are nested more than %d deep; a chain needs no "
                      "parentheses of its own: (0 1 2 3)", p->where, (int)MOST_NESTING);
    p->nesting++;
    p->at++;
    int items = 0;
    for (;;) {
        p->at += strspn(p->at, spaces);
        if (*p->at == ')')
            break;
        if (*p->at == '\0')
            return refuse_here(p, "a closing parenthesis is missing");
        if (*p->at != '(' && (*p->at < '0' || *p->at > '9'))
            return refuse_here(p, "neither a term number nor a parenthesis");
        if (!(*p->at == '(' ? parse_group(p) : parse_term(p)))
            return false;
        if (++items > 1)
            p->program[p->length++] = ORDER_ADD;
    }
    if (items == 0)
        return refuse_here(p, "empty parentheses");
    p->at++;
    p->nesting--;
    return true;
}

static bool every_term_once(const struct parser *p)
{
    char *seen = calloc((size_t)p->terms, 1);
    assert(seen != NULL);
    int twice = -1;
    for (int i = 0; i < p->length; i++) {
        int n = p->program[i];
        if (n == ORDER_ADD || n >= p->terms)
            continue;
        if (seen[n] && twice < 0)
            twice = n;
        seen[n] = 1;
    }
    int missing = 0;
    while (missing < p->terms && seen[missing])
        missing++;
    free(seen);
    if (missing == p->terms)
        return true;
    if (twice >= 0)
        return refuse(p->why, "%.200s: term %d appears twice; each of 0 to %d must appear once",
                      p->where, twice, p->terms - 1);
    return refuse(p->why, "%.200s: term %d is missing; each of 0 to %d must appear once", p->where,
                  missing, p->terms - 1);
}

static int program_depth(const int *program, int length)
{
    int depth = 0, most = 0;
    for (int i = 0; i < length; i++) {
        depth += program[i] == ORDER_ADD ? -1 : 1;
        if (depth > most)
            most = depth;
    }
    return most;
}

/* `text` as the user wrote it ("tree:..."), `source` the parentheses themselves. */
static struct order_tree *tree_from_text(const char *text, const char *where, const char *source,
                                         struct message *why)
{
    /* A term takes at least one character, and n terms make n - 1 additions. */
    struct parser p = {.start = source, .at = source, .where = where, .why = why};
    p.program = malloc((2 * strlen(source) + 1) * sizeof *p.program);
    assert(p.program != NULL);
    p.at += strspn(p.at, spaces);
    bool good = *p.at == '(' ? parse_group(&p) : refuse_here(&p, "no opening parenthesis");
    if (good) {
        p.at += strspn(p.at, spaces);
        good = *p.at == '\0' ? every_term_once(&p) : refuse_here(&p, "something follows the tree");
    }
    if (!good) {
        free(p.program);
        return NULL;
    }
    struct order_tree *tree = malloc(sizeof *tree);
    char *kept = malloc(strlen(text) + 1);
    assert(tree != NULL && kept != NULL);
    *tree = (struct order_tree){.terms = p.terms, .length = p.length, .program = p.program,
                                .depth = program_depth(p.program, p.length),
                                .text = strcpy(kept, text)};
    return tree;
}

/* Trees given out live until the program ends: a list that nothing is removed from. */
struct kept_tree {
    struct order_tree *tree;
    struct kept_tree *next;
};
static struct kept_tree *given_trees, *pairwise_trees;
static pthread_mutex_t trees_lock = PTHREAD_MUTEX_INITIALIZER;

/* Caller holds trees_lock. */
static const struct order_tree *keep(struct kept_tree **list, struct order_tree *tree)
{
    struct kept_tree *entry = malloc(sizeof *entry);
    assert(entry != NULL);
    *entry = (struct kept_tree){tree, *list};
    *list = entry;
    return tree;
}

static struct order_tree *tree_from_file(const char *text, const char *path, struct message *why)
{
    unsigned char *bytes;
    size_t size;
    struct order_tree *tree = NULL;
    if (!file_read(path, MOST_TEXT, &bytes, &size, why))
        return NULL;
    if (memchr(bytes, 0, size) != NULL)
        refuse(why, "%.200s: not a text; a tree looks like ((0 1) (2 3))", path);
    else
        tree = tree_from_text(text, path, (const char *)bytes, why);
    free(bytes);
    return tree;
}

static const struct order_tree *tree_parse(const char *text, const char *source,
                                           struct message *why)
{
    struct order_tree *tree = *source == '(' ? tree_from_text(text, source, source, why)
                                             : tree_from_file(text, source, why);
    if (tree == NULL)
        return NULL;
    pthread_mutex_lock(&trees_lock);
    keep(&given_trees, tree);
    pthread_mutex_unlock(&trees_lock);
    return tree;
}

static bool parse_kind(enum order_kind kind, const char *text, const char *rest, struct order *o,
                       struct message *why)
{
    *o = (struct order){.kind = kind};
    switch (kind) {
    case ORDER_TREE:
        if (rest[0] != ':' || rest[1] == '\0')
            return refuse(why, "order tree needs a file or a tree: tree:FILE or "
                          "\"tree:((0 1) (2 3))\"");
        return (o->tree = tree_parse(text, rest + 1, why)) != NULL;
    case ORDER_LANES:
        return (o->lanes = lanes_parse(text, why)) != NULL;
    case ORDER_MMA:
        return (o->mma = mma_parse(text, why)) != NULL;
    default:
        return *rest == '\0' || refuse(why, "order %s takes nothing after its name, got \"%.60s\"",
                                       order_names[kind], text);
    }
}

bool order_parse(const char *text, struct order *o, struct message *why)
{
    size_t length = strcspn(text, ":@");
    for (int kind = 0; kind < ORDER_COUNT; kind++)
        if (strlen(order_names[kind]) == length && strncmp(text, order_names[kind], length) == 0)
            return parse_kind((enum order_kind)kind, text, text + length, o, why);
    char word[48];
    if (length >= sizeof word)
        length = sizeof word - 1;
    memcpy(word, text, length);
    word[length] = '\0';
    const char *near = nearest_name(word, order_names, ORDER_COUNT);
    if (near != NULL)
        return refuse(why, "no order is called \"%s\"; did you mean %s?", word, near);
    return refuse(why, "no order is called \"%s\"; there are seq, pairwise, tree:FILE, "
                  "lanes:OWNERS:OFFSETS and mma@UNIT", word);
}

const char *order_text(const struct order *o)
{
    return o->kind == ORDER_TREE    ? o->tree->text
           : o->kind == ORDER_LANES ? o->lanes->text
           : o->kind == ORDER_MMA   ? o->mma->text
                                    : order_names[o->kind];
}

/* Appends the sum of terms first .. first + n - 1 by halves. */
static void pairwise_program(struct order_tree *t, int first, int n)
{
    if (n == 1) {
        t->program[t->length++] = first;
        return;
    }
    int left = (n + 1) / 2;
    pairwise_program(t, first, left);
    pairwise_program(t, first + left, n - left);
    t->program[t->length++] = ORDER_ADD;
}

const struct order_tree *order_pairwise(int n)
{
    assert(n >= 1 && n <= INT_MAX / 2);
    pthread_mutex_lock(&trees_lock);
    const struct kept_tree *entry = pairwise_trees;
    while (entry != NULL && entry->tree->terms != n)
        entry = entry->next;
    const struct order_tree *found = entry != NULL ? entry->tree : NULL;
    if (found == NULL) {
        struct order_tree *tree = malloc(sizeof *tree);
        assert(tree != NULL);
        *tree = (struct order_tree){.terms = n};
        tree->program = malloc((2 * (size_t)n - 1) * sizeof *tree->program);
        assert(tree->program != NULL);
        pairwise_program(tree, 0, n);
        tree->depth = program_depth(tree->program, tree->length);
        found = keep(&pairwise_trees, tree);
    }
    pthread_mutex_unlock(&trees_lock);
    return found;
}
