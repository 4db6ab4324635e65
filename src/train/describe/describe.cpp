#include <monomorph/train/describe/describe.hpp>

#include "train/describe/amax_history.hpp"
#include "train/describe/fact_text.hpp"
#include "train/describe/group_table.hpp"
#include "train/describe/recompute_table.hpp"
#include "train/describe/run_memory.hpp"

#include <monomorph/core/quantity_text.hpp>
#include <monomorph/runtime/machine/gpus.hpp>

#include <fmt/format.h>
#include <algorithm>

namespace monomorph::train {
namespace {

std::string norm_text(const DecoderSpec& model) {
  constexpr std::string_view names[]{"LayerNorm", "RMSNorm", "RMSNorm by 1 + weight"};
  return fmt::format("{}, epsilon {}{}{}", names[static_cast<int>(model.norm.kind.value)], model.norm.epsilon.value,
                     model.norm.bias ? ", bias" : "", model.qk_norm ? "; also of queries and keys" : "");
}
std::string scaling_text(const RotarySpec& rotary) {
  const auto& [base, llama3, linear, dynamic, yarn] = rotary;
  if (llama3.factor != 1) return fmt::format(", Llama 3 scaling by {}", llama3.factor.value);
  if (linear.factor != 1) return fmt::format(", linear scaling by {}", linear.factor.value);
  if (dynamic.original_context.given)
    return fmt::format(", dynamic scaling by {} of contexts beyond {} tokens", dynamic.factor.value,
                       format_number(dynamic.original_context.value));
  if (yarn.factor != 1)
    return fmt::format(", YaRN by {} of a context of {} tokens", yarn.factor.value,
                       format_number(yarn.original_context));
  return "";
}
std::string position_text(const DecoderSpec& model) {
  if (model.position == Position::none) return "none";
  if (model.position == Position::learned) return "learned";
  return fmt::format("rotary, base {}{}", model.rotary.base.value, scaling_text(model.rotary));
}
std::string attention_text(const DecoderSpec& model) {
  const std::string_view kind = model.kv_heads() == model.n_heads ? "multi-head"
                                : model.kv_heads() == 1           ? "multi-query"
                                                                  : "grouped-query";
  return fmt::format("{}: {} query heads, {} key and value heads of width {}", kind, model.n_heads.value,
                     model.kv_heads(), model.head_width());
}
std::string mask_text(const LayerAttention& attention) {
  const auto& [before, after, prefix] = attention.mask;
  const auto neighbours = [](std::int64_t n, std::string_view where) {
    return n >= AttentionMask::unlimited ? fmt::format("all tokens {} it", where)
           : n == 0                      ? fmt::format("none {} it", where)
                                         : fmt::format("{} {} it", format_number(n), where);
  };
  std::string text = "itself, " + neighbours(before, "before");
  if (after > 0) text += ", " + neighbours(after, "behind");
  if (prefix > 1) text += fmt::format("; the first {} each other", format_number(prefix));
  return text + (attention.within_documents ? "; of its document" : "");
}
void masks(Text& text, const std::vector<LayerAttention>& attentions) {
  for (const LayerAttention& attention : attentions)
    fact(text, "a token attends to",
         mask_text(attention) + (attentions.size() == 1 ? ""
                                                        : fmt::format(" (in {} layer{})", attention.layers,
                                                                      attention.layers == 1 ? "" : "s")));
}
std::string target_text(const RecipeProgram& recipe) {
  if (recipe.output == ModelOutput::embeddings)
    return fmt::format("none: the objective compares the embeddings of samples of {} texts", recipe.texts_per_sample);
  if (recipe.sequences_per_sample > 0)
    return fmt::format("the next token; the objective compares samples of {} sequences", recipe.sequences_per_sample);
  if (recipe.teacher != nullptr) {
    const RecipeProgram teacher = recipe.teacher();
    return fmt::format("the next token, and what the teacher makes of it: {}, {} layers of width {}, {} parameters",
                       teacher.name, teacher.n_blocks, teacher.model->d_model.value, format_number(teacher.n_params));
  }
  if (!recipe.predicts_next_token) return "itself, where the objective hides it";
  return recipe.prepare == nullptr ? "the next token" : "the next token, as far as the objective wants it";
}
std::string product_text(std::int64_t updates) {
  return fmt::format("in fp8: inputs and weights in e4m3, gradients in e5m2, with scales from {} update{}", updates,
                     updates == 1 ? "" : "s");
}
std::string bias_text(const DecoderSpec& model) {
  std::string text;
  for (const auto& [present, name] : {std::pair{model.bias.qkv, "queries, keys and values"},
                                      {model.bias.attention_out, "attention output"},
                                      {model.bias.mlp, "MLP"}})
    if (present) text += (text.empty() ? "" : "; ") + std::string(name);
  return text.empty() ? "none" : text;
}
std::string dropout_text(const DropoutSpec& dropout) {
  if (dropout == DropoutSpec{}) return "none";
  return fmt::format("embedding {}, attention {}, residual {}", dropout.embedding.value, dropout.attention.value,
                     dropout.residual.value);
}
std::string initialization_text(const DecoderSpec& model) {
  return fmt::format("{}, std {:.6g}", text_of(model.initialization.scheme), initializers::matrix_std(model));
}

/// Fields of the trunk that have a line of their own, or a part in one.
constexpr std::string_view told[] = {"vocab_size",
                                     "n_layers",
                                     "n_heads",
                                     "d_model",
                                     "context_length",
                                     "n_kv_heads",
                                     "head_dim",
                                     "d_ff",
                                     "vocab_multiple",
                                     "norm.kind",
                                     "norm.epsilon",
                                     "norm.bias",
                                     "qk_norm",
                                     "activation",
                                     "position",
                                     "rotary.base",
                                     "rotary.scaling.factor",
                                     "rotary.linear.factor",
                                     "rotary.dynamic.original_context",
                                     "rotary.dynamic.factor",
                                     "rotary.yarn.factor",
                                     "rotary.yarn.original_context",
                                     "bias.qkv",
                                     "bias.attention_out",
                                     "bias.mlp",
                                     "tied_head",
                                     "dropout.embedding",
                                     "dropout.attention",
                                     "dropout.residual",
                                     "initialization.scheme",
                                     "initialization.std"};

/// The others, where they are not as they are by default: so a field that is added is told, too.
void other_fields(Text& text, const DecoderSpec& model) {
  std::vector<Fact> fields, defaults;
  add_facts("", model, fields);
  add_facts("", DecoderSpec{}, defaults);
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].value != defaults[i].value && std::ranges::find(told, fields[i].name) == std::end(told))
      fact(text, fields[i].name + ' ', fields[i].value);
}

