// The objective that learns from a teacher, against autograd in fp64: losses, metrics and all gradients, in one chunk
// of tokens and in several, of models that are unlike in all but their vocabulary; what the teacher's memory is; and
// what passes without a teacher make of it.
#include "numerics/perturb.hpp"
#include "numerics/regions_check.hpp"
#include "numerics/schedule_recipes.hpp"
#include "numerics/teacher.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/reference_model.hpp"
#include "support/tensors.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <cmath>

namespace monomorph::testing {
namespace {

constexpr std::int64_t T = 24, V = 50;

constexpr DecoderSpec shrunk(DecoderSpec model) {
  model.n_layers = 2;
  model.d_model = 16;
  model.d_ff = 32;
  model.dropout = {};
  model.vocab_multiple = 64;
  return model;
}
template <class Base> struct Student : Base {
  static constexpr DecoderSpec model = shrunk(Base::model);
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp64;
};
/// Another depth and width, and a longer context: the student's is what it is asked over.
template <class Base> struct TeacherLike {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = Base::model;
    model.n_layers = 3;
    model.context_length = 2 * T;
    model.vocab_multiple = 64;
    return model;
  }();
};
/// Its experts compute in memory that only a backward uses in other models.
struct TeacherOfExperts : TeacherLike<llama_like> {
  static constexpr MixtureSpec mixture{.n_experts = 4, .top_k = 2, .d_expert = 24, .n_shared = 1};
  using layers = Stack<Run<Mixture<mixture>::template Block, model.n_layers>>;
};
template <class Student, class Teacher> struct InDocumentsTaught : TaughtBy<Student, Teacher> {
  struct Source : Teacher {
    using attention = monomorph::attention::WithinDocuments;
  };
  using attention = monomorph::attention::WithinDocuments;
  using objective = monomorph::objective::Distillation<Source>;
};
template <class R> struct Recomputed : R { using checkpointing = monomorph::checkpointing::EveryBlock; };
template <class R> struct Adapted : R {
  using finetuning = monomorph::finetuning::LowRank<LowRankSpec{.rank = 3, .alpha = 6, .targets = {.up = true}}>;
};

template <class R> struct OnHost : R {
  using sharding = monomorph::sharding::HostParameters<monomorph::sharding::FullShard>;
  using optimizer = monomorph::optim::HostState<monomorph::optim::AdamW>;
};

using Terms = objective::DistillationHparams;
Terms terms(Divergence divergence, double temperature, double weight) {
  Terms values;
  values.divergence.value = divergence;
  values.temperature.value = temperature;
  values.teacher_weight.value = weight;
  return values;
}

using ByLlama = TaughtBy<Student<gpt2_like>, TeacherLike<llama_like>>;
using ByGpt2 = TaughtBy<Student<llama_like>, TeacherLike<gpt2_like>>;
static_assert(loss_chunk_tokens<ByLlama>(4096) == 512);
constexpr std::int64_t in_one_chunk = 4, in_two_chunks = 24;  // samples
static_assert(in_one_chunk * T < 512 && in_two_chunks * T > 512);

/// n rows of a length, of whose targets six in seven count.
Sequences rows_of(std::int64_t n, std::int64_t length = T) {
  Sequences rows(n, length, V);
  for (std::size_t i = 0; i < rows.targets.size(); ++i)
    rows.targets[i] = i % 7 == 3 ? ignored_target : static_cast<std::int32_t>((3 * i * i + i) % V);
  return rows;
}

void check_close(double actual, double expected) { CHECK(actual == Approx(expected).epsilon(1e-10).margin(1e-12)); }

template <Recipe R> ReferenceBatch batch_of(const Sequences& rows, std::int64_t layers) {
  using Teacher = typename R::objective::Teacher;
  ReferenceLayer layer{plan::TeacherOf<R>::model};
  if constexpr (requires { Teacher::mixture; }) layer.mixture = Teacher::mixture;
  ReferenceBatch batch{.ids = rows.inputs,
                       .targets = rows.targets,
                       .layers = std::vector<ReferenceLayer>(static_cast<std::size_t>(layers), layer)};
  if (attention_of<R>::within_documents) batch.document_starts = rows.document_starts;
  return batch;
}

template <Recipe R>
ReferenceDistilled expected_of(train::TrainingStep& step, const Sequences& rows, const Terms& loss) {
  constexpr DecoderSpec teacher = plan::TeacherOf<R>::model;
  const ReferenceBatch of_teacher = batch_of<R>(rows, teacher.n_layers);
  ReferenceBatch of_student = of_teacher;
  ReferenceLayer layer{R::model};
  if constexpr (HasAdapters<R>) layer.low_rank = R::finetuning::low_rank;
  of_student.layers.assign(static_cast<std::size_t>(R::model.n_layers), layer);
  const Tensors teacher_parameters = values_of(step.teacher_parameters());
  return reference_distillation(R::model, values_of(step.parameters()), of_student,
                                {.logits = reference_model(teacher, teacher_parameters, of_teacher).logits,
                                 .divergence = std::string(
                                     EnumNames<Divergence>::names[static_cast<std::size_t>(loss.divergence.value)]),
                                 .temperature = loss.temperature,
                                 .teacher_weight = loss.teacher_weight});
}

template <Recipe R> void check_against_autograd(const Terms& loss, std::int64_t B) {
  CAPTURE(B, static_cast<int>(loss.divergence.value), loss.temperature.value, loss.teacher_weight.value);
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, B, 3, 0, loss);
  perturb(step);
  give_teacher(step);
  const Sequences rows = rows_of(B);
  const ReferenceDistilled expected = expected_of<R>(step, rows, loss);
  const LossSum sum = accumulate(step, rows.from(0, T), 1, {0, 1});
  check_close(sum.loss, expected.loss);
  for (std::size_t i = 0; i < expected.metrics.size(); ++i) check_close(sum.metrics[i], expected.metrics[i]);
  CHECK(sum.metrics[1] > 1);  // they are apart
  Tensors gradients = expected.gradients;
  if (HasAdapters<R>)
    std::erase_if(gradients, [](const auto& tensor) { return tensor.first.find(".lora_") == std::string::npos; });
  const Difference worst = worst_difference(values_of(step.gradients()), gradients);
  INFO(worst.name);
  CHECK(worst.error < 1e-9);
  const LossSum evaluated = step.evaluate(rows.from(0, T));  // whose loss is the cross-entropy
  check_close(evaluated.loss, expected.metrics[0]);
  for (std::size_t i = 0; i < expected.metrics.size(); ++i) check_close(evaluated.metrics[i], expected.metrics[i]);
  CHECK(evaluated.tokens == sum.tokens);
}

}  // namespace

