/* instruction.c: one PTX instruction from its text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/ptx/reader.h"

/* Instructions that are more than a value of their sources.  shape: how many registers each operand
   has, {a,b} and a|b having two; results: how many come first and are written. */
static const struct row {
    const char *name, *shape;
    enum ptx_kind kind;
    int results, deep;
    bool half, transposed;
} rows[] = {
    {"ret", "", PTX_RETURN, 0, 0, false, false},
    {"trap", "", PTX_TRAP, 0, 0, false, false},
    {"bar.sync", "1", PTX_BARRIER, 0, 0, false, false},
    {"bar.warp.sync", "1", PTX_SYNCWARP, 0, 0, false, false},
    {"mov.b32", "21", PTX_UNPACK, 2, 0, false, false},
    {"vote.sync.any.pred", "111", PTX_VOTE_ANY, 1, 0, false, false},
    {"shfl.sync.bfly.b32", "21111", PTX_SHUFFLE, 2, 0, false, false},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "4424", PTX_MMA, 4, 16, false, false},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "4424", PTX_MMA, 4, 16, true, false},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "4214", PTX_MMA, 4, 8, true, false},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "41", PTX_LDMATRIX, 4, 0, false, false},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "41", PTX_LDMATRIX, 4, 0, false, true},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16", "21", PTX_LDMATRIX, 2, 0, false, false},
    {"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", "21", PTX_LDMATRIX, 2, 0, false, true},
    {"cp.async.cg.shared.global", "1111", PTX_COPY, 0, 0, false, false},
    {"cp.async.commit_group", "", PTX_COPY_COMMIT, 0, 0, false, false},
    {"cp.async.wait_group", "1", PTX_COPY_WAIT, 0, 0, false, false},
    {"atom.global.add.f32", "111", PTX_ATOMIC_ADD, 1, 0, false, false},
};

static const char *const specials[PTX_SPECIALS] = {"tid.x",   "tid.y",    "tid.z",    "ntid.x",
                                                   "ntid.y",  "ntid.z",   "ctaid.x",  "ctaid.y",
                                                   "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z"};

/* A register that holds the constant from the start. */
static int constant(struct ptx_reader *r, struct ptx_constant c)
{
    struct ptx_kernel *k = r->kernel;
    for (int i = 0; i < k->constants; i++)
        if (k->constant[i].special == c.special && k->constant[i].value == c.value)
            return k->registers + i;
    k->constant = realloc(k->constant, (size_t)(k->constants + 1) * sizeof *k->constant);
    if (k->constant == NULL)
        abort();
    k->constant[k->constants] = c;
    return k->registers + k->constants++;
}

/* %r12, after the percent sign: its number, or -1. */
static int register_number(const struct ptx_reader *r, const char *word)
{
    size_t letters = strspn(word, "abcdefghijklmnopqrstuvwxyz");
    char *end;
    long number = strtol(word + letters, &end, 10);
    for (int i = 0; i < r->banks && end > word + letters && *end == '\0'; i++)
        if (strlen(r->bank[i].prefix) == letters &&
            strncmp(r->bank[i].prefix, word, letters) == 0 && number >= 0 &&
            number < r->bank[i].count)
            return r->bank[i].first + (int)number;
    return -1;
}

/* %r12, %tid.x, after the percent sign. */
static bool register_operand(struct ptx_reader *r, const char *word, struct ptx_operand *o)
{
    *o = (struct ptx_operand){.reg = register_number(r, word)};
    for (int i = 0; i < PTX_SPECIALS && o->reg < 0; i++)
        if (strcmp(word, specials[i]) == 0)
            o->reg = constant(r, (struct ptx_constant){true, i});
    return o->reg >= 0;
}

/* 12, -3, 0x1F, 0f3F800000. */
static bool immediate(const char *word, int64_t *value)
{
    char *end;
    if (strncmp(word, "0f", 2) == 0 || strncmp(word, "0F", 2) == 0)
        *value = (int64_t)strtoul(word + 2, &end, 16);
    else
        *value = strtoll(word, &end, 0);
    return end != word && *end == '\0';
}

