"""load_exports.py <tiny_gpt2> <monomorph-data> <mean_of_bert> <test program>...: what Monomorph exports, loaded by Hugging Face's
transformers, peft and sentence-transformers.

The test programs (tests/numerics) import each folder of tests/fixtures/weights and tests/fixtures/adapters and export it
again, and leave that with their outputs where MONOMORPH_EXPORTS says. Loaded here, the exports must compute what the
fixtures say, and what ours computes, to 1e-5; their config.json must mean what the fixture's means, key by key; and
weights in 16 bits must be those that PyTorch rounds to. tiny_gpt2 exports a model with a tokeniser, chat templates and
settings of generation, which must be those that it has imported, and one that has learnt chats that monomorph-data has
packed by a template that it knows by name: the export writes them so. mean_of_bert exports one that embeds texts as its
fixture says.

Exit status 77 says why there is nothing to load with: without transformers nothing is tried, without the others what is
theirs is left out.
"""
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[3]
WEIGHTS, ADAPTERS = ROOT / "tests/fixtures/weights", ROOT / "tests/fixtures/adapters"
LACKING = 77
INSTALL = "tools/setup/install --peers installs them"
sys.path.insert(0, str(ROOT / ".deps/peers"))
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")
try:
    import numpy as np
    import torch
    import transformers
    from safetensors.torch import load_file
except (ImportError, OSError) as error:  # the latter where PyTorch lacks a library
    print(f"skipped, as transformers can't be imported ({error}); {INSTALL}")
    sys.exit(LACKING)


def imported(package):
    try:
        return importlib.import_module(package)
    except ImportError:
        return None


peft, sentence_transformers = imported("peft"), imported("sentence_transformers")
transformers.utils.logging.disable_progress_bar()

TOLERANCE = 1e-5
# What a recipe does not say, or says in another way: how weights begin, what is dropped in training, which tokens the
# tokeniser has, by which pattern layers have windows (layer_types says which). What each of them means for a loaded model is
# compared by its outputs.
SAID_OTHERWISE = {
    "_name_or_path", "_sliding_window_pattern", "architectures", "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "bos_token_id",
    "classifier_dropout", "cls_token_id", "embd_pdrop", "eos_token_id", "hidden_dropout_prob", "initializer_range", "output_router_logits",
    "pad_token_id", "resid_pdrop", "router_aux_loss_coef", "sep_token_id", "transformers_version", "type_vocab_size",
}  # fmt: skip
failures = []


def check(holds, *what):
    if not holds:
        failures.append(" ".join(map(str, what)))


def check_close(found, wanted, *what):
    found, wanted = found.double().flatten(), wanted.double().flatten()
    check(found.shape == wanted.shape, *what, "has", len(found), "numbers, and not", len(wanted))
    if found.shape == wanted.shape:
        error = ((found - wanted).norm() / wanted.norm()).item()
        check(error < TOLERANCE, *what, f"differs by {error:.1e} of its norm")


def run(*command, **environment):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


def load(folder):
    """The model of the class that config.json names, with all of its weights and no others, in the dtype of its files."""
    architecture = json.loads((folder / "config.json").read_text())["architectures"][0]
    model, loaded = getattr(transformers, architecture).from_pretrained(
        folder, attn_implementation="eager", dtype="auto", output_loading_info=True)  # fmt: skip
    missing = [name for name in loaded["missing_keys"] if not name.startswith("pooler.")]  # which no export has
    check(not missing and not loaded["unexpected_keys"] and not loaded["mismatched_keys"], folder, "lacks", missing, "and has",
          loaded["unexpected_keys"], loaded["mismatched_keys"])  # fmt: skip
    return model.eval()


@torch.no_grad()
def outputs_of(model, expected):
    ids = expected["input_ids"]
    if "hidden_states" in expected:
        return model.base_model(ids).last_hidden_state, expected["hidden_states"]
    return model(ids).logits, expected["logits"]


