// SPDX-License-Identifier: BSD-3-Clause
//
// Sound meets a soft cylinder: mpirun -n 2 scattering scattering.png
//
// A plane wave u_in = exp(i k x) meets a cylinder of radius 1 on which the pressure is zero.
// Outside, with G(x, y) = (i/4) H_0(k |x - y|) and the unknown psi = du/dn on the circle,
//
//   u(x) = u_in(x) - integral over the circle of G(x, y) psi(y)
//   psi/2 + K' psi - i k S psi = du_in/dn - i k u_in,
//
// S having the kernel G, and K' its derivative along the normal at x (Burton and Miller 1971: one
// solution at every k). At N points of the circle the second line is a dense complex system. The
// kernels have a logarithm where x meets y; Kress's rule (1991) integrates that part exactly, so
// the error falls faster than any power of N.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <plinth/plinth.hpp>
#include <vector>

#include "png.hpp"

using Complex = std::complex<double>;
constexpr double pi = std::numbers::pi;
constexpr int points = 256;         // N, even
constexpr double wave_number = 12;  // twelve waves around the circle
constexpr Complex I(0, 1), ik(0, wave_number);

double angle(plinth::Index i) { return 2 * pi * static_cast<double>(i) / points; }

// Weight of Kress's rule for integrals with the factor ln(4 sin^2(t/2)), t = angle(m).
double kress_weight(plinth::Index m) {
  double sum = (m % 2 == 0 ? 1.0 : -1.0) / points;
  for (int l = 1; l < points / 2; ++l) sum += std::cos(l * angle(m)) / l;
  return -4 * pi / points * sum;
}

// The matrix, times two: what the logarithm is multiplied with by that rule, the rest as a sum.
Complex entry(plinth::Index i, plinth::Index j) {
  const double r = 2 * std::abs(std::sin(angle(i - j) / 2)), z = wave_number * r;
  constexpr double n = points;
  const Complex h0(::j0(z), ::y0(z)), h1(::j1(z), ::y1(z)), log = z * ::j1(z) / 2 + ik * ::j0(z);
  if (i != j)
    return kress_weight(i - j) * log / (2 * pi) +
           (pi * (wave_number * h0 - I * z / 2.0 * h1) - log * std::log(r * r)) / n;
  const double gamma = std::numbers::egamma + std::log(wave_number / 2);  // the limit for z = 0
  return 1.0 + kress_weight(0) * ik / (2 * pi) - (1.0 + ik * (I * pi - 2 * gamma)) / n;
}

// psi by its Fourier series.
Complex exact(double t) {
  Complex sum = 0, power = 1;  // i^n
  for (int n = 0; n < wave_number + 30; ++n, power *= I)
    sum += (n == 0 ? 1.0 : 2.0) * power * std::cos(n * t) /
           Complex(::jn(n, wave_number), ::yn(n, wave_number));
  return -2.0 * I / pi * sum;
}

Complex total_field(double x, double y, const std::vector<Complex>& psi) {
  if (std::hypot(x, y) < 1) return 0;
  Complex sum = 0;
  for (int j = 0; j < points; ++j) {
    const double z = wave_number * std::hypot(x - std::cos(angle(j)), y - std::sin(angle(j)));
    sum += psi[j] * Complex(::j0(z), ::y0(z));
  }
  return std::exp(ik * x) - I / 4.0 * (2 * pi / points) * sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  bool good = false;
  {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks});
    const plinth::HostExecution<> exec;
    using Matrix = plinth::DistributedMatrix<Kokkos::complex<double>>;

    Matrix a(grid, points, points), b(grid, points, 1), x(grid, points, 1);
    plinth::generate(exec, a, entry);
    plinth::generate(exec, b, [](auto i, auto) {
      return 2.0 * ik * (std::cos(angle(i)) - 1) * std::exp(ik * std::cos(angle(i)));
    });
    const auto report = plinth::solve(exec, a, b, x);

    // The answer on every rank, and how far it is from the series.
    std::vector<Complex> psi(points);
    plinth::to_replicated(exec, x, psi.data(), points);
    double error = 0;
    for (int j = 0; j < points; ++j)
      error = std::max(error, std::abs(psi[j] - exact(angle(j))) / wave_number);
    good = report && error < 1e-12;
    // A picture of the field: every rank computes its part of the pixels, one writes them.
    const int width = 384, height = 256;
    Matrix field(grid, height, width);
    plinth::generate(exec, field, [&](auto row, auto col) {
      return total_field((col + 0.5) / 64 - 3, 2 - (row + 0.5) / 64, psi);
    });
    std::vector<Complex> u(width * height);
    plinth::gather_to(exec, field, 0, u.data(), height);
    if (grid.coord() == plinth::GridCoord{0, 0}) {
      std::printf("%s; error against the series %.1e\n", to_string(report.outcome), error);
      // It is symmetric: above the axis its real part at one moment, below it the amplitude.
      const Picture picture(width, height, [&](int row, int col) {
        const Complex here = u[col * height + row];
        if (here == 0.0) return Picture::Colour{70, 74, 84};  // the cylinder
        return row < height / 2 ? blue_white_red(here.real() / 2)
                                : night_to_light(std::abs(here) / 2.2);
      });
      const char* const path = argc > 1 ? argv[1] : "scattering.png";
      if (!picture.save(path)) {
        std::fprintf(stderr, "scattering: %s could not be written\n", path);
        good = false;
      }
    }
  }
  Kokkos::finalize();
  MPI_Finalize();
  return good ? 0 : 1;
}
