"""Dtypes as torch and jaxtyping know them, and the set of dtypes that a tensor may have."""

from __future__ import annotations

from dataclasses import dataclass

FLOATS = frozenset(
    ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
)
COMPLEX = frozenset(["complex32", "complex64", "complex128"])
SIGNED = frozenset(["int8", "int16", "int32", "int64"])
UNSIGNED = frozenset(["uint8", "uint16", "uint32", "uint64"])
INTEGERS = SIGNED | UNSIGNED
BOOL = frozenset(["bool"])
ANY = FLOATS | COMPLEX | INTEGERS | BOOL


@dataclass(frozen=True)
class DType:
    """The dtypes that a tensor may have: one for `torch.float32`, several for jaxtyping's `Float`.

    >>> print(FLOAT32, FLOAT, DType(INTEGERS))
    float32 Float Integer
    """

    names: frozenset[str]

    @staticmethod
    def named(name: str) -> DType:
        """The dtype of torch called `name`, aliases (`float`, `long`) included."""
        return DType(frozenset([ALIASES.get(name, name)]))

    @property
    def single(self) -> str | None:
        """The name of the only dtype it may be, None if there are several."""
        return next(iter(self.names)) if len(self.names) == 1 else None

    def may_be(self, names: frozenset[str]) -> bool:
        """Whether it may be one of `names`."""
        return bool(self.names & names)

    def is_all(self, names: frozenset[str]) -> bool:
        """Whether it is one of `names` for certain."""
        return self.names <= names

    def __str__(self) -> str:
        if self.single is not None:
            return self.single
        for word, names in JAXTYPING.items():
            if names == self.names:
                return word
        return "|".join(sorted(self.names))


ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}

# jaxtyping's dtype words. Shaped, Key and other words that allow every dtype are absent: they mean ANY.
JAXTYPING: dict[str, frozenset[str]] = {
    "Float": FLOATS,
    "Float16": frozenset(["float16"]),
    "Float32": frozenset(["float32"]),
    "Float64": frozenset(["float64"]),
    "BFloat16": frozenset(["bfloat16"]),
    "Float8e4m3fn": frozenset(["float8_e4m3fn"]),
    "Float8e4m3fnuz": frozenset(["float8_e4m3fnuz"]),
    "Float8e5m2": frozenset(["float8_e5m2"]),
    "Float8e5m2fnuz": frozenset(["float8_e5m2fnuz"]),
    "Int": SIGNED,
    "Int8": frozenset(["int8"]),
    "Int16": frozenset(["int16"]),
    "Int32": frozenset(["int32"]),
    "Int64": frozenset(["int64"]),
    "UInt": UNSIGNED,
    "UInt8": frozenset(["uint8"]),
    "UInt16": frozenset(["uint16"]),
    "UInt32": frozenset(["uint32"]),
    "UInt64": frozenset(["uint64"]),
    "Integer": INTEGERS,
    "Bool": BOOL,
    "Complex": COMPLEX,
    "Complex64": frozenset(["complex64"]),
    "Complex128": frozenset(["complex128"]),
    "Inexact": FLOATS | COMPLEX,
    "Real": FLOATS | INTEGERS,
    "Num": FLOATS | INTEGERS | COMPLEX,
    "Shaped": ANY,
}

ANY_DTYPE = DType(ANY)
FLOAT = DType(FLOATS)
BOOLEAN = DType(BOOL)
FLOAT32 = DType.named("float32")
INT64 = DType.named("int64")
