// SPDX-License-Identifier: MIT
// Validation of a package: nothing in it is believed before its checksum, and no offset or index before it is seen to lie inside. A checker walks the
// records once; afterwards the runtime follows them freely.
#include "PackageTable.h"
#include "Postfix.h"
#include "tilegym/format/Checksum.h"
#include "tilegym/format/Unpack.h"
#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <unistd.h>
#include <utility>

namespace tilegym::runtime {
namespace {

using namespace format;

/// Walks an op; the first fault is kept.
class Checker {
public:
  Checker(const Table &table, uint64_t limit) : table(table), limit(limit) {}
  const char *fault = nullptr;

  template <class T> bool slice(Slice s) {
    if (uint64_t(s.offset) + uint64_t(s.count) * sizeof(T) > limit || (s.count && s.offset % alignof(T)))
      return bad("a slice that lies outside");
    return true;
  }
  bool bad(const char *what) {
    if (!fault)
      fault = what;
    return false;
  }
  bool index(uint32_t i, uint32_t n, const char *what) { return i < n || bad(what); }

  bool name(Slice s) { return slice<char>(s) && (s.count <= kMaxName || bad("a name that is too long")); }

  bool texts(Slice s) {
    if (!slice<Slice>(s))
      return false;
    for (Slice t : table.get<Slice>(s))
      if (!name(t))
        return false;
    return true;
  }

  bool code(Slice s, const Op &op, uint32_t params) {
    if (!slice<Inst>(s))
      return false;
    CodeLimits limits{op.dims.count, op.scalars.count, op.tensors.count, params, op.typeVars.count};
    std::span<const Tensor> tensors = table.get<Tensor>(op.tensors);
    for (size_t id = 0; id < tensors.size(); ++id)
      limits.lists |= uint64_t(tensors[id].isList != 0) << id;
    std::span<const Dim> dims = table.get<Dim>(op.dims);
    for (size_t id = 0; id < dims.size(); ++id)
      limits.listDims |= uint64_t(dims[id].isOfElement != 0) << id;
    const char *why = checkCode(table.get<Inst>(s), limits);
    return !why || bad(why);
  }

  /// Code that must give a value.
  bool value(Slice s, const Op &op, uint32_t params) {
    return code(s, op, params) && (s.count || bad("an expression without a value"));
  }

  bool op(const Op &op) {
    if (!name(op.name) || !slice<char>(op.doc) || !slice<Source>(op.sources) ||
        !slice<TypeVar>(op.typeVars) || !slice<Dim>(op.dims) || !slice<Tensor>(op.tensors) ||
        !slice<Scalar>(op.scalars) || !slice<Argument>(op.arguments) || !slice<Check>(op.checks) ||
        !slice<Kernel>(op.kernels) || !slice<Variant>(op.variants))
      return false;
    if (op.tensors.count > kMaxTensors || op.dims.count > kMaxDims || op.scalars.count > kMaxScalars ||
        op.typeVars.count > kMaxTensors)
      return bad("an op with too many tensors, dims or scalars");
    for (const Source &s : table.get<Source>(op.sources))
      if (!slice<char>(s.name) || !slice<char>(s.text))
        return false;
    return arguments(op) && interface(op) && kernels(op) && variants(op);
  }

private:
  bool isLaunched(const Op &op) const { return table.numberOf(op) >= table.ops().size(); }

  bool arguments(const Op &op) {
    uint64_t tensors = 0, scalars = 0;
    for (const Argument &a : table.get<Argument>(op.arguments)) {
      if (!index(a.id, a.isTensor ? op.tensors.count : op.scalars.count, "an argument that is out of range"))
        return false;
      (a.isTensor ? tensors : scalars) |= uint64_t(1) << a.id;
    }
    auto all = [](uint32_t n) { return n == 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1; };
    return (op.arguments.count == op.tensors.count + op.scalars.count && tensors == all(op.tensors.count) &&
            scalars == all(op.scalars.count)) ||
           bad("an op whose arguments are not its tensors and scalars");
  }

