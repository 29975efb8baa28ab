/* A whole file in memory. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/* Returns the contents with a NUL byte after them, or NULL with errno set; the caller frees it. */
char *read_text(const char *path, size_t *length);

#endif
