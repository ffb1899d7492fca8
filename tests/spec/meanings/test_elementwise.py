"""Functions of one number mean what torch computes, and their gradients are torch's at kinks too."""

from __future__ import annotations

import pytest
import torch

from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.three_ways import agree, compare, random, values

ANY = random(3, 4)
POSITIVE = random(3, 4, low=0.1)
INSIDE = random(3, 4, low=-0.9, high=0.9)

EVERYWHERE = (
    "exp exp2 expm1 square neg negative positive abs absolute sin cos tan sinh cosh tanh atan arctan asinh arcsinh "
    "erf erfc sigmoid sinc deg2rad rad2deg sign floor ceil trunc fix frac round sgn special.ndtr special.log_ndtr "
    "special.erfcx conj real"
)


@pytest.mark.parametrize("name", EVERYWHERE.split())
def test_a_function_defined_everywhere(name: str) -> None:
    agree(f"torch.{name}", ANY)


@pytest.mark.parametrize(
    "name", ["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "special.entr", "lgamma"]
)
def test_a_function_of_positive_numbers(name: str) -> None:
    agree(f"torch.{name}", POSITIVE)


def test_the_derivative_of_the_log_of_gamma() -> None:
    compare("torch.digamma", POSITIVE).values_agree()
    compare("torch.polygamma", 0, POSITIVE).values_agree()
    with pytest.raises(NotExpressible, match="derivative 1 of digamma"):
        variable("x", ("n",)).polygamma(1)


@pytest.mark.parametrize("name", ["asin", "acos", "atanh", "arcsin", "arccos", "arctanh", "erfinv"])
def test_a_function_of_numbers_between_minus_1_and_1(name: str) -> None:
    agree(f"torch.{name}", INSIDE)


@pytest.mark.parametrize("name", ["acosh", "arccosh"])
def test_a_function_of_numbers_above_1(name: str) -> None:
    agree(f"torch.{name}", POSITIVE + 1)


@pytest.mark.parametrize("name", ["abs", "sign", "sgn", "sinc", "floor", "ceil", "trunc", "frac", "round"])
def test_the_convention_at_a_kink_is_that_of_torch(name: str) -> None:
    agree(f"torch.{name}", values(0, 1, -1, 2))


def test_halves_are_rounded_to_even() -> None:
    compare("torch.round", values(0.5, 1.5, 2.5, -0.5, -1.5)).values_agree()
    agree("torch.round", random(5) * 10, decimals=1)


def test_functions_of_integers_are_floats_and_signs_of_integers_integers() -> None:
    given = torch.tensor([1, 2, 3])
    for name in ("exp", "sqrt", "neg", "abs", "square", "sign", "floor"):
        compare(f"torch.{name}", given).values_agree()


def test_an_integer_plus_or_times_integers_is_still_an_index() -> None:
    index = variable("index", ("n",), "int", bound=None)
    assert str(((index * 2 + 1) // 2 - index % 3).whole_at(0)) == "3*(index[0]//3)"
    assert str((-index).square().whole_at(0)) == "index[0]*index[0]"


COMPLEX = torch.complex(random(2, 3), random(2, 3, seed=1))


@pytest.mark.parametrize(
    "name", ["exp", "sin", "cos", "neg", "square", "reciprocal", "abs", "positive", "conj", "real", "imag", "sgn"]
)
def test_a_function_of_complex_numbers(name: str) -> None:
    comparison = compare(f"torch.{name}", COMPLEX)
    comparison.values_agree()
    comparison.gradients_agree(closed_form=name in ("conj", "real", "imag", "sgn"))


def test_the_gradient_of_the_modulus_at_0_is_0() -> None:
    compare("torch.abs", torch.zeros(2, dtype=torch.complex128)).gradients_agree(closed_form=False)


def test_a_complex_number_is_made_of_its_parts() -> None:
    agree("torch.complex", random(3), random(3, seed=1))
    agree("torch.polar", random(3, low=0.5), random(3, seed=1))
    agree("torch.view_as_real", COMPLEX)


def test_logit_with_eps_cuts_its_argument() -> None:
    agree("torch.logit", values(0.2, 0.7))
    comparison = compare("torch.logit", values(0.01, 0.2, 0.99), eps=0.1)
    comparison.values_agree()


def test_a_function_without_a_meaning_for_complex_numbers_says_so() -> None:
    with pytest.raises(NotExpressible, match="complex"):
        variable("z", ("n",), "complex").erf()


def test_functions_made_of_others() -> None:
    agree("torch.mvlgamma", POSITIVE + 2, 3)
    compare("torch.special.spherical_bessel_j0", values(0, 1, -2)).values_agree()


def test_the_angle_of_real_and_complex_numbers() -> None:
    compare("torch.angle", values(-1, 0, 2)).values_agree()
    agree("torch.angle", COMPLEX)
    compare("torch.angle", torch.zeros(1, dtype=torch.complex128)).values_agree()


def test_no_number_is_nan() -> None:
    compare("torch.isnan", ANY).values_agree()
    agree("torch.nan_to_num", ANY)


def test_whether_an_undefined_entry_is_nan_is_not_followed() -> None:
    x = variable("x", ("n",))
    for doubtful in (1 / x, x.log(), x.masked_fill(x > 0, float("-inf"))):
        for name in ("isnan", "nan_to_num"):
            with pytest.raises(NotExpressible, match="undefined"):
                getattr(doubtful, name)()
