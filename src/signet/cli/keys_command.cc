#include <signet/cli/keys_command.h>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/bytes.h>
#include <signet/base/entropy.h>
#include <signet/cli/command.h>
#include <signet/cli/help.h>
#include <signet/cli/shown_text.h>
#include <signet/keys/ring_file.h>
#include <signet/keys/ring_text.h>
#include <signet/keys/rotation.h>
#include <signet/keys/time_text.h>
#include <signet/token/claims_format.h>

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
  std::vector<std::string>
      words;  // without an option's name: the ring where --ring does not say it, and the key
  std::string id;
  std::string step;
  std::string now;
  std::string at;
  std::int64_t settle_seconds = 60;
  std::int64_t lifetime_seconds = 24 * 60 * 60;
};

std::shared_ptr<const KeyRing> read_ring(const std::string& path) {
  Result<std::shared_ptr<const KeyRing>> ring = keys::read_ring_file(path, keys::RingReader::administrator);
  if (!ring) fail(ring.error().message);
  return *ring;
}

// The name that --id gives a new key, or nothing.
std::optional<std::string> new_id_of(const KeysOptions& options) {
  if (options.id.empty()) return std::nullopt;
  if (!token::is_key_id(options.id)) {
    fail("--id: '" + printable(options.id) + "' is not 1 to 32 characters of A-Z a-z 0-9 _ -", 2);
  }
  return options.id;
}

void generate(const KeysOptions& options) {
  const Timestamp now = time_or_now(options.now);
  if (options.ring == "-" && ::isatty(STDOUT_FILENO) == 1) {
    fail(
        "standard output is a terminal, and would show the key: redirect it (signet keys generate --ring - > "
        "FILE), or name the file after --ring");
  }
  const std::optional<std::string> given = new_id_of(options);
  const std::string id = given ? *given : keys::free_id({}, now, system_entropy());
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
  const Timestamp now = time_or_now(options.now);
  const std::shared_ptr<const KeyRing> ring = read_ring(options.ring);
  std::size_t widest = 3;
  for (const RingKey& key : ring->keys()) widest = std::max(widest, key.id().size());
  const auto row = [widest](const std::string& key, std::string_view stage, const std::string& since,
                            const std::string& until, const std::string& fingerprint) {
    std::cout << std::left << std::setw(static_cast<int>(widest + 2)) << key << std::setw(8) << stage
              << std::setw(26) << since << std::setw(33) << until << fingerprint << '\n';
  };
  row("KEY", "STAGE", "SINCE", "OPENS UNTIL", "FINGERPRINT");
  for (const RingKey& key : ring->keys()) {
    row(key.id(), token::to_string(key.stage()), key.since() ? keys::to_text(*key.since()) : "-",
        (key.retires_at() ? keys::to_text(*key.retires_at()) : "-") + (key.opens_at(now) ? "" : " (over)"),
        key.fingerprint());
  }
}

RotationStep step_of(const KeysOptions& options, const std::vector<KeyEntry>& entries) {
  for (const RotationStep step : {RotationStep::accept, RotationStep::seal, RotationStep::retire}) {
    if (options.step == keys::to_string(step)) return step;
  }
  return keys::next_step(entries);
}

// Which of the retired keys still open, and until when.
void report_retiring(const KeyRing& ring, Timestamp now) {
  for (const RingKey& key : ring.keys()) {
    if (!key.retires_at() || !key.opens_at(now)) continue;
    std::cout << "Key " << key.id() << " opens what it sealed until " << keys::to_text(*key.retires_at())
              << ". Rotate again after that, and it is taken out.\n";
  }
}

const RingKey* waiting_to_seal(const KeyRing& ring) {
  const auto found = std::find_if(ring.keys().begin(), ring.keys().end(),
                                  [](const RingKey& key) { return key.stage() == KeyStage::accept; });
  return found == ring.keys().end() ? nullptr : &*found;
}

// What was done, and what comes next and when. `before`: the ids that the ring had.
void report(RotationStep step, const KeyRing& ring, const std::vector<std::string>& before,
            const keys::RotationTimes& times, Timestamp now) {
  const auto had = [&before](const std::string& id) {
    return std::find(before.begin(), before.end(), id) != before.end();
  };
  switch (step) {
    case RotationStep::accept: {
      const RingKey& key = *waiting_to_seal(ring);
      std::cout << "Step 1 of 3: key " << key.id() << " is in the ring; it opens and does not seal yet.\n"
                << (had(key.id()) ? "The ring did not say since when. That counts from now.\n" : "")
                << "Next, from " << keys::to_text(token::later(now, times.settle))
                << " on and once every instance has read this ring: rotate again, and it seals.\n";
      return;
    }
    case RotationStep::seal:
      std::cout << "Step 2 of 3: key " << ring.sealing().id() << " seals.\n";
      report_retiring(ring, now);
      return;
    case RotationStep::retire:
      std::cout << "Step 3 of 3:";
      for (const std::string& id : before) {
        if (ring.find(id) == nullptr) std::cout << " key " << id << " is taken out.";
      }
      std::cout << " Key " << ring.sealing().id() << " seals.\n";
      report_retiring(ring, now);
      return;
  }
}

