# SPDX-License-Identifier: BSD-3-Clause
#
# Finds what Plinth stands on and gathers it in one imported target, plinth::dependencies:
# MPI, Kokkos, Kokkos Kernels, BLAS and LAPACK. The build uses this file, and it is installed
# beside plinthConfig.cmake, so a consumer of the package links what the build linked.
#
#   plinth_find_dependencies(<out> [QUIET] [KOKKOS_HINT <dir>] [KERNELS_HINT <dir>])
#
# <out> is empty when all is well and otherwise says what is wrong and what to do about it.
# The hints are package folders that are tried after CMAKE_PREFIX_PATH.
#
# Options (cache variables):
#   PLINTH_ALLOW_SLOW_BLAS  accept a Kokkos Kernels that was built without its BLAS TPL (on a
#                           device its vendor's)
# BLA_VENDOR and BLA_STATIC choose the BLAS as in CMake's FindBLAS.
#
# Results, for whoever wants to report them (internal cache variables):
#   PLINTH_KOKKOS_VERSION  PLINTH_KOKKOS_DEVICES  PLINTH_KOKKOS_DIR  PLINTH_KERNELS_DIR
#   PLINTH_BLAS_DESCRIPTION

include_guard(DIRECTORY)

option(PLINTH_ALLOW_SLOW_BLAS
       "Accept a Kokkos Kernels that was built without a BLAS library (slow)" OFF)
mark_as_advanced(PLINTH_ALLOW_SLOW_BLAS)

set(_plinth_advice_debian "cmake/quickstart.sh does this on Debian")

# <out> = the folder that a package was installed to, given its package folder:
# /opt/k/lib/cmake/Kokkos -> /opt/k, /usr/lib/x86_64-linux-gnu/cmake/Kokkos -> /usr.
function(_plinth_install_prefix dir out)
  get_filename_component(real "${dir}" REALPATH)
  string(REGEX REPLACE "/(lib|lib32|lib64|share)(/[^/]+)?/cmake(/.*)?$" "" prefix "${real}")
  if(prefix STREQUAL "")
    set(prefix "/")
  endif()
  set(${out} "${prefix}" PARENT_SCOPE)
endfunction()

# <out> = every target that `target` links, itself included, as far as they are targets.
function(_plinth_link_closure target out)
  set(todo "${target}")
  set(seen "")
  while(todo)
    list(POP_FRONT todo item)
    if(NOT TARGET "${item}" OR item IN_LIST seen)
      continue()
    endif()
    get_target_property(aliased "${item}" ALIASED_TARGET)
    if(aliased)
      list(APPEND todo "${aliased}")
      continue()
    endif()
    list(APPEND seen "${item}")
    get_target_property(links "${item}" INTERFACE_LINK_LIBRARIES)
    if(links)
      list(APPEND todo ${links})
    endif()
  endwhile()
  set(${out} "${seen}" PARENT_SCOPE)
endfunction()

