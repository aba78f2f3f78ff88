#include "replay/clients/message_contents.h"

namespace filereel {

std::string pack_texts(std::span<const std::string> texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += bytes_of(text.size());
    all += text;
  }
  return all;
}

std::vector<std::string> unpack_texts(std::string_view bytes) {
  constexpr std::size_t kLength = sizeof(std::uint64_t);
  std::vector<std::string> texts;
  while (bytes.size() >= kLength) {
    const std::uint64_t size = number_of(bytes.substr(0, kLength));
    bytes.remove_prefix(kLength);
    if (size > bytes.size()) break;
    texts.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return texts;
}

}  // namespace filereel
