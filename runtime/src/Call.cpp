// SPDX-License-Identifier: MIT
// Reading a call's arguments: presence, ranks, dtypes and scalars, then the other steps in order. Every error names op, argument, what was
// found and what was expected.
#include "Call.h"
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
    : table(table), op(op), tensors(table.get<Tensor>(op.tensors)), dims(table.get<Dim>(op.dims)),
      scalars(table.get<Scalar>(op.scalars)), typeVars(table.get<TypeVar>(op.typeVars)) {
  for (size_t i = 0; i < typeVars.size(); ++i) {
    std::span<const uint8_t> choices = table.get<uint8_t>(typeVars[i].choices);
    dtypes[i] = choices.size() == 1 ? choices[0] : kUnbound;
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    dimValues[i] = groupRanks[i] = 0;
    if (dims[i].isGroup)
      groupDim = int(i);
  }
  for (size_t i = 0; i < tensors.size(); ++i)
    new (&bound[i]) BoundTensor; // without (), which would clear the extents and strides, too
  for (size_t i = 0; i < scalars.size(); ++i)
    scalarValues[i] = Cell{};
}

Values Call::values() const {
  Values v;
  v.dims = dimValues;
  v.scalars = scalarValues;
  v.present = present;
  v.groupRanks = groupRanks;
  v.dtypes = dtypes;
  v.smCount = smCount;
  return v;
}

TilegymStatus Call::wrong(uint32_t tensor, const char *format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return wrongNamed(tensors[tensor].name, "%s", message);
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

TilegymStatus Call::bindTensor(uint32_t id, const TilegymTensor *given) {
  const Tensor &t = tensors[id];
  BoundTensor &b = bound[id];
  if (!given)
    return t.optional ? TILEGYM_OK : wrong(id, "no tensor was given, and it is not optional");
  b.given = given;
  present |= uint64_t(1) << id;
  if (given->rank < 0 || given->rank > kMaxRank)
    return wrong(id, "rank %d is not in 0 .. %d", given->rank, kMaxRank);
  if (given->rank > 0 && !given->shape)
    return wrong(id, "rank is %d but shape is null", given->rank);
  std::span<const DimUse> uses = table.get<DimUse>(t.dims);
  b.rank = given->rank;
  b.hasGroup = !uses.empty() && uses[0].isGroup;
  b.leading = b.hasGroup ? given->rank - int(uses.size()) + 1 : 0;
  if (b.hasGroup ? b.leading < 0 : given->rank != int(uses.size()))
    return wrong(id, "has rank %d, expected %s%zu", given->rank, b.hasGroup ? "at least " : "",
                 uses.size() - b.hasGroup);
  // In locals, as what is written here might be what is read, for all that the compiler knows.
  const int64_t *shape = given->shape, *strides = given->strides;
  bool isEmpty = false, tooMany = false, isPacked = true;
  int64_t elements = 1;
  uint64_t packed = 1; // may wrap where there are no elements
  for (int i = given->rank - 1; i >= 0; --i) {
    int64_t extent = shape[i], stride = strides ? strides[i] : int64_t(packed);
    if (extent < 0)
      return wrong(id, "axis %d has extent %" PRId64 ", expected 0 or more", i, extent);
    isEmpty |= extent == 0;
    tooMany |= __builtin_mul_overflow(elements, extent, &elements);
    isPacked &= extent == 1 || stride == int64_t(packed);
    b.shape[i] = extent;
    b.strides[i] = stride;
    packed *= uint64_t(std::max<int64_t>(1, extent));
  }
  if (tooMany && !isEmpty)
    return wrong(id, "has more than 2^63 elements");
  b.elements = isEmpty ? 0 : elements;
  b.packed = isPacked;
  b.lastExtent = given->rank ? shape[given->rank - 1] : 1;
  if (b.hasGroup)
    firstOfGroup = std::min(firstOfGroup, id);
  return bindDType(id);
}

TilegymStatus Call::bindDType(uint32_t id) {
  int32_t given = bound[id].given->dtype;
  if (given < 0 || given > TILEGYM_BOOL)
    return wrong(id, "dtype %d is no TilegymDType", given);
  uint8_t have = uint8_t(given);
  bound[id].elementBytes = bytesOf(DType(have));
  const TypeVar &var = typeVars[tensors[id].typeVar];
  std::span<const uint8_t> choices = table.get<uint8_t>(var.choices);
  const uint8_t *choice = choices.data(), *end = choice + choices.size();
  while (choice != end && *choice != have)
    ++choice;
  if (choice == end) [[unlikely]]
    return wrongDType(id, have, choices);
  uint8_t &dtype = dtypes[tensors[id].typeVar];
  if (dtype != kUnbound && dtype != have)
    return wrong(id, "has dtype %s, but %s is %s by an earlier argument", dtypeName(have),
                 Text(table.text(var.name)).data, dtypeName(dtype));
  dtype = have;
  return TILEGYM_OK;
}

TilegymStatus Call::wrongDType(uint32_t id, uint8_t have, std::span<const uint8_t> choices) {
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

TilegymStatus Call::runChecks() {
  for (const Check &check : table.get<Check>(op.checks)) {
    Evaluated e = evaluate(table.get<Inst>(check.condition), values());
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
    if (!arguments[i].isTensor || (forShape && !args[i] && tensors[arguments[i].id].role == Role::Output))
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
  TRY(mergeGroup());
  findFacts();
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
