// SPDX-License-Identifier: MIT
// The op models and compiled kernels as the runtime's records.
#include "compiler/emit/BlockWriter.h"
#include "compiler/emit/HostCode.h"
#include "compiler/emit/Pack.h"
#include "compiler/emit/Package.h"
#include "compiler/interpreter/NumericsFloat.h"
#include "compiler/semantics/HostExpr.h"
#include "compiler/targets/TargetFacts.h"
#include "tilegym/format/Checksum.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <bit>

using namespace llvm;

namespace tilegym::emit {
namespace {

using namespace tilegym::format;

/// The first error ends the writing; callers test it once.
class Writer {
public:
  explicit Writer(const Package &package) : package(package) {}

  Expected<std::string> run() {
    SmallVector<format::Op> ops;
    for (const PackageOp &op : package.ops)
      ops.push_back(writeOp(op));
    if (error)
      return createStringError(*error);
    Header header{};
    header.magic = kMagic;
    header.version = kVersion;
    header.ops = out.put(ArrayRef<format::Op>(ops));
    header.launched = out.put(ArrayRef<format::Op>(launched));
    header.name = out.text(package.name);
    header.producer = out.text(package.producer);
    out.align(64);
    header.imagesOffset = out.bytes.size();
    // Images stand behind the table; their records were written with places counted from imagesOffset.
    for (auto [offset, image] : imageRecords) {
      Image record;
      std::memcpy(&record, out.bytes.data() + offset, sizeof record);
      record.offset = header.imagesOffset + image;
      std::memcpy(out.bytes.data() + offset, &record, sizeof record);
    }
    header.size = out.bytes.size() + images.size();
    std::memcpy(out.bytes.data(), &header, sizeof header);
    header.tableChecksum = tableChecksum(out.bytes.data(), header.imagesOffset);
    std::memcpy(out.bytes.data(), &header, sizeof header);
    out.bytes += images;
    return std::move(out.bytes);
  }

private:
  Slice code(const sem::ExprPtr &e) {
    if (!e || error)
      return {};
    Expected<std::vector<Inst>> compiled = compileHostExpr(*e);
    if (!compiled) {
      error = toString(compiled.takeError());
      return {};
    }
    return out.put(ArrayRef<Inst>(*compiled));
  }
  Slice codes(ArrayRef<sem::ExprPtr> list) {
    SmallVector<Slice> slices;
    for (const sem::ExprPtr &e : list)
      slices.push_back(code(e));
    return out.put(ArrayRef<Slice>(slices));
  }
  Slice texts(ArrayRef<std::string> list) {
    SmallVector<Slice> slices;
    for (const std::string &text : list)
      slices.push_back(out.text(text));
    return out.put(ArrayRef<Slice>(slices));
  }
  static uint32_t idOr(int64_t id) { return id < 0 ? kNone : uint32_t(id); }
  static std::string joined(ArrayRef<std::string> lines) { return llvm::join(lines, "\n"); }

  format::Op writeOp(const PackageOp &op) {
    const sem::OpModel &m = *op.model;
    format::Op record{};
    record.name = out.text(m.name);
    record.doc = out.text(joined(m.doc));
    if (!m.isLaunch)
      record.sources = writeSources(m);
    writeInterface(m, record);
    SmallVector<format::Kernel> kernels;
    for (const sem::KernelModel &k : m.kernels)
      kernels.push_back({out.text(k.name), code(k.guard), texts(k.tileParams), codes(k.derived)});
    record.kernels = out.put(ArrayRef<format::Kernel>(kernels));
    SmallVector<Variant> variants;
    for (const PackageVariant &v : op.variants)
      variants.push_back(writeVariant(m, v));
    record.variants = out.put(ArrayRef<Variant>(variants));
    return record;
  }

  /// By file name alone: where the spec lay when it was compiled is nobody's business.
  Slice writeSources(const sem::OpModel &m) {
    SmallVector<Source> sources = {
        {out.text(sys::path::filename(m.spec->file->name())), out.text(m.spec->file->text())}};
    for (const auto &library : m.libraries)
      sources.push_back({out.text(sys::path::stem(library->file->name())), out.text(library->file->text())});
    return out.put(ArrayRef<Source>(sources));
  }

