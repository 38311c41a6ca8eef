// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "linpack/mixed.hpp"
#include "plinth/policy/transport.hpp"

namespace linpack {

// The value of each enumerator is its code in HPL.dat.

/// Line 9: which way ranks run over the P x Q grid.
enum class Mapping { row_major, column_major };

/// Lines 15 and 21: the variant of a panel factorization.
enum class PanelVariant { left, crout, right };

/// Line 23: how a factored panel travels along a process row; the last two, MPI's own, are
/// extensions.
enum class Broadcast {
  ring1,
  ring1_modified,
  ring2,
  ring2_modified,
  long_,
  long_modified,
  mpi,
  mpi_nonblocking
};

/// Line 26: how rows are interchanged in the trailing matrix; the last two, our choice and MPI's
/// collective calls, are extensions.
enum class SwapAlgorithm { binary_exchange, spread_roll, mix, automatic, mpi };

/// Lines 28 and 29: how L1 and U are stored during the update.
enum class Form { transposed, not_transposed };

/// Line 30: whether the roll phase of the long interchange is balanced.
enum class Equilibration { off, on };

/// Line 4: 6, 7, or any other integer.
enum class Device { standard_output, standard_error, file };

/// How the processes of a column agree on a pivot: messages of our own, MPI_Allreduce, or the
/// former for the first column of a panel and the latter for the rest.
enum class PivotReduction { point_to_point, mpi, hybrid };

/// Which way the local matrix runs through memory.
enum class Storage { by_rows, by_columns };

/// Who factors the panels of a matrix on a device; on a host, the host.
enum class Panels { on_host, on_device };

/// What is told of where the time went: nothing, the seconds of each phase, or those of each
/// phase in each step, too.
enum class PhaseReport { none, totals, steps };

/// What HPL.dat knows nothing of.
struct Extensions {
  PivotReduction pivot_reduction = PivotReduction::point_to_point;
  double split = 0;                   ///< fraction of the columns in the right section; 0: off
  Switch reproducible = Switch::off;  ///< the same bits at every look-ahead depth
  Storage storage = Storage::by_rows;
  Panels panels = Panels::on_host;
  PhaseReport phases = PhaseReport::none;
  plinth::Transport transport = plinth::Transport::staged;
  int threads = 0;             ///< per rank; 0: default_threads()
  std::optional<Mixed> mixed;  ///< of a program of mixed precision only
  bool operator==(const Extensions&) const = default;
};

/// Shape of a process grid: P rows by Q columns.
struct Grid {
  int rows = 1;
  int cols = 1;
  std::int64_t size() const { return std::int64_t{rows} * cols; }
  bool operator==(const Grid&) const = default;
};

/// What an HPL.dat holds, in the order of its 31 lines. The values are a small problem that one
/// rank solves at once.
struct Config {
  std::array<std::string, 2> heading;                          // 1, 2  free text
  std::string output_file = "HPL.out";                         // 3     used if device is file
  Device device = Device::standard_output;                     // 4
  std::vector<std::int64_t> n = {2000};                        // 5, 6
  std::vector<int> nb = {128};                                 // 7, 8
  Mapping mapping = Mapping::row_major;                        // 9
  std::vector<Grid> grids = {{1, 1}};                          // 10 - 12
  double threshold = 16.0;                                     // 13    <= 0: no check
  std::vector<PanelVariant> pfact = {PanelVariant::crout};     // 14, 15
  std::vector<int> nbmin = {4};                                // 16, 17
  std::vector<int> ndiv = {2};                                 // 18, 19
  std::vector<PanelVariant> rfact = {PanelVariant::right};     // 20, 21
  std::vector<Broadcast> bcast = {Broadcast::ring1_modified};  // 22, 23
  std::vector<int> depth = {0};                                // 24, 25
  SwapAlgorithm swap = SwapAlgorithm::spread_roll;             // 26
  int swap_threshold = 64;                                     // 27    columns
  Form l1 = Form::not_transposed;                              // 28
  Form u = Form::transposed;                                   // 29
  Equilibration equilibration = Equilibration::off;            // 30
  int alignment = 8;                                           // 31    8-byte words
  Extensions extensions;

  bool checks() const { return threshold > 0; }
  bool operator==(const Config&) const = default;
};

/// One run: a single combination of the values of a Config.
struct Case {
  std::int64_t n = 0;
  int nb = 1;
  Grid grid;
  int depth = 0;
  Broadcast bcast = Broadcast::ring1;
  PanelVariant rfact = PanelVariant::right;
  PanelVariant pfact = PanelVariant::right;
  int nbmin = 1;
  int ndiv = 2;
  Mapping mapping = Mapping::row_major;
  SwapAlgorithm swap = SwapAlgorithm::mix;
  int swap_threshold = 64;
  Form l1 = Form::transposed;
  Form u = Form::transposed;
  Equilibration equilibration = Equilibration::on;
  int alignment = 8;
  double threshold = 16.0;
  Extensions extensions;

  bool checks() const { return threshold > 0; }
  bool operator==(const Case&) const = default;
};

/// The grid of P <= Q that uses all ranks and is nearest to a square.
Grid squarest_grid(int ranks);

}  // namespace linpack
