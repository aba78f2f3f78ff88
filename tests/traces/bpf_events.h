// Events as the recorder's program in the kernel tells them, made by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/record/bpf/bpf_event.h"

namespace filereel {

constexpr std::uint64_t kCwd = 0xffff'ff9c;      // AT_FDCWD as compilers leave it in a register
constexpr std::uint64_t kPointer = 0x7ffe'0000;  // of what is told as a part

class BpfEvent {
 public:
  // Of thread and process 100, unless by() says otherwise.
  explicit BpfEvent(event_kind kind) {
    head.kind = static_cast<__u8>(kind);
    head.thread = head.process = 100;
  }

  static BpfEvent call(long number, std::initializer_list<std::uint64_t> arguments,
                       std::int64_t result = 0) {
    BpfEvent event(EVENT_CALL);
    event.head.number = static_cast<__u16>(number);
    event.with(arguments);
    event.head.result = result;
    return event;
  }

  BpfEvent& by(std::uint32_t thread, std::uint32_t process) {
    head.thread = thread;
    head.process = process;
    return *this;
  }
  BpfEvent& with(std::initializer_list<std::uint64_t> arguments) {
    std::size_t i = 0;
    for (const std::uint64_t argument : arguments) head.arguments[i++] = argument;
    return *this;
  }
  BpfEvent& at(std::uint64_t begin_ns, std::uint64_t end_ns) {
    head.begin_ns = begin_ns;
    head.end_ns = end_ns;
    return *this;
  }
  BpfEvent& file(std::uint64_t first, std::uint64_t second = 0) {
    head.file[0] = first;
    head.file[1] = second;
    return *this;
  }
  BpfEvent& extra(std::uint64_t number) {
    head.extra = number;
    return *this;
  }
  BpfEvent& result(std::int64_t number) {
    head.result = number;
    return *this;
  }

  BpfEvent& part(part_kind kind, unsigned which, std::string_view bytes, unsigned flags = 0) {
    const bpf_part part{.kind = static_cast<__u8>(kind),
                        .which = static_cast<__u8>(which),
                        .flags = static_cast<__u8>(flags),
                        .unused = 0,
                        .size = static_cast<__u32>(bytes.size())};
    append(&part, sizeof(part));
    append(bytes.data(), bytes.size());
    return *this;
  }
  template <typename Object>
  BpfEvent& object(part_kind kind, unsigned which, const Object& object) {
    return part(kind, which, {reinterpret_cast<const char*>(&object), sizeof(object)});
  }
  BpfEvent& path(std::string_view text) { return part(PART_STRING, 0, text); }
  BpfEvent& path2(std::string_view text) { return part(PART_STRING, 1, text); }
  BpfEvent& text(std::string_view text) { return part(PART_STRING, 2, text); }
  template <typename Object>
  BpfEvent& copy(unsigned which, const Object& copied) {
    return object(PART_COPY, which, copied);
  }
  // "/a/b", or a name alone with PART_SIBLING.
  BpfEvent& real(unsigned which, std::string_view path, unsigned flags = 0) {
    std::string components;
    while (!path.empty()) {
      const std::size_t slash = path.rfind('/');
      const std::string_view name = path.substr(slash + 1);  // all if there is none
      if (!name.empty()) {
        components += static_cast<char>(name.size());
        components += name;
      }
      path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
    }
    return part(PART_REAL, which, components, flags);
  }
  BpfEvent& identity(std::uint64_t inode, std::uint32_t mode, std::uint64_t size = 0,
                     std::uint32_t open_mode = 0) {
    bpf_identity identity{};
    identity.inode = inode;
    identity.size = size;
    identity.device = 8u << 20 | 1;
    identity.mode = mode;
    identity.open_mode = open_mode;
    return object(PART_IDENTITY, 0, identity);
  }

  std::vector<std::byte> bytes() const {
    bpf_event told = head;
    told.size = static_cast<__u32>(sizeof(told) + parts_.size());
    const std::string whole =
        std::string(reinterpret_cast<const char*>(&told), sizeof(told)) + parts_;
    const std::span<const std::byte> bytes = std::as_bytes(std::span(whole));
    return {bytes.begin(), bytes.end()};
  }

  bpf_event head{};

 private:
  void append(const void* bytes, std::size_t size) {
    parts_.append(static_cast<const char*>(bytes), size);
  }

  std::string parts_;
};

}  // namespace filereel
