// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

#include "plinth/comm/agree.hpp"
#include "plinth/matrix/column_slabs.hpp"
#include "plinth/matrix/file.hpp"

namespace plinth {

/// The scalar type of a matrix in a file.
enum class FileScalar : std::uint32_t {
  single_real = 1,
  double_real = 2,
  single_complex = 3,
  double_complex = 4,
  half_real = 5,
  bfloat16_real = 6,
};

/// What stands for T in a file.
template <Scalar T>
constexpr FileScalar file_scalar() {
  if constexpr (std::is_same_v<T, float>) {
    return FileScalar::single_real;
  } else if constexpr (std::is_same_v<T, double>) {
    return FileScalar::double_real;
  } else if constexpr (std::is_same_v<T, Kokkos::complex<float>>) {
    return FileScalar::single_complex;
  } else if constexpr (std::is_same_v<T, Kokkos::complex<double>>) {
    return FileScalar::double_complex;
  } else if constexpr (std::is_same_v<T, half>) {
    return FileScalar::half_real;
  } else {
    static_assert(std::is_same_v<T, bfloat16>, "plinth: no file holds this scalar type");
    return FileScalar::bfloat16_real;
  }
}
/// In words, for people.
constexpr const char* to_string(FileScalar scalar) {
  switch (scalar) {
    case FileScalar::single_real:
      return "float";
    case FileScalar::double_real:
      return "double";
    case FileScalar::single_complex:
      return "complex<float>";
    case FileScalar::double_complex:
      return "complex<double>";
    case FileScalar::half_real:
      return "half";
    case FileScalar::bfloat16_real:
      return "bfloat16";
  }
  return "unknown";
}

/// What a file says of its matrix.
struct MatrixFileInfo {
  FileScalar scalar = FileScalar::double_real;  ///< type of the elements
  Index rows = 0;  ///< number of rows
  Index cols = 0;  ///< number of columns
};

/// The 64 bytes in front of the elements, which follow column by column, without gaps, both in the
/// byte order of the machine that wrote them.
struct BinaryHeader {
  char magic[8] = {'P', 'L', 'I', 'N', 'T', 'H', '\r', '\n'};  ///< what kind of file this is
  std::uint32_t byte_order = 0x01020304;  ///< reads so in the same byte order
  std::uint32_t version = 1;  ///< of the format
  std::uint32_t scalar = 0;  ///< a FileScalar
  std::uint32_t element_bytes = 0;  ///< bytes of an element
  std::int64_t rows = 0;  ///< number of rows
  std::int64_t cols = 0;  ///< number of columns
  std::uint8_t reserved[24] = {};  ///< zeros
};
static_assert(sizeof(BinaryHeader) == 64 && std::is_trivially_copyable_v<BinaryHeader>);

/// Reads and checks a header, but not whether the matrix is the wanted one. Errors of kind file.
inline MatrixFileInfo read_binary_header(const File& file) {
  const BinaryHeader good;
  BinaryHeader header;
  if (file.read_some_at(0, &header, sizeof(header)) != sizeof(header))
    file.fail("is too short for a header");
  if (std::memcmp(header.magic, good.magic, sizeof(good.magic)) != 0)
    file.fail("is not a matrix file of Plinth");
  if (header.byte_order != good.byte_order) file.fail("was written in another byte order");
  if (header.version != good.version)
    file.fail("has version " + std::to_string(header.version) + " instead of " +
              std::to_string(good.version));
  const auto scalar = static_cast<FileScalar>(header.scalar);
  if (std::strcmp(to_string(scalar), "unknown") == 0) file.fail("holds an unknown scalar type");
  if (header.rows < 0 || header.cols < 0) file.fail("has a negative size");
  return {scalar, header.rows, header.cols};
}

/// That the matrix of a file is what the caller's matrix can take.
template <class Matrix>
void check_file_matrix(const File& file, const MatrixFileInfo& info, const Matrix& a) {
  const FileScalar wanted = file_scalar<typename Matrix::value_type>();
  if (info.scalar != wanted)
    file.fail(std::string("holds ") + to_string(info.scalar) + ", the matrix " +
              to_string(wanted));
  if (info.rows != a.rows() || info.cols != a.cols())
    file.fail("is " + std::to_string(info.rows) + " x " + std::to_string(info.cols) +
              ", the matrix " + std::to_string(a.rows()) + " x " + std::to_string(a.cols()));
}

/// What `read` says on rank 0 of the communicator that the grid was made on, on all of them.
template <class Read>
MatrixFileInfo agreed_file_info(const ProcessGrid& grid, const char* call,
                                const std::string& path, Read&& read) {
  MatrixFileInfo info;
  const comm::Communicator& all = grid.parent();
  comm::Fingerprint arguments;
  arguments << path;
  comm::agree_on(all, call, arguments.value(), [&] {
    if (all.rank() == 0) info = read();
  });
  Index fields[3] = {static_cast<Index>(info.scalar), info.rows, info.cols};
  comm::check(MPI_Bcast(fields, 3, MPI_INT64_T, 0, all.handle()), "MPI_Bcast");
  return {static_cast<FileScalar>(fields[0]), fields[1], fields[2]};
}

/// Scalar type and size of the matrix in a file that write_binary() made. Collective over the
/// communicator of the grid, idle ranks included, so that each of them can make the matrix.
/// Errors of kind file on every rank: no such file; unreadable; no or a damaged header.
inline MatrixFileInfo binary_info(const ProcessGrid& grid, const std::string& path) {
  return agreed_file_info(grid, "binary_info", path,
                          [&] { return read_binary_header(File::open(path)); });
}

/// Writes A to a file: BinaryHeader, then the elements column by column; what was there is lost.
/// Collective over A's grid; the file system is one that all of them see. The header comes last: a
/// file that was not finished is no matrix file.
/// Preconditions, each an Error on every rank: the same call on every rank; enough memory.
/// Errors of kind file on every rank: the file cannot be made, or written in full.
/// Memory: about 4 MiB of columns, at least one, per process, and what redistribute() needs.
/// Messages: redistribute()'s for each 4 MiB that a process writes, and an agreement.
template <ExecutionPolicy Exec, class Matrix>
void write_binary(const Exec& exec, const Matrix& a, const std::string& path) {
  using T = typename Matrix::value_type;
  if (!a.grid().active()) return;
  const comm::Communicator& all = a.grid().all();
  std::optional<ColumnSlabs<false, Exec, Matrix>> slabs;
  File file;
  const auto step = [&](auto&& work) { comm::agree_on(all, "write_binary", 0, work); };
  comm::Fingerprint arguments;
  arguments << a.distribution() << path;
  comm::agree_on(all, "write_binary", arguments.value(), [&] {
    slabs.emplace(exec, a, all.size());
    if (all.rank() == 0) file = File::create(path);
  });
  step([&] {
    if (all.rank() != 0) file = File::open_to_write(path);
  });
  for (Index s = 0; s < slabs->count(); ++s) {
    slabs->move(s);
    step([&] {
      const Range mine = slabs->mine(s);
      const Index column = a.rows() * static_cast<Index>(sizeof(T));
      file.write_at(static_cast<Index>(sizeof(BinaryHeader)) + mine.begin * column, slabs->data(),
                    mine.size() * column);
    });
  }
  step([&] {
    if (all.rank() != 0) file.finish();
  });
  step([&] {
    if (all.rank() != 0) return;
    BinaryHeader header;
    header.scalar = static_cast<std::uint32_t>(file_scalar<T>());
    header.element_bytes = sizeof(T);
    header.rows = a.rows();
    header.cols = a.cols();
    file.write_at(0, &header, sizeof(header));
    file.finish();
  });
}

/// A := the matrix of a file that write_binary() made, of A's scalar type and size (binary_info()
/// tells). Collective over A's grid.
/// Preconditions, each an Error on every rank: the same call on every rank; enough memory.
/// Errors of kind file on every rank, A untouched: no such file; unreadable; no or a damaged
/// header; another byte order; another scalar type or size than A's; too short or too long. If
/// reading fails later (a broken disk), A's contents are unspecified.
/// Memory and messages: as write_binary().
template <ExecutionPolicy Exec, class Matrix>
void read_binary(const Exec& exec, const std::string& path, Matrix& a) {
  using T = typename Matrix::value_type;
  if (!a.grid().active()) return;
  const comm::Communicator& all = a.grid().all();
  const Index column = a.rows() * static_cast<Index>(sizeof(T));
  constexpr auto header = static_cast<Index>(sizeof(BinaryHeader));
  std::optional<ColumnSlabs<true, Exec, Matrix>> slabs;
  File file;
  comm::Fingerprint arguments;
  arguments << a.distribution() << path;
  comm::agree_on(all, "read_binary", arguments.value(), [&] {
    file = File::open(path);
    if (all.rank() == 0) check_file_matrix(file, read_binary_header(file), a);
    const Index bytes = file.size(), wanted = header + a.cols() * column;
    if (bytes != wanted)
      file.fail("has " + std::to_string(bytes) + " bytes instead of " + std::to_string(wanted));
    slabs.emplace(exec, a, all.size());
  });
  for (Index s = 0; s < slabs->count(); ++s) {
    comm::agree_on(all, "read_binary", 0, [&] {
      const Range mine = slabs->mine(s);
      file.read_at(header + mine.begin * column, slabs->data(), mine.size() * column);
    });
    slabs->move(s);
  }
}

}  // namespace plinth
