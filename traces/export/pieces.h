// The loop of every exporter: operations in batches, text out in pieces.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/recorded_operation.h"

namespace filereel {

// Calls append(operation, text) for all operations and passes `text` to `out` from time to time,
// including its previous content.
template <typename Append>
void write_pieces(RecordedSource& source, std::string& text,
                  const std::function<void(std::string_view)>& out, Append append) {
  constexpr std::size_t kBatch = 512, kPiece = 64u << 10;
  std::vector<RecordedOperation> batch(kBatch);
  while (const std::size_t count = source.next(batch)) {
    for (const RecordedOperation& operation : std::span(batch).first(count)) {
      append(operation, text);
      if (text.size() < kPiece) continue;
      out(text);
      text.clear();
    }
  }
  out(text);
  text.clear();
}

}  // namespace filereel
