#include <monomorph/runtime/machine/trace.hpp>

#include <fstream>
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <optional>

namespace monomorph::testing {
namespace {

void add(Trace& trace, TraceRow row, int unit, int begin_ms, int end_ms) {
  const auto at = [](int ms) { return Trace::Clock::time_point(std::chrono::milliseconds(ms)); };
  trace.add(row, "event", unit, at(begin_ms), at(end_ms));
}

/// Of streams that a test moves on: a moment is known when its stream has come to it.
class FakeClock final : public StreamClock {
 public:
  struct Moment {
    void* stream;
    std::int64_t ticks;
  };
  void ask(void* stream) noexcept override { moments.push_back({stream, unknown}); }
  void read(std::vector<std::int64_t>& known, bool waits) override {
    known.clear();
    for (Moment& moment : moments) {
      if (waits && moment.ticks == unknown) moment.ticks = ++latest;
      known.push_back(moment.ticks);
    }
  }
  void forget() override { moments.clear(); }
  /// The next moments of a stream pass, one tick after each other.
  void pass(void* stream, int n) {
    for (Moment& moment : moments)
      if (moment.stream == stream && moment.ticks == unknown && n-- > 0) moment.ticks = ++latest;
  }

  std::vector<Moment> moments;
  std::int64_t latest = 0;
};

struct ClockedTrace {
  FakeClock* clock = new FakeClock;
  Trace trace{std::unique_ptr<StreamClock>(clock)};
};

}  // namespace

TEST_CASE("events on a device are known when it has come to their ends, whichever stream does so first") {
  ClockedTrace of;
  int stream = 0;
  { const StreamSpan copy(&of.trace, copies_row, "copy", no_unit, &stream); }
  {
    record_thread(&of.trace);
    const TraceSpan step(&of.trace, TraceRow::compute, "step", 3);
    const KernelSpan product(Work::products, "linear");
  }
  record_thread(nullptr);
  CHECK(of.clock->moments.size() == 6);
  CHECK_FALSE(of.trace.work_seconds("step", 3));
  of.clock->pass(nullptr, 3);
  CHECK_FALSE(of.trace.work_seconds("step", 3));
  of.clock->pass(nullptr, 1);
  REQUIRE(of.trace.work_seconds("step", 3));  // the copy's end is not known
  CHECK(of.trace.work_seconds("step", 3)->products == Approx(1e-9));
  CHECK(of.trace.work_seconds("step", 3)->other == Approx(2e-9));
  CHECK_FALSE(of.trace.work_seconds("step", 4));
  CHECK(of.trace.events().size() == 3);
  of.trace.clear();
  CHECK(of.trace.events().empty());
}

TEST_CASE("a kernel on a stream of collectives is on their row") {
  ClockedTrace of;
  int stream = 0;
  record_thread(&of.trace);
  {
    const StreamSpan reduce(&of.trace, TraceRow::reduce_scatter, "reduce", 1, &stream);
    const KernelSpan sum(Work::elementwise, "pairwise_sum", &stream);
  }
  { const KernelSpan copy(Work::elementwise, "copy", &of); }
  record_thread(nullptr);
  std::map<std::string, TraceRow> rows;
  for (const Trace::Event& event : of.trace.events()) rows[event.what] = event.row;
  CHECK(rows == std::map<std::string, TraceRow>{{"reduce", TraceRow::reduce_scatter},
                                                {"pairwise_sum", TraceRow::reduce_scatter},
                                                {"copy", TraceRow::compute}});
}

TEST_CASE("a kernel that another one calls is part of it, and a trace that ends records no more") {
  {
    Trace trace;
    record_thread(&trace);
    {
      const KernelSpan loss(Work::loss, "cross_entropy");
      const KernelSpan scale(Work::elementwise, "scale");
    }
    { const KernelSpan scale(Work::elementwise, "scale"); }
    std::vector<std::string> names;
    for (const Trace::Event& event : trace.events()) names.emplace_back(event.what);
    CHECK(names == std::vector<std::string>{"cross_entropy", "scale"});
  }
  CHECK(kernels_trace == nullptr);
  const KernelSpan nowhere(Work::loss, "cross_entropy");
}

TEST_CASE("the time of a step is told by kinds of work") {
  Trace trace;
  add(trace, TraceRow::waiting, 1, 10, 30);
  add(trace, TraceRow::all_gather, 1, 0, 30);  // beside compute
  add(trace, copies_row, no_unit, 0, 90);      // likewise
  add(trace, TraceRow::waiting, 1, 110, 130);  // of the next step
  const auto at = [](int ms) { return Trace::Clock::time_point(std::chrono::milliseconds(ms)); };
  int ms = 30;
  for (const auto& [work, length] : {std::pair{Work::several, 60},
                                     {Work::products, 1},
                                     {Work::attention, 2},
                                     {Work::elementwise, 3},
                                     {Work::loss, 4},
                                     {Work::optimizer, 5},
                                     {Work::copies, 6},
                                     {Work::data, 7}}) {
    trace.add(TraceRow::compute, "kernel", no_unit, at(ms), at(ms + length), work);
    if (work != Work::several) ms += length;
  }
  trace.add(TraceRow::compute, "step", 5, at(0), at(100));
  const WorkSeconds seconds = trace.work_seconds("step", 5).value();
  CHECK(seconds.products == Approx(0.001));
  CHECK(seconds.attention == Approx(0.002));
  CHECK(seconds.elementwise == Approx(0.003));
  CHECK(seconds.loss == Approx(0.004));
  CHECK(seconds.optimizer == Approx(0.005));
  CHECK(seconds.copies == Approx(0.006));
  CHECK(seconds.data == Approx(0.007));
  CHECK(seconds.collectives == Approx(0.020));
  CHECK(seconds.other == Approx(0.1 - 0.028 - 0.020));
  CHECK(seconds.whole() == Approx(0.1));
}

TEST_CASE("the hidden share of communication is what compute did not wait for") {
  Trace trace;
  CHECK(trace.overlap_fraction() == 0);
  add(trace, TraceRow::compute, 0, 0, 100);
  CHECK(trace.overlap_fraction() == 0);  // there is none
  add(trace, TraceRow::all_gather, 1, 0, 30);
  add(trace, TraceRow::reduce_scatter, 1, 40, 50);
  CHECK(trace.overlap_fraction() == 1);
  add(trace, TraceRow::waiting, 1, 20, 30);
  CHECK(trace.overlap_fraction() == Approx(0.75));
  add(trace, TraceRow::all_reduce, no_unit, 100, 110);  // nothing hides it
  add(trace, TraceRow::waiting, no_unit, 100, 110);
  CHECK(trace.overlap_fraction() == Approx(0.6));
}

TEST_CASE("a trace is a file of Chrome's trace events, a row for each kind") {
  const TemporaryFolder folder;
  Trace trace;
  add(trace, TraceRow::reduce_scatter, 7, 2, 5);
  add(trace, TraceRow::all_reduce, no_unit, 6, 7);
  trace.write(folder / "trace.json", 3);
  std::ifstream file(folder / "trace.json");
  const auto events = nlohmann::json::parse(file).at("traceEvents");
  std::map<int, std::string> rows;
  std::map<std::string, nlohmann::json> named;
  for (const auto& event : events) {
    CHECK(event.at("pid") == 3);
    if (event.at("name") == "thread_name") rows[event.at("tid")] = event.at("args").at("name");
    named[event.at("name")] = event;
  }
  CHECK(rows.at(named.at("event 7").at("tid")) == "reductions");
  CHECK(named.at("event 7").at("ts") == 2000);  // microseconds
  CHECK(named.at("event 7").at("dur") == 3000);
  CHECK(rows.at(named.at("event").at("tid")) == "sums of a few numbers");
}

}  // namespace monomorph::testing
