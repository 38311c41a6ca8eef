// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices in files: binary and Matrix Market. Bad files are Errors of kind file on every rank.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::ErrorKind;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;

namespace {

using Complex = Kokkos::complex<double>;
using Real = TestMatrix<double, LayoutRight>;

/// A folder for this run's files, the same on all ranks; gone at the end.
class Folder {
 public:
  Folder() {
    int process = static_cast<int>(getpid());
    MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
    path_ = std::filesystem::temp_directory_path() / ("plinth_files_" + std::to_string(process));
    std::filesystem::create_directories(path_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Folder() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (world_rank() == 0) std::filesystem::remove_all(path_, ignored);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// A file with this text, seen by all ranks.
  std::string with(const std::string& text) const {
    if (world_rank() == 0) std::ofstream(file("text"), std::ios::binary) << text;
    MPI_Barrier(MPI_COMM_WORLD);
    return file("text");
  }

 private:
  std::filesystem::path path_;
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Writes on one grid, reads on another.
template <class T, class Layout>
void there_and_back(Index m, Index n) {
  const Folder folder;
  for (const auto shape : grids(world_size())) {
    INFO(m << " x " << n << " on " << shape.rows << "x" << shape.cols);
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    const ProcessGrid other(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
    TestMatrix<T, Layout> a(grid, m, n, {64, 48, shape.rows - 1, shape.cols - 1});
    TestMatrix<T, Layout> b(other, m, n, {32, 80});
    plinth::generate(Exec(), a, [](Index i, Index j) noexcept { return known_entry<T>(i, j); });
    const auto clear = [&] {
      MPI_Barrier(MPI_COMM_WORLD);  // idle ranks do not wait for a file
      plinth::generate(Exec(), b, [](Index, Index) noexcept { return T(3); });
    };
    const std::string binary = folder.file("binary"), text = folder.file("matrix.mtx");
    plinth::write_binary(Exec(), a, binary);
    clear();
    const auto info = plinth::binary_info(grid, binary);
    CHECK(info.scalar == plinth::file_scalar<T>());
    CHECK(info.rows == m);
    CHECK(info.cols == n);
    plinth::read_binary(Exec(), binary, b);
    CHECK(wrong_entries(b) == 0);
    plinth::write_matrix_market(Exec(), a, text);
    clear();
    const auto market = plinth::matrix_market_info(grid, text);
    CHECK((market.rows == m && market.cols == n));
    plinth::read_matrix_market(Exec(), text, b);
    CHECK(wrong_entries(b) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

TEST_CASE("files: there and back", "[files]") {
  for (const auto& [m, n] : {std::pair<Index, Index>{0, 3}, {3, 0}, {1, 1}, {130, 99}})
    there_and_back<double, LayoutRight>(m, n);
  there_and_back<Complex, LayoutLeft>(90, 70);
  there_and_back<float, LayoutRight>(9, 5);
  there_and_back<Kokkos::complex<float>, LayoutRight>(5, 9);
}

TEST_CASE("files: several slabs of columns", "[files]") {
  const Folder folder;
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{world_size(), 1});
  const std::string path = folder.file("matrix");
  const auto fill = [](Real& a) {
    plinth::generate(Exec(), a,
                     [](Index i, Index j) noexcept { return known_entry<double>(i, j); });
  };
  const auto clear = [](Real& a) {
    plinth::generate(Exec(), a, [](Index, Index) noexcept { return 3.0; });
  };
  const Index rows = 60000, width = 8;  // 4 MiB
  Real a(grid, rows, width * world_size() + 3, {64, 2});
  fill(a);
  plinth::write_binary(Exec(), a, path);
  clear(a);
  plinth::read_binary(Exec(), path, a);
  CHECK(wrong_entries(a) == 0);
  Real b(grid, rows, width + 1, {64, 2});
  fill(b);
  plinth::write_matrix_market(Exec(), b, path);
  clear(b);
  plinth::read_matrix_market(Exec(), path, b);
  CHECK(wrong_entries(b) == 0);

  // What is wrong with the last column is seen before the first one is stored.
  const auto cut = [&](const std::string& message, auto&& read) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0)
      std::filesystem::resize_file(path, std::filesystem::file_size(path) - 40);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_THAT(error_of(read, ErrorKind::file), contains(message));
  };
  clear(b);
  cut("too few elements", [&] { plinth::read_matrix_market(Exec(), path, b); });
  CHECK(plinth::norm(Exec(), b, plinth::Norm::inf) == 3 * static_cast<double>(b.cols()));
  plinth::write_binary(Exec(), a, path);
  clear(a);
  cut("bytes instead of", [&] { plinth::read_binary(Exec(), path, a); });
  CHECK(plinth::norm(Exec(), a, plinth::Norm::inf) == 3 * static_cast<double>(a.cols()));
}

TEST_CASE("files: the bytes are those that are documented", "[files]") {
  const Folder folder;
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  Real a(grid, 3, 2, {1, 1});
  plinth::generate(Exec(), a, [](Index i, Index j) noexcept {
    return i == 2 && j == 1 ? -0.1 : static_cast<double>(10 * i + j);
  });
  (void)folder.with(std::string(5000, 'x'));  // longer than what comes
  plinth::write_binary(Exec(), a, folder.file("text"));
  const std::string bytes = contents(folder.file("text"));
  REQUIRE(bytes.size() == 64 + 6 * sizeof(double));
  CHECK(bytes.substr(0, 8) == "PLINTH\r\n");
  double elements[6];
  std::memcpy(elements, bytes.data() + 64, sizeof(elements));
  CHECK((elements[0] == 0 && elements[1] == 10 && elements[3] == 1 && elements[5] == -0.1));
  MPI_Barrier(MPI_COMM_WORLD);
  plinth::write_matrix_market(Exec(), a, folder.file("text"));
  CHECK(contents(folder.file("text")) ==
        "%%MatrixMarket matrix array real general\n3 2\n0\n10\n20\n1\n11\n-0.1\n");
}

TEST_CASE("files: Matrix Market as others write it", "[files]") {
  const Folder folder;
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  Real a(grid, 2, 2, {1, 1});
  plinth::read_matrix_market(Exec(),
                             folder.with("%%matrixmarket MATRIX Array Integer general\r\n"
                                         "% a comment\r\n\r\n 2\t2 \r\n"
                                         "1\r\n% another\r\n +2\r\n\r\n3\r\n-4e0"),
                             a);
  const auto whole = gather(a);
  CHECK(whole.data == std::vector<double>{1, 2, 3, -4});
}

TEST_CASE("bad Matrix Market files", "[files][misuse]") {
  const Folder folder;
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  Real a(grid, 2, 2, {1, 1});
  plinth::generate(Exec(), a,
                   [](Index i, Index j) noexcept { return known_entry<double>(i, j); });
  const std::string good = "%%MatrixMarket matrix array real general\n";
  const auto refused = [&](const std::string& message, const std::string& text) {
    const std::string path = folder.with(text);
    INFO(text);
    CHECK_THAT(error_of([&] { plinth::read_matrix_market(Exec(), path, a); }, ErrorKind::file),
               contains(message));
    MPI_Barrier(MPI_COMM_WORLD);
  };
  refused("is empty", "");
  refused("line 1: does not begin", "2 2\n1\n2\n3\n4\n");
  refused("line 1: the banner", "%%MatrixMarket matrix array real\n2 2\n");
  refused("coordinate", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n");
  refused("'pattern'", "%%MatrixMarket matrix array pattern general\n2 2\n");
  refused("symmetric", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n");
  refused("is complex", "%%MatrixMarket matrix array complex general\n2 2\n1 1\n2 1\n3 1\n4 1\n");
  refused("ends before", good + "% nothing more\n");
  refused("line 3: is not the size", good + "%\n2\n");
  refused("line 2: is not the size", good + "2 -2\n");
  refused("line 2: is not the size", good + "2 2 2\n");
  refused("is 3 x 2, the matrix 2 x 2", good + "3 2\n1\n2\n3\n4\n5\n6\n");
  refused("line 5: is not a number", good + "2 2\n1\n2\nthree\n4\n");
  refused("line 4: is not a number", good + "2 2\n1\n2 3\n4\n5\n");
  refused("line 6: is not a number", good + "2 2\n1\n\n2\n3,5\n4\n");
  refused("line 3: is not a number", good + "2 2\n1e999\n2\n3\n4\n");
  refused("line 5 with too few", good + "2 2\n1\n2\n3\n");
  refused("line 8: is one element too many", good + "2 2\n1\n2\n3\n4\n\n5\n");
  refused("longer than a line", good + std::string(3000000, '7'));
  CHECK(wrong_entries(a) == 0);
  TestMatrix<Complex, LayoutLeft> z(grid, 1, 2, {1, 1});
  const std::string text =
      folder.with("%%MatrixMarket matrix array complex general\n1 2\n1 2\n3\n");
  CHECK_THAT(error_of([&] { plinth::read_matrix_market(Exec(), text, z); }, ErrorKind::file),
             contains("line 4: is not a complex number"));
}

TEST_CASE("bad binary files", "[files][misuse]") {
  const Folder folder;
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  Real a(grid, 5, 4, {2, 1});
  plinth::generate(Exec(), a,
                   [](Index i, Index j) noexcept { return known_entry<double>(i, j); });
  plinth::write_binary(Exec(), a, folder.file("good"));
  const std::string good = contents(folder.file("good"));
  const auto refused = [&](const std::string& message, const std::string& bytes) {
    const std::string path = folder.with(bytes);
    CHECK_THAT(error_of([&] { plinth::read_binary(Exec(), path, a); }, ErrorKind::file),
               contains(message));
    MPI_Barrier(MPI_COMM_WORLD);
  };
  const auto changed = [&](std::size_t at, char to) {
    std::string bytes = good;
    bytes[at] = to;
    return bytes;
  };
  refused("too short for a header", "");
  refused("too short for a header", good.substr(0, 63));
  refused("instead of 224", good + "x");
  refused("instead of 224", good.substr(0, good.size() - 1));
  refused("not a matrix file", changed(0, 'Q'));
  std::string turned = good;
  std::swap(turned[8], turned[11]);
  std::swap(turned[9], turned[10]);
  refused("byte order", turned);
  refused("version 9", changed(12, 9));
  refused("unknown scalar", changed(16, 99));
  refused("holds float, the matrix double", changed(16, 1));
  refused("negative", changed(31, '\xff'));
  refused("is 6 x 4", changed(24, 6));
  refused("is 5 x 3", changed(32, 3));
  CHECK(wrong_entries(a) == 0);
}

TEST_CASE("files that cannot be opened, read or written", "[files][misuse]") {
  const Folder folder;
  const bool guilty = world_rank() == world_size() - 1;
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  const Index n = 40;
  Real a(grid, n, n, {2, 1});
  plinth::generate(Exec(), a,
                   [](Index i, Index j) noexcept { return known_entry<double>(i, j); });
  const std::string none = folder.file("none"), directory = folder.file("");
  const std::string below = folder.with("a file") + "/below";
  const auto refused = [](const std::string& message, auto&& f) {
    CHECK_THAT(error_of(f, ErrorKind::file), contains(message));
  };
  refused("cannot be opened", [&] { plinth::read_binary(Exec(), none, a); });
  refused("cannot be opened", [&] { plinth::read_matrix_market(Exec(), none, a); });
  refused("cannot be opened", [&] { plinth::binary_info(grid, none); });
  refused("cannot be opened", [&] { plinth::matrix_market_info(grid, none); });
  refused("is a directory", [&] { plinth::read_binary(Exec(), directory, a); });
  refused("is a directory", [&] { plinth::read_matrix_market(Exec(), directory, a); });
  refused("is a directory", [&] { plinth::write_binary(Exec(), a, directory); });
  refused("is a directory", [&] { plinth::write_matrix_market(Exec(), a, directory); });
  refused("cannot be opened", [&] { plinth::write_binary(Exec(), a, below); });
  refused("cannot be opened", [&] { plinth::write_matrix_market(Exec(), a, below); });
  // One rank does not see the file.
  plinth::write_binary(Exec(), a, folder.file("good"));
  refused("none", [&] { plinth::read_binary(Exec(), guilty ? none : folder.file("good"), a); });
  if (world_size() > 1)
    CHECK_THAT(error_of([&] {
                 plinth::write_matrix_market(Exec(), a, guilty ? none : folder.file("good"));
               }),
               contains("different arguments"));
  // No room for the file, on one rank: its own columns, or what rank 0 writes for all.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  const auto with_limit = [&](bool here, auto&& f) {
    rlimit low = limit;
    low.rlim_cur = 700;
    if (here) setrlimit(RLIMIT_FSIZE, &low);
    refused("cannot be written", f);
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  with_limit(guilty, [&] { plinth::write_binary(Exec(), a, folder.file("full")); });
  refused("not a matrix file", [&] { plinth::read_binary(Exec(), folder.file("full"), a); });
  with_limit(world_rank() == 0,
             [&] { plinth::write_matrix_market(Exec(), a, folder.file("full")); });
  std::signal(SIGXFSZ, old_handler);
  CHECK(wrong_entries(a) == 0);
}