  void writeInterface(const sem::OpModel &m, format::Op &record) {
    SmallVector<TypeVar> typeVars;
    for (const sem::TypeVar &v : m.typeVars) {
      SmallVector<uint8_t> choices;
      for (tilegym::DType d : v.choices)
        choices.push_back(uint8_t(d));
      typeVars.push_back({out.text(v.name), out.put(ArrayRef<uint8_t>(choices)), v.isArgument});
    }
    record.typeVars = out.put(ArrayRef<TypeVar>(typeVars));
    SmallVector<Dim> dims;
    if (llvm::count_if(m.dims, [](const sem::DimVar &d) { return d.isGroup; }) > 1)
      error = m.name + ": the runtime takes one group of leading dims an op, this one has several";
    for (const sem::DimVar &d : m.dims)
      dims.push_back({out.text(d.name), out.put(ArrayRef<int64_t>(d.choices)), d.isGroup, idOr(d.bindTensor),
                      idOr(d.bindAxis), d.perElement});
    record.dims = out.put(ArrayRef<Dim>(dims));
    SmallVector<Tensor> tensors;
    for (const sem::TensorParam &t : m.tensors)
      tensors.push_back(writeTensor(m, t));
    if (llvm::count_if(m.tensors, [](const sem::TensorParam &t) { return t.isList; }) > int64_t(kMaxLists))
      error = m.name + ": the runtime takes " + std::to_string(kMaxLists) + " lists an op, this one has more";
    record.tensors = out.put(ArrayRef<Tensor>(tensors));
    SmallVector<Scalar> scalars;
    for (const sem::ScalarParam &s : m.scalars)
      scalars.push_back(writeScalar(m, s));
    record.scalars = out.put(ArrayRef<Scalar>(scalars));
    SmallVector<Argument> arguments;
    for (const sem::Argument &a : m.arguments)
      arguments.push_back({a.isTensor, uint32_t(a.id)});
    record.arguments = out.put(ArrayRef<Argument>(arguments));
    SmallVector<Check> checks;
    for (const sem::Check &c : m.checks)
      checks.push_back({code(c.condition), out.text(c.message)});
    record.checks = out.put(ArrayRef<Check>(checks));
  }

  Tensor writeTensor(const sem::OpModel &m, const sem::TensorParam &t) {
    SmallVector<DimUse> uses;
    for (const sem::DimUse &use : t.dims)
      uses.push_back({idOr(use.dim), use.orOne, use.isGroup, use.dim < 0 ? code(use.expr) : Slice{}});
    Tensor record{};
    record.name = out.text(t.name);
    record.role = Role(t.role);
    record.typeVar = uint32_t(t.typeVar);
    record.dims = out.put(ArrayRef<DimUse>(uses));
    record.optional = t.optional;
    record.hasFill = t.fill.has_value();
    record.aliasOf = idOr(t.aliasOf);
    record.isList = t.isList;
    if (t.fill)
      record.fillBits = fillBits(m, t);
    return record;
  }

  /// The fill is one value in the tensor's dtype; with several dtypes to choose from, only a value whose bits agree can be stored here.
  uint64_t fillBits(const sem::OpModel &m, const sem::TensorParam &t) {
    std::optional<uint64_t> bits;
    for (tilegym::DType d : m.typeVars[t.typeVar].choices) {
      uint64_t these = tilegym::isFloat(d)
                           ? interp::encodeDouble(floatFormat(d), t.fill->asFloat(),
                                                  sem::Rounding::NearestEven, interp::saturatesByDefault(d))
                           : uint64_t(t.fill->asInt());
      if (bits && *bits != these)
        error = m.name + ": " + t.name +
                ": its first value differs in bits from dtype to dtype, which packages cannot say; use 0 or "
                "one dtype";
      bits = these;
    }
    return bits.value_or(0);
  }

  Scalar writeScalar(const sem::OpModel &m, const sem::ScalarParam &s) {
    auto bitsOf = [&](const sem::Constant &c) {
      bool isFloat =
          llvm::any_of(m.typeVars[s.typeVar].choices, [](tilegym::DType d) { return tilegym::isFloat(d); });
      return isFloat && !s.isConst ? std::bit_cast<int64_t>(c.asFloat()) : c.asInt();
    };
    SmallVector<int64_t> choices;
    for (const sem::Constant &c : s.choices)
      choices.push_back(bitsOf(c));
    Scalar record{};
    record.name = out.text(s.name);
    record.typeVar = uint32_t(s.typeVar);
    record.isConst = s.isConst;
    record.choices = out.put(ArrayRef<int64_t>(choices));
    record.enumerators = texts(s.enumerators);
    record.hasDefault = s.defaultValue.has_value();
    if (s.defaultValue)
      record.defaultBits = bitsOf(*s.defaultValue);
    return record;
  }

