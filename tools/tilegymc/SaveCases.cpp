// SPDX-License-Identifier: MIT
// What is written of a case. Its dtypes stand in case.json, as .npy files do not tell bf16 and f8 from raw bytes.
#include "SaveCases.h"
#include "CaseJson.h"
#include "compiler/interpreter/Npy.h"
#include <filesystem>
#include <fstream>

namespace tilegym::cli {

namespace {
using Json = nlohmann::ordered_json;
} // namespace

std::vector<std::string> CaseSaver::write(const std::string &prefix, size_t tensor,
                                          const std::vector<interp::HostTensor> &tensors) {
  std::vector<std::string> files;
  for (size_t i = 0; i < tensors.size(); ++i) {
    files.push_back(prefix + op.tensors[tensor].name +
                    (op.tensors[tensor].isList ? "." + std::to_string(i) : "") + ".npy");
    std::string why;
    if (!interp::writeNpy(folder + "/" + files.back(), tensors[i], why) && error.empty())
      error = why;
  }
  return files;
}

void CaseSaver::reference(const sem::TestCall &test, const interp::Arguments &inputs,
                          const std::vector<std::vector<interp::HostTensor>> &outputs) {
  if (!json.is_null())
    return; // another backend's turn at the same case
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  const sem::Specialization &spec = test.bound.spec;
  json = caseJson(op, test);
  json["inputs"] = json["outputs"] = json["results"] = json["oracles"] = Json::array();
  for (const ast::External &oracle : op.spec->test->oracles)
    json["oracles"].push_back({{"with", oracle.backend.name}, {"text", oracle.text}});
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    const sem::TensorParam &tensor = op.tensors[id];
    const DType dtype = spec.dtypes[size_t(tensor.typeVar)];
    auto entry = [&](std::vector<std::string> files) {
      return Json{{"name", tensor.name},
                  {"dtype", std::string(name(dtype))},
                  {"list", tensor.isList},
                  {"files", std::move(files)}};
    };
    if (tensor.role != sem::Role::Output) {
      json["inputs"].push_back(entry(write("input.", id, inputs.tensors[id])));
      json["inputs"].back()["present"] = bool(spec.present[id]);
    }
    if (tensor.role == sem::Role::Input || !spec.present[id])
      continue;
    json["outputs"].push_back(entry(write("reference.", id, outputs[id])));
    interp::Tolerance tolerance = interp::toleranceFor(op, model, test.bound, dtype);
    json["outputs"].back()["tolerance"] = {{"relative", tolerance.relative},
                                           {"absolute", tolerance.absolute},
                                           {"of_row_mean_square", tolerance.scaled}};
  }
}

void CaseSaver::outcome(const std::string &backend, const interp::Outcome &outcome) {
  if (backend == "interpreter" || json.is_null())
    return;
  for (const auto &earlier : json["results"])
    if (earlier["backend"] == backend)
      return;
  Json result = {{"backend", backend}, {"variant", outcome.variant}, {"outputs", Json::object()}};
  std::string prefix = "result" + std::to_string(json["results"].size()) + ".";
  for (size_t id = 0; id < op.tensors.size() && id < outcome.tensors.size(); ++id)
    if (op.tensors[id].role != sem::Role::Input && !outcome.tensors[id].empty())
      result["outputs"][op.tensors[id].name] = write(prefix, id, outcome.tensors[id]);
  json["results"].push_back(std::move(result));
}

std::string CaseSaver::finish() {
  if (json.is_null())
    return error;
  std::ofstream file(folder + "/case.json", std::ios::binary);
  file << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  file.flush();
  if (!file && error.empty())
    error = "cannot write " + folder + "/case.json";
  return error;
}

} // namespace tilegym::cli
