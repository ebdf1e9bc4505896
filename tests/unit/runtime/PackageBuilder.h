// SPDX-License-Identifier: MIT
// Packages made by hand, without the compiler: plain structures of an op, written as the block that the runtime reads.
#pragma once
#include "tilegym/format/Checksum.h"
#include "tilegym/format/Table.h"
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace tilegym::testing {

using namespace tilegym::format;
using Code = std::vector<Inst>;

inline Inst inst(OpCode code, uint32_t a = 0, int64_t imm = 0) { return {code, 0, a, imm}; }
inline Inst number(int64_t value) { return inst(OpCode::PushInt, 0, value); }
inline Inst dim(uint32_t id) { return inst(OpCode::PushDim, id); }
inline constexpr uint8_t F32 = uint8_t(format::DType::F32), F16 = uint8_t(format::DType::F16),
                         BF16 = uint8_t(format::DType::BF16), F64 = uint8_t(format::DType::F64),
                         I32 = uint8_t(format::DType::I32), BOOL = uint8_t(format::DType::Bool);

struct TypeVarText {
  std::string name;
  std::vector<uint8_t> choices;
};
struct DimText {
  std::string name;
  std::vector<int64_t> choices = {};
  bool isGroup = false;
  bool isOfElement = false;
};
struct UseText {
  uint32_t dim = kNone;
  bool orOne = false, isGroup = false;
  Code expr = {};
};
struct TensorText {
  std::string name;
  Role role = Role::Input;
  uint32_t typeVar = 0;
  std::vector<UseText> dims = {};
  bool optional = false;
  std::optional<uint64_t> fill = {};
  uint32_t aliasOf = kNone;
  bool isList = false;
};
struct ScalarText {
  std::string name;
  uint32_t typeVar = 0;
  bool isConst = false;
  std::vector<int64_t> choices = {};
  std::optional<int64_t> defaultBits = {};
};
struct CheckText {
  Code condition;
  std::string message;
};
struct KernelText {
  std::string name;
  Code guard = {};
  std::vector<std::string> params = {};
  std::vector<Code> derived = {}; ///< as many as params; empty: tuned
};
struct ImageText {
  uint32_t arch = 80, kind = 0, exact = 0;
  std::string bytes = "cubin";
  uint32_t unpacked = 0;
};
struct MapText {
  uint32_t tensor = 0, swizzle = 0;
  std::vector<MapAxis> axes; ///< innermost first
};
struct ScratchText {
  std::string name;
  uint8_t dtype = F32;
  std::vector<Code> extents;
};
struct PartText {
  uint32_t axis = 0;
  bool isPoint = false;
  Code start = {}, extent = {};
};
struct LaunchTensorText {
  uint32_t scratch = kNone, tensor = kNone;
  std::vector<PartText> axes = {};
};
struct LaunchText {
  uint32_t op = 0; ///< among those launched
  std::vector<LaunchTensorText> tensors = {};
  std::vector<Code> scalars = {}, dims = {};
};
struct VariantText {
  uint32_t kernel = 0, facts = kFactsGeneral;
  std::vector<uint8_t> dtypes;         ///< by type var
  std::vector<int64_t> consts = {};    ///< empty: all at run time
  std::vector<int64_t> constDims = {}; ///< empty: all at run time
  uint64_t present = ~uint64_t(0);     ///< bits beyond the tensors are cut off
  std::vector<int64_t> params = {};
  std::string entry = "entry";
  std::vector<ImageText> images = {ImageText{}};
  std::vector<Param> layout = {};
  std::vector<MapText> maps = {};
  std::vector<uint8_t> tensorFacts = {}; ///< empty: none
  std::vector<Code> grid = {{number(1)}};
  uint32_t threads = 128, sharedBytes = 0, blocksPerSm = 0, cluster = 0;
  std::vector<ScratchText> scratch = {};
  std::vector<LaunchText> launches = {};
};
struct OpText {
  std::string name;
  std::vector<TypeVarText> typeVars;
  std::vector<DimText> dims;
  std::vector<TensorText> tensors;
  std::vector<ScalarText> scalars = {};
  std::vector<CheckText> checks = {};
  std::vector<KernelText> kernels = {};
  std::vector<VariantText> variants = {};
  std::vector<std::pair<std::string, std::string>> sources = {};
};

/// Writes the records front to back; what one points to is written before it.
class PackageBuilder {
public:
  std::string build(const std::vector<OpText> &ops, const std::vector<OpText> &launched = {});
  /// Makes the checksum right again after a change, so that what comes after it is tested.
  static void seal(std::string &block);

private:
  template <class T> Slice put(const std::vector<T> &items);
  Slice text(const std::string &text) { return put(std::vector<char>(text.begin(), text.end())); }
  Slice codes(const std::vector<Code> &list);
  Slice texts(const std::vector<std::string> &list);
  Op op(const OpText &o);
  void plan(const VariantText &v, Variant &r);
  Variant variant(const OpText &o, const VariantText &v);
  void align(size_t n) { bytes.resize((bytes.size() + n - 1) / n * n); }

  std::string bytes, images;
  std::vector<std::pair<size_t, uint64_t>> imagePlaces;
};

/// y = x * s (+ b), the op of most tests: scale(x: T[*R, N], b: T[N|1]?, s: f32 = 0.5, const fast: bool = true) -> y: T[*R, N], whose
/// arguments are x, b, s, fast, y; one kernel with a fast and a general variant for f32 and f16, with b and without.
OpText scaleOp();

} // namespace tilegym::testing
