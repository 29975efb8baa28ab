#include "tokenizer.h"

#include <string.h>

static int is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static int is_number_part(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static int is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static struct token make_token(enum token_kind kind, const char *start, const char *end)
{
    struct token token = {kind, start, (size_t)(end - start)};
    return token;
}

static struct token read_string(struct tokenizer *tokenizer)
{
    const char *start = tokenizer->next;
    const char *at = start + 1;

    while (at < tokenizer->end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    if (at >= tokenizer->end)
        return make_token(TOKEN_ERROR, start, tokenizer->end);
    tokenizer->next = at + 1;
    return make_token(TOKEN_STRING, start, tokenizer->next);
}

static struct token read_number(struct tokenizer *tokenizer)
{
    const char *start = tokenizer->next;

    while (is_number_part(*tokenizer->next))
        tokenizer->next++;
    return make_token(TOKEN_NUMBER, start, tokenizer->next);
}

static struct token read_word(struct tokenizer *tokenizer)
{
    const char *start = tokenizer->next;

    while (is_letter(*tokenizer->next))
        tokenizer->next++;
    return make_token(TOKEN_WORD, start, tokenizer->next);
}

void tokenizer_init(struct tokenizer *tokenizer, const char *text, size_t length)
{
    tokenizer->next = text;
    tokenizer->end = text + length;
}

struct token tokenizer_next(struct tokenizer *tokenizer)
{
    char c;

    while (is_space(*tokenizer->next))
        tokenizer->next++;
    if (tokenizer->next >= tokenizer->end)
        return make_token(TOKEN_END, tokenizer->end, tokenizer->end);

    c = *tokenizer->next;
    if (c == '"')
        return read_string(tokenizer);
    if (c == '-' || (c >= '0' && c <= '9'))
        return read_number(tokenizer);
    if (is_letter(c))
        return read_word(tokenizer);
    if (memchr("{}[]:,", c, 6) != NULL) {
        tokenizer->next++;
        return make_token(TOKEN_PUNCTUATION, tokenizer->next - 1, tokenizer->next);
    }
    return make_token(TOKEN_ERROR, tokenizer->next, tokenizer->next + 1);
}

int count_tokens(const char *text, size_t length, size_t counts[TOKEN_KINDS])
{
    struct tokenizer tokenizer;
    struct token token;

    memset(counts, 0, TOKEN_KINDS * sizeof counts[0]);
    tokenizer_init(&tokenizer, text, length);
    do {
        token = tokenizer_next(&tokenizer);
        counts[token.kind]++;
    } while (token.kind != TOKEN_END && token.kind != TOKEN_ERROR);
    return token.kind == TOKEN_END ? 0 : -1;
}