  /// A group stands first, and only a group dim is used as one: the runtime counts axes from there.
  bool dimUses(const Op &op, const Tensor &t) {
    std::span<const DimUse> uses = table.get<DimUse>(t.dims);
    for (size_t i = 0; i < uses.size(); ++i) {
      const DimUse &use = uses[i];
      if ((use.dim != kNone && use.dim >= op.dims.count) ||
          (use.isGroup && (i > 0 || use.dim == kNone || !table.get<Dim>(op.dims)[use.dim].isGroup)))
        return bad("a tensor's dim that is out of range");
      bool isOfElement = use.dim != kNone && table.get<Dim>(op.dims)[use.dim].isOfElement;
      if (t.isList ? use.isGroup : isOfElement)
        return bad("a dim of a list's tensors in another place, or a group in a list");
      if (use.dim == kNone ? !value(use.expr, op, 0) : !code(use.expr, op, 0))
        return false;
    }
    return true;
  }

  bool interface(const Op &op) {
    for (const TypeVar &v : table.get<TypeVar>(op.typeVars)) {
      if (!name(v.name) || !slice<uint8_t>(v.choices))
        return false;
      // A plan gives its launches numbers of the host; no argument of a call is one.
      for (uint8_t d : table.get<uint8_t>(v.choices))
        if (!index(d, uint32_t(DType::Index) + isLaunched(op), "an unknown dtype"))
          return false;
    }
    uint32_t lists = 0;
    for (const Tensor &t : table.get<Tensor>(op.tensors)) {
      if (!name(t.name) || !slice<DimUse>(t.dims) ||
          !index(t.typeVar, op.typeVars.count, "a tensor without a dtype"))
        return false;
      if (t.dims.count > kMaxRank || uint32_t(t.role) > 2 ||
          (t.aliasOf != kNone && t.aliasOf >= op.tensors.count) || (t.isList && t.optional))
        return bad("a tensor that is out of range");
      if ((lists += t.isList != 0) > kMaxLists)
        return bad("an op with too many lists");
      if (!dimUses(op, t))
        return false;
    }
    uint32_t groups = 0;
    for (const Dim &d : table.get<Dim>(op.dims)) {
      if (!name(d.name) || !slice<int64_t>(d.choices))
        return false;
      if ((groups += d.isGroup != 0) > 1)
        return bad("an op with two groups of leading dims");
      if (d.isOfElement && (d.isGroup || d.choices.count))
        return bad("a dim of a list's tensors that is fixed, or a group");
      if (d.bindTensor == kNone)
        continue;
      if (d.bindTensor >= op.tensors.count ||
          d.bindAxis >= table.get<Tensor>(op.tensors)[d.bindTensor].dims.count)
        return bad("a dim bound to nothing");
    }
    for (const Scalar &s : table.get<Scalar>(op.scalars))
      if (!name(s.name) || !slice<int64_t>(s.choices) || !texts(s.enumerators) ||
          !index(s.typeVar, op.typeVars.count, "a scalar without a dtype"))
        return false;
    for (const Check &c : table.get<Check>(op.checks))
      if (!slice<char>(c.message) || !value(c.condition, op, 0))
        return false;
    return true;
  }

  bool kernels(const Op &op) {
    for (const Kernel &k : table.get<Kernel>(op.kernels)) {
      if (!name(k.name) || !texts(k.paramNames) || !slice<Slice>(k.derived) || !code(k.guard, op, 0))
        return false;
      if (k.derived.count != k.paramNames.count || k.paramNames.count > kMaxDims)
        return bad("a kernel's parameters that do not match");
      for (Slice d : table.get<Slice>(k.derived))
        if (!code(d, op, 0))
          return false;
    }
    return true;
  }

