#pragma once
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/kernels/text_embeddings.hpp>

#include <cstdint>

namespace monomorph::cuda {

/// Pairs of which one text looks for the other one, among those of all pairs.
struct PartnerSearch {
  const TextEmbeddings* embeddings;
  double temperature;
  double weight;       ///< with which the loss counts
  std::int64_t first;  ///< of the pairs, among those of all ranks
  View products_CN;    ///< of their embeddings with those of all; become the gradients of these products, if wanted
  View losses_C;
  std::int32_t* found_C;  ///< gets whether a pair is there, and whether its partner is nearest
};

void find_partners(Queue queue, const PartnerSearch& search);
/// Adds the losses, and if the search counts the pairs and the partners that are nearest, to the sum of the embeddings.
void add_found(Queue queue, const PartnerSearch& search, bool counts);

}  // namespace monomorph::cuda
