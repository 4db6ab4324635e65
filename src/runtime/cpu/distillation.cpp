#include <monomorph/runtime/kernels/distillation.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include "runtime/cpu/row_total.hpp"
#include "runtime/machine/isa.hpp"

namespace monomorph::cpu {
MONOMORPH_PER_ISA(void distillation_losses(const TaughtLogits& logits, const DistillationTerms& terms))

void distillation_loss(Queue, const TaughtLogits& logits, const DistillationTerms& terms) {
  const KernelSpan span(Work::loss, "distillation_loss");
  MONOMORPH_SELECT(distillation_losses)(logits, terms);
  const TokenLogits& student = logits.student;
  if (student.sum == nullptr) return;
  LossSum sum{.loss = row_total(student.loss_C),
              .tokens = count_targets(student.targets_C, student.logits_CV.shape.rows)};
  for (std::int64_t k = 0; k < 4; ++k)
    sum.metrics[static_cast<std::size_t>(k)] = row_total(logits.metrics_4C.rows(k, 1));
  student.sum->add(sum);
}

}  // namespace monomorph::cpu
