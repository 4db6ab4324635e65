#pragma once
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

/// Elementwise non-linearities of the MLP over F hidden features. Backward passes may write dh over dy (not those that
/// are gated).
namespace monomorph::cpu {

void gelu_exact(Queue, View h_MF, View y_MF);  ///< h Φ(h), Φ by erf (Hendrycks and Gimpel 2016)
void gelu_exact_backward(Queue, View h_MF, View dy_MF, View dh_MF);
void gelu_tanh(Queue, View h_MF, View y_MF);  ///< 0.5 h (1 + tanh(√(2/π) (h + 0.044715 h³)))
void gelu_tanh_backward(Queue, View h_MF, View dy_MF, View dh_MF);
void relu_squared(Queue, View h_MF, View y_MF);  ///< max(h, 0)² (So et al. 2021)
void relu_squared_backward(Queue, View h_MF, View dy_MF, View dh_MF);

/// y = silu(gate) · up, the gate's F features first in a row of gate_up, then the F of up (Shazeer 2020).
void swiglu(Queue, View gate_up_M2F, View y_MF);
/// dgate_up may be gate_up itself.
void swiglu_backward(Queue, View gate_up_M2F, View dy_MF, View dgate_up_M2F);

/// y = gelu(gate) · up, laid out as swiglu's (Shazeer 2020).
void geglu_exact(Queue, View gate_up_M2F, View y_MF);
void geglu_exact_backward(Queue, View gate_up_M2F, View dy_MF, View dgate_up_M2F);
void geglu_tanh(Queue, View gate_up_M2F, View y_MF);
void geglu_tanh_backward(Queue, View gate_up_M2F, View dy_MF, View dgate_up_M2F);

}  // namespace monomorph::cpu
