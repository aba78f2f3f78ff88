// Interned texts: targets of symbolic links and names of extended attributes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace filereel {

using TextId = std::uint32_t;

// Number 0 is the empty text.
class TextTable {
 public:
  TextTable() { append({}); }
  TextTable(const TextTable&) = delete;
  TextTable& operator=(const TextTable&) = delete;
  TextTable(TextTable&&) = delete;  // the index points to the texts
  TextTable& operator=(TextTable&&) = delete;

  TextId add(std::string_view text) {
    const auto found = index_.find(text);
    return found != index_.end() ? found->second : append(text);
  }

  // Always assigns a new number, even to a known text: for readers of tables without duplicates.
  TextId append(std::string_view text) {
    texts_.emplace_back(text);
    const auto id = static_cast<TextId>(texts_.size() - 1);
    index_.emplace(texts_.back(), id);
    return id;
  }

  // The number of `text`, if known.
  std::optional<TextId> find(std::string_view text) const {
    const auto found = index_.find(text);
    return found != index_.end() ? std::optional(found->second) : std::nullopt;
  }

  // `id` must be below size().
  const std::string& text(TextId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string>
      texts_;  // a deque does not move its texts, so they can be keys of the index
  std::unordered_map<std::string_view, TextId> index_;
};

}  // namespace filereel
