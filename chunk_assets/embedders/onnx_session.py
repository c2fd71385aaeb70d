"""ONNX Runtime sessions that give the same vector for a text however many run side by side."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def open_session(model: Path) -> Any:
    """A session with one thread: a pool of them is faster than one with many, and repeatable.

    The memory arena is off because it keeps the largest size ever asked for, for each session.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read when the library is loaded
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


class SessionPool:
    """Sessions of one model, opened when a worker needs one more and kept until ``close``."""

    def __init__(self, model: Path) -> None:
        self._model = model
        self._idle: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock = threading.Lock()

    @contextmanager
    def session(self) -> Iterator[Any]:
        """One session for one caller at a time."""
        session = self._take()
        try:
            yield session
        finally:
            self._idle.put(session)

    def _take(self) -> Any:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            with self._lock:  # optimising the same graph twice at once only makes both slower
                return open_session(self._model)

    def close(self) -> None:
        """Drops the idle sessions; one in use is dropped when its caller is done."""
        self._idle = queue.SimpleQueue()


def run_one(session: Any, ids: Sequence[int], output: str) -> NDArray[np.float32]:
    """The model's ``output`` for one text (batch of one, no padding), ``float32[tokens, width]``.

    One text at a time: int8 activations are quantised over the whole batch, so that neighbours
    would change the vector.
    """
    import numpy as np

    tokens = np.array([ids], dtype=np.int64)
    feed = {
        "input_ids": tokens,
        "attention_mask": np.ones_like(tokens),
        "token_type_ids": np.zeros_like(tokens),
    }
    wanted = {given.name for given in session.get_inputs()}
    result = session.run([output], {name: value for name, value in feed.items() if name in wanted})[0][0]
    return np.asarray(result, dtype=np.float32)
