// SPDX-License-Identifier: MIT
// Words for VectorAxis and for the checks that prove-bounds left.
#include "compiler/driver/Remarks.h"
#include "compiler/driver/SpecPlace.h"
#include "compiler/ir/TensorCopy.h"
#include "compiler/ir/VectorAccess.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

using namespace mlir;

namespace tilegym::driver {
namespace {

class AccessWords {
public:
  AccessWords(const sem::OpModel &op, tile::RegionOp region) : op(op), region(region) {
    tile::ParamAttr base = region.getBase().getDefiningOp<tile::ParamOp>().getParam();
    name = base.getName().str();
    tensor = base.getKind() == tile::ParamKind::Base ? base.getId() : -1;
    bytes = std::max<int64_t>(1, region.getBase().getType().getElementType().getIntOrFloatBitWidth() / 8);
    fast = region->getParentOfType<tile::KernelOp>().getFacts() == tile::Facts::Fast;
  }

  std::string text(const layout::Layout &layout) const {
    tile::VectorAxis vector = tile::vectorAxis(region);
    int64_t width = vector.width;
    if (vector.axis >= 0 && width > 1)
      width = int64_t(layout.vectors(int(region.getRegionAxes()[vector.axis]), int(width)).groups[0].size());
    std::string text = verb() + " `" + name + "`: " + (width == 1 ? "not vectorised, " : "") +
                       std::to_string(width * bytes) + " bytes an access";
    if (width < vector.width)
      text += ", because the tile gives a thread no more neighbours";
    else if (width * bytes < 16)
      text += ", because " + because(vector);
    return text;
  }
  /// "`R` and `N`": the axes whose ends are checked; empty where none is.
  std::string checkedAxes() const {
    std::string axes;
    for (int64_t axis = 0; axis < region.getNumAxes(); ++axis)
      if (region.getAxis(axis).check != tile::CheckNone)
        axes += (axes.empty() ? "" : " and ") + axisName(axis);
    return axes;
  }

private:
  std::string verb() const {
    return TypeSwitch<Operation *, std::string>(region.getOperation())
        .Case<tile::LoadOp>([](auto) { return "load of"; })
        .Case<tile::StoreOp>([](auto) { return "store to"; })
        .Default([](Operation *) { return "atomic on"; });
  }
  /// What an axis is called in the signature.
  std::string axisName(int64_t axis) const {
    if (tensor < 0 || axis >= int64_t(op.tensors[size_t(tensor)].dims.size()))
      return "axis " + std::to_string(axis);
    const sem::DimUse &use = op.tensors[size_t(tensor)].dims[size_t(axis)];
    return use.dim >= 0 ? "`" + op.dims[size_t(use.dim)].name + "`" : "axis " + std::to_string(axis);
  }
  std::string because(const tile::VectorAxis &vector) const {
    std::string any = fast ? "" : " (the general variant takes any stride, address and extent)";
    switch (vector.limit) {
    case tile::VectorAxis::None:
      break;
    case tile::VectorAxis::Stride:
      return "no axis that it spans is known to have stride 1" + any;
    case tile::VectorAxis::Begin:
      return "where it begins on " + axisName(vector.axis) + " is not known to be a multiple of 16 bytes";
    case tile::VectorAxis::Bounds:
      return "where " + axisName(vector.axis) + " ends is not known to be a multiple of 16 bytes" + any;
    case tile::VectorAxis::Address:
      return "the address of `" + name + "` is not known to be a multiple of 16" + any;
    case tile::VectorAxis::Other:
      return "the stride of " + axisName(vector.limitAxis) + " is not known to be a multiple of 16 bytes" +
             any;
    case tile::VectorAxis::Group:
      return "the leading dims may not merge" + any;
    }
    return "its elements are no more";
  }
  const sem::OpModel &op;
  mutable tile::RegionOp region; ///< MLIR's handles know no const
  std::string name;
  int64_t tensor = -1, bytes = 1;
  bool fast = false;
};

/// One access of the spec. The code may have several copies of it: loops are split where their masks change.
struct Copies {
  SourceRange range;
  std::string text;
  std::vector<std::string> masks; ///< the axes that each kind of copy checks
  bool ownMask = false;

