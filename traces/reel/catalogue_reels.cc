#include "traces/reel/catalogue_reels.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "filesets/system/paths.h"
#include "filesets/system/search.h"
#include "traces/catalogue_reel.h"
#include "traces/reel/reel_format.h"

namespace filereel {
namespace {

constexpr std::string_view kExtension = ".reel";

const CatalogueReel* find_reel(std::string_view name) {
  return find_if_or_null(reel_catalogue(), [&](const CatalogueReel& reel) {
    return reel.name == name || reel_name(reel.name) == name;
  });
}

}  // namespace

bool is_reel_file(const std::string& path) {
  std::array<char, kReelMagic.size()> begin{};
  std::ifstream in(path, std::ios::binary);
  return in.read(begin.data(), begin.size()) &&
         std::string_view(begin.data(), begin.size()) == kReelMagic;
}

bool is_catalogue_reel(std::string_view name) {
  return find_reel(name) != nullptr;
}

std::unique_ptr<ReelReader> open_reel(const std::string& name_or_path) {
  const CatalogueReel* found = find_reel(name_or_path);
  return found ? std::make_unique<ReelReader>(found->bytes, name_or_path)
               : std::make_unique<ReelReader>(name_or_path);
}

std::string reel_name(std::string_view path) {
  std::string name = base_name(path);
  if (name.size() > kExtension.size() && name.ends_with(kExtension)) {
    name.resize(name.size() - kExtension.size());
  }
  return name;
}

}  // namespace filereel
