"""The models of issue 17 on one GPU: what bench/gpu/run times, and bench/gpu/predict counts."""
# model: sequences of a micro-batch, arguments of the peer bench/peers/torch_gpt2.py
MODELS = {
    "gpt2_124m": (32, "--dtype bf16-amp --model gpt2 --layers 12 --dim 768 --heads 12 --seq 1024 --vocab 50304"),
    "qwen_1_5b": (8, "--dtype bf16-amp --model llama --layers 28 --dim 1536 --heads 12 --kv-heads 2 --ffn 8960 --seq 1024 "
                     "--vocab 151936 --tied"),
    "qwen_7b": (8, "--dtype bf16 --model llama --layers 28 --dim 3584 --heads 28 --kv-heads 4 --ffn 18944 --seq 1024 --vocab 152064"),
    "llama_1b": (4, "--dtype bf16-amp --model llama --layers 16 --dim 2048 --heads 32 --kv-heads 8 --ffn 8192 --seq 4096 "
                    "--vocab 128256 --tied"),
    "llama_8b": (1, "--dtype bf16 --model llama --layers 32 --dim 4096 --heads 32 --kv-heads 8 --ffn 14336 --seq 8192 --vocab 128256 "
                    "--activation-checkpoint"),
}
# With logits in bf16, and besides with less of the activations kept.
MODELS.update({f"gpt2_124m_{variant}": MODELS["gpt2_124m"] for variant in ("narrow", "lean")})
# The same models with the products of blocks in fp8, beside the same peer, which has none.
MODELS.update({f"{model}_fp8": MODELS[model] for model in ("qwen_1_5b", "qwen_7b", "llama_8b")})
# Models whose blocks' matrices Muon updates, too, with its iteration in fp32 and in bf16.
BY_MUON = {model: {"Muon": f"{model}_muon", "Muon in bf16": f"{model}_bf16_muon"} for model in ("gpt2_124m", "qwen_1_5b")}
