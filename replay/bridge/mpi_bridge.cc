// The bridge to MPI: serves the calls of Messages to the portable program (channel.h).
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "replay/bridge/channel.h"
#include "replay/clients/messages.h"

extern "C" filereel::Messages* filereel_start_mpi();

namespace filereel {
namespace {

BridgeFrame answer_to(BridgeFrame request, Messages& messages) {
  if (request.call == BridgeCall::abort) messages.abort();
  switch (request.call) {
    case BridgeCall::send:
      messages.send(request.rank, std::move(request.body));
      return {};
    case BridgeCall::receive: {
      std::optional<Message> message = messages.receive();
      if (!message) return {};
      return {BridgeCall::message, message->from, 0, std::move(message->body)};
    }
    case BridgeCall::end:
      messages.end();
      return {};
    default:
      throw_failed("the bridge to MPI is of another version of filereel");
  }
}

// Returns the exit code.
int serve() {
  const std::unique_ptr<Messages> messages(filereel_start_mpi());
  write_frame(kBridgeSocket, {BridgeCall::started, messages->rank(), messages->count(), ""});
  while (std::optional<BridgeFrame> request = read_frame(kBridgeSocket)) {
    const bool ends = request->call == BridgeCall::end;
    write_frame(kBridgeSocket, answer_to(std::move(*request), *messages));
    if (ends) return 0;
  }
  return 1;  // filereel has ended without end(): mpirun has to see a failure
}

}  // namespace
}  // namespace filereel

int main() {
  fcntl(filereel::kBridgeSocket, F_SETFD, FD_CLOEXEC);
  dup2(filereel::kBridgeErrors, STDERR_FILENO);
  close(filereel::kBridgeErrors);
  try {
    const int code = filereel::serve();
    // Without exit functions: those of MPI wait for a MPI_Finalize that is not to come.
    _exit(code);
  } catch (const std::exception& error) {
    filereel::write_frame(filereel::kBridgeSocket,
                          {filereel::BridgeCall::failed, 0, 0, error.what()});
    _exit(1);
  }
}
