// A trace of steps on a simulated GPU, whose operations take a microsecond each: which kernels, products and copies it
// has, in which order, and what lies in what.
#include "simulator/simulated_step.hpp"
#include "support/catch.hpp"

#include <monomorph/runtime/machine/trace.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace monomorph::testing {
namespace {

using Events = std::vector<Trace::Event>;
using std::string;

std::int64_t microseconds(const Trace::Event& event) {
  return std::chrono::round<std::chrono::microseconds>(event.end - event.begin).count();
}
string name_of(const Trace::Event& event) {
  return event.unit == no_unit ? event.what : string(event.what) + " " + std::to_string(event.unit);
}
bool lies_in(const Trace::Event& inner, const Trace::Event& outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}
bool is_kernel(const Trace::Event& event) { return event.work != Work::several; }

/// In the order in which they began; what holds others before them.
Events of_row(const Events& events, TraceRow row) {
  Events found;
  std::ranges::copy_if(events, std::back_inserter(found),
                       [row](const Trace::Event& event) { return event.row == row; });
  std::ranges::stable_sort(found, [](const Trace::Event& a, const Trace::Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  return found;
}

struct TracedStep {
  Events events;
  simulator::Counts asked_for;  ///< in the step
  WorkSeconds seconds;
};

/// Of the first span of that name, what it has of which kind.
std::vector<string> kernels_of(const Events& compute, const string& name) {
  const auto span = std::ranges::find_if(compute, [&](const auto& event) { return name_of(event) == name; });
  REQUIRE(span != compute.end());
  constexpr const char* kinds[] = {"several", "products",  "attention", "elementwise",
                                   "loss",    "optimizer", "copies",    "data"};
  std::vector<string> kernels;
  for (const Trace::Event& event : compute)
    if (is_kernel(event) && lies_in(event, *span))
      kernels.push_back(event.what + (": " + string(kinds[static_cast<int>(event.work)])));
  return kernels;
}

/// The second step.
template <class R> TracedStep traced_step(const Schedule& schedule = {}) {
  Simulator::the().set_schedule(schedule);
  Training<R> training;
  training.read(training.take_step());
  cuda::synchronize({});
  Trace trace(stream_clock_of_device());
  const simulator::Counts before = Simulator::the().counts();
  training.communicator().record(&trace);
  record_thread(&trace);
  const std::int64_t begin = trace.begin(TraceRow::compute, nullptr);
  training.take_step();
  trace.end(TraceRow::compute, "step", 2, begin, nullptr);
  training.communicator().record(nullptr);
  record_thread(nullptr);
  const simulator::Counts after = Simulator::the().counts();
  TracedStep traced{trace.events(),
                    {.kernels = after.kernels - before.kernels,
                     .products = after.products - before.products,
                     .copies = after.copies - before.copies},
                    {}};
  traced.seconds = trace.work_seconds("step", 2).value();
  Simulator::the().set_schedule({});
  return traced;
}

template <class R> struct WithAverage : R { using optimizer = optim::Averaged<optim::AdamW>; };

}  // namespace

TEST_CASE("a trace of a GPU has every kernel, product and copy of a step, within the unit that asks for it") {
  const TracedStep step = traced_step<OnGpu<Small<gpt2_like>>>();
  std::int64_t traced = 0;
  for (const Trace::Event& event : step.events)
    if (is_kernel(event)) traced += microseconds(event);
  CHECK(traced == step.asked_for.kernels + step.asked_for.products + step.asked_for.copies);
  const Events compute = of_row(step.events, TraceRow::compute);
  CHECK(name_of(compute.front()) == "step 2");
  std::vector<string> units;
  for (const Trace::Event& event : compute) {
    CHECK(lies_in(event, compute.front()));
    if (!is_kernel(event)) units.push_back(name_of(event));
  }
  CHECK(units == std::vector<string>{"step 2",
                                     // Two micro-batches; the head is of the unit of the embedding.
                                     "forward 0", "forward 1", "forward 2", "head and loss 0", "backward 2",
                                     "backward 1", "backward 0", "forward 0", "forward 1", "forward 2",
                                     "head and loss 0", "backward 2", "backward 1", "backward 0", "gradient norm",
                                     "update 0", "update 1", "update 2"});
}

TEST_CASE("the kernels of a unit lie in its span of a GPU's trace, one behind the other, with their kinds of work") {
  const TracedStep step = traced_step<OnGpu<Small<gpt2_like>>>();
  const Events compute = of_row(step.events, TraceRow::compute);
  CHECK(kernels_of(compute, "forward 1") ==
        std::vector<string>{"layer_norm: elementwise", "linear: products", "reference_attention: attention",
                            "linear_add: products", "dropout_add: elementwise", "layer_norm: elementwise",
                            "linear: products", "gelu_tanh: elementwise", "linear_add: products",
                            "dropout_add: elementwise"});
  for (std::size_t i = 1; i < compute.size(); ++i)
    if (is_kernel(compute[i]) && is_kernel(compute[i - 1])) CHECK(compute[i - 1].end <= compute[i].begin);
}

TEST_CASE("a GPU updates the parameters of a unit by one kernel of each rule, however many runs of a class it has") {
  const auto check_updates = []<class R>(std::type_identity<R>, const std::vector<string>& rules) {
    const TracedStep step = traced_step<OnGpu<R>>();
    const Events compute = of_row(step.events, TraceRow::compute);
    for (const char* unit : {"update 0", "update 1", "update 2"}) {
      CAPTURE(unit);
      CHECK(kernels_of(compute, unit) == rules);
    }
  };
  using Plain = Small<gpt2_like>;
  check_updates(std::type_identity<Plain>{}, {"adamw: optimizer"});
  check_updates(std::type_identity<WithAverage<Plain>>{}, {"adamw: optimizer", "move_average: optimizer"});
}

TEST_CASE("the kinds of work of a GPU's step add up to its time") {
  const TracedStep step = traced_step<OnGpu<Small<gpt2_like>>>();
  const WorkSeconds& seconds = step.seconds;
  const auto operations = [](double time) { return std::llround(1e6 * time); };
  CHECK(operations(seconds.whole()) == step.asked_for.kernels + step.asked_for.products + step.asked_for.copies);
  CHECK(operations(seconds.other) == 0);  // one stream, which does not wait
  CHECK(operations(seconds.products) >= step.asked_for.products);
  for (const double kind : {seconds.attention, seconds.elementwise, seconds.loss, seconds.optimizer})
    CHECK(operations(kind) > 0);
  CHECK(seconds.copies == 0);  // those of ids belong to the kernels that read them
  CHECK(seconds.collectives == 0);
}

TEST_CASE(
    "copies to the host and back lie on a row of their own, and compute waits for them, in every order of streams") {
  for (const Schedule::Order order : {Schedule::Order::late, Schedule::Order::early, Schedule::Order::kernels_first,
                                      Schedule::Order::copies_first, Schedule::Order::random}) {
    CAPTURE(static_cast<int>(order));
    const TracedStep step = traced_step<OnGpu<KeptOnHost<InBf16<Small<llama_like, 4>>>>>({order, 7});
    const Events copies = of_row(step.events, copies_row);
    CHECK(copies.size() > 20);
    for (std::size_t i = 0; i < copies.size(); ++i) {
      CHECK(copies[i].what == string("copy"));
      CHECK(microseconds(copies[i]) >= 1);
      if (i > 0) CHECK(copies[i - 1].end <= copies[i].begin);
    }
    CHECK(std::ssize(copies) <= step.asked_for.copies);
    const Events compute = of_row(step.events, TraceRow::compute);
    CHECK(std::ranges::count(compute, string("wait for a copy"), &Trace::Event::what) > 4);
    if (order == Schedule::Order::kernels_first) CHECK(step.seconds.copies > 0);  // they come late
  }
}

TEST_CASE("a step that nobody traces asks a GPU for no moments") {
  Training<OnGpu<Small<gpt2_like>>> training;
  training.read(training.take_step());
  const std::int64_t moments = Simulator::the().counts().moments;
  training.read(training.take_step());
  CHECK(Simulator::the().counts().moments == moments);
}

}  // namespace monomorph::testing
