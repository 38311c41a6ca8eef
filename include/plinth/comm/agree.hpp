// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <string>

#include "plinth/comm/communicator.hpp"
#include "plinth/core/error.hpp"

namespace plinth::comm {

/// A fingerprint of the arguments of a collective call (FNV-1a over their values).
class Fingerprint {
 public:
  Fingerprint& operator<<(Index value) {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ ^= static_cast<std::uint64_t>(value >> (8 * byte)) & 0xffu;
      hash_ *= 0x100000001b3u;
    }
    return *this;
  }
  /// 62 bits, so that its negative is a valid Index too.
  Index value() const { return static_cast<Index>(hash_ >> 2); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

/// What one rank has to say before a collective call may start.
struct Complaint {
  std::string text;  ///< empty: none
  ErrorKind kind = ErrorKind::misuse;
};

/// Collective: returns on every rank if no rank complains and all give the same fingerprint, else
/// throws the same Error on every rank: the complaint of the lowest rank that has one. Without
/// complaints one allreduce of 24 bytes, with one a broadcast more. On a rank without a place on
/// the grid, whose communicator is empty, only its own complaint counts.
inline void agree(const Communicator& communicator, const char* call, const Complaint& complaint,
                  Index fingerprint = 0) {
  if (communicator.empty()) {
    if (complaint.text.empty()) return;
    throw Error(std::string(call) + ": " + complaint.text, complaint.kind);
  }
  constexpr Index nobody = std::numeric_limits<Index>::max();
  const Index mine = complaint.text.empty() ? nobody : communicator.rank();
  Index low[3] = {mine, fingerprint, -fingerprint};
  check(MPI_Allreduce(MPI_IN_PLACE, low, 3, MPI_INT64_T, MPI_MIN, communicator.handle()),
        "MPI_Allreduce");
  if (low[0] != nobody) {
    const int speaker = static_cast<int>(low[0]);
    Index header[2] = {static_cast<Index>(complaint.text.size()),
                       static_cast<Index>(complaint.kind)};
    check(MPI_Bcast(header, 2, MPI_INT64_T, speaker, communicator.handle()), "MPI_Bcast");
    std::string text = complaint.text;
    text.resize(static_cast<std::size_t>(header[0]));
    check(MPI_Bcast(text.data(), static_cast<int>(header[0]), MPI_CHAR, speaker,
                    communicator.handle()),
          "MPI_Bcast");
    throw Error(std::string(call) + ": " + text, static_cast<ErrorKind>(header[1]));
  }
  if (low[1] != -low[2])
    throw Error(std::string(call) + ": the ranks of the grid give different arguments");
}

/// What `work` throws, as a complaint: an Error keeps its kind, std::bad_alloc becomes one of kind
/// memory, any other exception one of kind `unknown`. Local.
template <class Work>
Complaint complaint_of(Work&& work, ErrorKind unknown = ErrorKind::user_callback) {
  const auto complaint = [](const char* text, ErrorKind kind) {
    return Complaint{*text == '\0' ? "an exception without a message" : text, kind};
  };
  try {
    work();
  } catch (const Error& error) {
    return complaint(error.message(), error.kind());
  } catch (const std::bad_alloc&) {
    return complaint("out of memory", ErrorKind::memory);
  } catch (const std::exception& error) {
    return complaint(error.what(), unknown);
  } catch (...) {
    return complaint("an exception of unknown type", unknown);
  }
  return {};
}

/// Runs `work` on every rank and agrees on its outcome: an exception on any rank becomes an Error
/// on all (see complaint_of), each rank having left `work` first. `work` must not communicate.
///
/// What grows with the system is allocated in a `work`. What a call needs of a few numbers for each
/// process or thread, like the counts of an MPI_Alltoallv, is not agreed on: a rank without memory
/// for those, for which MPI will hardly find any either, throws std::bad_alloc alone.
template <class Work>
void agree_on(const Communicator& communicator, const char* call, Index fingerprint, Work&& work,
              ErrorKind unknown = ErrorKind::user_callback) {
  const Complaint complaint = complaint_of(work, unknown);
  agree(communicator, call, complaint, fingerprint);
}

}  // namespace plinth::comm
