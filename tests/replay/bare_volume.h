// A volume that does nothing, for tests of what is said of volumes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "replay/volumes/volume.h"

class BareVolume : public filereel::Volume {
 public:
  explicit BareVolume(filereel::VolumeDescription description = {})
      : description_(std::move(description)) {}

  void take() override {}
  void prepare(const std::optional<filereel::Format>&) override {}
  filereel::CacheState make_cold(const filereel::FileList&) override { return {}; }
  void sync() override {}
  int root() const override { return -1; }
  void check_present() const override {}
  std::uint64_t capacity() const override { return 0; }
  filereel::FileSystemLimits limits() const override { return {}; }
  std::optional<std::uint64_t> free_bytes() const override { return std::nullopt; }
  filereel::VolumeDescription describe() const override { return description_; }
  std::optional<filereel::DeviceCounters> counters() const override { return std::nullopt; }
  void finish(bool) override {}

 private:
  filereel::VolumeDescription description_;
};
