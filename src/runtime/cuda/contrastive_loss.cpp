#include "runtime/cuda/contrast.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>

#include <algorithm>

namespace monomorph::cuda {
namespace {

/// One direction: the texts `from` of all pairs look for the other ones.
class Direction {
 public:
  Direction(Queue queue, const TextEmbeddings& embeddings, const ContrastiveTerms& terms, std::int64_t from)
      : queue_(queue), e_(embeddings), terms_(terms), from_(from), to_(1 - from) {
    const std::int64_t at_once = terms.pairs_at_once, samples = e_.samples();
    const View& all = e_.workspace;
    products_ = all.columns(0, at_once * samples).reshaped({at_once, samples});
    losses_ = all.columns(at_once * samples, at_once);
    found_ = all.columns(at_once * samples + at_once, at_once).as<std::int32_t>();
  }

  /// A chunk of pairs is either all of this rank or none. Without gradients the other ranks' say nothing.
  void add() const {
    const std::int64_t own = e_.first, behind = e_.first + e_.n;
    if (trains()) add_chunks(0, own, false);
    add_chunks(own, behind, true);
    if (trains()) add_chunks(behind, e_.samples(), false);
  }

 private:
  bool trains() const { return e_.gradient_RE.present(); }
  void add_chunks(std::int64_t begin, std::int64_t end, bool are_own) const {
    for (std::int64_t first = begin; first < end; first += terms_.pairs_at_once)
      add_chunk(first, std::min(terms_.pairs_at_once, end - first), are_own);
  }
  void add_chunk(std::int64_t first, std::int64_t n, bool are_own) const {
    const PartnerSearch search{.embeddings = &e_,
                               .temperature = terms_.temperature,
                               .weight = terms_.symmetric ? 0.5 : 1,
                               .first = first,
                               .products_CN = products_.rows(0, n),
                               .losses_C = losses_.columns(0, n),
                               .found_C = found_};
    const View looking = e_.text(from_, first, n), candidates = e_.text(to_, 0, e_.samples());
    linear(queue_, looking, candidates, {}, search.products_CN);
    find_partners(queue_, search);
    if (are_own) add_found(queue_, search, from_ == 0);
    if (!trains()) return;
    if (are_own) linear_backward_input(queue_, search.products_CN, candidates, e_.gradient(from_, first, n), true);
    linear_backward_weight(queue_, search.products_CN.columns(e_.first, e_.n), looking,
                           e_.gradient(to_, e_.first, e_.n), {}, true);
  }

  Queue queue_;
  const TextEmbeddings& e_;
  const ContrastiveTerms& terms_;
  std::int64_t from_, to_;
  View products_, losses_;
  std::int32_t* found_;
};

}  // namespace

void contrastive_loss(Queue queue, const TextEmbeddings& embeddings, const ContrastiveTerms& terms) {
  if (embeddings.gradient_RE.present()) zero(queue, embeddings.gradient_RE);
  Direction(queue, embeddings, terms, 0).add();
  if (terms.symmetric) Direction(queue, embeddings, terms, 1).add();
}

}  // namespace monomorph::cuda
