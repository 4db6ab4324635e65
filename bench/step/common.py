"""What the programs of this folder share."""
import json
import os
import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import machine  # noqa: E402
from machine import ROOT  # noqa: E402

PEER = ROOT / "bench/peers/torch_gpt2.py"


def peer_python(given):
    return machine.peer_python(given, "bench-python", ["torch==2.11.0", "numpy"])


def idle_mb(python):
    """Resident memory of a process that has imported torch and nothing else."""
    code = "import torch, resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    return float(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def on_ranks(n, command):
    """The last line of JSON of each rank that prints one; all run at once, with one thread each."""
    meeting = dict(os.environ, OMP_NUM_THREADS="1", WORLD_SIZE=str(n), LOCAL_WORLD_SIZE=str(n),
                   MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    ranks = [subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=dict(meeting, RANK=str(rank), LOCAL_RANK=str(rank))) for rank in range(n)]
    outputs = [rank.communicate() for rank in ranks]
    if any(rank.returncode != 0 for rank in ranks):
        sys.exit(f"{' '.join(map(str, command))} failed:\n" + "\n".join(error[-2000:] for _, error in outputs))
    return [json.loads(text.strip().splitlines()[-1]) for text, _ in outputs if text.strip()]
