"""NumPy's arrays, against NumPy."""

from __future__ import annotations

import pytest

from tests.static.oracle import agree, check, errors


def exact(source: str) -> list[str]:
    """The shapes that the checker reveals, all of them known and those of NumPy."""
    shapes = agree("import numpy as np\n" + source)
    assert not [shape for shape in shapes if "_" in shape or "..." in shape], shapes
    return shapes


NEW = """
zeros((2, 3)); ones(4, dtype=np.float32); empty([5, 6]); full((2, 3), 7.0); eye(3); eye(3, 4); identity(5)
arange(5); arange(2, 9, 3); arange(5, 2); arange(10, 0, -3); linspace(0, 1, 7); linspace(0.0, 1.0)
array([1, 2, 3]); array([[1.0, 2.0], [3.0, 4.0]]); array(3); array([]); asarray([[1], [2]]); array([True])
array([x, x]); asarray(x); array(torch.ones(2, 5)); array((1, 2), dtype=float); zeros_like(x); ones_like(y)
full_like(x, 2); random.rand(2, 3); random.randn(4); random.random((2, 3)); random.random_sample(5)
random.uniform(0, 1, (4, 2)); random.normal(size=(3, 3)); random.randint(0, 9, (3, 2)); random.choice(5, size=(2, 2))
random.permutation(6); random.permutation(x)
"""
FUNCTIONS = """
argsort(x); argsort(x, axis=None); sort(x, 0); isin(x, [1, 2]); interp(x, y, y); linalg.inv(np.eye(3))
meshgrid(y, np.ones(2))[0]; meshgrid(y, np.ones(2), indexing="ij")[1]; meshgrid(y, np.ones(2), np.ones(5))[2]
exp(x); sqrt(x); abs(y); isnan(x); clip(x, 0, 1); round(x, 2); maximum(x, y); minimum(x, 0.5); power(x, 2)
where(np.isnan(x), x, y); logical_and(x, y); isclose(x, y); multiply(x, y); copy(x); sum(x, axis=0)
sum(x, axis=(0, 1), keepdims=True); mean(x, 1); std(x, axis=1, keepdims=True); max(x, axis=0); argmax(x, axis=1)
all(x, axis=0); linalg.norm(x, axis=1); linalg.norm(x, axis=1, keepdims=True); cumsum(x); cumsum(x, axis=1)
amax(x, 0); prod(x, axis=0); reshape(x, (3, 4)); reshape(x, -1); ravel(x); transpose(z); transpose(z, (1, 0, 2))
expand_dims(x, 0); expand_dims(x, -1); squeeze(np.ones((1, 3, 1))); squeeze(np.ones((1, 3, 1)), 0)
moveaxis(z, 0, -1); swapaxes(z, 0, 2); flip(x); flip(x, 1); fliplr(x); roll(x, 1); roll(x, 1, axis=1)
broadcast_to(y, (2, 3, 4)); repeat(x, 2); repeat(x, 2, 1); tile(y, 2); tile(x, (2, 1)); pad(x, 1)
pad(x, ((1, 2), (0, 3))); pad(y, (1, 2)); pad(x, (1, 2), mode="edge"); concatenate([x, x])
concatenate((x, x), axis=1); stack([x, x, x]); stack([y, y], axis=-1); vstack([x, x]); hstack([x, x])
vstack((y, y)); hstack([y, y]); dstack([x, x]); column_stack([y, y]); matmul(x, x.T); dot(x, y); dot(y, y)
"""
METHODS = """
x.T; z.T; x.reshape(2, 6); x.reshape((6, 2)); x.reshape(-1); x.astype(np.float32); x.copy(); z.transpose()
z.transpose(2, 0, 1); z.transpose((2, 0, 1)); x.sum(0); x.mean(axis=1, keepdims=True); x.max(axis=1); x.min(1)
x.argmax(1); x.any(axis=0); x.std(0); x.flatten(); x.ravel(); np.ones((1, 3)).squeeze(0); x.swapaxes(0, 1)
x.repeat(2, axis=0); x.repeat(3); x.clip(0, 1); x.round(); x.cumsum(axis=0); x.dot(y)
x + y; x * 2; 2.0 * x; x - 1; x / y; x ** 2; x // 2; x % 2; x @ y; x @ x.T
x[0]; x[:, 1:3]; x[..., None]; x[::-1]; x[:, ::2]; z[-1, 0]; x[None, :, 0]; np.sum(x, 1)[:2]
np.ones(x.shape); np.ones((x.size, x.ndim)); np.ones(np.prod(x.shape)); np.ones((len(y), y.shape[0]))
"""
ARRAYS = "x = np.ones((3, 4))\ny = np.ones(4)\nz = np.ones((2, 3, 4))\n"


