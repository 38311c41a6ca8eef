// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/core/error.hpp"
#include "plinth/core/index.hpp"

namespace plinth {

/// A file that this process has opened for itself, through MPI-IO. Each process of a collective
/// call opens its own handle, and they agree on how that went: a collective open that fails on one
/// process alone could not be undone. Every failure is an Error of kind file with the path in it.
class File {
 public:
  File() = default;
  File(File&& other) noexcept { swap(other); }
  File& operator=(File&& other) noexcept {
    swap(other);
    return *this;
  }
  ~File() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (handle_ != MPI_FILE_NULL && !finalized) MPI_File_close(&handle_);
  }

  static File open(const std::string& path) { return File(path, MPI_MODE_RDONLY); }
  /// Of a file that is there.
  static File open_to_write(const std::string& path) { return File(path, MPI_MODE_WRONLY); }
  /// An empty file, whatever was there.
  static File create(const std::string& path) {
    File file(path, MPI_MODE_WRONLY | MPI_MODE_CREATE);
    file.check(MPI_File_set_size(file.handle_, 0), "cannot be emptied");
    return file;
  }

  const std::string& path() const { return path_; }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("'" + path_ + "': " + what, ErrorKind::file);
  }

  Index size() const {
    MPI_Offset bytes = 0;
    check(MPI_File_get_size(handle_, &bytes), "has no size");
    return static_cast<Index>(bytes);
  }
  /// All of the bytes, or an Error.
  void read_at(Index offset, void* to, Index bytes) const {
    if (read_some_at(offset, to, bytes) != bytes) fail("ends too early");
  }
  /// As many of the bytes as there are; returns how many.
  Index read_some_at(Index offset, void* to, Index bytes) const {
    Index all = 0;
    comm::for_each_chunk(bytes, most, [&](Index begin, int count) {
      MPI_Status status;
      check(MPI_File_read_at(handle_, offset + begin, static_cast<char*>(to) + begin, count,
                             MPI_BYTE, &status),
            "cannot be read");
      all += done(status);
    });
    return all;
  }
  void write_at(Index offset, const void* from, Index bytes) const {
    comm::for_each_chunk(bytes, most, [&](Index begin, int count) {
      MPI_Status status;
      check(MPI_File_write_at(handle_, offset + begin, static_cast<const char*>(from) + begin,
                              count, MPI_BYTE, &status),
            "cannot be written");
      if (done(status) != count) fail("cannot be written in full");
    });
  }
  /// Writes what is still on its way, and closes.
  void finish() {
    if (handle_ == MPI_FILE_NULL) return;
    check(MPI_File_sync(handle_), "cannot be written");
    check(MPI_File_close(&handle_), "cannot be closed");
  }

 private:
  static constexpr Index most = Index(1) << 30;

  File(const std::string& path, int mode) : path_(path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) fail("is a directory");
    check(MPI_File_open(MPI_COMM_SELF, path.c_str(), mode, MPI_INFO_NULL, &handle_),
          "cannot be opened");
    MPI_File_set_errhandler(handle_, MPI_ERRORS_RETURN);
  }
  void check(int rc, const char* what) const {
    if (rc == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(rc, text, &length);
    fail(std::string(what) + " (" + text + ")");
  }
  static int done(MPI_Status& status) {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    return count;
  }
  void swap(File& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(handle_, other.handle_);
  }

  std::string path_;
  MPI_File handle_ = MPI_FILE_NULL;
};

/// A path's part in the fingerprint of a call.
inline comm::Fingerprint& operator<<(comm::Fingerprint& print, const std::string& path) {
  for (const char c : path) print << Index(c);
  return print;
}

}  // namespace plinth
