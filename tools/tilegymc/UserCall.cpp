// SPDX-License-Identifier: MIT
// What the command line leaves open comes from the op: dims that given shapes bind, generators of its test section, defaults.
#include "UserCall.h"
#include "compiler/interpreter/Npy.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace tilegym::cli {
namespace {

class Maker {
public:
  Maker(const sem::OpModel &op, const UserCallOptions &options) : op(op), options(options) {}
  std::unique_ptr<UserCall> make();

private:
  bool shapes();
  bool values();
  bool dtypes();
  bool oneValue(const std::string &name, const std::string &text);
  bool scalar(size_t id, const std::string &text);
  bool file(size_t id, const std::string &path);
  bool dim(const std::string &name, const std::vector<int64_t> &extents);
  void bindFrom(size_t tensor, const std::vector<int64_t> &extents);
  bool shapeOf(size_t tensor);
  bool addShape(size_t tensor);
  std::string exampleOf(size_t list) const;
  bool fill(size_t tensor);
  bool addInputs();
  std::string known() const;

  const sem::OpModel &op;
  const UserCallOptions &options;
  std::unique_ptr<UserCall> out = std::make_unique<UserCall>();
  std::vector<std::optional<std::vector<int64_t>>> given; ///< shapes, by tensor
  std::vector<std::optional<interp::HostTensor>> files;
  std::vector<std::vector<int64_t>> groups;
  sem::HostValues values_;
};

std::optional<std::vector<int64_t>> parseExtents(const std::string &text) {
  std::vector<int64_t> extents;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string one = text.substr(begin, end - begin);
    char *rest = nullptr;
    errno = 0;
    long long value = std::strtoll(one.c_str(), &rest, 10);
    if (one.empty() || *rest || errno || value < 0)
      return std::nullopt;
    extents.push_back(value);
    begin = end + 1;
  }
  return extents;
}

std::pair<std::string, std::string> splitName(const std::string &text) {
  size_t equals = text.find('=');
  return equals == std::string::npos ? std::pair(std::string(), text)
                                     : std::pair(text.substr(0, equals), text.substr(equals + 1));
}

bool isNpy(const std::string &text) { return std::filesystem::path(text).extension() == ".npy"; }

/// What the op's arguments and dims are called, for messages.
std::string Maker::known() const {
  std::string names;
  auto add = [&](const std::string &name) { names += (names.empty() ? "" : ", ") + name; };
  for (const sem::TensorParam &t : op.tensors)
    if (t.role != sem::Role::Output)
      add(t.name);
  for (const sem::ScalarParam &s : op.scalars)
    add(s.name);
  for (const sem::DimVar &d : op.dims)
    add(d.name);
  return names;
}

bool Maker::dtypes() {
  for (const std::string &text : options.dtypes) {
    auto [name, word] = splitName(text);
    std::optional<DType> dtype = parseDType(word);
    bool taken = false;
    for (size_t i = 0; dtype && i < op.typeVars.size(); ++i) {
      const sem::TypeVar &v = op.typeVars[i];
      if (v.name.empty() || (!name.empty() && v.name != name) ||
          std::find(v.choices.begin(), v.choices.end(), *dtype) == v.choices.end())
        continue;
      out->call.shape.dtypes[i] = *dtype;
      taken = true;
    }
    if (taken)
      continue;
    std::string choices;
    for (const sem::TypeVar &v : op.typeVars)
      for (DType c : v.choices)
        if (!v.name.empty())
          choices += (choices.empty() ? "" : ", ") + v.name + "=" + std::string(tilegym::name(c));
    complain("--dtype: found '%s', expected one of %s", text.c_str(),
             choices.empty() ? "none: the op's dtypes are fixed" : choices.c_str());
    return false;
  }
  return true;
}

void Maker::bindFrom(size_t id, const std::vector<int64_t> &extents) {
  const std::vector<sem::DimUse> &uses = op.tensors[id].dims;
  for (size_t a = 0; a < uses.size(); ++a) {
    if (uses[a].dim < 0)
      continue;
    size_t d = size_t(uses[a].dim);
    if (uses[a].isGroup && extents.size() + 1 >= uses.size()) {
      groups[d].assign(extents.begin(), extents.end() - std::ptrdiff_t(uses.size() - 1));
      values_.dims[d] = interp::numElements(groups[d]);
      continue;
    }
    size_t fromBack = uses.size() - a;
    if (uses[a].isGroup || fromBack > extents.size())
      continue; // the rank is wrong, which binding the call says better
    int64_t extent = extents[extents.size() - fromBack];
    if (values_.dims[d] == sem::kDynamic || (values_.dims[d] == 1 && extent != 1))
      values_.dims[d] = extent;
  }
}

