#pragma once
#include <string>
#include <string_view>

namespace monomorph::train {

/// Of the fact `layers` of a recipe, which is the layers' text ("4 x monomorph::DecoderBlock, 2 x monomorph::Mixture
/// (8 experts of width 96, balance loss 0.01)"), what shapes parameters and decides what is computed with them. Left
/// out is what training may change: the attention of layers, their rotary positions, by how much experts are balanced
/// and how many tokens they have room for. Neighbouring runs that are equal then are one.
/// @return the text as it is if it is none of this kind
std::string lasting_layers(std::string_view layers);

}  // namespace monomorph::train
