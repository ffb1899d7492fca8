"""C source, compiled by the system's compiler when it is first needed, and kept for later processes.

A kernel makes things faster and nothing else: what asks for one has another way to the same result, and takes it
where there is no compiler or anything goes wrong. `SHAPED_KERNELS=0` switches kernels off; `SHAPED_TRACEBACK=1` shows
why there is none.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import platform
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

_FLAGS = ("-O3", "-std=c11", "-fPIC", "-shared")
# A product and a sum are two roundings unless the source says `fma`; nothing reads errno or the floating point flags,
# without which loops over sqrt and over conditions become vector instructions.
_ARITHMETIC = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
# The first that the compiler takes; some know only the second.
_TARGETS = (("-march=native",), ("-mcpu=native",), ())
_COMPILER_SECONDS = 60
# Compiled programs are many: each shape of each model has one. They take some 20 KB each.
_MOST_KEPT = 1000
# The lines of /proc/cpuinfo that say which instructions a processor has, on x86 and on Arm.
_INSTRUCTION_SETS = ("vendor_id", "cpu family", "model", "flags", "Features", "CPU implementer", "CPU part", "isa")


class KernelError(Exception):
    """There is no kernel, and why."""


def load(source: str, flags: tuple[str, ...] = ()) -> ctypes.CDLL | None:
    """The functions of a C source, whose calls let other Python threads run; None where there can be no kernel.

    Args:
        source: the C.
        flags: what the compiler is told beside what it always is.

    >>> library = load("int twice(int n) { return 2 * n; }")
    >>> library.twice(21) if library else 42
    42
    """
    if os.environ.get("SHAPED_KERNELS", "1") == "0" or os.name != "posix":
        return None
    return _load(source, flags)


def explain_missing(reason: object) -> None:
    """Say on the error stream why there is no kernel, if SHAPED_TRACEBACK=1 asks for it."""
    if os.environ.get("SHAPED_TRACEBACK", "0") in ("", "0"):
        return
    if isinstance(reason, BaseException):
        traceback.print_exception(reason)
    print(f"shaped: no kernel: {reason}", file=sys.stderr)


@functools.cache
def _load(source: str, flags: tuple[str, ...]) -> ctypes.CDLL | None:
    try:
        compiler = _compiler()
        folder = _private_folder()
        key = _digest(repr((source, _FLAGS, _ARITHMETIC, flags, compiler, _version(compiler), _processor())).encode())
        library = _kept(folder, key) or _open(_compile(source, flags, compiler, folder, key))
    except Exception as error:
        # Whatever is wrong with the machine, the caller's program has another way to its result.
        explain_missing(error)
        return None
    return library


def _kept(folder: Path, key: str) -> ctypes.CDLL | None:
    """The library that was compiled before. One that is damaged is removed: opening it could end the process."""
    for file in folder.glob(f"{key}-*.so"):
        try:
            if file.stem == f"{key}-{_digest(file.read_bytes())}":
                file.touch()  # it is in use: see _prune
                return _open(file)
        except OSError as error:
            explain_missing(error)
        file.unlink(missing_ok=True)
    return None


def _compile(source: str, flags: Sequence[str], compiler: Sequence[str], folder: Path, key: str) -> Path:
    """The compiled source. The file's name holds the digest of what is in it.

    It is moved into its place as a whole, so processes that compile at the same time do not disturb each other.
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as name:
        build = Path(name)
        (build / "kernel.c").write_text(source, encoding="utf-8")
        for target in _TARGETS:
            command = [*compiler, *_FLAGS, *_ARITHMETIC, *flags, *target, "kernel.c", "-o", "kernel.so", "-lm"]
            # Messages go to a file: the children of a compiler that is stopped would keep a pipe open.
            with (build / "messages").open("wb") as messages:
                done = subprocess.run(
                    command,
                    cwd=build,
                    stdin=subprocess.DEVNULL,
                    stdout=messages,
                    stderr=messages,
                    timeout=_COMPILER_SECONDS,
                    check=False,
                )
            if done.returncode == 0:
                break
        else:
            text = (build / "messages").read_text(encoding="utf-8", errors="replace")
            raise KernelError(f"{shlex.join(command)} failed:\n{text}")
        library = build / "kernel.so"
        kept = library.replace(folder / f"{key}-{_digest(library.read_bytes())}.so")
    _prune(folder)
    return kept


def _prune(folder: Path) -> None:
    """Remove the libraries that were not used for longest. One that is open stays usable."""
    libraries = list(folder.glob("*.so"))
    if len(libraries) <= _MOST_KEPT:
        return
    with contextlib.suppress(FileNotFoundError):  # another process is at it
        for file in sorted(libraries, key=lambda one: one.stat().st_mtime)[:-_MOST_KEPT]:
            file.unlink()


def _open(file: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(file))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _compiler() -> list[str]:
    """The command of the compiler: `CC`, else the first of cc, gcc and clang."""
    chosen = shlex.split(os.environ.get("CC", ""))
    if chosen:
        return chosen
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path is not None:
            return [path]
    raise KernelError("no C compiler: set CC, or install cc, gcc or clang")


def _version(compiler: Sequence[str]) -> str:
    return _said_by([*compiler, "--version"])


def _processor() -> str:
    """What tells processors with different instructions apart: a home folder may be shared by several machines."""
    said = [platform.machine(), platform.system()]
    if sys.platform == "darwin":
        said.append(_said_by(["sysctl", "-n", "machdep.cpu.brand_string"]))
    description = Path("/proc/cpuinfo")
    if description.exists():
        first, _, _ = description.read_text(encoding="utf-8", errors="replace").partition("\n\n")
        said += [line for line in first.splitlines() if line.partition(":")[0].strip() in _INSTRUCTION_SETS]
    return "\n".join(said)


def _said_by(command: Sequence[str]) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_COMPILER_SECONDS, check=True)
    return done.stdout.decode(errors="replace")


def _private_folder() -> Path:
    """The first folder for kept libraries that is this user's and that nobody else can write to.

    Raises:
        KernelError: there is none.
    """
    for folder in _folders():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = folder.lstat()
        except OSError:
            continue
        writable_by_others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not writable_by_others
        if is_own and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise KernelError(f"no folder to keep it in: {', '.join(map(str, _folders()))}")


def _folders() -> Iterator[Path]:
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if Path(cache).is_absolute():
        yield Path(cache) / "shaped" / "kernels"
    try:
        home = Path.home()
    except RuntimeError:
        pass
    else:
        yield home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "shaped" / "kernels"
    # One level, so that nobody else can own a folder above it: only its owner moves what is in the system's folder.
    yield Path(tempfile.gettempdir()) / f"shaped-kernels-{os.getuid()}"
