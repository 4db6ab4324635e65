#pragma once
#include <monomorph/attention/bidirectional.hpp>
#include <monomorph/attention/causal.hpp>
#include <monomorph/attention/per_document.hpp>
#include <monomorph/attention/prefix.hpp>
#include <monomorph/attention/sliding_window.hpp>
#include <monomorph/attention/within_documents.hpp>
#include <monomorph/block/mixture_of_experts.hpp>
#include <monomorph/block/rotated_block.hpp>
#include <monomorph/block/shaped_block.hpp>
#include <monomorph/checkpointing/every_block.hpp>
#include <monomorph/checkpointing/every_nth_block.hpp>
#include <monomorph/checkpointing/fraction.hpp>
#include <monomorph/checkpointing/keep_all.hpp>
#include <monomorph/checkpointing/offload.hpp>
#include <monomorph/checkpointing/recompute_cheap.hpp>
#include <monomorph/checkpointing/selective.hpp>
#include <monomorph/finetuning/freeze.hpp>
#include <monomorph/finetuning/freeze_first.hpp>
#include <monomorph/finetuning/head_only.hpp>
#include <monomorph/finetuning/low_rank.hpp>
#include <monomorph/finetuning/nf4_base.hpp>
#include <monomorph/models/gpt2.hpp>
#include <monomorph/models/llama3.hpp>
#include <monomorph/objective/contrastive_pairs.hpp>
#include <monomorph/objective/distillation.hpp>
#include <monomorph/objective/masked_tokens.hpp>
#include <monomorph/objective/preferences.hpp>
#include <monomorph/observer/tensor_norms.hpp>
#include <monomorph/optim/averaged.hpp>
#include <monomorph/optim/bf16_state.hpp>
#include <monomorph/optim/by_class.hpp>
#include <monomorph/optim/grouped.hpp>
#include <monomorph/optim/host_state.hpp>
#include <monomorph/optim/lion.hpp>
#include <monomorph/optim/sgd.hpp>
#include <monomorph/precision/bf16_mixed.hpp>
#include <monomorph/precision/bf16_pure.hpp>
#include <monomorph/precision/fp16_mixed.hpp>
#include <monomorph/precision/fp32.hpp>
#include <monomorph/precision/fp64.hpp>
#include <monomorph/precision/fp8_mixed.hpp>
#include <monomorph/precision/narrow_logits.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/sharding/full_shard.hpp>
#include <monomorph/sharding/host_parameters.hpp>
#include <monomorph/sharding/hybrid_shard.hpp>
#include <monomorph/sharding/hybrid_shard_grad_op.hpp>
#include <monomorph/sharding/reduce_once_per_step.hpp>
#include <monomorph/sharding/replicate.hpp>
#include <monomorph/sharding/shard_grad_op.hpp>
#include <monomorph/sharding/shard_optimizer.hpp>

namespace monomorph {

/// The program of recipe R. Defined in train/commands/run_recipe.hpp, below the firewall; instantiated once, in what
/// monomorph_add_recipe() generates. This header is all that recipes, mains and negative tests see.
template <class R> int run(int argc, char** argv);

}  // namespace monomorph
