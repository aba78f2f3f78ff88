#include "tests/model_drive/script.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/specification/yaml_reader.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"

namespace filereel::model_drive {
namespace {

constexpr std::uint64_t kMostBytes = 1ull << 40, kMostSlots = 1024, kMostEvery = 1ull << 40;
constexpr std::size_t kMostClasses = 100, kMostTimes = 10'000, kMostOldData = 1000;
constexpr double kMostSigma = 10;
constexpr double kLeastCelsius = -100, kMostCelsius = 200;
constexpr std::uint16_t kLeastFactor = 10;  // thousandths

std::uint64_t read_time(const YamlValue& value) {
  const std::uint64_t ns = value.duration();
  if (ns > kLongestNs) value.fail("must be at most 1 h");
  return ns;
}

// One that takes time.
std::uint64_t read_span(const YamlValue& value) {
  const std::uint64_t ns = read_time(value);
  if (ns == 0) value.fail("must be longer than 0");
  return ns;
}

std::uint64_t read_rate(const YamlValue& value) {
  const std::string text = value.text();
  const std::size_t slash = text.rfind("/s");
  if (slash == std::string::npos || slash + 2 != text.size()) {
    value.fail(fmt::format("must be bytes per second, such as 500MB/s, not '{}'", printable(text)));
  }
  const std::uint64_t rate = value.with_text(text.substr(0, slash)).size();
  if (rate < kLeastRate || rate > kMostBytes) value.fail("must be from 1kB/s to 1TiB/s");
  return rate;
}

Distribution read_distribution(const YamlValue& value) {
  if (!value.is_map()) return Fixed{read_time(value)};
  if (value.has_key("median")) {
    const YamlMap map = value.map({"median", "sigma"});
    return Lognormal{read_time(map.require("median")), map.require("sigma").number(0, kMostSigma)};
  }
  if (!value.has_key("min") && !value.has_key("max")) {
    value.map({"median", "sigma", "min", "max"});
    value.fail("needs 'median' and 'sigma', or 'min' and 'max'");
  }
  const YamlMap map = value.map({"min", "max"});
  const Uniform uniform{read_time(map.require("min")), read_time(map.require("max"))};
  if (uniform.max_ns < uniform.min_ns) map.require("max").fail("must not be less than 'min'");
  return uniform;
}

std::vector<SizeClass> read_latency(const YamlValue& value) {
  if (!value.is_list()) return {{.latency = read_distribution(value)}};
  std::vector<SizeClass> classes;
  for (const YamlValue& item : value.list(kMostClasses)) {
    if (!classes.empty() && classes.back().up_to == UINT64_MAX) {
      item.fail("follows the one without 'up_to', which must be the last");
    }
    const YamlMap map = item.map({"up_to", "latency"});
    SizeClass size_class{.latency = read_distribution(map.require("latency"))};
    if (const YamlValue* const up_to = map.find("up_to")) {
      size_class.up_to = up_to->size();
      if (size_class.up_to > kMostBytes) up_to->fail("must be at most 1 TiB");
      if (!classes.empty() && size_class.up_to <= classes.back().up_to) {
        up_to->fail("must be more than that of the item before");
      }
    }
    classes.push_back(size_class);
  }
  if (classes.empty() || classes.back().up_to != UINT64_MAX) {
    value.fail("needs a last item without 'up_to', for all larger requests");
  }
  return classes;
}

KindScript read_kind(const YamlValue& value) {
  const YamlMap map = value.map({"latency", "rate"});
  KindScript kind;
  if (const YamlValue* const latency = map.find("latency")) kind.latency = read_latency(*latency);
  if (const YamlValue* const rate = map.find("rate")) kind.bytes_per_second = read_rate(*rate);
  return kind;
}

void read_kinds(const YamlValue& list, Stall& stall) {
  stall.kinds = {};
  for (const YamlValue& item : list.list(kKindNames.size())) {
    const std::string name = item.text();
    const auto found = std::ranges::find(kKindNames, name);
    if (found == kKindNames.end()) {
      item.fail(fmt::format("must be one of {}, not '{}'{}", fmt::join(kKindNames, ", "),
                            printable(name), did_you_mean(name, kKindNames)));
    }
    stall.kinds[static_cast<std::size_t>(found - kKindNames.begin())] = true;
  }
  if (std::ranges::none_of(stall.kinds, std::identity())) {
    list.fail("is empty: name a kind, or leave it out for all");
  }
}

At read_at(const YamlValue& list) {
  At at;
  for (const YamlValue& item : list.list(kMostTimes)) {
    const std::uint64_t ns = read_time(item);
    if (!at.ns.empty() && ns <= at.ns.back()) item.fail("must be later than the one before");
    at.ns.push_back(ns);
  }
  if (at.ns.empty()) list.fail("is empty: give at least one time");
  return at;
}

Stall read_stall(const YamlValue& value) {
  const YamlMap map = value.map({"kinds", "length", "share", "every", "at", "period"});
  Stall stall;
  stall.kinds.fill(true);
  if (const YamlValue* const kinds = map.find("kinds")) read_kinds(*kinds, stall);
  stall.length_ns = read_span(map.require("length"));
  int ways = 0;
  if (const YamlValue* const share = map.find("share")) {
    stall.when = Share{share->number(0, 1)};
    ++ways;
  }
  if (const YamlValue* const every = map.find("every")) {
    stall.when = Every{every->whole_number(1, kMostEvery)};
    ++ways;
  }
  if (const YamlValue* const at = map.find("at")) {
    stall.when = read_at(*at);
    ++ways;
  }
  if (const YamlValue* const period = map.find("period")) {
    stall.when = Period{read_span(*period)};
    if (std::get<Period>(stall.when).ns <= stall.length_ns) {
      period->fail("must be longer than 'length'");
    }
    ++ways;
  }
  if (ways != 1) value.fail("needs one of 'share', 'every', 'at' and 'period'");
  return stall;
}

WriteCache read_write_cache(const YamlValue& value) {
  const YamlMap map = value.map({"size", "fast", "slow", "refill"});
  const YamlValue& size = map.require("size");
  WriteCache cache{.size = size.size(),
                   .fast = read_rate(map.require("fast")),
                   .slow = read_rate(map.require("slow"))};
  if (cache.size < kBlock || cache.size > kMostBytes) size.fail("must be from 4 KiB to 1 TiB");
  if (cache.slow > cache.fast) map.require("slow").fail("must not be more than 'fast'");
  if (const YamlValue* const refill = map.find("refill")) cache.refill = read_rate(*refill);
  return cache;
}

// What a rate may be multiplied with.
std::uint16_t read_factor(const YamlValue& value) {
  const std::uint16_t factor = value.permille();
  if (factor < kLeastFactor) value.fail("must be at least 1 %");
  return factor;
}

Decay read_decay(const YamlValue& value) {
  const YamlMap map = value.map({"from", "to"});
  const Decay decay{map.require("from").permille(), read_factor(map.require("to"))};
  if (decay.from == 1000) map.require("from").fail("must be less than 100 %");
  return decay;
}

double read_celsius(const YamlValue& value) {
  return value.number(kLeastCelsius, kMostCelsius);
}

Throttle read_throttle(const YamlValue& value, double idle) {
  const YamlMap map = value.map({"above", "below", "to"});
  const Throttle throttle{.above = read_celsius(map.require("above")),
                          .below = read_celsius(map.require("below")),
                          .to = read_factor(map.require("to"))};
  const YamlValue& below = map.require("below");
  if (throttle.below > throttle.above) below.fail("must not be more than 'above'");
  if (throttle.below <= idle) below.fail("must be more than 'idle', or the drive never recovers");
  return throttle;
}

Temperature read_temperature(const YamlValue& value) {
  const YamlMap map = value.map({"idle", "hottest", "at", "half_time", "throttle"});
  const double idle = read_celsius(map.require("idle"));
  const double hottest = read_celsius(map.require("hottest"));
  if (hottest <= idle) map.require("hottest").fail("must be more than 'idle'");
  return {.idle = idle,
          .hottest = hottest,
          .at = read_rate(map.require("at")),
          .half_time_ns = read_span(map.require("half_time")),
          .throttle = read_throttle(map.require("throttle"), idle)};
}

std::uint64_t read_blocks(const YamlValue& value) {
  const std::uint64_t bytes = value.size();
  if (bytes % kBlock != 0) value.fail("must be a multiple of 4 KiB");
  return bytes;
}

std::vector<OldData> read_old_data(const YamlValue& list, std::uint64_t drive_size) {
  std::vector<OldData> found;
  std::uint64_t end = 0;
  for (const YamlValue& item : list.list(kMostOldData)) {
    const YamlMap map = item.map({"offset", "length", "rate"});
    const OldData old{.offset = read_blocks(map.require("offset")),
                      .length = read_blocks(map.require("length")),
                      .bytes_per_second = read_rate(map.require("rate"))};
    if (old.offset < end) {
      map.require("offset").fail("must not be less than the end of the item before");
    }
    if (old.length == 0) map.require("length").fail("must be more than 0");
    if (old.offset > drive_size || old.length > drive_size - old.offset) {
      item.fail("ends beyond the drive");
    }
    end = old.offset + old.length;
    found.push_back(old);
  }
  return found;
}

// What is known of the medium. The rest of the script was read before.
void read_medium(const YamlMap& map, Script& script) {
  if (const YamlValue* const cache = map.find("write_cache")) {
    script.write_cache = read_write_cache(*cache);
    if (script.of(Kind::write).bytes_per_second != 0) {
      cache->fail("replaces the rate of writes; remove one of the two");
    }
  }
  if (const YamlValue* const decay = map.find("decay")) {
    script.decay = read_decay(*decay);
    if (!script.write_cache && script.of(Kind::write).bytes_per_second == 0) {
      decay->fail("needs a rate of writes: add 'write_cache', or 'rate' to 'write'");
    }
  }
  if (const YamlValue* const temperature = map.find("temperature")) {
    script.temperature = read_temperature(*temperature);
  }
  if (const YamlValue* const old = map.find("old_data")) {
    script.old_data = read_old_data(*old, script.size);
  }
}

std::uint64_t read_drive_size(const YamlValue& value) {
  const std::uint64_t size = value.size();
  if (size < kMiB || size > kMostBytes || size % kBlock != 0) {
    value.fail("must be from 1 MiB to 1 TiB and a multiple of 4 KiB");
  }
  return size;
}

}  // namespace

Script read_script(std::string_view text, std::string_view file_name) {
  const YamlMap map = parse_yaml(text, file_name, "the script")
                          .map({"size", "seed", "slots", "read", "write", "flush", "discard",
                                "stalls", "write_cache", "decay", "temperature", "old_data"});
  Script script;
  script.size = read_drive_size(map.require("size"));
  if (const YamlValue* const seed = map.find("seed")) {
    script.seed = seed->whole_number(0, UINT64_MAX);
  }
  if (const YamlValue* const slots = map.find("slots")) {
    script.slots = slots->whole_number(1, kMostSlots);
  }
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (const YamlValue* const kind = map.find(kKindNames[i])) script.kinds[i] = read_kind(*kind);
  }
  if (const YamlValue* const stalls = map.find("stalls")) {
    for (const YamlValue& item : stalls->list(kMaxStalls)) {
      script.stalls.push_back(read_stall(item.called("a stall")));
    }
  }
  read_medium(map, script);
  return script;
}

}  // namespace filereel::model_drive
