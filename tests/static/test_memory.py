"""A call that was followed before gives the same again only where it depends on the same."""

from __future__ import annotations

from tests.static.oracle import agree


def test_a_function_reads_a_global_when_it_is_called() -> None:
    shapes = agree(
        """
        n = 2
        def make():
            return torch.zeros(n)
        reveal_shape(make())
        n = 3
        reveal_shape(make())
        """
    )
    assert shapes == ["2", "3"]


def test_a_closure_reads_its_name_when_it_is_called() -> None:
    shapes = agree(
        """
        def outer():
            n = 2
            def make():
                return torch.zeros(n)
            a = make()
            n = 3
            return a, make()
        a, b = outer()
        reveal_shape(a)
        reveal_shape(b)
        """
    )
    assert shapes == ["2", "3"]


def test_a_module_that_changes_its_buffer() -> None:
    assert agree(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.cache = None
            def forward(self, x):
                if self.cache is None:
                    self.cache = x
                else:
                    self.cache = torch.cat([self.cache, x], 1)
                return self.cache
        net = Net()
        reveal_shape(net(torch.zeros(2, 3)))
        reveal_shape(net(torch.zeros(2, 3)))
        for _ in range(30):
            y = net(torch.zeros(2, 1))
        reveal_shape(y)
        """
    )
