#pragma once
#include <monomorph/block/decoder_block.hpp>
#include <monomorph/model/composed_block.hpp>
