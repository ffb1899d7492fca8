"""All operations that have loops of their own, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from shaped.runtime.compiled.c.arguments import Call
from shaped.runtime.compiled.c.classes import CLASSES
from shaped.runtime.compiled.c.indexing import INDEXING
from shaped.runtime.compiled.c.products import PRODUCTS
from shaped.runtime.compiled.c.reductions import REDUCTIONS
from shaped.runtime.compiled.c.rows import ROWS
from shaped.runtime.compiled.c.steps import Elementwise, Kernel

Lowering: TypeAlias = Callable[[Call], Sequence[Kernel | Elementwise]]

KERNELS: dict[str, Lowering] = {**PRODUCTS, **REDUCTIONS, **ROWS, **CLASSES, **INDEXING}
