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
#include <string>
#include <vector>

#include <fmt/format.h>

#include "filesets/scan/populate.h"
#include "replay/clients/message_contents.h"
#include "replay/run/client_meeting.h"
#include "replay/run/result_filling.h"
#include "replay/run/room.h"

namespace filereel {
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
  part_.clients = wanted > 0 ? wanted : clients.count();
  part_.share = several && job.options(point).share;
  idle_ = clients.rank() >= part_.clients;
  part_.client = idle_ ? 0 : clients.rank();
}

void ClientWork::prepare(std::optional<FileSystemKind> kind) const {
  for (Volume* volume : volumes_.all()) volume->prepare(kind);
  if (clients_.first()) enter(0);  // creates a common directory
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
    ClientPart part = part_;
    part.client = client;
    return job_.fit(point_, {volumes_, free_bytes, to, part});
  };
  const std::size_t before = result.warnings.size();
  own_ = fit_as(part_.client, result);
  name_warnings(job_, before, result);
  const std::uint32_t shift = job_.options(point_).shift % part_.clients;
  if (shift == 0) return;
  shifted_to_ = (part_.client + shift) % part_.clients;
  Result same;  // its warnings are in the result already
  shifted_ = fit_as(shifted_to_, same);
}

bool ClientWork::fill(const std::stop_token& stop) const {
  const bool works = !idle_ && !(part_.share && part_.client > 0);
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
  how.meet_at_end = part_.share;
  // A common tree is verified once.
  if (part_.share && !clients_.first() && how.verify == Verification::tree) {
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
    volume->enter(part_.share ? std::nullopt : std::optional(client));
  }
}

}  // namespace filereel
