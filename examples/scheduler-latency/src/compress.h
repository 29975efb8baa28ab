/* A small compressor (LZ77 with one hash table), so that the example needs no library. */
#ifndef COMPRESS_H
#define COMPRESS_H

#include <stddef.h>
#include <stdint.h>

/* Fills size bytes with text-like data that can be compressed, the same for the same seed. */
void fill(unsigned char *data, size_t size, uint64_t seed);

/* Compresses data and returns how many bytes the result would have; nothing is written. */
size_t compress(const unsigned char *data, size_t size);

#endif