/* NAME_param_2 of this entry; or the start of dynamic shared memory, address 0 of its space. */
static bool symbol(const struct ptx_reader *r, const char *word, int64_t *value)
{
    const struct ptx_kernel *k = r->kernel;
    size_t length = strlen(k->name);
    char *end;
    *value = 0;
    if (strcmp(word, "shared") == 0)
        return true;
    if (strncmp(word, k->name, length) != 0 || strncmp(word + length, "_param_", 7) != 0)
        return false;
    long number = strtol(word + length + 7, &end, 10);
    if (*end != '\0' || number < 0 || number >= k->params)
        return false;
    *value = (int64_t)k->param_at[number];
    return true;
}

/* [%rd1+16], [NAME_param_0], between the brackets. */
static bool address(struct ptx_reader *r, char *word, struct ptx_operand *o)
{
    char *plus = strchr(word, '+');
    int64_t offset = 0, start = 0;
    if (plus != NULL) {
        *plus = '\0';
        if (!immediate(plus + 1, &offset))
            return false;
    }
    *o = (struct ptx_operand){.address = true, .offset = offset};
    if (word[0] == '%')
        o->reg = register_number(r, word + 1);
    else
        o->reg = symbol(r, word, &start) ? constant(r, (struct ptx_constant){false, start}) : -1;
    return o->reg >= 0;
}

static bool operand(struct ptx_reader *r, char *word, struct ptx_operand *o)
{
    size_t length = strlen(word);
    int64_t value;
    if (word[0] == '[' && length > 2 && word[length - 1] == ']') {
        word[length - 1] = '\0';
        return address(r, word + 1, o);
    }
    if (word[0] == '%' && register_operand(r, word + 1, o))
        return true;
    if (!immediate(word, &value) && !symbol(r, word, &value))
        return false;
    *o = (struct ptx_operand){.reg = constant(r, (struct ptx_constant){false, value})};
    return true;
}

/* Operands, vectors {..} and pairs p|q taken apart; shape: as in rows. */
static bool operands(struct ptx_reader *r, char *text, struct ptx_instruction *i, char *shape)
{
    bool joined = false; /* to the operand before: inside braces, or after a bar */
    int braces = 0, count = 0;
    for (char *at = text; *at != '\0';) {
        size_t length = strcspn(at, " \t,{}|");
        if (length == 0) {
            braces += *at == '{' ? 1 : *at == '}' ? -1 : 0;
            joined = *at == '|' || (joined && braces > 0);
            at++;
            continue;
        }
        char word[160];
        if (i->operands == PTX_OPERANDS || length >= sizeof word)
            return ptx_refuse(r, "more or longer operands than are known here", at);
        memcpy(word, at, length);
        word[length] = '\0';
        if (!operand(r, word, &i->operand[i->operands++]))
            return ptx_refuse(r, "this operand is not known here", at);
        count = joined ? count : count + 1;
        shape[count - 1] = joined ? (char)(shape[count - 1] + 1) : '1';
        joined = braces > 0;
        at += length;
    }
    return braces == 0 || ptx_refuse(r, "a brace is missing", text);
}

/* ld.global.v2.f32: space, elements, type; "21" or, of a store, "12". */
static bool memory_opcode(const char *name, const char *shape, struct ptx_instruction *i)
{
    static const char *const spaces[] = {
        [PTX_GLOBAL] = "global", [PTX_SHARED] = "shared", [PTX_PARAM] = "param"};
    char text[48], *rest = NULL, elements = '1';
    int bits = 0;
    bool known = false;
    if (strlen(name) >= sizeof text)
        return false;
    strcpy(text, name);
    char *word = strtok_r(text, ".", &rest);
    i->kind = strcmp(word, "ld") == 0 ? PTX_LOAD : PTX_STORE;
    i->name = i->kind == PTX_LOAD ? "ld" : "st";
    if (strcmp(word, i->name) != 0)
        return false;
    while ((word = strtok_r(NULL, ".", &rest)) != NULL) {
        bool space = false;
        for (int s = 0; s < 3; s++)
            if (strcmp(word, spaces[s]) == 0) {
                i->space = (enum ptx_space)s;
                space = known = true;
            }
        if (strcmp(word, "v2") == 0 || strcmp(word, "v4") == 0)
            elements = word[1];
        else if (strchr("ubf", word[0]) != NULL)
            bits = atoi(word + 1);
        else if (!space)
            return false;
    }
    char wanted[3] = {elements, '1', '\0'}, stored[3] = {'1', elements, '\0'};
    i->bytes = bits / 8;
    i->results = i->kind == PTX_LOAD ? elements - '0' : 0;
    return known && (bits == 8 || bits == 16 || bits == 32 || bits == 64) &&
           strcmp(shape, i->kind == PTX_LOAD ? wanted : stored) == 0;
}

