// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <utility>

#include "plinth/comm/mpi.hpp"

namespace plinth::comm {

/// An MPI communicator that this object owns, with its rank and size at hand. Freed on
/// destruction, unless MPI has been finalized by then.
class Communicator {
 public:
  Communicator() = default;
  /// Takes over; the other one becomes empty.
  Communicator(Communicator&& other) noexcept { swap(other); }
  /// Likewise, in exchange for what this one had.
  Communicator& operator=(Communicator&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Communicator() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (handle_ != MPI_COMM_NULL && !finalized) MPI_Comm_free(&handle_);
  }

  /// A duplicate of `parent` with the hints in `info`. Collective over `parent`.
  static Communicator duplicate(MPI_Comm parent, MPI_Info info, const std::string& name) {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_dup_with_info(parent, info, &made), "MPI_Comm_dup_with_info");
    return Communicator(made, name);
  }

  /// The part of `parent` whose ranks give the same `color`, ordered by `key`; an empty
  /// communicator where `color` is MPI_UNDEFINED. Collective over `parent`.
  static Communicator split(MPI_Comm parent, int color, int key, const std::string& name) {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_split(parent, color, key, &made), "MPI_Comm_split");
    return made == MPI_COMM_NULL ? Communicator() : Communicator(made, name);
  }

  MPI_Comm handle() const { return handle_; }  ///< for MPI calls
  int rank() const { return rank_; }  ///< of this process
  int size() const { return size_; }  ///< number of processes
  /// Whether this process has no communicator.
  bool empty() const { return handle_ == MPI_COMM_NULL; }

 private:
  Communicator(MPI_Comm handle, const std::string& name) : handle_(handle) {
    MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(handle_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(handle_, &size_), "MPI_Comm_size");
    check(MPI_Comm_set_name(handle_, name.c_str()), "MPI_Comm_set_name");
  }
  void swap(Communicator& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(rank_, other.rank_);
    std::swap(size_, other.size_);
  }

  MPI_Comm handle_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace plinth::comm