void architecture(Text& text, const RecipeProgram& recipe) {
  const DecoderSpec& model = *recipe.model;
  print(text, "architecture\n");
  fact(text, "vocabulary",
       fmt::format("{} ids{}", format_number(model.vocab_size),
                   model.padded_vocab() == model.vocab_size
                       ? ""
                       : fmt::format(", padded to {}", format_number(model.padded_vocab()))));
  fact(text, "layers", fmt::format("{}", recipe.n_blocks));
  fact(text, "width", fmt::format("{}, MLP {}", model.d_model.value, model.ff_width()));
  fact(text, "context length", fmt::format("{} tokens", format_number(model.context_length)));
  fact(text, "heads", attention_text(model));
  masks(text, recipe.attentions);
  fact(text, "a token's target", target_text(recipe));
  fact(text, "positions", position_text(model));
  fact(text, "norm", norm_text(model));
  fact(text, "activation", text_of(model.activation));
  fact(text, "biases", bias_text(model));
  if (const auto updates = amax_history_of(recipe)) fact(text, "products of blocks", product_text(*updates));
  if (const DType logits = recipe.planned.logits_dtype; logits != statistics_dtype(recipe.planned.compute_dtype))
    fact(text, "logits", fmt::format("{} where a loss is made of them, as their gradients", name_of(logits)));
  for (const Fact& beside : recipe.described_model.beside_trunk) fact(text, beside.name, beside.value);
  fact(text, "dropout", dropout_text(model.dropout));
  fact(text, "initialisation", initialization_text(model));
  other_fields(text, model);
}

bool equal_tensors(const ParameterLayout& a, const ParameterLayout& b) {
  return std::ranges::equal(a, b, [](const TensorInfo& x, const TensorInfo& y) {
    return x.name == y.name && x.slice.shape == y.slice.shape;
  });
}

/// One line per tensor of a unit; equal layers, of which there are `count`, are shown once.
void tensor_rows(Text& text, const ParameterLayout& layout, const std::string& prefix, int count) {
  for (const TensorInfo& tensor : layout) {
    const auto [rows, cols] = tensor.slice.shape;
    const std::string shape = rows == 1 ? fmt::format("{}", cols) : fmt::format("{} x {}", rows, cols);
    print(text, "  {:<44}{:>16}{:>18}\n", prefix + std::string(tensor.name), shape,
          tensor.is_parameter ? format_number(tensor.slice.shape.elements() * count) : "no parameters");
  }
}

