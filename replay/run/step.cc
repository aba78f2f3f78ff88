#include "replay/run/step.h"

#include <algorithm>

#include "replay/run/sampling.h"
#include "replay/volumes/shared_extents.h"

namespace filereel {
namespace {

// The set's regular files below `root`, as they lie on a volume.
std::vector<std::string> file_paths(const FileSet& set, std::string_view root) {
  std::vector<std::string> paths;
  for (const Entry& entry : set.entries) {
    if (entry.kind == EntryKind::file) paths.push_back(std::string(root) + "/" + entry.path);
  }
  return paths;
}

// A kernel copy may share blocks instead of copying them: looked up on a few of the copies.
bool copies_share_blocks(const FileSet& set, const Volume& volume) {
  constexpr std::size_t kLooks = 16;
  std::vector<std::string> copies = file_paths(set, FcTest::kCopy);
  const std::size_t step = std::max<std::size_t>(1, copies.size() / kLooks);
  bool any = false;
  for (std::size_t i = 0; i < copies.size(); i += step) {
    switch (extents_of(volume.root(), copies[i])) {
      case Extents::shared:
        any = true;
        break;
      case Extents::own:
        return false;
      case Extents::none:
        break;
    }
  }
  return any;
}

}  // namespace

std::vector<Volume*> volumes_of(FcStep step, const Volumes& volumes) {
  std::vector<Volume*> used = {volumes[static_cast<std::size_t>(Role::near)]};
  if (step == FcStep::copy_far) used.push_back(volumes[static_cast<std::size_t>(Role::far)]);
  return used;
}

StepOutcome measure_step(const FcTest& test, const FileSet& set, FcStep step,
                         const Volumes& volumes, const StepOptions& options) {
  const std::vector<Volume*> used = volumes_of(step, volumes);
  Volume& near = *used.front();
  StepOutcome result;
  Sample& sample = result.sample;
  if (options.warm) {
    for (const Volume* volume : used) volume->check_present();
    sample.cold_method = "warm";
  } else {
    const bool made = step != FcStep::create;  // there are files that a cache could hold
    const Coldness coldness =
        near.make_cold(made ? file_paths(set, FcTest::kOriginal) : std::vector<std::string>{},
                       made ? test.bytes() : 0);
    if (used.size() > 1) used[1]->make_cold({}, 0);
    sample.cold_method = coldness.method;
    sample.cached_before = coldness.cached;
  }

  std::array<int, kRoles> roots = {-1, -1};
  for (std::size_t i = 0; i < used.size(); ++i) roots[i] = used[i]->root();
  begin_sample(sample, used, options.run_began_ns);
  const Outside before = look_outside(used);
  const ReplayOutcome outcome =
      replay(test.trace(step), roots, {.stop = options.stop, .progress = options.progress});
  result.complete = outcome.complete && outcome.statistics.divergences == 0;
  if (result.complete) wait_until_durable(sample, outcome, used);
  fill_sample(sample, outcome, test.paths());
  if (!result.complete) return result;

  // Holes are content too: the steps compare only if all count the same bytes.
  sample.bytes = step == FcStep::remove ? 0 : test.bytes();
  add_outside(sample, before, look_outside(used), used);
  const bool copied = step == FcStep::copy_near || step == FcStep::copy_far;
  if (copied && options.copy_method == CopyMethod::reflink) sample.moved_no_data = true;
  if (copied && options.copy_method == CopyMethod::copy_file_range) {
    sample.moved_no_data = copies_share_blocks(set, *used.back());
  }
  return result;
}

}  // namespace filereel
