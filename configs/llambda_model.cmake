# Per-model code in a CMake project.
#
#   llambda_arch_options(<target> <avx2|avx512|native>)
#     Compiles a target for one instruction set.
#
#   llambda_generate_config(<target> FROM file.gguf [NAME type] [CONTEXT n] [BATCH n] [KV f16|f32])
#     An INTERFACE target whose users can #include <type.hpp>, the config of that file.
#
#   llambda_add_model(<name> FROM file.gguf [ARCH avx2|avx512|native] [CONTEXT n] [BATCH n] [KV f16|f32] [EMBED])
#     An executable specialised for the file: run, bench, plan, perplexity. With EMBED the file is linked into it and
#     nothing is opened at run time. Needs CLI11 and nlohmann-json.
include_guard(GLOBAL)
set(LLAMBDA_MODEL_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")

function(llambda_arch_options target arch)
  if(arch STREQUAL "avx2")
    target_compile_options(${target} PRIVATE -mavx2 -mfma -mf16c -mbmi2)
  elseif(arch STREQUAL "avx512")
    target_compile_options(${target} PRIVATE -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c -mbmi2)
  elseif(arch STREQUAL "native")
    target_compile_options(${target} PRIVATE -march=native)
  else()
    message(FATAL_ERROR "llambda: ARCH must be avx2, avx512 or native, not '${arch}'")
  endif()
endfunction()

function(llambda_generate_config target)
  cmake_parse_arguments(ARG "" "FROM;NAME;CONTEXT;BATCH;KV" "" ${ARGN})
  if(NOT ARG_FROM)
    message(FATAL_ERROR "llambda_generate_config: FROM file.gguf is missing")
  endif()
  get_filename_component(file "${ARG_FROM}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "llambda_generate_config: ${file}: no such file")
  endif()
  if(NOT ARG_NAME)
    string(MAKE_C_IDENTIFIER "${target}" ARG_NAME)
  endif()
  set(options --name ${ARG_NAME})
  foreach(option CONTEXT BATCH KV)
    if(ARG_${option})
      string(TOLOWER ${option} lower)
      list(APPEND options --${lower} ${ARG_${option}})
    endif()
  endforeach()
  file(SHA256 "${file}" sha256)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/llambda_configs/${target}")
  set(header "${dir}/${ARG_NAME}.hpp")
  file(MAKE_DIRECTORY "${dir}")
  add_custom_command(OUTPUT "${header}"
    COMMAND llambda::llambda_config "${file}" "${header}" ${options} --sha256 ${sha256}
    DEPENDS "${file}" llambda::llambda_config VERBATIM COMMENT "Generating the config of ${ARG_FROM}")
  add_custom_target(${target}_header DEPENDS "${header}")
  add_library(${target} INTERFACE)
  target_include_directories(${target} INTERFACE "${dir}")
  target_link_libraries(${target} INTERFACE llambda::llambda)
  add_dependencies(${target} ${target}_header)
endfunction()
