"""Functions of functions: torch.func, torch.compile, torch.utils.checkpoint, against torch."""

from __future__ import annotations

import pkgutil

import pytest
import torch

from shaped.static.builtins import queries
from tests.static.oracle import agree, check, errors


def exact(source: str) -> list[str]:
    """The shapes that the checker reveals, all of them known and those of torch."""
    shapes = agree(source)
    assert not [shape for shape in shapes if "_" in shape or "..." in shape], shapes
    return shapes


def test_vmap_hides_an_axis_and_puts_it_back() -> None:
    shapes = exact(
        """
        from functools import partial
        from torch.func import vmap
        x, y = torch.ones(7, 3), torch.ones(7, 3)
        reveal_shape(vmap(torch.dot)(x, y))
        reveal_shape(torch.vmap(torch.outer)(x, torch.ones(7, 5)))
        reveal_shape(torch.vmap(torch.mv, in_dims=(None, 0))(torch.ones(4, 3), x))
        reveal_shape(torch.vmap(lambda a: a, 1, 0)(x))
        reveal_shape(torch.vmap(lambda a: a[None], in_dims=-1, out_dims=1)(x))
        reveal_shape(vmap(vmap(torch.dot))(torch.ones(2, 7, 3), torch.ones(2, 7, 3)))
        first, second = vmap(lambda a, b: (a.sum(), torch.outer(a, b)), out_dims=(0, 1))(x, y)
        reveal_shape(first)
        reveal_shape(second)
        reveal_shape(vmap(lambda a, scale: a * scale, in_dims=(0, None))(x, 2.0))
        reveal_shape(vmap(lambda a, keep=None: a + keep)(x, keep=torch.ones(3)))
        """
    )
    assert len(shapes) == 10


def test_vmap_over_axes_of_two_sizes_is_refused() -> None:
    source = "x = torch.vmap(torch.dot)(torch.ones(7, 3), torch.ones(8, 3))"
    assert errors(check(source)) == ["4: vmap: (7, 3), (8, 3): the mapped axes have sizes 7 and 8"]
    with pytest.raises(ValueError, match="same size"):
        torch.vmap(torch.dot)(torch.ones(7, 3), torch.ones(8, 3))


def test_what_is_wrong_inside_of_vmap_is_found() -> None:
    assert errors(check("torch.vmap(torch.dot)(torch.ones(7, 3), torch.ones(7, 4))"))
    assert errors(check("torch.vmap(lambda a: a)(torch.tensor(1.0))"))


def test_gradients_have_the_shapes_of_arguments() -> None:
    exact(
        """
        from torch.func import grad, grad_and_value, vmap
        w, x = torch.ones(4, 3), torch.ones(3)
        def loss(w, x):
            return (w @ x).sum()
        def with_aux(w, x):
            y = w @ x
            return y.sum(), y
        reveal_shape(grad(loss)(w, x))
        reveal_shape(grad(loss, argnums=1)(w, x))
        by_w, by_x = grad(loss, argnums=(0, 1))(w, x)
        reveal_shape(by_w)
        reveal_shape(by_x)
        g, aux = grad(with_aux, has_aux=True)(w, x)
        reveal_shape(g)
        reveal_shape(aux)
        g, value = grad_and_value(loss)(w, x)
        reveal_shape(g)
        reveal_shape(value)
        g, (value, aux) = grad_and_value(with_aux, has_aux=True)(w, x)
        reveal_shape(g)
        reveal_shape(aux)
        reveal_shape(vmap(grad(loss), in_dims=(None, 0))(w, torch.ones(7, 3)))
        reveal_shape(grad(lambda p: (p["w"] ** 2).sum())({"w": w})["w"])
        """
    )


def test_a_gradient_of_what_is_no_scalar_is_refused() -> None:
    source = "torch.func.grad(lambda x: x * 2)(torch.ones(3))"
    assert errors(check(source)) == ["4: grad: (3,): the function has to give a scalar"]
    with pytest.raises(RuntimeError, match="scalar"):
        torch.func.grad(lambda x: x * 2)(torch.ones(3))