  Variant writeVariant(const sem::OpModel &m, const PackageVariant &v) {
    Variant record{};
    record.kernel = uint32_t(v.spec.kernel);
    record.facts = v.abi.isFast() ? kFactsFast : kFactsGeneral;
    SmallVector<uint8_t> dtypes, tensorFacts;
    for (tilegym::DType d : v.spec.dtypes)
      dtypes.push_back(uint8_t(d));
    for (size_t i = 0; i < m.tensors.size(); ++i)
      tensorFacts.push_back(i < v.abi.tensors.size() ? uint8_t(v.abi.tensors[i].bits()) : 0);
    SmallVector<int64_t> consts, constDims, params;
    for (size_t i = 0; i < m.scalars.size(); ++i)
      consts.push_back(m.scalars[i].isConst ? v.spec.consts[i].asInt() : kRunTime);
    for (size_t i = 0; i < m.dims.size(); ++i)
      constDims.push_back(m.dims[i].choices.empty() ? kRunTime : v.spec.constDims[i]);
    for (const std::string &name : m.kernels[v.spec.kernel].tileParams)
      for (const sem::NamedInt &p : v.spec.params)
        if (p.name == name)
          params.push_back(p.value);
    for (size_t i = 0; i < v.spec.present.size(); ++i)
      record.present |= uint64_t(v.spec.present[i]) << i;
    record.dtypes = out.put(ArrayRef<uint8_t>(dtypes));
    record.tensorFacts = out.put(ArrayRef<uint8_t>(tensorFacts));
    record.consts = out.put(ArrayRef<int64_t>(consts));
    record.constDims = out.put(ArrayRef<int64_t>(constDims));
    record.params = out.put(ArrayRef<int64_t>(params));
    record.entry = out.text(v.abi.entry);
    SmallVector<Param> layout;
    for (const tile::KernelParam &p : v.abi.params)
      layout.push_back(writeParam(p));
    record.layout = out.put(ArrayRef<Param>(layout));
    SmallVector<format::TensorMap> maps;
    for (const tile::TensorMapABI &map : v.abi.maps)
      maps.push_back(writeMap(map));
    record.maps = out.put(ArrayRef<format::TensorMap>(maps));
    record.grid = launchGrid(v);
    record.knobs = out.text(knobText(v.spec));
    record.threads = uint32_t(v.abi.threads());
    record.blocksPerSm = uint32_t(v.abi.blocksPerSm);
    record.cluster = uint32_t(v.abi.ctas);
    record.sharedBytes = uint32_t(v.sharedBytes);
    record.registers = v.resources.registers;
    record.spillBytes = v.resources.spills();
    if (v.plan)
      writePlan(*v.plan, record);
    else
      record.images = writeImages(v);
    return record;
  }

  void writePlan(const PackagePlan &plan, Variant &record) {
    SmallVector<Scratch> scratch;
    for (const sem::ScratchBuffer &buffer : plan.steps.scratch)
      scratch.push_back({out.text(buffer.name), uint32_t(buffer.dtype), codes(buffer.dims)});
    SmallVector<Launch> launches;
    for (auto [step, op] : zip_equal(plan.steps.launches, plan.launched)) {
      SmallVector<LaunchTensor> tensors;
      for (const sem::PlanTensor &tensor : step.tensors)
        tensors.push_back({idOr(tensor.scratch), idOr(tensor.tensor), writeAxes(tensor)});
      launches.push_back({uint32_t(launched.size()), out.put(ArrayRef<LaunchTensor>(tensors)),
                          codes(step.scalars), codes(step.dims)});
      launched.push_back(writeOp(op));
    }
    if (scratch.size() > kMaxScratch || launches.size() > kMaxLaunches)
      error = "a plan has at most " + std::to_string(kMaxScratch) + " scratch buffers and " +
              std::to_string(kMaxLaunches) + " launches";
    record.scratch = out.put(ArrayRef<Scratch>(scratch));
    record.launches = out.put(ArrayRef<Launch>(launches));
  }

  Slice writeAxes(const sem::PlanTensor &tensor) {
    SmallVector<PartAxis> axes;
    for (const sem::PlanAxis &axis : tensor.axes)
      axes.push_back({uint32_t(axis.axis), axis.isPoint, code(axis.start), code(axis.extent)});
    return out.put(ArrayRef<PartAxis>(axes));
  }

  /// The blocks of a cluster are the launch's slowest axis, of which kernels know nothing: only the product counts.
  Slice launchGrid(const PackageVariant &v) {
    SmallVector<Slice> axes;
    for (const sem::ExprPtr &e : v.grid)
      axes.push_back(code(e));
    if (v.abi.ctas > 1)
      axes.push_back(out.put(ArrayRef<Inst>(Inst{OpCode::PushInt, 0, 0, v.abi.ctas})));
    return out.put(ArrayRef<Slice>(axes));
  }

