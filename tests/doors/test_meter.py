"""Progress that keeps its word, on a clock that the test moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chunk_assets.cli.meter import Load, Meter, clock_time


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


SPEED = {"bytes": 400_000.0, "documents": 200.0, "texts": 12.0}


def work(meter: Meter, clock: Clock, files: list[tuple[str, int]], texts: int) -> Iterator[float]:
    """One batch as the pipeline reports it; yields the time after each step."""
    meter.start_batch()
    sizes = [size for _, size in files]
    for stage in ("raw_documents", "markdown_documents"):
        done = 0
        for size in sizes:
            clock.now += size / SPEED["bytes"] / 2
            done += size
            meter(stage, done, sum(sizes), "bytes")
            yield clock.now
    for stage, unit, total in (("chunks", "documents", len(files)), ("embeddings", "texts", texts)):
        for done in range(1, total + 1):
            clock.now += 1 / SPEED[unit]
            meter(stage, done, total, unit)
            yield clock.now
    meter.finish_batch()


def skewed() -> list[list[tuple[str, int]]]:
    """193 files in four batches; one file holds 40 % of all bytes."""
    small = [(f"a{n}.md", 9_000 + 100 * (n % 7)) for n in range(192)]
    huge = ("big.pdf", int(sum(size for _, size in small) * 2 / 3))
    return [small[:60], small[60:120], [*small[120:150], huge], small[150:]]


def rehearse(texts_of: dict[str, float]) -> tuple[list[tuple[float, float, float]], float]:
    """(time, share, left) after each step of a run, and the time it took."""
    clock, batches = Clock(), skewed()
    meter = Meter(clock)
    meter.expect([Load.of(files) for files in batches])
    seen = []
    for files in batches:
        texts = round(sum(size * texts_of[path.split(".")[1]] for path, size in files))
        seen += [(now, meter.share(), meter.left()) for now in work(meter, clock, files, texts)]
    return seen, clock.now


def test_the_share_never_goes_back_and_ends_at_the_whole() -> None:
    seen, _ = rehearse({"md": 1 / 300, "pdf": 1 / 3_000})
    shares = [share for _, share, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] > 0.999
    assert seen[-1][2] < 0.1


def test_the_estimate_at_half_time_is_right_within_half_on_a_skewed_set() -> None:
    """Also when files bring twice or half as many texts as foreseen."""
    for factor in (0.5, 1.0, 2.0):
        seen, whole = rehearse({"md": factor / 300, "pdf": factor / 3_000})
        left = next(left for now, _, left in seen if now >= whole / 2)
        assert 1 / 1.5 < left / (whole / 2) < 1.5, factor


def test_a_line_names_stage_units_rate_time_left_and_failures() -> None:
    clock = Clock()
    meter = Meter(clock)
    meter.expect([Load(1_000, 4.0)])
    meter.start_batch()
    clock.now = 2.0
    meter("embeddings", 2, 4, "texts")
    assert all(
        word in meter.line() for word in ("embeddings 2/4 texts", "1.0 texts/s", "0:02 left", "0 failed")
    )


def test_times_are_written_as_people_read_them() -> None:
    assert [clock_time(s) for s in (0, 61, 3_661)] == ["0:00", "1:01", "1:01:01"]
