// SPDX-License-Identifier: MIT
// Asks, and turns what it is told into contestants. Inputs go over as files: they are the values that ours has.
#include "PeerProcess.h"
#include "CaseJson.h"
#include "compiler/interpreter/Npy.h"
#include <cstdlib>
#include <filesystem>

namespace tilegym::cli {
namespace {

constexpr double kSeconds = 180; ///< for an answer: torch.compile and Triton compile first
namespace fs = std::filesystem;

class PeerContestant final : public Contestant {
public:
  PeerContestant(PeerProcess &process, size_t number, std::string with)
      : process(process), number(number), with(std::move(with)) {}
  std::string name() const override { return with; }
  double once(std::string &error) override {
    std::optional<Json> answer = process.ask({{"do", "time"}, {"peer", number}}, error);
    return answer ? answer->value("seconds", 0.0) : 0;
  }
  void useGraph(unsigned runs, std::string &error) override {
    process.ask({{"do", "graph"}, {"peer", number}, {"runs", runs}}, error);
  }

private:
  PeerProcess &process;
  size_t number;
  std::string with;
};

/// A folder that goes with the object.
struct Folder {
  std::string path = (fs::temp_directory_path() / "tilegymc-peers-XXXXXX").string();
  Folder() {
    if (!mkdtemp(path.data()))
      path.clear();
  }
  ~Folder() {
    std::error_code ec;
    if (!path.empty())
      fs::remove_all(path, ec);
  }
};

} // namespace

std::string findPeers() {
  std::error_code ec;
  fs::path program = fs::read_symlink("/proc/self/exe", ec).parent_path();
  for (const fs::path &path :
       {fs::path("tools/peers.py"), program / TILEGYM_SPECS_FROM_PROGRAM / ".." / "peers.py"})
    if (fs::exists(path, ec))
      return path.lexically_normal().string();
  return "";
}

bool PeerProcess::start(const std::string &script) {
  const char *python = std::getenv("TILEGYM_PYTHON");
  std::string error;
  if (script.empty()) {
    versions = "peers.py is neither in ./tools nor installed";
    return false;
  }
  if (!child.start({python ? python : "python3", "-B", script}, {}, error)) {
    versions = error;
    return false;
  }
  std::optional<Json> answer = ask({{"do", "hello"}}, error);
  if (!answer) {
    versions = error;
    child.kill();
    return false;
  }
  versions = answer->value("about", "");
  library = answer->value("cublaslt", "");
  return true;
}

std::optional<Json> PeerProcess::ask(const Json &question, std::string &error) {
  auto lost = [&](const std::string &why) -> std::optional<Json> {
    if (error.empty())
      error = why;
    child.kill();
    return std::nullopt;
  };
  if (!child.isRunning())
    return lost("the peers' process has ended");
  std::string line;
  ChildProcess::Got got = child.send(question.dump()) ? child.receive(line, kSeconds) : ChildProcess::Ended;
  if (got == ChildProcess::Late)
    return lost("the peers' process gave no answer within " + std::to_string(int(kSeconds)) + " s");
  if (got == ChildProcess::Ended)
    return lost("the peers' process ended: " + child.ending());
  Json answer = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object())
    return lost("the peers' process answered '" + line + "'");
  if (answer.contains("error")) {
    if (error.empty())
      error = answer["error"];
    return std::nullopt;
  }
  return answer;
}

std::vector<std::unique_ptr<Contestant>> PeerProcess::prepare(const sem::OpModel &op,
                                                              const sem::TestCall &call,
                                                              const interp::Arguments &pattern,
                                                              std::vector<BenchColumn> &lacking) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  const std::vector<ast::External> &peers = op.spec->bench->peers;
  if (peers.empty() || !child.isRunning())
    return contestants;
  Folder folder;
  std::string error;
  Json question = caseJson(op, call);
  question["do"] = "prepare";
  for (const ast::External &peer : peers)
    question["peers"].push_back({{"with", peer.backend.name}, {"text", peer.text}});
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    if (op.tensors[id].role == sem::Role::Output)
      continue;
    Json input = {{"name", op.tensors[id].name}, {"present", bool(call.bound.spec.present[id])}};
    if (call.bound.spec.present[id]) {
      bool isList = op.tensors[id].isList;
      for (size_t i = 0; i < pattern.tensors[id].size() && error.empty(); ++i) {
        std::string path =
            folder.path + "/" + op.tensors[id].name + (isList ? "." + std::to_string(i) : "") + ".npy";
        interp::writeNpy(path, pattern.tensors[id][i], error);
        input["files"].push_back(path);
        input["shapes"].push_back(call.bound.shapes[id][i]);
      }
      if (!error.empty())
        break;
      input["list"] = isList;
      input["dtype"] = std::string(tilegym::name(call.bound.spec.dtypes[size_t(op.tensors[id].typeVar)]));
    }
    question["inputs"].push_back(std::move(input));
  }
  std::optional<Json> answer = error.empty() ? ask(question, error) : std::nullopt;
  for (size_t i = 0; i < peers.size(); ++i) {
    std::string why = answer ? answer->at("lacking").at(i).get<std::string>() : error;
    if (why.empty())
      contestants.push_back(std::make_unique<PeerContestant>(*this, i, peers[i].backend.name));
    else
      lacking.push_back({peers[i].backend.name, why, {}});
  }
  return contestants;
}

} // namespace tilegym::cli