  std::string words() const {
    std::string words = text;
    auto least = std::min_element(masks.begin(), masks.end(), [](const std::string &a, const std::string &b) {
      return a.size() < b.size();
    });
    if (!least->empty())
      words += "; masked, because it may reach beyond " + *least;
    for (const std::string &mask : masks)
      if (mask != *least)
        words += "; at the edges masked, because there it may reach beyond " + mask;
    return words + (ownMask ? "; under the spec's own mask" : "");
  }
};

/// "`a @ b` on tensor cores", or why not.
std::string productText(tile::DotOp dot) {
  if (dot.getWarpgroups())
    return "product on tensor cores, four warps at a time (wgmma)";
  if (dot.usesTensorCores())
    return "product on tensor cores";
  Type element = dot.getAType().getElementType();
  std::string text = "product without tensor cores, because ";
  if (element.isF64())
    return text + "it is one of f64";
  if (element.isF32() && dot.getPrecision() == tile::Precision::Full)
    return text + "it is one of f32, exact as `precision=ieee` (the default) asks; `tf32x3` is near that on "
                  "tensor cores, `tf32` faster";
  return text + "its tiles are no multiples of 16 rows, 8 columns and " +
         std::to_string(256 / element.getIntOrFloatBitWidth()) + " along K";
}

/// What the copy engine does, in rows as shared memory has them. Bounds cost it nothing.
std::string tensorText(const sem::OpModel &op, tile::TensorStoreOp store) {
  auto map = cast<tile::TensorMapType>(store.getMap().getType());
  int64_t tensor = store.getMap().getDefiningOp<tile::ParamOp>().getParam().getId();
  int64_t bytes = map.getAxes()[map.getInnermost()].box * map.getElementType().getIntOrFloatBitWidth() / 8;
  return "store to `" + op.tensors[size_t(tensor)].name + "`: by the copy engine, " + std::to_string(bytes) +
         " bytes a row";
}

} // namespace

std::vector<Remark> variantRemarks(const sem::OpModel &op, Operation *module) {
  std::vector<Copies> accesses;
  module->walk([&](tile::RegionOp region) {
    Value tile = tile::accessedTile(region); // scalars have nothing to be vectors of
    auto layout =
        tile ? dyn_cast_or_null<tile::LayoutAttr>(cast<RankedTensorType>(tile.getType()).getEncoding())
             : tile::LayoutAttr();
    if (!layout)
      return;
    AccessWords words(op, region);
    Copies one{rangeOf(op, region->getLoc()), words.text(layout.getLayout()), {}, bool(region.getMask())};
    auto same = std::find_if(accesses.begin(), accesses.end(), [&](const Copies &c) {
      return c.range.begin == one.range.begin && c.text == one.text && c.ownMask == one.ownMask;
    });
    if (same == accesses.end())
      same = accesses.insert(accesses.end(), std::move(one));
    std::string axes = words.checkedAxes();
    if (!llvm::is_contained(same->masks, axes))
      same->masks.push_back(axes);
  });
  auto add = [&](Location place, std::string text) {
    Copies one{rangeOf(op, place), std::move(text), {""}, false};
    if (std::none_of(accesses.begin(), accesses.end(),
                     [&](const Copies &c) { return c.range.begin == one.range.begin && c.text == one.text; }))
      accesses.push_back(std::move(one));
  };
  module->walk([&](tile::DotOp dot) { add(dot.getLoc(), productText(dot)); });
  module->walk([&](tile::TensorStoreOp store) { add(store.getLoc(), tensorText(op, store)); });
  std::stable_sort(accesses.begin(), accesses.end(),
                   [](const Copies &a, const Copies &b) { return a.range.begin < b.range.begin; });
  std::vector<Remark> remarks;
  for (const Copies &access : accesses)
    remarks.push_back({access.range, access.words()});
  return remarks;
}

} // namespace tilegym::driver
