/* Float32 elements of the uniform and normal schemes, the same bits as `shaped.init.sampling`.

   A uniform element is two roundings of float64 and one to float32, done here as the specification says.

   A normal element has correctly rounded `ln` and `cos` in the specification. Here both are polynomials, so that loops
   become vector instructions, and a float64 is known to within ERROR. An element is certain if both ends of what it may
   be round to the same float32; the few others, one in millions, are listed for the caller to compute.

   Everything rounds to nearest, and no product is fused with a sum but where `multiply_add` says so. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD != 0
#error "float64 is computed with more digits than it has, which rounds twice"
#endif

/* Elements are done in blocks of this many; a block is done again, with care, if one of it is not certain. */
enum { BLOCK = 1024 };
/* How u1 is made of the stream, as `shaped.init.schemes.Normal` says; numbered as in `shaped.init.kernel`. */
enum { MIXED, CLAMPED, UNMIXED };
enum { FLOODED = -1 };

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE uint32_t bits_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE double with_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The low 32 bits of `x`, as the float64 u = bits/2^32 in [0, 1): they are laid into the last digits of 2^20. */
INLINE double low_bits_as_fraction(uint64_t x) {
    return with_bits((x & 0xffffffff) | 0x4130000000000000) - 0x1p20;
}

/* a*b + c, rounded once where that is as fast: only for what ERROR covers. */
INLINE double multiply_add(double a, double b, double c) {
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* The mixed bits of position `x` of a stream whose key was added: `shaped.init.splitmix64.splitmix64`. */
INLINE uint64_t splitmix64(uint64_t x) {
    uint64_t z = x + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* -2 ln u for 2^-33 <= u < 1, with a relative error below 2^-49.

   u = m*2^e with m in [sqrt(1/2), sqrt(2)), so that e is 0 next to 1, where nothing cancels. With s = (1 - m)/(1 + m),
   |s| < 0.1716: -2 ln m = 4 atanh(s) = 4s + 4s^3/3 + 4s^5/5 + ...; what follows s^17 is below 2^-50 of it. 2 ln 2 is
   HIGH + LOW, and e*HIGH is exact. */
INLINE double minus_two_log(double u) {
    const double HIGH = 0x1.62e42feep0, LOW = 0x1.a39ef35793c76p-32;
    const uint64_t SQRT_HALF = 0x3fe6a09e667f3bcd, DIGITS = 0x000fffffffffffff;
    uint64_t above = bits_of(u) - SQRT_HALF + ((uint64_t)64 << 52); /* 64 + e, then the digits of m above sqrt(1/2) */
    double m = with_bits((above & DIGITS) + SQRT_HALF);
    double minus_e = 0x1p52 + 64 - with_bits((above >> 52) | 0x4330000000000000);
    double s = (1 - m) / (1 + m);
    double z = s * s;
    double series = 4.0 / 17;
    series = multiply_add(series, z, 4.0 / 15);
    series = multiply_add(series, z, 4.0 / 13);
    series = multiply_add(series, z, 4.0 / 11);
    series = multiply_add(series, z, 4.0 / 9);
    series = multiply_add(series, z, 4.0 / 7);
    series = multiply_add(series, z, 4.0 / 5);
    series = multiply_add(series, z, 4.0 / 3);
    double minus_two_log_m = multiply_add(s * z, series, 4 * s);
    return multiply_add(minus_e, HIGH, multiply_add(minus_e, LOW, minus_two_log_m));
}

/* cos y, y = fl(6.283185307179586*u) and u in [0, 1) a multiple of 2^-32, with a relative error below 2^-50.

   cos y = sin t, t = |y - pi| - pi/2, so that next to a zero of cos the argument is small. pi/2 is QUARTER + LOW, and
   6.283185307179586 is 4*QUARTER. QUARTER has 50 digits, so that next to a zero of cos the differences are exact, and
   the last sum is rounded once. What follows t^19 is below 2^-51 of sin t, for |t| <= pi/2. */
INLINE double cosine_of_turns(double u) {
    const double QUARTER = 0x1.921fb54442d18p0, LOW = 0x1.1a62633145c07p-54;
    double past_half = 4 * QUARTER * u - 2 * QUARTER;
    double t = (fabs(past_half) - QUARTER) + (past_half < 0 ? LOW : -3 * LOW);
    double z = t * t;
    double series = -1 / 121645100408832000.0;
    series = multiply_add(series, z, 1 / 355687428096000.0);
    series = multiply_add(series, z, -1 / 1307674368000.0);
    series = multiply_add(series, z, 1 / 6227020800.0);
    series = multiply_add(series, z, -1 / 39916800.0);
    series = multiply_add(series, z, 1 / 362880.0);
    series = multiply_add(series, z, -1 / 5040.0);
    series = multiply_add(series, z, 1 / 120.0);
    series = multiply_add(series, z, -1 / 6.0);
    return multiply_add(t * z, series, t);
}

/* How far std*sqrt(-2 ln u1)*cos(y) may be from what the specification has, as a part of it.

   Here: -2 ln 2^-49, which the square root halves; cos 2^-50; the square root and two products 2^-53 each: together below
   2^-48.7. The specification: ln and cos, the square root and two products 2^-53 each: below 2^-50.8. More than twice
   their sum is taken. */
static const double ERROR = 0x1p-47;

typedef struct {
    float inner, outer; /* next to the mean, and away from it */
} Interval;

/* What the element at position `i` may be. Rounding keeps order, so that what lies between the two products, lies
   between the two results, whatever the mean is. */
INLINE Interval normal_element(int mode, uint64_t key, uint64_t i, double mean, double std) {
    uint64_t position = 2 * i;
    uint64_t first = mode == UNMIXED ? splitmix64(key) + position : splitmix64(key + position);
    uint64_t second = splitmix64(key + position + 1);
    double u1;
    if (mode == CLAMPED) {
        double u = low_bits_as_fraction(first);
        u1 = u > 1e-6 ? u : 1e-6;
    } else {
        /* (bits + 1)/(2^32 + 1) = x - x/(2^32 + 1), x = (bits + 1)/2^32: the same float64 for all 2^32 of them. */
        double x = low_bits_as_fraction(first) + 0x1p-32;
        u1 = x - x * (1 / 4294967297.0);
    }
    double product = std * sqrt(minus_two_log(u1)) * cosine_of_turns(low_bits_as_fraction(second));
    return (Interval){(float)multiply_add(product, 1 - ERROR, mean), (float)multiply_add(product, 1 + ERROR, mean)};
}

/* Nonzero if the ends are not the same float32: zeros of different sign are not. */
INLINE uint32_t uncertain(Interval ends) { return bits_of_float(ends.inner) ^ bits_of_float(ends.outer); }

INLINE int64_t normal_blocks(int mode, float *out, int64_t count, uint64_t key, uint64_t offset, double mean, double std,
                             int64_t *found, int64_t capacity) {
    int64_t length = 0;
    for (int64_t start = 0; start < count; start += BLOCK) {
        int64_t size = count - start < BLOCK ? count - start : BLOCK;
        uint32_t any = 0;
        for (int64_t j = 0; j < size; j++) {
            Interval ends = normal_element(mode, key, offset + (uint64_t)(start + j), mean, std);
            out[start + j] = ends.inner;
            any |= uncertain(ends);
        }
        if (!any) {
            continue;
        }
        for (int64_t j = 0; j < size; j++) {
            Interval ends = normal_element(mode, key, offset + (uint64_t)(start + j), mean, std);
            out[start + j] = ends.inner;
            if (uncertain(ends)) {
                if (length == capacity) {
                    return FLOODED;
                }
                found[length++] = start + j;
            }
        }
    }
    return length;
}

static __attribute__((noinline)) int64_t normal_of_mode(int mode, float *out, int64_t count, uint64_t key,
                                                        uint64_t offset, double mean, double std, int64_t *found,
                                                        int64_t capacity) {
    switch (mode) {
    case MIXED:
        return normal_blocks(MIXED, out, count, key, offset, mean, std, found, capacity);
    case CLAMPED:
        return normal_blocks(CLAMPED, out, count, key, offset, mean, std, found, capacity);
    default:
        return normal_blocks(UNMIXED, out, count, key, offset, mean, std, found, capacity);
    }
}

static __attribute__((noinline)) void uniform_loop(float *out, int64_t count, uint64_t key, uint64_t offset, double low,
                                                   double width) {
    for (int64_t j = 0; j < count; j++) {
        double u = low_bits_as_fraction(splitmix64(key + offset + (uint64_t)j));
        double scaled = u * width;
        out[j] = (float)(low + scaled);
    }
}

/* The caller's thread may round otherwise or flush small numbers to zero (torch.set_flush_denormal): the exported
   functions set that aside while they work. */

/* out[j] = low + u*width for the positions offset + j of the stream, j < count. `key` is splitmix64 of the seed. */
void fill_uniform(float *out, int64_t count, uint64_t key, uint64_t offset, double low, double width) {
    fenv_t callers;
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    uniform_loop(out, count, key, offset, low, width);
    fesetenv(&callers);
}

/* The same for normal elements. Returns how many j are not certain, listed in `found`; FLOODED if there are more than
   `capacity`. */
int64_t fill_normal(int mode, float *out, int64_t count, uint64_t key, uint64_t offset, double mean, double std,
                    int64_t *found, int64_t capacity) {
    fenv_t callers;
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    int64_t length = normal_of_mode(mode, out, count, key, offset, mean, std, found, capacity);
    fesetenv(&callers);
    return length;
}