void rotate(const KeysOptions& options) {
  const Timestamp now = time_or_now(options.now);
  keys::RotationTimes times;
  times.settle = seconds(options.settle_seconds);
  times.lifetime = seconds(options.lifetime_seconds);
  const std::optional<std::string> new_id = new_id_of(options);
  const std::string accept(keys::to_string(RotationStep::accept));
  if (new_id && !options.step.empty() && options.step != accept) {
    fail("--id names a new key, and step " + options.step + " makes none", 2);
  }
  RotationStep step = RotationStep::accept;
  std::vector<std::string> before;
  const auto change = [&](std::vector<KeyEntry>& entries) -> Result<void> {
    step = step_of(options, entries);
    for (const KeyEntry& entry : entries) before.push_back(entry.id);
    if (new_id && step != RotationStep::accept) {
      return failure("--id names a new key, but the next step of this ring is " +
                     std::string(keys::to_string(step)));
    }
    return keys::rotate(entries, step, now, times, new_id, system_entropy());
  };
  Result<std::shared_ptr<const KeyRing>> ring = keys::change_ring_file(options.ring, change);
  if (!ring) fail(ring.error().message);
  report(step, **ring, before, times, now);
}

void retire(const KeysOptions& options) {
  if (options.id.empty()) fail("which key? signet keys retire --ring FILE ID", 2);
  const Timestamp now = time_or_now(options.now);
  const Timestamp at = options.at.empty() ? now : time_or_now(options.at);
  const auto change = [&](std::vector<KeyEntry>& entries) {
    return keys::retire_key(entries, options.id, now, at);
  };
  Result<std::shared_ptr<const KeyRing>> ring = keys::change_ring_file(options.ring, change);
  if (!ring) fail(ring.error().message);
  // Which may be sooner than was asked for: it had been retired before.
  const Timestamp end = (*ring)->find(options.id)->retires_at().value_or(at);
  std::cout << "Key " << options.id << " opens nothing from " << keys::to_text(end) << " on.\n";
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
      std::cout << "Key " << key.id() << " does not seal yet"
                << (key.since() ? "" : ", and since when it is here is not said") << ": rotate goes on.\n";
  }
  report_retiring(*ring, now);
}

// Which ring is meant: the one of --ring, a word, or the environment's. The last word is the key where one is taken.
void name_ring(KeysOptions& options, bool takes_key) {
  const char* variable = std::getenv("SIGNET_RING");
  const std::string usual = variable != nullptr ? variable : "";
  const bool known = !options.ring.empty() || !usual.empty();
  if (takes_key && !options.words.empty() && (known || options.words.size() == 2)) {
    options.id = options.words.back();
    options.words.pop_back();
  }
  if (!options.ring.empty() && !options.words.empty()) {
    fail("the ring is named twice: --ring " + printable(options.ring) + ", and " +
             printable(options.words.front()),
         2);
  }
  if (!options.words.empty()) options.ring = options.words.front();
  if (options.ring.empty()) options.ring = usual;
  if (options.ring.empty()) fail("which ring? --ring FILE, or SIGNET_RING", 2);
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
  command
      ->add_option("--ring", options->ring,
                   name == "generate" ? "The new ring file, or - for standard output (else $SIGNET_RING)"
                                      : "The ring file (else $SIGNET_RING)")
      ->type_name("FILE");
  // The ring as a word of its own too, which --help does not repeat.
  command->add_option("WORDS", options->words)->expected(0, name == "retire" ? 2 : 1);
  command->add_option("--now", options->now, "Another time than now, for trying things out (RFC 3339, UTC)")
      ->type_name("TIME");
  command->callback([options, run, takes_key = name == "retire"] {
    name_ring(*options, takes_key);
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
  generating->add_option("--id", options->id, "The key's name (the day and a random number)")
      ->type_name("NAME");
  subcommand(*keys, "list", "Show the keys of a ring, without their secrets", options, list);
  CLI::App* rotating =
      subcommand(*keys, "rotate", "Take the next of the three steps to a new sealing key", options, rotate);
  rotating
      ->add_option("--step", options->step, "Take this step or none: accept, seal or retire (the next one)")
      ->type_name("STEP")
      ->check(CLI::Validator(CLI::IsMember({"accept", "seal", "retire"})).description(""));
  rotating
      ->add_option("--id", options->id, "With step accept: the new key's name (the day and a random number)")
      ->type_name("NAME");
  add_duration(*rotating, "--settle", options->settle_seconds,
               "How long until every instance has read a new ring (60s)", 0);
  add_duration(*rotating, "--lifetime", options->lifetime_seconds, "The longest that a state may live (24h)",
               0);
  rotating->footer(
      std::string(
          "Steps: accept (a new key opens everywhere and does not seal yet), seal (it seals; the old one\n"
          "opens until its states have expired), retire (the old one is taken out). None is skipped or\n"
          "hurried. --step accept takes in a new key while older ones still retire: when one has "
          "leaked.\n\n") +
      exit_help);
  CLI::App* retiring =
      subcommand(*keys, "retire",
                 "Let a key that does not seal open nothing any more; nothing makes that later or undoes it",
                 options, retire);
  retiring->add_option("--at", options->at, "From when on (RFC 3339, UTC; now)")->type_name("TIME");
  subcommand(*keys, "check", "Say whether a ring file is good, and what is to be done", options, check);
}

}  // namespace signet::cli
