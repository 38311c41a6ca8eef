// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <optional>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/policy/refinement.hpp"
#include "plinth/refine/column_operations.hpp"
#include "plinth/refine/criterion.hpp"
#include "plinth/refine/least_squares.hpp"
#include "plinth/refine/report.hpp"

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
  using Real = RealOf<T>;  ///< of norms

  /// For right-hand sides like `like`. Two more matrices of its distribution, packed. Collective.
  Refinement(const Exec& exec, const Vectors& like) : exec_(exec), options_(layout_of(like)) {
    options_.align = 1;
    if (!like.grid().active()) return;
    r_.emplace(make(like));
    kept_.emplace(make(like));
    columns_.emplace(exec, like);  // last: what only one rank may lack memory for
  }

  /// Allocates what the policy may come to use: for GMRES restart + 1 matrices, which otherwise are
  /// made when they are needed first. Collective.
  void reserve(const Vectors& like, const RefinementPolicy auto& policy) {
    if (!like.grid().active()) return;
    std::size_t most = 2;
    if constexpr (std::same_as<std::remove_cvref_t<decltype(policy)>, GmresRefinement>) {
      most = std::max(most, cycle_length(policy, like.rows()) + 1);
      while (basis_.size() < cycle_length(policy, like.rows()) + 1) basis_.push_back(make(like));
    }
    columns_->reserve(most);
  }

  /// a_norm: ||A|| in the infinity norm. Collective; one agreement per look at the residual.
  /// Preconditions, each an Error on every rank: b and x dealt as `like` was; x is not b; a valid
  /// policy; the same call on every rank; the criterion decides alike on every rank.
  /// Per classical step: one product, one solve, two allreduces. Per iteration of GMRES: the same;
  /// per cycle one product, one solve and four allreduces more.
  template <class Times, class Solve, RefinementPolicy Policy, StoppingCriterion Criterion>
  RefinementReport operator()(const Times& times, const Solve& solve, double a_norm,
                              const Vectors& b, Vectors& x, const Policy& policy,
                              const Criterion& done, InitialGuess guess = InitialGuess::none);

 private:
  using Flags = std::vector<bool>;

  Vectors make(const Vectors& like) const {
    return Vectors(like.grid(), like.rows(), like.cols(), options_);
  }
  static std::size_t cycle_length(const GmresRefinement& policy, Index n) {
    return static_cast<std::size_t>(std::min<Index>(policy.restart, std::max<Index>(n, 1)));
  }
  static int limit(const NoRefinement&) { return 0; }
  static int limit(const ClassicalRefinement& policy) { return policy.max_steps; }
  static int limit(const GmresRefinement& policy) { return policy.max_cycles; }
  static double stagnation_ratio(const NoRefinement&) { return 1; }
  static double stagnation_ratio(const auto& policy) { return policy.stagnation_ratio; }

  std::size_t cols() const { return states_.size(); }
  static bool any(const Flags& flags) {
    return std::find(flags.begin(), flags.end(), true) != flags.end();
  }
  static Index fingerprint(const NoRefinement&) { return 1; }
  static Index fingerprint(const ClassicalRefinement& p) {
    return (comm::Fingerprint() << 2 << p.max_steps << std::bit_cast<Index>(p.stagnation_ratio))
        .value();
  }
  static Index fingerprint(const GmresRefinement& p) {
    return (comm::Fingerprint() << 3 << p.restart << p.max_cycles
                                << std::bit_cast<Index>(p.cycle_tolerance)
                                << std::bit_cast<Index>(p.stagnation_ratio))
        .value();
  }

  /// r := r times the powers of two that bring its columns, of these norms, into [1, 2), within
  /// what T holds; exponents_ remembers them. Frozen columns become 0.
  void scale_residual(const double* norms) {
    std::vector<T> factors(cols(), T(0));
    constexpr int most = sizeof(Real) == 4 ? 120 : 1000;
    for (std::size_t j = 0; j < cols(); ++j) {
      if (!active_[j]) continue;
      int exponent = 0;
      if (norms[j] > 0 && is_finite(norms[j]))
        exponent = -std::clamp(std::ilogb(norms[j]), -most, most);
      exponents_[j] += exponent;
      factors[j] = T(static_cast<Real>(std::ldexp(1.0, exponent)));
    }
    columns_->scale(factors, *r_, *r_);
  }
  /// r := M^-1 (r scaled).
  template <class Solve>
  void solve_scaled(const Solve& solve, const std::vector<double>& norms) {
    exponents_.assign(cols(), 0);
    scale_residual(norms.data());
    solve(*r_);
    ++report_.solves;
  }
  /// x += (what was made from the scaled right-hand sides) diag(y).
  void add(std::vector<T> y, const Vectors& v, Vectors& x) {
    for (std::size_t j = 0; j < cols(); ++j)
      if (y[j] != T(0)) y[j] *= T(static_cast<Real>(std::ldexp(1.0, -exponents_[j])));
    columns_->axpy(y, v, x);
  }
  std::vector<T> active_ones() const {
    std::vector<T> ones(cols(), T(0));
    for (std::size_t j = 0; j < cols(); ++j)
      if (active_[j]) ones[j] = T(1);
    return ones;
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

  Exec exec_;
  MatrixLayoutOptions options_;
  std::optional<refine::ColumnOperations<Exec, Vectors>> columns_;
  std::optional<Vectors> r_, kept_;  ///< r: the residual, then the correction; kept: x before it
  std::deque<Vectors> basis_;

  RefinementReport report_;
  std::vector<ColumnState> states_;
  Flags active_, broken_;
  std::vector<double> goals_;
  std::vector<int> exponents_;  ///< of the powers of two that r's columns were scaled by
};

