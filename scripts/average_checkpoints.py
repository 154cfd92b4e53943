#!/usr/bin/python3
"""Makes a run of the mean of a run's checkpoints, for tra eval to score.

    scripts/average_checkpoints.py runs/copy-tra-s1 --last 4 --out runs/averaged
    build/release/bin/tra eval runs/averaged

The weights are summed in float64. The new run holds one checkpoint, named after the last of those it is made of; it can
be scored and looked at, but training cannot go on from it, because its optimiser is that of the last checkpoint alone.
"""

import argparse
import hashlib
import importlib.util
import json
import pathlib
import shutil
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
SPEC = importlib.util.spec_from_file_location("safetensors_numpy", TOP / "python/tra/safetensors.py")
safetensors = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(safetensors)


def mean_weights(checkpoints):
    total, metadata = {}, {}
    for checkpoint in checkpoints:
        tensors, metadata = safetensors.load(checkpoint / "model.safetensors")
        for name, values in tensors.items():
            total[name] = values.astype("f8") + total.get(name, 0)
    return {name: (values / len(checkpoints)).astype("f4") for name, values in total.items()}, metadata


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("--last", type=int, required=True, help="how many checkpoints, counted from the last one")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the new run")
    options = parser.parse_args()
    found = sorted(options.run.glob("checkpoints/step-*"), key=lambda path: int(path.name.split("-")[1]))
    if not 2 <= options.last <= len(found):
        sys.exit(f"{options.run} has {len(found)} checkpoints: --last takes 2 to {len(found)}; train.keep keeps more")
    if options.out.exists():
        sys.exit(f"{options.out} exists; name another folder")
    chosen = found[-options.last:]
    tensors, metadata = mean_weights(chosen)
    target = options.out / "checkpoints" / chosen[-1].name
    target.parent.mkdir(parents=True)
    shutil.copytree(chosen[-1], target)
    for name in ("config.toml", "env.json"):
        shutil.copy(options.run / name, options.out)
    safetensors.save(target / "model.safetensors", tensors, metadata)
    state = json.loads((target / "state.json").read_text())
    state["sha256"]["model.safetensors"] = hashlib.sha256((target / "model.safetensors").read_bytes()).hexdigest()
    (target / "state.json").write_text(json.dumps(state, indent=2) + "\n")
    print(f"{options.out}: the mean of steps", ", ".join(path.name.split("-")[1] for path in chosen))


if __name__ == "__main__":
    main()
