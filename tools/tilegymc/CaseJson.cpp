// SPDX-License-Identifier: MIT
// Names and values of a call as JSON.
#include "CaseJson.h"

namespace tilegym::cli {

nlohmann::ordered_json caseJson(const sem::OpModel &op, const sem::TestCall &call) {
  using Json = nlohmann::ordered_json;
  const sem::Specialization &spec = call.bound.spec;
  Json json = {{"op", op.name},
               {"case", call.name},
               {"dtypes", Json::object()},
               {"dims", Json::object()},
               {"scalars", Json::object()}};
  for (size_t i = 0; i < op.typeVars.size(); ++i)
    if (!op.typeVars[i].name.empty())
      json["dtypes"][op.typeVars[i].name] = std::string(name(spec.dtypes[i]));
  for (size_t i = 0; i < op.dims.size(); ++i) {
    if (op.dims[i].perElement)
      json["dims"][op.dims[i].name] = call.bound.values.lists[i];
    else
      json["dims"][op.dims[i].name] = call.bound.values.dims[i];
  }
  for (size_t i = 0; i < op.scalars.size(); ++i) {
    const sem::Constant &value = *call.bound.values.scalars[i];
    auto &out = json["scalars"][op.scalars[i].name];
    if (!op.scalars[i].enumerators.empty())
      out = op.scalars[i].enumerators[size_t(value.asInt())];
    else if (value.isFloat())
      out = sem::toString(value); // inf and nan are no JSON numbers
    else if (value.isBool())
      out = value.asBool();
    else if (spec.dtypes[size_t(op.scalars[i].typeVar)] == DType::U64)
      out = uint64_t(value.asInt()); // kept as its int64 bits
    else
      out = value.asInt();
  }
  return json;
}

} // namespace tilegym::cli
