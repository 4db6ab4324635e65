#include <monomorph/runtime/machine/trace.hpp>

#include <fstream>
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

#include <nlohmann/json.hpp>

namespace monomorph::testing {
namespace {

void add(Trace& trace, TraceRow row, int unit, int begin_ms, int end_ms) {
  const auto at = [](int ms) { return Trace::Clock::time_point(std::chrono::milliseconds(ms)); };
  trace.add(row, "event", unit, at(begin_ms), at(end_ms));
}

}  // namespace

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
