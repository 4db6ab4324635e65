#pragma once
#include <memory>
#include <monomorph/runtime/view.hpp>

namespace monomorph {

/// Collectives over the data-parallel ranks, named by unit, so that a stuck one can say which. Each begins after the
/// compute before it and runs beside the compute after it, until `wait`. The public functions are not virtual, so that
/// an object file shows which of them its recipe can call.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  void gather(int unit, View own, View whole);  ///< whole = the own of all ranks, in order
  void reduce(int unit, View whole, View own);  ///< own = this rank's part of the ranks' sum, or all of it
  void release(int unit, View whole);           ///< compute is done with whole; a later gather may overwrite it
  void wait(int unit);                          ///< compute from here on sees what was started for the unit

 protected:
  enum class Operation { gather, reduce, release, wait };

 private:
  virtual void issue(Operation operation, int unit, View from, View to) = 0;
};

/// Reads the launcher's environment (torchrun, srun, mpirun).
/// @throws [RANK-01] if it asks for several ranks: this release trains on one
std::unique_ptr<Communicator> connect();

}  // namespace monomorph
