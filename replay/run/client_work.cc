// All clients run the same code on the same plan, each on its own machine, and meet at fixed
// points. The meetings have no names: the n-th call of a client meets the n-th call of the others.
// So every client must make the same calls in the same order, also one that does not work at this
// point (idle_), and no meeting may depend on what only one client knows, such as its free space or
// its files. A branch with a meeting on one side only would make two clients wait for each other
// until the timeout.
//
// The meetings of a point: one in prepare(), after the first client has made the common directory;
// one in free_bytes(), which yields the least of all; two for each volume in fill(), before and
// after files take space, so that nobody's check sees half of another's files. Of a step: when the
// caches are set, at the start, at the end if the files are shared (nobody may verify or change
// them before), and for the samples.
//
// A failure throws; the runner announces it, and the meetings of the others throw as well. After a
// requested stop they throw, too.
#include "replay/run/client_work.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <xxhash.h>

#include "filesets/scan/populate.h"
#include "filesets/system/error.h"
#include "filesets/system/failure_text.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/clients/clients.h"
#include "replay/jobs/room.h"
#include "replay/json.h"
#include "replay/results/client_samples.h"
#include "replay/results/result_json.h"
#include "replay/run/plan_digest.h"
#include "replay/run/result_filling.h"

namespace filereel {

// Every free function here that changes its Clients is one meeting: all clients contribute a text,
// the first one combines, and all get its answer (Clients::meet). What a client needs afterwards
// must be in the answer, for the combination runs at the first client only. For example, a client
// must know whether a step of another one failed, or it would go on alone; so the answer of
// merge_of_all() has the samples of all without their bulky parts (short_text). The merged sample
// itself stays at the first client, which writes the results.
//
// Contributions are JSON, and may come from another build of filereel: whatever cannot be read is
// an error that says so. If the combination throws, the first client fails, and with it all.
namespace {

Json from_client(std::string_view text) {
  return parse_json(text, "the message of a client", "use the same version of filereel everywhere");
}

std::string text_of(const std::optional<StepSamples>& own, const StartFigures& start) {
  if (!own) return "";
  Json json = {{"late_s", std::max(start.late_s + own->begin_s, 0.0)},
               {"planned_s", start.planned_s},
               {"clock_error_s", start.clock_error_s},
               {"samples", {sample_to_json(own->all)}}};
  for (const Sample& sample : own->by_volume) json["samples"].push_back(sample_to_json(sample));
  return json.dump();
}

std::vector<ClientSample> samples_from(const std::string& text, const std::string& host) {
  std::vector<ClientSample> samples;
  const Json json = from_client(text);
  for (const Json& item : json.at("samples")) {
    samples.push_back({sample_from_json(item.get<std::string>()), host,
                       json.at("planned_s").get<double>(), json.at("late_s").get<double>(),
                       json.at("clock_error_s").get<double>()});
  }
  return samples;
}

// By volume, all together first. `texts`: of the first clients, then empty ones of those that have
// not worked.
std::vector<Sample> merged(const std::vector<std::string>& texts, const Clients& clients) {
  std::vector<std::vector<ClientSample>> by_client;
  std::size_t volumes = SIZE_MAX;  // a client whose step failed has only the sample of all
  for (std::size_t i = 0; i < texts.size() && !texts[i].empty(); ++i) {
    try {
      by_client.push_back(samples_from(texts[i], clients.hosts()[i]));
    } catch (const std::exception& error) {
      throw_failed(
          fmt::format("the figures of client {} ({}) cannot be read ({}): install the "
                      "same version of filereel everywhere",
                      i, printable(clients.hosts()[i]), failure_text(error)));
    }
    volumes = std::min(volumes, by_client.back().size());
  }
  std::vector<Sample> all;
  for (std::size_t j = 0; j < volumes; ++j) {
    std::vector<ClientSample> of_one;
    for (std::vector<ClientSample>& client : by_client) of_one.push_back(std::move(client[j]));
    all.push_back(merge_samples(of_one));
  }
  return all;
}

// What clients but the first need: whether and why a step failed.
std::string short_text(std::span<const Sample> samples) {
  Json json = Json::array();
  for (Sample sample : samples) {
    sample.latency.clear();
    sample.service.clear();
    sample.slowest.clear();
    sample.course.reset();
    sample.clients.reset();
    json.push_back(sample_to_json(sample));
  }
  return json.dump();
}

StepSamples step_samples(std::vector<Sample> samples) {
  StepSamples all{.all = std::move(samples.front()), .by_volume = {}};
  std::ranges::move(std::span(samples).subspan(1), std::back_inserter(all.by_volume));
  return all;
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

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// "client 1 (anna), 2 (ben) and 5 more".
std::string names_of(const Clients& clients, std::span<const std::size_t> ranks) {
  constexpr std::size_t kFew = 5;
  std::vector<std::string> names;
  for (const std::size_t rank : ranks.first(std::min(ranks.size(), kFew))) {
    names.push_back(fmt::format("{} ({})", rank, printable(clients.hosts()[rank])));
  }
  const std::string more =
      ranks.size() > kFew ? fmt::format(" and {} more", ranks.size() - kFew) : "";
  return fmt::format("client {}{}", fmt::join(names, ", "), more);
}

// The names of clients whose value differs from that of the first; "" if there are none.
std::string others_than_first(const Clients& clients, std::span<const Json> values) {
  std::vector<std::size_t> ranks;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] != values.front()) ranks.push_back(i);
  }
  return ranks.empty() ? "" : names_of(clients, ranks);
}

