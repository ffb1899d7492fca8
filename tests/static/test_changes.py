"""Values that are changed at times that are not seen: by hooks, callbacks, functions that were given away."""

from __future__ import annotations

from tests.static.oracle import agree, check, errors, revealed


def test_a_list_that_a_hook_fills_is_not_taken_to_be_empty() -> None:
    source = """
    def collect(model, task, inputs):
        out = []
        for index in range(4):
            kept = []
            def keep(value, hook):
                kept.append(value)
            with model.hooks(fwd_hooks=[("name", keep)]):
                task(inputs[index])
            if len(kept) != 1:
                raise RuntimeError
            out.append(kept[0])
        return torch.cat(out)
    """
    assert errors(check(source)) == []


def test_a_list_that_a_hook_fills_is_followed_no_further_at_the_top_level() -> None:
    agree(
        """
        seen = []
        names = {}
        def hook(module, inputs, output):
            seen.append(output)
            names["x"] = output
        layer = nn.Linear(3, 4)
        layer.register_forward_hook(hook)
        layer(torch.zeros(2, 3))
        torch.cat(seen)
        torch.zeros(len(names), 4) + torch.zeros(1, 4)
        """
    )


def test_a_number_that_a_callback_counts_up_is_not_known() -> None:
    source = """
    def count(layer, x):
        calls = 0
        def counted(*arguments):
            nonlocal calls
            calls += 1
        layer.register_forward_hook(counted)
        layer(x)
        return torch.zeros(calls - 1)
    """
    assert errors(check(source)) == []


def test_a_list_that_is_filled_by_direct_calls_is_followed() -> None:
    source = """
    def collect():
        out = []
        def keep(value):
            out.append(value)
        keep(torch.zeros(2, 3))
        keep(torch.zeros(1, 3))
        reveal_shape(torch.cat(out))
    collect()
    """
    assert revealed(source)[-1] == "3 3"
