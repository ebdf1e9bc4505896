// SPDX-License-Identifier: MIT
// Gathers an op's plan from records that were checked.
#include "OpPlan.h"
#include "PackageTable.h"

namespace tilegym::runtime {

using format::Role;

OpPlan::OpPlan(const Table &table, const format::Op &op) {
  std::span<const format::TypeVar> typeVars = table.get<format::TypeVar>(op.typeVars);
  for (const format::TypeVar &var : typeVars) {
    std::span<const uint8_t> choices = table.get<uint8_t>(var.choices);
    dtypes.push_back(choices.size() == 1 ? choices[0] : kUnbound);
  }
  std::span<const format::Tensor> records = table.get<format::Tensor>(op.tensors);
  for (size_t id = 0; id < records.size(); ++id) {
    const format::Tensor &record = records[id];
    Tensor &t = tensors.emplace_back();
    t.typeVar = uint8_t(record.typeVar);
    t.optional = record.optional != 0;
    for (uint8_t dtype : table.get<uint8_t>(typeVars[record.typeVar].choices))
      t.dtypes |= uint32_t(1) << dtype;
    for (const format::DimUse &use : table.get<format::DimUse>(record.dims))
      if (use.isGroup)
        t.hasGroup = 1; // which comes first
      else
        t.dims[t.trailing++] = use.dim == format::kNone ? kNoDim : uint8_t(use.dim);
    hasFills |= record.hasFill != 0;
    outputs |= uint64_t(record.role == Role::Output) << id;
    written |= uint64_t(record.role != Role::Input) << id;
    lists |= uint64_t(record.isList != 0) << id;
    t.list = uint8_t(record.isList ? numLists++ : 0);
  }
  for (size_t id = 0; id < records.size(); ++id)
    for (size_t other = 0; written >> id & 1 && other < records.size(); ++other)
      if (other != id && (!(written >> other & 1) || other > id) && !((lists >> id | lists >> other) & 1))
        pairs.push_back({uint8_t(id), uint8_t(other),
                         uint8_t(records[id].aliasOf == other || records[other].aliasOf == id)});
  for (const format::Dim &record : table.get<format::Dim>(op.dims)) {
    uint32_t number = uint32_t(dims.size());
    Dim &d = dims.emplace_back();
    d.isGroup = record.isGroup != 0;
    d.hasChoices = record.choices.count != 0;
    d.isOfElement = record.isOfElement != 0;
    if (d.isGroup)
      groupDim = int(number);
    if (d.isGroup || record.bindTensor == format::kNone || lists >> record.bindTensor & 1)
      continue;
    const format::Tensor &tensor = records[record.bindTensor];
    const format::DimUse &use = table.get<format::DimUse>(tensor.dims)[record.bindAxis];
    d.isKnown = use.dim == number && !use.isGroup && !use.orOne && tensor.role != Role::Output;
    d.tensor = uint8_t(record.bindTensor);
    d.axis = uint8_t(record.bindAxis - tensors[record.bindTensor].hasGroup);
  }
  for (const format::Scalar &scalar : table.get<format::Scalar>(op.scalars))
    hasScalars |= !scalar.isConst;
  findRows(table, op);
  for (const format::Tensor &tensor : records)
    for (const format::DimUse &use : table.get<format::DimUse>(tensor.dims))
      extentsVary |= use.dim == format::kNone && varies(table, op, use.expr);
  for (const format::Check &check : table.get<format::Check>(op.checks))
    checksVary |= varies(table, op, check.condition);
  bool guardsVary = false;
  for (const format::Kernel &kernel : table.get<format::Kernel>(op.kernels)) {
    guardsVary |= varies(table, op, kernel.guard);
    for (format::Slice code : table.get<format::Slice>(kernel.derived))
      choiceVaries |= varies(table, op, code);
  }
  for (const format::Variant &variant : table.get<format::Variant>(op.variants))
    choiceVaries |=
        rowsDim >= 0 && table.get<int64_t>(variant.constDims)[size_t(rowsDim)] != format::kRunTime;
  onlyGuardsVary = guardsVary && !choiceVaries;
  choiceVaries |= guardsVary;
}

void OpPlan::findRows(const Table &table, const format::Op &op) {
  std::span<const format::Tensor> records = table.get<format::Tensor>(op.tensors);
  rowsDim = groupDim;
  for (size_t id = 0; rowsDim < 0 && id < records.size(); ++id)
    if (records[id].role != Role::Output && records[id].dims.count) {
      rowsDim = int(table.get<format::DimUse>(records[id].dims)[0].dim); // kNone is -1
      break;
    }
  bool suits = rowsDim >= 0 && !dims[size_t(rowsDim)].hasChoices;
  for (size_t id = 0; id < records.size(); ++id) {
    std::span<const format::DimUse> uses = table.get<format::DimUse>(records[id].dims);
    for (size_t axis = 0; axis < uses.size(); ++axis)
      if (int(uses[axis].dim) == rowsDim) {
        suits &= axis == 0 && !uses[axis].orOne;
        rowsOf |= uint64_t(1) << id;
      }
  }
  if (!suits && groupDim < 0) {
    rowsDim = -1;
    rowsOf = 0;
  }
}

bool OpPlan::varies(const Table &table, const format::Op &op, format::Slice code) const {
  for (const format::Inst &inst : table.get<format::Inst>(code))
    switch (inst.code) {
    case format::OpCode::PushDim:
      if (int(inst.a) == rowsDim)
        return true;
      break;
    case format::OpCode::PushScalarInt:
    case format::OpCode::PushScalarFloat:
      if (!table.get<format::Scalar>(op.scalars)[inst.a].isConst)
        return true;
      break;
    case format::OpCode::PushRank:
    case format::OpCode::PushSmCount:
      return true;
    default:
      break;
    }
  return false;
}

} // namespace tilegym::runtime
