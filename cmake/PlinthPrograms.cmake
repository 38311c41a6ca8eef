# SPDX-License-Identifier: BSD-3-Clause
#
# For this project's own programs and tests; never exported.

option(PLINTH_WERROR "Treat warnings in Plinth's own programs and tests as errors" OFF)
option(PLINTH_SANITIZE "Build Plinth's own programs and tests with ASan and UBSan" OFF)
option(PLINTH_QUICK_BUILD
  "Compile benchmarks and small examples with little optimisation, to see that they build" OFF)
# A compiler cache must be told about precompiled headers (ccache: sloppiness pch_defines and
# time_macros), so they are left alone where there may be one.
set(_plinth_precompile ON)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(_plinth_precompile OFF)
endif()
option(PLINTH_PRECOMPILED_HEADERS
  "Precompile what Plinth's own tests include" ${_plinth_precompile})

# plinth_warnings(<target>)
function(plinth_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow)
  if("CUDA" IN_LIST PLINTH_KOKKOS_DEVICES)
    # What nvcc makes of a source is not pedantic, and its front end does not know GCC's pragmas.
    target_compile_options(${target} PRIVATE "SHELL:-Xcudafe --diag_suppress=1675")
  else()
    target_compile_options(${target} PRIVATE -Wpedantic)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 sees overlapping copies in the standard library's operator+(const char*, string&&).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(PLINTH_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
    if("CUDA" IN_LIST PLINTH_KOKKOS_DEVICES)
      target_compile_options(${target} PRIVATE -Werror=all-warnings)
    endif()
  endif()
endfunction()

# plinth_program(<target>): Plinth itself, warnings, and sanitizers where asked for.
function(plinth_program target)
  target_link_libraries(${target} PRIVATE plinth::plinth)
  plinth_warnings(${target})
  if(PLINTH_SANITIZE)
    set(flags -fsanitize=address,undefined -fno-sanitize-recover=undefined
              -fno-omit-frame-pointer)
    target_compile_options(${target} PRIVATE ${flags})
    target_link_options(${target} PRIVATE ${flags})
  endif()
endfunction()

# plinth_quick_build(<target> <flag>): so little optimisation with PLINTH_QUICK_BUILD.
function(plinth_quick_build target flag)
  if(PLINTH_QUICK_BUILD)
    target_compile_options(${target} PRIVATE ${flag})
  endif()
endfunction()

# plinth_precompile(<target> <argument>...): target_precompile_headers, where the compiler is one
# for the host alone. (Whoever forgets to include what is precompiled is not told.)
function(plinth_precompile target)
  if(PLINTH_PRECOMPILED_HEADERS AND NOT PLINTH_KOKKOS_DEVICES MATCHES "CUDA|HIP|SYCL")
    target_precompile_headers(${target} ${ARGN})
  endif()
endfunction()