def test_jacobians_have_the_axes_of_both() -> None:
    exact(
        """
        from torch.func import jacfwd, jacrev, hessian, jvp, vjp, vmap
        from torch.autograd.functional import jacobian
        w, x = torch.ones(4, 3), torch.ones(3)
        reveal_shape(jacrev(torch.mv)(w, x))
        reveal_shape(jacfwd(torch.mv, argnums=1)(w, x))
        by_w, by_x = jacrev(torch.mv, argnums=(0, 1))(w, x)
        reveal_shape(by_w)
        reveal_shape(by_x)
        reveal_shape(hessian(lambda a: (a ** 3).sum())(x))
        reveal_shape(vmap(jacrev(torch.sin))(torch.ones(7, 3)))
        y, tangent = jvp(torch.mv, (w, x), (w, x))
        reveal_shape(y)
        reveal_shape(tangent)
        y, pull = vjp(torch.mv, w, x)
        by_w, by_x = pull(torch.ones(4))
        reveal_shape(y)
        reveal_shape(by_w)
        reveal_shape(by_x)
        reveal_shape(jacobian(torch.sin, x))
        by_w, by_x = jacobian(torch.mv, (w, x))
        reveal_shape(by_w)
        reveal_shape(by_x)
        """
    )


def test_a_module_is_called_with_other_parameters() -> None:
    exact(
        """
        from torch.func import functional_call, vmap, grad
        model = nn.Linear(3, 5)
        parameters = dict(model.named_parameters())
        x = torch.ones(7, 3)
        reveal_shape(functional_call(model, parameters, (x,)))
        reveal_shape(functional_call(model, parameters, x))
        reveal_shape(functional_call(model, parameters, args=(), kwargs={"input": x}))
        """
    )


def test_checkpoints_call_the_function() -> None:
    exact(
        """
        from torch.utils.checkpoint import checkpoint, checkpoint_sequential
        x = torch.ones(7, 3, requires_grad=True)
        block = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
        reveal_shape(checkpoint(block, x, use_reentrant=False))
        reveal_shape(checkpoint(lambda a, scale: a.T * scale, x, scale=2.0, use_reentrant=False, debug=False))
        reveal_shape(checkpoint_sequential(block, 2, x, use_reentrant=False))
        reveal_shape(checkpoint_sequential([nn.Linear(3, 5), nn.Linear(5, 4)], 2, input=x, use_reentrant=False))
        """
    )


def test_compiled_functions_are_the_functions() -> None:
    exact(
        """
        x = torch.ones(7, 3)
        model = nn.Linear(3, 5)
        reveal_shape(torch.compile(model, backend="eager")(x))
        reveal_shape(torch.compile(backend="eager")(model)(x))
        reveal_shape(torch.compile(model=model, backend="eager")(x))
        reveal_shape(torch.compiler.disable(model)(x))
        reveal_shape(torch.no_grad()(torch.t)(x))
        @torch.no_grad
        def half(x):
            return x[:, ::2]
        reveal_shape(half(x))
        with torch.no_grad(), torch.autocast("cpu"):
            reveal_shape(model(x))
        """
    )


def test_scripting_is_never_under_way() -> None:
    assert agree(
        """
        x = torch.ones(7, 3)
        if torch.jit.is_scripting():
            x = x.T
        reveal_shape(x)
        """
    ) == ["7 3"]


def test_queries_are_functions_of_torch_or_math() -> None:
    for name in sorted(queries.FUNCTIONS):
        # Devices of other makers are there only with their packages, and not every device has every function.
        if name.split(".")[1] not in (*queries.DEVICES, "utils"):
            assert callable(pkgutil.resolve_name(name)), name


def test_numbers_of_known_numbers_are_known() -> None:
    exact(
        """
        import math
        reveal_shape(torch.ones(math.comb(5, 2), math.gcd(12, 18), math.lcm(4, 6), math.perm(4, 2)))
        reveal_shape(torch.ones(int(math.pow(2, 3)), int(math.degrees(math.pi)), math.factorial(3)))
        """
    )


def test_what_is_asked_of_the_machine_is_not_counted_as_without_rule() -> None:
    report = check("n = torch.cuda.device_count()\ntorch.manual_seed(0)\nx = torch.ones(n, 3)\ntorch.no_such_thing(x)")
    assert dict(report.statistics.without_rule) == {"torch.no_such_thing": 1}
