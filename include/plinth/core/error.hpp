// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace plinth {

/// What went wrong, for callers that answer differently to each.
enum class ErrorKind {
  misuse,         ///< a precondition of a public call does not hold
  memory,         ///< an allocation failed, or a size does not fit
  communication,  ///< an MPI call reported an error
  user_callback,  ///< a function of the caller's threw
  file,           ///< a file could not be opened, read or written
};

/// Thrown for misuse and for failures of the system, never for a numerical outcome (those are
/// returned, see SolveReport). A collective call throws on every rank of its grid or on none.
class Error : public std::runtime_error {
 public:
  /// The message, without the library's name, which what() has in front.
  explicit Error(const std::string& message, ErrorKind kind = ErrorKind::misuse)
      : std::runtime_error("plinth: " + message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }  ///< what went wrong
  /// what() without the library's name in front.
  const char* message() const noexcept { return what() + sizeof("plinth: ") - 1; }

 private:
  ErrorKind kind_;
};

/// Throws Error(message) unless `condition` holds. For checks whose result is the same on every
/// rank; what depends on local data goes through agree() (comm/agree.hpp).
inline void require(bool condition, const char* message) {
  if (!condition) throw Error(message);
}
/// Likewise, with a message made up on the spot.
inline void require(bool condition, const std::string& message) {
  if (!condition) throw Error(message);
}

}  // namespace plinth
