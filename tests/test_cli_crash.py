"""Training that is killed again and again ends with the very bytes of one that never was."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals of Unix")

ROWS = 260_000  # several batches
KILLS = 25  # of each kind of data
KILLS_IN_A_ROW = 5


def texts(folder):
    """Short texts, of words that go on being new."""
    chance = np.random.default_rng(11)
    words = (chance.pareto(0.7, (ROWS, 6)) * 20).astype(int).clip(0, 40_000).tolist()
    labels = chance.choice(["ham", "spam", "news"], ROWS, p=[0.6, 0.3, 0.1]).tolist()
    lines = [f"{' '.join(f'w{word}' for word in row)},{label}\n" for row, label in zip(words, labels, strict=True)]
    (folder / "data.csv").write_text("text,label\n" + "".join(lines))
    return ["data.csv", "--target", "label", "--text", "text", "--fast"]


def table(folder):
    """Numbers, categories and flags, with holes; some rows have no label."""
    chance = np.random.default_rng(12)
    price = [f"{value:.3f}" for value in chance.normal(20, 7, ROWS)]
    stars = chance.poisson(3, ROWS).tolist()
    city = chance.choice(["Rome", "Oslo", "Paris", ""], ROWS).tolist()
    flag = chance.choice(["true", "false", ""], ROWS).tolist()
    label = chance.choice(["again", "never", ""], ROWS, p=[0.4, 0.59, 0.01]).tolist()
    lines = [",".join(map(str, row)) + "\n" for row in zip(price, stars, city, flag, label, strict=True)]
    (folder / "data.csv").write_text("price,stars,city,open,visit\n" + "".join(lines))
    return ["data.csv", "--target", "visit"]


class Trainer:
    """Trains on the same data, to one file; each run ends by itself or is killed."""

    def __init__(self, folder, argv, output="killed.nb"):
        self.folder, self.output = folder, output
        self._argv = [sys.executable, "-m", "naively.cli", "train", *argv, "-o", output]

    def start(self, checkpoint=True):
        """Begin a run; what it says goes to a file."""
        often = ["--checkpoint", "--checkpoint-seconds", "0"] if checkpoint else []
        with open(self.folder / "said.txt", "wb") as said:
            return subprocess.Popen(
                [*self._argv, *often], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )

    def said(self):
        return (self.folder / "said.txt").read_text()

    def finish(self, checkpoint=True):
        """A run that is left alone: the bytes that it writes."""
        run = self.start(checkpoint)
        assert run.wait(100) == 0, self.said()
        return (self.folder / self.output).read_bytes()

    def kill(self, writes, seconds):
        """Start a run, and kill it when it has begun to write so many files and some seconds more have passed.

        False if it came to its end before.
        """
        run, begun = self.start(), set()
        while run.poll() is None and len(begun) < writes:
            begun.update(path.name for path in self.folder.glob(".*.part"))
            time.sleep(0.001)
        until = time.monotonic() + seconds
        while run.poll() is None and time.monotonic() < until:
            time.sleep(0.001)
        run.kill()
        return run.wait(100) == -signal.SIGKILL


def moment(chance, whole):
    """When to kill: as it writes its first, second, ... file, a little later, or at any time at all."""
    writes = chance.choice([0, 0, 0, 1, 2, 3])
    return writes, chance.choice([0.0, chance.uniform(0, 0.1)]) if writes else chance.uniform(0.3, whole)


def leftovers(folder):
    known = {"data.csv", "said.txt", "plain.nb", "killed.nb"}
    return sorted(set(os.listdir(folder)) - known)


@pytest.mark.parametrize("data", [texts, table])
def test_training_that_is_killed_goes_on_to_the_same_bytes(tmp_path, data):
    argv = data(tmp_path)
    plain = Trainer(tmp_path, argv, "plain.nb").finish(checkpoint=False)
    trainer = Trainer(tmp_path, argv)
    begin = time.monotonic()
    assert trainer.finish() == plain
    whole = time.monotonic() - begin
    assert leftovers(tmp_path) == []

    chance = random.Random(f"{data.__name__} 1")
    kills = resumed = 0
    while kills < KILLS:
        (tmp_path / "killed.nb").unlink()
        for _ in range(min(KILLS_IN_A_ROW, KILLS - kills)):
            killed = trainer.kill(*moment(chance, whole))
            kills += killed
            resumed += killed and "going on from" in trainer.said()
            model = tmp_path / "killed.nb"
            if model.exists():  # it was killed behind the last write, or not at all
                assert model.read_bytes() == plain
                break
        assert trainer.finish() == plain
        resumed += "going on from" in trainer.said()
        assert leftovers(tmp_path) == []
    assert resumed >= KILLS // 4, f"only {resumed} runs went on from a checkpoint: kills came too early or too late"
