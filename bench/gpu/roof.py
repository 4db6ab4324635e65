"""The roof of one H200: the least that a step takes a token, by model.

Products and attention at rates that the best kernels reach at such sizes (two sets: careful and hopeful), and between them
nothing but norms, activations that products do not take along, rotations, and logits in 16 bits, each moved once at a rate that
copies reach. Updates, embeddings and gradients of biases cost nothing here.
"""
MEMORY = 3.9e12  # bytes a second, of the data sheet's 4.8
H200_BYTES = 141e9
PEAK = 989.4e12  # of products in 16 bits
# model: operations a second of products and of attention, careful and hopeful
RATES = {
    "gpt2_124m": ((620e12, 280e12), (700e12, 330e12)),
    "qwen_1_5b": ((690e12, 300e12), (740e12, 350e12)),
    "qwen_7b": ((690e12, 300e12), (740e12, 350e12)),
    "llama_1b": ((680e12, 350e12), (730e12, 450e12)),
    "llama_8b": ((680e12, 450e12), (730e12, 550e12)),
}


def seconds_per_token(sizes, products_rate, attention_rate):
    layers, width, queries, keys, hidden = (sizes[name] for name in ("layers", "width", "queries", "keys", "hidden"))
    gated, vocabulary, context = sizes["gated"], sizes["vocabulary"], sizes["context"]
    weights = layers * (width * (queries + 2 * keys) + queries * width + width * hidden * (3 if gated else 2))
    products = 6 * (weights + vocabulary * width)
    attention = 3.5 * layers * 4 * context * queries / 2
    norms = layers * 2 * (2 * 2 * width + 2 * 4 * width)  # forward reads and writes, backward has four streams
    activations = layers * 2 * (3 * hidden + 5 * hidden) if gated else 0  # others are taken along
    rotations = layers * 2 * 2 * 2 * (queries + keys) if gated else 0
    logits = 2 * 2 * vocabulary
    return products / products_rate + attention / attention_rate + (norms + activations + rotations + logits) / MEMORY
