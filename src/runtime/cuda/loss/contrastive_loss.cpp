#include "runtime/cuda/loss/contrast.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

namespace monomorph::cuda {

void contrastive_loss(Queue queue, const TextEmbeddings& embeddings, const ContrastiveTerms& terms) {
  const KernelSpan span(Work::loss, "contrastive_loss", queue.stream);
  compare_pairs(queue, embeddings, terms, [queue](const PartnerSearch& search, std::int64_t from, bool are_own) {
    find_partners(queue, search);
    if (are_own) add_found(queue, search, from == 0);
  });
}

}  // namespace monomorph::cuda
