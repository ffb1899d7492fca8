"""`reveal_shape` at run time."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import shaped


@dataclass
class Array:
    """Something with a shape."""

    shape: tuple[int, ...]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Array((2, 10)), '"2 10"'),
        (Array(()), '""'),
        ((Array((2,)), 3), '("2", int)'),
        ((Array((2,)),), '("2",)'),
        ([Array((2,)), "x"], '["2", str]'),
        ({"a": Array((1, 2))}, "{'a': \"1 2\"}"),
        (None, "NoneType"),
    ],
)
def test_the_shape_is_printed_and_the_value_returned(
    value: object, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shaped.reveal_shape(value) is value
    assert capsys.readouterr().out == f"Revealed shape is {said}\n"


def test_a_tensor_is_revealed_like_any_array(capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    shaped.reveal_shape(torch.zeros(2, 10))
    assert capsys.readouterr().out == 'Revealed shape is "2 10"\n'


def test_the_package_has_its_public_names_and_no_other() -> None:
    assert set(shaped.__all__) <= set(dir(shaped))
    assert all(getattr(shaped, name) for name in shaped.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = shaped.nonsense
