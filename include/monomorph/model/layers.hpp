#pragma once
#include <monomorph/model/decoder_block.hpp>
#include <monomorph/model/embedding_head.hpp>
#include <monomorph/model/mixture_of_experts.hpp>
#include <monomorph/model/token_embedding.hpp>
#include <monomorph/model/vocabulary_head.hpp>
