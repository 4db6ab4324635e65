#include "numerics/model_check.hpp"
#include "numerics/perturb.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/inference_model.hpp"
#include "support/one_sequence.hpp"
#include "support/reference_model.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/kernels/random.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::testing {
namespace {

constexpr double tolerance = 1e-9;
constexpr std::uint64_t seed = 9, step_number = 4, first_sample = 10;

double uniform(std::uint32_t site, std::size_t i) {
  return random::uniform({seed, random::Purpose::sampling, 0, site}, i);
}

struct Tokens {
  std::vector<std::int32_t> inputs, targets, document_starts;
  Tokens(const DecoderSpec& model, std::uint32_t site) {
    const auto draw = [&](std::uint32_t from, std::size_t i) {
      return static_cast<std::int32_t>(uniform(from, i) * static_cast<double>(model.vocab_size.value));
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(model_batch * model.context_length); ++i) {
      inputs.push_back(draw(site, i));
      targets.push_back(i % 5 == site % 5 ? ignored_target : draw(site + 1, i));
      // Rows of several documents, of a token and more.
      const auto t = static_cast<std::int32_t>(i % static_cast<std::size_t>(model.context_length.value));
      document_starts.push_back(t == 0 || uniform(site + 2, i) < 0.2 ? t : document_starts.back());
    }
  }
  train::MicroBatch micro_batch(std::uint64_t sample) const {
    return {inputs.data(), targets.data(), sample, document_starts.data()};
  }
};

Tensors sum(Tensors a, const Tensors& b) {
  for (auto& [name, values] : a)
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += b.at(name)[i];
  return a;
}

void check_close(double actual, double expected) {
  CHECK(std::abs(actual - expected) < tolerance * std::abs(expected));
}

/// Of a recipe with adapters nothing else has gradients.
void check_gradients(Tensors actual, Tensors expected, bool of_adapters) {
  if (of_adapters)
    std::erase_if(expected, [](const auto& tensor) { return tensor.first.find(".lora_") == std::string::npos; });
  const auto is_state = [](const auto& tensor) { return tensor.first.ends_with("mlp.router.bias"); };
  for (const auto& [name, values] : actual)
    if (name.ends_with("mlp.router.bias")) CHECK(values == Values(values.size()));
  std::erase_if(actual, is_state);
  std::erase_if(expected, is_state);
  const Difference worst = worst_difference(actual, expected);
  INFO(worst.name);
  CHECK(worst.error < tolerance);
}

struct ModelRun {
  const DecoderSpec& model;
  bool within_documents;
  const std::vector<ReferenceLayer>& layers;
  train::TrainingStep& step;
  const Sees& sees;
  Tensors parameters = values_of(step.parameters());
  bool has_adapters = layers.front().low_rank.has_value();

  ReferenceResult reference(const Tokens& tokens, bool drops, std::uint64_t sample) const {
    return reference(tokens, drops, sample, within_documents);
  }
  ReferenceResult reference(const Tokens& tokens, bool drops, std::uint64_t sample, bool documents) const {
    const DropoutKey key{.seed = seed,
                         .step = step_number,
                         .first_sample = sample,
                         .tokens_per_sample = model.context_length};
    return reference_model(model, parameters,
                           {tokens.inputs, tokens.targets,
                            documents ? tokens.document_starts : std::vector<std::int32_t>(), drops ? &key : nullptr,
                            sees, layers});
  }

  /// Two micro-batches of one step, the second added to the first.
  void check_training() {
    const Tokens first(model, 100), second(model, 103);
    const std::uint64_t later = first_sample + model_batch;
    const ReferenceResult expected = reference(first, true, first_sample), more = reference(second, true, later);
    const LossSum loss = accumulate(step, first.micro_batch(first_sample), step_number, {});
    check_close(loss.loss, expected.loss);
    check_gradients(values_of(step.gradients()), expected.gradients, has_adapters);
    if (const double sum = step.scalars().auxiliary_loss.value(); sum != 0 || expected.auxiliary_loss != 0)
      check_close(sum, expected.auxiliary_loss * static_cast<double>(loss.tokens));
    check_close(accumulate(step, second.micro_batch(later), step_number, {1, 2}).loss, more.loss);
    check_gradients(values_of(step.gradients()), sum(expected.gradients, more.gradients), has_adapters);
  }

  /// The bits of the step, from batch to batch.
  void check_inference(train::InferenceModel& model_alone) {
    copy_parameters(step, model_alone);
    for (const std::uint32_t site : {106, 109}) {
      const Tokens tokens(model, site);
      CHECK(model_alone.evaluate(tokens.micro_batch(0)).loss == step.evaluate(tokens.micro_batch(0)).loss);
    }
    const Tokens tokens(model, 112);
    OneSequence here(step, model.context_length), there(model_alone, model.context_length);
    for (std::size_t t = 0; t < 4; ++t) {
      const float *expected = here.feed(tokens.inputs[t]), *logits = there.feed(tokens.inputs[t]);
      CHECK(std::equal(logits, logits + model.vocab_size, expected));
    }
  }

  /// Without dropout.
  void check_evaluation_and_decoding() {
    const Tokens tokens(model, 106);
    const ReferenceResult expected = reference(tokens, false, 0);
    check_close(step.evaluate(tokens.micro_batch(0)).loss, expected.loss);
    const auto V = static_cast<std::size_t>(model.vocab_size.value), T = static_cast<std::size_t>(model.context_length);
    const Values all = reference(tokens, false, 0, false).logits;  // what is decoded is one document
    const auto expected_logits = [&](std::size_t t) {
      const auto row = all.begin() + static_cast<std::ptrdiff_t>(t * V);
      return Values(row, row + static_cast<std::ptrdiff_t>(V));
    };
    const auto check_logits = [&](train::Logits logits, std::size_t t) {
      CHECK(relative_error(Values(logits.begin(), logits.end()), expected_logits(t)) < 1e-6);  // they are fp32
    };
    OneSequence decoder(step, model.context_length);
    for (std::size_t t = 0; t < T; ++t) check_logits({decoder.feed(tokens.inputs[t]), V}, t);

    // Beginnings of unequal lengths at once, or in chunks, and then a token each until the context is full.
    for (const std::int64_t chunk : {std::int64_t{5}, model.context_length.value}) {
      train::Session session = session_of(step, 3, chunk, model.context_length);
      std::vector<int> sequences;
      std::vector<std::size_t> lengths{1, T / 2, T - 2};
      for (const std::size_t n : lengths) {
        sequences.push_back(session.open());
        check_logits(session.prefill(sequences.back(), std::span(tokens.inputs).first(n)), n - 1);
      }
      while (!sequences.empty()) {
        std::vector<std::int32_t> next;
        for (const std::size_t n : lengths) next.push_back(tokens.inputs[n]);
        const auto logits = session.decode(sequences, next);
        for (std::size_t i = 0; i < lengths.size(); ++i) check_logits(logits[i], lengths[i]++);
        while (!lengths.empty() && lengths.back() == T) lengths.pop_back(), sequences.pop_back();
      }
    }
  }
};

}  // namespace

void check_model(const ModelCase& model) {
  INFO("row " << model.row);
  const std::unique_ptr<Communicator> communicator = one_rank();
  const Owned<train::TrainingStep> step = model.make_step(*communicator, seed);
  perturb(*step);
  ModelRun run{*model.model, model.within_documents, model.layers, *step, model.sees};
  run.check_training();
  run.check_evaluation_and_decoding();
  const Owned<train::InferenceModel> alone = model.make_inference_model(*communicator);
  run.check_inference(*alone);
}

}  // namespace monomorph::testing
