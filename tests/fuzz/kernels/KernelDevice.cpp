// SPDX-License-Identifier: MIT
// Memory and launches through the runtime's own parts, in the order of its call.
#include "tests/fuzz/kernels/KernelDevice.h"
#include "tools/tilegymc/DeviceCall.h"
#include "tools/tilegymc/VariantFit.h"
#include <algorithm>
#include <cstring>

namespace tilegym::fuzz {

using interp::HostTensor;

namespace {

constexpr size_t kGuard = 256;             ///< keeps the alignment that the driver gives
constexpr unsigned char kGuardByte = 0xff; ///< NaN in every float dtype, so that a stray read shows
constexpr std::byte kPoison = std::byte{0xa5};

size_t roundedUp(size_t bytes) { return (bytes + kGuard - 1) / kGuard * kGuard; }

} // namespace

KernelDevice::~KernelDevice() {
  if (arena)
    driver.memFree(arena);
}

std::string KernelDevice::failure(const char *what, runtime::CUresult result) const {
  driver.failure(what, result);
  return tilegym_last_error();
}

std::string_view KernelDevice::Package::text(size_t op) const {
  auto sources = table.get<format::Source>(table.ops()[op].sources);
  return sources.empty() ? std::string_view() : table.text(sources[0].text);
}

std::unique_ptr<KernelDevice::Package> KernelDevice::open(std::string_view bytes, std::string &error) {
  auto package = std::make_unique<Package>();
  package->storage.resize(bytes.size() / 8 + 1);
  std::memcpy(package->storage.data(), bytes.data(), bytes.size());
  if (package->table.open(package->storage.data(), bytes.size(), "the fuzzer's package") != TILEGYM_OK) {
    error = tilegym_last_error();
    return nullptr;
  }
  package->loader = std::make_unique<runtime::Loader>(package->table);
  return package;
}

bool KernelDevice::reserve(size_t bytes, std::string &error) {
  if (bytes <= arenaBytes)
    return true;
  if (arena)
    driver.memFree(arena);
  arena = 0;
  arenaBytes = 0;
  size_t wanted = std::max<size_t>(bytes * 2, 1 << 20);
  if (runtime::CUresult result = driver.memAlloc(&arena, wanted); result != runtime::kSuccess) {
    error = failure("allocating", result);
    return false;
  }
  arenaBytes = wanted;
  return true;
}

bool KernelDevice::upload(std::vector<Placed> &placed, std::string &error) {
  size_t total = kGuard;
  for (const Placed &p : placed)
    if (p.host)
      total += roundedUp(p.host->buffer->size()) + kGuard;
  if (!apart) {
    if (!reserve(total, error))
      return false;
    image.assign(total, kGuardByte);
  }
  size_t at = kGuard;
  for (Placed &p : placed) {
    if (!p.host)
      continue;
    size_t size = p.host->buffer->size();
    if (apart) {
      runtime::CUresult result = driver.memAlloc(&p.address, std::max<size_t>(size, 1));
      if (result == runtime::kSuccess)
        result = driver.memcpyHtoD(p.address, p.host->buffer->data(), size);
      if (result != runtime::kSuccess) {
        error = failure("placing a tensor", result);
        return false;
      }
      continue;
    }
    p.address = arena + at;
    std::memcpy(image.data() + at, p.host->buffer->data(), size);
    at += roundedUp(size) + kGuard;
  }
  if (!apart)
    if (runtime::CUresult result = driver.memcpyHtoD(arena, image.data(), total);
        result != runtime::kSuccess) {
      error = failure("copying to the device", result);
      return false;
    }
  return true;
}

void KernelDevice::release(std::vector<Placed> &placed) {
  for (Placed &p : placed)
    if (apart && p.address)
      driver.memFree(p.address);
}

bool KernelDevice::download(const KernelCase &kernel, const std::vector<Placed> &placed,
                            DeviceOutcome &outcome) {
  const sem::OpModel &op = *kernel.op;
  std::vector<unsigned char> now(image.size());
  if (!apart)
    if (runtime::CUresult result = driver.memcpyDtoH(now.data(), arena, now.size());
        result != runtime::kSuccess) {
      outcome.error = failure("copying from the device", result);
      return false;
    }
  outcome.tensors.assign(placed.size(), {});
  size_t end = 0; ///< of the tensor before
  for (size_t id = 0; id < placed.size(); ++id) {
    if (!placed[id].host)
      continue;
    HostTensor tensor = *placed[id].host;
    size_t size = tensor.buffer->size();
    auto buffer = interp::HostBuffer::allocate(size);
    if (apart) {
      if (runtime::CUresult result = driver.memcpyDtoH(buffer->data(), placed[id].address, size);
          result != runtime::kSuccess) {
        outcome.error = failure("copying from the device", result);
        return false;
      }
    } else {
      size_t begin = size_t(placed[id].address - arena);
      std::memcpy(buffer->data(), now.data() + begin, size);
      for (size_t i = end; i < begin && outcome.error.empty(); ++i)
        if (now[i] != kGuardByte)
          outcome.error = "memory before " + op.tensors[id].name + " was written";
      end = begin + size;
    }
    bool isInput = op.tensors[id].role == sem::Role::Input;
    if (int64_t byte = interp::firstChange(tensor, buffer->data(), isInput);
        byte >= 0 && outcome.error.empty())
      outcome.error = op.tensors[id].name +
                      (isInput ? " is an input, but byte " : ": between its elements byte ") +
                      std::to_string(byte) + " was written";
    tensor.buffer = std::move(buffer);
    outcome.tensors[id].push_back(std::move(tensor));
  }
  for (size_t i = end; !apart && i < now.size() && outcome.error.empty(); ++i)
    if (now[i] != kGuardByte)
      outcome.error = "memory behind the last tensor was written";
  return outcome.error.empty();
}

std::string KernelDevice::launch(Package &package, const runtime::Call &bound, uint32_t op, uint32_t index) {
  const format::Variant &variant = package.table.get<format::Variant>(bound.op.variants)[index];
  runtime::Choice choice = runtime::choiceOf(bound, index, device.arch);
  runtime::Grid grid;
  runtime::CUfunction function = nullptr;
  if (runtime::computeGrid(bound, choice, &grid) != TILEGYM_OK ||
      package.loader->load(driver, device, /*context=*/0, op, choice, nullptr, &function, &grid.blocks) !=
          TILEGYM_OK ||
      runtime::fillOutputs(driver, bound, nullptr) != TILEGYM_OK)
    return tilegym_last_error();
  if (grid.blocks > 0) {
    auto parameters = std::make_unique<runtime::Parameters>();
    if (runtime::fillParameters(driver, bound, choice, grid, parameters.get()) != TILEGYM_OK)
      return tilegym_last_error();
    runtime::CUresult result = driver.launch(function, unsigned(grid.blocks), variant.threads,
                                             variant.sharedBytes, nullptr, parameters->pointers);
    if (result != runtime::kSuccess)
      return failure("the launch", result);
  }
  if (runtime::CUresult result = driver.streamSynchronize(nullptr); result != runtime::kSuccess) {
    lost = true;
    return failure("the run", result);
  }
  return "";
}

std::vector<DeviceOutcome> KernelDevice::run(Package &package, size_t op, const KernelCase &kernel,
                                             const sem::TestCall &call, const interp::Arguments &args,
                                             uint64_t layout,
                                             const std::function<void(uint32_t)> &beforeLaunch) {
  const sem::OpModel &model = *kernel.op;
  std::vector<Placed> placed(model.tensors.size());
  for (size_t id = 0; id < placed.size(); ++id) {
    const sem::TensorParam &tensor = model.tensors[id];
    if (!call.bound.spec.present[id])
      continue;
    placed[id].host = tensor.role == sem::Role::Output
                          ? makeOutput(call.bound.spec.dtypes[size_t(tensor.typeVar)],
                                       call.bound.shapes[id][0], layout ? layout + 2 * id : 0, kPoison)
                          : args.tensors[id][0];
  }
  std::vector<uint64_t> scalars(model.scalars.size());
  for (size_t i = 0; i < scalars.size(); ++i)
    scalars[i] = cli::scalarArgument(model, call, i, args.scalars[i]);

  std::vector<DeviceOutcome> outcomes;
  const format::Op &record = package.table.ops()[op];
  std::span<const format::Variant> variants = package.table.get<format::Variant>(record.variants);
  for (uint32_t number = 0; number < variants.size(); ++number) {
    DeviceOutcome outcome;
    outcome.variant = std::string(package.table.text(variants[number].entry));
    if (!upload(placed, outcome.error)) {
      outcomes.push_back(outcome);
      release(placed);
      return outcomes;
    }
    std::vector<TilegymTensor> views(placed.size());
    std::vector<const void *> list;
    for (const sem::Argument &argument : model.arguments) {
      size_t id = size_t(argument.id);
      if (!argument.isTensor) {
        list.push_back(&scalars[id]);
        continue;
      }
      if (!placed[id].host) {
        list.push_back(nullptr);
        continue;
      }
      const HostTensor &host = *placed[id].host;
      views[id].data =
          reinterpret_cast<void *>(placed[id].address + size_t(host.offset) * sizeInBytes(host.dtype));
      views[id].shape = host.shape.data();
      views[id].strides = host.strides.data();
      views[id].rank = int32_t(host.rank());
      views[id].dtype = int32_t(host.dtype);
      list.push_back(&views[id]);
    }
    auto bound = std::make_unique<runtime::Call>(package.table, record);
    bound->smCount = device.multiprocessors;
    if (bound->bind(list.data(), false) != TILEGYM_OK) {
      outcome.error = std::string("binding: ") + tilegym_last_error();
    } else if (!cli::whyNot(*bound, variants[number], cli::fitOf(*bound, variants[number].kernel),
                            device.arch)
                    .empty()) {
      release(placed);
      continue;
    } else {
      if (beforeLaunch)
        beforeLaunch(number);
      outcome.error = launch(package, *bound, uint32_t(op), number);
    }
    if (outcome.error.empty())
      download(kernel, placed, outcome);
    outcomes.push_back(std::move(outcome));
    release(placed);
  }
  return outcomes;
}

} // namespace tilegym::fuzz
