"""Reports as people and programs read them: lines of text, JSON, a source listing with shapes beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.static.host import Positions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shaped.static.host import Checked
    from shaped.static.report import Diagnostic, Note, Report, ShownShape, Statistics

_WIDEST_LISTING = 96
_MOST_SHAPES = 4


class Style:
    """Terminal colours, or none."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def error(self, text: str) -> str:
        """The colour of errors."""
        return self._wrap("1;31", text)

    def note(self, text: str) -> str:
        """The colour of notes and hints."""
        return self._wrap("34", text)

    def shape(self, text: str) -> str:
        """The colour of shapes."""
        return self._wrap("36", text)

    def faint(self, text: str) -> str:
        """The colour of what is beside the point."""
        return self._wrap("2", text)

    def good(self, text: str) -> str:
        """The colour of a clean result."""
        return self._wrap("1;32", text)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and text else text


def note_texts(diagnostic: Diagnostic) -> Iterator[str]:
    """The notes below a message, the hint last."""
    for note in diagnostic.notes:
        yield str(note)
    if diagnostic.hint:
        yield f"hint: {diagnostic.hint}"


def text_lines(checked: Checked, style: Style) -> Iterator[str]:
    """A report as compilers print it: `path:line:column: error: message  [code]`, the notes below."""
    positions = Positions(checked.source)
    for diagnostic in checked.report.diagnostics:
        line, path = diagnostic.span.line, diagnostic.path
        column = positions.column(line, diagnostic.span.column) + 1
        paint = style.error if diagnostic.severity == "error" else style.note
        code = style.faint(f"  [{diagnostic.code}]") if diagnostic.severity == "error" else ""
        yield f"{path}:{line}:{column}: {paint(diagnostic.severity + ':')} {diagnostic.message}{code}"
        for text in note_texts(diagnostic):
            yield f"{path}:{line}: {style.note('note:')} {text}"


def json_objects(checked: Checked) -> Iterator[dict[str, object]]:
    """A report as data: one object a finding, lines and columns from 1, the end column exclusive."""
    positions = Positions(checked.source)
    for diagnostic in checked.report.diagnostics:
        span = diagnostic.span
        end_line = span.end_line or span.line
        end_column = span.end_column if span.end_line else span.column
        yield {
            "file": diagnostic.path,
            "line": span.line,
            "column": positions.column(span.line, span.column) + 1,
            "end_line": end_line,
            "end_column": positions.column(end_line, end_column) + 1,
            "severity": diagnostic.severity,
            "code": diagnostic.code,
            "message": diagnostic.message,
            "hint": diagnostic.hint or None,
            "notes": [_json_note(diagnostic, note) for note in diagnostic.notes],
        }


def _json_note(diagnostic: Diagnostic, note: Note) -> dict[str, object]:
    return {"file": note.path or diagnostic.path, "line": note.line or None, "message": note.text}


def assumption_lines(report: Report, style: Style) -> Iterator[str]:
    """What the code relies on, a line each: `path:line: assumes d % h == 0`."""
    for assumption in report.assumptions:
        yield f"{assumption.path}:{assumption.line}: {style.note('assumes')} {assumption.text}"


def assumption_objects(report: Report) -> Iterator[dict[str, object]]:
    """The same as data."""
    for assumption in report.assumptions:
        yield {"file": assumption.path, "line": assumption.line, "severity": "assumption", "message": assumption.text}


def statistics_lines(statistics: Statistics) -> Iterator[str]:
    """How many tensor expressions have a known shape, and the calls without a rule, the most frequent first."""
    total = statistics.tensors

    def share(count: int) -> str:
        return f"{count} ({count / total:.1%})" if total else "0"

    yield (
        f"{total} tensor expressions: shape known {share(statistics.shape_known)}, "
        f"only the rank {share(statistics.rank_known)}, unknown {share(statistics.unknown)}"
    )
    if statistics.without_rule:
        yield f"{statistics.without_rule.total()} calls without a rule:"
        for name, count in sorted(statistics.without_rule.items(), key=lambda item: (-item[1], item[0])):
            yield f"{count:6}  {name}"


def statistics_object(statistics: Statistics) -> dict[str, object]:
    """The same as data."""
    return {
        "tensor_expressions": statistics.tensors,
        "shape_known": statistics.shape_known,
        "rank_known": statistics.rank_known,
        "unknown": statistics.unknown,
        "without_rule": dict(sorted(statistics.without_rule.items(), key=lambda item: (-item[1], item[0]))),
    }


def listing(checked: Checked, style: Style) -> Iterator[str]:
    """The source with each line's shapes beside it and the findings below their lines."""
    lines = checked.source.splitlines()
    shapes: dict[int, list[ShownShape]] = {}
    for shown in checked.report.shapes:
        shapes.setdefault(shown.span.end_line or shown.span.line, []).append(shown)
    findings: dict[int, list[Diagnostic]] = {}
    for diagnostic in checked.report.diagnostics:
        findings.setdefault(diagnostic.span.end_line or diagnostic.span.line, []).append(diagnostic)
    positions = Positions(checked.source)
    numbers = len(str(len(lines)))
    width = min(
        max((len(line) for number, line in enumerate(lines, 1) if number in shapes), default=0), _WIDEST_LISTING
    )
    for number, line in enumerate(lines, 1):
        start = f"{style.faint(f'{number:{numbers}}')} {line}"
        beside = _beside(shapes.get(number, ()))
        yield f"{start}{' ' * max(0, width - len(line))}  {style.shape(beside)}" if beside else start.rstrip()
        for diagnostic in findings.get(number, ()):
            margin = " " * (numbers + 1)
            if diagnostic.span.line == number:
                margin += " " * positions.column(number, diagnostic.span.column)
            paint = style.error if diagnostic.severity == "error" else style.note
            yield f"{margin}{paint('^ ' + diagnostic.severity + ':')} {diagnostic.message}"
            for text in note_texts(diagnostic):
                yield f"{margin}  {style.note('note:')} {text}"


def _beside(shown: Sequence[ShownShape]) -> str:
    """The shapes of one line: those of its outermost expressions, named where there is more than one."""
    outermost = [one for one in shown if not any(_inside(one, other) for other in shown)]
    unique = list(dict.fromkeys((one.source, str(one)) for one in sorted(outermost)))
    if not unique:
        return ""
    if len(unique) == 1:
        return unique[0][1]
    return ", ".join(f"{source}: {shape}" for source, shape in unique[:_MOST_SHAPES])


def _inside(inner: ShownShape, outer: ShownShape) -> bool:
    """Whether one expression is a proper part of another."""
    a, b = inner.span, outer.span
    return (
        a != b and (b.line, b.column) <= (a.line, a.column) and (a.end_line, a.end_column) <= (b.end_line, b.end_column)
    )
