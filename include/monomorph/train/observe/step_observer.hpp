#pragma once
#include <monomorph/core/hparams.hpp>
#include <monomorph/policy/observer_policy.hpp>
#include <monomorph/train/observe/observed_step.hpp>
#include <monomorph/train/observe/observer_records.hpp>

namespace monomorph::train {

/// What the run needs of a recipe's observer.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual bool wants(std::int64_t step) const = 0;
  virtual void observe(const ObservedStep& step, ObserverRecords& records) = 0;
};

template <ObserverPolicy P> class StepObserverOf final : public StepObserver {
 public:
  explicit StepObserverOf(const PolicyHparams& hparams) : observer_(made_of(hparams)) {}
  bool wants(std::int64_t step) const override { return observer_.wants(step); }
  void observe(const ObservedStep& step, ObserverRecords& records) override { observer_.observe(step, records); }

 private:
  static P made_of(const PolicyHparams& hparams) {
    if constexpr (ObserverAxis::Look::has_Hparams<P>)
      return P{hparams.as<typename P::Hparams>()};
    else
      return P{};
  }
  P observer_;
};

}  // namespace monomorph::train
