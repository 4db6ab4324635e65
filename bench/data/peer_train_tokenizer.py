"""Trains a byte-level BPE with the tokenizers package on JSON Lines and text files, and prints one line of JSON. Only the
training is timed, not reading the files.
Usage: peer_train_tokenizer.py <vocabulary size> <tokenizer.json to write> <file>..."""
import json
import sys
import time

from tokenizers import Tokenizer, models, pre_tokenizers, trainers


def texts_of(path):
    with open(path, encoding="utf-8", newline="") as lines:
        return [json.loads(line)["text"] for line in lines] if path.endswith(".jsonl") else lines.read().splitlines(keepends=True)


def main():
    vocab_size, output, *paths = sys.argv[1:]
    texts = [text for path in paths for text in texts_of(path)]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=int(vocab_size), min_frequency=2, special_tokens=["<|endoftext|>"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    begin = time.perf_counter()
    tokenizer.train_from_iterator(texts, trainer)
    seconds = time.perf_counter() - begin
    tokenizer.save(output)
    print(json.dumps(dict(seconds=seconds)))


main()
