#pragma once
#include "data/tokenizer/sentence_piece/sentence_piece_file.hpp"
#include "data/tokenizer/sentence_piece/sentence_piece_normalizer.hpp"

#include <monomorph/data/text/piece_trie.hpp>

#include <cstddef>
#include <cstdint>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace monomorph::data {

/// A BPE model as SentencePiece's library computes it: whichever neighbours are together a piece are merged, those of
/// the highest score first. Immutable; threads may share one.
class SentencePieceBpe {
 public:
  /// @param file one that SentencePieceEncoder can encode
  /// @param normalizer of the same file; must outlive it
  SentencePieceBpe(const SentencePieceFile& file, const SentencePieceNormalizer& normalizer);

  /// Calls emit(id, piece) for the pieces of `text`; a character without a piece has the id `unknown_id`.
  template <class Emit> void encode(std::string_view text, std::int32_t unknown_id, Emit emit) const {
    Merging merging(*this);
    while (!text.empty()) {
      const std::size_t length = part_length(text);
      merging.run(text.substr(0, length));
      merging.for_each_symbol([&](std::string_view symbol) {
        const std::int32_t id = trie_.find(symbol);
        emit(id < 0 ? unknown_id : id, symbol);
      });
      text.remove_prefix(length);
    }
  }

 private:
  class Merging {
   public:
    explicit Merging(const SentencePieceBpe& model) : model_(model) {}
    void run(std::string_view text);
    template <class Visit> void for_each_symbol(Visit visit) const {
      std::size_t begin = 0;
      for (std::uint32_t index = 0; index != none; index = symbols_[index].next) {
        visit(text_.substr(begin, symbols_[index].length));
        begin += symbols_[index].length;
      }
    }

   private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct Symbol {
      std::uint32_t previous, next;
      std::uint32_t begin;
      std::uint32_t length;  ///< in bytes; 0: it became part of the one before
      bool is_fixed;
    };
    struct Pair {
      float score;
      std::uint32_t left, right;
      std::uint32_t length;  ///< of both together
      bool operator<(const Pair& other) const {
        return score < other.score || (score == other.score && left > other.left);
      }
    };

    void split();
    void offer(std::uint32_t left, std::uint32_t right);

    const SentencePieceBpe& model_;
    std::string_view text_;
    std::vector<Symbol> symbols_;
    std::priority_queue<Pair> pairs_;
  };

  /// The bytes up to the first place that no piece can lie across.
  std::size_t part_length(std::string_view text) const;

  const SentencePieceNormalizer& normalizer_;
  PieceTrie trie_;  ///< of the pieces that are found in a text
  std::vector<float> scores_;
  std::unordered_set<std::uint64_t> neighbours_;  ///< the pairs of characters that follow each other in a piece
};

}  // namespace monomorph::data
