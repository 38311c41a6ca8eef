// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <utility>

#include "plinth/comm/mpi.hpp"

namespace plinth::comm {

/// A commutative reduction operation of our own on messages of a fixed number of bytes, each one
/// element to MPI, which therefore never cuts one. Freed on destruction, unless MPI has been
/// finalized by then.
class ReductionOp {
 public:
  ReductionOp() = default;
  /// `combine` gets one or more elements and nothing else: they must say themselves how long they
  /// are.
  ReductionOp(int bytes, MPI_User_function* combine) {
    check(MPI_Type_contiguous(bytes, MPI_BYTE, &type_), "MPI_Type_contiguous");
    check(MPI_Type_commit(&type_), "MPI_Type_commit");
    check(MPI_Op_create(combine, 1, &op_), "MPI_Op_create");
  }
  ReductionOp(ReductionOp&& other) noexcept { swap(other); }
  ReductionOp& operator=(ReductionOp&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ReductionOp() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized) return;
    if (op_ != MPI_OP_NULL) MPI_Op_free(&op_);
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }

  MPI_Datatype type() const { return type_; }
  MPI_Op op() const { return op_; }

 private:
  void swap(ReductionOp& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(op_, other.op_);
  }

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
};

}  // namespace plinth::comm
