#pragma once
#include <monomorph/core/hparams.hpp>
#include <monomorph/train/step/training_step.hpp>

#include <array>
#include <cstring>
#include <functional>
#include <vector>

namespace monomorph::testing {

/// A TrainingStep without a model: two parameters in one buffer, gradients' norms as told, calls noted.
class RecordedStep final : public train::TrainingStep {
 public:
  int n_parameters_changed = 0;
  StepScalars numbers{};
  std::function<LossSum(const train::MicroBatch&)> loss{};   ///< of evaluate
  alignas(64) std::array<std::array<float, 6>, 3> values{};  ///< parameters, first and second moments

  void forward(const train::MicroBatch&, std::uint64_t, train::AccumulationStep) override {}
  void backward(const train::MicroBatch&, std::uint64_t, train::AccumulationStep) override {}
  train::Ticket decide(const StepSettings&) override { return {}; }
  void update(const PolicyHparams&, const train::UpdateSettings&) override {}
  StepOutcome read(train::Ticket) override { return {}; }
  DeviceUse device_use() const override { return {}; }
  LossSum evaluate(const train::MicroBatch& batch) override { return loss(batch); }
  StepScalars scalars() const override { return numbers; }
  void set_scalars(const StepScalars& scalars) override { numbers = scalars; }
  std::vector<std::int64_t> counters() const override { return {}; }
  std::vector<train::StateTensor> parameters() override { return tensors("", 0); }
  std::vector<train::QuantizedMatrix> quantized() override { return {}; }
  std::vector<train::StateTensor> optimizer_state() override {
    auto all = tensors("moment1.", 1);
    for (auto& tensor : tensors("moment2.", 2)) all.push_back(tensor);
    return all;
  }
  std::vector<train::StateTensor> gradients() override { return {}; }
  void parameters_changed() override { ++n_parameters_changed; }
  View download(View view, HostBuffer&) const override { return view; }
  View place_for_upload(View view, HostBuffer&) const override { return view; }
  void upload(View, View) override {}
  View hidden_state(int) const override { return {}; }
  View embeddings() const override { return {}; }
  View log_probabilities() const override { return {}; }

 private:
  std::vector<train::StateTensor> tensors(const std::string& prefix, std::size_t buffer) {
    auto* const data = reinterpret_cast<std::byte*>(values[buffer].data());
    return {{prefix + "matrix", View(data, DType::fp32, {2, 2})},
            {prefix + "vector", View(data + 16, DType::fp32, {1, 2})}};
  }
};

}  // namespace monomorph::testing
