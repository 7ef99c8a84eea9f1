#ifndef CDURABLE_SHA256_H
#define CDURABLE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A SHA-256 that has begun. A plain value: a copy goes on by itself.
typedef struct {
  uint32_t state[8];
  uint64_t length;
  /// The bytes behind the last whole block.
  uint8_t rest[64];
  bool is_by_processor;
} durable_sha256;

/// With the instructions for it that most processors have, if this one has them and the caller wants them.
durable_sha256 durable_sha256_begin(bool wants_processor);
void durable_sha256_update(durable_sha256 *hash, const void *bytes, size_t count);
/// Of all that came so far, as 32 bytes. Nothing may come after it.
void durable_sha256_end(durable_sha256 *hash, uint8_t *digest);

#endif
