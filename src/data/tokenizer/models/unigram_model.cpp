#include "data/tokenizer/models/best_paths.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/text/utf8.hpp>
#include <monomorph/data/tokenizer/models/unigram_model.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace monomorph::data {
namespace {

constexpr double unknown_penalty = 10;

/// The number that the `tokenizers` package makes of a score's decimal form: all digits as one whole number, then one
/// multiplication or division by a power of ten. It can differ from `score` in the last bit, which decides ties.
double as_reference_reads(double score) {
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), std::abs(score), std::chars_format::scientific).ptr;
  std::uint64_t digits = 0;
  int exponent = 0;
  const char* at = text;
  for (bool fraction = false; at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
    exponent -= fraction;
  }
  int written = 0;
  if (at != end) std::from_chars(at + (at[1] == '+' ? 2 : 1), end, written);
  exponent += written;
  auto value = static_cast<double>(digits);
  constexpr int largest_power = 308;
  for (; exponent < -largest_power; exponent += largest_power) value /= 1e308;
  double power = 1;
  const std::string written_power = "1e" + std::to_string(std::abs(exponent));
  std::from_chars(written_power.data(), written_power.data() + written_power.size(), power);
  value = exponent < 0 ? value / power : value * power;
  return std::copysign(value, score);
}

PieceTrie make_trie(std::span<const std::string> pieces) {
  std::vector<PieceTrie::Entry> entries;
  entries.reserve(pieces.size());
  for (const std::string& piece : pieces) entries.emplace_back(piece, static_cast<std::int32_t>(entries.size()));
  return PieceTrie(std::move(entries));
}

}  // namespace

UnigramModel::UnigramModel(std::span<const std::string> pieces, std::span<const double> scores,
                           UnigramSettings settings)
    : trie_(make_trie(pieces)), unknown_id_(settings.unknown_id.value_or(-1)) {
  if (settings.unknown_id && (unknown_id_ < 0 || static_cast<std::size_t>(unknown_id_) >= pieces.size())) {
    throw UsageError("TOK-40", fmt::format("the Unigram model has {} pieces, and so none with the id {} that its "
                                           "\"unk_id\" names; take the file from where it was made again",
                                           pieces.size(), unknown_id_));
  }
  double lowest = std::numeric_limits<double>::infinity();
  scores_.reserve(scores.size());
  for (const double score : scores) {
    scores_.push_back(as_reference_reads(score));
    lowest = std::min(lowest, scores_.back());
  }
  unknown_score_ = lowest - unknown_penalty;
  byte_ids_.fill(-1);
  for (std::size_t byte = 0; settings.byte_fallback && byte < byte_ids_.size(); ++byte) {
    byte_ids_[byte] = trie_.find(fmt::format("<0x{:02X}>", byte));
  }
}

/// The search for the best path through one word.
class UnigramModel::Search {
 public:
  void run(const UnigramModel& model, std::string_view word, std::vector<std::int32_t>& ids) {
    model_ = &model;
    word_ = word;
    ids_ = &ids;
    paths_.begin(std::max(model.trie_.longest(), longest_character));
    unknown_size_ = 0;
    for (std::size_t position = 0; position < word.size(); position += extend(position)) {
      if (position == paths_.farthest()) write_out();
    }
    write_out();
    end_unknown(word.size());
  }

  /// Gives memory back that a very long word took.
  void trim() { paths_.trim(); }

 private:
  static constexpr std::size_t longest_character = 4;

  /// Takes all steps from `position`; returns the bytes of the character there.
  std::size_t extend(std::size_t position) {
    const double score = paths_.score(position);
    const std::size_t character = first_character(word_.substr(position)).n_bytes;
    bool has_character = false;
    model_->trie_.for_each_prefix(word_.substr(position), [&](PieceTrie::Match match) {
      paths_.offer(position, match.length, match.value, score + model_->scores_[static_cast<std::size_t>(match.value)]);
      has_character = has_character || match.length == character;
    });
    if (!has_character && paths_.offer(position, character, model_->unknown_id_, score + model_->unknown_score_) &&
        model_->unknown_id_ < 0) {
      throw_no_unknown(position, character);
    }
    return character;
  }

  [[noreturn]] void throw_no_unknown(std::size_t position, std::size_t length) const {
    throw Error("TOK-41",
                fmt::format("the tokenizer has no piece for the character {} and no unknown token (\"unk_id\"); "
                            "use one that has, or take the character out of the text",
                            in_quotes(word_.substr(position, length))));
  }

  void write_out() {
    paths_.write_out([&](std::size_t position, BestPaths<double>::Step step) {
      if (step.id == model_->unknown_id_) {
        unknown_size_ += step.length;
      } else {
        end_unknown(position);
        ids_->push_back(step.id);
      }
    });
  }

  /// Writes the unknown characters that end at `end`: together they may be a piece after all.
  void end_unknown(std::size_t end) {
    if (unknown_size_ == 0) return;
    const std::string_view text = word_.substr(end - unknown_size_, unknown_size_);
    unknown_size_ = 0;
    const auto byte_id = [&](char byte) { return model_->byte_ids_[static_cast<unsigned char>(byte)]; };
    if (const std::int32_t id = model_->trie_.find(text); id >= 0) {
      ids_->push_back(id);
    } else if (std::all_of(text.begin(), text.end(), [&](char byte) { return byte_id(byte) >= 0; })) {
      std::transform(text.begin(), text.end(), std::back_inserter(*ids_), byte_id);
    } else {
      ids_->push_back(model_->unknown_id_);
    }
  }

  const UnigramModel* model_ = nullptr;
  std::string_view word_;
  std::vector<std::int32_t>* ids_ = nullptr;
  BestPaths<double> paths_{longest_character};
  std::size_t unknown_size_ = 0;  ///< bytes of unknown characters before where all paths last met
};

void UnigramModel::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
  thread_local Search search;  // its memory serves the thread's next word
  search.run(*this, word, ids);
  search.trim();
}

std::optional<std::int32_t> UnigramModel::find(std::string_view piece) const {
  const std::int32_t id = trie_.find(piece);
  return id < 0 ? std::nullopt : std::optional(id);
}

}  // namespace monomorph::data
