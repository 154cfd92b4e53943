"""Tests scripts/average_checkpoints.py on a run of the program."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "python" / "tra"))
import safetensors  # noqa: E402

CONFIG = """
[model]
layers = 1
heads = 1
width = 16
[data]
task = "flipflop"
lengths = [8, 8]
[train]
steps = 3
batch = 2
lr = 1e-2
keep = 3
checkpoint_every = 1
eval_every = 0
[eval]
examples = 4
"""


def run(*command):
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def average(*arguments):
    return run(sys.executable, "-B", TOP / "scripts" / "average_checkpoints.py", *arguments)


class AverageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "tiny.toml").write_text(CONFIG)
        trained = run(os.environ["TRA_PROGRAM"], "train", self.folder / "tiny.toml", "--run", self.folder / "run", "--threads", 1)
        self.assertEqual(trained.returncode, 0, trained.stdout)

    def weights(self, run, step):
        return safetensors.load(self.folder / run / "checkpoints" / f"step-{step}" / "model.safetensors")[0]

    def test_weights_are_the_mean_of_the_last_checkpoints_and_can_be_scored(self):
        averaged = average(self.folder / "run", "--last", 2, "--out", self.folder / "mean")
        self.assertEqual(averaged.returncode, 0, averaged.stdout)
        one, other = self.weights("run", 2), self.weights("run", 3)
        for name, values in self.weights("mean", 3).items():
            np.testing.assert_allclose(values, (one[name].astype("f8") + other[name]) / 2, rtol=1e-7)
        scored = run(os.environ["TRA_PROGRAM"], "eval", self.folder / "mean", "--threads", 1)
        self.assertEqual(scored.returncode, 0, scored.stdout)

    def test_says_how_many_checkpoints_there_are(self):
        averaged = average(self.folder / "run", "--last", 4, "--out", self.folder / "mean")
        self.assertNotEqual(averaged.returncode, 0)
        self.assertIn("has 3 checkpoints", averaged.stdout)
        self.assertFalse((self.folder / "mean").exists())


if __name__ == "__main__":
    unittest.main()
