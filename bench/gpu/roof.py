"""The roof of one H200: the least that a step takes a token, by model.

Products and attention at rates that the best kernels reach at such sizes (two sets: careful and hopeful), and between them
nothing but norms, activations that products do not take along, rotations, and logits in 16 bits, each moved once at a rate that
copies reach. Updates, embeddings and gradients of biases cost nothing here. Where the products of blocks are of fp8, the rounding
of their factors costs nothing either, as if what makes a tensor wrote its 8 bits, too.
"""
import collections

MEMORY = 3.9e12  # bytes a second, of the data sheet's 4.8
H200_BYTES = 141e9
PEAK = 989.4e12  # of products in 16 bits
PEAK_FP8 = 1978.9e12

Rates = collections.namedtuple("Rates", "products attention fp8_products fp32_products", defaults=(None, 50e12))
"""Operations a second. Those of fp32 are assumed; the data sheet has 67e12."""
# Of fp8 61 and 73 % of the peak. The careful one is what sums reach that are added to fp32 registers often, as all backward's are.
FP8 = 1200e12, 1450e12
# model: careful and hopeful
RATES = {
    "gpt2_124m": (Rates(620e12, 280e12), Rates(700e12, 330e12)),
    "qwen_1_5b": (Rates(690e12, 300e12), Rates(740e12, 350e12)),
    "qwen_7b": (Rates(690e12, 300e12), Rates(740e12, 350e12)),
    "llama_1b": (Rates(680e12, 350e12), Rates(730e12, 450e12)),
    "llama_8b": (Rates(680e12, 450e12), Rates(730e12, 550e12)),
}
RATES.update({f"gpt2_124m_{variant}": RATES["gpt2_124m"] for variant in ("narrow", "lean")})
for model in ("qwen_1_5b", "qwen_7b", "llama_8b"):
    RATES[f"{model}_fp8"] = tuple(rates._replace(fp8_products=rate) for rates, rate in zip(RATES[model], FP8))


def seconds_per_token(sizes, rates):
    layers, width, queries, keys, hidden = (sizes[name] for name in ("layers", "width", "queries", "keys", "hidden"))
    gated, vocabulary, context = sizes["gated"], sizes["vocabulary"], sizes["context"]
    weights = layers * (width * (queries + 2 * keys) + queries * width + width * hidden * (3 if gated else 2))
    of_blocks = 6 * weights / (rates.fp8_products if sizes["fp8"] else rates.products)
    of_head = 6 * vocabulary * width / rates.products
    attention = 3.5 * layers * 4 * context * queries / 2
    norms = layers * 2 * (2 * 2 * width + 2 * 4 * width)  # forward reads and writes, backward has four streams
    activations = layers * 2 * (3 * hidden + 5 * hidden) if gated else 0  # others are taken along
    rotations = layers * 2 * 2 * 2 * (queries + keys) if gated else 0
    logits = 2 * 2 * vocabulary
    return of_blocks + of_head + attention / rates.attention + (norms + activations + rotations + logits) / MEMORY
