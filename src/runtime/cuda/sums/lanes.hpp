#pragma once

/// The shape of warps and blocks, for what their threads compute together.
namespace monomorph::cuda {
namespace {

constexpr int warp_lanes = 32, most_warps = 32;
constexpr unsigned all_lanes = 0xFFFF'FFFFu;

}  // namespace
}  // namespace monomorph::cuda
