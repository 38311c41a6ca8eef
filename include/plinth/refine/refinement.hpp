// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
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
  using Real = RealOf<T>;                  ///< of norms

  /// For right-hand sides like `like`. Two more matrices of its distribution, packed, and what is
  /// kept per column. Collective. Errors, on every rank: enough memory.
  Refinement(const Exec& exec, const Vectors& like) : exec_(exec), options_(layout_of(like)) {
    options_.align = 1;
    if (!like.grid().active()) return;
    r_.emplace(make(like));
    kept_.emplace(make(like));
    comm::agree_on(like.grid().all(), "refine", 0, [&] {
      columns_.emplace(exec, like);
      prepare_columns(static_cast<std::size_t>(like.cols()));
      prepare_lists(2);
    });
    prepared_ = 2;
  }

  /// Allocates what the policy may come to use: for GMRES restart + 1 matrices, which otherwise are
  /// made when they are needed first. Collective. Errors as above.
  void reserve(const Vectors& like, const RefinementPolicy auto& policy) {
    if (!like.grid().active()) return;
    if constexpr (std::same_as<std::remove_cvref_t<decltype(policy)>, GmresRefinement>) {
      const std::size_t most = cycle_length(policy, like.rows()) + 1;
      grow(like, most, most);
      for (std::size_t i = 0; i < most; ++i) basis_vector(i, like);
    }
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

  /// Room for what there is of each column. Not collective.
  void prepare_columns(std::size_t c) {
    states_.reserve(c);
    goals_.reserve(c);
    exponents_.reserve(c);
    tolerance_.reserve(c);
    norms_.reserve(2 * c);
    for (auto* flags : {&active_, &broken_, &running_, &decided_}) flags->reserve(c);
    for (auto* numbers : {&factors_, &scaled_}) numbers->reserve(c);
    problems_.resize(c);
  }
  /// Room for lists of so many matrices, and what goes with them. Not collective.
  void prepare_lists(std::size_t list) {
    const std::size_t c = problems_.size();
    columns_->reserve(list);
    basis_.resize(std::max(basis_.size(), list));
    v_.reserve(list);
    h_.reserve(list + 1);
    for (auto* products : {&first_, &second_}) products->reserve(list * c);
    for (auto& problem : problems_) problem.reserve(list);
  }
  /// Makes room for lists of `list` matrices, and some more up to `most`. Collective.
  void grow(const Vectors& like, std::size_t list, std::size_t most) {
    if (list <= prepared_) return;
    const std::size_t room = std::max(list, std::min({2 * prepared_, list + 16, most}));
    // What counts as prepared is the same on every rank, or some would ask the others in vain.
    comm::agree_on(like.grid().all(), "refine", 0, [&] { prepare_lists(room); });
    prepared_ = room;
    for (std::size_t i = 0; i < v_.size(); ++i) v_[i] = &*basis_[i];  // they have moved
  }
  /// Collective where there is none yet.
  Vectors& basis_vector(std::size_t i, const Vectors& like) {
    if (!basis_[i]) basis_[i].emplace(make(like));
    return *basis_[i];
  }

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

  Exec exec_;
  MatrixLayoutOptions options_;
  std::optional<refine::ColumnOperations<Exec, Vectors>> columns_;
  std::optional<Vectors> r_, kept_;  ///< r: the residual, then the correction; kept: x before it
  std::vector<std::optional<Vectors>> basis_;

  RefinementReport report_;
  std::vector<ColumnState> states_;
  Flags active_, broken_;
  std::vector<double> goals_;
  std::vector<int> exponents_;  ///< of the powers of two that r's columns were scaled by

  // What a step works with, allocated beforehand: nothing may fail on one rank between messages.
  std::size_t prepared_ = 0;  ///< for lists of so many matrices
  Flags running_, decided_;
  std::vector<double> norms_, tolerance_;
  std::vector<T> factors_, scaled_, first_, second_, h_;
  std::vector<refine::HessenbergLeastSquares<T>> problems_;
  std::vector<const Vectors*> v_;
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
  for (int step = 0; look(times, b, x, stagnation_ratio(policy), done) && step < limit(policy);
       ++step)
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
    ColumnHistory& history = report_.columns[j];
    const double error = states_[j].backward_error();
    const bool first = history.backward_errors.empty();
    const double before = history.backward_error;
    history.backward_errors.push_back(error);
    if (!first && !decided_[j] && !(error <= before)) {
      take_back[j] = T(1);
    } else {
      history.backward_error = error;
    }
    active_[j] = false;
    if (is_nan(error) || (broken_[j] && !decided_[j])) {
      history.outcome = RefinementOutcome::non_finite;
    } else if (decided_[j]) {
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
    scaled_.assign(cols(), T(1));
    for (std::size_t j = 0; j < cols(); ++j)
      if (is_one(take_back[j])) scaled_[j] = T(0);
    columns_->scale(scaled_, x, x);
    columns_->axpy(take_back, *kept_, x);
  }
  return any(active_);
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
  const std::size_t c = cols();
  solve_scaled(solve, residual_norms());
  // Its size is about 1 / ||A||, whose square may be beyond T.
  scale_residual(inf_norms({&*r_}));
  columns_->copy(x, *kept_);

  // v_0 := M^-1 r / beta.
  auto& v = v_;
  v.clear();
  factors_.assign(c, T(0));
  tolerance_.assign(c, 0.0);
  running_ = active_;
  const std::array<const Vectors*, 1> residual{&*r_};
  columns_->dots(residual, *r_, first_);
  for (std::size_t j = 0; j < c; ++j) {
    problems_[j].begin(0);
    if (!running_[j]) continue;
    const double beta = std::sqrt(refine::real_part(first_[j]));
    broken_[j] = !is_finite(beta);
    running_[j] = is_finite(beta) && beta > 0;
    if (running_[j]) {
      problems_[j].begin(beta);
      factors_[j] = T(static_cast<Real>(1 / beta));
    }
    // Well below what the true residual still wants: the estimate sees M^-1 r.
    const double wanted = goals_[j] / report_.columns[j].backward_error;
    tolerance_[j] = beta * std::max(policy.cycle_tolerance, std::min(0.01 * wanted, 1e-3));
  }
  columns_->scale(factors_, *r_, basis_vector(0, x));
  v.push_back(&*basis_[0]);

  const std::size_t length = cycle_length(policy, x.rows());
  while (v.size() <= length && any(running_)) {
    grow(x, v.size() + 1, length + 1);
    Vectors& w = basis_vector(v.size(), x);
    times(*v.back(), w);
    solve(w);
    ++report_.products;
    ++report_.solves;
    // Classical Gram-Schmidt, twice; the second pass brings the norm of w along.
    const auto subtract = [&](const std::vector<T>& products) {
      for (std::size_t i = 0; i < v.size(); ++i) {
        for (std::size_t j = 0; j < c; ++j)
          factors_[j] = running_[j] ? -products[i * c + j] : T(0);
        columns_->axpy(factors_, *v[i], w);
      }
    };
    columns_->dots(v, w, first_);
    subtract(first_);
    v.push_back(&w);
    columns_->dots(v, w, second_);
    v.pop_back();
    subtract(second_);

    for (std::size_t j = 0; j < c; ++j) {
      factors_[j] = T(0);
      if (!running_[j]) continue;
      ++report_.columns[j].iterations;
      h_.assign(v.size() + 1, T(0));
      double length2 = refine::real_part(second_[v.size() * c + j]), before2 = length2;
      for (std::size_t i = 0; i < v.size(); ++i) {
        const T more = second_[i * c + j];
        h_[i] = first_[i * c + j] + more;
        length2 -= refine::real_part(conjugate(more) * more);
        before2 += refine::real_part(conjugate(h_[i]) * h_[i]);
      }
      // A remainder at the level of rounding errors means that w adds nothing new.
      const double u = static_cast<double>(ScalarTraits<T>::epsilon);
      if (length2 <= 100 * u * u * before2) length2 = 0;
      const double norm = std::sqrt(length2);
      h_.back() = T(static_cast<Real>(norm));
      const double left = problems_[j].append(h_);
      running_[j] = false;
      if (!is_finite(norm) || !is_finite(left) || !is_finite(before2)) {
        problems_[j].drop_last();
        broken_[j] = true;
      } else if (norm > 0 && left > tolerance_[j]) {
        running_[j] = true;
        factors_[j] = T(static_cast<Real>(1 / norm));
      }
    }
    columns_->scale(factors_, w, w);
    v.push_back(&w);
  }

  for (auto& problem : problems_) problem.solve();
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (std::size_t j = 0; j < c; ++j) {
      const std::vector<T>& y = problems_[j].solution();
      factors_[j] = i < y.size() ? y[i] : T(0);
    }
    add(factors_, *v[i], x);
  }
}

}  // namespace plinth
