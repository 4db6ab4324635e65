"""The peer of bench/generation/run: transformers with its cache, a GPT-2 with random weights. Prints a line of JSON a round."""
import json
import sys
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def measure(model, batch, prompt, tokens):
    ids = torch.arange(1, prompt + 1).repeat(batch, 1)
    start = time.perf_counter()
    result = model(ids, use_cache=True, logits_to_keep=1)
    prefill = time.perf_counter() - start
    start = time.perf_counter()
    next_ids, cache = torch.full((batch, 1), 7), result.past_key_values
    for _ in range(tokens):
        result = model(next_ids, past_key_values=cache, use_cache=True)
        next_ids, cache = result.logits[:, -1:].argmax(-1), result.past_key_values
    decode = time.perf_counter() - start
    print(json.dumps({"prefill": batch * prompt / prefill, "decode": batch * tokens / decode}), flush=True)


def main():
    layers, heads, width, context, vocabulary, batch, prompt, tokens, rounds = map(int, sys.argv[1:])
    config = GPT2Config(n_layer=layers, n_head=heads, n_embd=width, n_positions=context, vocab_size=vocabulary)
    model = GPT2LMHeadModel(config).eval()
    with torch.inference_mode():
        for _ in range(rounds):
            measure(model, batch, prompt, tokens)


main()
