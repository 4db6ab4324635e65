#include "runtime/cuda/loss/contrast.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>

namespace monomorph::cuda {

void contrastive_loss(Queue queue, const TextEmbeddings& embeddings, const ContrastiveTerms& terms) {
  compare_pairs(queue, embeddings, terms, [queue](const PartnerSearch& search, std::int64_t from, bool are_own) {
    find_partners(queue, search);
    if (are_own) add_found(queue, search, from == 0);
  });
}

}  // namespace monomorph::cuda
