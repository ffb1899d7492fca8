"""Sequential, ModuleList and ModuleDict: what they hold, and how that changes."""

from __future__ import annotations

from tests.static.oracle import agree


def test_module_lists_dicts_and_sequentials() -> None:
    assert agree(
        """
        layers = nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 5)])
        layers.append(nn.Linear(5, 6))
        x = torch.zeros(2, 3)
        for layer in layers:
            x = layer(x)
        reveal_shape(x)
        heads = nn.ModuleDict({"a": nn.Linear(6, 7)})
        heads["b"] = nn.Linear(6, 8)
        reveal_shape(heads["a"](x))
        reveal_shape(heads["b"](x))
        net = nn.Sequential(nn.Linear(6, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 9)))
        reveal_shape(net(x))
        reveal_shape(net[0](x))
        reveal_shape(net[:1](x))
        reveal_shape(net[1][1](torch.zeros(2)))
        net[0] = nn.Linear(6, 2)
        net.add_module("out", nn.Linear(9, 3))
        reveal_shape(net(x))
        del net[-1]
        reveal_shape(net(x))
        """
    )


def test_a_module_list_changed_by_position() -> None:
    assert agree(
        """
        layers = nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 5)])
        layers[0] = nn.Linear(3, 8)
        layers.insert(0, nn.Linear(2, 3))
        reveal_shape(layers[0](torch.zeros(2)))
        reveal_shape(torch.zeros(len(layers)))
        """
    )
