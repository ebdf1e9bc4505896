// SPDX-License-Identifier: MIT
// Reading a call's arguments: presence, ranks, dtypes and scalars, then the other steps in order. Every error names op, argument, what was
// found and what was expected.
#include "Call.h"
#include "CallLists.h"
#include "ScalarBits.h"
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

namespace tilegym::runtime {

using namespace format;

const char *dtypeName(uint8_t dtype) {
  static const char *const names[] = {"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8",   "i16",
                                      "i32", "i64", "u8",  "u16",  "u32",    "u64",    "bool", "index"};
  return dtype < std::size(names) ? names[dtype] : "an unknown dtype";
}

Text::Text(std::string_view view) {
  size_t n = std::min(view.size(), sizeof data - 1);
  std::memcpy(data, view.data(), n);
  data[n] = 0;
}

NumberList::NumberList(std::span<const int64_t> numbers) {
  size_t n = 0;
  for (int64_t number : numbers)
    if (n < sizeof data)
      n += size_t(std::snprintf(data + n, sizeof data - n, "%s%" PRId64, n ? ", " : "", number));
}

Call::Call(const Table &table, const Op &op)
    : table(table), op(op), plan(table.plan(op)), tensors(table.get<Tensor>(op.tensors)),
      dims(table.get<Dim>(op.dims)), scalars(table.get<Scalar>(op.scalars)),
      typeVars(table.get<TypeVar>(op.typeVars)) {
  for (size_t i = 0; i < plan.dtypes.size(); ++i)
    dtypes[i] = plan.dtypes[i];
  if (plan.lists)
    lists = takeListRoom(plan);
}

Call::~Call() {
  if (lists)
    keepListRoom(std::move(lists));
}

Values Call::values() const {
  Values v;
  v.dims = dimValues;
  v.scalars = scalarValues;
  v.present = present;
  v.groupRanks = groupRanks;
  v.dtypes = dtypes;
  v.smCount = smCount;
  if (lists) {
    v.listLengths = lists->lengths;
    v.listDims = lists->values;
    v.listDimCounts = lists->counts;
  }
  return v;
}

TilegymStatus Call::wrong(uint32_t tensor, const char *format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return fail(TILEGYM_INVALID_ARGUMENT, "%s: %s: %s", Text(table.text(op.name)).data,
              nameOf(tensor, size_t(element)).c_str(), message);
}

TilegymStatus Call::wrongNamed(Slice name, const char *format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return fail(TILEGYM_INVALID_ARGUMENT, "%s: %s: %s", Text(table.text(op.name)).data,
              Text(table.text(name)).data, message);
}

TilegymStatus Call::bindTensor(uint32_t id, const TilegymTensor &given, BoundTensor &b) {
  const OpPlan::Tensor &t = plan.tensors[id];
  // In locals, as what is written here might be what is read, for all that the compiler knows.
  const int64_t *shape = given.shape, *strides = given.strides;
  int rank = given.rank, leading = rank - t.trailing;
  if (unsigned(rank) > unsigned(kMaxRank) || (rank > 0 && !shape) || leading < 0 || (leading && !t.hasGroup))
      [[unlikely]]
    return wrongShape(id, given);
  int64_t least = 1, inner = 1; // extents of 0 count as 1 in the product
  bool tooMany = false, isPacked = true;
  for (int i = rank - 1; i >= 0; --i) {
    int64_t extent = shape[i];
    b.shape[i] = extent;
    b.strides[i] = inner;
    least = std::min(least, extent);
    tooMany |= __builtin_mul_overflow(inner, extent + (extent == 0), &inner);
  }
  for (int i = 0; strides && i < rank; ++i) {
    int64_t stride = strides[i];
    isPacked &= stride == b.strides[i] || b.shape[i] == 1;
    b.strides[i] = stride;
  }
  if (least < 0 || (tooMany && least > 0)) [[unlikely]]
    return wrongShape(id, given);
  auto dtype = uint32_t(given.dtype);
  uint8_t &bySoFar = dtypes[t.typeVar];
  if (dtype > TILEGYM_BOOL || !(t.dtypes >> dtype & 1) || (bySoFar != dtype && bySoFar != kUnbound))
      [[unlikely]]
    return wrongDType(id, given.dtype);
  bySoFar = uint8_t(dtype);
  b.given = &given;
  b.rank = rank;
  b.leading = leading;
  b.elementBytes = bytesOf(DType(dtype));
  b.hasGroup = t.hasGroup;
  b.hasStrides = strides;
  b.packed = isPacked;
  b.elements = least ? inner : 0;
  b.lastExtent = rank ? b.shape[rank - 1] : 1;
  b.lowest = b.highest = 0;
  present |= uint64_t(1) << id;
  withGroup |= uint64_t(t.hasGroup) << id;
  plain |= uint64_t(isPacked && least) << id;
  return TILEGYM_OK;
}

TilegymStatus Call::wrongShape(uint32_t id, const TilegymTensor &given) {
  if (given.rank < 0 || given.rank > kMaxRank)
    return wrong(id, "rank %d is not in 0 .. %d", given.rank, kMaxRank);
  if (given.rank > 0 && !given.shape)
    return wrong(id, "rank is %d but shape is null", given.rank);
  const OpPlan::Tensor &t = plan.tensors[id];
  if (t.hasGroup ? given.rank < t.trailing : given.rank != t.trailing)
    return wrong(id, "has rank %d, expected %s%d", given.rank, t.hasGroup ? "at least " : "", t.trailing);
  for (int i = given.rank - 1; i >= 0; --i)
    if (given.shape[i] < 0)
      return wrong(id, "axis %d has extent %" PRId64 ", expected 0 or more", i, given.shape[i]);
  return wrong(id, "has more than 2^63 elements");
}

TilegymStatus Call::wrongDType(uint32_t id, int32_t given) {
  if (given < 0 || given > TILEGYM_BOOL)
    return wrong(id, "dtype %d is no TilegymDType", given);
  auto have = uint8_t(given);
  const TypeVar &var = typeVars[tensors[id].typeVar];
  if (plan.tensors[id].dtypes >> have & 1)
    return wrong(id, "has dtype %s, but %s is %s by an earlier argument", dtypeName(have),
                 Text(table.text(var.name)).data, dtypeName(dtypes[tensors[id].typeVar]));
  std::span<const uint8_t> choices = table.get<uint8_t>(var.choices);
  char list[256] = "";
  for (uint8_t c : choices)
    std::snprintf(list + std::strlen(list), sizeof list - std::strlen(list), "%s%s", *list ? ", " : "",
                  dtypeName(c));
  return wrong(id, "has dtype %s, expected %s%s", dtypeName(have), choices.size() > 1 ? "one of " : "", list);
}

TilegymStatus Call::bindScalar(uint32_t id, const void *given) {
  const Scalar &s = scalars[id];
  uint8_t dtype = dtypes[s.typeVar];
  if (!given && !s.hasDefault)
    return wrongNamed(s.name, "no value was given, and it has no default");
  if (!s.isConst && dtype == kUnbound)
    return wrongNamed(s.name, "its dtype %s follows from no tensor that was given",
                      Text(table.text(typeVars[s.typeVar].name)).data);
  if (!given)
    scalarValues[id].i = s.defaultBits; // a float's are a double's bits, as in a cell
  else if (s.isConst)
    std::memcpy(&scalarValues[id].i, given, sizeof(int64_t));
  else
    scalarValues[id] = readScalar(given, dtype);
  if (!s.isConst) {
    // What the kernel is given and what expressions see is one value: a default rounds to the dtype first.
    if (!given && isFloatType(dtype)) {
      uint64_t bits = scalarBits(scalarValues[id], dtype);
      scalarValues[id] = readScalar(&bits, dtype);
    }
    return TILEGYM_OK;
  }
  std::span<const int64_t> choices = table.get<int64_t>(s.choices);
  if (choices.empty() || std::find(choices.begin(), choices.end(), scalarValues[id].i) != choices.end())
    return TILEGYM_OK;
  return wrongNamed(s.name,
                    "%" PRId64
                    " is not one of the values it was compiled for: %s; add it to the op's list in the spec",
                    scalarValues[id].i, NumberList(choices).data);
}

TilegymStatus Call::bindScalars(const void *const *args) {
  if (!scalars.empty())
    for (const Argument &argument : table.get<Argument>(op.arguments)) {
      const void *given = *args++;
      if (!argument.isTensor)
        TRY(bindScalar(argument.id, given));
    }
  return TILEGYM_OK;
}

TilegymStatus Call::runChecks() {
  std::span<const Check> checks = table.get<Check>(op.checks);
  if (checks.empty())
    return TILEGYM_OK;
  Values values = this->values();
  for (const Check &check : checks) {
    Evaluated e = evaluate(table.get<Inst>(check.condition), values);
    std::string_view message = table.text(check.message);
    int length = int(std::min<size_t>(message.size(), 1024));
    // NOLINTBEGIN(bugprone-suspicious-stringview-data-usage): the length goes along
    if (e.error)
      return fail(TILEGYM_INVALID_ARGUMENT, "%s: the check '%.*s' cannot be evaluated: %s",
                  Text(table.text(op.name)).data, length, message.data(), e.error);
    if (!e.value.i)
      return fail(TILEGYM_INVALID_ARGUMENT, "%s: %.*s", Text(table.text(op.name)).data, length,
                  message.data());
    // NOLINTEND(bugprone-suspicious-stringview-data-usage)
  }
  return TILEGYM_OK;
}

TilegymStatus Call::bind(const void *const *args, bool forShape) {
  std::span<const Argument> arguments = table.get<Argument>(op.arguments);
  if (!args && !arguments.empty())
    return fail(TILEGYM_INVALID_ARGUMENT, "%s: no arguments were given", Text(table.text(op.name)).data);
  for (size_t i = 0; i < arguments.size(); ++i) {
    uint32_t id = arguments[i].id;
    if (!arguments[i].isTensor)
      continue;
    if (args[i]) {
      if (isList(id)) [[unlikely]] {
        TRY(bindList(id, *static_cast<const TilegymTensorList *>(args[i])));
      } else {
        TRY(bindTensor(id, *static_cast<const TilegymTensor *>(args[i]), bound[id]));
      }
      continue;
    }
    if (!plan.tensors[id].optional && !(forShape && plan.outputs >> id & 1))
      return isList(id) ? wrong(id, "no list was given")
                        : wrong(id, "no tensor was given, and it is not optional");
    new (&bound[id]) BoundTensor; // without (), which would clear the extents and strides, too
  }
  if (lists)
    TRY(checkListDTypes());
  TRY(bindScalars(args));
  TRY(bindDims());
  TRY(checkDims(~plan.outputs));
  TRY(runChecks());
  if (forShape)
    return TILEGYM_OK;
  TRY(checkDims(plan.outputs));
  TRY(checkMemory());
  TRY(checkOverlap());
  TRY(mergeGroup());
  findFacts();
  settle();
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
