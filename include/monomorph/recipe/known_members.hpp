#pragma once

namespace monomorph {

/// Every name that a member of a recipe may have. cmake/check_members.cmake asks the compiler for the members of this
/// struct and of the recipe, and refuses what the recipe has besides.
struct KnownMembers {
  int model, layers, mesh, sharding, precision, checkpointing, optimizer, objective, attention, finetuning, schedule,
      observer, device, expect, budget;
};

}  // namespace monomorph
