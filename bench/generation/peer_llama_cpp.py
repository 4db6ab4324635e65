"""The other peer of bench/generation/run: llama.cpp by llama-cpp-python, a GPT-2 with random weights in fp32, its cache in fp32,
too. Writes the model as a gguf file beside itself in a temporary folder. Prints a line of JSON a round.
"""
import json
import os
import pathlib
import sys
import tempfile
import time

import gguf
import llama_cpp
import numpy as np


def write_model(path, layers, heads, width, context, vocabulary):
    random = np.random.default_rng(1)

    def normal(*shape):
        return (0.02 * random.standard_normal(shape)).astype(np.float32)

    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(4 * width)
    writer.add_head_count(heads)
    writer.add_layer_norm_eps(1e-5)
    writer.add_vocab_size(vocabulary)
    writer.add_tokenizer_model("no_vocab")
    writer.add_tensor("token_embd.weight", normal(vocabulary, width))
    writer.add_tensor("position_embd.weight", normal(context, width))
    for name in ("output_norm", *(f"blk.{layer}.{norm}" for layer in range(layers) for norm in ("attn_norm", "ffn_norm"))):
        writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(width, np.float32))
    for layer in range(layers):
        for name, rows, columns in (("attn_qkv", 3 * width, width), ("attn_output", width, width), ("ffn_up", 4 * width, width), ("ffn_down", width, 4 * width)):
            writer.add_tensor(f"blk.{layer}.{name}.weight", normal(rows, columns))
            writer.add_tensor(f"blk.{layer}.{name}.bias", np.zeros(rows, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Model:
    def __init__(self, path, batch, prompt, tokens):
        parameters = llama_cpp.llama_model_default_params()
        self.model = llama_cpp.llama_model_load_from_file(str(path).encode(), parameters)
        settings = llama_cpp.llama_context_default_params()
        settings.n_ctx = batch * (prompt + tokens)
        settings.n_batch = settings.n_ubatch = max(512, batch)
        settings.n_seq_max = batch
        settings.n_threads = settings.n_threads_batch = os.cpu_count()
        settings.type_k = settings.type_v = llama_cpp.GGML_TYPE_F32
        self.context = llama_cpp.llama_init_from_model(self.model, settings)
        if not self.context:
            sys.exit("llama.cpp takes no such context")
        self.most = settings.n_batch
        self.batch = llama_cpp.llama_batch_init(self.most, 0, 1)
        self.vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))

    def read(self, rows):
        """Rows (token, position, sequence, wants logits), in as many passes as llama.cpp is to take at once."""
        for first in range(0, len(rows), self.most):
            part = rows[first:first + self.most]
            self.batch.n_tokens = len(part)
            for i, (token, position, sequence, wanted) in enumerate(part):
                self.batch.token[i], self.batch.pos[i], self.batch.n_seq_id[i] = token, position, 1
                self.batch.seq_id[i][0], self.batch.logits[i] = sequence, wanted
            if llama_cpp.llama_decode(self.context, self.batch) != 0:
                sys.exit("llama.cpp could not compute a pass")

    def best(self, row):
        logits = llama_cpp.llama_get_logits_ith(self.context, row)
        return int(np.ctypeslib.as_array(logits, (self.vocabulary,)).argmax())

    def forget(self):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)


def measure(model, batch, prompt, tokens):
    start = time.perf_counter()
    model.read([(1 + i, i, sequence, i == prompt - 1) for sequence in range(batch) for i in range(prompt)])
    model.best(-1)
    prefill = time.perf_counter() - start
    start = time.perf_counter()
    ids = [7] * batch
    for step in range(tokens):
        model.read([(id, prompt + step, sequence, True) for sequence, id in enumerate(ids)])
        ids = [model.best(row) for row in range(batch)]
    decode = time.perf_counter() - start
    model.forget()
    print(json.dumps({"prefill": batch * prompt / prefill, "decode": batch * tokens / decode}), flush=True)


def main():
    *sizes, batch, prompt, tokens, rounds = map(int, sys.argv[1:])
    says_nothing = llama_cpp.llama_log_callback(lambda level, text, data: None)  # must live as long as the library calls it
    llama_cpp.llama_log_set(says_nothing, None)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.gguf"
        write_model(path, *sizes)
        model = Model(path, batch, prompt, tokens)
        for _ in range(rounds):
            measure(model, batch, prompt, tokens)


main()
