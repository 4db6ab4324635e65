"""What the measuring scripts of this folder share: the peers' Python, and what a report says of machine and versions."""
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED_DATA = ROOT.parent / "shared/data"
REQUIREMENTS = ["tokenizers==0.23.3", "tiktoken==0.14.0"]


def peer_python(given=None, name="bench-data-python", requirements=REQUIREMENTS):
    """A Python that has the peers: the one given, or that of a virtual environment of this name made in .deps."""
    if given:
        return given
    folder = ROOT / ".deps" / name
    if not (folder / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "-q", *requirements], check=True)
    return str(folder / "bin/python")


def last_json(command, threads=1):
    """Runs a command with at most that many threads for the peers; the last line that it prints, parsed."""
    environment = dict(os.environ, RAYON_NUM_THREADS=str(threads), OMP_NUM_THREADS=str(threads),
                       TOKENIZERS_PARALLELISM="true" if threads > 1 else "false")
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{result.stderr[-2000:]}")
    return json.loads(result.stdout.strip().splitlines()[-1])


def conditions(requirements=REQUIREMENTS):
    """The day, the commit, the processor and the load before the run, for the head of a report."""
    cpu = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    flags = next((l for l in open("/proc/cpuinfo") if l.startswith("flags")), "")
    isa = ", ".join(name for flag, name in (("avx2", "AVX2"), ("avx512f", "AVX-512")) if f" {flag}" in flags)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout.strip()
    return (f"{datetime.date.today()}, commit {commit}, {cpu} ({isa}), {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} "
            f"at the start, {', '.join(requirements)}")
