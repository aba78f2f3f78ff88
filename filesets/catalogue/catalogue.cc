#include "filesets/catalogue/catalogue.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "filesets/catalogue_file.h"
#include "filesets/content/content.h"
#include "filesets/formats/fc_test_files.h"
#include "filesets/formats/fileset_file.h"
#include "filesets/specification/scaling.h"
#include "filesets/specification/specification.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/read_file.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

constexpr std::size_t kMaxTextFile = 64u << 20;  // bytes of a specification or list
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

// The first `limit` bytes of a file.
std::string read_start(const std::string& path, std::size_t limit) {
  const auto fail = [&](int error) {
    throw Error(ErrorKind::failed, fmt::format("{}: cannot read: {}", path, error_text(error)));
  };
  const Stream file(std::fopen(path.c_str(), "rbe"));
  if (!file) fail(errno);
  std::string text;
  char buffer[1 << 16];
  while (text.size() < limit) {
    const std::size_t got =
        std::fread(buffer, 1, std::min(sizeof buffer, limit - text.size()), file.get());
    if (got == 0) break;
    text.append(buffer, got);
  }
  if (std::ferror(file.get()) != 0) fail(errno);
  return text;
}

std::string read_text(const std::string& path) {
  std::string text = read_start(path, kMaxTextFile + 1);
  if (text.size() > kMaxTextFile) {
    throw Error(
        ErrorKind::unusable_input,
        fmt::format("{}: the file is larger than 64 MiB; capture such a tree as a .fileset file",
                    path));
  }
  return text;
}

// The available names, with suggestions.
std::string known_names(std::string_view wrong) {
  const std::vector<std::string_view> names = names_of_all(file_set_catalogue());
  return fmt::format("{}{}", fmt::join(names, ", "), did_you_mean(wrong, names));
}

const CatalogueFile* find_in_catalogue(std::string_view name) {
  for (const CatalogueFile& file : file_set_catalogue()) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

FileSet from_catalogue(const CatalogueFile& file, double scale) {
  return file_set_from_yaml(file.text, fmt::format("catalogue/{}.yaml", file.name), scale);
}

FileSet read_file_set(const std::string& name_or_path, double scale) {
  check_scale(scale);
  if (is_catalogue_file_set(name_or_path)) return catalogue_file_set(name_or_path, scale);
  struct stat status{};
  if (::stat(name_or_path.c_str(), &status) != 0 && errno == ENOENT) {
    throw Error(
        ErrorKind::usage,
        fmt::format("unknown file set '{}': neither a file nor in the catalogue, which has {}",
                    printable(name_or_path), known_names(name_or_path)));
  }
  if (S_ISDIR(status.st_mode)) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: is a directory; create a file set from it with 'filereel capture'",
                            name_or_path));
  }
  refuse_special_file(name_or_path);
  std::string extension(extension_of(name_or_path));
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (extension == "yaml" || extension == "yml") {
    return file_set_from_yaml(read_text(name_or_path), name_or_path, scale);
  }
  if (extension == "fls") return parse_fls(read_text(name_or_path), name_or_path, scale);
  if (extension == "ptn") return parse_ptn(read_text(name_or_path), name_or_path, scale);
  if (extension == "fileset" || read_start(name_or_path, kZstdMagic.size()) == kZstdMagic) {
    FileSet set = read_fileset_file(name_or_path);
    scale_file_set(set, scale);
    return set;
  }
  throw Error(
      ErrorKind::unusable_input,
      fmt::format("{}: unrecognised file set type; use the extension .yaml, .fileset, .fls or .ptn",
                  name_or_path));
}

}  // namespace

std::vector<CatalogueFileSet> list_catalogue_file_sets() {
  std::vector<CatalogueFileSet> list;
  for (const CatalogueFile& file : file_set_catalogue()) {
    const FileSet set = from_catalogue(file, 1);
    const FileSetTotals totals = set.totals();
    list.push_back({set.name, set.description, totals.files, totals.bytes});
  }
  return list;
}

bool is_catalogue_file_set(std::string_view name) {
  return find_in_catalogue(name) != nullptr;
}

FileSet catalogue_file_set(std::string_view name, double scale) {
  const CatalogueFile* file = find_in_catalogue(name);
  if (file == nullptr) {
    throw Error(ErrorKind::usage, fmt::format("unknown file set '{}'; the catalogue has {}",
                                              printable(name), known_names(name)));
  }
  return from_catalogue(*file, scale);
}

FileSet load_file_set(const std::string& name_or_path, double scale) {
  return within_memory(fmt::format("the file set '{}'", printable(name_or_path)),
                       [&] { return read_file_set(name_or_path, scale); });
}

}  // namespace filereel
