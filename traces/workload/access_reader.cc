#include "traces/workload/access_reader.h"

#include <algorithm>

#include "filesets/system/numbers.h"
#include "traces/workload/access_pattern.h"

namespace filereel {
namespace {

constexpr std::size_t kMostSizes = 1000;
constexpr std::uint64_t kMostSize = 1 << 30;

constexpr std::array<Words<SyncKind>, 2> kSyncs = {
    {{"fsync", SyncKind::sync}, {"fdatasync", SyncKind::sync_data}}};
constexpr std::array<Words<SyncKind>, 3> kStepSyncs = {
    {{"none", SyncKind::none}, {"fsync", SyncKind::sync}, {"fdatasync", SyncKind::sync_data}}};

std::uint64_t read_size_of(const YamlValue& value, const RecipeFiles& files, bool direct) {
  const std::uint64_t size = value.size();
  if (size == 0 || size > kMostSize) value.fail("must be from 1 B to 1 GiB");
  if (direct && size % kSector != 0) {
    value.fail("must be a multiple of 512 B for direct I/O");
  }
  if (files.size > 0 && size > files.size) {
    value.fail(fmt::format("exceeds the file size of '{}'", printable(files.name)));
  }
  return size;
}

// Removes "zipf" from "zipf 0.99" and returns the rest without blanks; nullopt for another word.
std::optional<std::string_view> after_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

HotSpots read_hot(const YamlValue& value) {
  const std::string text = value.text();
  if (text == "uniform") return {};
  if (const auto rest = after_word(text, "zipf")) {
    const auto exponent = parse_number_in<double>(*rest, 0, 5);
    if (exponent && *exponent > 0) return {HotSpots::Kind::zipf, *exponent};
  } else if (const auto share = after_word(text, "normal"); share && share->ends_with('%')) {
    const double deviation = value.with_text(std::string(*share)).share() / 100'000.0;
    if (deviation > 0) return {HotSpots::Kind::normal, deviation};
  }
  value.fail(
      fmt::format("must be uniform, zipf with an exponent of at most 5 (zipf 0.99) or normal with "
                  "a standard deviation (normal 10 %), not '{}'",
                  printable(text)));
}

// "20 % to 40 %".
void read_zone(const YamlValue& value, AccessMix& mix) {
  const std::string text = value.text();
  const std::size_t middle = text.find(" to ");
  if (middle == std::string::npos) value.fail("must be a range such as 20 % to 40 %");
  mix.zone_begin = value.with_text(text.substr(0, middle)).share() / 100'000.0;
  mix.zone_end = value.with_text(text.substr(middle + 4)).share() / 100'000.0;
  if (mix.zone_end <= mix.zone_begin) value.fail("has an end that is not after its start");
}

void read_sizes(const SweptMap& map, AccessMix& mix, const RecipeFiles& files, bool direct) {
  const YamlValue* const sizes = map.whole("sizes");
  if ((sizes != nullptr) == (map.whole("size") != nullptr)) {
    map.self().fail("needs either 'size' or 'sizes'");
  }
  if (!sizes) {
    mix.sizes = {{read_size_of(*map.one("size"), files, direct), 100'000}};
    return;
  }
  for (const YamlValue& item : sizes->list(kMostSizes)) {
    const SweptMap one(item.map({"size", "share"}), map.sweep());
    if (!one.whole("size")) item.fail("lacks the key 'size'");
    if (!one.whole("share")) item.fail("lacks the key 'share'");
    mix.sizes.push_back({read_size_of(*one.one("size"), files, direct), one.one("share")->share()});
  }
  if (mix.sizes.empty()) sizes->fail("is empty: add at least one size");
  check_shares(*sizes, mix.sizes);
}

}  // namespace

SyncKind read_step_sync(const YamlValue& value) {
  return meaning_of(value, kStepSyncs);
}

SyncPolicy read_sync(const YamlValue& value, Sweep& sweep) {
  const SweptMap map(value.map({"every", "kind", "files", "at_end"}), sweep);
  SyncPolicy sync;
  map.read_number("every", sync.every, 0, UINT32_MAX);
  map.read("kind", sync.kind, [](const YamlValue& one) { return meaning_of(one, kSyncs); });
  constexpr std::array<Words<bool>, 2> kFiles = {{{"all", true}, {"written", false}}};
  map.read("files", sync.all_files, [&](const YamlValue& one) { return meaning_of(one, kFiles); });
  map.read_truth("at_end", sync.at_end);
  return sync;
}

AccessMix read_access(const YamlValue& value, Sweep& sweep, const RecipeFiles& files, bool direct) {
  const SweptMap map(value.map({"size", "sizes", "reads", "ratio", "random", "align", "zone",
                                "disjoint", "hot", "truncate"}),
                     sweep);
  AccessMix mix;
  read_sizes(map, mix, files, direct);
  map.read_share("reads", mix.reads);
  map.read("ratio", mix.ratio, [](const YamlValue& one) { return one.number(1e-6, 1e6); });
  if (mix.ratio > 0 && map.has("reads"))
    value.fail("has both 'reads' and 'ratio': remove one of them");
  map.read_share("random", mix.random);
  map.read_size("align", mix.align);
  if (direct && mix.align % kSector != 0) map.one("align")->fail("must be a multiple of 512 B");
  if (const auto zone = map.one("zone")) read_zone(*zone, mix);
  map.read_truth("disjoint", mix.disjoint);
  map.read("hot", mix.hot, read_hot);
  map.read_truth("truncate", mix.truncate);
  if (mix.truncate && (mix.reads != 0 || mix.ratio > 0 || mix.random != 0)) {
    value.fail(
        "truncates the files, so it must write sequentially: set reads: 0 % and remove 'random' "
        "and 'ratio'");
  }
  if (mix.truncate && (map.has("zone") || mix.disjoint)) {
    value.fail("truncates all files: remove 'zone' and 'disjoint'");
  }
  return mix;
}

}  // namespace filereel
