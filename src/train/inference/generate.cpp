#include <monomorph/train/inference/generate.hpp>

#include "train/inference/prompt_batch.hpp"
#include "train/inference/text_generation.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace monomorph::train {
namespace {

/// The texts that are generated together, a token each at a time; waiting ones join as others end.
class GenerationBatch {
 public:
  GenerationBatch(Session& session, const data::Tokenizer& tokenizer, const GenerationSettings& settings,
                  const TextSink& sink)
      : session_(session), tokenizer_(tokenizer), settings_(settings), sink_(sink), waiting_(sink.next()) {}

  bool done() const { return texts_.empty() && !waiting_; }

  /// Begins texts as long as there is room for them, as some may end with their first token.
  void begin() {
    while (has_room()) {
      PromptBatch prompts(session_);
      while (has_room()) {
        TextGeneration& text = open_waiting();
        const std::span<const std::int32_t> prompt = text.begin_again();
        prompts.add(text.sequence(), prompt, [&text, this](Logits logits) { take(text, logits); });
      }
      prompts.read();
      remove_finished();
    }
  }

  /// A token more for each.
  void grow() {
    std::vector<TextGeneration*> together;
    std::vector<int> sequences;
    std::vector<std::int32_t> ids;
    for (const Entry& entry : texts_) {
      if (entry.text->context_is_full()) {
        take(*entry.text, entry.text->read_again());
        continue;
      }
      together.push_back(entry.text.get());
      sequences.push_back(entry.text->sequence());
      ids.push_back(entry.text->last_id());
    }
    if (!together.empty()) {
      choose_all(together, session_.decode(sequences, ids));
      for (TextGeneration* text : together) show(*text, text->accept());
    }
    remove_finished();
  }

 private:
  struct Entry {
    std::unique_ptr<TextGeneration> text;
    std::int64_t pages;
  };

  /// For the text that waits: the session has a sequence for it, and pages for whatever it may grow to.
  bool has_room() const {
    if (!waiting_ || std::ssize(texts_) == session_.most_sequences()) return false;
    const std::int64_t pages = most_pages(*waiting_);
    if (pages > session_.pages()) refuse(pages);
    return promised_pages_ + pages <= session_.pages();
  }
  TextGeneration& open_waiting() {
    const std::int64_t pages = most_pages(*waiting_);
    promised_pages_ += pages;
    texts_.push_back({std::make_unique<TextGeneration>(session_, tokenizer_, settings_, std::move(*waiting_)), pages});
    waiting_ = sink_.next();
    return *texts_.back().text;
  }

  std::int64_t most_tokens(const TextRequest& request) const {
    const std::int64_t prompt = std::ssize(request.prompt), room = session_.context_length() - prompt;
    return settings_.max_tokens < room ? prompt + settings_.max_tokens : session_.context_length();
  }
  std::int64_t most_pages(const TextRequest& request) const { return pages_of(most_tokens(request)); }
  [[noreturn]] void refuse(std::int64_t pages) const {
    throw UsageError("RUN-28", fmt::format("a text of up to {} tokens does not fit the cache, which has {}; raise "
                                           "--cache-tokens, or lower --max-tokens",
                                           pages * PagedTokens::page, session_.pages() * PagedTokens::page));
  }

  void take(TextGeneration& text, Logits logits) const { show(text, text.take(logits)); }
  void show(const TextGeneration& text, const std::string& more) const {
    if (!more.empty()) sink_.show(text.number(), more);
  }
  void remove_finished() {
    std::erase_if(texts_, [&](Entry& entry) {
      if (!entry.text->finished()) return false;
      promised_pages_ -= entry.pages;
      sink_.done(entry.text->number(), std::move(*entry.text).result());
      return true;
    });
  }

  Session& session_;
  const data::Tokenizer& tokenizer_;
  const GenerationSettings& settings_;
  const TextSink& sink_;
  std::optional<TextRequest> waiting_;
  std::vector<Entry> texts_;
  std::int64_t promised_pages_ = 0;
};

}  // namespace

std::string_view name_of(FinishReason reason) { return reason == FinishReason::stop ? "stop" : "length"; }

void generate(Session& session, const data::Tokenizer& tokenizer, const GenerationSettings& settings,
              const TextSink& sink) {
  GenerationBatch texts(session, tokenizer, settings, sink);
  while (!texts.done()) {
    texts.begin();
    texts.grow();
  }
}

}  // namespace monomorph::train
