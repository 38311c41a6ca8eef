# SPDX-License-Identifier: BSD-3-Clause
#
# Builds project/ in an empty folder and runs its programs on two ranks; see CMakeLists.txt here.

function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY "${FOLDER}" COMMAND_ECHO STDOUT
    RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "ended with ${status}: ${ARGV}")
  endif()
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
file(COPY "${PLINTH_SOURCE}/examples/solvers/scattering.cpp"
          "${PLINTH_SOURCE}/examples/solvers/png.hpp" DESTINATION "${FOLDER}/example")
set(arguments
  "-DEXAMPLE=${FOLDER}/example/scattering.cpp"
  "-DCMAKE_BUILD_TYPE=${CONFIG}"
  "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"  # which takes half the time
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
foreach(name IN ITEMS consumer scattering)
  file(GLOB_RECURSE program "${FOLDER}/build/${name}")
  run(${MPIEXEC} "${program}")
endforeach()
# The example has drawn its picture where it was run.
file(READ "${FOLDER}/scattering.png" start LIMIT 8 HEX)
if(NOT start STREQUAL "89504e470d0a1a0a")
  message(FATAL_ERROR "the picture is no PNG file: it begins with '${start}'")
endif()
