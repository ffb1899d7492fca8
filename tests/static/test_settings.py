"""What a program sets for all of its tensors."""

from __future__ import annotations

import pytest

from shaped.spec.dtypes import FLOATS
from shaped.spec.settings import CAST_BY_AUTOCAST, Settings
from shaped.static.settings import joined, settings_of


def test_a_program_that_sets_nothing_has_torch_s_settings():
    source = "device = torch.device('cuda')\nx = x.to(device)\nfor m in net.modules():\n    init(m)\nx.data == y\n"
    assert settings_of(source) == Settings()


@pytest.mark.parametrize(
    "line", ["torch.set_default_device('cuda')", "with torch.device('meta'):", "with self.device:"]
)
def test_where_a_default_device_is_set_none_is_known(line):
    assert settings_of(line).default_device is None


def test_another_default_dtype_makes_all_float_dtypes_alike():
    assert settings_of("torch.set_default_dtype(torch.float64)").alike == FLOATS


def test_autocast_leaves_float64_as_it_is():
    assert settings_of("with torch.autocast('cuda'):").alike == CAST_BY_AUTOCAST


@pytest.mark.parametrize(
    "source",
    [
        "p.data = p.data.half()",
        "for m in net.modules():\n    m.half()",
        "for name, layer in net.named_children():\n    layer.to(dtype)",
        "net.load_state_dict(weights, assign=True)",
    ],
)
def test_parameters_that_are_cast_one_by_one_are_not_followed(source):
    assert not settings_of(source).follows_parameters


def test_of_two_sources_holds_what_holds_of_both():
    sources = [settings_of("autocast"), settings_of("with torch.device('meta'):")]
    assert joined(*sources) == Settings(None, CAST_BY_AUTOCAST)
