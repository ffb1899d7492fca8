"""Finding and reading the project's modules; libraries are known by their names only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from shaped.static.settings import settings_of
from shaped.static.trees import Trees
from shaped.static.values import SourceModule

# Packages that are known by the op table or by their annotations: their source is never read.
LIBRARIES = frozenset(
    ["torch", "numpy", "einops", "jaxtyping", "typing", "typing_extensions", "dataclasses", "math", "functools"]
)
_OWN = "shaped"  # a library to all but its own files
_READ = "shaped.runtime.data"  # but for this, whose annotations say what the shapes are
MOST_TAKEN_WHOLE = 16  # modules from which others than the checked one take all names


class Imports:
    """The modules that were read, by file. Made anew for each check.

    Args:
        roots: folders in which absolute imports are looked up, beside the importing file's own project.
        read: gives the text of a file.
        is_file: says whether there is a file.
        trees: those of earlier checks.
    """

    def __init__(
        self,
        roots: Sequence[Path] = (),
        read: Callable[[Path], str] | None = None,
        is_file: Callable[[Path], bool] = Path.is_file,
        trees: Trees | None = None,
    ) -> None:
        self.roots = tuple(roots)
        self._is_file = is_file
        self._trees = trees or Trees()
        self._read = read or (lambda path: path.read_text(encoding="utf-8"))
        self.looked_for: set[Path] = set()  # the files, there or not, that the answer depends on
        self.packages: set[Path] = set()  # the `__init__.py`, there or not, that say where packages end
        self._roots: dict[Path, Path] = {}
        self._modules: dict[Path, SourceModule | None] = {}
        self._found: dict[tuple[str, Path], Path | None] = {}
        self._taken_whole = 0

    def may_take_all(self) -> bool:
        """Whether one more module's names may all be taken, on behalf of another than the checked one.

        A package whose `__init__` takes all of hundreds of modules is not read as a whole for one file.
        """
        self._taken_whole += 1
        return self._taken_whole <= MOST_TAKEN_WHOLE

    def source(self, path: Path, text: str) -> SourceModule:
        """The module of a file with this text.

        Raises:
            SyntaxError: the text is no Python.
            RecursionError: it is nested too deep to be parsed.
        """
        tree = self._trees.parse(path, text)
        module = SourceModule(
            module_name(path, self._root(path)), path, tree, path.stem == "__init__", settings_of(text)
        )
        self._modules[path] = module
        return module

    def load(self, name: str, importer: SourceModule) -> SourceModule | None:
        """The project's module called `name`, None for a library or a file that cannot be read."""
        package = name.split(".", 1)[0]
        is_read = f"{name}.".startswith(f"{_READ}.")
        if package in LIBRARIES or (package == _OWN and importer.name.split(".", 1)[0] != _OWN and not is_read):
            return None
        # Beside this file, not where the project's own modules are.
        path = self._locate(name, Path(__file__) if is_read else importer.path)
        if path is None:
            return None
        if path not in self._modules:
            self._modules[path] = None
            try:
                self.source(path, self._read(path))
            except (OSError, SyntaxError, ValueError, RecursionError):
                return None
        return self._modules[path]

    def _locate(self, name: str, importer: Path) -> Path | None:
        key = (name, importer.parent)
        if key not in self._found:
            self._found[key] = None
            for root in dict.fromkeys((self._root(importer), importer.parent, *self.roots)):
                for path in _candidates(root, name):
                    self.looked_for.add(path)
                    if self._found[key] is None and self._is_file(path):
                        self._found[key] = path
        return self._found[key]

    def _root(self, path: Path) -> Path:
        if path.parent not in self._roots:
            self._roots[path.parent] = project_root(path, self._is_package)
        return self._roots[path.parent]

    def _is_package(self, file: Path) -> bool:
        self.packages.add(file)
        return self._is_file(file)


def _candidates(root: Path, name: str) -> list[Path]:
    base = root.joinpath(*name.split("."))
    return [base.with_name(base.name + ".py"), base / "__init__.py"]


def project_root(path: Path, is_file: Callable[[Path], bool] = Path.is_file) -> Path:
    """The folder that holds the outermost package of a file."""
    folder = path.parent
    while is_file(folder / "__init__.py") and folder.parent != folder:
        folder = folder.parent
    return folder


def module_name(path: Path, root: Path) -> str:
    """The dotted name under which a file is imported from its project, whose root is known."""
    parts = path.with_suffix("").relative_to(root).parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def absolute_name(module: SourceModule, level: int, name: str | None) -> str:
    """The absolute name of `from ..name import x` in `module`."""
    if level == 0:
        return name or ""
    parts = module.name.split(".")
    package = parts if module.is_package else parts[:-1]
    base = package[: len(package) - (level - 1)] if level > 1 else package
    return ".".join([*base, *([name] if name else [])])
