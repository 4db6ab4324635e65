#include <monomorph/data/bpe/byte_level_bpe.hpp>

#include "data/text/word_scanner.hpp"

#include <algorithm>
#include <utility>

namespace monomorph::data {
namespace {

// Words beyond these are rare, and remembering them would cost more than it saves.
constexpr std::size_t longest_known_word = 256;
constexpr std::size_t bytes_beside_long_word = 128;  // of the hash table and of memory management, about

constexpr std::size_t batch_words = 64;

/// Room for so many more, most of them at once.
void make_room_for(std::size_t n_more, std::vector<std::int32_t>& ids) {
  const std::size_t wanted = ids.size() + n_more;
  if (wanted > ids.capacity()) ids.reserve(std::max(wanted, 2 * ids.capacity()));
}

}  // namespace

ByteLevelBpe::ByteLevelBpe(const std::array<std::int32_t, 256>& id_of_byte, std::span<const MergeRule> rules,
                           std::span<const std::string> whole_words)
    : id_of_byte_(id_of_byte), merges_(rules), rank_of_bytes_(256 * 256) {
  for (std::size_t left = 0; left < 256; ++left) {
    for (std::size_t right = 0; right < 256; ++right) {
      rank_of_bytes_[256 * left + right] = merges_.rank_of({id_of_byte_[left], id_of_byte_[right]});
    }
  }
  whole_words_.reserve(whole_words.size());
  for (std::size_t id = 0; id < whole_words.size(); ++id) {
    if (!whole_words[id].empty()) whole_words_.emplace(whole_words[id], static_cast<std::int32_t>(id));
  }
}

/// A word that was cut but not encoded yet: while the next ones are cut, the memory where it is known is fetched.
struct ByteLevelBpeEncoder::Word {
  const char* begin;
  std::size_t length;
  ShortWord key;
  ShortWordCache::Bucket* bucket;  ///< nullptr for a long word
};

inline ByteLevelBpeEncoder::Word ByteLevelBpeEncoder::look_up(const char* begin, std::size_t length,
                                                              const char* text_end) {
  if (length > ShortWord::most_bytes) return {begin, length, {}, nullptr};
  const ShortWord key = ShortWord::from(begin, length, text_end);
  return {begin, length, key, &short_words_.bucket_of(key)};
}

std::size_t ByteLevelBpeEncoder::encode_words(WordPattern pattern, std::string_view text, bool complete,
                                              std::vector<std::int32_t>& ids) {
  return with_pattern(pattern, [&]<WordPattern p>() { return encode_words<p>(text, complete, ids); });
}

template <WordPattern pattern>
std::size_t ByteLevelBpeEncoder::encode_words(std::string_view text, bool complete, std::vector<std::int32_t>& ids) {
  make_room_for(text.size() / 4, ids);
  TextScanner scanner(text.data() + text.size());
  Word words[batch_words];
  std::size_t n_words = 0;
  const char* position = text.data();
  while (position != scanner.end()) {
    const char* end = word_end<pattern>(scanner, position);
    if (!complete && scanner.met_end()) break;
    words[n_words] = look_up(position, static_cast<std::size_t>(end - position), scanner.end());
    __builtin_prefetch(words[n_words].bucket);
    position = end;
    if (++n_words < batch_words) continue;
    finish_batch(words, ids);
    n_words = 0;
  }
  finish_batch(std::span(words).first(n_words), ids);
  return static_cast<std::size_t>(position - text.data());
}

void ByteLevelBpeEncoder::encode_word(std::string_view word, std::vector<std::int32_t>& ids) {
  if (word.empty()) return;
  const Word one = look_up(word.data(), word.size(), word.data() + word.size());
  finish_batch({&one, 1}, ids);
}

void ByteLevelBpeEncoder::finish_batch(std::span<const Word> words, std::vector<std::int32_t>& ids) {
  std::int32_t known[batch_words * ShortWordCache::most_ids + 1];
  std::size_t n_known = 0;
  for (const Word& word : words) {
    if (const auto* entry = word.bucket ? word.bucket->find(word.key) : nullptr) {
      std::memcpy(known + n_known, entry->ids.data(), sizeof(entry->ids));  // as one piece, whatever their number
      n_known += entry->n_ids();
      continue;
    }
    ids.insert(ids.end(), known, known + n_known);
    n_known = 0;
    const std::size_t n_before = ids.size();
    if (word.bucket) {
      merge({word.begin, word.length}, ids);
      short_words_.add(*word.bucket, word.key, std::span(ids).subspan(n_before));
    } else {
      encode_long_word({word.begin, word.length}, ids);
    }
  }
  ids.insert(ids.end(), known, known + n_known);
  short_words_.make_room();
}

void ByteLevelBpeEncoder::encode_long_word(std::string_view word, std::vector<std::int32_t>& ids) {
  if (word.size() > longest_known_word) return merge(word, ids);
  if (const auto known = long_words_.find(word); known != long_words_.end()) {
    ids.insert(ids.end(), known->second.begin(), known->second.end());
    return;
  }
  const std::size_t n_before = ids.size();
  merge(word, ids);
  std::vector added(ids.begin() + static_cast<std::ptrdiff_t>(n_before), ids.end());
  if (long_word_bytes_ > most_long_word_bytes_) {
    long_words_.clear();
    long_word_bytes_ = 0;
  }
  long_word_bytes_ += word.size() + added.size() * sizeof added[0] + bytes_beside_long_word;
  long_words_.emplace(word, std::move(added));
}

void ByteLevelBpeEncoder::merge(std::string_view word, std::vector<std::int32_t>& ids) {
  if (!bpe_.whole_words_.empty()) {
    if (const auto whole = bpe_.whole_words_.find(std::string(word)); whole != bpe_.whole_words_.end()) {
      ids.push_back(whole->second);
      return;
    }
  }
  const std::size_t n_before = ids.size();
  const auto byte_at = [word](std::size_t i) { return static_cast<unsigned char>(word[i]); };
  ids.resize(n_before + word.size());
  const auto tokens = std::span(ids).subspan(n_before);
  for (std::size_t i = 0; i < word.size(); ++i) tokens[i] = bpe_.id_of_byte_[byte_at(i)];
  if (word.size() > BytePairMerger::most_short) return merger_.merge(ids, n_before);
  std::uint32_t ranks[BytePairMerger::most_short];
  for (std::size_t i = 0; i + 1 < word.size(); ++i) {
    ranks[i] = bpe_.rank_of_bytes_[std::size_t{256} * byte_at(i) + byte_at(i + 1)];
  }
  ids.resize(n_before + merger_.merge_short(tokens, ranks));
}

}  // namespace monomorph::data
