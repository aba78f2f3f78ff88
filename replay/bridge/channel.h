// How this folder works: bridge_program.h has the bridge as a file in memory, portable_messages.cc
// starts it and is filereel's end of the channel, mpi_bridge.cc is the program itself. Start with
// the table below.
//
// The channel between the portable program and its bridge to MPI.
//
// A statically linked program cannot load libraries of the system, and MPI is one. So the portable
// program contains a bridge: a small program that the system's loader links with the system's MPI.
// It is started from memory and does what the MPI module does in the package
// (clients/mpi_messages.cc). Both programs talk over a socket. Each call of Messages is a request
// that the bridge answers:
//
//   filereel         bridge
//                    started (rank, count), or failed
//   send             done
//   receive          message (sender), or done if none has arrived
//   end              done; then the bridge ends
//   abort            (ends all processes)
//
// Every request may be answered by `failed`. The bridge does nothing unasked, so that it takes no
// processor from a measurement. A call costs two switches between processes, about 20 us.
// If filereel ends, the bridge reads the end of the channel and ends, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace filereel {

enum class BridgeCall : std::uint32_t { started, send, receive, message, done, end, abort, failed };

struct BridgeFrame {
  BridgeCall call = BridgeCall::done;
  std::uint32_t rank = 0;   // of this process, of the receiver, or of the sender
  std::uint32_t count = 0;  // started: of processes
  std::string body;         // a message, or the text of a failure
};

// The descriptors that the bridge starts with: its end of the channel, and the user's standard
// error. Its own standard error is filereel's until it has started, so that what the loader says
// becomes part of the one line about the failure.
inline constexpr int kBridgeSocket = 3, kBridgeErrors = 4;

// Writes a frame to a connected socket. Returns whether the peer still reads.
bool write_frame(int socket, const BridgeFrame& frame);
// Waits for a frame. Returns nothing if the peer has ended.
std::optional<BridgeFrame> read_frame(int socket);

}  // namespace filereel
