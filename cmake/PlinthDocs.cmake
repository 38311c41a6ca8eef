# SPDX-License-Identifier: BSD-3-Clause
#
# The target `docs`, where Doxygen is found: the reference documentation, in docs/html of the build
# folder. It fails on any warning, so on any public name without a comment.

find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
  message(STATUS "plinth: no target docs, because Doxygen was not found")
  return()
endif()

# Headers that no user includes or names anything of. A new one is public unless it is named here.
set(PLINTH_DOCS_EXCLUDED "")
foreach(pattern IN ITEMS
    kernel/*.hpp kernel/lowp/* kernel/entries/fill.hpp kernel/entries/lcg_tiles.hpp
    kernel/entries/product.hpp
    core/numa.hpp
    comm/agree.hpp comm/allreduce.hpp comm/broadcast_route.hpp comm/exchange.hpp comm/mpi.hpp
    comm/reduce.hpp comm/reduction_op.hpp comm/schedule.hpp comm/transport.hpp
    matrix/column_slabs.hpp matrix/diagonal_blocks.hpp matrix/file.hpp matrix/index_runs.hpp
    matrix/local_on_host.hpp matrix/matrix_market_text.hpp matrix/redistribution.hpp
    matrix/whole_array.hpp
    lu/device_columns.hpp lu/diagonal_block.hpp lu/factor.hpp lu/float_panel.hpp
    lu/interchange.hpp lu/mixed_block_column_solve.hpp lu/mixed_block_row_solve.hpp
    lu/mixed_diagonal_block.hpp lu/mixed_factor.hpp lu/mixed_panel.hpp
    lu/mixed_pivoted_panels.hpp lu/mixed_precision.hpp lu/mixed_unpivoted_panels.hpp
    lu/narrowing_log.hpp lu/operand_scaling.hpp lu/packed_block_row.hpp lu/panel.hpp
    lu/panel_beside.hpp lu/panel_columns.hpp lu/panel_factor.hpp lu/panel_on_host.hpp
    lu/panel_recursion.hpp lu/panel_ring.hpp lu/pivot_exchange.hpp lu/pivot_tournament.hpp
    lu/row_exchanges.hpp lu/row_permutation.hpp lu/substitute.hpp lu/tournament_panel.hpp
    lu/triangle_runs.hpp policy/device_queue.hpp
    refine/column_operations.hpp refine/gmres_cycle.hpp refine/least_squares.hpp
    refine/policy_terms.hpp refine/verdict.hpp
    solve/absolute_product.hpp solve/narrow.hpp solve/norm_estimate.hpp solve/outcome.hpp)
  string(APPEND PLINTH_DOCS_EXCLUDED " */plinth/${pattern}")
endforeach()

set(PLINTH_DOCS_FOLDER "${PROJECT_BINARY_DIR}/docs")
file(MAKE_DIRECTORY "${PLINTH_DOCS_FOLDER}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/Doxyfile.in" "${PLINTH_DOCS_FOLDER}/Doxyfile" @ONLY)
add_custom_target(docs
  COMMAND Doxygen::doxygen "${PLINTH_DOCS_FOLDER}/Doxyfile"
  WORKING_DIRECTORY "${PLINTH_DOCS_FOLDER}"
  COMMENT "Reference documentation in ${PLINTH_DOCS_FOLDER}/html"
  VERBATIM)
