"""What the programs of this folder share."""
import json
import os
import pathlib
import platform
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEER = ROOT / "bench/peers/torch_gpt2.py"


def peer_python(given):
    """The Python of the peers: the given one, or that of a virtual environment which is made if it is not there."""
    if given:
        return given
    folder = ROOT / ".deps/bench-python"
    if not (folder / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "-q", "torch==2.11.0", "numpy"], check=True)
    return str(folder / "bin/python")


def idle_mb(python):
    """Resident memory of a process that has imported torch and nothing else."""
    code = "import torch, resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    return float(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)


def machine():
    """Commit, processor and its instruction sets, in words."""
    cpu = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    flags = next((l for l in open("/proc/cpuinfo") if l.startswith("flags")), "")
    isa = ", ".join(name for flag, name in (("avx2", "AVX2"), ("avx512f", "AVX-512"), ("amx_tile", "AMX")) if f" {flag}" in flags)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout.strip()
    return f"commit {commit}, {cpu} ({isa}), {os.cpu_count()} cores"


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
