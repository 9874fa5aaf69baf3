# What the library's headers need: xsimd, Boost.Hana and threads, as system headers. Installed packages come first;
# FetchContent with pinned tags is a fallback for machines with a network (LLAMBDA_FETCH_DEPENDENCIES=ON).
# The build tree and the installed package share this file; including it twice is harmless.
include_guard(GLOBAL)

option(LLAMBDA_FETCH_DEPENDENCIES "Fetch xsimd and Hana when they are not installed" OFF)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Debian's xsimd package names a target xtl that it does not ship.
if(NOT TARGET xtl)
  add_library(xtl INTERFACE IMPORTED)
endif()
find_package(xsimd 8.1 QUIET CONFIG)
if(NOT xsimd_FOUND AND LLAMBDA_FETCH_DEPENDENCIES)
  include(FetchContent)
  FetchContent_Declare(xsimd GIT_REPOSITORY https://github.com/xtensor-stack/xsimd.git GIT_TAG 13.2.0)
  FetchContent_MakeAvailable(xsimd)
  set(xsimd_FOUND TRUE)
endif()
if(NOT xsimd_FOUND)
  message(FATAL_ERROR "llambda: xsimd 8.1 or later is needed: install it (Debian: libxsimd-dev) or set "
                      "LLAMBDA_FETCH_DEPENDENCIES=ON")
endif()

find_package(Boost 1.74 QUIET CONFIG)
set(llambda_hana_include "")
if(Boost_FOUND)
  get_target_property(llambda_hana_include Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
elseif(LLAMBDA_FETCH_DEPENDENCIES)
  include(FetchContent)
  FetchContent_Declare(hana GIT_REPOSITORY https://github.com/boostorg/hana.git GIT_TAG boost-1.84.0)
  FetchContent_GetProperties(hana)
  if(NOT hana_POPULATED)
    FetchContent_Populate(hana)
  endif()
  set(llambda_hana_include "${hana_SOURCE_DIR}/include")
else()
  message(FATAL_ERROR "llambda: Boost.Hana (Boost 1.74 or later) is needed: install it (Debian: libboost-dev) or set "
                      "LLAMBDA_FETCH_DEPENDENCIES=ON")
endif()

# Our exported target names these two; they exist wherever this file was included.
if(NOT TARGET llambda_xsimd)
  add_library(llambda_xsimd INTERFACE IMPORTED GLOBAL)
  get_target_property(llambda_xsimd_include xsimd INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(llambda_xsimd SYSTEM INTERFACE ${llambda_xsimd_include})
  add_library(llambda_hana INTERFACE IMPORTED GLOBAL)
  target_include_directories(llambda_hana SYSTEM INTERFACE ${llambda_hana_include})
endif()

# For the one header that reads JSON, text/vocab_json.hpp: link llambda::json instead of llambda::llambda. The target is
# there if nlohmann-json is (Debian: nlohmann-json3-dev).
find_package(nlohmann_json QUIET CONFIG)
if(nlohmann_json_FOUND AND NOT TARGET llambda::json)
  add_library(llambda::json INTERFACE IMPORTED GLOBAL)
  target_link_libraries(llambda::json INTERFACE llambda::llambda nlohmann_json::nlohmann_json)
endif()