bool Maker::dim(const std::string &name, const std::vector<int64_t> &extents) {
  int64_t id = op.findDim(name);
  if (id < 0) {
    complain("--shape: '%s' is no tensor or dim of %s; it has %s", name.c_str(), op.name.c_str(),
             known().c_str());
    return false;
  }
  if (op.dims[size_t(id)].perElement) {
    values_.lists[size_t(id)] = extents;
    return true;
  }
  if (!op.dims[size_t(id)].isGroup && extents.size() != 1) {
    complain("--shape %s: found %zu extents, expected one, as %s is one dim", name.c_str(), extents.size(),
             name.c_str());
    return false;
  }
  groups[size_t(id)] = extents;
  values_.dims[size_t(id)] = interp::numElements(extents);
  return true;
}

/// "M=64,128".
std::string Maker::exampleOf(size_t list) const {
  std::string example;
  for (const sem::DimUse &use : op.tensors[list].dims)
    if (use.dim >= 0)
      example += (example.empty() ? "" : " ") + op.dims[size_t(use.dim)].name +
                 (op.dims[size_t(use.dim)].perElement ? "=64,128" : "=64");
  return example;
}

bool Maker::shapes() {
  std::vector<std::pair<std::string, std::vector<int64_t>>> dims;
  for (const std::string &text : options.shapes) {
    auto [name, list] = splitName(text);
    std::optional<std::vector<int64_t>> extents =
        list.empty() && !name.empty() ? std::vector<int64_t>() : parseExtents(list);
    if (!extents) {
      complain("--shape: found '%s', expected extents such as 64,1000 or x=64,1000 or N=1000", text.c_str());
      return false;
    }
    int64_t tensor = name.empty() ? 0 : op.findTensor(name);
    if (op.tensors.empty() || (tensor >= 0 && op.tensors[size_t(tensor)].role == sem::Role::Output)) {
      complain("--shape %s: '%s' is an output; its shape follows from the inputs", text.c_str(),
               name.c_str());
      return false;
    }
    if (tensor >= 0 && op.tensors[size_t(tensor)].isList) {
      complain("--shape %s: '%s' is a list; give the dims of its tensors, such as %s", text.c_str(),
               op.tensors[size_t(tensor)].name.c_str(), exampleOf(size_t(tensor)).c_str());
      return false;
    }
    if (tensor >= 0)
      given[size_t(tensor)] = *extents;
    else
      dims.emplace_back(name, *extents);
  }
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (given[id])
      bindFrom(id, *given[id]);
  for (const auto &[name, extents] : dims)
    if (!dim(name, extents))
      return false;
  return true;
}

bool Maker::scalar(size_t id, const std::string &text) {
  const sem::ScalarParam &s = op.scalars[id];
  auto word = std::find(s.enumerators.begin(), s.enumerators.end(), text);
  DType dtype = op.typeVars[size_t(s.typeVar)].choices[0];
  std::optional<sem::Constant> value;
  char *rest = nullptr;
  errno = 0;
  if (word != s.enumerators.end())
    value = sem::Constant{int64_t(word - s.enumerators.begin())};
  else if (isBool(dtype) && (text == "true" || text == "false"))
    value = sem::Constant{text == "true"};
  else if (isFloat(dtype)) {
    double number = std::strtod(text.c_str(), &rest);
    if (!text.empty() && !*rest)
      value = sem::Constant{number};
  } else if (!isBool(dtype) && s.enumerators.empty()) {
    int64_t number = dtype == DType::U64 ? int64_t(std::strtoull(text.c_str(), &rest, 0))
                                         : std::strtoll(text.c_str(), &rest, 0);
    if (!text.empty() && !*rest && !errno)
      value = sem::Constant{number};
  }
  if (!value) {
    std::string expected =
        isBool(dtype) ? "true or false" : "a value of " + std::string(tilegym::name(dtype));
    for (size_t i = 0; i < s.enumerators.size(); ++i)
      expected = (i ? expected + ", " : "one of ") + s.enumerators[i];
    complain("%s: found '%s', expected %s", s.name.c_str(), text.c_str(), expected.c_str());
    return false;
  }
  out->call.shape.scalars[id] = value;
  return true;
}

bool Maker::file(size_t id, const std::string &path) {
  const sem::TensorParam &tensor = op.tensors[id];
  const sem::TypeVar &typeVar = op.typeVars[size_t(tensor.typeVar)];
  std::optional<DType> expected = out->call.shape.dtypes[size_t(tensor.typeVar)];
  if (!expected && typeVar.choices.size() == 1)
    expected = typeVar.choices[0];
  std::string error;
  std::optional<interp::HostTensor> read = interp::readNpy(path, expected, error);
  if (!read) {
    complain("%s: %s", path.c_str(), error.c_str());
    return false;
  }
  if (!expected)
    out->call.shape.dtypes[size_t(tensor.typeVar)] = read->dtype;
  given[id] = read->shape;
  files[id] = std::move(*read);
  return true;
}

