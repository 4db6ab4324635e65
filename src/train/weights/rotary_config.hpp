#pragma once
#include "train/weights/family.hpp"

/// The keys of config.json that say how rotary positions are scaled, as transformers reads them.
namespace monomorph::train {

/// rope_scaling of a model, null if nothing is scaled.
nlohmann::json rope_scaling_of(const PortableModel& portable);
/// What rope_scaling says, of a model whose context length is max_position_embeddings.
/// @throws NotExpressible, WrongType, nlohmann::json::exception
void take_rope_scaling(PortableModel& portable, const nlohmann::json& value);

/// The same and the base in one object, which transformers has from version 5 on: rope_theta and what rope_scaling has.
/// What it does not say stays as it is.
/// @throws as take_rope_scaling
void take_rope_parameters(PortableModel& portable, const nlohmann::json& value);

/// The base of rotary positions.   @throws NotExpressible, nlohmann::json::exception
double rotary_base_from(const nlohmann::json& value);

/// max_position_embeddings: the context length; with dynamic scaling the context before it, since transformers counts
/// from there, and the length of each row says how far.
std::int64_t max_positions_of(const PortableModel& portable);

}  // namespace monomorph::train
