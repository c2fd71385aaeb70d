"""Where work runs: killable local worker processes, or a cluster, behind one ``Executor``.

A task is a picklable function with its arguments. Whatever it does (hang, eat memory, die), the
caller gets one ``Finished`` for it, in the order of submission, and its neighbours never notice.
"""

from chunk_assets.compute.engines import Cluster, engine
from chunk_assets.compute.pool import WorkerPool
from chunk_assets.compute.stream import convert_all, run_all
from chunk_assets.compute.tasks import Finished, Task

__all__ = ["Cluster", "Finished", "Task", "WorkerPool", "convert_all", "engine", "run_all"]
