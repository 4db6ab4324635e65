#include "data/training/merge_learner.hpp"

#include <monomorph/data/work/interruption.hpp>

#include <algorithm>
#include <utility>

namespace monomorph::data {

MergeLearner::MergeLearner(std::vector<std::string> vocabulary) : vocabulary_(std::move(vocabulary)), pairs_(1) {
  for (std::size_t id = 0; id < vocabulary_.size(); ++id) ids_.emplace(vocabulary_[id], static_cast<std::int32_t>(id));
}

void MergeLearner::add_word(std::span<const std::int32_t> tokens, std::int64_t count) {
  const auto index = static_cast<WordIndex>(words_.size());
  words_.push_back({tokens_.size(), static_cast<std::uint32_t>(tokens.size()), count});
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  for (std::size_t at = 0; at + 1 < tokens.size(); ++at) add({tokens[at], tokens[at + 1]}, count, index);
}

void MergeLearner::learn(std::size_t vocab_size, std::int64_t min_frequency, const ProgressCallback& progress) {
  queue_changed_pairs();
  const std::size_t n_before = vocabulary_.size();
  while (vocabulary_.size() < vocab_size && !queue_.empty()) {
    throw_if_interrupted();
    Candidate top = pop();
    if (const std::int64_t count = pairs_[top.pair].count; count != top.count) {
      top.count = count;
      push(top);
      continue;
    }
    if (top.count < std::max<std::int64_t>(min_frequency, 1)) break;
    if (progress) progress(vocabulary_.size() - n_before, vocab_size - n_before);
    const std::int32_t merged = token_for(top.tokens);
    merges_.push_back(top.tokens);
    const std::vector<WordIndex> words = std::move(word_lists_[top.words]);
    for (const WordIndex word : words) merge_in_word(word, top.tokens, merged);
    queue_changed_pairs();
  }
}

std::vector<TokenPair> MergeLearner::take_merges() {
  std::vector<TokenPair> result;
  PairTable<bool> seen(merges_.size());
  for (auto merge = merges_.rbegin(); merge != merges_.rend(); ++merge) {
    if (!std::exchange(seen[*merge], true)) result.push_back(*merge);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::int32_t MergeLearner::token_for(TokenPair pair) {
  std::string merged =
      vocabulary_[static_cast<std::size_t>(pair.left)] + vocabulary_[static_cast<std::size_t>(pair.right)];
  const auto [known, is_new] = ids_.emplace(merged, static_cast<std::int32_t>(vocabulary_.size()));
  if (is_new) vocabulary_.push_back(std::move(merged));
  return known->second;
}

MergeLearner::Pair& MergeLearner::pair_of(TokenPair tokens) {
  std::uint32_t& index = indices_[tokens];
  if (index == 0) {
    index = static_cast<std::uint32_t>(pairs_.size());
    pairs_.push_back({tokens});
  }
  return pairs_[index];
}

void MergeLearner::add(TokenPair tokens, std::int64_t count, WordIndex word) {
  Pair& pair = pair_of(tokens);
  pair.count += count;
  if (pair.changed_in != round_) {
    pair.changed_in = round_;
    changed_.push_back(static_cast<std::uint32_t>(&pair - pairs_.data()));
  }
  // A pair may appear several times in a word.
  if (pair.new_words.empty() || pair.new_words.back() != word) pair.new_words.push_back(word);
}

void MergeLearner::merge_in_word(WordIndex index, TokenPair pair, std::int32_t merged) {
  Word& word = words_[index];
  std::int32_t* tokens = tokens_.data() + word.begin;
  std::uint32_t size = 0;  // tokens[0, size) is done
  for (std::uint32_t i = 0; i < word.length; ++i) {
    const bool matches = i + 1 < word.length && tokens[i] == pair.left && tokens[i + 1] == pair.right;
    if (!matches) {
      tokens[size++] = tokens[i];
      continue;
    }
    if (size > 0) {
      subtract({tokens[size - 1], pair.left}, word.count);
      add({tokens[size - 1], merged}, word.count, index);
    }
    if (i + 2 < word.length) {
      subtract({pair.right, tokens[i + 2]}, word.count);
      add({merged, tokens[i + 2]}, word.count, index);
    }
    tokens[size++] = merged;
    ++i;
  }
  word.length = size;
}

void MergeLearner::queue_changed_pairs() {
  for (const std::uint32_t index : changed_) {
    Pair& pair = pairs_[index];
    if (pair.count > 0) {
      push({pair.count, pair.tokens, index, static_cast<std::uint32_t>(word_lists_.size())});
      word_lists_.push_back(std::move(pair.new_words));
    }
    pair.new_words.clear();
  }
  changed_.clear();
  ++round_;
}

void MergeLearner::push(Candidate candidate) {
  queue_.push_back(candidate);
  std::push_heap(queue_.begin(), queue_.end(), ComesLater{});
}

MergeLearner::Candidate MergeLearner::pop() {
  std::pop_heap(queue_.begin(), queue_.end(), ComesLater{});
  const Candidate top = queue_.back();
  queue_.pop_back();
  return top;
}

}  // namespace monomorph::data
