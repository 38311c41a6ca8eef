# SPDX-License-Identifier: BSD-3-Clause
#
# cmake -DBUILD_FOLDER= -DCONFIG= -DNAME= -DREGEX= -P check_refused.cmake: see plinth_add_refused.

function(build target out_status out_text)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" --build "${BUILD_FOLDER}" --config "${CONFIG}" --target ${target}
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${out_status} "${status}" PARENT_SCOPE)
  set(${out_text} "${text}" PARENT_SCOPE)
endfunction()

build(accepted_${NAME} status text)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${NAME} must compile without PLINTH_REFUSED, but:\n${text}")
endif()
build(refused_${NAME} status text)
if(status EQUAL 0)
  message(FATAL_ERROR "${NAME} must not compile with PLINTH_REFUSED, but it does")
endif()
if(NOT text MATCHES "error:[^\n]*${REGEX}")
  message(FATAL_ERROR "${NAME} is refused, but not with a message like '${REGEX}':\n${text}")
endif()