  bool variants(const Op &op) {
    for (const Variant &v : table.get<Variant>(op.variants)) {
      if (!index(v.kernel, op.kernels.count, "a variant of no kernel"))
        return false;
      const Kernel &kernel = table.get<Kernel>(op.kernels)[v.kernel];
      if (!slice<uint8_t>(v.dtypes) || !slice<int64_t>(v.consts) || !slice<int64_t>(v.constDims) ||
          !slice<int64_t>(v.params) || !name(v.entry) || !slice<Image>(v.images) || !slice<Param>(v.layout) ||
          !slice<Slice>(v.grid) || !slice<char>(v.knobs) || !slice<uint8_t>(v.tensorFacts) ||
          !slice<TensorMap>(v.maps))
        return false;
      if (v.dtypes.count != op.typeVars.count || v.consts.count != op.scalars.count ||
          v.constDims.count != op.dims.count || v.params.count != kernel.paramNames.count ||
          v.tensorFacts.count != op.tensors.count || v.grid.count > 4 || v.layout.count > kMaxParams ||
          v.maps.count > kMaxMaps || v.threads > 1024 || v.sharedBytes > kMaxShared ||
          (!v.launches.count && (v.grid.count < 1 || v.threads < 1)))
        return bad("a variant whose lists do not match its op");
      if (!plan(op, v))
        return false;
      for (Slice g : table.get<Slice>(v.grid))
        if (!value(g, op, kernel.paramNames.count))
          return false;
      for (const Image &i : table.get<Image>(v.images))
        if (i.offset > table.header().size || i.size > table.header().size - i.offset ||
            i.offset < table.header().imagesOffset || i.kind > 1 || i.unpacked > kMaxImage)
          return bad("an image that lies outside");
      for (const TensorMap &m : table.get<TensorMap>(v.maps))
        if (!tensorMap(m, op))
          return false;
      uint64_t bytes = 0;
      for (const Param &p : table.get<Param>(v.layout)) {
        if (!parameter(p, op, v))
          return false;
        bytes += table.bytesOf(p, op, v);
      }
      if (bytes > kMaxParamBytes)
        return bad("a kernel with too many bytes of parameters");
    }
    return true;
  }

  bool codes(Slice s, const Op &op) {
    if (!slice<Slice>(s))
      return false;
    for (Slice c : table.get<Slice>(s))
      if (!value(c, op, 0))
        return false;
    return true;
  }

  bool plan(const Op &op, const Variant &v) {
    if (!slice<Scratch>(v.scratch) || !slice<Launch>(v.launches))
      return false;
    auto isList = [](const Tensor &t) { return t.isList != 0; };
    if ((v.launches.count || isLaunched(op)) && std::ranges::any_of(table.get<Tensor>(op.tensors), isList))
      return bad("a plan of an op on lists");
    if (v.scratch.count > kMaxScratch || v.launches.count > kMaxLaunches ||
        (isLaunched(op) && v.launches.count))
      return bad("a plan with too many launches or scratch buffers");
    for (const Scratch &s : table.get<Scratch>(v.scratch))
      if (!name(s.name) || !codes(s.extents, op) || s.extents.count > kMaxRank ||
          !index(s.dtype, uint32_t(DType::Index), "an unknown dtype"))
        return bad("a scratch buffer that is out of range");
    for (const Launch &l : table.get<Launch>(v.launches))
      if (!launch(op, v, l))
        return bad("a launch that does not match its op");
    return true;
  }