# Debian's Kokkos::kokkos names an include folder that does not exist, which CMake refuses at
# generate time, and its libraries name none. Missing folders are dropped from the imported
# targets of `root`'s closure and `dirs` put on `root`.
function(_plinth_repair_includes root dirs)
  set(broken FALSE)
  set(any FALSE)
  _plinth_link_closure("${root}" targets)
  foreach(target IN LISTS targets)
    get_target_property(imported "${target}" IMPORTED)
    get_target_property(includes "${target}" INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT imported OR NOT includes)
      continue()
    endif()
    set(kept "")
    foreach(dir IN LISTS includes)
      if(dir MATCHES "\\$<" OR IS_DIRECTORY "${dir}")
        list(APPEND kept "${dir}")
        set(any TRUE)
      else()
        set(broken TRUE)
      endif()
    endforeach()
    if(NOT kept STREQUAL includes)
      set_property(TARGET "${target}" PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${kept}")
    endif()
  endforeach()
  if(broken OR NOT any)
    foreach(dir IN LISTS dirs)
      get_filename_component(real "${dir}" REALPATH)
      if(IS_DIRECTORY "${real}")
        set_property(TARGET "${root}" APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${real}")
      endif()
    endforeach()
  endif()
endfunction()

# <out> = the include folders of a target and of all that it links.
function(_plinth_include_dirs root out)
  set(result "")
  _plinth_link_closure("${root}" targets)
  foreach(target IN LISTS targets)
    get_target_property(includes "${target}" INTERFACE_INCLUDE_DIRECTORIES)
    if(includes)
      list(APPEND result ${includes})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES result)
  set(${out} "${result}" PARENT_SCOPE)
endfunction()

# <out> = the library files that `roots` and all that they link name outright.
function(_plinth_linked_files roots out)
  set(result "")
  foreach(root IN LISTS roots)
    _plinth_link_closure("${root}" targets)
    foreach(target IN LISTS targets)
      get_target_property(links "${target}" INTERFACE_LINK_LIBRARIES)
      foreach(link IN LISTS links)
        if(IS_ABSOLUTE "${link}")
          list(APPEND result "${link}")
        endif()
      endforeach()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES result)
  set(${out} "${result}" PARENT_SCOPE)
endfunction()

# Was this Kokkos Kernels built against this Kokkos? <out> = TRUE where both stand in one
# installation or are linked into one folder, or where Kernels' package file names this Kokkos
# (Spack gives each package a prefix of its own).
function(_plinth_same_installation kokkos_dir kernels_dir out)
  _plinth_install_prefix("${kokkos_dir}" kokkos_prefix)
  _plinth_install_prefix("${kernels_dir}" kernels_prefix)
  set(same FALSE)
  get_filename_component(kokkos_beside "${kokkos_dir}" DIRECTORY)
  get_filename_component(kernels_beside "${kernels_dir}" DIRECTORY)
  if(kokkos_prefix STREQUAL kernels_prefix OR kokkos_beside STREQUAL kernels_beside)
    set(same TRUE)
  elseif(EXISTS "${kernels_dir}/KokkosKernelsConfig.cmake")
    file(STRINGS "${kernels_dir}/KokkosKernelsConfig.cmake" lines
         REGEX "find_(dependency|package)\\(Kokkos[ \t]+.*HINTS")
    foreach(line IN LISTS lines)
      if(line MATCHES "HINTS[ \t]+\"?([^ \t\")]+)")
        get_filename_component(named "${CMAKE_MATCH_1}" REALPATH)
        get_filename_component(actual "${kokkos_dir}" REALPATH)
        _plinth_install_prefix("${named}" named_prefix)
        if(named STREQUAL actual OR named_prefix STREQUAL kokkos_prefix)
          set(same TRUE)
        endif()
      endif()
    endforeach()
  endif()
  set(${out} ${same} PARENT_SCOPE)
endfunction()

# Does this Kokkos Kernels hand gemm and trsm to one of these libraries? <out> = TRUE, or FALSE
# also where its configuration header cannot be found.
function(_plinth_kernels_use_blas includes libraries out)
  set(uses FALSE)
  foreach(dir IN LISTS includes)
    if(NOT EXISTS "${dir}/KokkosKernels_config.h")
      continue()
    endif()
    file(READ "${dir}/KokkosKernels_config.h" text)
    foreach(tpl IN LISTS libraries)
      set(name "KOKKOSKERNELS_ENABLE_TPL_${tpl}")
      # The header defines ..._BLAS once more, conditionally, below the configured lines: the
      # #undef comment is what tells that it is off.
      if(text MATCHES "#define ${name}[ \t\r\n]"
         AND NOT text MATCHES "/\\*[ \t]*#undef ${name}[ \t]*\\*/")
        set(uses TRUE)
      endif()
    endforeach()
    break()
  endforeach()
  set(${out} ${uses} PARENT_SCOPE)
endfunction()

