#pragma once
#include <cstdint>
#include <monomorph/core/extremes.hpp>
#include <monomorph/runtime/kernels/text_embeddings.hpp>

/// How every device compares pairs of texts (objective::ContrastivePairs): in chunks of pairs, as products of a queue's
/// kernels, between which the device finds the partners.
namespace monomorph {

/// Pairs of which one text looks for the other one, among those of all pairs.
struct PartnerSearch {
  const TextEmbeddings* embeddings;
  double temperature;
  double weight;       ///< with which the loss counts
  std::int64_t first;  ///< of the pairs, among those of all ranks
  View products_CN;    ///< of their embeddings with those of all; become the gradients of these products, if wanted
  View losses_C;
  std::int32_t* found_C;  ///< the device's own, a number for each pair
};

/// One direction: the texts `from` of all pairs look for the other ones.
template <class Queue, class Find> class PartnerDirection {
 public:
  PartnerDirection(Queue queue, const TextEmbeddings& embeddings, const ContrastiveTerms& terms, std::int64_t from,
                   Find& find)
      : queue_(queue), e_(embeddings), terms_(terms), from_(from), to_(1 - from), find_(find) {
    const std::int64_t C = terms.pairs_at_once, N = e_.samples();
    const View& all = e_.workspace;
    products_ = all.columns(0, C * N).reshaped({C, N});
    losses_ = all.columns(C * N, C);
    found_ = all.columns(C * N + C, C).template as<std::int32_t>();
  }

  /// A chunk of pairs is either all of this rank or none. Without gradients the other ranks' say nothing.
  void add() {
    const std::int64_t own = e_.first, behind = e_.first + e_.n;
    if (trains()) add_chunks(0, own, false);
    add_chunks(own, behind, true);
    if (trains()) add_chunks(behind, e_.samples(), false);
  }

 private:
  bool trains() const { return e_.gradient_RE.present(); }
  void add_chunks(std::int64_t begin, std::int64_t end, bool are_own) {
    for (std::int64_t first = begin; first < end; first += terms_.pairs_at_once)
      add_chunk(first, smaller_of(terms_.pairs_at_once, end - first), are_own);
  }
  void add_chunk(std::int64_t first, std::int64_t n, bool are_own) {
    const PartnerSearch search{.embeddings = &e_,
                               .temperature = terms_.temperature,
                               .weight = terms_.symmetric ? 0.5 : 1,
                               .first = first,
                               .products_CN = products_.rows(0, n),
                               .losses_C = losses_.columns(0, n),
                               .found_C = found_};
    const View looking = e_.text(from_, first, n), candidates = e_.text(to_, 0, e_.samples());
    linear(queue_, looking, candidates, View{}, search.products_CN);
    find_(search, from_, are_own);
    if (!trains()) return;
    if (are_own) linear_backward_input(queue_, search.products_CN, candidates, e_.gradient(from_, first, n), true);
    linear_backward_weight(queue_, search.products_CN.columns(e_.first, e_.n), looking,
                           e_.gradient(to_, e_.first, e_.n), View{}, true);
  }

  Queue queue_;
  const TextEmbeddings& e_;
  const ContrastiveTerms& terms_;
  std::int64_t from_, to_;
  Find& find_;
  View products_, losses_;
  std::int32_t* found_;
};

/// Both directions, or the first one alone.
/// @param find called as find(search, from, are_own) for each chunk, with the products made; `are_own`: of this rank's
/// pairs, whose losses count
template <class Queue, class Find>
void compare_pairs(Queue queue, const TextEmbeddings& embeddings, const ContrastiveTerms& terms, Find find) {
  if (embeddings.gradient_RE.present()) zero(queue, embeddings.gradient_RE);
  for (std::int64_t from = 0; from < (terms.symmetric ? 2 : 1); ++from)
    PartnerDirection<Queue, Find>(queue, embeddings, terms, from, find).add();
}

}  // namespace monomorph
