"""Tasks done by several processes, one at a time each, with the results in order."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from multiprocessing import connection
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

T = TypeVar("T")
R = TypeVar("R")


def in_processes(
    start: Callable[[], Callable[[T], R]], tasks: Sequence[T], jobs: int
) -> Generator[R | None, None, None]:
    """The result of each task in order; None for one whose process died of it (killed, out of memory, a crash).

    Args:
        start: called once in each process; gives what does a task there. An exception of that is raised here.
        tasks: what is to be done.
        jobs: the number of processes.
    """
    pool = _Pool(start, tasks)
    try:
        pool.fill(jobs)
        for index in range(len(tasks)):
            while index not in pool.results:
                pool.wait()
            result = pool.results.pop(index)
            if isinstance(result, Exception):
                raise result
            yield result
    finally:
        pool.stop()


class _Pool(Generic[T, R]):
    """Processes, each with its pipe and the task that it is at."""

    def __init__(self, start: Callable[[], Callable[[T], R]], tasks: Sequence[T]) -> None:
        self.results: dict[int, R | Exception | None] = {}
        self._start = start
        self._tasks = tasks
        self._next = 0
        self._workers: dict[Connection, tuple[BaseProcess, int]] = {}
        self._processes: list[BaseProcess] = []  # all of them, noted before they start: an interrupt may come any time

    def fill(self, jobs: int) -> None:
        """Start processes, as long as there are tasks for them."""
        while len(self._workers) < jobs and self._next < len(self._tasks):
            ours, theirs = multiprocessing.Pipe()
            others = [*self._workers, ours] if multiprocessing.get_start_method() == "fork" else []
            process = multiprocessing.Process(target=_work, args=(self._start, theirs, others), daemon=True)
            self._processes.append(process)
            process.start()
            theirs.close()
            self._give(ours, process)

    def wait(self) -> None:
        """Take results that have come, and hand out the next tasks."""
        jobs = len(self._workers)
        for ready in connection.wait(list(self._workers)):
            assert isinstance(ready, connection.Connection)
            process, index = self._workers.pop(ready)
            try:
                self.results[index] = ready.recv()
            except (EOFError, OSError):
                self.results[index] = None
                ready.close()
                process.join()
                continue
            if self._next < len(self._tasks):
                self._give(ready, process)
            else:
                ready.close()
                process.join()
        self.fill(jobs)

    def stop(self) -> None:
        """End what still runs."""
        started = [process for process in self._processes if process.pid is not None]
        for process in started:
            process.terminate()
        for process in started:
            process.join()
        for ours in self._workers:
            ours.close()

    def _give(self, ours: Connection, process: BaseProcess) -> None:
        index = self._next
        self._next += 1
        self._workers[ours] = (process, index)
        with suppress(OSError):  # the process has died meanwhile: `wait` finds its pipe at an end
            ours.send(self._tasks[index])


def _work(start: Callable[[], Callable[[T], R]], tasks: Connection, others: Sequence[Connection]) -> None:
    """A process: do the tasks that come through the pipe until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends the others
    for other in others:  # a copy of the first process's ends: with it, no pipe would end when that process does
        other.close()
    do = start()
    while True:
        try:
            task = tasks.recv()
        except (EOFError, OSError):
            return
        try:
            result: R | Exception = do(task)
        except Exception as error:  # raised again in the first process
            result = error
        tasks.send(result)
