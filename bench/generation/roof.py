"""What this machine reaches, for bench/generation/run: a large product in fp32 by torch, and reading memory from end to end."""
import json
import time

import torch


def best_seconds(work, rounds=9):
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main():
    n = 2048
    a, b, row = torch.randn(n, n), torch.randn(n, n), torch.randn(256 << 20 >> 2)
    print(json.dumps({"flops": 2 * n**3 / best_seconds(lambda: a @ b), "bytes": 4 * row.numel() / best_seconds(row.sum)}))


main()
