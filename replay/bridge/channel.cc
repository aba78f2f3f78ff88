#include "replay/bridge/channel.h"

#include <cstddef>

#include <errno.h>
#include <sys/socket.h>

namespace filereel {
namespace {

struct Head {
  BridgeCall call;
  std::uint32_t rank, count;
  std::uint32_t unused;
  std::uint64_t size;  // of the body
};

// Moves `size` bytes with send or recv.
template <class Byte, class Move>
bool move_all(Byte* bytes, std::size_t size, Move move) {
  while (size > 0) {
    const ssize_t moved = move(bytes, size);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    bytes += moved;
    size -= static_cast<std::size_t>(moved);
  }
  return true;
}

bool send_all(int socket, const char* bytes, std::size_t size) {
  return move_all(bytes, size, [socket](const char* from, std::size_t count) {
    return send(socket, from, count, MSG_NOSIGNAL);
  });
}

bool receive_all(int socket, char* bytes, std::size_t size) {
  return move_all(bytes, size,
                  [socket](char* to, std::size_t count) { return recv(socket, to, count, 0); });
}

}  // namespace

bool write_frame(int socket, const BridgeFrame& frame) {
  const Head head{frame.call, frame.rank, frame.count, 0, frame.body.size()};
  return send_all(socket, reinterpret_cast<const char*>(&head), sizeof head) &&
         send_all(socket, frame.body.data(), frame.body.size());
}

std::optional<BridgeFrame> read_frame(int socket) {
  Head head{};
  if (!receive_all(socket, reinterpret_cast<char*>(&head), sizeof head)) return std::nullopt;
  BridgeFrame frame{head.call, head.rank, head.count, std::string(head.size, '\0')};
  if (!receive_all(socket, frame.body.data(), frame.body.size())) return std::nullopt;
  return frame;
}

}  // namespace filereel
