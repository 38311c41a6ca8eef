# SPDX-License-Identifier: BSD-3-Clause
#
# Builds project/ in an empty folder and runs it on two ranks; see CMakeLists.txt here.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "ended with ${status}: ${ARGV}")
  endif()
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
set(arguments
  "-DCMAKE_BUILD_TYPE=${CONFIG}"
  "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DMPI_CXX_COMPILER=${MPI_CXX_COMPILER}")
if(WAY STREQUAL "install")
  run("${CMAKE_COMMAND}" --install "${PLINTH_BUILD}" --config "${CONFIG}"
      --prefix "${FOLDER}/prefix")
  # Moved, as an unpacked archive would be; nothing in it may depend on where it was made.
  file(RENAME "${FOLDER}/prefix" "${FOLDER}/moved")
  # The package remembers which Kokkos it was built with, so nothing is said about that here.
  list(APPEND arguments "-DCMAKE_PREFIX_PATH=${FOLDER}/moved;${PREFIX_PATH}")
else()
  list(APPEND arguments
    "-DPLINTH_SOURCE=${PLINTH_SOURCE}"
    "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}"
    "-DKokkos_DIR=${KOKKOS_DIR}"
    "-DKokkosKernels_DIR=${KERNELS_DIR}")
endif()
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/project" -B "${FOLDER}/build"
    -G "${GENERATOR}" ${arguments})
run("${CMAKE_COMMAND}" --build "${FOLDER}/build" --config "${CONFIG}")
file(GLOB_RECURSE program "${FOLDER}/build/consumer")
run(${MPIEXEC} "${program}")
