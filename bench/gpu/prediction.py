"""The step of a model on one GPU, predicted from what its kernels move and compute: counts of gpu_count_<model>."""
import collections
import json
import subprocess
import sys

from models import MODELS
from roof import MEMORY, seconds_per_token

Kernel = collections.namedtuple("Kernel", "name calls bytes seconds limit")


def counted(build, model, micro_batch=None, micro_batches=1):
    result = subprocess.run([build / f"gpu_count_{model}", str(micro_batch or MODELS[model][0]), str(micro_batches)], capture_output=True,
                            text=True)
    if result.returncode != 0:
        sys.exit(f"gpu_count_{model} fails: {result.stderr.strip()}")
    return json.loads(result.stdout)


def kernel_of(name, counts, rates, memory_rate):
    """A kernel takes what moves its bytes, or what computes if that takes longer. What attention's gradients keep is moved
    between two kernels, so that it is not hidden."""
    moved = counts["read"] + counts["written"]
    moving = moved / memory_rate
    computing = counts["products"] / rates.products + counts["attention"] / rates.attention
    if counts["fp8_products"]:
        computing += counts["fp8_products"] / rates.fp8_products
    computing += counts["fp32_products"] / rates.fp32_products
    if name == "attention backward":
        return Kernel(name, counts["calls"], moved, computing + moving, "both")
    return Kernel(name, counts["calls"], moved, max(moving, computing), "products" if computing > moving else "memory")


class Prediction:
    def __init__(self, counts, rates, memory_rate=MEMORY):
        self.kernels = sorted((kernel_of(name, of, rates, memory_rate) for name, of in counts["kernels"].items()), key=lambda k: -k.seconds)
        self.seconds = sum(kernel.seconds for kernel in self.kernels)
        self.roof = counts["tokens"] * seconds_per_token(counts["sizes"], rates)
        self.ratio = self.seconds / self.roof
        self.tokens_per_second = counts["tokens"] / self.seconds