  bool launch(const Op &op, const Variant &v, const Launch &l) {
    if (!slice<LaunchTensor>(l.tensors) || !codes(l.scalars, op) || !codes(l.dims, op) ||
        l.op >= table.launched().size())
      return false;
    const Op &launched = table.launched()[l.op];
    if (op.tensors.count + l.tensors.count != launched.tensors.count ||
        op.scalars.count + l.scalars.count != launched.scalars.count ||
        op.dims.count + l.dims.count != launched.dims.count || launched.typeVars.count < op.typeVars.count)
      return false;
    std::span<const Tensor> own = table.get<Tensor>(op.tensors), all = table.get<Tensor>(launched.tensors);
    for (size_t i = 0; i < own.size(); ++i)
      if (own[i].dims.count != all[i].dims.count || own[i].typeVar != all[i].typeVar)
        return false;
    for (size_t i = own.size(); i < all.size(); ++i)
      for (const DimUse &use : table.get<DimUse>(all[i].dims))
        if (use.isGroup)
          return false;
    for (const LaunchTensor &t : table.get<LaunchTensor>(l.tensors)) {
      if (!slice<PartAxis>(t.axes) || (t.scratch == kNone) == (t.tensor == kNone) ||
          (t.scratch != kNone && t.scratch >= v.scratch.count) ||
          (t.tensor != kNone && t.tensor >= op.tensors.count))
        return false;
      for (const PartAxis &a : table.get<PartAxis>(t.axes))
        if (t.tensor == kNone || a.axis >= own[t.tensor].dims.count || !code(a.start, op, 0) ||
            !code(a.extent, op, 0))
          return false;
    }
    return true;
  }

  bool tensorMap(const TensorMap &m, const Op &op) {
    if (!index(m.tensor, op.tensors.count, "a tensor map of no tensor") || !slice<MapAxis>(m.axes))
      return false;
    bool swizzles = m.swizzle == 0 || m.swizzle == 32 || m.swizzle == 64 || m.swizzle == 128;
    if (m.axes.count < 1 || m.axes.count > kMaxMapRank || !swizzles)
      return bad("a tensor map that no driver takes");
    bool isInnermost = true;
    for (const MapAxis &a : table.get<MapAxis>(m.axes)) {
      if (a.dim == kNone ? a.extent < 0 : a.dim >= op.dims.count)
        return bad("a tensor map of no dim");
      if (!isInnermost && a.stride >= table.get<Tensor>(op.tensors)[m.tensor].dims.count)
        return bad("a tensor map of no axis");
      isInnermost = false;
    }
    return true;
  }

  bool parameter(const Param &p, const Op &op, const Variant &v) {
    switch (p.kind) {
    case ParamKind::TensorPointer:
      return index(p.a, op.tensors.count, "a parameter of no tensor");
    case ParamKind::Stride:
      return index(p.a, op.tensors.count, "a parameter of no tensor") &&
             index(p.b, table.get<Tensor>(op.tensors)[p.a].dims.count, "a parameter of no axis");
    case ParamKind::GroupStride:
      return index(p.a, op.tensors.count, "a parameter of no tensor") &&
             index(p.b, kMaxGroupDims, "a parameter of no axis");
    case ParamKind::Dim:
    case ParamKind::GroupRank:
      return index(p.a, op.dims.count, "a parameter of no dim");
    case ParamKind::GroupExtent:
      return index(p.a, op.dims.count, "a parameter of no dim") &&
             index(p.b, kMaxGroupDims, "a parameter of no axis");
    case ParamKind::Scalar:
      return index(p.a, op.scalars.count, "a parameter of no scalar");
    case ParamKind::Grid:
      return index(p.a, v.grid.count, "a parameter of no grid axis");
    case ParamKind::SmCount:
      return true;
    case ParamKind::TensorMap:
      return index(p.a, v.maps.count, "a parameter of no tensor map");
    case ParamKind::ListLength:
      return index(p.a, op.tensors.count, "a parameter of no tensor") &&
             (table.get<Tensor>(op.tensors)[p.a].isList || bad("the length of what is no list"));
    }
    return bad("a parameter of an unknown kind");
  }

