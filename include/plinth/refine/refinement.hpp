// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/policy/refinement.hpp"
#include "plinth/refine/column_operations.hpp"
#include "plinth/refine/criterion.hpp"
#include "plinth/refine/gmres_cycle.hpp"
#include "plinth/refine/policy_terms.hpp"
#include "plinth/refine/report.hpp"
#include "plinth/refine/verdict.hpp"

namespace plinth {

/// Whether a refinement begins with an x of the caller's.
enum class InitialGuess {
  none,   ///< x is overwritten: the first one is M^-1 b
  given,  ///< x holds one
};

/// Refines the solution X of A X = B, all right-hand sides in lockstep, so that they share every
/// product with A, every solve and every reduction.
///
///     times(x, y)   y := A x, in the residual precision; collective
///     solve(r)      r := M^-1 r in place, M the factors of about A; collective
///
/// take n x c matrices like B, in the working precision, and throw on every rank or on none.
///
///     x := M^-1 b                                   classical          GMRES
///     loop: r := b - A x                            d := M^-1 r        d := a cycle of GMRES
///           done, limit reached, too little gained?                    on M^-1 A d = M^-1 r
///           x := x + d
///
/// A column ends by its own true residual alone, since at cond(A) = 1/u a small preconditioned
/// residual certifies nothing. One that has ended is frozen: it takes part in the messages, as
/// zeros, but changes no more. A step that makes a column worse is taken back,
/// unless the criterion holds. Right-hand sides are
/// scaled by powers of two, so that none of them over- or underflows in the solves.
template <ExecutionPolicy Exec, class Vectors>
class Refinement {
 public:
  using T = typename Vectors::value_type;  ///< working precision
  using Real = RealOf<T>;                  ///< of norms

  /// For right-hand sides like `like`. Two more matrices of its distribution, packed, and what is
  /// kept per column. Collective. Errors, on every rank: enough memory.
  Refinement(const Exec& exec, const Vectors& like) : cycle_(packed_like(like)) {
    if (!like.grid().active()) return;
    r_.emplace(like.grid(), like.rows(), like.cols(), packed_like(like));
    kept_.emplace(like.grid(), like.rows(), like.cols(), packed_like(like));
    comm::agree_on(like.grid().all(), "refine", 0, [&] {
      columns_.emplace(exec, like);
      prepare(static_cast<std::size_t>(like.cols()));
      cycle_.prepare(*columns_, 2);
    });
  }

  /// Allocates what the policy may come to use: for GMRES restart + 1 matrices, which otherwise are
  /// made when they are needed first. Collective. Errors as above.
  void reserve(const Vectors& like, const RefinementPolicy auto& policy) {
    if (!like.grid().active()) return;
    if constexpr (std::same_as<std::remove_cvref_t<decltype(policy)>, GmresRefinement>)
      cycle_.reserve(*columns_, like, refine::cycle_length(policy, like.rows()));
  }

  /// a_norm: ||A|| in the infinity norm. Collective; one agreement per look at the residual.
  /// Preconditions, each an Error on every rank: b and x dealt as `like` was; x is not b; a valid
  /// policy; the same call on every rank; the criterion decides alike on every rank; enough memory.
  /// Per classical step: one product, one solve, two allreduces. Per iteration of GMRES: the same;
  /// per cycle one product, one solve and four allreduces more.
  template <class Times, class Solve, RefinementPolicy Policy, StoppingCriterion Criterion>
  RefinementReport operator()(const Times& times, const Solve& solve, double a_norm,
                              const Vectors& b, Vectors& x, const Policy& policy,
                              const Criterion& done, InitialGuess guess = InitialGuess::none);

 private:
  using Flags = std::vector<bool>;

  static MatrixLayoutOptions packed_like(const Vectors& like) {
    MatrixLayoutOptions options = layout_of(like);
    options.align = 1;
    return options;
  }
  /// Room for what there is of each of c columns. Not collective.
  void prepare(std::size_t c) {
    columns_->reserve(2);
    states_.reserve(c);
    goals_.reserve(c);
    exponents_.reserve(c);
    tolerance_.reserve(c);
    norms_.reserve(2 * c);
    for (auto* flags : {&active_, &broken_, &decided_}) flags->reserve(c);
    for (auto* numbers : {&factors_, &scaled_}) numbers->reserve(c);
  }

  std::size_t cols() const { return states_.size(); }