def config_of(folder):
    """What a config.json says, with what it leaves out as transformers takes it."""
    config = transformers.AutoConfig.from_pretrained(folder).to_dict()
    if config["model_type"] in ("roberta", "xlm-roberta", "camembert"):
        config["max_position_embeddings"] -= config["pad_token_id"] + 1  # where positions begin
    if config["model_type"] == "gpt2" and config["n_inner"] is None:
        config["n_inner"] = 4 * config["n_embd"]
    if config.get("hidden_act") == "gelu_pytorch_tanh":
        config["hidden_act"] = "gelu_new"  # the same by another name
    if config.get("head_dim") is None and "hidden_size" in config:
        config["head_dim"] = config["hidden_size"] // config["num_attention_heads"]
    if config["model_type"].startswith("gemma"):
        config["use_bidirectional_attention"] = config.get("use_bidirectional_attention") or False
    for key in ("rope_scaling", "rope_parameters"):
        if (config.get(key) or {}).get("rope_type") == "yarn":
            config[key] = {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": True} | config[key]
    return config


def check_config(exported, fixture):
    there, here = config_of(fixture), config_of(exported)
    for key in there.keys() | here.keys():
        if key not in SAID_OTHERWISE:
            check(there.get(key) == here.get(key), exported, "has", key, here.get(key), "and not", there.get(key))


def check_rounded(folder, dtype, whole):
    """Weights in 16 bits are the nearest to those in 32."""
    weights = load(folder).state_dict()
    for name, wanted in whole.state_dict().items():
        if not name.startswith("pooler."):
            check(weights[name].dtype == dtype, folder, name, "is in", weights[name].dtype)
            check(torch.equal(weights[name], wanted.to(dtype)), folder, name, "is not rounded to the nearest")


def check_outputs(folder, expected, ours):
    model = load(folder)
    found, wanted = outputs_of(model, expected)
    check_close(found, wanted, folder)
    check_close(found, ours, folder, "beside ours")
    return model


def check_model(folder, name):
    expected, ours = load_file(WEIGHTS / name / "expected.safetensors"), load_file(folder / "outputs.safetensors")["outputs"]
    for exported in ("exported", "in_files"):
        model = check_outputs(folder / exported, expected, ours)
        check_config(folder / exported, WEIGHTS / name)
    check_rounded(folder / "bf16", torch.bfloat16, model)
    check_rounded(folder / "fp16", torch.float16, model)
    if (folder / "of_first_family").exists():  # where the fixture's is a later one: a BERT of a RoBERTa
        check_outputs(folder / "of_first_family", expected, ours)


@torch.no_grad()
def check_undivided(folder):
    """A Llama whose heads do not divide its width, which transformers 5 takes of a Mistral alone."""
    ids, ours = load_file(WEIGHTS / "llama/expected.safetensors")["input_ids"], load_file(folder / "outputs.safetensors")["outputs"]
    model = load(folder / "exported")
    check(model.config.model_type == "mistral" and model.config.sliding_window is None, folder, "is", model.config)
    check_close(model(ids).logits, ours, folder, "beside ours")


def adapted(folder):
    """The model that peft finds by what the adapters say of it."""
    classes = {
        "CAUSAL_LM": peft.AutoPeftModelForCausalLM, "FEATURE_EXTRACTION": peft.AutoPeftModelForFeatureExtraction, None: peft.AutoPeftModel,
    }  # fmt: skip
    task = json.loads((folder / "adapter_config.json").read_text())["task_type"]
    return classes[task].from_pretrained(folder, attn_implementation="eager").eval()


@torch.no_grad()
def check_adapters(folder, name):
    expected, ours = load_file(ADAPTERS / name / "expected.safetensors"), load_file(folder / "outputs.safetensors")["outputs"]
    outputs, ids = "hidden_states" if "hidden_states" in expected else "logits", expected["input_ids"]
    check_close(load(folder / "merged")(ids)[0], expected[f"merged_{outputs}"], folder / "merged")
    if peft is None:
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = adapted(folder / "adapters")(ids)[0]
    check(not any("missing adapter keys" in str(one.message) for one in told), folder, "lacks adapters that peft looks for")
    check_close(found, expected[outputs], folder / "adapters")
    check_close(found, ours, folder / "adapters", "beside ours")


def byte_tokenizer(end="<|endoftext|>", **more):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=end, eos_token=end, **more)  # fmt: skip


TALK = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}"


def check_companions(program, work):
    """A model with all that may lie beside one."""
    given, exported = work / "given", work / "exported"
    config = transformers.GPT2Config(vocab_size=257, n_positions=32, n_embd=32, n_layer=2, n_head=4)
    torch.manual_seed(5)
    transformers.GPT2LMHeadModel(config).save_pretrained(given)
    byte_tokenizer(chat_template={"default": TALK, "tool_use": "{{ tools | tojson }}" + TALK}).save_pretrained(given)
    check((given / "additional_chat_templates/tool_use.jinja").exists(), "transformers keeps templates in files of their own")
    transformers.GenerationConfig(
        do_sample=True, temperature=0.7, top_k=11, top_p=0.8, eos_token_id=[256, 10], bos_token_id=256).save_pretrained(given)  # fmt: skip
    run(program, "import", given, "--output", work / "run")
    run(program, "export", "--checkpoint", work / "run", "--output", exported)

    check_tokenizer(given, exported, "an export")
    chat = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "é"}]
    for tools in (None, [{"type": "function", "function": {"name": "f", "parameters": {}}}]):
        there, here = (transformers.AutoTokenizer.from_pretrained(folder).apply_chat_template(chat, tools=tools, tokenize=False)
                       for folder in (given, exported))  # fmt: skip
        check(there == here, "an export writes the chat", here, "and not", there)
    there, here = (transformers.GenerationConfig.from_pretrained(folder).to_dict() for folder in (given, exported))
    check(there == here, "an export generates by", here, "and not", there)
    model, other = (transformers.AutoModelForCausalLM.from_pretrained(folder).eval() for folder in (given, exported))
    prompt = torch.tensor([[256, 40, 41]])
    there, here = (m.generate(prompt, do_sample=False, max_new_tokens=20).tolist() for m in (model, other))
    check(there == here, "an export generates", here, "and not", there)

    # A run's own tokeniser has nothing but its tokenizer.json.
    (work / "run/tokenizer_config.json").unlink()
    run(program, "export", "--checkpoint", work / "run", "--output", work / "bare")
    check_tokenizer(given, work / "bare", "an export with a tokenizer.json alone")


