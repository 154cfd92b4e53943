"""Compares `tra logits` with models of plain torch operations, as a user does to check another implementation."""

import json
import os
import subprocess
import tempfile
import unittest

import torch

from test_model import SIZES, TOOL, Plain
from tra import safetensors

PROGRAM = os.environ["TRA_PROGRAM"]


class Logits(unittest.TestCase):
    def test_are_those_of_plain_torch(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "model.safetensors")
            for attention in ("rope", "diff", "tra"):  # test_model has them all
                config = dict(SIZES, attention=attention, block="prenorm")
                subprocess.run([TOOL, "init", json.dumps(config), path], check=True)
                weights = {name: torch.from_numpy(each.copy()).double() for name, each in safetensors.load(path)[0].items()}
                tokens = torch.randint(13, (2, 20), generator=torch.Generator().manual_seed(4))
                run = [PROGRAM, "logits", path]
                said = json.loads(subprocess.run(run, input=json.dumps(tokens.tolist()), text=True, check=True,
                                                 stdout=subprocess.PIPE).stdout)
                self.assertEqual((said["attention"], said["vocabulary"]), (attention, 13))
                # Logits are below 1; the tolerance allows for two layers in fp32.
                torch.testing.assert_close(torch.tensor(said["logits"], dtype=torch.float64),
                                           Plain(config, weights).logits(tokens), rtol=0, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
