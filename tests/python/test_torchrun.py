"""Runs `tra train` under torchrun itself: processes find each other, and restart after one was killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import torch.distributed

PROGRAM = os.environ["TRA_PROGRAM"]
CONFIG = """
[model]
layers = 1
heads = 2
width = 32
[data]
task = "copy"
lengths = [1, 8]
[train]
steps = 300
batch = 8
log_every = 1
checkpoint_every = 20
[eval]
splits = ["iid"]
examples = 10
"""
# --redirects and --tee are set because torch 1.13 does not understand its own default for them, 0, under Python 3.11.
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--no_python", "--redirects", "1", "--tee", "1",
            "--nproc_per_node", "2"]
# For a torch built without libuv: torchrun asks for stores with libuv all the same, unless it need not make one.
ENVIRONMENT = dict(os.environ, USE_LIBUV="0", TORCH_DISABLE_SHARE_RDZV_TCP_STORE="1")


@unittest.skipUnless(torch.distributed.is_available(), "this torch has no torchrun")
class Torchrun(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.config = self.at("config.toml")
        with open(self.config, "w") as file:
            file.write(CONFIG)
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = str(probe.getsockname()[1])

    def at(self, name):
        return os.path.join(self.directory.name, name)

    def train(self, run, *more):
        return [PROGRAM, "train", self.config, "--run", self.at(run), "--threads", "1", "--quiet", *more]

    # Returns the usual command: torchrun itself holds the store at MASTER_PORT.
    def by_address(self):
        return [*TORCHRUN, "--master_addr", "127.0.0.1", "--master_port", self.port]

    # Returns a command with which processes meet in a file, a new one every time, and the first one holds the store.
    def by_file(self):
        file = tempfile.mktemp(dir=self.directory.name)
        return [*TORCHRUN, "--rdzv_backend", "c10d", "--rdzv_conf", "store_type=file", "--rdzv_endpoint", file]

    def losses(self, run):
        with open(os.path.join(self.at(run), "metrics.jsonl")) as file:
            rows = [json.loads(line) for line in file]
        return {row["step"]: row["train/loss"] for row in rows if "train/loss" in row}

    def expect_same(self, run, want):
        self.assertTrue(os.path.exists(os.path.join(self.at(run), "DONE")))
        got, want = self.losses(run), self.losses(want)
        self.assertEqual(list(got), list(want))
        for step, loss in want.items():
            self.assertAlmostEqual(got[step], loss, delta=2e-6 * loss, msg=str(step))

    def check(self, torchrun):
        if subprocess.run([*torchrun(), "true"], capture_output=True, env=ENVIRONMENT).returncode != 0:
            self.skipTest("this torchrun cannot start anything so")
        subprocess.run(self.train("one"), check=True)
        command = [*torchrun(), *self.train("two")]
        subprocess.run(command, check=True, timeout=120, capture_output=True, env=ENVIRONMENT)
        self.expect_same("two", "one")

        command = [*torchrun(), "--max_restarts", "2", *self.train("killed", "--resume")]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env=ENVIRONMENT) as running:
            self.kill_one_of("killed")
            said = running.communicate(timeout=120)[1]
        self.assertEqual(running.returncode, 0, said)
        self.assertIn("failed (exitcode: ", said)  # torchrun saw it
        self.expect_same("killed", "one")

    def test_by_address_as_one_process_also_after_a_kill(self):
        self.check(self.by_address)

    def test_by_file_as_one_process_also_after_a_kill(self):
        self.check(self.by_file)

    # Kills one of the processes of a run, once the run has saved a checkpoint.
    def kill_one_of(self, run):
        deadline = time.time() + 60
        while time.time() < deadline:
            checkpoints = os.path.join(self.at(run), "checkpoints")
            if os.path.exists(checkpoints) and any(name.startswith("step-") for name in os.listdir(checkpoints)):
                break
            time.sleep(0.005)
        pids = [pid for pid in filter(str.isdigit, os.listdir("/proc")) if self.is_of(run, pid)]
        self.assertEqual(len(pids), 2)
        os.kill(max(map(int, pids)), signal.SIGKILL)

    def is_of(self, run, pid):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                command = file.read().split("\0")
        except OSError:  # it has ended
            return False
        return command[0] == PROGRAM and self.at(run) in command


if __name__ == "__main__":
    unittest.main()
