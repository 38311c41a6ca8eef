// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "linpack/verdict.hpp"

namespace linpack {

enum class Switch { off, on };

/// Which system hpl_mxp solves.
enum class SystemKind { scaled_diagonal, fasi_higham, dominant_reference, dominant_openmxp };

/// What L and U are stored, multiplied and summed in: `fp32_fp16` is stored in FP32 and multiplied
/// in FP16, `fp16_fast` sums in FP16, the others with 16 bits sum in FP32.
enum class Precision { fp16, fp16_fast, bf16, fp32, fp32_fp16, automatic };

/// How the solution gets its last digits.
enum class Refinement { gmres, classical, none };

/// What a run in mixed precision has to know besides.
struct Mixed {
  SystemKind matrix = SystemKind::scaled_diagonal;
  double sigma = 1;     ///< of scaled-diagonal
  double kappa = 1e10;  ///< of fasi-higham: condition number in the infinity norm
  double rho = 0.5;     ///< of fasi-higham: ratio of its parameters
  Precision precision = Precision::automatic;
  Refinement refinement = Refinement::gmres;
  Switch scaling = Switch::on;        ///< of the matrix, by a power of two, where 16 bits want it
  Switch compare_fp64 = Switch::off;  ///< solve HPL's system in FP64 as well
  bool operator==(const Mixed&) const = default;
};

/// HPL's system of the same order in FP64, beside a run in mixed precision.
struct Fp64Result {
  Verdict verdict = Verdict::skipped;
  std::string reason = {};  ///< as in Result
  double seconds = 0;       ///< 0 if skipped
  double residual = 0;      ///< scaled; 0 unless checked
  /// Of the run in mixed precision over this one; 0 where not both have solved their systems, as
  /// far as was checked.
  double speedup = 0;
};

/// How a run in mixed precision went. Seconds are the longest of all ranks.
struct MixedResult {
  std::string arithmetic;  ///< "micro-kernel AVX-512, sums in FP32"
  int exponent = 0;        ///< the matrix was scaled by 2 to this power
  /// An earlier LU, of the matrix scaled by 2 to this power, overflowed.
  std::optional<int> overflowed_exponent = std::nullopt;
  double condition = 0;  ///< in the infinity norm; 0: not known
  double fill = 0;       ///< seconds for filling the matrix in the precision of the LU
  double factor = 0;     ///< seconds for the LU; in both, one that overflowed counts
  double refine = 0;     ///< seconds from the LU to the solution
  std::string outcome;   ///< of the refinement
  int iterations = 0;
  int products = 0, solves = 0;  ///< with A, and with the factors
  /// The scaled residual that the refinement saw: of the LU alone, then after each step or cycle.
  std::vector<double> residuals;
  bool easy = false;  ///< the first of them passes: the run says nothing of the refinement
  /// The largest entry of U by that of A, if it was measured.
  std::optional<double> growth = std::nullopt;
  std::int64_t overflowed = 0, flushed = 0,
               subnormal = 0;  ///< entries of A, L and U, in rounding
  double memory = 0;  ///< bytes by which the run raised a rank's peak, the most of all ranks
  std::optional<Fp64Result> fp64 = std::nullopt;  ///< if it was asked for
};

/// "matrix scaled-diagonal with sigma 1, precision auto, refinement gmres, scaling yes"
std::string describe(const Mixed& mixed);

/// The same as options of the command line.
std::string as_options(const Mixed& mixed);

/// Where the time of a run went and what the refinement did, a line each. n, seconds: of the run.
std::string text_lines(const Mixed& ran, const MixedResult& result, std::int64_t n,
                       double seconds);

nlohmann::ordered_json to_json(const Mixed& mixed);
Mixed mixed_from_json(const nlohmann::ordered_json& json);
/// Without those of growth, overflowed_exponent, cond_inf and fp64 that there are not; what is no
/// number is null. n: of the run.
nlohmann::ordered_json to_json(const MixedResult& result, std::int64_t n);

}  // namespace linpack
