"""The rows of a table of runs, and the program that predicts them."""
import csv
import pathlib
import subprocess
from dataclasses import dataclass

# Constants that every run shares, in the order of the program's line, each with the bounds within which it means
# something. Rates of attention are those of FlashAttention-2.
SHARED = {"products_on_ampere": (0.4, 0.9), "products_on_hopper": (0.4, 0.9), "products_on_hopper_hbm2e": (0.4, 0.9),
          "products_on_blackwell": (0.4, 0.9),
          "attention_forward_on_ampere": (0.2, 1.0), "attention_backward_on_ampere": (0.1, 0.7),
          "attention_forward_on_hopper": (0.15, 0.5), "attention_backward_on_hopper": (0.1, 0.4),
          "waiting": (0.0005, 0.05), "copies": (0.1, 20.0), "network": (0.5, 0.95), "hop_seconds": (5e-6, 100e-6),
          "shared_hop_seconds": (5e-6, 400e-6)}
# The bytes that kernels other than products move, by how programs run them.
BOUNDS = SHARED | {"unfused": (0.3, 6.0), "fused": (0.3, 4.0), "monomorph": (0.3, 4.0)}
CUDNN_OVER_FLASH = 2  # as published_run.hpp has it


@dataclass
class Prediction:
    tokens_per_second: float
    seconds: float
    exposed_seconds: float
    gib: float
    fits: bool
    micro_batch: int
    recompute: str


class Refused(Exception):
    """A table that no predictions can be made of, and why."""


# What a row must have, and what it may leave empty.
REQUIRED = ("source", "model", "gpu", "gpus_per_node", "gpus", "micro_batches", "sharding", "program",
            "tokens_per_s_per_gpu")
OPTIONAL = ("network", "micro_batch", "recompute")


def read_rows(table: pathlib.Path) -> list[dict]:
    with table.open() as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    missing = [column for column in REQUIRED + OPTIONAL if column not in (reader.fieldnames or [])]
    if missing:
        raise Refused(f"{table}: no column {', '.join(missing)}; a table has {', '.join(REQUIRED)}; and, which a row may "
                      f"leave empty, {', '.join(OPTIONAL)}")
    for number, row in enumerate(rows, start=1):
        empty = [column for column in REQUIRED if not (row[column] or "").strip()]
        if empty:
            raise Refused(f"{table}, row {number}: a row must have {', '.join(empty)}")
    return rows


def error(row: dict, prediction: Prediction) -> float:
    """Of the predicted time: above 0 where the run was faster than predicted."""
    return float(row["tokens_per_s_per_gpu"]) / prediction.tokens_per_second - 1


class Model:
    def __init__(self, build: pathlib.Path):
        program = next(path for path in (build / "scaling_predict", build / "bench/scaling_predict") if path.exists())
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def predict(self, rows: list[dict], constants: dict[str, float]) -> list[Prediction]:
        lines = ["calibration " + " ".join(repr(constants[name]) for name in BOUNDS)]
        lines += map(self.line, rows)
        self.process.stdin.write("\n".join(lines) + "\nend\n")
        self.process.stdin.flush()
        predictions = []
        refusals = []
        while line := self.process.stdout.readline().strip():
            row = len(predictions) + len(refusals)
            if line.startswith("refused "):
                refusals.append(f"row {row + 1}: {line.removeprefix('refused ')}")
                continue
            *numbers, fits, micro_batch, recompute = line.split()
            predictions.append(Prediction(*map(float, numbers), fits == "1", int(micro_batch), recompute))
        if refusals:
            raise Refused("\n".join(refusals))
        return predictions

    def errors(self, rows: list[dict], constants: dict[str, float]) -> list[float]:
        return [error(row, prediction) for row, prediction in zip(rows, self.predict(rows, constants))]

    @staticmethod
    def line(row: dict) -> str:
        return " ".join(map(str, (
            "run", row["model"], row["gpu"], row["network"] or "-", row["gpus_per_node"], row["gpus"],
            row["micro_batch"] or 0, row["micro_batches"], row["sharding"], row["recompute"] or "least",
            row["program"])))
