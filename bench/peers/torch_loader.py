"""Reads batches of a packed file as PyTorch programs do: a map-style dataset over a memory map, whose items are NumPy
views of the file made 64 bits wide, behind a shuffling torch.utils.data.DataLoader whose collate function stacks and
shifts them. Prints tokens per second as JSON."""
import argparse
import json
import time

import numpy
import torch


class PackedDataset(torch.utils.data.Dataset):
    def __init__(self, path, sequence_length):
        with open(path, "rb") as file:
            data_bytes = int.from_bytes(file.read(8), "little")
            width = int.from_bytes(file.read(4), "little")
        self.tokens = numpy.memmap(path, dtype=numpy.dtype(f"<u{width}"), mode="r", offset=12,
                                   shape=data_bytes // width)
        self.length = sequence_length

    def __len__(self):
        return (len(self.tokens) - self.length - 1) // self.length + 1

    def __getitem__(self, index):
        begin = index * self.length
        return self.tokens[begin:begin + self.length + 1].astype(numpy.int64)


def collate(samples):
    batch = torch.stack([torch.from_numpy(sample) for sample in samples])
    return batch[:, :-1], batch[:, 1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--sequence-length", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--workers", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dataset = PackedDataset(arguments.file, arguments.sequence_length)
    loader = torch.utils.data.DataLoader(dataset, arguments.batch, shuffle=True, drop_last=True, collate_fn=collate,
                                         num_workers=arguments.workers)
    n_tokens, total, spent = 0, 0, 0.0
    while spent < arguments.seconds:
        batches = iter(loader)
        total += int(next(batches)[0][0, 0])  # workers start and the permutation is drawn before the clock does
        begin = time.perf_counter()
        for inputs, targets in batches:
            total += int(inputs[0, 0]) + int(targets[-1, -1])
            n_tokens += inputs.numel()
            if spent + time.perf_counter() - begin >= arguments.seconds:
                break
        spent += time.perf_counter() - begin
    print(json.dumps(dict(tokens_per_second=n_tokens / spent, tokens=n_tokens, sum=total)))


if __name__ == "__main__":
    main()
