/* tokenize FILE: prints how many tokens of each kind a JSON file holds. */
#include <stdio.h>
#include <stdlib.h>

#include "text.h"
#include "tokenizer.h"

int main(int argc, char **argv)
{
    size_t counts[TOKEN_KINDS];
    size_t length;
    char *text;
    int status;

    if (argc != 2) {
        fprintf(stderr, "usage: tokenize FILE\n");
        return 2;
    }
    text = read_text(argv[1], &length);
    if (text == NULL) {
        perror(argv[1]);
        return 1;
    }
    status = count_tokens(text, length, counts);
    printf("punctuation %zu\nstrings %zu\nnumbers %zu\nwords %zu\n", counts[TOKEN_PUNCTUATION], counts[TOKEN_STRING],
           counts[TOKEN_NUMBER], counts[TOKEN_WORD]);
    free(text);
    return status == 0 ? 0 : 1;
}
