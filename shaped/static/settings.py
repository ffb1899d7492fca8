"""What a program sets for all of its tensors, as its source says."""

from __future__ import annotations

import ast
from dataclasses import replace

from shaped.spec.dtypes import FLOATS
from shaped.spec.settings import CAST_BY_AUTOCAST, Settings
from shaped.static.node_cache import kept_on_node
from shaped.static.walk import walk


@kept_on_node
def settings_of(tree: ast.Module) -> Settings:
    """The settings of a program with this source. Where one is changed, it is not known from then on or before.

    >>> settings_of(ast.parse("torch.set_default_device('cuda')")).default_device is None
    True
    """
    settings = Settings()
    for node in walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) | ast.keyword(arg=str(name)):
                settings = _changed_by_name(settings, name)
        match node:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                if any(_is_device(item.context_expr) for item in items):
                    settings = replace(settings, default_device=None)
            case ast.Attribute(attr="data", ctx=ast.Store()):
                settings = replace(settings, follows_parameters=False)
    return settings


def joined(a: Settings, b: Settings) -> Settings:
    """What holds where either of two sources is run."""
    return Settings(
        a.default_device if a.default_device == b.default_device else None,
        a.alike | b.alike,
        a.follows_parameters and b.follows_parameters,
    )


def _changed_by_name(settings: Settings, name: str) -> Settings:
    if name == "set_default_dtype":
        return replace(settings, alike=FLOATS)
    if name == "set_default_tensor_type":
        return replace(settings, alike=FLOATS, default_device=None)
    if name == "set_default_device":
        return replace(settings, default_device=None)
    if "autocast" in name or name in ("mixed_precision", "GradScaler"):
        return replace(settings, alike=settings.alike | CAST_BY_AUTOCAST)
    return settings


def _is_device(node: ast.expr) -> bool:
    """Whether `with node` makes new tensors on a device."""
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name.endswith("device")