void parameter_table(Text& text, const RecipeProgram& recipe) {
  print(text, "parameters\n");
  for (int first = 0; first < recipe.n_units;) {
    const ParameterLayout layout = recipe.unit_layout(first);
    const int block = recipe.block_of_unit(first);
    int end = first + 1;
    while (block >= 0 && recipe.block_of_unit(end) >= 0 && equal_tensors(layout, recipe.unit_layout(end))) ++end;
    const int n = end - first;
    const std::string prefix = block < 0 ? ""
                               : n == 1  ? fmt::format("layers.{}.", block)
                                         : fmt::format("layers.{{{}..{}}}.", block, block + n - 1);
    tensor_rows(text, layout, prefix, end - first);
    first = end;
  }
  print(text, "  {:<44}{:>16}{:>18}\n", "total", "", format_number(recipe.n_params));
}

void memory_table(Text& text, const RecipeProgram& recipe, int ranks, std::int64_t micro_batch) {
  const plan::Memory bytes = recipe.memory(ranks, micro_batch, 0);
  print(text, "memory of a rank ({} data-parallel rank{}, micro-batch {})\n", ranks, ranks == 1 ? "" : "s",
        micro_batch);
  const auto row = [&](std::string_view name, std::int64_t n) {
    if (n > 0) print(text, "  {:<44}{:>16}{:>18}\n", name, format_bytes(n), format_number(n));
  };
  row("parameters of the optimiser", bytes.master);
  row("parameters of compute", bytes.compute_params);
  row("gathered parameters", bytes.gathered_params);
  row("gradients", bytes.gradients);
  row("gradients before reduction", bytes.gathered_gradients);
  row("optimizer state", bytes.optimizer_state);
  row("optimizer workspace", bytes.optimizer_workspace);
  row("activations", bytes.activations);
  row("statistics and logits", bytes.statistics);
  row("rotary tables", bytes.rotary);
  row("numbers of a step", bytes.scalars);
  row("teacher", bytes.teacher);
  row("workspace of the device's kernels, at most", bytes.device_workspace);
  row("context of the device's driver, about", bytes.device_context);
  row("collectives between devices, about", bytes.device_communication);
  row("parameters of compute on the host", bytes.host_params);
  row("masters and state on the host", bytes.host_optimizer);
  row("activations on the host", bytes.host_activations);
  row("parameters of the teacher on the host", bytes.host_teacher);
  row(recipe.quantizes_tensor == nullptr ? "copies for checkpoints on the host" : "copies on the host",
      bytes.host_staging);
  row("gradients on their way", bytes.communication);
  row("total", bytes.total());
  row("beside it, for checkpoints behind the steps", bytes.checkpoint_staging);
  row("in its place, for a command that evaluates", inference_memory(recipe, ranks, micro_batch).total());
  if (recipe.caches_tokens) row("in its place, to generate, beside the cache", inference_memory(recipe, 1, 0).total());
}

}  // namespace

std::string fingerprint_text(std::uint64_t fingerprint) { return fmt::format("{:016x}", fingerprint); }

std::string describe(const RecipeProgram& recipe, int ranks, std::int64_t micro_batch) {
  Text text;
  print(text, "recipe {}, fingerprint {}, state fingerprint {}\n", recipe.name, fingerprint_text(recipe.fingerprint),
        fingerprint_text(recipe.state_fingerprint));
  for (const Fact& policy : recipe.policies) fact(text, policy.name, policy.value);
  architecture(text, recipe);
  parameter_table(text, recipe);
  group_table(text, recipe);
  const plan::FlopsPerToken flops = recipe.flops(micro_batch, ranks);
  print(text, "FLOPs per trained token\n");
  fact(text, "exact", fmt::format("{:.6g} (matrix products; scores and values of keys that are seen)", flops.exact));
  if (flops.hardware > flops.exact)
    fact(text, "computed",
         fmt::format("{:.6g} (with rows that pad the vocabulary, and what activation checkpointing computes again)",
                     flops.hardware));
  fact(text, "PaLM", fmt::format("{:.6g} (6 N + 12 L D T)", flops.palm));
  memory_table(text, recipe, ranks, micro_batch);
  recompute_table(text, recipe, micro_batch);
  for (const Gpu& gpu : gpus())
    print(text, "GPU present: {}, {} multiprocessors, {}; this program computes on the device {}\n", gpu.name,
          gpu.multiprocessors, format_bytes(gpu.memory_bytes), recipe.device);
  return fmt::to_string(text);
}

}  // namespace monomorph::train