  const Table &table;
  uint64_t limit;
};

} // namespace

bool Table::isOfList(const Param &p, const Op &op, const Variant &v) const {
  switch (p.kind) {
  case ParamKind::TensorPointer:
  case ParamKind::Stride:
    return get<Tensor>(op.tensors)[p.a].isList;
  case ParamKind::Dim:
    return get<Dim>(op.dims)[p.a].isOfElement;
  case ParamKind::TensorMap:
    return get<Tensor>(op.tensors)[get<TensorMap>(v.maps)[p.a].tensor].isList;
  default:
    return false;
  }
}

size_t Table::bytesOf(const Param &p, const Op &op, const Variant &v) const {
  constexpr size_t kMapBytes = 128;
  size_t each = p.kind == ParamKind::TensorMap ? kMapBytes : sizeof(int64_t);
  return isOfList(p, op, v) ? each * kMaxListLength : each;
}

TilegymStatus Table::open(const void *data, size_t atHand, size_t size, int file, std::string_view source) {
  sourceName = source;
  imagesFile = file;
  auto refuse = [&](const char *why) {
    return fail(TILEGYM_BAD_PACKAGE,
                "%s is not a usable kernel package: %s; make it again with tilegymc compile",
                sourceName.c_str(), why);
  };
  base = static_cast<const unsigned char *>(data);
  if (!data || atHand < sizeof(Header))
    return refuse("it is too short");
  if (reinterpret_cast<uintptr_t>(data) % alignof(Header))
    return refuse("it does not lie at an address that is a multiple of 8");
  const Header &h = header();
  if (h.magic != kMagic)
    return refuse("it does not begin as one");
  if (h.version != kVersion)
    return fail(TILEGYM_BAD_PACKAGE,
                "%s has format version %u, but this runtime reads version %u; compile it with the tilegymc "
                "of this runtime",
                sourceName.c_str(), h.version, kVersion);
  if (h.size != size)
    return fail(TILEGYM_BAD_PACKAGE,
                "%s is truncated or has bytes too many: %zu bytes, but %" PRIu64 " expected",
                sourceName.c_str(), size, h.size);
  if (h.imagesOffset < sizeof(Header) || h.imagesOffset > atHand)
    return refuse("its table lies outside");
  if (tableChecksum(data, h.imagesOffset) != h.tableChecksum)
    return refuse("its table was altered (checksum)");
  Checker checker(*this, h.imagesOffset);
  checker.slice<char>(h.name);
  checker.slice<char>(h.producer);
  if (checker.slice<Op>(h.ops) && checker.slice<Op>(h.launched))
    for (size_t i = count(); i-- > 0;) // what is launched before what launches
      if (!checker.op(numbered(i)))
        break;
  if (checker.fault)
    return refuse(checker.fault);
  plans.clear();
  for (size_t i = 0; i < count(); ++i)
    plans.emplace_back(*this, numbered(i));
  return TILEGYM_OK;
}

/// All of it, however many reads that takes.
static bool readAt(int file, uint64_t offset, std::vector<char> &into) {
  for (size_t done = 0; done < into.size();) {
    ssize_t n = pread(file, into.data() + done, into.size() - done, off_t(offset + done));
    if (n <= 0 && !(n < 0 && errno == EINTR))
      return false;
    done += n > 0 ? size_t(n) : 0;
  }
  return true;
}

TilegymStatus Table::readImage(const Image &i, std::vector<char> &room, const void **code) const {
  std::vector<char> read(imagesFile < 0 ? 0 : i.size);
  const void *stored = imagesFile < 0 ? static_cast<const void *>(base + i.offset) : read.data();
  bool sound =
      (imagesFile < 0 || readAt(imagesFile, i.offset, read)) && checksum64(stored, i.size) == i.checksum;
  *code = stored;
  size_t size = i.size;
  if (sound && i.unpacked) {
    room.resize(i.unpacked);
    sound = unpack(stored, i.size, room.data(), room.size());
    *code = room.data();
    size = room.size();
  } else if (imagesFile >= 0) {
    room = std::move(read);
    *code = room.data();
  }
  // The driver reads PTX up to its NUL.
  if (sound && (i.kind == 0 || (size > 0 && static_cast<const char *>(*code)[size - 1] == 0)))
    return TILEGYM_OK;
  return fail(TILEGYM_BAD_PACKAGE,
              "%s: the code of a kernel was altered (checksum); make the package again with tilegymc compile",
              sourceName.c_str());
}

} // namespace tilegym::runtime