bool Maker::oneValue(const std::string &name, const std::string &text) {
  if (int64_t id = op.findScalar(name); id >= 0)
    return scalar(size_t(id), text);
  int64_t id = op.findTensor(name);
  if (id < 0 || op.tensors[size_t(id)].role == sem::Role::Output) {
    complain("'%s' is no input of %s; it has %s", name.c_str(), op.name.c_str(), known().c_str());
    return false;
  }
  if (op.tensors[size_t(id)].isList) {
    complain("%s is a list of tensors, which no file holds; --shape says how large they are", name.c_str());
    return false;
  }
  if (!isNpy(text)) {
    complain("%s: found '%s', expected the name of a .npy file", name.c_str(), text.c_str());
    return false;
  }
  return file(size_t(id), text);
}

bool Maker::values() {
  for (const std::string &value : options.values) {
    auto [name, text] = splitName(value);
    if (name.empty() && !isNpy(text)) {
      complain("found '%s', expected NAME=VALUE, NAME=FILE.npy or NAME.npy", value.c_str());
      return false;
    }
    if (!oneValue(name.empty() ? std::filesystem::path(text).stem().string() : name, text))
      return false;
  }
  return true;
}

bool Maker::shapeOf(size_t id) {
  if (op.tensors[id].isList) {
    size_t count = 0;
    for (const sem::DimUse &use : op.tensors[id].dims)
      if (use.dim >= 0 && op.dims[size_t(use.dim)].perElement)
        count = std::max(count, values_.lists[size_t(use.dim)].size());
    if (!count) {
      complain("the tensors of '%s' are not known: give --shape %s", op.tensors[id].name.c_str(),
               exampleOf(id).c_str());
      return false;
    }
    for (size_t element = 0; element < count; ++element) {
      values_.locals = {sem::Constant{int64_t(element)}};
      if (!addShape(id))
        return false;
    }
    return true;
  }
  if (!given[id])
    return addShape(id);
  out->call.shape.tensors[id] = {{*out->call.shape.dtypes[size_t(op.tensors[id].typeVar)], *given[id]}};
  return true;
}

bool Maker::addShape(size_t id) {
  sem::ArrayShape array{*out->call.shape.dtypes[size_t(op.tensors[id].typeVar)], {}};
  for (const sem::DimUse &use : op.tensors[id].dims) {
    if (use.isGroup && values_.dims[size_t(use.dim)] != sem::kDynamic) {
      array.extents.insert(array.extents.end(), groups[size_t(use.dim)].begin(),
                           groups[size_t(use.dim)].end());
      continue;
    }
    sem::Evaluated extent;
    if (!use.isGroup)
      extent = sem::evaluateHost(*use.expr, values_);
    if (use.isGroup || extent.unknown || !extent) {
      const std::string &name = op.tensors[id].name;
      if (op.tensors[id].isList)
        complain("the tensors of '%s' are not known: give --shape %s", name.c_str(), exampleOf(id).c_str());
      else
        complain("the shape of '%s' is not known: give --shape %s=..., or the value of its dims",
                 name.c_str(), name.c_str());
      return false;
    }
    array.extents.push_back(extent.value->asInt());
  }
  out->call.shape.tensors[id].push_back(array);
  return true;
}

/// As the test section fills it; a literal of it fits another shape.
bool Maker::fill(size_t id) {
  const sem::Generator *generator = nullptr;
  auto consider = [&](const sem::TestSettings &settings) {
    for (const sem::Generator &g : settings.tensors[id])
      if (!generator && g.kind != sem::Generator::Literal && g.kind != sem::Generator::Absent)
        generator = &g;
  };
  consider(out->model.settings);
  if (!isFloat(out->call.shape.tensors[id][0].dtype)) // floats have a default, and a case's may be special
    for (const sem::TestCaseModel &one : out->model.cases)
      consider(one.settings);
  sem::Filling filling;
  filling.args = {0, 1};
  if (generator) {
    filling.kind = generator->kind;
    filling.args.clear();
    for (const sem::ExprPtr &arg : generator->args) {
      sem::Evaluated value = sem::evaluateHost(*arg, out->call.bound.values);
      filling.args.push_back(value ? value.value->asFloat() : 0);
    }
  } else if (!isFloat(out->call.shape.tensors[id][0].dtype) && !files[id]) {
    complain("'%s' holds integers, and the spec's tests do not say which: give %s=FILE.npy",
             op.tensors[id].name.c_str(), op.tensors[id].name.c_str());
    return false;
  }
  out->call.fillings[id].assign(out->call.shape.tensors[id].size(), filling);
  return true;
}

