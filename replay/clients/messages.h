// Messages between the processes of a parallel run. The implementation on MPI is a module
// (mpi_messages.cc), loaded only on request: filereel starts and installs without MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace filereel {

struct Message {
  std::uint32_t from = 0;  // rank of the sender
  std::string body;
};

// Only the thread that called start_messages() may use it. No call waits for another process,
// except for the end. All throw Error(failed).
class Messages {
 public:
  virtual ~Messages() = default;

  virtual std::uint32_t rank() const = 0;  // of this process, from 0
  virtual std::uint32_t count() const = 0;
  // Messages from one process to another arrive in the order of sending.
  virtual void send(std::uint32_t to, std::string body) = 0;
  virtual std::optional<Message> receive() = 0;  // nothing: none has arrived
  // Waits until everything sent has been received and all processes end, too.
  virtual void end() = 0;
  // Ends all processes at once, including this one.
  [[noreturn]] virtual void abort() = 0;
};

// Joins the processes started together by mpirun or srun; without these a single process. Throws
// Error(failed) if there is no module, or MPI fails.
std::unique_ptr<Messages> start_messages();

// --- What the system's loader says about a library, in words for messages.

// `loader_text`: "libmpi.so.40: cannot open shared object file: No such file or directory".
inline std::string missing_library(std::string_view loader_text) {
  const std::string_view library = loader_text.substr(0, loader_text.find(':'));
  const bool is_name = library.contains(".so") && !library.contains(' ');
  return std::string(is_name ? library : "its library") + " is missing or of another version";
}

// --- What filereel and its MPI module agree on.

inline constexpr const char* kMpiModule = "filereel_mpi.so";
inline constexpr const char* kStartMpi = "filereel_start_mpi";

// Starts MPI on the calling thread. The caller owns the result. Throws Error(failed).
using StartMpi = Messages*();

}  // namespace filereel
