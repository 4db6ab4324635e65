#include <monomorph/train/weights/recipe_header.hpp>

#include "train/weights/model_folder.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/spec/encoder_spec.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

namespace monomorph::train {
namespace {

/// Fields of enumerations, whose facts are words.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> types_of_words{
    {{"model.norm.kind", "NormKind"},
     {"model.activation", "Activation"},
     {"model.position", "Position"},
     {"model.pooling", "Pooling"}}};

std::string literal_of(const Fact& fact) {
  for (const auto& [name, type] : types_of_words)
    if (name == fact.name) return fmt::format("monomorph::{}::{}", type, fact.value);
  return fact.value;
}

template <class Spec> Spec model_without_options(const DecoderSpec& model) {
  return {.vocab_size = model.vocab_size,
          .n_layers = model.n_layers,
          .n_heads = model.n_heads,
          .d_model = model.d_model,
          .context_length = model.context_length};
}

/// Those that are not as usual, where EncoderSpec has them.
void add_embedding(const EmbeddingSpec& embedding, std::vector<Fact>& facts) {
  std::vector<Fact> said = embedding_facts(embedding);
  const std::vector<Fact> usual = embedding_facts(EmbeddingSpec{});
  std::erase_if(said, [&](const Fact& fact) {
    return std::ranges::find(usual, fact.name, &Fact::name)->value == fact.value;
  });
  const auto before = std::ranges::find(facts, "model.context_length", &Fact::name);
  facts.insert(before + 1, said.begin(), said.end());
}

/// Fields that must be given, and those that are not as a model has them that says nothing of them.
std::vector<Fact> facts_to_say(const PortableModel& portable) {
  const DecoderSpec& model = portable.model;
  const std::vector<Fact> usual =
      model_facts(portable.output == ModelOutput::logits ? model_without_options<DecoderSpec>(model)
                                                         : model_without_options<EncoderSpec>(model).trunk());
  constexpr std::array<std::string_view, 6> always{"model.vocab_size", "model.n_layers",       "model.n_heads",
                                                   "model.d_model",    "model.context_length", "model.d_ff"};
  const ModelFacts deciding = facts_of(portable);
  std::vector<Fact> facts = model_facts(model);
  std::erase_if(facts, [&](const Fact& fact) {
    if (std::ranges::count(always, fact.name) > 0) return false;
    return !deciding.contains(fact.name) || std::ranges::find(usual, fact.name, &Fact::name)->value == fact.value;
  });
  if (portable.embedding) add_embedding(*portable.embedding, facts);
  return facts;
}

/// Designated initialisers; fields of one nested spec stand side by side.
std::vector<std::string> initializers(std::span<const Fact> facts, std::size_t prefix) {
  std::vector<std::string> members;
  while (!facts.empty()) {
    const std::string rest = facts.front().name.substr(prefix);
    const std::size_t dot = rest.find('.');
    if (dot == std::string::npos) {
      members.push_back(fmt::format(".{} = {}", rest, literal_of(facts.front())));
      facts = facts.subspan(1);
      continue;
    }
    const std::string nested = facts.front().name.substr(0, prefix + dot + 1);
    const auto end = std::ranges::find_if(facts, [&](const Fact& fact) { return !fact.name.starts_with(nested); });
    const auto n = static_cast<std::size_t>(end - facts.begin());
    members.push_back(
        fmt::format(".{} = {{{}}}", rest.substr(0, dot), fmt::join(initializers(facts.first(n), nested.size()), ", ")));
    facts = facts.subspan(n);
  }
  return members;
}

/// A struct has no member of its own name.
constexpr std::string_view members_of_recipes[] = {"model",    "layers",    "attention", "objective",  "sharding",
                                                   "mesh",     "precision", "optimizer", "finetuning", "checkpointing",
                                                   "schedule", "observer",  "budget",    "device",     "expect"};
/// Of C++20, those that are made of letters which may begin a name, and the alternative operators.
constexpr std::string_view keywords[] = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq"};

void check_identifier(const std::string& name) {
  const auto is_letter = [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '_';
  };
  const auto is_part = [&](char character) { return is_letter(character) || (character >= '0' && character <= '9'); };
  const bool is_taken = std::ranges::find(members_of_recipes, name) != std::end(members_of_recipes) ||
                        std::ranges::find(keywords, name) != std::end(keywords);
  if (!name.empty() && is_letter(name.front()) && std::ranges::all_of(name, is_part) && !is_taken) return;
  throw UsageError("WEIGHTS-12",
                   fmt::format("a recipe can't be named {}; give an identifier of C++ that is no keyword, "
                               "nor the name of a member of recipes",
                               in_quotes(name)));
}

/// The block of layers that are not local.
std::string block_text(const PortableModel& portable, const std::string& name) {
  switch (portable.order) {
    case BlockOrder::normed_residual:
      return "monomorph::Composed<monomorph::BlockOrder::normed_residual>::Block";
    case BlockOrder::sandwich_norm:
      return "monomorph::Composed<monomorph::BlockOrder::sandwich_norm>::Block";
    default:
      return portable.mixture ? fmt::format("monomorph::Mixture<{}_experts>::Block", name) : "monomorph::DecoderBlock";
  }
}

/// Runs of layers that are local, and of others.
std::string runs_text(const PortableModel& portable, const std::string& name) {
  const std::string whole = block_text(portable, name);
  const auto n = static_cast<std::size_t>(portable.model.n_layers.value);
  if (!portable.local) return fmt::format("monomorph::Run<{}, {}>", whole, n);
  std::vector<std::string> runs;
  for (std::size_t first = 0, end = 0; first < n; first = end) {
    const bool is_local = portable.local->layers.test(first);
    while (end < n && portable.local->layers.test(end) == is_local) ++end;
    runs.push_back(is_local ? fmt::format("monomorph::Run<{}_local, {}>", name, end - first)
                            : fmt::format("monomorph::Run<{}, {}>", whole, end - first));
  }
  return fmt::format("{}", fmt::join(runs, ",\n                                  "));
}

/// `layers`, unless they are as usual.
std::string layers_line(const PortableModel& portable, const std::string& name) {
  if (!portable.local && !portable.mixture && portable.order == BlockOrder{}) return "";
  return fmt::format("  using layers = monomorph::Stack<{}>;\n", runs_text(portable, name));
}

/// The base, and what of a scaling is not as usual.
std::vector<Fact> rotary_facts(const RotarySpec& rotary, const std::string& prefix) {
  std::vector<Fact> facts, usual;
  add_facts(prefix, rotary, facts);
  add_facts(prefix, RotarySpec{}, usual);
  std::erase_if(facts, [&](const Fact& fact) {
    return fact.name != prefix + "base" && std::ranges::find(usual, fact.name, &Fact::name)->value == fact.value;
  });
  return facts;
}

std::string rotary_text(const RotarySpec& rotary) {
  const std::string prefix = "rotary.";
  return fmt::format("monomorph::RotarySpec{{{}}}",
                     fmt::join(initializers(rotary_facts(rotary, prefix), prefix.size()), ", "));
}

/// The block of local layers, if there are any.
std::string mask_text(const AttentionMask& mask, bool within_documents) {
  const std::string window = fmt::format("monomorph::attention::SlidingWindow<{}>", mask.before + 1);
  return within_documents ? fmt::format("monomorph::attention::PerDocument<{}>", window) : window;
}

std::string local_block_text(const PortableModel& portable, const std::string& name, bool within_documents) {
  if (!portable.local) return "";
  std::string block = block_text(portable, name);
  if (portable.local->rotary != portable.model.rotary)
    block = fmt::format("monomorph::Rotated<{},\n                       {}>::Block",
                        rotary_text(portable.local->rotary), block);
  return fmt::format(
      "/// A layer that sees a window.\n"
      "template <class R>\n"
      "using {}_local = monomorph::DecoderBlockWith<\n    {},\n    "
      "{}>::Block<R>;\n\n",
      name, mask_text(portable.local->mask, within_documents), block);
}

std::string attention_line(const PortableModel& portable, bool within_documents) {
  if (portable.output == ModelOutput::embeddings)
    return "  using attention = monomorph::attention::PerDocument<monomorph::attention::Bidirectional>;\n";
  if (portable.mask == AttentionMask{})
    return within_documents ? "  using attention = monomorph::attention::WithinDocuments;\n" : "";
  return fmt::format("  using attention = {};\n", mask_text(portable.mask, within_documents));
}

}  // namespace