  static_assert(tile::maxListLength == kMaxListLength && tile::maxParamBytes == kMaxParamBytes);

  static Param writeParam(const tile::KernelParam &p) {
    uint32_t id = uint32_t(p.id), axis = uint32_t(p.axis);
    switch (p.kind) {
    case tile::ParamKind::Base:
      return {ParamKind::TensorPointer, id, 0};
    case tile::ParamKind::Extent:
      return {ParamKind::Dim, id, 0};
    case tile::ParamKind::Stride:
      return {ParamKind::Stride, id, axis};
    case tile::ParamKind::Scalar:
      return {ParamKind::Scalar, id, 0};
    case tile::ParamKind::GroupRank:
      return {ParamKind::GroupRank, id, 0};
    case tile::ParamKind::GroupExtent:
      return {ParamKind::GroupExtent, id, axis};
    case tile::ParamKind::GroupStride:
      return {ParamKind::GroupStride, id, axis};
    case tile::ParamKind::Grid:
      return {ParamKind::Grid, id, 0};
    case tile::ParamKind::SmCount:
      return {ParamKind::SmCount, 0, 0};
    case tile::ParamKind::TensorMap:
      return {ParamKind::TensorMap, axis, 0};
    case tile::ParamKind::ListLength:
      return {ParamKind::ListLength, id, 0};
    }
    llvm_unreachable("a parameter of no kind");
  }

  format::TensorMap writeMap(const tile::TensorMapABI &map) {
    SmallVector<format::MapAxis> axes;
    for (const tile::MapAxis &a : map.axes)
      axes.push_back({idOr(a.dim), a.stride < 0 ? 0 : uint32_t(a.stride), uint32_t(a.box), 0, a.extent});
    return {uint32_t(map.tensor), uint32_t(map.swizzle), out.put(ArrayRef<format::MapAxis>(axes))};
  }

  Slice writeImages(const PackageVariant &v) {
    SmallVector<Image> records;
    SmallVector<uint64_t> places;
    auto add = [&](StringRef code, uint32_t kind) {
      std::string packed = pack(code);
      bool shorter = packed.size() < code.size();
      StringRef bytes = shorter ? packed : code;
      images.resize((images.size() + 63) / 64 * 64);
      Image image{};
      image.arch = v.arch.number;
      image.kind = kind;
      image.exact = v.arch.exact;
      image.unpacked = shorter ? uint32_t(code.size()) : 0;
      image.size = bytes.size();
      image.checksum = checksum64(bytes.data(), bytes.size());
      places.push_back(images.size());
      images.append(bytes.data(), bytes.size());
      records.push_back(image);
    };
    if (!v.cubin.empty())
      add(v.cubin, 0);
    // The driver's compiler reads PTX up to a NUL. Code for one arch alone gains nothing from it once there is a cubin.
    if (v.cubin.empty() || (package.embedPtx && !v.arch.exact))
      add(StringRef(v.ptx.c_str(), v.ptx.size() + 1), 1);
    Slice slice = out.put(ArrayRef<Image>(records));
    for (auto [i, place] : llvm::enumerate(places))
      imageRecords.emplace_back(slice.offset + i * sizeof(Image), place);
    return slice;
  }

  const Package &package;
  BlockWriter out;
  std::string images;
  SmallVector<format::Op> launched; ///< by plans
  std::vector<std::pair<size_t, uint64_t>>
      imageRecords; ///< where a record lies, and its image's place among images
  std::optional<std::string> error;
};

} // namespace

Expected<std::string> writeTable(const Package &package) { return Writer(package).run(); }

std::string knobText(const sem::Specialization &spec) {
  std::string text;
  for (const auto *list : {&spec.params, &spec.knobs})
    for (const sem::NamedInt &n : *list)
      text += (text.empty() ? "" : " ") + n.name + "=" + std::to_string(n.value);
  return text;
}

Expected<Arch> parseArch(StringRef text) {
  Arch arch;
  arch.chip = text.str();
  StringRef digits = text;
  bool ok = digits.consume_front("sm_");
  arch.exact = digits.consume_back("a");
  if (!ok || digits.getAsInteger(10, arch.number) || !targets::findTarget(arch.number))
    return createStringError("'%s' is no target; expected one of %s, or one of these with an 'a' (sm_90a) "
                             "for code for that GPU alone",
                             arch.chip.c_str(), targets::knownTargets().c_str());
  return arch;
}

} // namespace tilegym::emit
