"""What a program says that it means is not reported."""

from __future__ import annotations

from tests.static.test_silent_broadcast import is_reported_as_marked, is_silent


def test_an_axis_that_may_be_one_is_dropped() -> None:
    assert is_reported_as_marked(
        """
        class Model(nn.Module):
            def __init__(self, d: int, out: int = 1) -> None:
                super().__init__()
                self.value, self.out = nn.Linear(d, 1), nn.Linear(d, out)
                self.pool = nn.AdaptiveAvgPool2d((1, 1))
                self.recurrent = nn.LSTM(d, 8)

            def f(self, x: Float[Tensor, "b d"], image: Float[Tensor, "b c h w"]) -> Tensor:
                torch.squeeze(self.value(x))  # error[shape-squeeze]
                self.out(x).squeeze()  # error[shape-squeeze]: where it is 1
                x.mean(1, keepdim=True).squeeze(dim=None)  # error[shape-squeeze]
                self.value(x).detach().numpy().squeeze()  # error[shape-squeeze]
                np.squeeze(self.value(x).detach().numpy())  # error[shape-squeeze]
                y = self.value(x)
                y.squeeze_()  # error[shape-squeeze]
                return self.pool(image).squeeze().softmax(-1)  # error[shape-squeeze]: b and c

            def last_state(self, x: Float[Tensor, "t b d"]) -> Tensor:
                _, (state, _) = self.recurrent(x)
                return state.squeeze()  # error[shape-squeeze]: squeeze: (1, b, 8)

            def of_any_batch(self, x: Float[Tensor, "*batch d"]) -> Tensor:
                return self.value(x).squeeze()  # error[shape-squeeze]: *batch where they are 1
        """
    )


def test_a_squeeze_is_silent_where_it_does_not_matter_what_it_drops() -> None:
    assert is_silent(
        """
        def f(x: Float[Tensor, "b 1"]) -> Tensor:
            x.squeeze().view(-1), x.squeeze().flatten(), x.squeeze().reshape(x.shape[0], 1)
            torch.atleast_1d(x.squeeze()), torch.mean(x.squeeze())
            return x.squeeze().sum()
        """
    )


def test_a_squeeze_is_silent_where_the_program_knows_what_it_drops() -> None:
    assert is_silent(
        """
        def asserted(x: Float[Tensor, "b 1"]) -> Tensor:
            assert x.shape[0] > 1
            return x.squeeze()

        def asked(x: Float[Tensor, "b 1 d"]) -> Tensor:
            if x.shape[0] == 1:
                return x.squeeze()[None]
            return x.squeeze(1)

        def with_dims(x: Float[Tensor, "b 1 1 d"]) -> Tensor:
            return x.squeeze((1, 2)) + x.squeeze(1).squeeze(1)
        """
    )


def test_pairs_of_two_attributes_or_calls_are_no_pairs_of_one_tensor() -> None:
    assert is_reported_as_marked(
        """
        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.a, self.b = nn.Linear(4, 1), nn.Linear(4, 4)

            def f(self, x: Float[Tensor, "n 4"], d: dict[str, Tensor]) -> Tensor:
                return self.a(x) - self.b(x).sum(-1)  # error[shape-broadcast]
        """
    )
