// SPDX-License-Identifier: MIT
// The writer of hand-made packages.
#include "tests/unit/runtime/PackageBuilder.h"

namespace tilegym::testing {

template <class T> Slice PackageBuilder::put(const std::vector<T> &items) {
  if (items.empty())
    return {};
  align(8);
  Slice slice{uint32_t(bytes.size()), uint32_t(items.size())};
  bytes.append(reinterpret_cast<const char *>(items.data()), items.size() * sizeof(T));
  return slice;
}

Slice PackageBuilder::codes(const std::vector<Code> &list) {
  std::vector<Slice> slices;
  for (const Code &code : list)
    slices.push_back(put(code));
  return put(slices);
}

Slice PackageBuilder::texts(const std::vector<std::string> &list) {
  std::vector<Slice> slices;
  for (const std::string &item : list)
    slices.push_back(text(item));
  return put(slices);
}

Variant PackageBuilder::variant(const OpText &o, const VariantText &v) {
  Variant r{};
  r.kernel = v.kernel;
  r.facts = v.facts;
  r.dtypes = put(v.dtypes);
  r.consts = put(v.consts.empty() ? std::vector<int64_t>(o.scalars.size(), kRunTime) : v.consts);
  r.constDims = put(v.constDims.empty() ? std::vector<int64_t>(o.dims.size(), kRunTime) : v.constDims);
  r.present = v.present & ((uint64_t(1) << o.tensors.size()) - 1);
  r.params = put(v.params);
  r.entry = text(v.entry);
  r.layout = put(v.layout);
  std::vector<TensorMap> maps;
  for (const MapText &m : v.maps)
    maps.push_back({m.tensor, m.swizzle, put(m.axes)});
  r.maps = put(maps);
  r.tensorFacts = put(v.tensorFacts.empty() ? std::vector<uint8_t>(o.tensors.size(), 0) : v.tensorFacts);
  r.grid = codes(v.grid);
  r.knobs = text("warps=4");
  r.threads = v.threads;
  r.blocksPerSm = v.blocksPerSm;
  r.cluster = v.cluster;
  r.sharedBytes = v.sharedBytes;
  r.registers = 32;
  std::vector<Image> records;
  for (const ImageText &i : v.images) {
    images.resize((images.size() + 63) / 64 * 64);
    records.push_back({i.arch, i.kind, i.exact, i.unpacked, images.size(), i.bytes.size(),
                       checksum64(i.bytes.data(), i.bytes.size())});
    images += i.bytes;
  }
  plan(v, r);
  r.images = put(records);
  for (size_t i = 0; i < records.size(); ++i)
    imagePlaces.emplace_back(r.images.offset + i * sizeof(Image), records[i].offset);
  return r;
}

void PackageBuilder::plan(const VariantText &v, Variant &r) {
  std::vector<Scratch> scratch;
  for (const ScratchText &s : v.scratch)
    scratch.push_back({text(s.name), s.dtype, codes(s.extents)});
  r.scratch = put(scratch);
  std::vector<Launch> launches;
  for (const LaunchText &l : v.launches) {
    std::vector<LaunchTensor> tensors;
    for (const LaunchTensorText &t : l.tensors) {
      std::vector<PartAxis> axes;
      for (const PartText &a : t.axes)
        axes.push_back({a.axis, a.isPoint, put(a.start), put(a.extent)});
      tensors.push_back({t.scratch, t.tensor, put(axes)});
    }
    launches.push_back({l.op, put(tensors), codes(l.scalars), codes(l.dims)});
  }
  r.launches = put(launches);
}

Op PackageBuilder::op(const OpText &o) {
  Op r{};
  r.name = text(o.name);
  std::vector<Source> sources;
  for (const auto &[name, contents] : o.sources)
    sources.push_back({text(name), text(contents)});
  r.sources = put(sources);
  std::vector<TypeVar> typeVars;
  for (const TypeVarText &v : o.typeVars)
    typeVars.push_back({text(v.name), put(v.choices), 0});
  r.typeVars = put(typeVars);
  std::vector<Dim> dims;
  for (const DimText &d : o.dims)
    dims.push_back({text(d.name), put(d.choices), d.isGroup, kNone, kNone, d.isOfElement});
  r.dims = put(dims);
  std::vector<Tensor> tensors;
  std::vector<Argument> inputs, outputs;
  for (const TensorText &t : o.tensors) {
    std::vector<DimUse> uses;
    for (const UseText &u : t.dims)
      uses.push_back({u.dim, u.orOne, u.isGroup, put(u.expr)});
    (t.role == Role::Output ? outputs : inputs).push_back({1, uint32_t(tensors.size())});
    tensors.push_back({text(t.name), t.role, t.typeVar, put(uses), t.optional, t.fill.has_value(),
                       t.fill.value_or(0), t.aliasOf, t.isList});
  }
  r.tensors = put(tensors);
  std::vector<Scalar> scalars;
  for (const ScalarText &s : o.scalars) {
    inputs.push_back({0, uint32_t(scalars.size())});
    scalars.push_back({text(s.name),
                       s.typeVar,
                       s.isConst,
                       put(s.choices),
                       {},
                       s.defaultBits.has_value(),
                       0,
                       s.defaultBits.value_or(0)});
  }
  r.scalars = put(scalars);
  inputs.insert(inputs.end(), outputs.begin(), outputs.end());
  r.arguments = put(inputs);
  std::vector<Check> checks;
  for (const CheckText &c : o.checks)
    checks.push_back({put(c.condition), text(c.message)});
  r.checks = put(checks);
  std::vector<Kernel> kernels;
  for (const KernelText &k : o.kernels)
    kernels.push_back({text(k.name), put(k.guard), texts(k.params), codes(k.derived)});
  r.kernels = put(kernels);
  std::vector<Variant> variants;
  for (const VariantText &v : o.variants)
    variants.push_back(variant(o, v));
  r.variants = put(variants);
  return r;
}

void PackageBuilder::seal(std::string &block) {
  Header header;
  std::memcpy(static_cast<void *>(&header), block.data(), sizeof header);
  header.tableChecksum = tableChecksum(block.data(), header.imagesOffset);
  std::memcpy(block.data(), &header, sizeof header);
}

std::string PackageBuilder::build(const std::vector<OpText> &ops, const std::vector<OpText> &launched) {
  bytes.assign(sizeof(Header), '\0');
  images.clear();
  imagePlaces.clear();
  std::vector<Op> records;
  for (const OpText &o : ops)
    records.push_back(op(o));
  std::vector<Op> behind;
  for (const OpText &o : launched)
    behind.push_back(op(o));
  Header header{};
  header.magic = kMagic;
  header.version = kVersion;
  header.ops = put(records);
  header.launched = put(behind);
  header.name = text("tests");
  header.producer = text("hand");
  align(64);
  header.imagesOffset = bytes.size();
  for (auto [place, offset] : imagePlaces) {
    uint64_t absolute = header.imagesOffset + offset;
    std::memcpy(bytes.data() + place + offsetof(Image, offset), &absolute, 8);
  }
  bytes += images;
  header.size = bytes.size();
  std::memcpy(bytes.data(), &header, sizeof header);
  seal(bytes);
  return bytes;
}

OpText scaleOp() {
  OpText o;
  o.name = "scale";
  o.typeVars = {{"T", {F32, F16}}, {"", {F32}}, {"", {BOOL}}};
  o.dims = {{"R", {}, true}, {"N"}};
  UseText group{0, false, true}, n{1}, nOr1{1, true};
  o.tensors = {{"x", Role::Input, 0, {group, n}},
               {"b", Role::Input, 0, {nOr1}, /*optional=*/true},
               {"y", Role::Output, 0, {group, n}}};
  int64_t half;
  double value = 0.5;
  std::memcpy(&half, &value, 8);
  o.scalars = {{"s", 1, false, {}, half}, {"fast", 2, true, {0, 1}, 1}};
  o.kernels = {{"only"}};
  for (uint8_t dtype : {F32, F16})
    for (bool withB : {false, true})
      for (bool fast : {false, true}) {
        VariantText v;
        v.facts = fast ? kFactsFast : kFactsGeneral;
        v.dtypes = {dtype, F32, BOOL};
        v.consts = {kRunTime, 1};
        v.present = withB ? 7 : 5;
        v.entry =
            std::string(fast ? "fast" : "general") + (dtype == F32 ? "_f32" : "_f16") + (withB ? "_b" : "");
        uint8_t all = kUnitInner | kAligned | kWholeVectors;
        if (fast)
          v.tensorFacts = {all, uint8_t(withB ? kUnitInner : 0), all};
        v.layout = {{ParamKind::TensorPointer, 0, 0}, {ParamKind::TensorPointer, 1, 0},
                    {ParamKind::TensorPointer, 2, 0}, {ParamKind::Dim, 0, 0},
                    {ParamKind::Dim, 1, 0},           {ParamKind::Stride, 0, 1},
                    {ParamKind::Stride, 1, 0},        {ParamKind::Scalar, 0, 0},
                    {ParamKind::GroupRank, 0, 0},     {ParamKind::GroupExtent, 0, 0},
                    {ParamKind::GroupExtent, 0, 1},   {ParamKind::GroupStride, 0, 0},
                    {ParamKind::GroupStride, 0, 1},   {ParamKind::Grid, 0, 0},
                    {ParamKind::SmCount, 0, 0}};
        v.images = {{80, 0, 0, "15 cubin"}, {80, 1, 0, std::string("15 ptx\0", 7)}};
        v.grid = {{dim(0)}, {dim(1), number(128), inst(OpCode::CDivI)}};
        o.variants.push_back(v);
      }
  return o;
}

} // namespace tilegym::testing
