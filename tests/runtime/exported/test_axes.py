"""Names of annotations and symbols of a program are one where they stand for one axis."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.runtime.exported.axes import AxisNames, axes_text, ranges_of, symbol_of, symbols_of
from shaped.runtime.exported.program import inputs_of, outputs_of

PAIRS = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["s0", "s1", "s2", "s3"])), max_size=8)


@given(PAIRS)
def test_what_is_joined_is_written_alike_whatever_the_order(pairs: list[tuple[str, str]]) -> None:
    names = AxisNames()
    for name, symbol in pairs:
        names.join(name, symbol)
    for name, symbol in pairs:
        assert names.written(name) == names.written(symbol)
        assert names.written(symbol) in {one for one, _ in pairs}


@given(PAIRS, st.integers(0, 7))
def test_a_size_stands_for_all_that_is_joined_with_it(pairs: list[tuple[str, str]], place: int) -> None:
    names = AxisNames()
    entries: list[tuple[str, str | int]] = [*pairs]
    entries.insert(min(place, len(pairs)), ("a", 5))
    for name, other in entries:
        names.join(name, other)
    joined = {"a"}
    for _ in pairs:  # what can be reached from a
        joined |= {one for pair in pairs if joined & set(pair) for one in pair}
    for one in "abcde":
        assert (names.written(one) == "5") is (one in joined)


class Two(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.cat([x, y])[1::2], x.nonzero()


def test_sizes_are_written_by_the_names_of_their_symbols() -> None:
    auto, static = torch.export.Dim.AUTO, torch.export.Dim.STATIC
    shapes = {"x": (auto, static), "y": (auto, static)}
    program = torch.export.export(Two(), (torch.ones(3, 2), torch.ones(4, 2)), dynamic_shapes=shapes)
    x, y = inputs_of(program)
    picked, found = outputs_of(program)
    assert all(isinstance(one, torch.Tensor) for one in (x, y, picked, found))
    names = AxisNames()
    names.join("n", symbol_of(x.shape[0]))  # type: ignore[attr-defined,arg-type]  # tensors, as just seen
    known = symbols_of([*x.shape, *y.shape])  # type: ignore[attr-defined]
    names.join("m", symbol_of(y.shape[0]))  # type: ignore[attr-defined,arg-type]
    assert axes_text(x.shape, names, known) == "n 2"  # type: ignore[attr-defined]
    text = axes_text(picked.shape, names, known)  # type: ignore[attr-defined]
    size = text.partition(" ")[0]
    for n, m in ((3, 4), (2, 9), (10, 3)):
        assert eval(size, {"n": n, "m": m}) == len(torch.ones(n + m)[1::2])
    assert axes_text(found.shape, names, known) == "_ 2"  # type: ignore[attr-defined]  # as many as there are
    assert set(ranges_of(program.range_constraints, names)) >= {"n", "m"}
