// start_messages of the portable program, instead of clients/messages.cc: by a bridge (channel.h).
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/programs.h"
#include "replay/bridge/bridge_program.h"
#include "replay/bridge/channel.h"
#include "replay/clients/messages.h"

namespace filereel {
namespace {

Descriptor memory_file(const char* name, std::string_view content) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  if (!file ||
      write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    throw_failed(fmt::format("cannot start the bridge to MPI: {}", error_text(errno)));
  }
  return file;
}

// Runs in the child between fork and exec: only async-signal-safe calls. Descriptors are moved out
// of the way of the two that the bridge expects first.
[[noreturn]] void exec_bridge(int program, int socket, int complaints) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);  // filereel decides
  const int moved_program = fcntl(program, F_DUPFD_CLOEXEC, 10);
  const int moved_socket = fcntl(socket, F_DUPFD_CLOEXEC, 10);
  const int moved_complaints = fcntl(complaints, F_DUPFD_CLOEXEC, 10);
  dup2(STDERR_FILENO, kBridgeErrors);
  dup2(moved_socket, kBridgeSocket);
  dup2(moved_complaints, STDERR_FILENO);
  char name[] = "filereel-mpi";
  char* const arguments[] = {name, nullptr};
  fexecve(moved_program, arguments, environ);
  _exit(127);
}

// What keeps the bridge from starting, by what the system's loader said about it.
std::string loader_text(int complaints) {
  std::string text(4096, '\0');
  const ssize_t size = pread(complaints, text.data(), text.size(), 0);
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  text.resize(std::min(text.find('\n'), text.size()));
  constexpr std::string_view kLead = "error while loading shared libraries: ";
  const std::size_t lead = text.find(kLead);
  if (lead != std::string::npos) text.erase(0, lead + kLead.size());
  return text.empty() ? "the system has no loader for it" : missing_library(text);
}

class PortableMessages final : public Messages {
 public:
  PortableMessages() {
    const Descriptor program = memory_file("filereel-mpi", bridge_program());
    const Descriptor complaints = memory_file("complaints", "");
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw_failed(fmt::format("cannot start the bridge to MPI: {}", error_text(errno)));
    }
    socket_.reset(ends[0]);
    Descriptor other(ends[1]);
    bridge_ = fork();
    if (bridge_ == 0) exec_bridge(program.get(), other.get(), complaints.get());
    other.reset();
    const std::optional<BridgeFrame> first = read_frame(socket_.get());
    if (!first) {
      throw_failed(fmt::format("cannot load MPI: {}; {}", loader_text(complaints.get()),
                               install_advice("mpirun")));
    }
    if (first->call == BridgeCall::failed) throw_failed(first->body);
    rank_ = first->rank;
    count_ = first->count;
  }

  ~PortableMessages() override {
    socket_.reset();
    constexpr double kPatience = 5;  // seconds
    if (bridge_ > 0) wait_for(bridge_, kPatience);
  }

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t count() const override { return count_; }

  void send(std::uint32_t to, std::string body) override {
    ask({BridgeCall::send, to, 0, std::move(body)});
  }

  std::optional<Message> receive() override {
    BridgeFrame answer = ask({BridgeCall::receive, 0, 0, ""});
    if (answer.call != BridgeCall::message) return std::nullopt;
    return Message{answer.rank, std::move(answer.body)};
  }

  void end() override { ask({BridgeCall::end, 0, 0, ""}); }

  [[noreturn]] void abort() override {
    write_frame(socket_.get(), {BridgeCall::abort, 0, 0, ""});
    read_frame(socket_.get());  // until the bridge has done it
    _exit(1);
  }

 private:
  BridgeFrame ask(const BridgeFrame& request) {
    std::optional<BridgeFrame> answer;
    if (write_frame(socket_.get(), request)) answer = read_frame(socket_.get());
    if (!answer) throw_failed("the bridge to MPI has ended; see the messages of MPI above");
    if (answer->call == BridgeCall::failed) throw_failed(answer->body);
    return std::move(*answer);
  }

  Descriptor socket_;
  pid_t bridge_ = -1;
  std::uint32_t rank_ = 0, count_ = 1;
};

}  // namespace

std::unique_ptr<Messages> start_messages() {
  if (bridge_program().empty()) {
    throw_failed(
        "this filereel was built without MPI: build it where Open MPI is installed, or use the "
        "package");
  }
  return std::make_unique<PortableMessages>();
}

}  // namespace filereel
