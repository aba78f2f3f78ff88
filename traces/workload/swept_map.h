// A map of a workload with values that may be swept.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/specification/yaml_reader.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"
#include "traces/workload/sweep.h"

namespace filereel {

class SweptMap {
 public:
  SweptMap(YamlMap map, Sweep& sweep) : map_(std::move(map)), sweep_(sweep) {}

  // The value of `key` at this point, if it exists.
  std::optional<YamlValue> one(std::string_view key) const { return sweep_.pick(key, map_); }
  bool has(std::string_view key) const { return one(key).has_value(); }

  // The unswept value of `key`: lists and maps by nature.
  const YamlValue* whole(std::string_view key) const { return map_.find(key); }

  const YamlValue& self() const { return map_.self(); }
  Sweep& sweep() const { return sweep_; }

  // Reads the value of `key` into `out`, if it exists.
  template <class Out, class Read>
  void read(std::string_view key, Out& out, Read read_value) const {
    if (const std::optional<YamlValue> value = one(key)) out = static_cast<Out>(read_value(*value));
  }
  void read_size(std::string_view key, std::uint64_t& out, std::uint64_t least = 1) const {
    read(key, out, [least](const YamlValue& value) {
      const std::uint64_t size = value.size();
      if (size < least) value.fail(fmt::format("must be at least {} B", least));
      return size;
    });
  }
  template <class Number>
  void read_number(std::string_view key, Number& out, std::uint64_t least,
                   std::uint64_t most) const {
    read(key, out, [=](const YamlValue& value) { return value.whole_number(least, most); });
  }
  void read_truth(std::string_view key, bool& out) const {
    read(key, out, [](const YamlValue& value) { return value.truth(); });
  }
  void read_share(std::string_view key, std::uint32_t& out) const {
    read(key, out, [](const YamlValue& value) { return value.share(); });
  }
  void read_duration(std::string_view key, std::uint64_t& out) const {
    constexpr std::uint64_t kMost = 30ull * 24 * 3600 * 1'000'000'000;
    read(key, out, [](const YamlValue& value) {
      const std::uint64_t time = value.duration();
      if (time > kMost) value.fail("must be at most 30 days");
      return time;
    });
  }

 private:
  YamlMap map_;
  Sweep& sweep_;
};

// A word of a workload and its value.
template <class Meaning>
using Words = std::pair<std::string_view, Meaning>;

template <class Meaning, std::size_t N>
Meaning meaning_of(const YamlValue& value, const std::array<Words<Meaning>, N>& words) {
  const std::string text = value.text();
  std::vector<std::string_view> known;
  for (const auto& [word, meaning] : words) {
    if (word == text) return meaning;
    known.push_back(word);
  }
  value.fail(fmt::format("must be one of {}, not '{}'{}", fmt::join(known, ", "), printable(text),
                         did_you_mean(text, known)));
}

// Throws unless the shares, in thousandths of a percent, add up to 100 %.
inline void check_share_sum(const YamlValue& shares, std::uint64_t sum) {
  if (sum == 100'000) return;
  shares.fail(fmt::format("must have shares that add up to 100 %, not {:.6g} %",
                          static_cast<double>(sum) / 1000));
}
template <class Items>
void check_shares(const YamlValue& list, const Items& items) {
  std::uint64_t sum = 0;
  for (const auto& item : items) sum += item.share;
  check_share_sum(list, sum);
}

}  // namespace filereel
