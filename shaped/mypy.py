"""The mypy plugin: shape errors from mypy. In mypy's configuration: `plugins = ["shaped.mypy"]`.

It is a thin host of `shaped.static`, which reads source only. mypy's hooks tell which files are being checked and lend
the place for errors; `report_config_data` tells mypy when a cached answer is stale. One thing is added to mypy's own
types: the result of calling a module is what its `forward` declares.
"""

from __future__ import annotations

import gc
import os
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mypy.build import BuildManager
from mypy.errors import CompileError
from mypy.plugin import Plugin

from shaped._mypy.findings import Findings, is_library
from shaped._mypy.forward import module_call_type
from shaped._mypy.records import Records
from shaped.static import config
from shaped.static.config import ConfigurationError
from shaped.static.snapshot import checker_digest, sources_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy.errors import Errors
    from mypy.nodes import MypyFile
    from mypy.options import Options
    from mypy.plugin import ClassDefContext, DynamicClassDefContext, FunctionContext, MethodContext, ReportConfigContext
    from mypy.types import Type

# Newer versions of mypy ask once for each file when all of it is checked. In older ones, a file in which mypy checks no
# call at all (no function has annotations) is only met while its names are resolved.
_HAS_LAST_HOOK = hasattr(Plugin, "get_additional_indirect_deps")
_daemons_findings: Findings | None = None


def plugin(version: str) -> type[Plugin]:
    """mypy's entry point.

    Args:
        version: mypy's version.
    """
    return ShapedPlugin


def __getattr__(name: str) -> str:
    # mypy's daemon compares a plugin's version at each run, and starts afresh when it has changed: so it does when the
    # checker's sources on disk are no longer those that it runs, or its configuration is another.
    if name == "__version__":
        now = sources_digest()
        return "1" if now == checker_digest() and not _configured_anew() else now
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _configured_anew() -> bool:
    """Whether a pyproject.toml says something else than when the daemon read it."""
    return _daemons_findings is not None and _daemons_findings.configurations.has_changed()


class ShapedPlugin(Plugin):
    """Reports the findings of `shaped.static` in each file that mypy checks."""

    def __init__(self, options: Options) -> None:
        global _daemons_findings
        super().__init__(options)
        checker_digest()  # of the sources as loaded, before anyone edits them
        is_daemon = options.fine_grained_incremental
        keeps_cache = options.cache_dir != os.devnull and not is_daemon
        records = Records(Path(options.cache_dir, "shaped") if keeps_cache else None)
        roots = [Path(folder) for folder in (*options.mypy_path, *os.environ.get("MYPYPATH", "").split(os.pathsep))]
        self._findings = Findings(
            records,
            [Path(), *(root for root in roots if root != Path())],
            options,
            show_traceback=_wants_traceback(options),
            is_daemon=is_daemon,
        )
        if is_daemon and _daemons_findings is None:  # later plugins are made only to ask for their version
            _daemons_findings = self._findings
        for path, replacement in options.shadow_file or ():
            self._findings.replace_file(path, replacement)

    def report_config_data(self, ctx: ReportConfigContext) -> str | None:
        """What a module's findings depend on beyond its own text; mypy checks it again when this has changed."""
        if not ctx.path.endswith(".py") or is_library(ctx.path):
            return None
        with _configuration_errors():
            if not ctx.is_check:
                if self._findings.is_checked(ctx.path):
                    self._guard(lambda: self._findings.check(ctx.path))
                else:  # an imported file: mypy by itself checks it again when its errors are asked for
                    self._findings.records.save(ctx.path, ())
            # What could not be checked now is to be checked again: these two are never equal.
            return self._findings.digest(ctx.path) or ("no findings yet" if ctx.is_check else "no findings")

    def set_modules(self, modules: dict[str, MypyFile]) -> None:
        """mypy's table of modules, kept up to date by mypy."""
        super().set_modules(modules)
        self._findings.modules = modules

    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        """Called for each file that is read: the daemon has just dropped the errors of its last run."""
        with _configuration_errors():
            self._findings.is_checked(file.path)
        self._guard(self._findings.restore)
        return []

    def get_additional_indirect_deps(self, file: MypyFile) -> set[str]:
        """Called for each file when all of it is checked."""
        self._guard(lambda: self._visit_last(file))
        return set()

    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        """Called for each class, while names are resolved."""
        if self._findings.errors is None:
            return self._meet_class
        if not _HAS_LAST_HOOK:
            self._visit()
        return None

    def get_dynamic_class_hook(self, fullname: str) -> Callable[[DynamicClassDefContext], None] | None:
        """Called for each `x = f()`, while names are resolved."""
        if not _HAS_LAST_HOOK:
            self._visit()
        return None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """Called for each call of a function or class in checked code."""
        if self._findings.errors is None:
            return self._meet_call
        self._visit()
        return None

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Called for each call of a method, each operator and each index in checked code."""
        if self._findings.errors is None:
            return self._meet_method
        self._visit()
        return module_call_type if fullname.endswith(".__call__") else None

    def _meet_class(self, context: ClassDefContext) -> None:
        self._findings.errors = getattr(context.api, "errors", None)
        if not _HAS_LAST_HOOK:
            self._visit()

    def _meet_call(self, context: FunctionContext) -> Type:
        self._findings.errors = context.api.msg.errors
        self._visit()
        return context.default_return_type

    def _meet_method(self, context: MethodContext) -> Type:
        self._findings.errors = context.api.msg.errors
        self._visit()
        return module_call_type(context)

    def _visit_last(self, file: MypyFile) -> None:
        if self._findings.errors is None:  # not one call was checked
            self._findings.errors = _find_errors(self._modules)
        self._findings.visit_last(file, self.options.clone_for_module(file.fullname))

    def _visit(self) -> None:
        self._guard(self._findings.visit)

    def _guard(self, action: Callable[[], object]) -> None:
        """Run a part of the plugin; its own faults never take mypy down."""
        try:
            with _configuration_errors():
                action()
        except CompileError:
            raise
        except Exception:  # whatever it is, mypy goes on
            self._say_fault()

    def _say_fault(self) -> None:
        errors = self._findings.errors
        file = errors.file if errors is not None else "a file"
        print(f"shaped: a fault in the plugin itself (not in your code) at {file}", file=sys.stderr)
        if _wants_traceback(self.options):
            traceback.print_exc()


@contextmanager
def _configuration_errors() -> Iterator[None]:
    """Let a configuration that means nothing end mypy, as one of its own does."""
    try:
        yield
    except ConfigurationError as error:
        raise CompileError([str(error)]) from None


def _find_errors(modules: dict[str, MypyFile] | None) -> Errors | None:
    """mypy's errors, held by the same object as its modules: for a run in which no hook has lent them."""
    for holder in gc.get_referrers(modules):
        if isinstance(holder, BuildManager):
            return holder.errors
    return None


def _wants_traceback(options: Options) -> bool:
    """Whether faults of the checker are to be shown in full: SHAPED_TRACEBACK=1, or `traceback` under `tool.shaped`."""
    if os.environ.get("SHAPED_TRACEBACK", "0") not in ("", "0"):
        return True
    file = Path(options.config_file or "")
    try:
        if file.suffix == ".toml":
            configuration = config.read(file)
            return configuration is not None and configuration.traceback
        if file.is_file():
            from configparser import ConfigParser

            parser = ConfigParser(interpolation=None)
            parser.read(file, encoding="utf-8")
            return parser.getboolean("shaped", "traceback", fallback=False)
    except (OSError, ValueError, ConfigurationError):  # where files are checked, their configuration is read again
        pass
    return False
