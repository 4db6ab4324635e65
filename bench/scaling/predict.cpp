// Predicts the runs of a table, a line each, for bench/scaling/run: reads from standard input
//   calibration <products_on_ampere> ... <monomorph>   the constants from here on, in the order of model.py's BOUNDS
//   run <model> <gpu> <network or -> <GPUs of a node> <ranks> <micro-batch, 0: assumed> <micro-batches> <sharding>
//       <recompute: none, cheap, half, all or least> <program>
//   end
// and answers each run with a line: tokens/s of a GPU, seconds of a step, exposed seconds, GiB of a rank, whether it
// fits, the micro-batch, and what is recomputed; one that it does not understand with "refused <why>"; and the end with
// an empty line.
#include "published_run.hpp"

#include <iostream>
#include <sstream>

using namespace bench::published;
using monomorph::train::Calibration;

namespace {

struct Constants {
  Calibration shared;
  Programs programs;
};

Constants read_constants(std::istream& in) {
  Constants constants;
  auto& [c, p] = constants;
  in >> c.products_on_ampere >> c.products_on_hopper >> c.products_on_hopper_hbm2e >> c.products_on_blackwell >>
      c.attention_forward_on_ampere >> c.attention_backward_on_ampere >> c.attention_forward_on_hopper >>
      c.attention_backward_on_hopper >> c.waiting >> c.copies >> c.network >> c.hop_seconds >> c.shared_hop_seconds >>
      p.unfused >> p.fused >> p.monomorph;
  return constants;
}

PublishedRun read_run(std::istream& in) {
  PublishedRun run;
  in >> run.model >> run.gpu >> run.network >> run.gpus_per_node >> run.gpus >> run.micro_batch >> run.micro_batches >>
      run.sharding >> run.recompute >> run.program;
  if (!in) throw std::runtime_error("a number is missing, or is none");
  if (run.recompute == "least") run.recompute.clear();
  return run;
}

void answer(std::istream& in, const Constants& constants) try {
  const PublishedRun run = read_run(in);
  const auto [step, micro_batch, recompute] =
      predicted(run, of_program(constants.shared, constants.programs, run.program));
  std::cout << fmt::format("{} {} {} {} {} {} {}\n", step.tokens_per_second, step.step_seconds, step.exposed_seconds,
                           static_cast<double>(monomorph::train::bytes_on_gpu(step.memory)) / (1 << 30),
                           step.fits ? 1 : 0, micro_batch, recompute);
} catch (const std::exception& e) {
  std::cout << "refused " << e.what() << '\n';
}

}  // namespace

int main() {
  Constants constants;
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream in(text);
    std::string word;
    in >> word;
    if (word == "calibration") constants = read_constants(in);
    if (word == "run") answer(in, constants);
    if (word == "end") std::cout << std::endl;
  }
}
