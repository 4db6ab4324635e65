"""What the measuring scripts of this folder share: the peers' Python, and what a report says of machine and versions."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import machine  # noqa: E402
from machine import ROOT  # noqa: E402

SHARED_DATA = ROOT.parent / "shared/data"
REQUIREMENTS = ["tokenizers==0.23.3", "tiktoken==0.14.0"]


def peer_python(given=None, name="bench-data-python", requirements=REQUIREMENTS):
    return machine.peer_python(given, name, requirements)


def last_json(command, threads=1):
    """Runs a command with at most that many threads for the peers; the last line that it prints, parsed."""
    environment = dict(os.environ, RAYON_NUM_THREADS=str(threads), OMP_NUM_THREADS=str(threads),
                       TOKENIZERS_PARALLELISM="true" if threads > 1 else "false")
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{result.stderr[-2000:]}")
    return json.loads(result.stdout.strip().splitlines()[-1])


def conditions(requirements=REQUIREMENTS):
    return f"{machine.machine()}, {', '.join(requirements)}"
