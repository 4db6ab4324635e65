#include <monomorph/train/inference/scoring.hpp>

#include "train/inference/logits.hpp"

#include <monomorph/runtime/machine/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace monomorph::train {
namespace {

constexpr std::int64_t tokens_of_scoring_pass = 2048, sequences_of_scoring = 64,
                       bytes_of_scored_logits = std::int64_t{64} << 20;

/// What goes through the model: all tokens but the last, which nothing follows.
std::span<const std::int32_t> inputs_of(const ScoredText& text) {
  return std::span(text.ids).first(text.ids.size() - 1);
}

std::int64_t in_common(const TextGroup& group) {
  std::span<const std::int32_t> common = inputs_of(group.front());
  for (const ScoredText& text : group) {
    const auto inputs = inputs_of(text);
    common = common.first(static_cast<std::size_t>(std::ranges::mismatch(common, inputs).in1 - common.begin()));
  }
  return std::ssize(common);
}

/// Whole pages alone are shared.
constexpr std::int64_t whole_pages(std::int64_t tokens) { return tokens / PagedTokens::page * PagedTokens::page; }

/// Tokens that follow those of a sequence, of the texts of a group: of one, or what all have in common.
struct Stretch {
  int sequence;
  std::span<const std::int32_t> ids;
  std::int64_t position;     ///< of the first of them
  std::int64_t wanted_from;  ///< position of the first whose successor is scored
  std::size_t group, first_text, n_texts;
};

/// A token's successor in the texts of its stretch.
struct ScoredRow {
  const Stretch* stretch;
  std::int64_t position;
};

class Scorer {
 public:
  Scorer(Session& session, std::span<const TextGroup> groups) : session_(session), groups_(groups) {
    for (const TextGroup& group : groups) {
      GroupScores& scores = scores_.emplace_back();
      for (const ScoredText& text : group) {
        if (text.first < 1 || text.first >= std::ssize(text.ids) || std::ssize(text.ids) > session.context_length() + 1)
          throw std::logic_error("a text that is scored has tokens to score, and no more than the context");
        scores.emplace_back(text.ids.size() - static_cast<std::size_t>(text.first));
      }
    }
  }

  std::vector<GroupScores> run() && {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::int64_t common = in_common(groups_[g]);
      if (fits(g, common)) {
        add(g, 0, groups_[g].size(), common);
        continue;
      }
      for (std::size_t t = 0; t < groups_[g].size(); ++t) {  // each by itself
        const std::int64_t all = std::ssize(inputs_of(groups_[g][t]));
        add(g, t, 1, all);
      }
    }
    run_batch();
    return std::move(scores_);
  }

 private:
  std::int64_t pages_for(std::size_t g, std::int64_t common) const {
    std::int64_t pages = pages_of(common);
    for (const ScoredText& text : groups_[g])
      if (std::ssize(inputs_of(text)) > common) pages += pages_of(std::ssize(inputs_of(text)) - whole_pages(common));
    return pages;
  }
  bool fits(std::size_t g, std::int64_t common) const {
    return pages_for(g, common) <= session_.pages() && std::ssize(groups_[g]) + 1 <= session_.most_sequences();
  }

  /// Adds texts of a group to the batch, which goes through the model first if it has no room for them.
  void add(std::size_t g, std::size_t first_text, std::size_t n_texts, std::int64_t common) {
    const TextGroup& group = groups_[g];
    const std::int64_t sequences = n_texts == 1 ? 1 : std::ssize(group) + 1;
    const std::int64_t pages = n_texts == 1 ? pages_of(common) : pages_for(g, common);
    if (n_sequences_ + sequences > session_.most_sequences() || n_pages_ + pages > session_.pages()) run_batch();
    n_sequences_ += sequences;
    n_pages_ += pages;
    std::int64_t wanted_from = group[first_text].first - 1;
    for (std::size_t t = first_text; t < first_text + n_texts; ++t)
      wanted_from = std::min(wanted_from, group[t].first - 1);
    const int sequence = session_.open();
    sequences_.push_back(sequence);
    if (common > 0)
      beginnings_.push_back({sequence, inputs_of(group[first_text]).first(static_cast<std::size_t>(common)), 0,
                             wanted_from, g, first_text, n_texts});
    for (std::size_t t = first_text; t < first_text + n_texts; ++t) {
      const auto inputs = inputs_of(group[t]);
      if (std::ssize(inputs) == common) continue;
      const std::int64_t shared = whole_pages(common);
      endings_.push_back({sequence, inputs.subspan(static_cast<std::size_t>(shared)), shared,
                          std::max(common, group[t].first - 1), g, t, 1});
    }
  }