template <ExecutionPolicy Exec, class Vectors>
template <class Times, class Solve, RefinementPolicy Policy, StoppingCriterion Criterion>
RefinementReport Refinement<Exec, Vectors>::operator()(const Times& times, const Solve& solve,
                                                       double a_norm, const Vectors& b,
                                                       Vectors& x, const Policy& policy,
                                                       const Criterion& done,
                                                       InitialGuess guess) {
  comm::Fingerprint arguments;
  arguments << b.distribution() << fingerprint(policy) << std::bit_cast<Index>(a_norm)
            << static_cast<Index>(guess);
  comm::agree_on(b.grid().all(), "refine", arguments.value(), [&] {
    require(b.grid() == x.grid(), "b and x are on different grids");
    require(b.distribution() == x.distribution(), "b and x are not distributed alike");
    require(!r_ || (r_->grid() == b.grid() && r_->distribution() == b.distribution()),
            "b is not distributed as was announced");
    require(&x != &b, "x and b are the same matrix");
    require(policy.valid(), Policy::requirement);
  });
  report_ = {};
  if (!b.grid().active()) return report_;
  const auto c = static_cast<std::size_t>(b.cols());
  report_.columns.resize(c);
  states_.assign(c, {.n = b.rows(),
                     .epsilon = static_cast<double>(ScalarTraits<T>::epsilon),
                     .a_norm = a_norm});
  active_.assign(c, true);
  broken_.assign(c, false);
  goals_.assign(c, 0.0);
  if (c == 0) return report_;
  const std::vector<double> b_norms = columns_->inf_norms({&b});
  for (std::size_t j = 0; j < c; ++j) states_[j].b_norm = b_norms[j];

  if (guess == InitialGuess::none) {
    columns_->copy(b, *r_);
    solve_scaled(solve, b_norms);
    columns_->scale(std::vector<T>(c, T(0)), x, x);
    add(active_ones(), *r_, x);
  }
  for (int step = 0; look(times, b, x, stagnation_ratio(policy), done) && step < limit(policy);
       ++step)
    correct(times, solve, x, policy);
  return report_;
}

/// r := b - A x, and what it says of each column; whether any of them is to go on.
template <ExecutionPolicy Exec, class Vectors>
template <class Times, class Criterion>
bool Refinement<Exec, Vectors>::look(const Times& times, const Vectors& b, Vectors& x,
                                     double ratio, const Criterion& done) {
  times(static_cast<const Vectors&>(x), *r_);
  ++report_.products;
  columns_->subtract(b, *r_);
  const std::vector<double> norms = columns_->inf_norms({&*r_, &x});
  std::vector<T> take_back(cols(), T(0));
  Flags decided(cols(), false);
  for (std::size_t j = 0; j < cols(); ++j) {
    if (!active_[j]) continue;
    states_[j].r_norm = norms[j];
    states_[j].x_norm = norms[cols() + j];
  }
  // The criterion is the caller's: it may throw, or decide differently on one rank.
  comm::Fingerprint decisions;
  const comm::Complaint complaint = comm::complaint_of([&] {
    for (std::size_t j = 0; j < cols(); ++j) {
      if (!active_[j]) continue;
      decided[j] = !is_nan(states_[j].backward_error()) && done(states_[j]);
      goals_[j] = done.goal(states_[j].n, states_[j].epsilon);
    }
  });
  for (std::size_t j = 0; j < cols(); ++j)
    decisions << (decided[j] ? 1 : 0) << std::bit_cast<Index>(goals_[j]);
  comm::agree(b.grid().all(), "refine: stopping criterion", complaint, decisions.value());

  for (std::size_t j = 0; j < cols(); ++j) {
    if (!active_[j]) continue;
    ColumnHistory& history = report_.columns[j];
    const double error = states_[j].backward_error();
    const bool first = history.backward_errors.empty();
    const double before = history.backward_error;
    history.backward_errors.push_back(error);
    if (!first && !decided[j] && !(error <= before)) {
      take_back[j] = T(1);
    } else {
      history.backward_error = error;
    }
    active_[j] = false;
    if (is_nan(error) || (broken_[j] && !decided[j])) {
      history.outcome = RefinementOutcome::non_finite;
    } else if (decided[j]) {
      history.outcome = RefinementOutcome::converged;
    } else if (!first && !(error < ratio * before)) {
      history.outcome = RefinementOutcome::stagnated;
    } else {
      history.outcome = RefinementOutcome::iteration_limit;  // unless it goes on
      active_[j] = true;
    }
  }
  const auto is_one = [](const T& factor) { return factor != T(0); };
  if (std::any_of(take_back.begin(), take_back.end(), is_one)) {
    // By way of 0, because what is taken back may be infinite.
    std::vector<T> stay(cols(), T(1));
    for (std::size_t j = 0; j < cols(); ++j)
      if (is_one(take_back[j])) stay[j] = T(0);
    columns_->scale(stay, x, x);
    columns_->axpy(take_back, *kept_, x);
  }
  return any(active_);
}