// What two clients should have in common: the build, and the kernel.
std::vector<Warning> compare_clients(Clients& clients) {
  const std::string answer = clients.meet(
      Json({binary_hash(), kernel()}).dump(), [&](const std::vector<std::string>& all) {
        Json warnings = Json::array();
        for (std::size_t what = 0; what < 2; ++what) {
          std::vector<Json> values;
          for (const std::string& text : all) values.push_back(from_client(text).at(what));
          warnings.push_back(others_than_first(clients, values));
        }
        return warnings.dump();
      });
  const Json differ = from_client(answer);
  std::vector<Warning> warnings;
  if (const auto who = differ.at(0).get<std::string>(); !who.empty()) {
    warnings.push_back({"client-binary", "another build of filereel on " + who,
                        "install the same version everywhere"});
  }
  if (const auto who = differ.at(1).get<std::string>(); !who.empty()) {
    warnings.push_back({"client-kernel", "another kernel on " + who,
                        "compare figures by client, or use the same kernel everywhere"});
  }
  return warnings;
}

}  // namespace

StepSamples merge_of_all(Clients& clients, const std::optional<StepSamples>& own,
                         const StartFigures& start) {
  std::vector<Sample> samples;
  const std::string answer =
      clients.meet(text_of(own, start), [&](const std::vector<std::string>& all) {
        samples = merged(all, clients);
        return short_text(samples);
      });
  if (samples.empty()) {  // not the first client
    for (const Json& one : from_client(answer)) {
      samples.push_back(sample_from_json(one.get<std::string>()));
    }
  }
  return step_samples(std::move(samples));
}

void check_clients(const Clients& clients, const Plan& plan) {
  for (const std::unique_ptr<Job>& job : plan.jobs) {
    if (!job->options(0).copy_commands.empty()) {
      throw Error(ErrorKind::usage,
                  "copy_command does not apply to --clients mpi: the programs of all clients would "
                  "share the same processors");
    }
    for (std::uint64_t point = 0; point < job->points(); ++point) {
      const std::uint32_t wanted = job->clients(point);
      if (wanted <= clients.count()) continue;
      throw Error(
          ErrorKind::usage,
          fmt::format("{} needs {}, not {}: use mpirun -np {}", printable(job->record().name),
                      counted(wanted, "client"), clients.count(), wanted));
    }
  }
}

void check_same_plan(Clients& clients, const RunRequest& request) {
  const std::string who =
      clients.meet(common_plan(request), [&](const std::vector<std::string>& all) {
        std::vector<Json> plans;
        for (const std::string& text : all) plans.push_back(from_client(text));
        return others_than_first(clients, plans);
      });
  if (who.empty()) return;
  throw_failed(
      fmt::format("the plan of {} differs from that of client 0: use the same options, recipes, "
                  "file sets and reels everywhere",
                  who));
}

void note_clients(Clients& clients, const Plan& plan, Result& result) {
  for (const std::unique_ptr<Job>& job : plan.jobs) {
    const JobRecord named = job->record();
    Parameters& settings =
        std::ranges::find(result.plan.jobs, named.name, &JobRecord::name)->settings;
    if (contains(settings, "clients", &Parameters::value_type::first)) {
      continue;  // noted with another set
    }
    const JobOptions options = job->options(0);
    if (!contains(named.axes, "clients", &SweepAxis::name)) {
      const std::uint32_t wanted = job->clients(0);
      settings.emplace_back("clients", std::to_string(wanted > 0 ? wanted : clients.count()));
    }
    if (options.share) settings.emplace_back("share", "true");
    if (options.shift > 0) settings.emplace_back("shift", std::to_string(options.shift));
  }
  for (Warning& warning : compare_clients(clients)) result.warn(std::move(warning));
}

void gather_warnings(Clients& clients, Result& result) {
  Json own = Json::array();
  for (const Warning& one : result.warnings) own.push_back({one.code, one.text, one.next_step});
  clients.meet(dump(own), [&](const std::vector<std::string>& all) {
    const Json of_first = from_client(all.front());
    std::map<Json, std::vector<std::size_t>> others;
    for (std::size_t i = 1; i < all.size(); ++i) {
      for (const Json& item : from_client(all[i])) {
        if (!contains(of_first, item)) others[item].push_back(i);
      }
    }
    for (const auto& [warning, ranks] : others) {
      const auto [code, text, next_step] =
          warning.get<std::tuple<std::string, std::string, std::string>>();
      result.warn({code, fmt::format("{}: {}", names_of(clients, ranks), text), next_step});
    }
    return std::string();
  });
}

