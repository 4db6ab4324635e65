#include <monomorph/train/inference/embedder.hpp>

#include <monomorph/core/ignored_target.hpp>
#include <monomorph/data/prepare/pack_texts.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>

#include <algorithm>

namespace monomorph::train {

Embedder::Embedder(InferenceModel& model, const data::Tokenizer& tokenizer, std::int64_t tokens,
                   std::int64_t texts_per_sample)
    : model_(model),
      tokenizer_(tokenizer),
      encoder_(tokenizer),
      tokens_(tokens),
      texts_per_sample_(texts_per_sample),
      inputs_(texts_at_once * tokens),
      targets_(inputs_.size()),
      document_starts_(inputs_.size()) {}

/// The text is the first of its sample, and the padding behind it is a document of its own.
void Embedder::fill_row(std::size_t row, std::string_view text) {
  std::vector<std::vector<std::int32_t>> ids{data::text_tokens(encoder_, text)};
  data::cut_texts(ids, tokens_, tokenizer_);
  const auto first = static_cast<std::ptrdiff_t>(row) * tokens_, n = std::ssize(ids[0]);
  std::ranges::copy(ids[0], inputs_.begin() + first);
  std::fill_n(targets_.begin() + first, n, 0);
  std::fill_n(document_starts_.begin() + first + n, tokens_ - n, static_cast<std::int32_t>(n));
}

std::vector<std::vector<float>> Embedder::embed(std::span<const std::string> texts) {
  if (texts.empty()) return {};
  std::ranges::fill(inputs_, 0);
  std::ranges::fill(targets_, ignored_target);
  std::ranges::fill(document_starts_, 0);
  for (std::size_t row = 0; row < texts.size(); ++row) fill_row(row, texts[row]);
  model_.evaluate({inputs_.data(), targets_.data(), 0, document_starts_.data()});
  HostBuffer buffer;
  const View made_RE = model_.download(model_.embeddings(), buffer);
  std::vector<std::vector<float>> embeddings(texts.size(), std::vector<float>(made_RE.shape.cols));
  for (std::size_t row = 0; row < texts.size(); ++row) {
    std::vector<float>& embedding = embeddings[row];
    cpu::copy(cpu::Queue{}, made_RE.rows(static_cast<std::int64_t>(row) * texts_per_sample_, 1),
              {reinterpret_cast<std::byte*>(embedding.data()), DType::fp32, {1, made_RE.shape.cols}});
  }
  return embeddings;
}

}  // namespace monomorph::train