  void run_batch() {
    run(beginnings_);
    for (Stretch& ending : endings_) {
      ending.sequence = session_.fork(ending.sequence, ending.position);
      sequences_.push_back(ending.sequence);
    }
    run(endings_);
    for (const int sequence : sequences_) session_.close(sequence);
    beginnings_.clear(), endings_.clear(), sequences_.clear();
    n_sequences_ = n_pages_ = 0;
  }

  /// Passes are cut between sequences where that is possible: those that begin in a pass are faster in it.
  void run(const std::vector<Stretch>& stretches) {
    for (const Stretch& stretch : stretches)
      for (std::int64_t done = 0; done < std::ssize(stretch.ids);) {
        const std::int64_t n = room_for(stretch, done);
        if (n < std::ssize(stretch.ids) - done && n_tokens_ > 0) {
          run_pass();
          continue;
        }
        const std::int64_t begin = stretch.position + done, end = begin + n;
        const std::int64_t from = std::clamp(stretch.wanted_from, begin, end);
        pass_.push_back({stretch.sequence,
                         stretch.ids.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(n)), end - from});
        for (std::int64_t position = from; position < end; ++position) rows_.push_back({&stretch, position});
        n_tokens_ += n;
        done += n;
      }
    run_pass();
  }

  /// How many of a stretch's tokens the pass has room for.
  std::int64_t room_for(const Stretch& stretch, std::int64_t done) const {
    const std::int64_t left = std::ssize(stretch.ids) - done;
    const std::int64_t unwanted = std::clamp<std::int64_t>(stretch.wanted_from - stretch.position - done, 0, left);
    return std::min(
        {left, session_.sizes().tokens - n_tokens_, unwanted + session_.sizes().wanted - std::ssize(rows_)});
  }

  void run_pass() {
    if (pass_.empty()) return;
    const std::span<const Logits> logits = session_.extend(pass_);
    std::vector<double> sums(rows_.size());
    parallel_for(std::ssize(rows_), [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      sums[at] = log_sum(logits[at]);
      take(rows_[at], logits[at], sums[at]);
    });
    if (!std::ranges::all_of(sums, [](double sum) { return std::isfinite(sum); })) refuse_logits();
    pass_.clear(), rows_.clear();
    n_tokens_ = 0;
  }

  /// What a row says of its successors. No two rows say it of the same token.
  void take(const ScoredRow& row, Logits logits, double sum) {
    const Stretch& stretch = *row.stretch;
    const std::int64_t next = row.position + 1;
    for (std::size_t t = stretch.first_text; t < stretch.first_text + stretch.n_texts; ++t) {
      const ScoredText& text = groups_[stretch.group][t];
      if (next < text.first || next >= std::ssize(text.ids)) continue;
      const std::int32_t id = text.ids[static_cast<std::size_t>(next)];
      scores_[stretch.group][t][static_cast<std::size_t>(next - text.first)] =
          logits[static_cast<std::size_t>(id)] - sum;
    }
  }

  Session& session_;
  std::span<const TextGroup> groups_;
  std::vector<GroupScores> scores_;
  std::vector<Stretch> beginnings_, endings_;  ///< of the batch
  std::vector<int> sequences_;
  std::int64_t n_sequences_ = 0, n_pages_ = 0;
  std::vector<Session::Addition> pass_;
  std::vector<ScoredRow> rows_;
  std::int64_t n_tokens_ = 0;
};

}  // namespace

TextWindows::TextWindows(std::span<const std::int32_t> ids, std::int64_t context_length, std::int64_t stride)
    : ids_(ids), context_length_(context_length), stride_(stride) {}

std::optional<ScoredText> TextWindows::next() {
  const std::int64_t n = std::ssize(ids_), longest = context_length_ + 1;
  if (scored_ >= n) return std::nullopt;
  const std::int64_t end = std::min(n, scored_ == 1 ? longest : scored_ + stride_);
  const std::int64_t begin = std::max<std::int64_t>(0, end - longest);
  return ScoredText{{ids_.begin() + begin, ids_.begin() + end}, std::exchange(scored_, end) - begin};
}

PassSizes scoring_sizes(const PassLimits& limits) {
  const std::int64_t tokens = std::max(tokens_of_scoring_pass, limits.context_length);
  const std::int64_t logits = bytes_of_scored_logits / (limits.vocab_size * static_cast<std::int64_t>(sizeof(float)));
  return {.tokens = tokens_of_scoring_pass,
          .wanted = std::clamp<std::int64_t>(logits, 16, tokens_of_scoring_pass),
          .sequences = sequences_of_scoring,
          .pages = pages_of(tokens) + sequences_of_scoring};
}

std::vector<GroupScores> score(Session& session, std::span<const TextGroup> groups) {
  return Scorer(session, groups).run();
}

}  // namespace monomorph::train
