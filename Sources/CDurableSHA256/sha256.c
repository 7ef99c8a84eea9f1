// SHA-256 (FIPS 180-4) where the system has none to offer.
//
// In place of swift-crypto, which compiles a second copy of BoringSSL for this one function, beside that of swift-nio-ssl:
// a fifth of what a fresh clone compiles. docs/decisions.md has the numbers. In C, because the processor's instructions for
// it are at hand there, in a debug build too.

#include "CDurableSHA256.h"

#ifndef __APPLE__  // CryptoKit is in the system

#include <string.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

// MARK: By any processor

static uint32_t turned(uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

static void compress(uint32_t state[8], const uint8_t *block, size_t count) {
  for (; count > 0; count--, block += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++) {
      const uint8_t *bytes = block + 4 * i;
      w[i] = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    }
    for (int i = 16; i < 64; i++) {
      uint32_t early = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
      uint32_t late = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + early + w[i - 7] + late;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
      uint32_t chosen = (e & f) ^ (~e & g);
      uint32_t first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + constants[i] + w[i];
      uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
      uint32_t second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority;
      h = g, g = f, f = e, e = d + first;
      d = c, c = b, b = a, a = first + second;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
  }
}

// MARK: By a processor that knows SHA-256: four to six times as fast

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

__attribute__((target("sha,sse4.1,ssse3"))) static void compress_by_processor(
    uint32_t state[8], const uint8_t *block, size_t count) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  // Its instructions want the words of the state in this order, the highest first: abef and cdgh.
  __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
  __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8(abcd, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, abcd, 0xf0);
  for (; count > 0; count--, block += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; i++) {
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), big_endian);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++) {
      __m128i now = w[i % 4], last = w[(i + 3) % 4];
      __m128i sum = _mm_add_epi32(now, _mm_loadu_si128((const __m128i *)(constants + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      __m128i next = _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) % 4]), _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
      w[i % 4] = _mm_sha256msg2_epu32(next, last);  // the last four times for nothing
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static bool ask_processor(void) {
  unsigned a, b, c, d, sse;
  if (!__get_cpuid(1, &a, &b, &sse, &d) || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return (sse & bit_SSSE3) && (sse & bit_SSE4_1) && (b & 1u << 29);
}

#elif defined(__aarch64__) && defined(__linux__)
#include <arm_neon.h>
#include <sys/auxv.h>

__attribute__((target("sha2"))) static void compress_by_processor(
    uint32_t state[8], const uint8_t *block, size_t count) {
  uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
  for (; count > 0; count--, block += 64) {
    const uint32x4_t abcd_before = abcd, efgh_before = efgh;
    uint32x4_t w[4];
    for (int i = 0; i < 4; i++) w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(block + 16 * i)));
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++) {
      uint32x4_t sum = vaddq_u32(w[i % 4], vld1q_u32(constants + 4 * i)), abcd_now = abcd;
      abcd = vsha256hq_u32(abcd, efgh, sum);
      efgh = vsha256h2q_u32(efgh, abcd_now, sum);
      uint32x4_t next = vsha256su0q_u32(w[i % 4], w[(i + 1) % 4]);
      w[i % 4] = vsha256su1q_u32(next, w[(i + 2) % 4], w[(i + 3) % 4]);  // the last four times for nothing
    }
    abcd = vaddq_u32(abcd, abcd_before);
    efgh = vaddq_u32(efgh, efgh_before);
  }
  vst1q_u32(state, abcd);
  vst1q_u32(state + 4, efgh);
}

static bool ask_processor(void) { return getauxval(AT_HWCAP) & 1ul << 6; }

#else
#define compress_by_processor compress
static bool ask_processor(void) { return false; }
#endif

// MARK: Whatever computes it

static bool processor_knows_sha256(void) {
  // Asking takes a while. Threads that ask at once hear the same.
  static _Atomic(int) answer;
  if (answer == 0) answer = ask_processor() ? 1 : -1;
  return answer > 0;
}

durable_sha256 durable_sha256_begin(bool wants_processor) {
  return (durable_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                                    0x1f83d9ab, 0x5be0cd19},
                          .is_by_processor = wants_processor && processor_knows_sha256()};
}

static void take(durable_sha256 *hash, const uint8_t *blocks, size_t count) {
  (hash->is_by_processor ? compress_by_processor : compress)(hash->state, blocks, count);
}

void durable_sha256_update(durable_sha256 *hash, const void *bytes, size_t count) {
  if (count == 0) return;
  const uint8_t *next = bytes;
  size_t kept = hash->length % 64;
  hash->length += count;
  if (kept + count >= 64 && kept > 0) {
    memcpy(hash->rest + kept, next, 64 - kept);
    take(hash, hash->rest, 1);
    next += 64 - kept;
    count -= 64 - kept;
    kept = 0;
  }
  if (kept == 0 && count >= 64) {
    take(hash, next, count / 64);
    next += count / 64 * 64;
    count %= 64;
  }
  memcpy(hash->rest + kept, next, count);
}

void durable_sha256_end(durable_sha256 *hash, uint8_t *digest) {
  const uint64_t bits = hash->length * 8;
  const uint8_t padding[64] = {0x80};
  durable_sha256_update(hash, padding, 1 + (119 - hash->length % 64) % 64);
  uint8_t length[8];
  for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
  durable_sha256_update(hash, length, 8);
  for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

#endif
