#!/usr/bin/env python3
"""fault.py <program for CPUs> <program for GPUs> <hyperparameters>: a GPU that fails in the middle of a run ends the program
with one line, and the run goes on, on a CPU, from the last checkpoint before. Ends with 1 and a line if it does not."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
import train_equally  # noqa: E402

FAULT = 3500  # of what the GPU is asked for in 20 steps, behind the checkpoint of step 10


def fail(line):
    sys.exit(f"fault.py: {line}")


def main():
    cpu, gpu, hparams = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "train.pbin"
        train_equally.write_tokens(data)
        on_cpu = train_equally.train(cpu, hparams, data, folder / "cpu")
        command = train_equally.command(gpu, hparams, data, folder / "run")
        failed = subprocess.run(command, capture_output=True, text=True,
                                env={**os.environ, "MONOMORPH_SIMULATOR_FAULT": str(FAULT)})
        lines = [line for line in failed.stderr.splitlines() if "[GPU-02]" in line]
        if failed.returncode != 1 or len(lines) != 1 or "illegal memory access" not in lines[0]:
            fail(f"a fault must end the run with 1 and one line, and it ends with {failed.returncode}: {failed.stderr}")
        kept = sorted(path.name for path in (folder / "run/checkpoints").iterdir())
        if kept != ["step_00000010"]:
            fail(f"the checkpoint of step 10 must be there alone, and there are {kept}")
        resumed = train_equally.train(cpu, hparams, data, folder / "run", "checkpoint.resume=auto")
        difference = train_equally.worst(resumed, on_cpu, "loss")
        if difference > 1e-6:
            fail(f"the run that goes on differs from one on a CPU by {difference}")


main()
