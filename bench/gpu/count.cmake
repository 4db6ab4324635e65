# monomorph_add_gpu_count(<recipe>): the program gpu_count_<recipe> of a recipe of bench/gpu/recipes.hpp, which counts what the
# kernels of its step move and compute.
function(monomorph_add_gpu_count RECIPE)
  if(TARGET gpu_count_${RECIPE})  # of the benchmarks, and of the tests
    return()
  endif()
  add_executable(gpu_count_${RECIPE} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/count.cpp)
  set_target_properties(gpu_count_${RECIPE} PROPERTIES UNITY_BUILD OFF)
  target_compile_definitions(gpu_count_${RECIPE} PRIVATE RECIPE=bench::${RECIPE} R_NAME="${RECIPE}")
  target_include_directories(gpu_count_${RECIPE} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(gpu_count_${RECIPE} PRIVATE monomorph::train monomorph::fmt monomorph::dev_warnings)
  target_compile_options(gpu_count_${RECIPE} PRIVATE ${monomorph_recipe_options})
endfunction()
