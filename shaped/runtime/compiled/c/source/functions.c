/* Functions of one element, float and double, that compilers can apply to vectors where they have no branches.

   Those of float that have an exponential compute in double, and round once: within one unit in the last place. */

static inline double exp_of_float(double x)
{
    /* exp(x) = 2^n exp(r) with |r| <= ln(2) / 2; the terms of exp(r) that are left out are below 2^-32 of it. */
    x = x < -150 ? -150 : x > 150 ? 150 : x;
    const double shifted = x * 0x1.71547652b82fep+0 + 0x1.8p52; /* its last bits are n */
    const double n = shifted - 0x1.8p52;
    const double r = x - n * 0x1.62e42fefa39efp-1;
    int64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    const double high = 1.0 / 720 + r * (1.0 / 5040 + r * (1.0 / 40320));
    const double low = 0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * high)));
    return power * (1 + r * (1 + r * low));
}

static inline double tanh_of_float(double x)
{
    const double power = exp_of_float(2 * x);
    return fabs(x) < 1e-4 ? x : (power - 1) / (power + 1);
}

static inline float exp_float(float x) { return (float)exp_of_float(x); }
static inline double exp_double(double x) { return exp(x); }
static inline float tanh_float(float x) { return (float)tanh_of_float(x); }
static inline double tanh_double(double x) { return tanh(x); }
static inline float sigmoid_float(float x) { return (float)(1 / (1 + exp_of_float(-(double)x))); }
static inline double sigmoid_double(double x) { return 1 / (1 + exp(-x)); }
static inline int64_t abs_int64_t(int64_t x) { return x < 0 ? -x : x; }
static inline int64_t sign_int64_t(int64_t x) { return (x > 0) - (x < 0); }
static inline int64_t larger_int64_t(int64_t x, int64_t y) { return x > y ? x : y; }
static inline int64_t smaller_int64_t(int64_t x, int64_t y) { return x < y ? x : y; }

#define OF_MATH_H(T, NAME, WITH_SUFFIX) \
    static inline T NAME##_##T(T x) { return WITH_SUFFIX(x); }

#define FUNCTIONS(T, F)                                                                                      \
    OF_MATH_H(T, abs, fabs##F)                                                                               \
    OF_MATH_H(T, sqrt, sqrt##F)                                                                              \
    OF_MATH_H(T, floor, floor##F)                                                                            \
    OF_MATH_H(T, ceil, ceil##F)                                                                              \
    OF_MATH_H(T, exp2, exp2##F)                                                                              \
    OF_MATH_H(T, expm1, expm1##F)                                                                            \
    OF_MATH_H(T, log, log##F)                                                                                \
    OF_MATH_H(T, log2, log2##F)                                                                              \
    OF_MATH_H(T, log1p, log1p##F)                                                                            \
    OF_MATH_H(T, sin, sin##F)                                                                                \
    OF_MATH_H(T, cos, cos##F)                                                                                \
    OF_MATH_H(T, erf, erf##F)                                                                                \
    static inline T pow_##T(T x, T y) { return pow##F(x, y); }                                               \
    static inline T sign_##T(T x) { return (T)((x > 0) - (x < 0)); }                                         \
    /* NaN if either is: a comparison with NaN is false. */                                                  \
    static inline T larger_##T(T x, T y) { return x > y || x != x ? x : y; }                                 \
    static inline T smaller_##T(T x, T y) { return x < y || x != x ? x : y; }                                \
    static inline T lerp_##T(T x, T y, T weight)                                                             \
    {                                                                                                        \
        return fabs##F(weight) < (T)0.5 ? x + weight * (y - x) : y - (y - x) * (1 - weight);                 \
    }                                                                                                        \
    static inline T silu_slope_##T(T x)                                                                      \
    {                                                                                                        \
        const T sigmoid = sigmoid_##T(x);                                                                    \
        return sigmoid * (1 + x * (1 - sigmoid));                                                            \
    }                                                                                                        \
    static inline T gelu_##T(T x) { return (T)0.5 * x * (1 + erf##F(x * (T)0x1.6a09e667f3bcdp-1)); }         \
    static inline T gelu_slope_##T(T x)                                                                      \
    {                                                                                                        \
        const T cumulative = (T)0.5 * (1 + erf##F(x * (T)0x1.6a09e667f3bcdp-1)); /* 1 / sqrt(2) */           \
        const T density = exp_##T((T)-0.5 * x * x) * (T)0x1.9884533d43651p-2;    /* 1 / sqrt(2 pi) */        \
        return cumulative + x * density;                                                                     \
    }                                                                                                        \
    static inline T gelu_inner_##T(T x) /* sqrt(2 / pi) (x + 0.044715 x^3) */                                \
    {                                                                                                        \
        return (T)0x1.9884533d43651p-1 * (x + (T)0.044715 * (x * x * x));                                    \
    }                                                                                                        \
    static inline T gelu_tanh_##T(T x) { return (T)0.5 * x * (1 + tanh_##T(gelu_inner_##T(x))); }            \
    static inline T gelu_tanh_slope_##T(T x)                                                                 \
    {                                                                                                        \
        const T curve = tanh_##T(gelu_inner_##T(x));                                                         \
        const T inner_slope = (T)0x1.9884533d43651p-1 * (1 + 3 * (T)0.044715 * (x * x));                     \
        return (T)0.5 * (1 + curve) + (T)0.5 * x * (1 - curve * curve) * inner_slope;                        \
    }                                                                                                        \
    static inline T smooth_l1_##T(T x, T beta)                                                               \
    {                                                                                                        \
        const T size = fabs##F(x);                                                                           \
        return size < beta ? (T)0.5 * size * size / beta : size - (T)0.5 * beta;                             \
    }                                                                                                        \
    static inline T smooth_l1_slope_##T(T x, T beta)                                                         \
    {                                                                                                        \
        return x <= -beta ? -1 : x >= beta ? 1 : x / beta;                                                   \
    }                                                                                                        \
    static inline T huber_##T(T x, T delta)                                                                  \
    {                                                                                                        \
        const T size = fabs##F(x);                                                                           \
        return size <= delta ? (T)0.5 * size * size : delta * (size - (T)0.5 * delta);                       \
    }                                                                                                        \
    static inline T huber_slope_##T(T x, T delta) { return x <= -delta ? -delta : x >= delta ? delta : x; }

FUNCTIONS(float, f)
FUNCTIONS(double, )
