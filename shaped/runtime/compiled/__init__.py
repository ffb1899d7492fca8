"""Compiled steps and forwards: what is known of the shapes is decided once, and the rest is a straight line."""

from shaped.runtime.compiled.backends import BACKENDS
from shaped.runtime.compiled.checking import CheckFailed
from shaped.runtime.compiled.forward import CompiledForward, compile_forward
from shaped.runtime.compiled.program import CannotCompile
from shaped.runtime.compiled.report import Report
from shaped.runtime.compiled.step import CompiledStep, compile_step

__all__ = [
    "BACKENDS",
    "CannotCompile",
    "CheckFailed",
    "CompiledForward",
    "CompiledStep",
    "Report",
    "compile_forward",
    "compile_step",
]
