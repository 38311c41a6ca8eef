// SPDX-License-Identifier: BSD-3-Clause
#include "support/instances.hpp"

PLINTH_TEST_INSTANCES(, double, Kokkos::LayoutRight);

template void plinth::lu::back_substitute(
    const plinth_test::Exec&, const plinth_test::TestMatrix<double, Kokkos::LayoutRight>&,
    plinth_test::TestMatrix<double, Kokkos::LayoutRight>&);

namespace plinth_test {

template <class T, class Layout>
plinth::lu::PanelOutcome factor_travelling(const Exec& exec, TestMatrix<T, Layout>& a,
                                           plinth::lu::FactorOptions options) {
  options.keep_l = plinth::lu::KeepL::no;
  if (!a.grid().active()) return {};
  plinth::trace::Off off;
  plinth::lu::Factorization<TestMatrix<T, Layout>, Exec> factorization(
      exec, a.grid(), a.distribution(), options, off);
  plinth::lu::Pivots pivots(a.distribution().rows, a.grid().coord().row);
  return factorization(a, pivots);
}
template plinth::lu::PanelOutcome factor_travelling(const Exec&,
                                                    TestMatrix<double, Kokkos::LayoutRight>&,
                                                    plinth::lu::FactorOptions);

}  // namespace plinth_test
