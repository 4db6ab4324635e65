#include <monomorph/data/work/interruption.hpp>

#include <monomorph/core/error.hpp>

namespace monomorph::data {

void throw_if_interrupted() {
  if (interrupting_signal() != 0) throw Error("DATA-11", "interrupted; nothing was written");
}

}  // namespace monomorph::data
