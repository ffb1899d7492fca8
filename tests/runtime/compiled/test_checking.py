"""What is compiled wrongly is refused before it runs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.optim import Adam

from shaped.runtime import c_kernel
from shaped.runtime.compiled import CannotCompile, CheckFailed, c, straight_line
from shaped.runtime.compiled.checking import Expected, Trials, check_exactly, check_within_budget
from shaped.runtime.compiled.program import Program
from shaped.runtime.compiled.writing import Writer, aten
from tests.runtime.compiled.programs import faulty_programs, faulty_sources, program_of_step, trials_of
from tests.runtime.compiled.training import perceptron

needs_a_compiler = pytest.mark.skipif(
    c_kernel.load("int one(void) { return 1; }") is None, reason="there is no C compiler on this machine"
)


def example() -> tuple[Program, Trials]:
    generator = torch.Generator().manual_seed(1)
    x, y = torch.randn(16, 4, generator=generator), torch.randn(16, 1, generator=generator)
    model = perceptron(4, 8, 1)
    # An eps that counts: the usual one is lost in the rounding of what it is added to.
    optimizer = Adam(model.parameters(), lr=0.01, weight_decay=0.1, eps=0.01)
    return program_of_step(model, nn.MSELoss(), optimizer, (x, y))


def test_every_fault_in_a_program_is_seen() -> None:
    program, trials = example()
    check_exactly(straight_line.build(program), program, trials)
    faults = list(faulty_programs(program))
    assert len(faults) > 20
    survivors = []
    for told, faulty in faults:
        try:
            check_exactly(straight_line.build(faulty), faulty, trials_of(trials, program, faulty))
        except CheckFailed:
            continue
        survivors.append(told)
    assert survivors == []


def test_a_check_leaves_every_tensor_as_it_was() -> None:
    program, trials = example()
    before = [tensor.clone() for tensor in program.held.values()]
    state = torch.get_rng_state()
    check_exactly(straight_line.build(program), program, trials)
    check_within_budget(straight_line.build(program), program, trials)
    for tensor, old in zip(program.held.values(), before):
        assert torch.equal(tensor, old)
    assert torch.equal(torch.get_rng_state(), state)


def test_the_message_names_the_call_the_tensor_and_the_numbers() -> None:
    program, trials = example()
    run = straight_line.build(program)

    def wrong(*given: Tensor) -> tuple[Tensor, ...]:
        (loss,) = run(*given)
        return (loss * 1.5,)

    with pytest.raises(CheckFailed, match=r"call 1: result 0 is [\d.]+, in eager [\d.]+ \(1 entries differ\)"):
        check_exactly(wrong, program, trials)
    with pytest.raises(CheckFailed, match=r"call 1: result 0 is .*, and exactly .*, where rounding explains"):
        check_within_budget(wrong, program, trials)


def test_torchs_own_kernels_are_within_the_budget() -> None:
    program, trials = example()
    assert 0 < check_within_budget(straight_line.build(program), program, trials) <= 1


def test_what_rounding_may_change_without_limit_is_not_held_to_anything_and_so_is_refused() -> None:
    writer = Writer()
    x = writer.given("x", torch.zeros(4))
    program = writer.program(
        [writer(aten.reciprocal.default, writer(aten.sub.Tensor, writer(aten.mul.Tensor, x, x), x))]
    )
    run = straight_line.build(program)
    ones = [torch.ones(4)]
    with pytest.raises(CannotCompile, match="nothing of call 1: result 0 was compared"):
        check_within_budget(run, program, Trials([ones], lambda number: (), [Expected(run(*ones), {})]))


@needs_a_compiler
@pytest.mark.parametrize(
    "old, new",
    [
        ("sum += p_relu[i * 8 + k] * p_parameters_0[k + j * 8 + 48];", "sum += p_relu[i * 8 + k];"),
        ("(2.0 / 16)", "(2.0 / 15)"),
        ("float)s_beta2_0", "float)0.99"),
        ("p_addmm[i * 8 + j] = sum;", "p_addmm[i * 8 + j] = sum - p_parameters_0[j + 32];"),
    ],
    ids=["a dropped factor", "a wrong constant", "a wrong decay", "a dropped bias"],
)
def test_a_fault_in_generated_code_is_refused(old: str, new: str) -> None:
    program, trials = example()
    source = c.source_of(program)
    check_within_budget(c.run_from_source(program, source), program, trials)
    head, body = source.split("\nint run(", 1)
    parameters, code = body.split("\n{", 1)
    assert old in code
    faulty = f"{head}\nint run({parameters}\n{{{code.replace(old, new)}"
    with pytest.raises(CheckFailed):
        check_within_budget(c.run_from_source(program, faulty), program, trials)


@needs_a_compiler
def test_a_count_of_steps_that_stands_still_is_refused() -> None:
    program, trials = example()
    run = c.build(program)
    (steps,) = (tensor for node, tensor in program.held.items() if node.name.startswith("steps"))

    def forgetful(*given: Tensor) -> tuple[Tensor, ...]:
        before = steps.clone()
        results = run(*given)
        steps.copy_(before)
        return results

    with pytest.raises(CheckFailed, match=r"call 1: steps_0\[0\] is 0.0, and exactly 1.0"):
        check_within_budget(forgetful, program, trials)


@pytest.mark.slow
@needs_a_compiler
def test_every_fault_in_generated_code_is_refused() -> None:
    program, trials = example()
    source = c.source_of(program)
    survivors, count = [], 0
    for told, faulty in faulty_sources(source):
        count += 1
        try:
            check_within_budget(c.run_from_source(program, faulty), program, trials)
        except CheckFailed:
            continue
        survivors.append(told)
    assert count > 30
    assert survivors == []