TEST_CASE("losses, metrics and gradients of a student are those of autograd") {
  for (const std::int64_t B : {in_one_chunk, in_two_chunks}) {
    check_against_autograd<ByLlama>(terms(Divergence::forward_kl, 2, 0.5), B);
    check_against_autograd<ByGpt2>(terms(Divergence::reverse_kl, 1, 0.7), B);
    check_against_autograd<ByLlama>(terms(Divergence::jensen_shannon, 3, 1), B);
  }
  check_against_autograd<Recomputed<ByGpt2>>(terms(Divergence::forward_kl, 0.7, 0.3), in_one_chunk);
  check_against_autograd<InDocumentsTaught<Student<llama_like>, TeacherLike<gpt2_like>>>(terms(Divergence::forward_kl,
                                                                                               2, 0.5),
                                                                                         in_one_chunk);
}

TEST_CASE("students and teachers have soft caps of their own") {
  using Cap = Capped<Student<gpt2_like>>;
  using CappedTeacher = Capped<TeacherLike<llama_like>>;
  for (const std::int64_t B : {in_one_chunk, in_two_chunks})
    check_against_autograd<TaughtBy<Cap, CappedTeacher>>(terms(Divergence::forward_kl, 1.3, 0.5), B);
  check_against_autograd<TaughtBy<Cap, TeacherLike<llama_like>>>(terms(Divergence::reverse_kl, 1.3, 0.5), in_one_chunk);
  check_against_autograd<TaughtBy<Student<gpt2_like>, CappedTeacher>>(terms(Divergence::jensen_shannon, 1.3, 0.5),
                                                                      in_one_chunk);
}

TEST_CASE("a student of a mixture of experts has the losses, metrics and gradients of autograd") {
  check_against_autograd<TaughtBy<Student<gpt2_like>, TeacherOfExperts>>(terms(Divergence::forward_kl, 2, 0.5),
                                                                         in_one_chunk);
}

TEST_CASE("adapters learn from a teacher by the gradients of autograd") {
  check_against_autograd<Adapted<ByLlama>>(terms(Divergence::forward_kl, 2, 0.5), in_two_chunks);
}

TEST_CASE("a teacher takes the memory that is planned for it, and none before it is taken") {
  const auto check = []<class R>(std::type_identity<R>) {
    const auto communicator = one_rank();
    train::Step<R> step(*communicator, 3, 3);
    CHECK(step.teacher_parameters().empty());
    CHECK(step.state().teacher.get() == nullptr);
    step.take_teacher();
    const plan::Memory planned = plan::memory<R>(1, 3);
    const auto& teacher = *step.state().teacher.get();
    CHECK(teacher.arena().bytes() == planned.teacher);
    CHECK(teacher.arena().unused_bytes() == 0);
    CHECK(teacher.host_arena().bytes() == planned.host_teacher);
    CHECK(teacher.host_arena().unused_bytes() == 0);
    CHECK(wrong_teacher_regions<R>(teacher, 1, 3) == "");
    CHECK(step.state().arena().unused_bytes() == 0);
    CHECK(planned.total() >= planned.arena() + planned.teacher + planned.host_teacher);
    CHECK(values_of(step.teacher_parameters()).size() == 3 * 11 + 3);
  };
  check(std::type_identity<ByLlama>{});
  check(std::type_identity<OnHost<ByLlama>>{});
}

