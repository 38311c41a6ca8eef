// SPDX-License-Identifier: BSD-3-Clause
//
// LAPACK's answers for whole matrices, to compare with: one name for its four types.
#pragma once

#include <string>
#include <vector>

#include "support/problems.hpp"

#define PLINTH_TEST_LAPACK(LETTER, T, REAL)                                                      \
  extern "C" {                                                                                   \
  void LETTER##getrf_(const int* m, const int* n, T* a, const int* lda, int* ipiv, int* info);   \
  void LETTER##getrs_(const char* op, const int* n, const int* nrhs, const T* a, const int* lda, \
                      const int* ipiv, T* b, const int* ldb, int* info);                         \
  void LETTER##getri_(const int* n, T* a, const int* lda, const int* ipiv, T* work,              \
                      const int* lwork, int* info);                                              \
  void LETTER##geequ_(const int* m, const int* n, const T* a, const int* lda, REAL* r, REAL* c,  \
                      REAL* rowcnd, REAL* colcnd, REAL* amax, int* info);                        \
  }                                                                                              \
  namespace plinth_test::lapack {                                                                \
  inline void getrf(int n, T* a, int* ipiv, int* info) {                                         \
    const int lda = n > 0 ? n : 1;                                                               \
    LETTER##getrf_(&n, &n, a, &lda, ipiv, info);                                                 \
  }                                                                                              \
  inline void getrs(char op, int n, int nrhs, const T* a, const int* ipiv, T* b, int* info) {    \
    const int ld = n > 0 ? n : 1;                                                                \
    LETTER##getrs_(&op, &n, &nrhs, a, &ld, ipiv, b, &ld, info);                                  \
  }                                                                                              \
  inline void getri(int n, T* a, const int* ipiv, T* work, int lwork, int* info) {               \
    const int lda = n > 0 ? n : 1;                                                               \
    LETTER##getri_(&n, a, &lda, ipiv, work, &lwork, info);                                       \
  }                                                                                              \
  inline void geequ(int n, const T* a, REAL* r, REAL* c, REAL* row, REAL* col, REAL* largest,    \
                    int* info) {                                                                 \
    const int lda = n > 0 ? n : 1;                                                               \
    LETTER##geequ_(&n, &n, a, &lda, r, c, row, col, largest, info);                              \
  }                                                                                              \
  }

PLINTH_TEST_LAPACK(d, double, double)
PLINTH_TEST_LAPACK(s, float, float)
PLINTH_TEST_LAPACK(z, Kokkos::complex<double>, double)
PLINTH_TEST_LAPACK(c, Kokkos::complex<float>, float)
#undef PLINTH_TEST_LAPACK

// The work space of complex numbers is real.
#define PLINTH_TEST_LAPACK(LETTER, T, REAL, WORK)                                                \
  extern "C" {                                                                                   \
  void LETTER##gecon_(const char* norm, const int* n, const T* a, const int* lda,                \
                      const REAL* anorm, REAL* rcond, T* work, WORK* more, int* info);           \
  void LETTER##gerfs_(const char* op, const int* n, const int* nrhs, const T* a, const int* lda, \
                      const T* af, const int* ldaf, const int* ipiv, const T* b, const int* ldb, \
                      T* x, const int* ldx, REAL* ferr, REAL* berr, T* work, WORK* more,         \
                      int* info);                                                                \
  }                                                                                              \
  namespace plinth_test::lapack {                                                                \
  inline REAL gecon(char norm, int n, const T* a, REAL anorm) {                                  \
    const int lda = n > 0 ? n : 1;                                                               \
    std::vector<T> work(static_cast<std::size_t>(4 * n + 1));                                    \
    std::vector<WORK> more(static_cast<std::size_t>(2 * n + 1));                                 \
    REAL rcond = -1;                                                                             \
    int info = -1;                                                                               \
    LETTER##gecon_(&norm, &n, a, &lda, &anorm, &rcond, work.data(), more.data(), &info);         \
    return rcond;                                                                                \
  }                                                                                              \
  inline void gerfs(int n, int nrhs, const T* a, const T* af, const int* ipiv, const T* b, T* x, \
                    REAL* ferr, REAL* berr) {                                                    \
    const int ld = n > 0 ? n : 1;                                                                \
    const char op = 'N';                                                                         \
    std::vector<T> work(static_cast<std::size_t>(3 * n + 1));                                    \
    std::vector<WORK> more(static_cast<std::size_t>(n + 1));                                     \
    int info = -1;                                                                               \
    LETTER##gerfs_(&op, &n, &nrhs, a, &ld, af, &ld, ipiv, b, &ld, x, &ld, ferr, berr,            \
                   work.data(), more.data(), &info);                                             \
  }                                                                                              \
  }

PLINTH_TEST_LAPACK(d, double, double, int)
PLINTH_TEST_LAPACK(s, float, float, int)
PLINTH_TEST_LAPACK(z, Kokkos::complex<double>, double, double)
PLINTH_TEST_LAPACK(c, Kokkos::complex<float>, float, float)
#undef PLINTH_TEST_LAPACK

namespace plinth_test {

/// What LAPACK's getrf makes of a matrix that is not singular.
template <class T>
struct Getrf {
  Dense<T> lu;
  std::vector<int> pivots;  ///< counted from 1
  explicit Getrf(const Dense<T>& a) : lu(a), pivots(static_cast<std::size_t>(a.rows) + 1) {
    int info = -1;
    lapack::getrf(static_cast<int>(a.rows), lu.data.data(), pivots.data(), &info);
    REQUIRE(info == 0);
  }
  Dense<T> inverse() const {
    Dense<T> x(lu.rows, lu.rows);
    for (Index i = 0; i < lu.rows; ++i) x(i, i) = T(1);
    int info = -1;
    lapack::getrs('N', static_cast<int>(lu.rows), static_cast<int>(lu.rows), lu.data.data(),
                  pivots.data(), x.data.data(), &info);
    return x;
  }
};

}  // namespace plinth_test