# <problem> = which BLAS that matrix products want Kokkos Kernels does without, empty: none;
# <advice> = what to do about it. On a device its vendor's is wanted too; for SYCL there is none.
function(_plinth_blas_problem includes devices problem advice)
  set(slow "matrix products would run many times too slowly")
  set(lost "${slow}, and those of 16-bit operands not at all")
  set(libraries_HOST BLAS MKL ARMPL ACCELERATE)
  set(without_HOST "without a BLAS library, so ${slow}")
  set(help_HOST " (${_plinth_advice_debian})")
  set(libraries_CUDA CUBLAS)
  set(without_CUDA "without a BLAS library for CUDA, so ${lost}")
  set(libraries_HIP ROCBLAS)
  set(without_HIP "without a BLAS library for HIP, so ${lost}")
  set(${problem} "" PARENT_SCOPE)
  foreach(where IN ITEMS HOST CUDA HIP)
    if(where STREQUAL "HOST" OR where IN_LIST devices)
      _plinth_kernels_use_blas("${includes}" "${libraries_${where}}" there)
      if(NOT there)
        list(GET libraries_${where} 0 library)
        set(${problem} "was built ${without_${where}}" PARENT_SCOPE)
        set(${advice} "Rebuild it with -DKokkosKernels_ENABLE_TPL_${library}=ON, \
set CMAKE_PREFIX_PATH to another${help_${where}}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  if("SYCL" IN_LIST devices)
    set(${problem} "has no BLAS library for SYCL, so ${lost}" PARENT_SCOPE)
    set(${advice} "Set CMAKE_PREFIX_PATH to a Kokkos for another device or the host" PARENT_SCOPE)
  endif()
endfunction()

# <out> = one line about a BLAS library for a person: where it is and, for OpenBLAS, which of
# its builds (OpenMP, pthread, serial) the name leads to.
function(_plinth_describe_blas libraries out)
  set(text "")
  foreach(library IN LISTS libraries)
    if(NOT IS_ABSOLUTE "${library}")
      continue()
    endif()
    get_filename_component(real "${library}" REALPATH)
    if(text)
      string(APPEND text ", ")
    endif()
    string(APPEND text "${library}")
    if(real MATCHES "openblas")
      if(real MATCHES "openblas-?o|openmp")
        string(APPEND text " (OpenBLAS, OpenMP build)")
      elseif(real MATCHES "openblas-?p|pthread")
        string(APPEND text " (OpenBLAS, pthread build)")
      elseif(real MATCHES "openblas-serial")
        string(APPEND text " (OpenBLAS, serial build)")
      else()
        string(APPEND text " (OpenBLAS)")
      endif()
    endif()
  endforeach()
  if(NOT text)
    set(text "${libraries}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(plinth_find_dependencies out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "QUIET" "KOKKOS_HINT;KERNELS_HINT" "")
  set(${out} "" PARENT_SCOPE)
  if(TARGET plinth::dependencies)
    return()
  endif()

  # --- MPI. Its C++ bindings, long removed from the standard, are switched off below. ---------
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    set(${out}
        "plinth: MPI was not found. Install one (Debian: apt install libopenmpi-dev) or set \
MPI_CXX_COMPILER to its compiler wrapper; ${_plinth_advice_debian}."
        PARENT_SCOPE)
    return()
  endif()

  # --- Kokkos ---------------------------------------------------------------------------------
  # A Kokkos without support for compiler extensions warns unless they are off.
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(hints "")
  if(arg_KOKKOS_HINT AND EXISTS "${arg_KOKKOS_HINT}")
    set(hints HINTS "${arg_KOKKOS_HINT}")
  endif()
  find_package(Kokkos CONFIG QUIET ${hints})
  if(NOT Kokkos_FOUND)
    set(reason "")
    if(Kokkos_NOT_FOUND_MESSAGE)
      set(reason " (${Kokkos_NOT_FOUND_MESSAGE})")
    endif()
    set(${out}
        "plinth: Kokkos was not found${reason}. Install Kokkos 3.4 or newer with Kokkos Kernels, \
or set CMAKE_PREFIX_PATH to where they are; ${_plinth_advice_debian}."
        PARENT_SCOPE)
    return()
  endif()
  if(Kokkos_VERSION VERSION_LESS 3.4)
    set(${out}
        "plinth: Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is too old. Plinth needs 3.4 or \
newer: set CMAKE_PREFIX_PATH to a newer one; ${_plinth_advice_debian}."
        PARENT_SCOPE)
    return()
  endif()
  if("HIP" IN_LIST Kokkos_DEVICES AND Kokkos_VERSION VERSION_LESS 4)
    set(${out}
        "plinth: Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is too old for HIP, where Plinth needs \
4 or newer: set CMAKE_PREFIX_PATH to a newer one."
        PARENT_SCOPE)
    return()
  endif()
  if(NOT TARGET Kokkos::kokkos)
    set(${out}
        "plinth: the Kokkos package in ${Kokkos_DIR} defines no target Kokkos::kokkos. Set \
CMAKE_PREFIX_PATH to a complete installation of Kokkos; ${_plinth_advice_debian}."
        PARENT_SCOPE)
    return()
  endif()
  _plinth_repair_includes(Kokkos::kokkos "${Kokkos_INCLUDE_DIRS}")

  # --- Kokkos Kernels: next to that Kokkos first, then wherever it is -------------------------
  if(NOT KokkosKernels_ROOT AND NOT DEFINED ENV{KokkosKernels_ROOT})
    find_package(KokkosKernels CONFIG QUIET NO_DEFAULT_PATH HINTS "${Kokkos_DIR}/../KokkosKernels")
  endif()
  if(NOT KokkosKernels_FOUND)
    set(hints "")
    if(arg_KERNELS_HINT AND EXISTS "${arg_KERNELS_HINT}")
      set(hints HINTS "${arg_KERNELS_HINT}")
    endif()
    find_package(KokkosKernels CONFIG QUIET ${hints})
  endif()
  if(NOT KokkosKernels_FOUND)
    set(${out}
        "plinth: Kokkos Kernels was not found. Install the one that belongs to the Kokkos in \
${Kokkos_DIR}, or set CMAKE_PREFIX_PATH to where it is; ${_plinth_advice_debian}."
        PARENT_SCOPE)
    return()
  endif()
  _plinth_same_installation("${Kokkos_DIR}" "${KokkosKernels_DIR}" same)
  if(NOT same)
    set(${out}
        "plinth: Kokkos comes from ${Kokkos_DIR} but Kokkos Kernels from ${KokkosKernels_DIR}, \
which was built against another Kokkos. Mixed, they compile and then fail. Set \
CMAKE_PREFIX_PATH (or Kokkos_ROOT and KokkosKernels_ROOT) so that both come from one \
installation; ${_plinth_advice_debian}."
        PARENT_SCOPE)
    return()
  endif()
  if(TARGET Kokkos::kokkoskernels)
    set(kernels Kokkos::kokkoskernels)
  else()
    set(kernels "${KokkosKernels_LIBRARIES}")
  endif()
  set(kernels_includes "${KokkosKernels_INCLUDE_DIRS}")
  foreach(item IN LISTS kernels)
    if(TARGET "${item}")
      _plinth_include_dirs("${item}" dirs)
      list(APPEND kernels_includes ${dirs})
    endif()
  endforeach()
  _plinth_include_dirs(Kokkos::kokkos kokkos_includes)
  _plinth_blas_problem("${kernels_includes};${kokkos_includes}" "${Kokkos_DEVICES}" problem advice)
  if(problem)
    set(problem "plinth: the Kokkos Kernels in ${KokkosKernels_DIR} ${problem}")
    if(PLINTH_ALLOW_SLOW_BLAS)
      message(WARNING "${problem}. PLINTH_ALLOW_SLOW_BLAS is ON, so it is used all the same.")
    else()
      set(${out}
          "${problem}. ${advice}, or pass -DPLINTH_ALLOW_SLOW_BLAS=ON to use it all the same."
          PARENT_SCOPE)
      return()
    endif()
  endif()

  # --- BLAS and LAPACK: what the user asks for, else OpenBLAS, else whatever there is ----------
  # Where Kokkos Kernels brings another vendor's, OpenBLAS is not put next to it.
  _plinth_linked_files("${kernels}" kernels_libraries)
  if(BLA_VENDOR OR DEFINED ENV{BLA_VENDOR}
     OR kernels_libraries MATCHES "mkl|armpl|blis|essl|nvpl|libsci")
    find_package(BLAS QUIET)
    find_package(LAPACK QUIET)
  else()
    set(BLA_VENDOR OpenBLAS)
    find_package(BLAS QUIET)
    find_package(LAPACK QUIET)
    if(NOT BLAS_FOUND OR NOT LAPACK_FOUND)
      unset(BLA_VENDOR)
      find_package(BLAS QUIET)
      find_package(LAPACK QUIET)
    endif()
  endif()
  if(NOT BLAS_FOUND OR NOT LAPACK_FOUND)
    set(${out}
        "plinth: BLAS and LAPACK were not found. Install OpenBLAS (Debian: apt install \
libopenblas-openmp-dev), or set BLA_VENDOR or CMAKE_PREFIX_PATH; ${_plinth_advice_debian}."
        PARENT_SCOPE)
    return()
  endif()
  _plinth_describe_blas("${BLAS_LIBRARIES}" blas)
  if(blas MATCHES "pthread build" AND "OPENMP" IN_LIST Kokkos_DEVICES)
    message(WARNING
        "plinth: ${blas} brings threads of its own next to Kokkos' OpenMP threads. Install the \
OpenMP build of OpenBLAS (Debian: apt install libopenblas-openmp-dev and choose it with \
update-alternatives), or run with OPENBLAS_NUM_THREADS=1.")
  endif()

  # --- One target for all of it. Being imported, it makes every header below a system header. --
  add_library(plinth::dependencies INTERFACE IMPORTED)
  set_target_properties(plinth::dependencies PROPERTIES
    INTERFACE_LINK_LIBRARIES
      "${kernels};Kokkos::kokkos;LAPACK::LAPACK;BLAS::BLAS;MPI::MPI_CXX"
    INTERFACE_COMPILE_DEFINITIONS "OMPI_SKIP_MPICXX;MPICH_SKIP_MPICXX")
  if("CUDA" IN_LIST Kokkos_DEVICES AND Kokkos_CXX_COMPILER_ID STREQUAL "NVIDIA")
    # Index arithmetic is constexpr, which nvcc lets kernels call with this only.
    set_property(TARGET plinth::dependencies PROPERTY INTERFACE_COMPILE_OPTIONS
      "$<$<COMPILE_LANGUAGE:CXX,CUDA>:--expt-relaxed-constexpr>")
  endif()
  if(NOT TARGET Kokkos::kokkoskernels AND KokkosKernels_INCLUDE_DIRS)
    get_filename_component(dir "${KokkosKernels_INCLUDE_DIRS}" REALPATH)
    set_property(TARGET plinth::dependencies PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${dir}")
  endif()

  set(PLINTH_KOKKOS_VERSION "${Kokkos_VERSION}" CACHE INTERNAL "")
  set(PLINTH_KOKKOS_DEVICES "${Kokkos_DEVICES}" CACHE INTERNAL "")
  set(PLINTH_KOKKOS_DIR "${Kokkos_DIR}" CACHE INTERNAL "")
  set(PLINTH_KERNELS_DIR "${KokkosKernels_DIR}" CACHE INTERNAL "")
  set(PLINTH_BLAS_DESCRIPTION "${blas}" CACHE INTERNAL "")
  if(NOT arg_QUIET)
    list(JOIN Kokkos_DEVICES ", " devices)
    message(STATUS "plinth: Kokkos ${Kokkos_VERSION} (${devices}) in ${Kokkos_DIR}")
    message(STATUS "plinth: Kokkos Kernels in ${KokkosKernels_DIR}")
    message(STATUS "plinth: BLAS ${blas}")
    message(STATUS "plinth: MPI ${MPI_CXX_VERSION} through ${MPIEXEC_EXECUTABLE}")
  endif()
endfunction()
