// Incremental XXH3 hash.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string_view>

#include <xxhash.h>

namespace filereel {

class RunningHash {
 public:
  RunningHash() : state_(XXH3_createState()) {
    if (!state_) throw std::bad_alloc();
    XXH3_64bits_reset(state_.get());
  }

  void add(std::string_view bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }

  // Of all bytes so far.
  std::uint64_t digest() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace filereel