  /// r := r times the powers of two that bring its columns, of these norms, into [1, 2), within
  /// what T holds; exponents_ remembers them. Frozen columns become 0.
  void scale_residual(const std::vector<double>& norms) {
    factors_.assign(cols(), T(0));
    constexpr int most = sizeof(Real) == 4 ? 120 : 1000;
    for (std::size_t j = 0; j < cols(); ++j) {
      if (!active_[j]) continue;
      int exponent = 0;
      if (norms[j] > 0 && is_finite(norms[j]))
        exponent = -std::clamp(std::ilogb(norms[j]), -most, most);
      exponents_[j] += exponent;
      factors_[j] = T(static_cast<Real>(std::ldexp(1.0, exponent)));
    }
    columns_->scale(factors_, *r_, *r_);
  }
  /// r := M^-1 (r scaled).
  template <class Solve>
  void solve_scaled(const Solve& solve, const std::vector<double>& norms) {
    exponents_.assign(cols(), 0);
    scale_residual(norms);
    solve(*r_);
    ++report_.solves;
  }
  /// x += (what was made from the scaled right-hand sides) diag(y).
  void add(const std::vector<T>& y, const Vectors& v, Vectors& x) {
    scaled_ = y;
    for (std::size_t j = 0; j < cols(); ++j)
      if (y[j] != T(0)) scaled_[j] *= T(static_cast<Real>(std::ldexp(1.0, -exponents_[j])));
    columns_->axpy(scaled_, v, x);
  }
  /// factors_ := 1 where a column is active, 0 elsewhere.
  const std::vector<T>& active_ones() {
    factors_.assign(cols(), T(0));
    for (std::size_t j = 0; j < cols(); ++j)
      if (active_[j]) factors_[j] = T(1);
    return factors_;
  }
  /// norms_ := those of the residuals, as they were looked at last.
  const std::vector<double>& residual_norms() {
    norms_.clear();
    for (const ColumnState& state : states_) norms_.push_back(state.r_norm);
    return norms_;
  }
  const std::vector<double>& inf_norms(std::initializer_list<const Vectors*> v) {
    columns_->inf_norms({v.begin(), v.size()}, norms_);
    return norms_;
  }

  template <class Times, class Criterion>
  bool look(const Times& times, const Vectors& b, Vectors& x, double ratio,
            const Criterion& done);
  template <class Times, class Solve>
  void correct(const Times& times, const Solve& solve, Vectors& x,
               const ClassicalRefinement& policy);
  template <class Times, class Solve>
  void correct(const Times& times, const Solve& solve, Vectors& x, const GmresRefinement& policy);
  template <class Times, class Solve>
  void correct(const Times&, const Solve&, Vectors&, const NoRefinement&) {}

  std::optional<refine::ColumnOperations<Exec, Vectors>> columns_;
  refine::GmresCycle<Exec, Vectors> cycle_;
  std::optional<Vectors> r_, kept_;  ///< r: the residual, then the correction; kept: x before it

  RefinementReport report_;
  std::vector<ColumnState> states_;
  Flags active_, broken_;
  std::vector<double> goals_;
  std::vector<int> exponents_;  ///< of the powers of two that r's columns were scaled by

