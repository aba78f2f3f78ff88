#include "traces/model/tree_model.h"

#include "traces/model/tree_model_state.h"

namespace filereel {

void TreeModel::State::name_entry(Operation& operation) {
  using enum OperationKind;
  const Field fields = operation_info(operation.kind).fields;
  NodeId id = kNoNode;
  switch (operation.kind) {
    case unmap:
    case sync_map:
    case fault:
      if (const Mapping* known = mapping(operation.source)) id = known->node;
      break;
    case rename:
      id = tree.present(operation.old_path);
      break;
    case link:
      id = operation.file != kNoFile ? of_slot(operation.file) : tree.present(operation.old_path);
      break;
    case make_directory:
    case symlink:
    case make_node:
      break;
    case open:
      if (!is_nameless(operation.flags)) id = tree.present(operation.path);
      break;
    default:
      if (has(fields, Field::file) || (has(fields, Field::target) && operation.file != kNoFile)) {
        id = of_slot(operation.file);
      } else if (has(fields, Field::path) || has(fields, Field::target)) {
        id = tree.present(operation.path);
      }
  }
  operation.entry = id == kNoNode ? kNoFileId : tree.file_id(id);
}

TreeModel::TreeModel(TraceTables& tables) : state_(std::make_unique<State>(tables)) {}
TreeModel::~TreeModel() = default;

void TreeModel::begin_with(const FileSet& initial, PathId at) {
  state_->tree.begin_with(initial, at);
}

void TreeModel::apply(Operation& operation) {
  if (operation.expected >= 0) {
    state_->succeeded(operation);
  } else {
    state_->failed(operation);
    state_->name_entry(operation);
  }
}

TreeModel::Presence TreeModel::presence(PathId path) const {
  return state_->tree.find(path).presence;
}

std::optional<TreeModel::Change> TreeModel::last_change(PathId path) const {
  return state_->tree.last_change(path);
}

bool TreeModel::is_directory(PathId path) const {
  const NodeId id = state_->tree.present(path);
  return id != kNoNode && state_->tree.node(id).kind == FileKind::directory;
}

bool TreeModel::is_symlink(PathId path) const {
  const NodeId id = state_->tree.present(path);
  return id != kNoNode && state_->tree.node(id).kind == FileKind::symlink;
}

bool TreeModel::holds_only_nodes(PathId path) const {
  const NodeId id = state_->tree.present(path);
  if (id == kNoNode || !state_->tree.node(id).directory) return false;
  bool any = false;
  for (const auto& [name, entry] : state_->tree.node(id).directory->entries) {
    if (entry.now != Presence::present) continue;
    if (state_->tree.node(entry.node).kind != FileKind::special) return false;
    any = true;
  }
  return any;
}

std::optional<TextId> TreeModel::link_text(PathId path) const {
  const NodeId id = state_->tree.present(path);
  if (id == kNoNode) return {};
  const FileNode& node = state_->tree.node(id);
  if (node.kind != FileKind::symlink || node.text == 0) return {};
  return node.text;
}

void TreeModel::learn_link(PathId path, TextId text) {
  state_->learn_text(state_->tree.require(path), text);
}

void TreeModel::assume_link(PathId path, TextId text) {
  const NodeId id = state_->tree.require(path);
  if (id == kNoNode) return;
  FileNode& node = state_->tree.node(id);
  const bool known = node.text != 0 && !node.text_assumed;
  state_->learn_text(id, text);
  node.text_assumed = !known && node.text == text;
}

void TreeModel::learn_hole(FileId file, std::uint64_t offset, std::uint64_t length) {
  const NodeId id = state_->tree.node_of(file);
  if (id == kNoNode) return;
  state_->tree.node(id).change_data([&](FileData& data) { data.learn_hole(offset, length); });
}

void TreeModel::learn_data(FileId file, std::uint64_t offset, std::uint64_t length) {
  const NodeId id = state_->tree.node_of(file);
  if (id == kNoNode) return;
  state_->tree.node(id).change_data([&](FileData& data) { data.was_read(offset, length, length); });
}

void TreeModel::learn_existing(const ExistingFile& found) {
  FileTree& tree = state_->tree;
  const NodeId id = tree.node_of(found.file);
  if (id == kNoNode) return;
  FileNode& node = tree.node(id);
  tree.learn_kind(id, kind_of_mode(found.mode));
  const auto mode = static_cast<std::uint16_t>(found.mode & 0777);
  if (node.mode == FileNode::kNoMode && mode != 0) node.mode = node.initial_mode = mode;
  if (node.kind == FileKind::symlink && found.text != 0) {
    node.text = found.text;
    node.text_assumed = false;
  }
  node.change_data([&](FileData& data) {
    if (found.size && !data.exact()) data.has_size(*found.size);
    for (const Hole& hole : found.holes) data.learn_hole(hole.offset, hole.length);
  });
}

void TreeModel::learn_opened(FileSlot slot, const OpenedFile& opened) {
  state_->expected_open = {slot, opened};
}

FileId TreeModel::file_of(PathId path) const {
  const NodeId id = state_->tree.present(path);
  return id == kNoNode ? kNoFileId : state_->tree.file_id(id);
}

FileId TreeModel::file_of_slot(FileSlot slot) const {
  const NodeId id = state_->of_slot(slot);
  return id == kNoNode ? kNoFileId : state_->tree.file_id(id);
}

std::optional<PathId> TreeModel::path_of(FileId file) const {
  return state_->tree.path_of(state_->tree.node_of(file));
}

std::uint64_t TreeModel::size(FileId file) const {
  const NodeId id = state_->tree.node_of(file);
  return id == kNoNode ? 0 : state_->tree.node(id).data.size();
}

bool TreeModel::size_is_exact(FileId file) const {
  const NodeId id = state_->tree.node_of(file);
  return id != kNoNode && state_->tree.node(id).data.exact();
}

bool TreeModel::size_is_assumed(FileId file) const {
  const NodeId id = state_->tree.node_of(file);
  return id != kNoNode && state_->tree.node(id).size_assumed;
}

bool TreeModel::is_initial(FileId file) const {
  const NodeId id = state_->tree.node_of(file);
  return id != kNoNode && state_->tree.node(id).known().origin() == Origin::before;
}

std::uint32_t TreeModel::files() const {
  return state_->tree.files();
}

TraceTrees TreeModel::trees() const {
  TraceTrees trees;
  trees.initial = state_->tree.initial_set();
  trees.absent = state_->tree.absent();
  trees.final = state_->tree.current_set();
  return trees;
}

FileSet TreeModel::current() const {
  return state_->tree.current_set();
}

std::vector<ExpectedDirectory> TreeModel::expected_directories() const {
  return state_->tree.expected_directories();
}

std::vector<ExpectedName> TreeModel::expected_names(std::uint32_t directory) const {
  return state_->tree.expected_names(directory);
}

}  // namespace filereel
