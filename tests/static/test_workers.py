"""Tasks in several processes: results in order, exceptions raised here, and a process that dies loses its task only."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from shaped.static.workers import in_processes

if TYPE_CHECKING:
    from collections.abc import Callable


def start() -> Callable[[int], int]:
    return work


def work(task: int) -> int:
    if task == -1:
        os.kill(os.getpid(), signal.SIGKILL)
    if task == -2:
        raise LookupError("no such task")
    if task == -3:
        time.sleep(600)
    time.sleep(0.01 * (task % 3))
    return task * task


def test_results_come_in_the_order_of_the_tasks() -> None:
    assert list(in_processes(start, range(20), 3)) == [task * task for task in range(20)]
    assert list(in_processes(start, [], 3)) == []


def test_a_process_that_dies_loses_the_task_that_it_was_at_and_no_other() -> None:
    assert list(in_processes(start, [1, -1, 2, -1, -1, 3, 4], 2)) == [1, None, 4, None, None, 9, 16]
    assert list(in_processes(start, [-1], 2)) == [None]


def test_an_exception_is_raised_here() -> None:
    results = in_processes(start, [1, -2, 3], 2)
    assert next(results) == 1
    with pytest.raises(LookupError, match="no such task"):
        next(results)


def test_no_process_is_left_when_the_results_are_not_all_taken() -> None:
    results = in_processes(start, [1, -3, -3, -3], 2)
    assert next(results) == 1
    results.close()
    assert not multiprocessing.active_children()
