"""Times Modalities: peer_modalities.py index F.jsonl F.idx, or pack F.jsonl F.idx T.json F.pbin PROCESSES. Prints one JSON
object: seconds in process, without imports and without the tokeniser's construction, and the memory of the largest process."""
import json
import os
import pathlib
import resource
import sys
import tempfile
import time


def index(source, target):
    from modalities.dataloader.create_index import IndexGenerator
    began = time.perf_counter()
    IndexGenerator(pathlib.Path(source)).create_index(pathlib.Path(target))
    return time.perf_counter() - began


def pack(source, index_path, tokenizer_path, target, processes):
    from modalities.dataloader.create_packed_data import PackedDataGenerator
    from modalities.tokenization.tokenizer_wrapper import PreTrainedHFTokenizer
    from transformers import PreTrainedTokenizerFast
    with tempfile.TemporaryDirectory() as folder:
        PreTrainedTokenizerFast(tokenizer_file=tokenizer_path, eos_token="<|endoftext|>").save_pretrained(folder)
        tokenizer = PreTrainedHFTokenizer(folder)
    began = time.perf_counter()
    # Batches and queues as in the configurations that Modalities comes with.
    PackedDataGenerator(pathlib.Path(source), tokenizer, "<|endoftext|>", number_of_processes=int(processes), jq_pattern=".text",
                        processing_batch_size=1000, raw_samples_queue_size=300, processed_samples_queue_size=300,
                        index_path=pathlib.Path(index_path)).run(pathlib.Path(target))
    return time.perf_counter() - began


if __name__ == "__main__":
    os.environ["TQDM_DISABLE"] = "1"
    seconds = {"index": index, "pack": pack}[sys.argv[1]](*sys.argv[2:])
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps({"seconds": seconds, "peak_mb": peak / 1024}))
