"""Where tasks run: processes of this machine, or a Dask or Ray cluster that somebody else runs.

Nothing here starts, scales or watches a cluster. Every engine is an ``Executor`` with ``workers``, how
many tasks it runs at once, and ``close``. A worker that dies costs time, not documents: its tasks go to
another one. A cluster that is lost ends the run; nothing of the batch is published then.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from functools import partial
from typing import Any, ParamSpec, TypeVar

from chunk_assets.compute.pool import WorkerPool
from chunk_assets.errors import ConfigurationError, StopRun, unknown

P = ParamSpec("P")
T = TypeVar("T")
# How often a task whose worker died or whose transport failed is given to another worker.
RETRIES = 3
CONNECT_SECONDS = 30


class ClusterLost(StopRun):
    """The scheduler of a cluster is gone, so nothing is known of the tasks it had."""

    exit_code = 1


class Cluster(Executor):
    """A cluster's executor with one kind of loss: ``ClusterLost``, from the future that was waited for."""

    def __init__(self, name: str, submit: Callable[..., Future[Any]], workers: int, end: Callable[[], None]):
        self.name = name
        self.workers = workers
        self._submit = submit
        self._end = end

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """``Executor.submit``; cancelling the future cancels the task over there."""
        answer: Future[T] = Future()
        try:
            there = self._submit(fn, *args, **kwargs)
        except Exception as error:
            raise self._lost(error) from error
        answer.add_done_callback(lambda done: there.cancel() if done.cancelled() else None)
        there.add_done_callback(partial(self._pass_on, answer))
        return answer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves the cluster; it goes on without us."""
        self._end()

    def close(self) -> None:
        """Leaves the cluster now."""
        self._end()

    def _pass_on(self, answer: Future[Any], there: Future[Any]) -> None:
        if not answer.set_running_or_notify_cancel():
            return
        try:
            answer.set_result(there.result())
        except CancelledError as error:  # not by us: the scheduler dropped it
            answer.set_exception(self._lost(error))
        except Exception as error:  # noqa: BLE001 - whatever the task raised belongs to its caller
            answer.set_exception(error)

    def _lost(self, error: BaseException) -> ClusterLost:
        return ClusterLost(
            f"{self.name} is lost ({type(error).__name__}); nothing of this batch is published"
        )


def engine(name: str, address: str, workers: int) -> WorkerPool | Cluster:
    """The engine called ``name``: ``local`` with ``workers`` processes, or the cluster at ``address``.

    Raises:
        ConfigurationError: unknown name, no address, or the engine's package is not installed.
        ClusterLost: nothing answers at the address.
    """
    if name == "local":
        return WorkerPool(workers)
    if name not in ENGINES:
        raise unknown("engine", name, ["local", *ENGINES])
    if not address:
        raise ConfigurationError(f"compute.engine {name} needs compute.address, that of a running cluster")
    try:
        return ENGINES[name](address)
    except ImportError as error:
        msg = f"compute.engine {name} needs an extra: pip install 'chunk-assets[{name}]' ({error})"
        raise ConfigurationError(msg) from error


def _dask(address: str) -> Cluster:
    import distributed

    connect: Any = distributed.Client  # it has no types
    try:
        client = connect(address, timeout=CONNECT_SECONDS, set_as_default=False)
        slots = sum(client.nthreads().values())
    except (OSError, ValueError) as error:
        raise ClusterLost(f"no Dask scheduler answers at {address}: {error}") from error

    def submit(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
        answer: Future[Any] = Future()
        there = client.submit(partial(fn, **kwargs) if kwargs else fn, *args, pure=False, retries=RETRIES)
        answer.add_done_callback(lambda done: there.cancel() if done.cancelled() else None)
        there.add_done_callback(partial(_fetch, answer))
        return answer

    return Cluster(f"the Dask cluster at {address}", submit, max(1, slots), client.close)


def _fetch(answer: Future[Any], there: Any) -> None:
    """Hands on what became of a Dask future, also when it can't be told.

    Dask's own executor leaves its future open for ever when the scheduler is lost between a task's end and
    the fetching of its result.
    """
    if not answer.set_running_or_notify_cancel():
        return
    try:
        if there.status == "error":
            answer.set_exception(there.exception())
        elif there.status == "finished":
            answer.set_result(there.result())
        else:
            answer.set_exception(CancelledError(there.status))
    except Exception as error:  # noqa: BLE001 - the task has ended, so this is the transport's
        answer.set_exception(CancelledError(str(error)))


def _ray(address: str) -> Cluster:
    import ray

    try:
        ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ClusterLost(f"no Ray cluster answers at {address}: {error}") from error
    call = ray.remote(max_retries=RETRIES, num_cpus=1)(_call)

    def submit(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
        found: Future[Any] = call.remote(fn, args, kwargs).future()
        return found

    slots = int(ray.cluster_resources().get("CPU", 1))
    return Cluster(f"the Ray cluster at {address}", submit, max(1, slots), ray.shutdown)


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fn(*args, **kwargs)


ENGINES: dict[str, Callable[[str], Cluster]] = {"dask": _dask, "ray": _ray}
