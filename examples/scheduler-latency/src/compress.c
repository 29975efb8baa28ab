#include "compress.h"

#include <string.h>

enum { TABLE = 1 << 12, LEAST = 4, LONGEST = 255 };

void fill(unsigned char *data, size_t size, uint64_t seed) {
    static const char *const words[] = {"scheduler ", "latency ", "client ", "wakes ", "pipe ", "the ", "of ", "queue "};
    size_t at = 0;
    while (at < size) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const char *word = words[seed >> 61];
        size_t length = strlen(word);
        if (length > size - at) length = size - at;
        memcpy(data + at, word, length);
        at += length;
        if (at < size && seed >> 40 & 1) data[at++] = (unsigned char)(seed >> 32);
    }
}

static uint32_t hash(const unsigned char *at) {
    uint32_t four;
    memcpy(&four, at, sizeof four);
    return four * 2654435761u >> 20 & (TABLE - 1);
}

size_t compress(const unsigned char *data, size_t size) {
    size_t seen[TABLE];
    memset(seen, 0xff, sizeof seen);
    size_t written = 0;
    for (size_t at = 0; at < size;) {
        size_t length = 0;
        if (size - at > LEAST) {
            uint32_t key = hash(data + at);
            size_t before = seen[key];
            seen[key] = at;
            if (before != (size_t)-1)
                while (length < LONGEST && at + length < size && data[before + length] == data[at + length]) length++;
        }
        at += length >= LEAST ? length : 1;
        written += length >= LEAST ? 3 : 1;
    }
    return written;
}
