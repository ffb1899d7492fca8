"""Functions of one number: the table of `spec.meanings.elementwise` and of `rounding`."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_FUNCTIONS = """
    exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal square neg positive abs sin cos tan sinh cosh tanh
    asin acos atan asinh acosh atanh erf erfc erfinv sigmoid lgamma sinc deg2rad rad2deg
    special.ndtr special.log_ndtr special.erfcx special.entr
    floor ceil trunc sign frac round
"""

THEOREMS = [Theorem(name, {"input": "n m"}) for name in _FUNCTIONS.split()]
THEOREMS += [Theorem("conj", {"input": "complex: n"}, "the adjoint of the conjugate is the conjugate")]
THEOREMS += [Theorem(name, {"input": "complex: n"}) for name in ("real", "imag")]
THEOREMS += [Theorem("complex", {"real": "n m", "imag": "m"})]
