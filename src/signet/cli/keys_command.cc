#include <signet/cli/keys_command.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/bytes.h>
#include <signet/base/entropy.h>
#include <signet/cli/command.h>
#include <signet/cli/help.h>
#include <signet/keys/ring_file.h>
#include <signet/keys/ring_text.h>
#include <signet/keys/rotation.h>
#include <signet/keys/time_text.h>

namespace signet::cli {
namespace {

using keys::RotationStep;
using std::chrono::seconds;
using token::KeyEntry;
using token::KeyRing;
using token::KeyStage;
using token::RingKey;

// What the options of a subcommand say.
struct KeysOptions {
  std::string ring;
  std::string id;
  std::string step;
  std::string now;
  std::string at;
  std::int64_t settle_seconds = 60;
  std::int64_t lifetime_seconds = 24 * 60 * 60;
};

std::shared_ptr<const KeyRing> read_ring(const std::string& path) {
  Result<std::shared_ptr<const KeyRing>> ring = keys::read_ring_file(path);
  if (!ring) fail(ring.error().message);
  return *ring;
}

void generate(const KeysOptions& options) {
  const Timestamp now = time_or_now(options.now);
  const std::string id = options.id.empty() ? keys::free_id({}, now) : options.id;
  if (!token::is_key_id(id)) fail("'" + id + "' is not 1 to 32 characters of A-Z a-z 0-9 _ -");
  std::vector<KeyEntry> entries;
  entries.push_back(token::generate_key(id, KeyStage::seal, now, system_entropy()));
  if (options.ring == "-") {
    const Secret text = keys::write_ring(entries);
    std::cout << as_text(text.expose()) << std::flush;
    return;
  }
  Result<void> created = keys::create_ring_file(options.ring, entries);
  if (!created) fail(created.error().message);
  std::cout << "Key " << id << " seals. The ring is in " << options.ring << ", which only you may read.\n";
}

void list(const KeysOptions& options) {
  const std::shared_ptr<const KeyRing> ring = read_ring(options.ring);
  std::size_t widest = 3;
  for (const RingKey& key : ring->keys()) widest = std::max(widest, key.id().size());
  const auto row = [widest](const std::string& key, std::string_view stage, const std::string& since,
                            const std::string& until, const std::string& fingerprint) {
    std::cout << std::left << std::setw(static_cast<int>(widest + 2)) << key << std::setw(8) << stage
              << std::setw(26) << since << std::setw(26) << until << fingerprint << '\n';
  };
  row("KEY", "STAGE", "SINCE", "OPENS UNTIL", "FINGERPRINT");
  for (const RingKey& key : ring->keys()) {
    row(key.id(), token::to_string(key.stage()), key.since() ? keys::to_text(*key.since()) : "-",
        key.retires_at() ? keys::to_text(*key.retires_at()) : "-", key.fingerprint());
  }
}

RotationStep step_of(const KeysOptions& options, const std::vector<KeyEntry>& entries) {
  for (const RotationStep step : {RotationStep::accept, RotationStep::seal, RotationStep::retire}) {
    if (options.step == keys::to_string(step)) return step;
  }
  return keys::next_step(entries);
}

// What was done, and what comes next and when.
void report(RotationStep step, const KeyRing& ring, const keys::RotationTimes& times, Timestamp now) {
  switch (step) {
    case RotationStep::accept:
      std::cout << "Step 1 of 3: key " << ring.keys().back().id()
                << " is in the ring; it opens and does not seal yet.\n"
                << "Next, from " << keys::to_text(now + times.settle)
                << " on and once every instance has read this ring: rotate again, and it seals.\n";
      return;
    case RotationStep::seal:
      std::cout << "Step 2 of 3: key " << ring.sealing().id() << " seals.\n";
      for (const RingKey& key : ring.keys()) {
        if (!key.retires_at() || !key.opens_at(now)) continue;
        std::cout << "Key " << key.id() << " opens what it sealed until " << keys::to_text(*key.retires_at())
                  << ". Rotate again after that, and it is taken out.\n";
      }
      return;
    case RotationStep::retire:
      std::cout << "Step 3 of 3: the ring holds no retired key any more. Key " << ring.sealing().id()
                << " seals.\n";
      return;
  }
}

void rotate(const KeysOptions& options) {
  const Timestamp now = time_or_now(options.now);
  keys::RotationTimes times;
  times.settle = seconds(options.settle_seconds);
  times.lifetime = seconds(options.lifetime_seconds);
  std::optional<std::string> new_id;
  if (!options.id.empty()) new_id = options.id;
  RotationStep step = RotationStep::accept;
  const auto change = [&](std::vector<KeyEntry>& entries) -> Result<void> {
    step = step_of(options, entries);
    if (new_id && step != RotationStep::accept) {
      return failure("--id names a new key, but the next step of this ring is " +
                     std::string(keys::to_string(step)));
    }
    return keys::rotate(entries, step, now, times, new_id, system_entropy());
  };
  Result<std::shared_ptr<const KeyRing>> ring = keys::change_ring_file(options.ring, change);
  if (!ring) fail(ring.error().message);
  report(step, **ring, times, now);
}

void retire(const KeysOptions& given) {
  KeysOptions options = given;
  const char* usual = std::getenv("SIGNET_RING");
  // One word and a ring in the environment: the word is the key.
  if (options.id.empty() && usual != nullptr) options.id = std::exchange(options.ring, usual);
  if (options.id.empty()) fail("which key? signet keys retire --ring FILE ID", 2);
  const Timestamp now = time_or_now(options.now);
  const Timestamp at = options.at.empty() ? now : time_or_now(options.at);
  const auto change = [&](std::vector<KeyEntry>& entries) {
    return keys::retire_key(entries, options.id, now, at);
  };
  Result<std::shared_ptr<const KeyRing>> ring = keys::change_ring_file(options.ring, change);
  if (!ring) fail(ring.error().message);
  std::cout << "Key " << options.id << " opens nothing from " << keys::to_text(at) << " on.\n";
}

void check(const KeysOptions& options) {
  const std::shared_ptr<const KeyRing> ring = read_ring(options.ring);
  const Timestamp now = time_or_now(options.now);
  std::cout << "The ring is good: " << ring->keys().size() << (ring->keys().size() == 1 ? " key" : " keys")
            << ", key " << ring->sealing().id() << " seals.\n";
  for (const RingKey& key : ring->keys()) {
    if (!key.opens_at(now))
      std::cout << "Key " << key.id() << " opens nothing any more: rotate takes it out.\n";
    if (key.stage() == KeyStage::accept)
      std::cout << "Key " << key.id() << " does not seal yet: rotate goes on.\n";
  }
}

constexpr const char* exit_help = "Exit codes: 0 done, 1 refused or failed, 2 wrong command line.";

CLI::App* subcommand(CLI::App& keys, const std::string& name, const std::string& description,
                     KeysOptions*& given, void (*run)(const KeysOptions&)) {
  // Of its own: SIGNET_RING would be read into the options of the other subcommands too.
  const auto options = std::make_shared<KeysOptions>();
  given = options.get();
  CLI::App* command = keys.add_subcommand(name, description);
  command->formatter(std::make_shared<Help>("signet keys " + name + " --ring FILE" +
                                            (name == "retire" ? " ID" : "") + " [OPTIONS]"));
  command->footer(exit_help);
  // As the first word too, which --help does not repeat.
  command
      ->add_option("--ring,RING", options->ring,
                   name == "generate" ? "The new ring file, or - for standard output (else $SIGNET_RING)"
                                      : "The ring file (else $SIGNET_RING)")
      ->type_name("FILE")
      ->required()
      ->envname("SIGNET_RING");
  command->add_option("--now", options->now, "Another time than now, for trying things out (RFC 3339, UTC)")
      ->type_name("TIME");
  command->callback([options, run] {
    time_or_now(options->now);  // where it plays no part, it is refused all the same if it is no time
    run(*options);
  });
  return command;
}

}  // namespace

void add_keys_command(CLI::App& signet) {
  KeysOptions* options = nullptr;  // of the subcommand in hand
  CLI::App* keys = signet.add_subcommand("keys", "Make, change and check rings of keys");
  keys->require_subcommand(1);
  keys->formatter(std::make_shared<Help>("signet keys COMMAND --ring FILE [OPTIONS]"));
  keys->footer(std::string("signet keys COMMAND --help says more.\n\n") + exit_help);

  CLI::App* generating =
      subcommand(*keys, "generate", "Make a new ring file with one key", options, generate);
  generating->add_option("--id", options->id, "The key's name (the day)")->type_name("NAME");
  subcommand(*keys, "list", "Show the keys of a ring, without their secrets", options, list);
  CLI::App* rotating =
      subcommand(*keys, "rotate", "Take the next of the three steps to a new sealing key", options, rotate);
  rotating
      ->add_option("--step", options->step, "Take this step or none: accept, seal or retire (the next one)")
      ->type_name("STEP")
      ->check(CLI::Validator(CLI::IsMember({"accept", "seal", "retire"})).description(""));
  rotating->add_option("--id", options->id, "With step accept: the new key's name (the day)")
      ->type_name("NAME");
  add_duration(*rotating, "--settle", options->settle_seconds,
               "How long until every instance has read a new ring (60s)", 0);
  add_duration(*rotating, "--lifetime", options->lifetime_seconds, "The longest that a state may live (24h)",
               0);
  rotating->footer(
      std::string(
          "Steps: accept (a new key opens everywhere and does not seal yet), seal (it seals; the old one\n"
          "opens until its states have expired), retire (the old one is taken out). None is skipped or\n"
          "hurried.\n\n") +
      exit_help);
  CLI::App* retiring =
      subcommand(*keys, "retire", "Let a key that does not seal open nothing any more", options, retire);
  retiring->add_option("ID", options->id, "The key's name");
  retiring->add_option("--at", options->at, "From when on (RFC 3339, UTC; now)")->type_name("TIME");
  subcommand(*keys, "check", "Say whether a ring file is good, and what is to be done", options, check);
}

}  // namespace signet::cli
