"""`compile_forward`: a model as a program, for inputs of given shapes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

from shaped.runtime.compiled.backends import EAGER, wanted
from shaped.runtime.compiled.checking import Expected, Trials
from shaped.runtime.compiled.choosing import choose
from shaped.runtime.compiled.dispatch import Compiled, device_of, with_structure
from shaped.runtime.compiled.program import CannotCompile, Run
from shaped.runtime.compiled.report import Report
from shaped.runtime.compiled.tracing import Structure, Traced, tensors_of, trace
from shaped.runtime.compiled.trial import copies, tensors_kept, varied
from shaped.runtime.compiled.writing import Writer


def compile_forward(
    model: nn.Module, example_inputs: Sequence[object], *, backend: str | Sequence[str] = "auto"
) -> CompiledForward:
    """Compile a model's forward for inputs of given shapes.

    The operations that the model runs for these shapes are recorded, and are then called without autograd, hooks or
    dispatch, or are compiled. Before it is used, a program is held to eager: to the bit where the kernels are torch's
    own in their order, otherwise to the error that rounding explains. The parameters stay the model's own: a change of
    their values counts from the next call.

    Inputs of other shapes get programs of their own when they first come. Where there can be none, the model itself
    runs, with one warning.

    Args:
        model: the model. It is compiled in the mode that it is in (`eval()`, `train()`).
        example_inputs: the inputs of one call.
        backend: "auto" measures those that are built in a second or so; or a name of `BACKENDS`, "eager", or several
            names to measure.

    Returns:
        What is called as the model is. Its results carry no gradients. `report` tells what came of it.

    Raises:
        CannotCompile: what the model does depends on the values of tensors, or the backend of this name cannot run it.
        ValueError: there is no such backend.

    >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> x = torch.randn(16, 4)
    >>> compiled = compile_forward(model, (x,), backend="python")
    >>> torch.equal(compiled(x), model(x))
    True
    >>> compiled.report.checked
    'the same numbers as eager, to the bit'
    """
    made = CompiledForward(model, backend)
    made.add(tuple(example_inputs), made.report)
    return made


class CompiledForward(Compiled):
    """A model whose forward is compiled. See `compile_forward`."""

    def __init__(self, model: nn.Module, backend: str | Sequence[str]) -> None:
        super().__init__(model)
        self._asked = backend

    def eager(self, *inputs: Any) -> Any:
        with torch.no_grad():
            return self.model(*inputs)

    def prepare(self, inputs: tuple[Any, ...], report: Report) -> Callable[..., Any]:
        traced = trace(self.model, _called, inputs)
        writer = Writer()
        given = [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, Tensor)]
        standing = writer.standing(traced, given, tensors_of(self.model))
        program = writer.program(writer.insert(traced, standing))
        names = wanted(self._asked, device_of(given))
        run = choose(program, names, self._trials(inputs, standing, traced), self._timed(inputs), report)
        if run is None:
            return with_structure(inputs, self.eager)
        return _results(run, traced.structure)

    def _timed(self, inputs: tuple[Any, ...]) -> Callable[[], object]:
        def eager() -> object:
            with torch.inference_mode():
                return self.model(*inputs)

        return eager

    def _trials(self, inputs: tuple[Any, ...], standing: Mapping[fx.Node, fx.Node], traced: Traced) -> Trials:
        """What a copy of the model gives, for the example and for its rows in another order."""
        try:
            model = copy.deepcopy(self.model)
        except Exception as error:
            raise CannotCompile(f"the model cannot be copied, so nothing can be held to it: {error}") from error
        own = tensors_of(model)
        example = copies([leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, Tensor)])
        given = [example, varied(example), example]
        expected = []
        call = with_structure(inputs, model)
        with tensors_kept(()), torch.no_grad():
            for tensors in given:
                results = pytree.tree_leaves(call(*copies(tensors)))
                contents = {standing[node]: own[name].detach().clone() for name, node in traced.named.items()}
                expected.append(Expected([one.clone() for one in results if one is not None], contents))
        return Trials(given, lambda number: (), expected)


def _called(model: nn.Module, *inputs: Any) -> Any:
    return model(*inputs)


def _results(run: Run, structure: Structure) -> Callable[..., Any]:
    """The results of a run in their structure."""
    if structure.is_one:
        return lambda *tensors: run(*tensors)[0]
    return lambda *tensors: structure.nested(run(*tensors))


__all__ = ["EAGER", "CompiledForward", "compile_forward"]
