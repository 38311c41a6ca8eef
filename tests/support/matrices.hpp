// SPDX-License-Identifier: BSD-3-Clause
//
// The matrices that a factorization must be able to deal with, as a table.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/problems.hpp"

namespace plinth_test {

template <class T>
struct NamedMatrix {
  std::string name;
  Dense<T> a;
  bool unpivoted = false;  ///< LU without interchanges is stable
  Index zero = -1;       ///< column of the first zero pivot, however pivots are picked; -1: none
  Index nonfinite = -1;  ///< column of a NaN or an infinite entry; -1: none
};

/// H D G with D = diag(1, ..., 1 / condition) in geometric steps, H and G reflections.
template <class T>
Dense<T> with_condition(Index n, double condition) {
  const auto reflection = [n](std::uint64_t seed) {
    std::vector<double> v(static_cast<std::size_t>(n));
    double norm = 0;
    for (Index i = 0; i < n; ++i) {
      v[static_cast<std::size_t>(i)] = noise(i, 0, seed);
      norm += v[static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(i)];
    }
    for (double& entry : v) entry /= std::sqrt(norm);
    return v;
  };
  const auto h = reflection(31), g = reflection(32);
  const auto d = [=](Index k) {
    return n > 1 ? std::pow(condition, -static_cast<double>(k) / static_cast<double>(n - 1)) : 1;
  };
  double cross = 0;  // h' D g
  for (std::size_t k = 0; k < h.size(); ++k) cross += h[k] * d(static_cast<Index>(k)) * g[k];
  return make_dense<T>(n, n, [&](Index i, Index j) {
    const auto p = static_cast<std::size_t>(i), q = static_cast<std::size_t>(j);
    return static_cast<T>(
        static_cast<plinth::RealOf<T>>((i == j ? d(i) : 0) - 2 * h[p] * h[q] * d(j) -
                                       2 * d(i) * g[p] * g[q] + 4 * h[p] * cross * g[q]));
  });
}

/// Every matrix of the table, of order n.
template <class T>
std::vector<NamedMatrix<T>> named_matrices(Index n) {
  using Real = plinth::RealOf<T>;
  constexpr bool is_complex = plinth::ScalarTraits<T>::is_complex;
  constexpr double unit = static_cast<double>(plinth::ScalarTraits<T>::epsilon);
  constexpr int far = std::is_same_v<Real, double> ? 960 : 100;
  std::vector<NamedMatrix<T>> all;
  const auto add = [&](std::string name, const auto& entry, NamedMatrix<T> facts) {
    facts.name = std::move(name);
    facts.a = make_dense<T>(n, n, [&](Index i, Index j) { return static_cast<T>(entry(i, j)); });
    all.push_back(std::move(facts));
  };
  const NamedMatrix<T> plain{{}, Dense<T>(0, 0)};
  auto stable = plain;
  stable.unpivoted = true;
  const auto real = [](double x) { return static_cast<Real>(x); };
  const auto random = [](Index i, Index j) { return noise_as<T>(i, j, 17); };
  const auto scaled = [=](int exponent, const auto& entry) {
    return [=](Index i, Index j) { return entry(i, j) * real(std::ldexp(1.0, exponent)); };
  };
  const double size = static_cast<double>(n);
  const double pi = std::acos(-1.0);

  add(
      "identity", [=](Index i, Index j) { return real(i == j); }, stable);
  add(
      "anti-identity", [=](Index i, Index j) { return real(i + j == n - 1); }, plain);
  all.push_back(plain);
  all.back().name = "permutation";
  all.back().a = permutation_matrix<T>(shuffled(n, 5)).a;
  all.push_back(plain);
  all.back().name = "powers of two";
  all.back().a = powers_of_two<T>(n, 6).a;
  add(
      "Fasi-Higham",
      [=](Index i, Index j) {
        const double a = 1.0 / 16, b = 1.0 / 8;
        const double inner = a * b * static_cast<double>(std::min(i, j));
        return real(inner + (i == j ? 1 : i > j ? -a : -b));
      },
      stable);
  add("uniform", random, plain);
  if (n > 8)  // the small ones of this kind are singular
    add(
        "signs", [=](Index i, Index j) { return real(noise(i, j, 8) < 0 ? -1 : 1); }, plain);
  add(
      "row-dominant", [=](Index i, Index j) { return i == j ? T(real(size)) : random(i, j); },
      stable);
  add(
      "growth",
      [=](Index i, Index j) {
        return real(i == j || j == n - 1 ? 1 : i > j ? -0.125 : 0);
      },
      plain);
  add(
      "Hilbert", [=](Index i, Index j) { return real(1.0 / static_cast<double>(i + j + 1)); },
      plain);
  add(
      "Kahan",
      [=](Index i, Index j) {
        const double s = std::pow(std::sin(1.2), static_cast<double>(i));
        return real(i == j ? s : i < j ? -std::cos(1.2) * s : 0);
      },
      stable);
  add(
      "orthogonal",
      [=](Index i, Index j) {
        return real(std::sqrt(2 / (size + 1)) *
                    std::sin(static_cast<double>((i + 1) * (j + 1)) * pi / (size + 1)));
      },
      plain);
  for (const double condition : {1 / std::sqrt(unit), 0.1 / unit, 10 / unit}) {
    all.push_back(plain);
    all.back().name = "condition " + std::to_string(condition);
    all.back().a = with_condition<T>(n, condition);
  }
  add("near underflow", scaled(-far, random), plain);
  add("near overflow", scaled(far, random), plain);
  add("beyond FP16's range", scaled(20, random), plain);
  add(
      "badly scaled rows",
      [=](Index i, Index j) {
        return random(i, j) * real(std::ldexp(1.0, -3 * static_cast<int>(i % 16)));
      },
      plain);
  add(
      "badly scaled columns",
      [=](Index i, Index j) {
        return random(i, j) * real(std::ldexp(1.0, 3 * static_cast<int>(j % 16)));
      },
      plain);
  if constexpr (is_complex)
    add(
        "imaginary", [=](Index i, Index j) { return T(0, real(noise(i, j, 9))); }, plain);

  // Exactly singular ones.
  const auto singular = [&](Index column, bool holds = true) {
    auto facts = plain;
    facts.zero = holds ? column : -1;
    return facts;
  };
  add(
      "zeros", [=](Index, Index) { return real(0); }, singular(0));
  add(
      "ones", [=](Index, Index) { return real(1); }, singular(1, n > 1));
  for (const Index column : {Index(0), n / 2, n - 1})
    add(
        "zero column " + std::to_string(column),
        [=](Index i, Index j) { return j == column ? T(0) : random(i, j); }, singular(column));
  add(
      "zero row", [=](Index i, Index j) { return i == n / 3 ? T(0) : random(i, j); },
      singular(n - 1));

  // A single bad number, which one rank alone has.
  struct Bad {
    Index i, j;
    double value;
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const Bad bad : {Bad{0, 0, nan}, Bad{n - 1, n - 1, nan}, Bad{n / 2, n / 3, nan},
                        Bad{n - 1, 0, infinite}, Bad{n / 3, n / 2, -infinite}}) {
    auto facts = plain;
    facts.nonfinite = bad.j;
    add(
        "entry (" + std::to_string(bad.i) + ", " + std::to_string(bad.j) + ") is " +
            std::to_string(bad.value),
        [=](Index i, Index j) {
          return i == bad.i && j == bad.j ? T(real(bad.value)) : random(i, j);
        },
        facts);
  }
  return all;
}

}  // namespace plinth_test
