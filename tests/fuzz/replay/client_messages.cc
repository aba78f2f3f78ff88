// Lists of texts that clients send: of any bytes, what is read is written as the same bytes again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "replay/clients/clients.h"
#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(client_messages) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> texts = filereel::unpack_texts(bytes);
  const std::string again = filereel::pack_texts(texts);
  if (!bytes.starts_with(again)) std::abort();
  if (filereel::unpack_texts(again) != texts) std::abort();
}
