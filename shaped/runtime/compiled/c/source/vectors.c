/* The widest vectors of the processor, and their fused multiply-add. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#define VECTOR_BYTES 64
#define ROWS 8 /* of a tile of a matrix product: two vectors a row, in 32 registers */
#define FMA_float(a, b, c) _mm512_fmadd_ps(a, b, c)
#define SUM_float(a) _mm512_reduce_add_ps(a)
#define FMA_double(a, b, c) _mm512_fmadd_pd(a, b, c)
#define SUM_double(a) _mm512_reduce_add_pd(a)
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define VECTOR_BYTES 32
#define ROWS 6 /* in 16 registers */
#define FMA_float(a, b, c) _mm256_fmadd_ps(a, b, c)
#define FMA_double(a, b, c) _mm256_fmadd_pd(a, b, c)
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define VECTOR_BYTES 16
#define ROWS 8
#define FMA_float(a, b, c) (vector_float) vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b))
#define FMA_double(a, b, c) (vector_double) vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b))
#else
#define VECTOR_BYTES 16
#define ROWS 6
#define FMA_float(a, b, c) ((a) * (b) + (c))
#define FMA_double(a, b, c) ((a) * (b) + (c))
#endif

typedef float vector_float __attribute__((vector_size(VECTOR_BYTES)));
typedef double vector_double __attribute__((vector_size(VECTOR_BYTES)));
