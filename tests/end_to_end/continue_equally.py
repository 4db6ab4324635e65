"""continue_equally.py PROGRAM MONOMORPH_DATA TEXT: trains a small model on a beginning of TEXT, exports it as a file for
llama.cpp and has both continue prompts greedily: the texts must be the same. Prints "skipped: " and a reason where
llama-cpp-python is missing. A PROGRAM whose vocabulary has 512 ids.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / ".deps/llama_cpp"))
try:
    import llama_cpp
except ImportError as missing:
    print(f"skipped: {missing}; tools/setup/install --llama-cpp installs it")
    sys.exit(0)

PROMPTS = ["ROMEO: I am", "  What, ho!\n", "First Citizen"]
TOKENS = 12
BYTES = 60_000


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def trained(program, data, text, folder):
    part = folder / "part.txt"
    part.write_bytes(text.read_bytes()[:BYTES])
    run(data, "train-tokenizer", part, "--vocab-size", 512, "--output", folder / "tokenizer.json")
    run(data, "pack", part, "--tokenizer", folder / "tokenizer.json", "--output", folder / "part.pbin")
    hparams = {
        "run": {"steps": 100, "seed": 7, "output_dir": str(folder / "run")},
        "data": {"train": str(folder / "part.pbin"), "tokenizer": str(folder / "tokenizer.json")},
        "batch": {"global_batch": 8, "micro_batch": 8},
        "optimizer": {"lr": 0.003},
        "schedule": {"warmup_steps": 3},
    }
    (folder / "run.json").write_text(json.dumps(hparams))
    run(program, "--hparams", folder / "run.json")
    return folder / "run"


def main():
    program, data, text = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        checkpoint = trained(program, data, text, folder)
        run(program, "export", "--checkpoint", checkpoint, "--gguf", folder / "model.gguf")
        model = llama_cpp.Llama(str(folder / "model.gguf"), n_ctx=0, n_threads=1, verbose=False)
        for prompt in PROMPTS:
            ours = run(program, "generate", "--checkpoint", checkpoint, "--prompt", prompt, "--greedy", "--max-tokens", TOKENS)
            theirs = model(prompt, max_tokens=TOKENS, temperature=0, repeat_penalty=1)["choices"][0]["text"]
            if ours.rstrip("\n") != (prompt + theirs).rstrip("\n"):
                sys.exit(f"{ours!r} is not {prompt + theirs!r}")
            print(f"both: {ours!r}")


main()
