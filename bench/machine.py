"""What a measuring script says of the machine, and the Python that has its peers."""
import datetime
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
INSTRUCTION_SETS = {"avx2": "AVX2", "avx512f": "AVX-512", "avx512_bf16": "AVX-512 BF16", "avx512_fp16": "AVX-512 FP16",
                    "amx_bf16": "AMX BF16"}


def first_line(*command):
    """The first line that a command prints; "none" if it is not there, fails or prints nothing."""
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "none"


def commit():
    changed = first_line("git", "status", "--porcelain", "--untracked-files=no") != "none"
    return first_line("git", "rev-parse", "--short", "HEAD") + (" with changes not committed" if changed else "")


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    return f"{model} ({', '.join(name for flag, name in INSTRUCTION_SETS.items() if flag in flags)}), {os.cpu_count()} cores"


def machine():
    """The day, the commit, the processor and the load before the run, for the head of a report."""
    return f"{datetime.date.today()}, commit {commit()}, {processor()}, load {os.getloadavg()[0]:.1f} at the start"


def peer_python(given, name, requirements):
    """A Python that has the peers: the one given, or that of a virtual environment of this name made in .deps."""
    if given:
        return given
    folder = ROOT / ".deps" / name
    if not (folder / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "-q", *requirements], check=True)
    return str(folder / "bin/python")
