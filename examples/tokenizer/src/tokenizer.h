/* A JSON tokenizer: walks over a text and names its tokens, without copying anything. */
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include <stddef.h>

enum token_kind {
    TOKEN_PUNCTUATION,
    TOKEN_STRING,
    TOKEN_NUMBER,
    TOKEN_WORD, /* true, false, null */
    TOKEN_END,
    TOKEN_ERROR,
    TOKEN_KINDS
};

struct token {
    enum token_kind kind;
    const char *start;
    size_t length;
};

struct tokenizer {
    const char *next; /* first byte not yet read */
    const char *end;  /* holds a NUL */
};

/* The text must stay alive and be followed by a NUL byte. */
void tokenizer_init(struct tokenizer *tokenizer, const char *text, size_t length);

struct token tokenizer_next(struct tokenizer *tokenizer);

/* Counts the tokens of a text by kind; returns 0, or -1 at the first byte that begins no token. */
int count_tokens(const char *text, size_t length, size_t counts[TOKEN_KINDS]);

#endif
