"""Elementary functions of canonical forms; sigmoid, tanh, sinh and cosh are rational in exp."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from shaped.spec.canonical.assumptions import Undefined
from shaped.spec.canonical.atoms import (
    BaseAtom,
    CosineAtom,
    ExpAtom,
    FunctionAtom,
    InfinityAtom,
    PiAtom,
    PrimeAtom,
)
from shaped.spec.canonical.indicators import by_cases, positive
from shaped.spec.canonical.polynomials import Polynomial
from shaped.spec.canonical.powers import content_of, greatest_monomial, power, prime_powers
from shaped.spec.canonical.products import Factors, normalise
from shaped.spec.canonical.signs import Sign, sign_of, sign_of_power


def exp(argument: Polynomial) -> Polynomial:
    """The exponential, one factor a term; exp(c*log(u)) is u^c and exp of minus infinity is 0.

    Raises:
        Undefined: the exponential of infinity.
    """
    split = by_cases(argument, exp)
    if split is not None:
        return split
    context = argument.context
    result, factors = context.constant(1), Factors()
    infinite = [c for m, c in argument.terms.items() if any(isinstance(a, InfinityAtom) for a, _ in m)]
    if infinite:
        if len(infinite) == 1 and infinite[0] < 0:
            return context.constant(0)
        raise Undefined("exp of infinity")
    for monomial, c in argument.terms.items():
        if len(monomial) == 1 and monomial[0][1] == 1:
            atom = monomial[0][0]
            if isinstance(atom, FunctionAtom) and atom.function == "log":
                result = result * power(atom.argument, c)
                continue
        factors[context.atom(ExpAtom, monomial)] = c
    return result * normalise(context, 1, factors)


def log(argument: Polynomial) -> Polynomial:
    """The logarithm: one term for each factor that is certainly positive.

    Raises:
        Undefined: the logarithm of a number that is not positive.
    """
    split = by_cases(argument, log)
    if split is not None:
        return split
    context = argument.context
    if not argument.terms:
        raise Undefined("the logarithm of 0")
    single = argument.single
    if single is not None:
        monomial, c = single
        taken = {atom: e for atom, e in monomial if sign_of_power(atom, 1) is Sign.POSITIVE}
        left = {atom: e for atom, e in monomial if atom not in taken}
        number = c if c > 0 else -c
        rest = normalise(context, 1 if c > 0 else -1, left)
    else:
        number, taken, rest = content_of(argument, only_positive=True)
    constant = rest.constant
    if constant is not None and constant <= 0:
        raise Undefined("the logarithm of a number that is not positive")
    total = context.constant(0)
    for prime, k in prime_powers(number).items():
        total = total + context.power_of(context.atom(FunctionAtom, "log", context.constant(prime))).scaled(k)
    for atom, e in taken.items():
        if isinstance(atom, ExpAtom):
            part = Polynomial(context, {atom.argument: 1})
        elif isinstance(atom, BaseAtom):
            part = log(atom.base)
        elif isinstance(atom, PrimeAtom):
            part = log(context.constant(atom.prime))
        else:
            part = context.power_of(context.atom(FunctionAtom, "log", context.power_of(atom)))
        total = total + part.scaled(e)
    if constant == 1:
        return total
    if single is None and rest.single is not None:
        return total + log(rest)
    return total + context.power_of(context.atom(FunctionAtom, "log", rest))


def absolute(argument: Polynomial) -> Polynomial:
    """The absolute value, u*(2*[u > 0] - 1)."""
    sign = sign_of(argument)
    if sign is not None:
        return argument
    if sign_of(-argument) is not None:
        return -argument
    split = by_cases(argument, absolute)
    if split is not None:
        return split
    return argument * (positive(argument).scaled(2) - 1)


def sine(argument: Polynomial) -> Polynomial:
    """The sine."""
    return _odd("sin", argument)


def cosine(argument: Polynomial) -> Polynomial:
    """The cosine."""
    split = by_cases(argument, cosine)
    if split is not None:
        return split
    if not argument.terms:
        return argument.context.constant(1)
    if argument.terms[greatest_monomial(argument)] < 0:
        argument = -argument
    return argument.context.power_of(argument.context.atom(CosineAtom, argument))


def _odd(function: str, argument: Polynomial) -> Polynomial:
    """A function with f(-u) = -f(u)."""
    split = by_cases(argument, lambda case: _odd(function, case))
    if split is not None:
        return split
    if not argument.terms:
        return argument
    if argument.terms[greatest_monomial(argument)] < 0:
        return -_odd(function, -argument)
    return argument.context.power_of(argument.context.atom(FunctionAtom, function, argument))


def _opaque(function: str, argument: Polynomial) -> Polynomial:
    split = by_cases(argument, lambda case: _opaque(function, case))
    if split is not None:
        return split
    constant = argument.constant
    if constant is not None and function in ("floor", "round"):
        return argument.context.constant(floor(constant) if function == "floor" else round(constant))
    return argument.context.power_of(argument.context.atom(FunctionAtom, function, argument))


def apply(function: str, argument: Polynomial) -> Polynomial:
    """An elementary function of a form; sigmoid, tanh, sinh and cosh are rational in exp.

    Raises:
        Undefined: the argument is outside the function's domain.
    """
    context = argument.context
    match function:
        case "exp":
            return exp(argument)
        case "log":
            return log(argument)
        case "abs":
            return absolute(argument)
        case "sign":
            return positive(argument) - positive(-argument)
        case "sigmoid":
            return power(1 + exp(-argument), -1)
        case "tanh":
            return 1 - power(1 + exp(argument.scaled(2)), -1).scaled(2)
        case "sinh":
            return (exp(argument) - exp(-argument)).scaled(Fraction(1, 2))
        case "cosh":
            return (exp(argument) + exp(-argument)).scaled(Fraction(1, 2))
        case "cos":
            return cosine(argument)
        case "tan":
            return sine(argument) * power(cosine(argument), -1)
        case "acos":
            half_pi = context.power_of(context.atom(PiAtom)).scaled(Fraction(1, 2))
            return half_pi - _odd("asin", argument)
        case "sin" | "asin" | "atan" | "asinh" | "atanh" | "erf" | "erfinv":
            return _odd(function, argument)
    return _opaque(function, argument)
