#pragma once
#include <monomorph/runtime/cuda/queue.hpp>

#include "runtime/kernels/partner_search.hpp"

namespace monomorph::cuda {

/// A pair's number says whether the pair is there, and whether its partner is nearest.
void find_partners(Queue queue, const PartnerSearch& search);
/// Adds the losses, and if the search counts the pairs and the partners that are nearest, to the sum of the embeddings.
void add_found(Queue queue, const PartnerSearch& search, bool counts);

}  // namespace monomorph::cuda