def check_packed_chats(program, data, work):
    """A run on chats that were packed by a template that is known by name, of which the run has nothing but the data."""
    byte_tokenizer("</s>").save_pretrained(work / "bytes")
    (work / "tokenizer.json").write_bytes((work / "bytes/tokenizer.json").read_bytes())
    chat = [{"role": "user", "content": "é"}, {"role": "assistant", "content": " b\n"}]
    (work / "chats.jsonl").write_text(json.dumps({"messages": chat}) + "\n")
    packed = work / "chats.pbin"
    run(data, "chat", work / "chats.jsonl", "--tokenizer", work / "tokenizer.json", "--template", "zephyr", "--sequence-length", "32", "--output", packed)  # fmt: skip
    sets = [f"run.output_dir={work / 'talk'}", f"data.train={packed}", "data.evaluation=", f"data.tokenizer={work / 'tokenizer.json'}",
            "run.steps=1", "batch.global_batch=1", "batch.micro_batch=1", "schedule.warmup_steps=0"]  # fmt: skip
    run(program, "--hparams", ROOT / "recipes/tiny_gpt2.json", *(word for one in sets for word in ("--set", one)))
    run(program, "export", "--checkpoint", work / "talk", "--output", work / "talks")
    tokenizer = transformers.AutoTokenizer.from_pretrained(work / "talks")
    ids = tokenizer.apply_chat_template(chat, tokenize=True, return_dict=False)
    check(np.array(ids, dtype=np.uint16).tobytes() in packed.read_bytes(), "an export writes the chat that its run has learnt as", ids)
    begun = tokenizer.apply_chat_template(chat[:1], tokenize=False, add_generation_prompt=True)
    check(begun == "<|user|>\né</s>\n<|assistant|>\n", "an export begins an answer as", begun)


def check_tokenizer(given, exported, what):
    there, here = (transformers.AutoTokenizer.from_pretrained(folder) for folder in (given, exported))
    for text in ("Hello, world!  It's 1234\n", "é<|endoftext|> 中"):
        check(there(text)["input_ids"] == here(text)["input_ids"], what, "encodes", text, "as", here(text)["input_ids"])
        check(here.decode(here(text)["input_ids"]) == text, what, "decodes", here.decode(here(text)["input_ids"]))


def check_embeddings(program, work):
    fixture = ROOT / "tests/fixtures/sentence_transformers/mean_of_bert"
    expected = json.loads((fixture / "expected.json").read_text())
    run(program, "import", fixture, "--output", work / "encoder")
    run(program, "export", "--checkpoint", work / "encoder", "--output", work / "sentences")
    (work / "encoder/tokenizer_config.json").unlink()  # as of a run whose tokeniser is its own
    run(program, "export", "--checkpoint", work / "encoder", "--output", work / "bare_sentences")
    if sentence_transformers is None:
        return
    for exported in (work / "sentences", work / "bare_sentences"):
        embeddings = sentence_transformers.SentenceTransformer(str(exported), device="cpu").encode(expected["texts"])
        check_close(torch.tensor(embeddings), torch.tensor(expected["embeddings"]), exported)


def main(tiny_gpt2, monomorph_data, mean_of_bert, programs):
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        exports = work / "exports"
        for program in programs:
            run(program, "*travel*", MONOMORPH_EXPORTS=str(exports))
        models = {path.parent.name for path in WEIGHTS.glob("*/config.json")}
        adapters = {path.parent.name for path in ADAPTERS.glob("*/adapter_config.json")}
        for name in sorted(models):
            check_model(exports / name, name)
        for name in sorted(adapters):
            check_adapters(exports / "adapters" / name, name)
        check_undivided(exports / "undivided")
        check_companions(tiny_gpt2, work)
        check_packed_chats(tiny_gpt2, monomorph_data, work)
        check_embeddings(mean_of_bert, work)
    for failure in failures:
        print(failure)
    versions = (f"{package.__name__} {package.__version__}" for package in (transformers, peft, sentence_transformers) if package)
    print(f"{', '.join(versions)}: {len(models)} models, {len(adapters)} with adapters, {len(failures)} differences")
    if failures:
        sys.exit(1)
    missing = [name for name, package in (("peft", peft), ("sentence-transformers", sentence_transformers)) if package is None]
    if missing:
        print(f"skipped what needs {' and '.join(missing)}; {INSTALL}")
        sys.exit(LACKING)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
