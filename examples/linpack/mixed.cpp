// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/mixed.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "linpack/names.hpp"
#include "linpack/result.hpp"
#include "linpack/text.hpp"

namespace linpack {

namespace {

template <class E>
std::string text(E value) {
  return std::string(word(value));
}

template <class E>
E word_at(const nlohmann::ordered_json& json, const char* name) {
  return from_word<E>(json.at(name).get<std::string>()).value();
}

/// How FP64 went, for people.
std::string verdict_text(const Fp64Result& fp64) {
  switch (fp64.verdict) {
    case Verdict::passed:
      return fp64.speedup > 0 ? "PASSED" : "PASSED; no speed-up over it of a run that failed";
    case Verdict::failed:
      return "FAILED, and so this run counts as failed";
    case Verdict::unchecked:
      return "not checked";
    default:
      return "skipped: " + fp64.reason;
  }
}

nlohmann::ordered_json to_json(const Fp64Result& fp64, std::int64_t n) {
  nlohmann::ordered_json out{{"verdict", word(fp64.verdict)}};
  if (!fp64.reason.empty()) out["reason"] = fp64.reason;
  if (fp64.verdict == Verdict::skipped) return out;
  out["seconds"] = fp64.seconds;
  out["gflops"] = gflops(n, fp64.seconds);
  if (fp64.verdict != Verdict::unchecked) out["residual"] = fp64.residual;
  if (fp64.speedup > 0) out["speedup"] = fp64.speedup;
  return out;
}

}  // namespace

std::string describe(const Mixed& m) {
  std::string out = "matrix " + text(m.matrix);
  if (m.matrix == SystemKind::scaled_diagonal) out += print(" with sigma %g", m.sigma);
  if (m.matrix == SystemKind::fasi_higham)
    out += print(" with kappa %g and rho %g", m.kappa, m.rho);
  return out + ", precision " + text(m.precision) + ", refinement " + text(m.refinement) +
         ", scaling " + text(m.scaling);
}

std::string as_options(const Mixed& m) {
  std::string out = "--matrix " + text(m.matrix);
  if (m.matrix == SystemKind::scaled_diagonal) out += " --sigma " + shortest(m.sigma);
  if (m.matrix == SystemKind::fasi_higham)
    out += " --kappa " + shortest(m.kappa) + " --rho " + shortest(m.rho);
  out += " --precision " + text(m.precision) + " --refine " + text(m.refinement) + " --scaling " +
         text(m.scaling);
  return m.compare_fp64 == Switch::on ? out + " --compare-fp64" : out;
}

std::string text_lines(const Mixed& ran, const MixedResult& m, std::int64_t n, double seconds) {
  const auto name = [](const char* what) { return print("%-11s: ", what); };
  const auto time = [seconds](double part) {
    return print("%12.4f s %5.1f %%", part, seconds > 0 ? 100 * part / seconds : 0.0);
  };
  std::string out = name("Precision") + text(ran.precision) + ", " + m.arithmetic;
  if (m.exponent != 0) out += print(", matrix scaled by 2^%d", m.exponent);
  if (m.overflowed_exponent) out += print(" after 2^%d overflowed", *m.overflowed_exponent);
  out += "\n";
  if (m.condition > 0)
    out += name("Condition") + print("%.4e in the infinity norm\n", m.condition);
  out += name("Filling") + time(m.fill) + "\n";
  out +=
      name("LU") + time(m.factor) + print("  %.4e Gflops for 2/3 N^3\n", lu_gflops(n, m.factor));
  out += name("Refinement") + time(m.refine) + "  " + text(ran.refinement) + ": " + m.outcome +
         print(", iterations %d, products %d, solves %d\n", m.iterations, m.products, m.solves);
  out += name("Residuals");
  for (std::size_t i = 0; i < m.residuals.size(); ++i)
    out += print(i == 0 ? "%.2e" : " %.2e", unsigned_nan(m.residuals[i]));
  if (m.easy) out += " (the LU alone passes: an easy matrix, which tests no refinement)";
  out += "\n" + name("Rounding");
  if (m.growth) out += print("growth %.3g, ", unsigned_nan(*m.growth));
  out += print("overflowed %lld, flushed %lld, subnormal %lld\n",
               static_cast<long long>(m.overflowed), static_cast<long long>(m.flushed),
               static_cast<long long>(m.subnormal));
  out += name("Memory") + print("%.1f MiB beyond the earlier peak\n", m.memory / 1048576);
  if (m.fp64) {
    const Fp64Result& fp64 = *m.fp64;
    out += name("FP64");
    if (fp64.verdict != Verdict::skipped)
      out += print("%12.4f s          %.4e Gflops, ", fp64.seconds, gflops(n, fp64.seconds));
    out += verdict_text(fp64);
    if (fp64.speedup > 0) out += print("; speed-up %.2f", fp64.speedup);
    out += "\n";
  }
  return out;
}

nlohmann::ordered_json to_json(const Mixed& m) {
  return {{"matrix", word(m.matrix)},
          {"sigma", m.sigma},
          {"kappa", m.kappa},
          {"rho", m.rho},
          {"precision", word(m.precision)},
          {"refine", word(m.refinement)},
          {"scaling", word(m.scaling)},
          {"compare_fp64", word(m.compare_fp64)}};
}

Mixed mixed_from_json(const nlohmann::ordered_json& json) {
  Mixed m;
  m.matrix = word_at<SystemKind>(json, "matrix");
  json.at("sigma").get_to(m.sigma);
  json.at("kappa").get_to(m.kappa);
  json.at("rho").get_to(m.rho);
  m.precision = word_at<Precision>(json, "precision");
  m.refinement = word_at<Refinement>(json, "refine");
  m.scaling = word_at<Switch>(json, "scaling");
  m.compare_fp64 = word_at<Switch>(json, "compare_fp64");
  return m;
}

nlohmann::ordered_json to_json(const MixedResult& m, std::int64_t n) {
  nlohmann::ordered_json out{{"arithmetic", m.arithmetic},
                             {"exponent", m.exponent},
                             {"fill_seconds", m.fill},
                             {"lu_seconds", m.factor},
                             {"lu_gflops", lu_gflops(n, m.factor)},
                             {"refine_seconds", m.refine},
                             {"outcome", m.outcome},
                             {"iterations", m.iterations},
                             {"products", m.products},
                             {"solves", m.solves},
                             {"residuals", m.residuals},
                             {"lu_alone_passes", m.easy},
                             {"overflowed", m.overflowed},
                             {"flushed", m.flushed},
                             {"subnormal", m.subnormal},
                             {"memory", m.memory}};
  if (m.overflowed_exponent) out["overflowed_exponent"] = *m.overflowed_exponent;
  if (m.growth) out["growth"] = *m.growth;
  if (m.condition > 0) out["cond_inf"] = m.condition;
  if (m.fp64) out["fp64"] = to_json(*m.fp64, n);
  return out;
}

}  // namespace linpack