namespace {

// Returns false if the stop was requested.
bool create_files(const FileSet& files, Volume& volume, const std::stop_token& stop) {
  if (populate_below(
          volume.root(), files, volume.describe().target,
          {.keep_set_id = false, .stop = stop, .time_unit_ns = volume.limits().time_unit_ns}, {})
          .interrupted) {
    return false;
  }
  volume.sync();  // a first step with warm caches must not write this
  return true;
}

}  // namespace

ClientWork::ClientWork(Clients& clients, bool several, const Job& job, std::uint64_t point,
                       const Volumes& volumes)
    : clients_(clients), several_(several), job_(job), point_(point), volumes_(volumes) {
  const std::uint32_t wanted = job.clients(point);
  rank_.clients = wanted > 0 ? wanted : clients.count();
  rank_.share = several && job.options(point).share;
  idle_ = clients.rank() >= rank_.clients;
  rank_.client = idle_ ? 0 : clients.rank();
}

void ClientWork::prepare(const std::optional<Format>& format,
                         const std::function<void()>& make_condition) const {
  for (Volume* volume : volumes_.all()) volume->prepare(format);
  if (clients_.first()) {
    enter(0);  // creates a common directory
    make_condition();
  }
  clients_.meet();
  enter(clients_.rank());
}

std::uint64_t ClientWork::free_bytes() const {
  std::uint64_t least = UINT64_MAX;
  for (const Volume* volume : volumes_.all()) {
    const std::uint64_t free = volume->free_bytes().value_or(volume->capacity());
    // Reserve for partly filled clusters and file system metadata.
    least = std::min(least, (free - free / 32) / trees());
  }
  return number_of(clients_.meet(bytes_of(least), [](const std::vector<std::string>& all) {
    return bytes_of(number_of(*std::ranges::min_element(all, {}, number_of)));
  }));
}

void ClientWork::fit(std::uint64_t free_bytes, Result& result) {
  const auto fit_as = [&](std::uint32_t client, Result& to) {
    ClientRank rank = rank_;
    rank.client = client;
    return job_.fit(point_, {volumes_, free_bytes, to, rank});
  };
  const std::size_t before = result.warnings.size();
  own_ = fit_as(rank_.client, result);
  name_warnings(job_, before, result);
  const std::uint32_t shift = job_.options(point_).shift % rank_.clients;
  if (shift == 0) return;
  shifted_to_ = (rank_.client + shift) % rank_.clients;
  Result same;  // its warnings are in the result already
  shifted_ = fit_as(shifted_to_, same);
}

bool ClientWork::fill(const std::stop_token& stop) const {
  const bool works = !idle_ && !(rank_.share && rank_.client > 0);
  for (std::size_t i = 0; i < kRoles; ++i) {
    const auto role = static_cast<Role>(i);
    Volume* const volume = volumes_.of(role);
    if (!volume) continue;
    const Contents contents = own_->contents(role);
    if (works && contents.largest) {
      const std::string what = job_.set().empty() ? "the files of " + job_.record().name
                                                  : fmt::format("the file set '{}'", job_.set());
      check_room(*contents.largest, what, *volume, contents.copies * trees(), job_.room_advice());
    }
    clients_.meet();  // files take space
    if (works && contents.initial && !create_files(*contents.initial, *volume, stop)) return false;
    clients_.meet();
  }
  return true;
}

std::optional<StepSamples> ClientWork::measure(std::size_t step, MeasureOptions how) const {
  StartFigures start;
  how.meet = [&] { clients_.meet(); };
  how.gate = [&](const std::function<void()>& begin) { start = clients_.start(begin); };
  how.meet_at_end = rank_.share;
  // A common tree is verified once.
  if (rank_.share && !clients_.first() && how.verify == Verification::tree) {
    how.verify = Verification::results;
  }
  std::optional<StepSamples> samples;
  if (idle_) {
    how.meet();
    how.gate([] {});
    if (how.meet_at_end) how.meet();
  } else {
    const bool shifts = shifted_ && own_->steps()[step].only_reads;
    if (shifts) enter(shifted_to_);
    samples = measure_step(shifts ? *shifted_ : *own_, step, volumes_, how);
    if (shifts) enter(clients_.rank());
    if (!samples) return std::nullopt;
  }
  return several_ ? merge_of_all(clients_, samples, start) : samples;
}

void ClientWork::enter(std::uint32_t client) const {
  for (Volume* volume : volumes_.all()) {
    volume->enter(rank_.share ? std::nullopt : std::optional(client));
  }
}

}  // namespace filereel
