# SPDX-License-Identifier: BSD-3-Clause
#
# cmake -P check_refused.cmake -- <compiler and all its arguments, the source last>: compiles the
# source, and fails unless that succeeds and with PLINTH_REFUSED defined does not, with a message
# that matches the regex of the source's line "// refused: <regex>".

set(command "")
set(collecting FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(collecting)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(collecting TRUE)
  endif()
endforeach()
list(GET command -1 source)
list(FIND command "-o" i)
if(i EQUAL -1)
  message(FATAL_ERROR "no -o among the compiler's arguments: ${command}")
endif()
math(EXPR i "${i} + 1")
list(GET command ${i} object)

file(STRINGS "${source}" line REGEX "^// refused: " LIMIT_COUNT 1)
if(NOT line)
  message(FATAL_ERROR "${source} has no line '// refused: <regex>'")
endif()
string(REGEX REPLACE "^// refused: " "" regex "${line}")

# The one that must fail comes first: what it writes about dependencies is written again. No code
# is made of either, which takes half the time; the object is an empty file.
list(APPEND command -fsyntax-only)
execute_process(COMMAND ${command} -DPLINTH_REFUSED
  RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(status EQUAL 0)
  file(REMOVE "${object}")
  message(FATAL_ERROR "${source} must not compile with PLINTH_REFUSED, but it does")
endif()
if(NOT text MATCHES "error:[^\n]*${regex}")
  message(FATAL_ERROR "${source} is refused, but not with a message like '${regex}':\n${text}")
endif()
execute_process(COMMAND ${command}
  RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${source} must compile without PLINTH_REFUSED, but:\n${text}")
endif()
file(TOUCH "${object}")
