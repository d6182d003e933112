#include <signet/protocol/capabilities.h>

#include <algorithm>

#include <signet/protocol/errors.h>

namespace signet::protocol {
namespace {

// Where in a ClientCapabilities object a capability stands: a member, and a member of that, if any.
struct Place {
  std::string_view group;
  std::string_view part;
};

Place place_of(Capability capability) {
  switch (capability) {
    case Capability::elicitation_form:
      return {"elicitation", "form"};
    case Capability::elicitation_url:
      return {"elicitation", "url"};
    case Capability::sampling:
      return {"sampling", ""};
    case Capability::sampling_tools:
      return {"sampling", "tools"};
    case Capability::sampling_context:
      return {"sampling", "context"};
    case Capability::roots:
      break;
  }
  return {"roots", ""};
}

bool is_object(const Json* value) { return value != nullptr && value->is_object(); }

bool is_absent_or_object(const Json* value) { return value == nullptr || value->is_object(); }

bool holds_objects_only(const Json* value) {
  if (value == nullptr) return true;
  const Json::Object* members = value->as_object();
  return members != nullptr &&
         std::ranges::all_of(*members, [](const JsonMember& member) { return member.second.is_object(); });
}

Fault missing_fault(Json required) {
  return Fault(missing_capability, "The client did not declare a capability this request needs",
               Json::object({{"requiredCapabilities", std::move(required)}}));
}

}  // namespace

bool ClientCapabilities::has(Capability capability) const {
  const Place place = place_of(capability);
  const Json* group = declared_.find(place.group);
  if (!is_object(group)) return false;
  if (place.part.empty() || is_object(group->find(place.part))) return true;
  return capability == Capability::elicitation_form && !group->contains("form") && !group->contains("url");
}

const Json* ClientCapabilities::extension(std::string_view id) const {
  const Json* extensions = declared_.find("extensions");
  const Json* settings = extensions != nullptr ? extensions->find(id) : nullptr;
  return is_object(settings) ? settings : nullptr;
}

bool ClientCapabilities::has_extension(std::string_view id) const { return extension(id) != nullptr; }

bool is_capabilities(const Json& declared) {
  if (!declared.is_object()) return false;
  for (const std::string_view group : {"elicitation", "sampling", "roots"}) {
    if (!is_absent_or_object(declared.find(group))) return false;
  }
  for (const Place place : {Place{"elicitation", "form"}, Place{"elicitation", "url"},
                            Place{"sampling", "tools"}, Place{"sampling", "context"}}) {
    const Json* group = declared.find(place.group);
    if (group != nullptr && !is_absent_or_object(group->find(place.part))) return false;
  }
  return holds_objects_only(declared.find("experimental")) && holds_objects_only(declared.find("extensions"));
}

std::optional<Fault> missing_capabilities(const ClientCapabilities& declared,
                                          const std::vector<Capability>& needed) {
  Json required = Json::object();
  bool complete = true;
  for (const Capability capability : needed) {
    if (declared.has(capability)) continue;
    complete = false;
    const Place place = place_of(capability);
    if (!required.contains(place.group)) required.set(std::string(place.group), Json::object());
    if (!place.part.empty()) required.find(place.group)->set(std::string(place.part), Json::object());
  }
  if (complete) return std::nullopt;
  return missing_fault(std::move(required));
}

Fault missing_extension(std::string_view id) {
  return missing_fault(Json::object({{"extensions", Json::object({{id, Json::object()}})}}));
}

}  // namespace signet::protocol
