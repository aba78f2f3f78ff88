#include "tests/model_drive/script.h"

#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"

namespace filereel::model_drive {
namespace {

Script script_of(const std::string& rest) {
  return read_script("size: 64 MiB\n" + rest, "drive.yaml");
}

// What is said of a script whose first line is the size.
std::string refusal_of(const std::string& rest) {
  try {
    script_of(rest);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unusable_input);
    const std::string text = error.what();
    CHECK(text.find('\n') == std::string::npos);
    return text;
  }
  return "nothing";
}

void check_refused(const std::string& rest, const std::string& begin, const std::string& part) {
  const std::string text = refusal_of(rest);
  INFO(text);
  CHECK(text.starts_with(begin));
  CHECK(text.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("a script that only says a size is a drive that is never slow") {
  const Script script = script_of("");
  CHECK(script.size == 64 << 20);
  CHECK(script.seed == 1);
  CHECK(script.slots == 32);
  CHECK(script.stalls.empty());
  CHECK_FALSE(script.write_cache.has_value());
  CHECK_FALSE(script.decay.has_value());
  CHECK_FALSE(script.temperature.has_value());
  CHECK(script.old_data.empty());
  for (const KindScript& kind : script.kinds) {
    CHECK(kind.bytes_per_second == 0);
    REQUIRE(kind.latency.size() == 1);
    CHECK(std::get<Fixed>(kind.latency[0].latency).ns == 0);
  }
}

TEST_CASE("each form of a latency is read") {
  const Script script = script_of(
      "seed: 7\nslots: 4\n"
      "read: {latency: 200us, rate: 500MB/s}\n"
      "write: {latency: {median: 300us, sigma: 0.3}}\n"
      "flush: {latency: {min: 1ms, max: 2ms}}\n"
      "discard:\n  latency:\n"
      "    - {up_to: 4KiB, latency: 10us}\n"
      "    - {up_to: 1MiB, latency: {min: 20us, max: 30us}}\n"
      "    - {latency: 40us}\n");
  CHECK(script.seed == 7);
  CHECK(script.slots == 4);
  CHECK(std::get<Fixed>(script.of(Kind::read).latency[0].latency).ns == 200'000);
  CHECK(script.of(Kind::read).bytes_per_second == 500'000'000);
  const auto& lognormal = std::get<Lognormal>(script.of(Kind::write).latency[0].latency);
  CHECK(lognormal.median_ns == 300'000);
  CHECK(lognormal.sigma == 0.3);
  const auto& uniform = std::get<Uniform>(script.of(Kind::flush).latency[0].latency);
  CHECK(uniform.min_ns == 1'000'000);
  CHECK(uniform.max_ns == 2'000'000);
  const auto& classes = script.of(Kind::discard).latency;
  REQUIRE(classes.size() == 3);
  CHECK(classes[0].up_to == 4096);
  CHECK(classes[1].up_to == 1 << 20);
  CHECK(std::get<Uniform>(classes[1].latency).max_ns == 30'000);
  CHECK(std::get<Fixed>(classes[2].latency).ns == 40'000);
}

TEST_CASE("each form of a stall is read") {
  const Script script = script_of(
      "stalls:\n"
      "  - {kinds: [read, discard], length: 200ms, share: 0.001}\n"
      "  - {length: 1s, every: 1000}\n"
      "  - {kinds: [flush], length: 2s, at: [1.5s, 4s]}\n"
      "  - {kinds: [write], length: 100ms, period: 2s}\n");
  REQUIRE(script.stalls.size() == 4);
  CHECK(script.stalls[0].kinds == std::array{true, false, false, true});
  CHECK(script.stalls[0].length_ns == 200'000'000);
  CHECK(std::get<Share>(script.stalls[0].when).of == 0.001);
  CHECK(script.stalls[1].kinds == std::array{true, true, true, true});
  CHECK(std::get<Every>(script.stalls[1].when).count == 1000);
  CHECK(std::get<At>(script.stalls[2].when).ns ==
        std::vector<std::uint64_t>{1'500'000'000, 4'000'000'000});
  CHECK(std::get<Period>(script.stalls[3].when).ns == 2'000'000'000);
}

TEST_CASE("a write cache is read, and may never be freed") {
  const Script script =
      script_of("write_cache: {size: 512MiB, fast: 200MB/s, slow: 40MB/s, refill: 10MB/s}");
  REQUIRE(script.write_cache.has_value());
  CHECK(script.write_cache->size == 512 << 20);
  CHECK(script.write_cache->fast == 200'000'000);
  CHECK(script.write_cache->slow == 40'000'000);
  CHECK(script.write_cache->refill == 10'000'000);
  const Script full = script_of("write_cache: {size: 4KiB, fast: 1kB/s, slow: 1kB/s}");
  CHECK(full.write_cache.value().refill == 0);
}

TEST_CASE("a decay is read, in percent") {
  const Script script = script_of("write: {rate: 1GB/s}\ndecay: {from: 50 %, to: 37.5%}");
  REQUIRE(script.decay.has_value());
  CHECK(script.decay->from == 500);
  CHECK(script.decay->to == 375);
}

TEST_CASE("a temperature is read with its throttle") {
  const Script script = script_of(
      "temperature: {idle: 35, hottest: 85.5, at: 200MB/s, half_time: 20s, "
      "throttle: {above: 75, below: 70, to: 30 %}}");
  REQUIRE(script.temperature.has_value());
  CHECK(script.temperature->idle == 35);
  CHECK(script.temperature->hottest == 85.5);
  CHECK(script.temperature->at == 200'000'000);
  CHECK(script.temperature->half_time_ns == 20'000'000'000);
  CHECK(script.temperature->throttle.above == 75);
  CHECK(script.temperature->throttle.below == 70);
  CHECK(script.temperature->throttle.to == 300);
}

TEST_CASE("old data is read") {
  const Script script = script_of(
      "old_data:\n  - {offset: 0, length: 4KiB, rate: 20MB/s}\n"
      "  - {offset: 4KiB, length: 65532KiB, rate: 1kB/s}\n");
  REQUIRE(script.old_data.size() == 2);
  CHECK(script.old_data[0].length == 4096);
  CHECK(script.old_data[0].bytes_per_second == 20'000'000);
  CHECK(script.old_data[1].offset == 4096);
}

TEST_CASE("JSON is a script, too") {
  const Script script =
      read_script(R"({"size": "1MiB", "stalls": [{"length": "1s", "every": 3}]})", "drive.json");
  CHECK(std::get<Every>(script.stalls.at(0).when).count == 3);
}

TEST_CASE("the example of the documentation is a script") {
  const std::string path = std::string(getenv("FILEREEL_TEST_DATA")) + "/model_drive/README.md";
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string fence = "```yaml\n";
  const std::size_t begin = text.find(fence);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = text.find("```", begin + fence.size());
  const Script script =
      read_script(text.substr(begin + fence.size(), end - begin - fence.size()), "README.md");
  CHECK(script.stalls.size() == 4);
}

TEST_CASE("what a script cannot be is refused with its line and what is wrong") {
  const std::string at2 = "drive.yaml:2:";
  check_refused("sise: 1", at2, "unknown key 'sise'");
  check_refused("slots: 0", at2, "'slots' must be a whole number from 1 to 1024");
  check_refused("seed: -1", at2, "'seed' must be a whole number");
  check_refused("read: 200us", at2, "must be a map");
  check_refused("read: {delay: 1us}", at2, "unknown key 'delay'");
  check_refused("read: {latency: 200}", at2, "has no unit");
  check_refused("read: {latency: 200MB}", at2, "has an unknown unit");
  check_refused("read: {latency: -1us}", at2, "is negative");
  check_refused("read: {latency: 2h}", at2, "at most 1 h");
  check_refused("read: {latency: {}}", at2, "needs 'median' and 'sigma'");
  check_refused("read: {latency: {mean: 1us}}", at2, "unknown key 'mean'");
  check_refused("read: {latency: {median: 1us}}", at2, "lacks the key 'sigma'");
  check_refused("read: {latency: {median: 1us, sigma: 11}}", at2, "from 0 to 10");
  check_refused("read: {latency: {median: 1us, sigma: nan}}", at2, "from 0 to 10");
  check_refused("read: {latency: {median: 1us, sigma: 1, min: 1us}}", at2, "unknown key 'min'");
  check_refused("read: {latency: {max: 1us}}", at2, "lacks the key 'min'");
  check_refused("read: {latency: {min: 2us, max: 1us}}", at2, "must not be less than 'min'");
  check_refused("read: {latency: []}", at2, "needs a last item without 'up_to'");
  check_refused("read: {latency: [{up_to: 4KiB, latency: 1us}]}", at2, "needs a last item");
  check_refused("read:\n  latency:\n    - {latency: 1us}\n    - {latency: 1us}",
                "drive.yaml:5:", "must be the last");
  check_refused(
      "read:\n  latency:\n    - {up_to: 8KiB, latency: 1us}\n    - {up_to: 8KiB, latency: 1us}",
      "drive.yaml:5:", "must be more than");
  check_refused("read: {rate: 500MB}", at2, "such as 500MB/s");
  check_refused("read: {rate: 500us/s}", at2, "has an unknown unit");
  check_refused("read: {rate: 0/s}", at2, "from 1kB/s to 1TiB/s");
  check_refused("stalls: {}", at2, "must be a list");
  check_refused("stalls: [{every: 1}]", at2, "a stall lacks the key 'length'");
  check_refused("stalls: [{length: 1s}]", at2, "needs one of 'share', 'every', 'at' and 'period'");
  check_refused("stalls: [{length: 1s, every: 1, share: 1}]", at2, "needs one of");
  check_refused("stalls: [{length: 0, every: 1}]", at2, "must be longer than 0");
  check_refused("stalls: [{length: 1s, every: 0}]", at2, "whole number from 1");
  check_refused("stalls: [{length: 1s, share: 1.01}]", at2, "a number from 0 to 1, not '1.01'");
  check_refused("stalls: [{length: 1s, share: -0.1}]", at2, "a number from 0 to 1");
  check_refused("stalls: [{length: 1s, share: 1%}]", at2, "a number from 0 to 1");
  check_refused("stalls: [{length: 1s, period: 1s}]", at2, "must be longer than 'length'");
  check_refused("stalls: [{length: 1s, at: []}]", at2, "is empty");
  check_refused("stalls: [{length: 1s, at: [2s, 1s]}]", at2, "must be later");
  check_refused("stalls: [{length: 1s, at: 1s}]", at2, "must be a list");
  check_refused("stalls: [{length: 1s, every: 1, kinds: []}]", at2, "name a kind");
  check_refused("stalls: [{length: 1s, every: 1, kinds: [raed]}]", at2, "did you mean 'read'?");
  std::string many = "stalls:\n";
  for (std::size_t i = 0; i <= kMaxStalls; ++i) many += "  - {length: 1s, every: 1}\n";
  check_refused(many, "drive.yaml:3:", "at most 64");
  check_refused("write_cache: 512MiB", at2, "'write_cache' must be a map");
  check_refused("write_cache: {size: 1MiB, fast: 2MB/s}", at2, "lacks the key 'slow'");
  check_refused("write_cache: {size: 1MiB, fast: 1MB/s, slow: 2MB/s}",
                "drive.yaml:2:46:", "'slow' must not be more than 'fast'");
  check_refused("write_cache: {size: 4kB, fast: 2MB/s, slow: 1MB/s}", at2, "from 4 KiB to 1 TiB");
  check_refused("write_cache: {size: 1MiB, fast: 2MB/s, slow: 1MB/s, refill: 0}", at2,
                "bytes per second");
  check_refused("write: {rate: 1MB/s}\nwrite_cache: {size: 1MiB, fast: 2MB/s, slow: 1MB/s}",
                "drive.yaml:3:14:", "'write_cache' replaces the rate of writes");
  check_refused("decay: {from: 50%, to: 40%}", at2, "'decay' needs a rate of writes");
  check_refused("decay: {from: 50%}", at2, "lacks the key 'to'");
  check_refused("decay: {from: 100%, to: 40%}", at2, "'from' must be less than 100 %");
  check_refused("decay: {from: 0.5, to: 40%}", at2, "'from' must be a percentage");
  check_refused("decay: {from: 50%, to: 0.9%}", "drive.yaml:2:24:", "'to' must be at least 1 %");
  const auto temperature = [](const std::string& rest) { return "temperature: {" + rest + "}"; };
  const std::string warm = "idle: 35, hottest: 85, at: 1MB/s, half_time: 1s";
  check_refused(temperature(warm), at2, "lacks the key 'throttle'");
  check_refused(temperature(warm + ", throttle: 30%"), at2, "'throttle' must be a map");
  check_refused(temperature(warm + ", throttle: {above: 70, below: 71, to: 30%}"),
                "drive.yaml:2:93:", "'below' must not be more than 'above'");
  check_refused(temperature(warm + ", throttle: {above: 70, below: 35, to: 30%}"), at2,
                "'below' must be more than 'idle'");
  check_refused(temperature(warm + ", throttle: {above: 70, below: 60, to: 0%}"), at2,
                "'to' must be at least 1 %");
  check_refused(temperature("idle: 35, hottest: 35, at: 1MB/s, half_time: 1s"), at2,
                "'hottest' must be more than 'idle'");
  check_refused(temperature("idle: 35C, hottest: 35, at: 1MB/s, half_time: 1s"), at2,
                "'idle' must be a number from -100 to 200");
  check_refused(temperature("idle: 35, hottest: 85, at: 1MB/s, half_time: 0"), at2,
                "'half_time' must be longer than 0");
  check_refused("old_data: {offset: 0}", at2, "'old_data' must be a list");
  check_refused("old_data: [{offset: 0, rate: 1MB/s}]", at2, "lacks the key 'length'");
  check_refused("old_data: [{offset: 1kB, length: 4KiB, rate: 1MB/s}]", at2,
                "'offset' must be a multiple of 4 KiB");
  check_refused("old_data: [{offset: 0, length: 0, rate: 1MB/s}]", at2,
                "'length' must be more than 0");
  check_refused("old_data: [{offset: 4KiB, length: 64MiB, rate: 1MB/s}]",
                "drive.yaml:2:12:", "an item of 'old_data' ends beyond the drive");
  check_refused("old_data: [{offset: 128MiB, length: 4KiB, rate: 1MB/s}]", at2, "beyond the drive");
  check_refused(
      "old_data:\n  - {offset: 4KiB, length: 8KiB, rate: 1MB/s}\n"
      "  - {offset: 8KiB, length: 4KiB, rate: 1MB/s}",
      "drive.yaml:4:14:", "must not be less than the end of the item before");
  check_refused("size: 64 MiB", at2, "duplicate key");
}

TEST_CASE("a drive has a size that a loop device can have") {
  for (const std::string size : {"4 KiB", "2 TiB", "1048577", "0"}) {
    CAPTURE(size);
    CHECK_THROWS_WITH_AS(
        read_script("size: " + size, "drive.yaml"),
        "drive.yaml:1:7: 'size' must be from 1 MiB to 1 TiB and a multiple of 4 KiB", Error);
  }
  CHECK_THROWS_WITH_AS(read_script("seed: 1", "drive.yaml"),
                       "drive.yaml:1:1: the script lacks the key 'size'", Error);
}

}  // namespace filereel::model_drive