def lines(texts: str, prefix: str = "") -> list[str]:
    """The expressions of a table."""
    return [f"{prefix}{text.strip()}" for text in texts.replace("\n", ";").split(";") if text.strip()]


@pytest.mark.parametrize(
    "texts", [lines(NEW, "np."), lines(FUNCTIONS, "np."), lines(METHODS)], ids=["new", "functions", "methods"]
)
def test_shapes_are_those_of_numpy(texts: list[str]) -> None:
    exact(ARRAYS + "\n".join(f"reveal_shape({text})" for text in texts))


def test_what_torch_makes_of_arrays_are_tensors() -> None:
    exact(
        ARRAYS
        + """
t = torch.from_numpy(x)
reveal_shape(t.unsqueeze(0))
reveal_shape(torch.tensor(x).max(dim=1).values)
reveal_shape(torch.as_tensor(y).repeat(2, 1))
reveal_shape(torch.Tensor(x))
reveal_shape(torch.from_numpy(x.astype(np.float32)).float() @ torch.ones(4, 2))
reveal_shape(torch.ones(2, 3).numpy().repeat(2))
reveal_shape(torch.ones(2, 3).detach().cpu().numpy().max(axis=1))
"""
    )


def test_an_annotated_array_has_the_methods_of_an_array() -> None:
    source = """
    import numpy as np
    from jaxtyping import Float
    def f(x: Float[np.ndarray, "h w"]) -> Float[np.ndarray, "w"]:
        y = x.repeat(2)
        best = x.max(axis=1) + 1
        reveal_shape(torch.from_numpy(best))
        return x.transpose(1, 0).sum(axis=1)
    """
    report = check(source)
    assert errors(report) == []
    wrong = source.replace("sum(axis=1)", "sum(axis=0)")
    assert any('return of f: (h,) does not match "w"' in one or "return" in one for one in errors(check(wrong)))


def test_faults_of_arrays_are_found() -> None:
    for text in [
        *("np.concatenate([np.ones((2, 3)), np.ones((2, 4))])", "np.ones((2, 3)) + np.ones((2, 4))"),
        *("np.ones((2, 3)).reshape(4, 2)", "np.ones((2, 3)) @ np.ones((2, 3))", "np.stack([np.ones(3), np.ones(4)])"),
        *("np.ones((2, 3)).sum(axis=2)", "np.squeeze(np.ones((2, 3)), 0)", "torch.from_numpy(np.ones((2, 3))).view(4)"),
    ]:
        assert errors(check(f"import numpy as np\n{text}")), text
        with pytest.raises((ValueError, RuntimeError)):
            eval(text, {"np": __import__("numpy"), "torch": __import__("torch")})


def test_data_made_here_stands_for_data_of_other_sizes() -> None:
    source = """
    import numpy as np
    from jaxtyping import Float
    from torch import Tensor
    def f(x: Float[Tensor, "b d"]) -> Tensor:
        return x - torch.from_numpy(np.ones(4))
    """
    assert errors(check(source)) == []
    assert errors(check(source.replace("b d", "b 3")))


def test_an_array_that_is_resized_in_place_is_not_known() -> None:
    agree(
        """
        import numpy as np
        a = np.ones((2, 3))
        b = np.ones((2, 3))
        a.shape = (3, 2)
        reveal_shape(torch.tensor(a))
        b.resize((6,), refcheck=False)
        reveal_shape(torch.tensor(b))
        """
    )


def test_what_may_be_a_tensor_is_no_array() -> None:
    agree(
        """
        import numpy as np
        t = torch.ones(2, 3)
        def own(value):
            return np.transpose(value, (1, 0)).reshape(-1, 1)
        reveal_shape(torch.as_tensor(own(t.numpy())))
        reveal_shape(torch.as_tensor(own([[1, 2]])))
        records = np.array([(1, 2), (3, 4)], dtype=[("a", int), ("b", int)])
        reveal_shape(torch.ones(records.shape))
        """
    )


def test_einops_gives_arrays_for_arrays() -> None:
    exact(
        ARRAYS
        + """
from einops import pack, rearrange, reduce
reveal_shape(rearrange(z, "a b c -> c (a b)").repeat(2))
reveal_shape(reduce(z, "a b c -> a b", "max").max(axis=1))
packed, sizes = pack([x, x], "* c")
reveal_shape(packed.max(axis=0))
reveal_shape(rearrange(torch.from_numpy(x), "a b -> b a").max(dim=1).values)
"""
    )


def test_a_value_that_has_methods_of_arrays_may_be_one() -> None:
    source = """
import numpy as np
def mirrored(scaler, edges: np.ndarray):
    scaled = scaler.inverse_transform(edges.reshape(-1, 1)).squeeze()
    return scaled[::-1]
"""
    assert not errors(check(source))