std::string recipe_header(const std::string& folder, const std::string& name, bool within_documents) {
  check_identifier(name);
  const FolderModel model = read_folder_model(folder);
  const PortableModel& portable = model.portable;
  const std::optional<MixtureSpec>& mixture = portable.mixture;
  const bool is_encoder = portable.output == ModelOutput::embeddings;
  const std::string experts =
      !mixture ? ""
               : fmt::format("inline constexpr monomorph::MixtureSpec {}_experts{{.n_experts = {}, .top_k = {}}};\n\n",
                             name, mixture->n_experts.value, mixture->top_k.value);
  return fmt::format(
      "#pragma once\n"
      "#include <monomorph/run.hpp>\n\n"
      "namespace recipes {{\n\n"
      "{}{}"
      "/// The model of a config.json of Hugging Face's, a {}.\n"
      "struct {} {{\n"
      "  static constexpr monomorph::{} model{{\n      {},\n  }};\n"
      "{}{}{}"
      "  using sharding = monomorph::sharding::Replicate;\n"
      "  using precision = monomorph::precision::Fp32;\n"
      "  using checkpointing = monomorph::checkpointing::KeepAll;\n"
      "  using optimizer = monomorph::optim::AdamW;\n"
      "}};\n\n"
      "}}  // namespace recipes\n",
      experts, local_block_text(portable, name, within_documents), model.family->architecture, name,
      is_encoder ? "EncoderSpec" : "DecoderSpec",
      fmt::join(initializers(facts_to_say(model.portable), std::string_view("model.").size()), ",\n      "),
      layers_line(portable, name), attention_line(portable, within_documents),
      is_encoder ? "  using objective = monomorph::objective::ContrastivePairs;\n" : "");
}

}  // namespace monomorph::train
