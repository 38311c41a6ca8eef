# SPDX-License-Identifier: BSD-3-Clause
#
# For this project's own programs and tests; never exported.

option(PLINTH_WERROR "Treat warnings in Plinth's own programs and tests as errors" OFF)
option(PLINTH_SANITIZE "Build Plinth's own programs and tests with ASan and UBSan" OFF)

# plinth_program(<target>): warnings, sanitizers where asked for, and Plinth itself.
function(plinth_program target)
  target_link_libraries(${target} PRIVATE plinth::plinth)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow)
  if(PLINTH_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(PLINTH_SANITIZE)
    set(flags -fsanitize=address,undefined -fno-sanitize-recover=undefined
              -fno-omit-frame-pointer)
    target_compile_options(${target} PRIVATE ${flags})
    target_link_options(${target} PRIVATE ${flags})
  endif()
endfunction()
