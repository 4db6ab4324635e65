"""What the runs of train_test.sh wrote, against each other, a formula of the rate, and the tensors of the checkpoints."""
import json
import math
import pathlib
import re
import struct
from collections import defaultdict


def lines(path):
    return [json.loads(line) for line in open(path)]


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12)


def squares(checkpoint):
    """By tensor the sum of squares of its elements, whichever files they are in."""
    sums = defaultdict(float)
    for path in sorted(checkpoint.glob("*.safetensors")):
        data = path.read_bytes()
        begin = 8 + struct.unpack("<Q", data[:8])[0]
        for name, tensor in json.loads(data[8:begin]).items():
            if name == "__metadata__":
                continue
            assert tensor["dtype"] == "F32"
            first, last = (begin + offset for offset in tensor["data_offsets"])
            sums[name] += sum(value * value for (value,) in struct.iter_unpack("<f", data[first:last]))
    return sums


def dtypes(checkpoint):
    """Of all tensors in it."""
    found = set()
    for path in checkpoint.glob("*.safetensors"):
        data = path.read_bytes()
        header = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
        found |= {tensor["dtype"] for name, tensor in header.items() if name != "__metadata__"}
    return found


def seen(run, ranks):
    """What the observers of all ranks wrote of each step: figures that they share, and sums of what each holds. A pair of ranks holds
    each tensor once, and every pair the same."""
    of_ranks = [lines(f"{run}/observer/rank-{rank}.jsonl") for rank in range(ranks)]
    steps = []
    for records in zip(*of_ranks, strict=True):
        step = {}
        for name in {name for record in records for name in record}:
            if re.match("(parameter|gradient) ", name):
                parts = [record.get(name) for record in records]
                assert all(parts[first:first + 2] == parts[:2] for first in range(0, ranks, 2)), (run, name, parts)
                step[name] = sum(part for part in parts[:2] if part is not None)
            else:
                values = [record[name] for record in records]
                assert len(set(values)) == 1, name
                step[name] = values[0]
        steps.append(step)
    return steps


metrics = {run: lines(f"{run}/metrics.jsonl")
           for run in (*(f"{recipe} of {ranks}" for recipe in ("strange", "watched") for ranks in (1, 2, 4)), "resumed")}
losses = {run: [line["loss"] for line in of_run] for run, of_run in metrics.items()}
assert all(of_run == losses["strange of 1"] for of_run in losses.values()), losses
first, *_, last = losses["strange of 1"]
assert len(losses["strange of 1"]) == 12 and last < first - 0.3, losses
assert metrics["strange of 1"][-1]["tokens"] == 12 * 4 * 64 // 2  # every second one is a target

# The rate: three steps up, four at the peak, then 1 - sqrt(p) with p = 0, 1/5, ...
factors = [1 / 4, 2 / 4, 3 / 4, 1, 1, 1, 1] + [1 - math.sqrt(k / 5) for k in range(5)]
for line, factor in zip(metrics["strange of 1"], factors, strict=True):
    assert close(line["lr"], 1e-3 * factor), (line, factor)

for run, ranks in (("watched of 1", 1), ("watched of 2", 2), ("watched of 4", 4), ("resumed", 2)):
    steps = seen(run, ranks)
    assert [step["step"] for step in steps] == list(range(1, 13))
    resumed_at = 8 if run == "resumed" else 0
    assert [step["seen"] for step in steps] == [*range(1, resumed_at + 1), *range(1, 13 - resumed_at)]
    tokens = 0
    for step, line in zip(steps, metrics[run], strict=True):
        tokens += step["tokens"]
        assert (step["loss"], step["learning_rate"], step["gradient_norm"], tokens) == (
            line["loss"], line["lr"], line["grad_norm"], line["tokens"])
        gradients = [value for name, value in step.items() if name.startswith("gradient ")]
        assert close(math.sqrt(sum(gradients)), line["grad_norm"]), (step, line)
    # What a step begins with is what the checkpoint of the one before it holds.
    for before, step in zip(steps, steps[1:]):
        saved = squares(pathlib.Path(run, "checkpoints", f"step_{before['step']:08}"))
        parameters = {name.split(" ")[1]: value for name, value in step.items() if name.startswith("parameter ")}
        assert parameters.keys() == {name for name in saved if not name.startswith("square_mean.")}
        assert parameters.keys() == {name.split(" ")[1] for name in step if name.startswith("gradient ")}
        for name, value in parameters.items():
            assert close(value, saved[name]), (run, step["step"], name, value, saved[name])
assert seen("watched of 1", 1)[-1]["loss"] == seen("resumed", 2)[-1]["loss"]

# What is fine-tuned moves, and nothing else, from a checkpoint to the next; and what moves has state, and nothing else.
first, last = (squares(pathlib.Path("tuned of 4", "checkpoints", f"step_{step:08}")) for step in (1, 12))
parameters = {name for name in first if not name.startswith("moment")}
trained = {name for name in parameters if re.match(r"layers\.1\..*(lora_[AB]|norm\.weight)|final_norm\.weight", name)}
assert len(trained) == 2 * 2 + 2 + 1 and {name for name in parameters if first[name] != last[name]} == trained, trained
assert {name.split(".", 1)[1] for name in first if name.startswith("moment1.")} == trained
of_tuned = [line["loss"] for line in lines("tuned of 1/metrics.jsonl")]
assert of_tuned[-1] < of_tuned[0] - 0.05, of_tuned

# In bf16 the losses are those of fp32 but for its 8 bits, and rounding what ranks send moves them less than that.
for ranks in (1, 2, 4):
    of_lean = [line["loss"] for line in lines(f"lean of {ranks}/metrics.jsonl")]
    assert dtypes(pathlib.Path(f"lean of {ranks}", "checkpoints", "step_00000012")) == {"BF16"}
    for narrow, exact in zip(of_lean, losses["strange of 1"], strict=True):
        assert math.isclose(narrow, exact, rel_tol=0.002), (ranks, narrow, exact)
    if ranks == 1:
        alone = of_lean
    for several, one in zip(of_lean, alone, strict=True):
        assert math.isclose(several, one, rel_tol=0.0005), (ranks, several, one)

# The encoders: each pair is compared with those of all ranks, so that several ranks add up what one does. Only the first steps
# are close: rounding grows from step to step, as which pairs have a loss at all depends on the last bits.
for recipe, falls_to in (("matched", 0.85), ("transformed_pairs", 0.9)):
    runs = [[line for line in lines(f"{recipe} of {ranks}/metrics.jsonl") if "loss" in line] for ranks in (1, 2, 4)]
    for one, *several in zip(*(steps[:10] for steps in runs), strict=True):
        for step in several:
            assert math.isclose(one["loss"], step["loss"], rel_tol=1e-4), (recipe, one, step)
            assert one["violations"] == step["violations"], (recipe, one, step)
    for steps in runs:
        assert len(steps) == 30
        assert sum(step["loss"] for step in steps[-5:]) / 5 < falls_to * steps[0]["loss"], (recipe, steps)
