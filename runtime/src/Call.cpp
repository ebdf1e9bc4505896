// SPDX-License-Identifier: MIT
// Reading a call's arguments: dtypes, ranks, dims that must agree, scalars, the author's checks. Every error names op, argument, what was found
// and what was expected.
#include "Call.h"
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace tilegym::runtime {

using namespace format;

#define TRY(expression)                                                                                      \
  if (TilegymStatus status = (expression); status != TILEGYM_OK)                                             \
  return status

const char *dtypeName(uint8_t dtype) {
  static const char *const names[] = {"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8",   "i16",
                                      "i32", "i64", "u8",  "u16",  "u32",    "u64",    "bool", "index"};
  return dtype < std::size(names) ? names[dtype] : "an unknown dtype";
}

namespace {

struct Text {
  char data[160];
  Text(std::string_view view) { std::snprintf(data, sizeof data, "%.*s", int(view.size()), view.data()); }
  operator const char *() const { return data; }
};

bool isFloatType(uint8_t d) { return d <= uint8_t(DType::F8E5M2); }

double halfToDouble(uint16_t bits, int exponentBits, int fractionBits) {
  int exponent = bits >> fractionBits & ((1 << exponentBits) - 1),
      fraction = bits & ((1 << fractionBits) - 1), bias = (1 << (exponentBits - 1)) - 1;
  double magnitude = exponent == (1 << exponentBits) - 1 ? (fraction ? NAN : INFINITY)
                     : exponent
                         ? std::ldexp(double((1 << fractionBits) | fraction), exponent - bias - fractionBits)
                         : std::ldexp(double(fraction), 1 - bias - fractionBits);
  return bits >> 15 ? -magnitude : magnitude;
}

template <class T> T readAs(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

Cell readScalar(const void *from, uint8_t dtype) {
  Cell c{};
  switch (DType(dtype)) {
  case DType::F64:
    c.f = readAs<double>(from);
    break;
  case DType::F32:
    c.f = readAs<float>(from);
    break;
  case DType::F16:
    c.f = halfToDouble(readAs<uint16_t>(from), 5, 10);
    break;
  case DType::BF16:
    c.f = halfToDouble(readAs<uint16_t>(from), 8, 7);
    break;
  case DType::I8:
    c.i = readAs<int8_t>(from);
    break;
  case DType::I16:
    c.i = readAs<int16_t>(from);
    break;
  case DType::I32:
    c.i = readAs<int32_t>(from);
    break;
  case DType::U8:
  case DType::Bool:
    c.i = readAs<uint8_t>(from);
    break;
  case DType::U16:
    c.i = readAs<uint16_t>(from);
    break;
  case DType::U32:
    c.i = readAs<uint32_t>(from);
    break;
  default:
    c.i = readAs<int64_t>(from);
    break;
  }
  return c;
}

} // namespace

Call::Call(const Table &table, const Op &op)
    : table(table), op(op), tensors(table.get<Tensor>(op.tensors)), dims(table.get<Dim>(op.dims)),
      scalars(table.get<Scalar>(op.scalars)), typeVars(table.get<TypeVar>(op.typeVars)) {
  for (size_t i = 0; i < typeVars.size(); ++i) {
    std::span<const uint8_t> choices = table.get<uint8_t>(typeVars[i].choices);
    dtypes[i] = choices.size() == 1 ? choices[0] : 255;
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    dimValues[i] = -1;
    if (dims[i].isGroup)
      groupDim = int(i);
  }
}

Values Call::values() const {
  Values v;
  v.dims = dimValues;
  v.scalars = scalarValues;
  v.present = present;
  v.groupRanks = groupRanks;
  v.dtypes = dtypes;
  return v;
}

TilegymStatus Call::wrong(uint32_t tensor, const char *format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return fail(TILEGYM_INVALID_ARGUMENT, "%s: %s: %s", (const char *)Text(table.text(op.name)),
              (const char *)Text(table.text(tensors[tensor].name)), message);
}

TilegymStatus Call::bindTensor(uint32_t id, const TilegymTensor *given) {
  const Tensor &t = tensors[id];
  BoundTensor &b = bound[id];
  if (!given) {
    if (t.optional)
      return TILEGYM_OK;
    return wrong(id, "no tensor was given, and it is not optional");
  }
  b.given = given;
  present |= uint64_t(1) << id;
  if (given->rank < 0 || given->rank > kMaxRank)
    return wrong(id, "rank %d is not in 0 .. %d", given->rank, kMaxRank);
  if (given->rank > 0 && !given->shape)
    return wrong(id, "rank is %d but shape is null", given->rank);
  if (given->dtype < 0 || given->dtype > TILEGYM_BOOL)
    return wrong(id, "dtype %d is no TilegymDType", given->dtype);
  std::span<const DimUse> uses = table.get<DimUse>(t.dims);
  b.rank = given->rank;
  b.hasGroup = !uses.empty() && uses[0].isGroup;
  b.leading = b.hasGroup ? given->rank - int(uses.size()) + 1 : 0;
  if (b.hasGroup ? b.leading < 0 : given->rank != int(uses.size()))
    return wrong(id, "has rank %d, expected %s%zu", given->rank, b.hasGroup ? "at least " : "",
                 uses.size() - b.hasGroup);
  for (int i = 0; i < b.rank; ++i) {
    b.shape[i] = given->shape[i];
    if (b.shape[i] < 0)
      return wrong(id, "axis %d has extent %" PRId64 ", expected 0 or more", i, b.shape[i]);
    if (__builtin_mul_overflow(b.elements, b.shape[i], &b.elements))
      return wrong(id, "has more than 2^63 elements");
  }
  int64_t packed = 1;
  for (int i = b.rank - 1; i >= 0; --i) {
    b.strides[i] = given->strides ? given->strides[i] : packed;
    packed *= std::max<int64_t>(1, b.shape[i]);
  }
  uint8_t &dtype = dtypes[t.typeVar];
  uint8_t have = uint8_t(given->dtype);
  b.elementBytes = bytesOf(DType(have));
  std::span<const uint8_t> choices = table.get<uint8_t>(typeVars[t.typeVar].choices);
  if (std::find(choices.begin(), choices.end(), have) == choices.end()) {
    char list[256] = "";
    for (uint8_t c : choices)
      std::snprintf(list + std::strlen(list), sizeof list - std::strlen(list), "%s%s", *list ? ", " : "",
                    dtypeName(c));
    return wrong(id, "has dtype %s, expected %s%s", dtypeName(have), choices.size() > 1 ? "one of " : "",
                 list);
  }
  if (dtype == 255)
    dtype = have;
  else if (dtype != have)
    return wrong(id, "has dtype %s, but %s is %s by an earlier argument", dtypeName(have),
                 (const char *)Text(table.text(typeVars[t.typeVar].name)), dtypeName(dtype));
  return TILEGYM_OK;
}

TilegymStatus Call::bindScalar(uint32_t id, const void *given) {
  const Scalar &s = scalars[id];
  uint8_t dtype = dtypes[s.typeVar];
  bool isFloat = !s.isConst && dtype != 255 && isFloatType(dtype);
  if (!given) {
    if (!s.hasDefault)
      return fail(TILEGYM_INVALID_ARGUMENT, "%s: %s: no value was given, and it has no default",
                  (const char *)Text(table.text(op.name)), (const char *)Text(table.text(s.name)));
    if (isFloat)
      scalarValues[id].f = std::bit_cast<double>(s.defaultBits);
    else
      scalarValues[id].i = s.defaultBits;
  } else if (s.isConst) {
    scalarValues[id].i = readAs<int64_t>(given);
  } else {
    scalarValues[id] = readScalar(given, dtype == 255 ? uint8_t(DType::I64) : dtype);
  }
  if (!s.isConst)
    return TILEGYM_OK;
  std::span<const int64_t> choices = table.get<int64_t>(s.choices);
  if (choices.empty() || std::find(choices.begin(), choices.end(), scalarValues[id].i) != choices.end())
    return TILEGYM_OK;
  char list[256] = "";
  for (int64_t c : choices)
    std::snprintf(list + std::strlen(list), sizeof list - std::strlen(list), "%s%" PRId64, *list ? ", " : "",
                  c);
  return fail(TILEGYM_INVALID_ARGUMENT,
              "%s: %s: %" PRId64
              " is not one of the values it was compiled for: %s; add it to the op's list in the spec",
              (const char *)Text(table.text(op.name)), (const char *)Text(table.text(s.name)),
              scalarValues[id].i, list);
}

TilegymStatus Call::bindDims() {
  for (uint32_t d = 0; d < dims.size(); ++d) {
    const Dim &dim = dims[d];
    // The tensor the spec binds it by, or, where that one is absent or broadcasts, any other that has it.
    auto take = [&](uint32_t tensor, uint32_t written) {
      const BoundTensor &b = bound[tensor];
      if (!b.given)
        return;
      if (dim.isGroup) {
        groupRanks[d] = b.leading;
        dimValues[d] = 1;
        for (int i = 0; i < b.leading; ++i)
          dimValues[d] *= b.shape[i];
        return;
      }
      int64_t extent = b.shape[b.axis(int(written))];
      if (dimValues[d] < 0 || (dimValues[d] == 1 && table.get<DimUse>(tensors[tensor].dims)[written].orOne))
        dimValues[d] = extent;
    };
    if (dim.bindTensor != kNone)
      take(dim.bindTensor, dim.bindAxis);
    for (uint32_t t = 0; t < tensors.size(); ++t) {
      std::span<const DimUse> uses = table.get<DimUse>(tensors[t].dims);
      for (uint32_t a = 0; a < uses.size(); ++a)
        if (uses[a].dim == d && (dimValues[d] < 0 || (dimValues[d] == 1 && uses[a].orOne)) && !dim.isGroup)
          take(t, a);
        else if (uses[a].dim == d && dim.isGroup && dimValues[d] < 0)
          take(t, a);
    }
    std::span<const int64_t> choices = table.get<int64_t>(dim.choices);
    if (dimValues[d] >= 0 && !choices.empty() &&
        std::find(choices.begin(), choices.end(), dimValues[d]) == choices.end()) {
      char list[256] = "";
      for (int64_t c : choices)
        std::snprintf(list + std::strlen(list), sizeof list - std::strlen(list), "%s%" PRId64,
                      *list ? ", " : "", c);
      return fail(
          TILEGYM_INVALID_ARGUMENT,
          "%s: dim %s is %" PRId64
          ", which is not one of the values it was compiled for: %s; add it to the op's list in the spec",
          (const char *)Text(table.text(op.name)), (const char *)Text(table.text(dim.name)), dimValues[d],
          list);
    }
  }
  return TILEGYM_OK;
}

TilegymStatus Call::checkDims(bool outputs) {
  for (uint32_t id = 0; id < tensors.size(); ++id) {
    BoundTensor &b = bound[id];
    if (!b.given || (tensors[id].role == Role::Output) != outputs)
      continue;
    std::span<const DimUse> uses = table.get<DimUse>(tensors[id].dims);
    for (uint32_t a = 0; a < uses.size(); ++a) {
      const DimUse &use = uses[a];
      if (use.isGroup) {
        const BoundTensor *reference = nullptr;
        for (uint32_t other = 0; other < id && !reference; ++other)
          if (bound[other].given && bound[other].hasGroup)
            reference = &bound[other];
        if (!reference)
          continue;
        if (reference->leading != b.leading)
          return wrong(id, "has %d leading axes, but %d by an earlier argument", b.leading,
                       reference->leading);
        for (int i = 0; i < b.leading; ++i)
          if (reference->shape[i] != b.shape[i])
            return wrong(id, "axis %d has extent %" PRId64 ", expected %" PRId64 " as in an earlier argument",
                         i, b.shape[i], reference->shape[i]);
        continue;
      }
      int axis = b.axis(int(a));
      int64_t want = -1;
      const char *name = "";
      Text dimText(use.dim != kNone ? table.text(dims[use.dim].name) : std::string_view("an expression"));
      name = dimText;
      if (use.dim != kNone) {
        want = dimValues[use.dim];
      } else {
        Evaluated e = evaluate(table.get<Inst>(use.expr), values());
        if (e.error)
          return wrong(id, "the extent expected of axis %d cannot be computed: %s", axis, e.error);
        want = e.value.i;
      }
      if (b.shape[axis] == want)
        continue;
      if (use.orOne && b.shape[axis] == 1) {
        b.strides[axis] = 0;
        continue;
      }
      return wrong(id, "axis %d has extent %" PRId64 ", expected %s = %" PRId64 "%s", axis, b.shape[axis],
                   name, want, use.orOne ? " or 1" : "");
    }
  }
  return TILEGYM_OK;
}

TilegymStatus Call::runChecks() {
  for (const Check &check : table.get<Check>(op.checks)) {
    Evaluated e = evaluate(table.get<Inst>(check.condition), values());
    if (e.error)
      return fail(TILEGYM_INVALID_ARGUMENT, "%s: the check '%s' cannot be evaluated: %s",
                  (const char *)Text(table.text(op.name)), (const char *)Text(table.text(check.message)),
                  e.error);
    if (!e.value.i)
      return fail(TILEGYM_INVALID_ARGUMENT, "%s: %s", (const char *)Text(table.text(op.name)),
                  (const char *)Text(table.text(check.message)));
  }
  return TILEGYM_OK;
}

TilegymStatus Call::checkMemory() {
  for (uint32_t id = 0; id < tensors.size(); ++id) {
    BoundTensor &b = bound[id];
    if (!b.given || b.elements == 0)
      continue;
    if (!b.given->data)
      return wrong(id, "data is null, but it has %" PRId64 " elements", b.elements);
    if (reinterpret_cast<uintptr_t>(b.given->data) % uintptr_t(b.elementBytes))
      return wrong(id, "data at %p is not a multiple of its element's %d bytes", b.given->data,
                   b.elementBytes);
    b.highest = b.elementBytes;
    for (int i = 0; i < b.rank; ++i) {
      int64_t reach;
      if (__builtin_mul_overflow(b.strides[i], (b.shape[i] - 1) * b.elementBytes, &reach) ||
          reach > INT64_MAX / 16 || reach < INT64_MIN / 16)
        return wrong(id, "axis %d has stride %" PRId64 ", which reaches beyond the address space", i,
                     b.strides[i]);
      (reach < 0 ? b.lowest : b.highest) += reach;
    }
    if (tensors[id].role != Role::Input && !elementsDiffer(b))
      return wrong(id, "is written, but its strides let several indices share an element");
  }
  return TILEGYM_OK;
}

TilegymStatus Call::checkOverlap() {
  for (uint32_t id = 0; id < tensors.size(); ++id) {
    if (!bound[id].given || tensors[id].role == Role::Input)
      continue;
    for (uint32_t other = 0; other < tensors.size(); ++other) {
      if (other == id || !bound[other].given || (tensors[other].role != Role::Input && other < id))
        continue;
      if (provablyDisjoint(bound[id], bound[other]))
        continue;
      bool declared = tensors[id].aliasOf == other || tensors[other].aliasOf == id;
      bool same = bound[id].given->data == bound[other].given->data && bound[id].rank == bound[other].rank &&
                  bound[id].elementBytes == bound[other].elementBytes &&
                  !std::memcmp(bound[id].shape, bound[other].shape, sizeof bound[id].shape) &&
                  !std::memcmp(bound[id].strides, bound[other].strides, sizeof bound[id].strides);
      if (declared && same)
        continue;
      return wrong(
          id, "is written, but shares memory with %s%s", (const char *)Text(table.text(tensors[other].name)),
          declared ? " other than as the same view, which alone is allowed" : "; give it memory of its own");
    }
  }
  return TILEGYM_OK;
}

void Call::mergeGroup() {
  if (groupDim < 0)
    return;
  int leading = int(groupRanks[groupDim]);
  const BoundTensor *shapeOf = nullptr;
  for (uint32_t t = 0; t < tensors.size(); ++t)
    if (bound[t].given && bound[t].hasGroup)
      shapeOf = &bound[t];
  group.ranks = leading;
  group.rank = 0;
  for (int i = leading - 1; shapeOf && i >= 0; --i) {
    int64_t extent = shapeOf->shape[i];
    if (extent == 1)
      continue;
    // Joins the dim inside it if it does so in every tensor.
    bool joins = group.rank > 0;
    for (uint32_t t = 0; joins && t < tensors.size(); ++t)
      if (bound[t].given && bound[t].hasGroup)
        joins = bound[t].strides[i] == group.strides[t][group.rank - 1] * group.extents[group.rank - 1];
    if (!joins) {
      group.extents[group.rank] = 1;
      for (uint32_t t = 0; t < tensors.size(); ++t)
        group.strides[t][group.rank] = bound[t].given && bound[t].hasGroup ? bound[t].strides[i] : 0;
      ++group.rank;
    }
    group.extents[group.rank - 1] *= extent;
  }
  // Found from the innermost; kept outermost first.
  std::reverse(group.extents, group.extents + group.rank);
  for (uint32_t t = 0; t < tensors.size(); ++t)
    std::reverse(group.strides[t], group.strides[t] + group.rank);
  for (int i = group.rank; i <= kMaxGroup; ++i)
    group.extents[i] = 1;
}

void Call::findFacts() {
  fastBase = group.rank <= 1;
  for (uint32_t d = 0; d < dims.size(); ++d)
    fastBase &= dimValues[d] <= kMaxFastExtent;
  for (uint32_t id = 0; id < tensors.size(); ++id) {
    BoundTensor &b = bound[id];
    if (!b.given)
      continue;
    fastBase &= b.lowest == 0 && b.highest <= INT32_MAX;
    int last = b.rank - 1;
    bool lastIsGroup = b.hasGroup && b.leading == b.rank;
    // A group that comes last has merged strides; else the last axis as given.
    int64_t inner = b.rank == 0 || (lastIsGroup && group.rank == 0) ? 1
                    : lastIsGroup                                   ? group.strides[id][0]
                                                                    : b.strides[last];
    int64_t innerExtent = b.rank == 0   ? 1
                          : lastIsGroup ? (group.rank ? group.extents[group.rank - 1] : 1)
                                        : b.shape[last];
    if (inner == 1 || innerExtent <= 1)
      b.facts |= kUnitInner;
    if (innerExtent * b.elementBytes % 16 == 0)
      b.facts |= kWholeVectors;
    bool aligned = reinterpret_cast<uintptr_t>(b.given->data) % 16 == 0;
    for (int i = b.leading; i < b.rank; ++i)
      if (i != last && b.shape[i] > 1)
        aligned &= b.strides[i] * b.elementBytes % 16 == 0;
    for (int g = 0; b.hasGroup && g < group.rank - lastIsGroup; ++g)
      aligned &= group.strides[id][g] * b.elementBytes % 16 == 0;
    if (aligned)
      b.facts |= kAligned;
  }
}

TilegymStatus Call::extents(uint32_t tensor, int64_t shape[kMaxRank], int *rank) {
  int n = 0;
  for (const DimUse &use : table.get<DimUse>(tensors[tensor].dims)) {
    if (use.isGroup) {
      const BoundTensor *reference = nullptr;
      for (uint32_t t = 0; t < tensors.size(); ++t)
        if (bound[t].given && bound[t].hasGroup && tensors[t].role != Role::Output)
          reference = &bound[t];
      for (int i = 0; reference && i < reference->leading; ++i)
        shape[n++] = reference->shape[i];
      continue;
    }
    if (n == kMaxRank)
      return wrong(tensor, "would have more than %d axes", kMaxRank);
    if (use.dim != kNone) {
      shape[n] = dimValues[use.dim];
    } else {
      Evaluated e = evaluate(table.get<Inst>(use.expr), values());
      if (e.error)
        return wrong(tensor, "its extent cannot be computed: %s", e.error);
      shape[n] = e.value.i;
    }
    if (shape[n] < 0)
      return wrong(tensor, "would have extent %" PRId64 " on axis %d", shape[n], n);
    ++n;
  }
  *rank = n;
  return TILEGYM_OK;
}

TilegymStatus Call::bind(const void *const *args, bool forShape) {
  std::span<const Argument> arguments = table.get<Argument>(op.arguments);
  if (!args && !arguments.empty())
    return fail(TILEGYM_INVALID_ARGUMENT, "%s: no arguments were given",
                (const char *)Text(table.text(op.name)));
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].isTensor)
      continue;
    if (forShape && !args[i] && tensors[arguments[i].id].role == Role::Output)
      continue;
    TRY(bindTensor(arguments[i].id, static_cast<const TilegymTensor *>(args[i])));
  }
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].isTensor)
      TRY(bindScalar(arguments[i].id, args[i]));
  TRY(bindDims());
  TRY(checkDims(/*outputs=*/false));
  TRY(runChecks());
  if (forShape)
    return TILEGYM_OK;
  TRY(checkDims(/*outputs=*/true));
  TRY(checkMemory());
  TRY(checkOverlap());
  mergeGroup();
  findFacts();
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
