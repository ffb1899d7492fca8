"""Methods of lists, dictionaries, strings and tensors that change what they are called on."""

from __future__ import annotations

from tests.static.oracle import agree


def test_list_methods() -> None:
    assert agree(
        """
        xs = [3, 1, 2]
        xs.insert(0, 9)
        xs.insert(-1, 8)
        reveal_shape(torch.zeros(*xs))
        xs.remove(1)
        xs.reverse()
        reveal_shape(torch.zeros(*xs))
        xs.sort()
        last = xs.pop()
        first = xs.pop(0)
        reveal_shape(torch.zeros(len(xs), last, first))
        reveal_shape(torch.zeros(xs.index(8) + 1, xs.count(8)))
        xs.clear()
        xs.extend(range(4))
        xs.extend(n for n in (1, 2))
        reveal_shape(torch.zeros(len(xs)))
        """
    )


def test_lists_popped_in_a_branch() -> None:
    assert agree(
        """
        import random
        xs = [1, 2, 3]
        if random.random() < 2:
            n = xs.pop()
        else:
            n = 7
        reveal_shape(torch.zeros(len(xs), n))
        """
    )


def test_dict_methods() -> None:
    assert agree(
        """
        d = {"a": 1, "b": 2}
        d.update(c=3)
        d.update({"a": 5})
        reveal_shape(torch.zeros(d["a"], d["c"], len(d)))
        n = d.pop("a")
        m = d.pop("zz", 4)
        k = d.setdefault("b", 9)
        j = d.setdefault("e", 6)
        reveal_shape(torch.zeros(n, m, k, j, len(d)))
        e = d | {"b": 7}
        d |= {"q": 1}
        reveal_shape(torch.zeros(e["b"], len(d)))
        reveal_shape(torch.zeros(d.get("b"), d.get("nothing", 3)))
        reveal_shape(torch.zeros(len(d.keys()), sum(d.values())))
        """
    )


def test_a_dict_changed_in_a_branch() -> None:
    assert agree(
        """
        import random
        d = {"n": 1}
        if random.random() < 2:
            d["n"] = 4
            d["m"] = 2
        reveal_shape(torch.zeros(d["n"], d["m"], len(d)))
        n = 2 if "m" in d else 3
        reveal_shape(torch.zeros(n))
        """
    )


def test_a_dict_with_unknown_keys() -> None:
    assert agree(
        """
        import random
        d = {"a": 1}
        d[random.choice(["a", "b"])] = 5
        reveal_shape(torch.zeros(d.get("a", 3), len(d)))
        """
    )


def test_in_place_methods() -> None:
    assert agree(
        """
        x = torch.zeros(2, 3)
        x.unsqueeze_(0)
        reveal_shape(x)
        x.squeeze_(0).t_()
        reveal_shape(x)
        y = x
        y.unsqueeze_(0)
        reveal_shape(x)
        z = [torch.zeros(2)]
        z[0].unsqueeze_(0)
        reveal_shape(z[0])
        x.resize_(7)
        reveal_shape(x)
        w = torch.zeros(4)
        w.data = torch.zeros(9)
        reveal_shape(w)
        v = torch.zeros(2, 2)
        def change(t):
            t.unsqueeze_(0)
        change(v)
        reveal_shape(v)
        """
    )


def test_del_of_a_name_and_of_items() -> None:
    assert agree(
        """
        xs = [1, 2, 3]
        del xs[0]
        d = {"a": 1, "b": 2}
        del d["a"]
        reveal_shape(torch.zeros(xs[0], len(xs), len(d)))
        """
    )
