# monomorph_add_gpu_host(<recipe>): the program gpu_host_<recipe> of a recipe of bench/gpu/recipes.hpp, which measures what the
# host needs to ask for a step, with the backend as it is (simulated_backend) and CUDA's libraries as ones that only count.
function(monomorph_add_gpu_host RECIPE)
  set(folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  if(NOT TARGET counted_calls)
    add_library(counted_calls STATIC ${folder}/host_calls.cpp ${folder}/host_launches.cpp $<TARGET_OBJECTS:simulated_backend>
      ${PROJECT_SOURCE_DIR}/src/runtime/cuda/attention/cudnn_attention.cpp
      ${PROJECT_SOURCE_DIR}/tests/emulator/emulator.cpp ${PROJECT_SOURCE_DIR}/tests/emulator/context.cpp)
    set_target_properties(counted_calls PROPERTIES UNITY_BUILD OFF)
    target_include_directories(counted_calls PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
    target_include_directories(counted_calls SYSTEM PRIVATE ${MONOMORPH_cublasLt_INCLUDE})
    target_link_libraries(counted_calls PUBLIC monomorph::runtime PRIVATE monomorph::fmt monomorph::dev_warnings)
    target_compile_options(counted_calls PRIVATE -O2 -fvisibility=hidden)
  endif()
  add_executable(gpu_host_${RECIPE} ${folder}/host.cpp)
  set_target_properties(gpu_host_${RECIPE} PROPERTIES UNITY_BUILD OFF)
  target_compile_definitions(gpu_host_${RECIPE} PRIVATE RECIPE=bench::${RECIPE} R_NAME="${RECIPE}")
  target_include_directories(gpu_host_${RECIPE} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(gpu_host_${RECIPE} SYSTEM PRIVATE ${MONOMORPH_cublasLt_INCLUDE})
  target_link_libraries(gpu_host_${RECIPE} PRIVATE counted_calls emulated_kernels monomorph::train monomorph::fmt
    monomorph::dev_warnings)
  target_compile_options(gpu_host_${RECIPE} PRIVATE ${monomorph_recipe_options})
endfunction()