/// x += M^-1 r.
template <ExecutionPolicy Exec, class Vectors>
template <class Times, class Solve>
void Refinement<Exec, Vectors>::correct(const Times&, const Solve& solve, Vectors& x,
                                        const ClassicalRefinement&) {
  std::vector<double> norms;
  for (const ColumnState& state : states_) norms.push_back(state.r_norm);
  solve_scaled(solve, norms);
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
  const std::size_t c = cols();
  std::vector<double> norms;
  for (const ColumnState& state : states_) norms.push_back(state.r_norm);
  solve_scaled(solve, norms);
  // Its size is about 1 / ||A||, whose square may be beyond T.
  scale_residual(columns_->inf_norms({&*r_}).data());
  columns_->copy(x, *kept_);

  // v_0 := M^-1 r / beta.
  const auto basis_vector = [&](std::size_t i) -> Vectors& {
    while (basis_.size() <= i) basis_.push_back(make(x));
    return basis_[i];
  };
  std::vector<refine::HessenbergLeastSquares<T>> problems(c);
  typename refine::ColumnOperations<Exec, Vectors>::List v;
  std::vector<T> factors(c, T(0));
  std::vector<double> tolerance(c, 0.0);
  Flags running = active_;
  const auto squares = columns_->dots({&*r_}, *r_);
  for (std::size_t j = 0; j < c; ++j) {
    if (!running[j]) continue;
    const double beta = std::sqrt(refine::real_part(squares[j]));
    broken_[j] = !is_finite(beta);
    running[j] = is_finite(beta) && beta > 0;
    problems[j].begin(running[j] ? beta : 0);
    factors[j] = running[j] ? T(static_cast<Real>(1 / beta)) : T(0);
    // Well below what the true residual still wants: the estimate sees M^-1 r.
    const double wanted = goals_[j] / report_.columns[j].backward_error;
    tolerance[j] = beta * std::max(policy.cycle_tolerance, std::min(0.01 * wanted, 1e-3));
  }
  columns_->scale(factors, *r_, basis_vector(0));
  v.push_back(&basis_vector(0));

  const std::size_t length = cycle_length(policy, x.rows());
  while (v.size() <= length && any(running)) {
    Vectors& w = basis_vector(v.size());
    times(*v.back(), w);
    solve(w);
    ++report_.products;
    ++report_.solves;
    // Classical Gram-Schmidt, twice; the second pass brings the norm of w along.
    const auto subtract = [&](const std::vector<T>& products) {
      for (std::size_t i = 0; i < v.size(); ++i) {
        for (std::size_t j = 0; j < c; ++j) factors[j] = running[j] ? -products[i * c + j] : T(0);
        columns_->axpy(factors, *v[i], w);
      }
    };
    const std::vector<T> first = columns_->dots(v, w);
    subtract(first);
    v.push_back(&w);
    const std::vector<T> second = columns_->dots(v, w);
    v.pop_back();
    subtract(second);

    for (std::size_t j = 0; j < c; ++j) {
      factors[j] = T(0);
      if (!running[j]) continue;
      ++report_.columns[j].iterations;
      std::vector<T> h(v.size() + 1);
      double length2 = refine::real_part(second[v.size() * c + j]), before2 = length2;
      for (std::size_t i = 0; i < v.size(); ++i) {
        const T more = second[i * c + j];
        h[i] = first[i * c + j] + more;
        length2 -= refine::real_part(conjugate(more) * more);
        before2 += refine::real_part(conjugate(h[i]) * h[i]);
      }
      // A remainder at the level of rounding errors means that w adds nothing new.
      const double u = static_cast<double>(ScalarTraits<T>::epsilon);
      if (length2 <= 100 * u * u * before2) length2 = 0;
      const double norm = std::sqrt(length2);
      h.back() = T(static_cast<Real>(norm));
      const double left = problems[j].append(std::move(h));
      running[j] = false;
      if (!is_finite(norm) || !is_finite(left) || !is_finite(before2)) {
        problems[j].drop_last();
        broken_[j] = true;
      } else if (norm > 0 && left > tolerance[j]) {
        running[j] = true;
        factors[j] = T(static_cast<Real>(1 / norm));
      }
    }
    columns_->scale(factors, w, w);
    v.push_back(&w);
  }

  std::vector<std::vector<T>> y(c);
  for (std::size_t j = 0; j < c; ++j) y[j] = problems[j].solve();
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (std::size_t j = 0; j < c; ++j) factors[j] = i < y[j].size() ? y[j][i] : T(0);
    add(factors, *v[i], x);
  }
}

}  // namespace plinth
