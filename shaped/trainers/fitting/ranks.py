"""The processes that train one model: whether all of them go on, and what they tell each other.

They meet at fixed points, before and after each batch is computed and after each epoch, over a group of their own, so
that nothing here is taken for a gradient. A process that fails says so, and the others fail at the next meeting,
instead of waiting for gradients that never come.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, NoReturn, TypeVar

import torch
import torch.distributed as dist

Value = TypeVar("Value")

# How long a process that failed waits for the others to come to the next meeting. One that is longer in a batch is told
# by the launcher, or by the broken connection, when this process has ended.
PATIENCE = timedelta(seconds=10)
# How long a process waits at a meeting before it asks whether another one has failed.
_INTERVAL = timedelta(seconds=0.2)


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
        # What this process waits for at a meeting; None outside of one.
        self._meeting: dist.Work | None = None
        if size > 1:
            # On the CPU whatever the model's own group is: the numbers here are the host's.
            self._group = dist.new_group(backend="gloo")
            self._store = dist.distributed_c10d.PrefixStore(
                f"fit {self._group.group_name}", dist.distributed_c10d._get_default_store()
            )

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
        met = torch.empty(self.size, 2, dtype=torch.float64)
        given = torch.tensor((first, second), dtype=torch.float64)
        self._meeting = work = dist.all_gather(list(met.unbind()), given, group=self._group, async_op=True)
        while True:
            try:
                work.wait(_INTERVAL)
                break
            except RuntimeError:
                if work.is_completed():
                    self._finish(work)
                    break
                if self._store.check(["failed"]):
                    self._fail_with_others()
        self._meeting = None
        return [(one, other) for one, other in met.tolist()]

    def _finish(self, work: dist.Work) -> None:
        """End a meeting that came to its end, or broke off, after the last look at it."""
        try:
            work.wait()
        except RuntimeError as error:
            self._is_over = True
            raise RankError([], f"another process of the run has ended, see its output: {error}") from error

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
        if self.size > 1:
            self.agree()
            dist.destroy_process_group(self._group)

    def _tell(self, error: BaseException) -> None:
        """Say that this process fails, and wait for the others to know."""
        if self.size == 1 or self._is_over:
            return
        self._is_over = True
        with suppress(RuntimeError):  # the others may have gone, and the store with them: the error itself matters more
            text = f"rank {self.rank} failed: {type(error).__name__}: {error}"
            self._store.set(f"text {self.rank}", "" if isinstance(error, KeyboardInterrupt) else text)
            self._store.set("failed", "")
            self._leave()

    def _fail_with_others(self) -> NoReturn:
        """Fail at a meeting to which others do not come, because they failed."""
        self._is_over = True
        failed = [rank for rank in range(self.size) if self._store.check([f"text {rank}"])]
        texts = [self._store.get(f"text {rank}").decode() for rank in failed]
        self._leave()
        if "" in texts:
            raise KeyboardInterrupt(f"rank {failed[texts.index('')]} was interrupted")
        raise RankError(failed, "; ".join(texts))

    def _leave(self) -> None:
        """Wait until all processes know that the run fails, and hold the meeting that some of them came to.

        A process cannot end while it waits for a meeting: nobody goes to one that others may not come to.
        """
        self._store.add("leaving", 1)
        deadline = time.monotonic() + PATIENCE.total_seconds()
        while self._store.add("leaving", 0) < self.size:
            if time.monotonic() > deadline:
                return
            time.sleep(0.01)
        if self._meeting is None:
            met = list(torch.empty(self.size, 2, dtype=torch.float64).unbind())
            given = torch.zeros(2, dtype=torch.float64)
            self._meeting = dist.all_gather(met, given, group=self._group, async_op=True)
        with suppress(RuntimeError):
            self._meeting.wait(PATIENCE)