  // What a step works with, allocated beforehand: nothing may fail on one rank between messages.
  Flags decided_;
  std::vector<double> norms_, tolerance_;
  std::vector<T> factors_, scaled_;
};

template <ExecutionPolicy Exec, class Vectors>
template <class Times, class Solve, RefinementPolicy Policy, StoppingCriterion Criterion>
RefinementReport Refinement<Exec, Vectors>::operator()(const Times& times, const Solve& solve,
                                                       double a_norm, const Vectors& b,
                                                       Vectors& x, const Policy& policy,
                                                       const Criterion& done,
                                                       InitialGuess guess) {
  comm::Fingerprint arguments;
  arguments << b.distribution() << refine::fingerprint(policy) << std::bit_cast<Index>(a_norm)
            << static_cast<Index>(guess);
  comm::agree_on(b.grid().all(), "refine", arguments.value(), [&] {
    require(b.grid() == x.grid(), "b and x are on different grids");
    require(b.distribution() == x.distribution(), "b and x are not distributed alike");
    require(!r_ || (r_->grid() == b.grid() && r_->distribution() == b.distribution()),
            "b is not distributed as was announced");
    require(&x != &b, "x and b are the same matrix");
    require(policy.valid(), Policy::requirement);
    report_ = {};
    if (b.grid().active()) report_.columns.resize(static_cast<std::size_t>(b.cols()));
  });
  if (!b.grid().active()) return {};
  const std::size_t c = report_.columns.size();
  states_.assign(c, {.n = b.rows(),
                     .epsilon = static_cast<double>(ScalarTraits<T>::epsilon),
                     .a_norm = a_norm});
  active_.assign(c, true);
  broken_.assign(c, false);
  goals_.assign(c, 0.0);
  if (c == 0) return {};
  inf_norms({&b});
  for (std::size_t j = 0; j < c; ++j) states_[j].b_norm = norms_[j];

  if (guess == InitialGuess::none) {
    columns_->copy(b, *r_);
    solve_scaled(solve, norms_);
    factors_.assign(c, T(0));
    columns_->scale(factors_, x, x);
    add(active_ones(), *r_, x);
  }
  const int limit = refine::step_limit(policy);
  const double ratio = refine::stagnation_ratio(policy);
  for (int step = 0; look(times, b, x, ratio, done) && step < limit; ++step)
    correct(times, solve, x, policy);
  return std::move(report_);
}

/// r := b - A x, and what it says of each column; whether any of them is to go on.
template <ExecutionPolicy Exec, class Vectors>
template <class Times, class Criterion>
bool Refinement<Exec, Vectors>::look(const Times& times, const Vectors& b, Vectors& x,
                                     double ratio, const Criterion& done) {
  times(static_cast<const Vectors&>(x), *r_);
  ++report_.products;
  columns_->subtract(b, *r_);
  const std::vector<double>& norms = inf_norms({&*r_, &x});
  decided_.assign(cols(), false);
  for (std::size_t j = 0; j < cols(); ++j) {
    if (!active_[j]) continue;
    states_[j].r_norm = norms[j];
    states_[j].x_norm = norms[cols() + j];
  }
  // The criterion is the caller's: it may throw, or decide differently on one rank. A history that
  // cannot grow is a complaint too.
  comm::Fingerprint decisions;
  const comm::Complaint complaint = comm::complaint_of([&] {
    for (std::size_t j = 0; j < cols(); ++j) {
      if (!active_[j]) continue;
      decided_[j] = !is_nan(states_[j].backward_error()) && done(states_[j]);
      goals_[j] = done.goal(states_[j].n, states_[j].epsilon);
      auto& errors = report_.columns[j].backward_errors;
      if (errors.size() == errors.capacity()) errors.reserve(2 * errors.size() + 8);
    }
  });
  for (std::size_t j = 0; j < cols(); ++j)
    decisions << (decided_[j] ? 1 : 0) << std::bit_cast<Index>(goals_[j]);
  comm::agree(b.grid().all(), "refine: stopping criterion", complaint, decisions.value());

  std::vector<T>& take_back = factors_;
  take_back.assign(cols(), T(0));
  for (std::size_t j = 0; j < cols(); ++j) {
    if (!active_[j]) continue;
    const refine::Verdict verdict =
        refine::judge(report_.columns[j], states_[j].backward_error(), decided_[j], broken_[j],
                      ratio);
    active_[j] = verdict.goes_on;
    if (verdict.take_back) take_back[j] = T(1);
  }
  const auto is_one = [](const T& factor) { return factor != T(0); };
  if (std::any_of(take_back.begin(), take_back.end(), is_one)) {
    // By way of 0, because what is taken back may be infinite.
    scaled_.assign(cols(), T(1));
    for (std::size_t j = 0; j < cols(); ++j)
      if (is_one(take_back[j])) scaled_[j] = T(0);
    columns_->scale(scaled_, x, x);
    columns_->axpy(take_back, *kept_, x);
  }
  return std::find(active_.begin(), active_.end(), true) != active_.end();
}

/// x += M^-1 r.
template <ExecutionPolicy Exec, class Vectors>
template <class Times, class Solve>
void Refinement<Exec, Vectors>::correct(const Times&, const Solve& solve, Vectors& x,
                                        const ClassicalRefinement&) {
  solve_scaled(solve, residual_norms());
  for (std::size_t j = 0; j < cols(); ++j)
    if (active_[j]) ++report_.columns[j].iterations;
  columns_->copy(x, *kept_);
  add(active_ones(), *r_, x);
}

/// x += what a cycle of GMRES makes of r.
template <ExecutionPolicy Exec, class Vectors>
template <class Times, class Solve>
void Refinement<Exec, Vectors>::correct(const Times& times, const Solve& solve, Vectors& x,
                                        const GmresRefinement& policy) {
  solve_scaled(solve, residual_norms());
  // Its size is about 1 / ||A||, whose square may be beyond T.
  scale_residual(inf_norms({&*r_}));
  columns_->copy(x, *kept_);
  tolerance_.assign(cols(), 0.0);
  for (std::size_t j = 0; j < cols(); ++j) {
    if (!active_[j]) continue;
    // Well below what the true residual still wants: the estimate sees M^-1 r.
    const double wanted = goals_[j] / report_.columns[j].backward_error;
    tolerance_[j] = std::max(policy.cycle_tolerance, std::min(0.01 * wanted, 1e-3));
  }
  const std::size_t length = refine::cycle_length(policy, x.rows());
  cycle_(*columns_, times, solve, *r_, active_, tolerance_, length);
  report_.products += cycle_.steps();
  report_.solves += cycle_.steps();
  for (std::size_t j = 0; j < cols(); ++j) {
    if (!active_[j]) continue;
    report_.columns[j].iterations += cycle_.iterations(j);
    broken_[j] = cycle_.is_broken(j);
  }
  for (std::size_t i = 0; i < cycle_.size(); ++i)
    add(cycle_.coefficients(i), cycle_.vector(i), x);
}

}  // namespace plinth
