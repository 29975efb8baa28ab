/* bench FILE: tokenizes FILE. */
#include <stdio.h>

#include "text.h"
#include "tokenizer.h"

int main(int argc, char **argv)
{
    size_t counts[TOKEN_KINDS], length;
    char *text;

    if (argc != 2)
        return 2;
    text = read_text(argv[1], &length);
    if (text == NULL || count_tokens(text, length, counts) != 0)
        return 1;
    return printf("%zu\n", counts[TOKEN_STRING]) > 0 ? 0 : 1;
}