static bool opcode(const struct ptx_reader *r, const char *name, const char *shape,
                   struct ptx_instruction *i)
{
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
        if (strcmp(rows[n].name, name) == 0 && strcmp(rows[n].shape, shape) == 0) {
            i->kind = rows[n].kind;
            i->name = rows[n].name;
            i->results = rows[n].results;
            i->deep = rows[n].deep;
            i->half = rows[n].half;
            i->transposed = rows[n].transposed;
            return true;
        }
    i->results = 1;
    i->function = ptx_pure(name, shape, &i->name);
    return i->function != NULL || memory_opcode(name, shape, i) ||
           ptx_refuse(r, "this instruction is not known here", name);
}

/* What is written is a register; what is read in its place is one or a number. */
static bool well_formed(const struct ptx_reader *r, const struct ptx_instruction *i,
                        const char *text)
{
    for (int n = 0; n < i->results; n++)
        if (i->operand[n].reg >= r->kernel->registers || i->operand[n].address)
            return ptx_refuse(r, "the result is no register", text);
    int at = i->kind == PTX_LOAD         ? i->results
             : i->kind == PTX_STORE      ? 0
             : i->kind == PTX_LDMATRIX   ? i->results
             : i->kind == PTX_ATOMIC_ADD ? 1
                                         : -1;
    for (int n = i->results; n < i->operands && i->kind != PTX_COPY; n++)
        if (i->operand[n].address != (n == at))
            return ptx_refuse(r, "an address stands where none belongs, or is missing", text);
    return i->kind != PTX_COPY || (i->operand[0].address && i->operand[1].address) ||
           ptx_refuse(r, "cp.async copies between two addresses", text);
}

static bool guard(const struct ptx_reader *r, const char *word, struct ptx_instruction *i)
{
    i->guard_negated = word[1] == '!';
    const char *name = word + 1 + i->guard_negated;
    i->guard = name[0] == '%' ? register_number(r, name + 1) : -1;
    return i->guard >= 0 || ptx_refuse(r, "this guard is not known here", word);
}

static struct ptx_instruction *appended(struct ptx_reader *r)
{
    struct ptx_kernel *k = r->kernel;
    if (k->count == r->code_room) {
        r->code_room = r->code_room == 0 ? 256 : 2 * r->code_room;
        k->code = realloc(k->code, (size_t)r->code_room * sizeof *k->code);
        if (k->code == NULL)
            abort();
    }
    return &k->code[k->count++];
}

bool ptx_instruction(struct ptx_reader *r, const char *text)
{
    char room[1024], *rest = NULL, shape[PTX_OPERANDS + 1] = "";
    struct ptx_instruction i = {.kind = PTX_PURE, .line = r->line, .guard = -1};
    strncpy(room, text, sizeof room - 1);
    room[sizeof room - 1] = '\0';
    char *word = strtok_r(room, " \t", &rest);
    if (word[0] == '@') {
        if (!guard(r, word, &i))
            return false;
        word = strtok_r(NULL, " \t", &rest);
        if (word == NULL)
            return ptx_refuse(r, "a guard of nothing", text);
    }
    if (strcmp(word, "bra") == 0 || strcmp(word, "bra.uni") == 0) {
        i.kind = PTX_BRANCH;
        i.name = "bra";
        const char *label = rest + strspn(rest, " \t");
        i.target = ptx_label(r, label, strlen(label));
    } else if (!operands(r, rest, &i, shape) || !opcode(r, word, shape, &i) ||
               !well_formed(r, &i, text)) {
        return false;
    }
    *appended(r) = i;
    return true;
}
