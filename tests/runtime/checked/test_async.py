"""Coroutines, generators and threads: each call has its own names, from its arguments to its result."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor
from torch import zeros as z

from shaped.errors import ShapeError
from shaped.runtime.checked import checked


@checked
async def double(x: Float[Tensor, "b"], wrong: bool = False) -> Float[Tensor, "2*b"]:
    await asyncio.sleep(0)
    return x if wrong else torch.cat([x, x])


def test_a_coroutine_function_is_checked_from_its_arguments_to_its_result() -> None:
    """jaxtyped takes the coroutine itself for the result, and refuses it."""
    assert inspect.iscoroutinefunction(double)
    assert asyncio.run(double(z(3))).shape == (6,)
    with pytest.raises(ShapeError, match="argument x of double"):
        asyncio.run(double(z(3, 3)))
    with pytest.raises(ShapeError, match="return of double"):
        asyncio.run(double(z(3), wrong=True))


def test_coroutines_that_run_side_by_side_have_names_of_their_own() -> None:
    @checked
    async def later(x: Float[Tensor, "b"], turns: int) -> Float[Tensor, "b"]:
        for _ in range(turns):
            await asyncio.sleep(0)
            assert isinstance(x, Float[Tensor, "..."])
        return x

    async def both() -> list[Tensor]:
        return await asyncio.gather(*(later(z(n), 7 - n) for n in range(1, 7)))

    assert [len(x) for x in asyncio.run(both())] == [1, 2, 3, 4, 5, 6]


def test_a_coroutine_that_is_cancelled_or_fails() -> None:
    @checked
    async def sleep(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        await asyncio.sleep(10)
        return x

    @checked
    async def fail(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        raise KeyError("of the body")

    async def cancel() -> None:
        task = asyncio.ensure_future(sleep(z(3)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    with pytest.raises(KeyError, match="of the body"):
        asyncio.run(fail(z(3)))


def test_an_annotation_of_the_coroutine_itself() -> None:
    @checked
    def start(x: Float[Tensor, "b"]) -> Coroutine[Any, Any, Tensor]:
        return double(x)

    assert asyncio.run(start(z(3))).shape == (6,)


def test_an_async_method() -> None:
    class Server:
        size = 3

        @checked
        async def answer(self, x: Float[Tensor, "b {self.size}"]) -> Float[Tensor, "b"]:
            return x.sum(1)

        @classmethod
        @checked
        async def make(cls, size: int) -> int:
            return size

    assert asyncio.run(Server().answer(z(2, 3))).shape == (2,)
    with pytest.raises(ShapeError):
        asyncio.run(Server().answer(z(2, 4)))
    with pytest.raises(TypeError):
        asyncio.run(Server.make("x"))


def test_generators_are_generators() -> None:
    @checked
    def rows(x: Float[Tensor, "b n"]) -> Iterator[Float[Tensor, "n"]]:
        yield from x

    @checked
    def talk(x: Float[Tensor, "b"]) -> Generator[int, str, Float[Tensor, "b"]]:
        heard = yield 1
        assert heard == "x"
        return x

    assert inspect.isgenerator(rows(z(2, 3)))
    assert len(list(rows(z(2, 3)))) == 2
    talking = talk(z(3))
    assert next(talking) == 1
    with pytest.raises(StopIteration) as stop:
        talking.send("x")
    assert stop.value.value.shape == (3,)
    with pytest.raises(ShapeError):
        rows(z(3))


def test_async_generators_are_async_generators() -> None:
    @checked
    async def rows(x: Float[Tensor, "b n"]) -> AsyncIterator[Float[Tensor, "n"]]:
        for row in x:
            yield row

    @checked
    async def counted(n: int) -> AsyncGenerator[int, None]:
        for i in range(n):
            yield i

    async def gather(items: AsyncIterator[Any]) -> list[Any]:
        return [item async for item in items]

    assert inspect.isasyncgen(rows(z(2, 3)))
    assert len(asyncio.run(gather(rows(z(2, 3))))) == 2
    assert asyncio.run(gather(counted(3))) == [0, 1, 2]
    with pytest.raises(ShapeError):
        rows(z(3))
    with pytest.raises(TypeError):
        counted("x")


def test_an_async_context_manager() -> None:
    @asynccontextmanager
    @checked
    async def using(x: Float[Tensor, "b"]) -> AsyncIterator[Float[Tensor, "b"]]:
        yield x

    async def use(x: Tensor) -> int:
        async with using(x) as y:
            return len(y)

    assert asyncio.run(use(z(3))) == 3
    with pytest.raises(ShapeError):
        asyncio.run(use(z(3, 3)))


def test_threads_do_not_share_names() -> None:
    barrier = threading.Barrier(2)

    @checked
    def meet(x: Float[Tensor, "b"], y: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        barrier.wait(timeout=30)
        assert isinstance(x, Float[Tensor, "b"])
        assert not isinstance(z(len(x) + 1), Float[Tensor, "b"])
        barrier.wait(timeout=30)
        return x + y

    with ThreadPoolExecutor(2) as pool:
        results = [pool.submit(meet, z(n), z(n)) for n in (3, 4)]
        assert [len(result.result()) for result in results] == [3, 4]


def test_many_threads_call_one_function() -> None:
    @checked
    def add(x: Float[Tensor, "b n"], y: Float[Tensor, "n"]) -> Float[Tensor, "b n"]:
        return x + y

    def work(n: int) -> int:
        for _ in range(100):
            assert add(z(2, n), z(n)).shape == (2, n)
            with pytest.raises(ShapeError, match=f"axis 0 is {n + 1}, not n={n}"):
                add(z(2, n), z(n + 1))
        return n

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(2, 10))) == list(range(2, 10))


def test_a_function_is_decorated_by_several_threads_at_once() -> None:
    def decorate(n: int) -> int:
        @checked
        def f(x: Float[Tensor, "b"], y: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
            return x + y

        with pytest.raises(ShapeError):
            f(z(n), z(n + 1))
        return len(f(z(n), z(n)))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(decorate, range(1, 41))) == list(range(1, 41))
