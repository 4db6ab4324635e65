#pragma once
#include <monomorph/train/inference/sampling.hpp>

#include <vector>

namespace monomorph::train {

/// Tokens by falling probability, ties by id. Only as many are sorted as are asked for: a text that is drawn rarely
/// goes far down the list of a whole vocabulary.
class Candidates {
 public:
  /// Takes the place of those before. Probabilities are relative: that of the most probable token is 1.
  void assign(const std::vector<double>& logits, double temperature);
  std::size_t size() const { return tokens_.size(); }
  const Candidate& operator[](std::size_t rank) {
    sort_to(rank + 1);
    return tokens_[rank];
  }
  void keep(std::size_t n);
  void keep_from(double probability);
  double total() const;

 private:
  void sort_to(std::size_t n);
  std::vector<Candidate> tokens_;
  std::size_t sorted_ = 0;
};

}  // namespace monomorph::train
