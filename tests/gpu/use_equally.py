#!/usr/bin/env python3
"""use_equally.py <monomorph-data> <program for CPUs> <program for GPUs> <hyperparameters> <text>: trains the recipe on the GPU, then
does with both programs what a user does with a model: evaluates it, scores and generates texts, serves them, exports it and imports
what was exported. Prints a line of JSON; ends with 1 and a line that says what differs."""
import concurrent.futures
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import urllib.request

STEPS = 200
PROMPTS = ["ROMEO:", "JULIET:\nWhat", "First Citizen:\nBefore we", "O", "KING", "We"]
TOKENS = 16  # which fit the context of a tiny recipe behind any of the prompts
LOG_PROBABILITY = 2e-4  # nats, between a CPU's sums and a GPU's


def run(*words, wanted=0, **more):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if result.returncode != wanted:
        sys.exit(f"{words[0]} {words[1]}: exit code {result.returncode}: {result.stdout[-500:]}{result.stderr[-2000:]}")
    return result.stdout


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def demand(what, holds, *seen):
    if not holds:
        sys.exit(f"{what} differs: {seen}"[:2000])


def train(folder, data_tool, gpu, hparams, text):
    tokenizer, run_folder = folder / "tokenizer.json", folder / "run"
    whole = text.read_text()
    (folder / "train.txt").write_text(whole[:len(whole) * 9 // 10])
    (folder / "held_out.txt").write_text(whole[len(whole) * 9 // 10:][:40_000])
    run(data_tool, "train-tokenizer", folder / "train.txt", "--vocab-size", 512, "--output", tokenizer)
    for part in ("train", "held_out"):
        run(data_tool, "pack", folder / f"{part}.txt", "--tokenizer", tokenizer, "--output", folder / f"{part}.pbin")
    settings = {"data.train": folder / "train.pbin", "data.evaluation": folder / "held_out.pbin", "data.tokenizer": tokenizer,
                "run.output_dir": run_folder, "run.steps": STEPS, "evaluation.every": "never", "schedule.warmup_steps": 10}
    run(gpu, "--hparams", hparams, *(word for name, value in settings.items() for word in ("--set", f"{name}={value}")))
    return run_folder


def evaluated(program, run_folder):
    """nats per token."""
    words = run(program, "evaluate", "--checkpoint", run_folder).replace(",", " ").split()
    return float(words[words.index("loss") + 1])


def scored(program, run_folder, folder):
    (folder / "texts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in PROMPTS))
    return [line["log_probability"] for line in lines_of(run(program, "score", "--checkpoint", run_folder, "--input", folder / "texts.jsonl"))]


def generated(program, run_folder, folder, *options, tokens=TOKENS):
    (folder / "prompts.jsonl").write_text("".join(json.dumps({"prompt": prompt}) + "\n" for prompt in PROMPTS))
    return lines_of(run(program, "generate", "--checkpoint", run_folder, "--input", folder / "prompts.jsonl", "--max-tokens", tokens, *options))


def complete(url, prompt, **more):
    body = json.dumps({"model": "a", "prompt": prompt, "max_tokens": TOKENS, "temperature": 0, **more}).encode()
    request = urllib.request.Request(url + "/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def streamed(url, prompt):
    events = [line[len("data: "):] for line in complete(url, prompt, stream=True).splitlines() if line.startswith("data: ")]
    demand("the end of a stream", events[-1] == "[DONE]", events[-1])
    return "".join(json.loads(event)["choices"][0]["text"] for event in events[:-1])


def served(program, run_folder):
    """All prompts at once, whole and as streams."""
    server = subprocess.Popen([program, "serve", "--checkpoint", str(run_folder), "--port", "0", "--model-name", "a", "--quiet"],
                              stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1]
        with concurrent.futures.ThreadPoolExecutor(12) as clients:
            whole = clients.map(lambda prompt: json.loads(complete(url, prompt))["choices"][0]["text"], PROMPTS)
            streams = clients.map(lambda prompt: streamed(url, prompt), PROMPTS)
            answers = list(whole), list(streams)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
    demand("the server's exit code", server.returncode == 0, server.returncode)
    return answers


def exported(program, run_folder, output):
    run(program, "export", "--checkpoint", run_folder, "--output", output)
    return {path.name: path.read_bytes() for path in output.iterdir()}


def main():
    data_tool, cpu, gpu, hparams, text = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run_folder = train(folder, data_tool, gpu, hparams, pathlib.Path(text))
        losses = [evaluated(program, run_folder) for program in (cpu, gpu)]
        demand("the loss of held-out text", abs(losses[0] - losses[1]) < LOG_PROBABILITY, losses)
        scores = [scored(program, run_folder, folder) for program in (cpu, gpu)]
        worst = max(abs(a - b) for a, b in zip(*scores, strict=True))
        demand("the score of a text", worst < 30 * LOG_PROBABILITY, worst)
        for options in (["--greedy", "--batch", 1], ["--greedy", "--batch", 4, "--log-probabilities", 2],
                        ["--seed", 3, "--samples", 3, "--top-p", 0.9, "--repetition-penalty", 1.1]):
            texts = [[line["tokens"] for line in generated(program, run_folder, folder, *options, tokens=4 * TOKENS)] for program in (cpu, gpu)]
            demand(f"a text with {options}", texts[0] == texts[1], *texts)
        greedy = [line["text"] for line in generated(gpu, run_folder, folder, "--greedy")]
        whole, streams = served(gpu, run_folder)
        demand("a text of serve", whole == streams == greedy, whole, streams, greedy)
        files = [exported(program, run_folder, folder / f"exported_{i}") for i, program in enumerate((cpu, gpu))]
        demand("an export", files[0] == files[1], *(list(each) for each in files))
        run(gpu, "import", folder / "exported_1", "--output", folder / "imported")
        again = [line["text"] for line in generated(gpu, folder / "imported", folder, "--greedy", "--ignore-end")]
        before = [line["text"] for line in generated(gpu, run_folder, folder, "--greedy", "--ignore-end")]
        demand("a text after export and import", again == before, again, before)
        print(json.dumps({"program": pathlib.Path(gpu).name, "loss": losses[1], "losses_differ_by": abs(losses[0] - losses[1]),
                          "scores_differ_by": worst, "texts": len(PROMPTS)}))


if __name__ == "__main__":
    main()