TEST_CASE("a teacher whose parameters wait on the host teaches to the same bits") {
  const auto taught = []<class R>(std::type_identity<R>) {
    const auto communicator = one_rank();
    train::Step<R> step(*communicator, in_one_chunk, 3, 0, terms(Divergence::forward_kl, 2, 0.5));
    give_teacher(step);
    const Sequences rows = rows_of(in_one_chunk);
    accumulate(step, rows.from(0, T), 1, {0, 2});
    const LossSum sum = accumulate(step, rows.from(0, T), 1, {1, 2});
    return std::tuple(sum.loss, sum.metrics, values_of(step.gradients()));
  };
  CHECK(taught(std::type_identity<OnHost<ByLlama>>{}) == taught(std::type_identity<ByLlama>{}));
}

TEST_CASE("without a teacher an evaluation is that of any model") {
  using R = ByLlama;
  const auto communicator = one_rank();
  const Sequences rows = rows_of(in_two_chunks);
  train::Step<R> step(*communicator, in_two_chunks, 3, 0, terms(Divergence::forward_kl, 2, 0.5));
  train::Step<Student<gpt2_like>> plain(*communicator, in_two_chunks, 3);
  const LossSum alone = step.evaluate(rows.from(0, T)), usual = plain.evaluate(rows.from(0, T));
  CHECK(alone.loss == usual.loss);
  CHECK(alone.tokens == usual.tokens);
  CHECK(alone.metrics == std::array<double, 4>{});
  give_teacher(step);
  CHECK(step.evaluate(rows.from(0, T)).loss == usual.loss);
  CHECK(step.evaluate(rows.from(0, T)).metrics[1] > 0);
}

TEST_CASE("gradients from a teacher are multiplied by the loss scale, and accumulate over micro-batches") {
  using R = ByGpt2;
  const auto communicator = one_rank();
  const Terms loss = terms(Divergence::forward_kl, 2, 0.5);
  const Sequences rows = rows_of(2 * in_one_chunk);
  train::Step<R> whole(*communicator, 2 * in_one_chunk, 3, 0, loss), parted(*communicator, in_one_chunk, 3, 0, loss);
  give_teacher(whole);
  give_teacher(parted);
  accumulate(whole, rows.from(0, T), 1, {0, 1});
  set_loss_scale(parted, 8);
  for (std::int64_t i = 0; i < 2; ++i) accumulate(parted, rows.from(i * in_one_chunk, T), 1, {i, 2});
  Tensors scaled = values_of(whole.gradients());
  for (auto& [name, values] : scaled)
    for (double& value : values) value *= 8;
  CHECK(worst_difference(values_of(parted.gradients()), scaled).error < 1e-12);
}

namespace {
/// Over as many tokens as products in fp8 take.
template <class Precision> struct Over32 : ByLlama {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = ByLlama::model;
    model.context_length = 32;
    return model;
  }();
  using precision = Precision;
};
}  // namespace

TEST_CASE("a student in bf16 is taught as one in fp64 is, but for rounding, and fp8 leaves its teacher in bf16") {
  const auto gradients = []<class R>(std::type_identity<R>) {
    const auto communicator = one_rank();
    train::Step<R> step(*communicator, in_one_chunk, 3, 0, terms(Divergence::forward_kl, 2, 0.8));
    give_teacher(step);
    const Sequences rows = rows_of(in_one_chunk, 32);
    const LossSum sum = accumulate(step, rows.from(0, 32), 1, {0, 1});
    return std::pair(sum, values_of(step.gradients()).at("final_norm.weight"));
  };
  const auto [exact, of_exact] = gradients(std::type_identity<Over32<precision::Fp64>>{});
  const auto [rounded, of_rounded] = gradients(std::type_identity<Over32<precision::Bf16Mixed>>{});
  CHECK(rounded.loss == Approx(exact.loss).epsilon(0.02));
  CHECK(cosine(of_rounded, of_exact) > 0.99);
  const auto [coarse, of_coarse] = gradients(std::type_identity<Over32<precision::Fp8Mixed>>{});
  CHECK(coarse.metrics[2] == rounded.metrics[2]);  // the teacher's own loss
  CHECK(coarse.loss == Approx(exact.loss).epsilon(0.1));
}

}  // namespace monomorph::testing
