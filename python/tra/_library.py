"""Finds libtra_ops.so and loads it into torch."""

import os
from pathlib import Path

import torch

NAME = "libtra_ops.so"


def candidates():
    """Returns where the library may be: where the user says, or else beside this file, in its checkout or prefix."""
    named = os.environ.get("TRA_OPS_LIBRARY")
    if named:
        return [Path(named)]
    here = Path(__file__).resolve().parent
    built = [here.parents[1] / "build" / preset / NAME for preset in ("release", "debug")]
    # PREFIX/lib/python3/dist-packages/tra: the library is in PREFIX/lib, or in a folder of the architecture below it.
    libraries = here.parents[2]
    return [here / NAME, *built, libraries / NAME, *sorted(libraries.glob(f"*-linux-gnu/{NAME}"))]


def load_library():
    for path in candidates():
        if path.is_file():
            torch.ops.load_library(str(path))
            return
    looked = ", ".join(str(path) for path in candidates())
    raise ImportError(
        f"tra: {NAME} not found; looked for {looked}. Build it with `make build`, or set TRA_OPS_LIBRARY to its path."
    )
