#include "replay/run/client_meeting.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <xxhash.h>

#include "filesets/system/printable.h"
#include "replay/json.h"
#include "replay/results/client_samples.h"
#include "replay/results/result_json.h"

namespace filereel {
namespace {

std::string text_of(const StepSamples& own, const StartFigures& start) {
  Json json = {{"late_s", start.late_s},
               {"planned_s", start.planned_s},
               {"clock_error_s", start.clock_error_s},
               {"samples", {sample_to_json(own.all)}}};
  for (const Sample& one : own.by_volume) json["samples"].push_back(sample_to_json(one));
  return json.dump();
}

std::string merged(const std::vector<std::string>& texts, const std::vector<std::string>& hosts) {
  std::vector<std::vector<ClientSample>> by_sample;  // then by client
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Json json = Json::parse(texts[i]);
    const std::size_t count = json.at("samples").size();
    if (i == 0) by_sample.resize(count);
    for (std::size_t j = 0; j < std::min(count, by_sample.size()); ++j) {
      by_sample[j].push_back({sample_from_json(json.at("samples")[j].get<std::string>()), hosts[i],
                              json.at("planned_s").get<double>(), json.at("late_s").get<double>(),
                              json.at("clock_error_s").get<double>()});
    }
  }
  Json all = Json::array();
  for (const auto& clients : by_sample) {
    // A client whose step failed has only the sample of all.
    if (clients.size() == texts.size()) all.push_back(sample_to_json(merge_samples(clients)));
  }
  return all.dump();
}

// Of the running executable, 16 hexadecimal digits.
std::string binary_hash() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::vector<char> block(1 << 20);
  XXH3_state_t* const state = XXH3_createState();
  XXH3_64bits_reset(state);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    XXH3_64bits_update(state, block.data(), static_cast<std::size_t>(file.gcount()));
  }
  const XXH64_hash_t hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return fmt::format("{:016x}", hash);
}

std::string kernel() {
  utsname name{};
  return uname(&name) == 0 ? fmt::format("{} {}", name.release, name.version) : "unknown";
}

}  // namespace

StepSamples merge_of_all(Clients& clients, const StepSamples& own, const StartFigures& start) {
  const std::string answer = clients.meet(
      text_of(own, start),
      [&](const std::vector<std::string>& all) { return merged(all, clients.hosts()); });
  StepSamples samples;
  const Json json = Json::parse(answer);
  samples.all = sample_from_json(json.at(0).get<std::string>());
  for (std::size_t i = 1; i < json.size(); ++i) {
    samples.by_volume.push_back(sample_from_json(json[i].get<std::string>()));
  }
  return samples;
}

std::vector<Warning> compare_clients(Clients& clients) {
  const std::string answer = clients.meet(
      Json({binary_hash(), kernel()}).dump(), [&](const std::vector<std::string>& all) {
        Json warnings = Json::array();
        const Json first = Json::parse(all.front());
        for (std::size_t what = 0; what < first.size(); ++what) {
          std::vector<std::string> others;
          for (std::size_t i = 1; i < all.size(); ++i) {
            if (Json::parse(all[i]).at(what) == first[what]) continue;
            others.push_back(fmt::format("{} ({})", i, printable(clients.hosts()[i])));
          }
          warnings.push_back(fmt::format("{}", fmt::join(others, ", ")));
        }
        return warnings.dump();
      });
  const Json differ = Json::parse(answer);
  std::vector<Warning> warnings;
  if (const auto who = differ.at(0).get<std::string>(); !who.empty()) {
    warnings.push_back({"client-binary", "another build of filereel on client " + who,
                        "install the same version everywhere"});
  }
  if (const auto who = differ.at(1).get<std::string>(); !who.empty()) {
    warnings.push_back({"client-kernel", "another kernel on client " + who,
                        "compare figures by client, or use the same kernel everywhere"});
  }
  return warnings;
}

}  // namespace filereel
