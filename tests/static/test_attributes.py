"""Attributes: read, set, made up, and changed behind the program's back."""

from __future__ import annotations

from tests.static.oracle import agree


def test_deleting_a_local_shows_no_global() -> None:
    assert agree(
        """
        n = 2
        class A:
            n = 3
        a = A()
        a.n = 5
        del a.n
        reveal_shape(torch.zeros(a.n))
        """
    )


def test_modules_with_buffers_and_parameters() -> None:
    shapes = agree(
        """
        class Net(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.w = nn.Parameter(torch.zeros(d, 4))
                self.register_buffer("mask", torch.ones(d, d))
                self.register_parameter("b", nn.Parameter(torch.zeros(4)))
                self.layers = nn.ModuleList()
                for i in range(3):
                    self.layers.append(nn.Linear(4, 4))
                    self.add_module(f"extra{i}", nn.Linear(4, 5 + i))
            def forward(self, x):
                x = x @ self.w + self.b
                for layer in self.layers[:-1]:
                    x = layer(x)
                return self.extra2(x)
        net = Net(3)
        reveal_shape(net(torch.zeros(2, 3)))
        reveal_shape(net.mask)
        net.register_buffer("mask", torch.ones(1))
        reveal_shape(net.mask)
        """
    )
    assert shapes == ["2 7", "3 3", "1"]


def test_class_attributes_and_instance_attributes() -> None:
    shapes = agree(
        """
        class Box:
            size = 3
            def __init__(self, own=None):
                if own is not None:
                    self.size = own
        a, b = Box(), Box(5)
        reveal_shape(torch.zeros(a.size, b.size, Box.size))
        Box.size = 4
        reveal_shape(torch.zeros(a.size, b.size, Box.size))
        """
    )
    assert shapes == ["3 5 3", "4 5 4"]


def test_properties() -> None:
    shapes = agree(
        """
        class Box:
            def __init__(self, n):
                self._n = n
            @property
            def n(self):
                return self._n * 2
            @n.setter
            def n(self, value):
                self._n = value
        b = Box(2)
        reveal_shape(torch.zeros(b.n))
        b.n = 5
        reveal_shape(torch.zeros(b.n, b._n))
        """
    )
    assert shapes == ["4", "10 5"]


def test_setattr_and_getattr() -> None:
    assert agree(
        """
        class Box:
            pass
        b = Box()
        setattr(b, "n", 3)
        for name in ("p", "q"):
            setattr(b, name, len(name) + 4)
        reveal_shape(torch.zeros(b.n, getattr(b, "p"), getattr(b, "missing", 2)))
        b.__dict__["n"] = 8
        reveal_shape(torch.zeros(b.n))
        vars(b)["n"] = 9
        reveal_shape(torch.zeros(b.n))
        """
    )


def test_attributes_made_up_on_access() -> None:
    assert agree(
        """
        class Box:
            def __init__(self):
                self.real = 2
            def __getattr__(self, name):
                return len(name)
        b = Box()
        reveal_shape(torch.zeros(b.real, b.four))
        """
    )


def test_a_method_stored_elsewhere() -> None:
    shapes = agree(
        """
        class Box:
            def __init__(self, n):
                self.n = n
            def make(self):
                return torch.zeros(self.n)
        b = Box(3)
        f = b.make
        b.n = 5
        reveal_shape(f())
        g = Box.make
        reveal_shape(g(Box(2)))
        """
    )
    assert shapes == ["5", "2"]


def test_a_descriptor() -> None:
    assert agree(
        """
        class Twice:
            def __get__(self, obj, owner=None):
                return 6
            def __set__(self, obj, value):
                pass
        class Box:
            n = Twice()
        b = Box()
        b.n = 2
        reveal_shape(torch.zeros(b.n))
        """
    )


def test_setattr_of_the_class() -> None:
    assert agree(
        """
        class Box:
            def __setattr__(self, name, value):
                object.__setattr__(self, name, value * 2)
        b = Box()
        b.n = 3
        reveal_shape(torch.zeros(b.n))
        """
    )


def test_cached_property_and_lru_cache() -> None:
    shapes = agree(
        """
        import functools
        class Box:
            def __init__(self):
                self.n = 2
            @functools.cached_property
            def size(self):
                return self.n * 2
        b = Box()
        first = b.size
        b.n = 10
        reveal_shape(torch.zeros(first, b.size))
        """
    )
    assert shapes == ["4 4"]
