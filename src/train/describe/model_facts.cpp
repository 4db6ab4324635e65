#include <monomorph/spec/resolved.hpp>
#include <monomorph/train/describe/model_facts.hpp>

#include <fmt/format.h>
#include <array>

namespace monomorph::train {
namespace {

template <class Enum, std::size_t n> std::string word_of(Enum value, const std::array<std::string_view, n>& words) {
  return std::string(words[static_cast<std::size_t>(value)]);
}

/// Only what follows from a multiple counts.
template <class Spec> void add_resolved(const std::string& prefix, const Spec& model, std::vector<Fact>& facts) {
  add_facts<Spec>(prefix, resolved(model), facts);
  std::erase_if(facts, [&](const Fact& fact) { return fact.name == prefix + "d_ff_multiple"; });
}

std::string embedding_text(const EncoderSpec& encoder) {
  constexpr std::array<std::string_view, 3> pooled{"the mean of its tokens", "its first token", "its last token"};
  return fmt::format("{} features of {}{}", encoder.d_embedding.value_or(encoder.d_model),
                     pooled[static_cast<std::size_t>(encoder.pooling.value)],
                     encoder.unit_length ? ", of length 1" : "");
}

}  // namespace

std::string text_of(NormKind kind) {
  return word_of(kind, std::array<std::string_view, 3>{"layer_norm", "rms_norm", "zero_centered_rms_norm"});
}
std::string text_of(Activation activation) {
  return word_of(activation, std::array<std::string_view, 6>{"gelu_exact", "gelu_tanh", "relu_squared", "swiglu",
                                                             "geglu_exact", "geglu_tanh"});
}
std::string text_of(Position position) {
  return word_of(position, std::array<std::string_view, 3>{"learned", "rotary", "none"});
}
std::string text_of(Pooling pooling) {
  return word_of(pooling, std::array<std::string_view, 3>{"mean", "first", "last"});
}
std::string text_of(AttentionKernel kernel) {
  return word_of(kernel, std::array<std::string_view, 2>{"tiled", "reference"});
}
std::string text_of(InitializationScheme scheme) {
  return word_of(scheme, std::array<std::string_view, 4>{"plain", "depth_scaled", "scaled_embedding", "llama3"});
}
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
std::string text_of(double value) { return fmt::format("{}", value); }

void add_facts(const std::string& prefix, const DecoderSpec& model, std::vector<Fact>& facts) {
  add_resolved(prefix, model, facts);
}
void add_facts(const std::string& prefix, const EncoderSpec& model, std::vector<Fact>& facts) {
  add_resolved(prefix, model, facts);
}

std::vector<Fact> facts_beside_trunk(const DecoderSpec& model) {
  return {{"head", model.tied_head ? "tied to the embedding" : "its own table"}};
}
std::vector<Fact> facts_beside_trunk(const EncoderSpec& model) {
  return {{"head", model.d_embedding.given ? "a projection" : "none"}, {"embedding of a text", embedding_text(model)}};
}

}  // namespace monomorph::train
