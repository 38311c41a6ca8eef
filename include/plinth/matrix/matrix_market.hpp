// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "plinth/comm/agree.hpp"
#include "plinth/matrix/column_slabs.hpp"
#include "plinth/matrix/io.hpp"
#include "plinth/matrix/matrix_market_text.hpp"

namespace plinth {

/// Size of the matrix in a Matrix Market file, and whether it is complex (as scalar type
/// double_complex, else double_real). Collective over the communicator of the grid, idle ranks
/// included. Errors of kind file on every rank: those of read_matrix_market() for its first lines.
inline MatrixFileInfo matrix_market_info(const ProcessGrid& grid, const std::string& path) {
  return agreed_file_info(grid, "matrix_market_info", path, [&] {
    const MatrixMarketReader reader(path);
    return MatrixFileInfo{
        reader.is_complex() ? FileScalar::double_complex : FileScalar::double_real, reader.rows(),
        reader.cols()};
  });
}

/// Writes A as Matrix Market array format (general, real or complex); what was there is lost. The
/// numbers have as many digits as it takes to read the same bits again. Collective over A's grid;
/// rank 0 of it writes.
/// Preconditions, each an Error on every rank: the same call on every rank; enough memory.
/// Errors of kind file on every rank: the file cannot be made, or written in full.
/// Memory: on rank 0 about 4 MiB of columns, at least one, and their text; what redistribute()
/// needs. Messages: redistribute()'s for each 4 MiB of the matrix, and an agreement.
template <ExecutionPolicy Exec, class Matrix>
requires(BlasScalar<typename Matrix::value_type>) void write_matrix_market(
    const Exec& exec, const Matrix& a, const std::string& path) {
  using T = typename Matrix::value_type;
  if (!a.grid().active()) return;
  const comm::Communicator& all = a.grid().all();
  std::optional<ColumnSlabs<false, Exec, Matrix>> slabs;
  File file;
  std::string text;
  Index written = 0;
  const auto write = [&] {
    file.write_at(written, text.data(), static_cast<Index>(text.size()));
    written += static_cast<Index>(text.size());
    text.clear();
  };
  comm::Fingerprint arguments;
  arguments << a.distribution() << path;
  comm::agree_on(all, "write_matrix_market", arguments.value(), [&] {
    slabs.emplace(exec, a, 1);
    if (all.rank() != 0) return;
    file = File::create(path);
    text = std::string("%%MatrixMarket matrix array ") +
           (ScalarTraits<T>::is_complex ? "complex" : "real") + " general\n" +
           std::to_string(a.rows()) + " " + std::to_string(a.cols()) + "\n";
    write();
  });
  for (Index s = 0; s < slabs->count(); ++s) {
    slabs->move(s);
    comm::agree_on(all, "write_matrix_market", 0, [&] {
      const T* const data = slabs->data();
      for (Index e = 0; e < a.rows() * slabs->mine(s).size(); ++e) {
        if constexpr (ScalarTraits<T>::is_complex) {
          append_number(text, data[e].real());
          text += ' ';
          append_number(text, data[e].imag());
        } else {
          append_number(text, data[e]);
        }
        text += '\n';
        if (text.size() > (std::size_t(1) << 22)) write();
      }
      if (all.rank() == 0) write();
    });
  }
  comm::agree_on(all, "write_matrix_market", 0, [&] { file.finish(); });
}

/// A := the matrix of a Matrix Market file in array format, general, of A's size (ask
/// matrix_market_info()): real or integer for a real A, complex for a complex one. Collective over
/// A's grid; rank 0 of it reads, twice: the first time only to see whether all is well.
/// Preconditions, each an Error on every rank: the same call on every rank; enough memory.
/// Errors of kind file on every rank, A untouched: no such file; unreadable; a bad line, with its
/// number; too few or too many elements; another size or kind than A's; numbers beyond A's type.
/// (A file that changes meanwhile is an Error too, but A is then unspecified.)
/// Memory: on rank 0 about 4 MiB of columns, at least one; what redistribute() needs. Messages: as
/// write_matrix_market().
template <ExecutionPolicy Exec, class Matrix>
requires(BlasScalar<typename Matrix::value_type>) void read_matrix_market(const Exec& exec,
                                                                          const std::string& path,
                                                                          Matrix& a) {
  using T = typename Matrix::value_type;
  if (!a.grid().active()) return;
  const comm::Communicator& all = a.grid().all();
  std::optional<ColumnSlabs<true, Exec, Matrix>> slabs;
  std::optional<MatrixMarketReader> reader;
  comm::Fingerprint arguments;
  arguments << a.distribution() << path;
  comm::agree_on(all, "read_matrix_market", arguments.value(), [&] {
    slabs.emplace(exec, a, 1);
    if (all.rank() != 0) return;
    MatrixMarketReader first(path);
    const auto kind = [](bool is_complex) { return is_complex ? "complex" : "real"; };
    if (first.is_complex() != ScalarTraits<T>::is_complex)
      first.file().fail(std::string("is ") + kind(first.is_complex()) + ", the matrix " +
                        kind(ScalarTraits<T>::is_complex));
    const FileScalar same = file_scalar<T>();
    check_file_matrix(first.file(), {same, first.rows(), first.cols()}, a);
    for (Index e = 0; e < a.rows() * a.cols(); ++e) first.template next<T>();
    first.finish();
    reader.emplace(path);
  });
  for (Index s = 0; s < slabs->count(); ++s) {
    comm::agree_on(all, "read_matrix_market", 0, [&] {
      for (Index e = 0; e < a.rows() * slabs->mine(s).size(); ++e)
        slabs->data()[e] = reader->template next<T>();
    });
    slabs->move(s);
  }
}

}  // namespace plinth
