"""The processes that train one model: whether all of them go on, and what they tell each other.

They meet at fixed points, before and after each batch is computed and after each epoch, over a group of their own, so
that nothing here is taken for a gradient. A process that fails says so at the next meeting, and the others fail with
it, instead of waiting for gradients that never come.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist

Value = TypeVar("Value")

# How long a process that failed waits for the others to come to the next meeting. One that is longer in a batch is told
# by the launcher, or by the broken connection, when this process has ended.
PATIENCE = timedelta(seconds=10)
_GOES_ON, _FAILED, _INTERRUPTED = 0.0, 1.0, 2.0


class RankError(RuntimeError):
    """Another process of the run failed, so this one cannot go on.

    Args:
        ranks: which ones; empty where that is not known.
        reason: what they said.
    """

    def __init__(self, ranks: Sequence[int], reason: str) -> None:
        self.ranks = tuple(ranks)
        self.reason = reason
        super().__init__(reason)


class Ranks:
    """One process of a run, and its link to the others. Alone it has nobody to agree with.

    Args:
        rank: which one it is, from 0.
        size: how many there are.

    >>> ranks = Ranks()
    >>> ranks.agree(3.0, 0.5), ranks.gather("a"), ranks.broadcast("b")
    ([(3.0, 0.5)], ['a'], 'b')
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank = rank
        self.size = size
        self._is_over = False
        self._group: Any = None
        if size > 1:
            # On the CPU whatever the model's own group is: the numbers here are the host's.
            self._group = dist.new_group(backend="gloo")

    @property
    def is_first(self) -> bool:
        """Whether this process is the one that shows and writes."""
        return self.rank == 0

    def agree(self, first: float = 0.0, second: float = 0.0) -> list[tuple[float, float]]:
        """Meet the others: the two numbers that each of them gave, by rank.

        Raises:
            RankError: another process failed.
            KeyboardInterrupt: another process was interrupted.
        """
        if self.size == 1:
            return [(first, second)]
        try:
            met = self._meet((_GOES_ON, first, second))
            states = [state for state, _, _ in met]
            if not any(states):
                return [(one, other) for _, one, other in met]
            self._is_over = True
            reasons = self.gather("")
        except RuntimeError as error:
            self._is_over = True
            raise RankError([], f"another process of the run has ended, see its output: {error}") from error
        failed = [rank for rank, state in enumerate(states) if state]
        if _INTERRUPTED in states:
            raise KeyboardInterrupt(f"rank {states.index(_INTERRUPTED)} was interrupted")
        raise RankError(failed, "; ".join(f"rank {rank} failed: {reasons[rank]}" for rank in failed))

    def gather(self, value: Value) -> list[Value]:
        """What each process gave, by rank: plain data."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value, group=self._group)
        return values

    def broadcast(self, value: Value) -> Value:
        """What rank 0 gave: plain data."""
        if self.size == 1:
            return value
        values = [value]
        dist.broadcast_object_list(values, src=0, group=self._group)
        return values[0]

    @contextmanager
    def together(self) -> Iterator[None]:
        """A block that all processes leave together: where one fails, the others do at their next meeting."""
        try:
            yield
        except BaseException as error:
            self._tell(error)
            raise
        if self._group is not None:
            self.agree()
            dist.destroy_process_group(self._group)

    def _tell(self, error: BaseException) -> None:
        """Go to the next meeting, and say there that this process fails."""
        if self.size == 1 or self._is_over:
            return
        self._is_over = True
        state = _INTERRUPTED if isinstance(error, KeyboardInterrupt) else _FAILED
        try:
            self._meet((state, math.nan, math.nan), PATIENCE)
            self.gather(f"{type(error).__name__}: {error}")
        except RuntimeError:  # nobody came, or somebody has gone: the error itself matters more
            pass

    def _meet(self, own: tuple[float, float, float], patience: timedelta | None = None) -> list[tuple[float, ...]]:
        """Every process's three numbers."""
        met = torch.empty(self.size, 3, dtype=torch.float64)
        given = torch.tensor(own, dtype=torch.float64)
        # Under a caller's inference mode as well.
        work = dist.all_gather(list(met.unbind()), given, group=self._group, async_op=True)
        if patience is None:
            work.wait()
        else:
            work.wait(patience)
        return cast(list[tuple[float, ...]], [tuple(row) for row in met.tolist()])