bool Maker::addInputs() {
  if (!options.needData) {
    for (const auto &scalar : out->call.bound.values.scalars)
      out->inputs.scalars.push_back(scalar.value_or(sem::Constant{}));
    return true;
  }
  std::vector<interp::Fault> faults;
  std::optional<interp::Arguments> inputs = interp::makeInputs(op, out->call, interp::Spread::Dense, faults);
  if (!inputs) {
    for (const interp::Fault &fault : faults)
      complain("%s", fault.message.c_str());
    return false;
  }
  out->inputs = std::move(*inputs);
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (files[id])
      out->inputs.tensors[id] = {std::move(*files[id])};
  return true;
}

std::unique_ptr<UserCall> Maker::make() {
  sem::TestCall &call = out->call;
  call.shape = sem::CallShape::of(op);
  given.resize(op.tensors.size());
  files.resize(op.tensors.size());
  groups.resize(op.dims.size());
  values_.dims.assign(op.dims.size(), sem::kDynamic);
  values_.lists.resize(op.dims.size());
  DiagnosticSink sink;
  out->model = sem::readTest(op, *op.spec->test, sink);
  if (!dtypes() || !values() || !shapes())
    return nullptr;
  for (size_t i = 0; i < op.typeVars.size(); ++i) {
    if (!call.shape.dtypes[i])
      call.shape.dtypes[i] = op.typeVars[i].choices[0];
    values_.dtypes.push_back(*call.shape.dtypes[i]);
  }
  for (size_t i = 0; i < op.scalars.size(); ++i)
    values_.scalars.push_back(call.shape.scalars[i] ? call.shape.scalars[i] : op.scalars[i].defaultValue);
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    const sem::TensorParam &t = op.tensors[id];
    bool asked = !t.optional || given[id] ||
                 std::find(options.with.begin(), options.with.end(), t.name) != options.with.end();
    values_.present.push_back(asked);
    call.shape.wanted[id] = asked && t.role == sem::Role::Output;
  }
  for (const std::string &name : options.with)
    if (int64_t id = op.findTensor(name); id < 0 || !op.tensors[size_t(id)].optional) {
      complain("--with: '%s' is no optional tensor of %s", name.c_str(), op.name.c_str());
      return nullptr;
    }
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (op.tensors[id].role != sem::Role::Output && values_.present[id] && !shapeOf(id))
      return nullptr;
  std::vector<sem::CallError> errors;
  std::optional<sem::BoundCall> bound = sem::bindCall(op, call.shape, errors);
  if (!bound) {
    for (const sem::CallError &error : errors)
      complain("%s", error.text().c_str());
    return nullptr;
  }
  call.bound = std::move(*bound);
  call.fillings.resize(op.tensors.size());
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    if (call.shape.tensors[id].empty())
      continue;
    if (!fill(id))
      return nullptr;
    for (size_t i = 0; i < call.shape.tensors[id].size(); ++i)
      call.name += (call.name.empty() ? "" : " ") + op.tensors[id].name +
                   (op.tensors[id].isList ? "[" + std::to_string(i) + "]=" : "=") +
                   typeText(call.shape.tensors[id][i].dtype, call.shape.tensors[id][i].extents);
  }
  call.seed = interp::hashName(op.name + ":" + call.name);
  return addInputs() ? std::move(out) : nullptr;
}

} // namespace

std::string typeText(DType dtype, const std::vector<int64_t> &extents) {
  std::string text(tilegym::name(dtype));
  text += "[";
  for (size_t i = 0; i < extents.size(); ++i)
    text += (i ? ", " : "") + std::to_string(extents[i]);
  return text + "]";
}

void addUserCallOptions(CLI::App &command, UserCallOptions &options) {
  command.add_option("VALUE", options.values, "Inputs: NAME=FILE.npy, NAME.npy, or a scalar's NAME=VALUE");
  command
      .add_option("--shape", options.shapes,
                  "64,1000 (of the first tensor), x=64,1000 (of x), or N=1000 (of a dim)")
      ->allow_extra_args(false);
  command
      .add_option("--dtype", options.dtypes, "bf16, or T=bf16 where the op has several (default: the first)")
      ->allow_extra_args(false);
  command.add_option("--with", options.with, "An optional tensor to take part")->allow_extra_args(false);
}

std::unique_ptr<UserCall> makeUserCall(const sem::OpModel &op, const UserCallOptions &options) {
  return Maker(op, options).make();
}

} // namespace tilegym::cli
