"""What compiling came to: which backend was taken, why others were not, what it cost and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Report:
    """How a step or a forward was compiled.

    Args:
        backend: what runs it.
        checked: how it was held to eager.
        refused: why other backends are not used, by name.
        build_seconds: how long each backend took to build.
        microseconds: the median time of a call, for each backend that was measured and for eager.
    """

    backend: str = "eager"
    checked: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    build_seconds: dict[str, float] = field(default_factory=dict)
    microseconds: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{self.backend}: {self.checked}" if self.checked else self.backend]
        for name, seconds in self.build_seconds.items():
            took = f", {self.microseconds[name]:.1f} us a call" if name in self.microseconds else ""
            lines.append(f"  {name}: built in {seconds:.2f} s{took}")
        if "eager" in self.microseconds:
            lines.append(f"  eager: {self.microseconds['eager']:.1f} us a call")
        lines += [f"  not {name}: {reason}" for name, reason in self.refused.items()]
        return "\n".join(lines)
