#include <signet/transport/batch_answer.h>

#include <cstdint>
#include <utility>

#include <signet/protocol/jsonrpc.h>

namespace signet::transport {

class BatchAnswer::Part final : public Responder {
 public:
  explicit Part(std::shared_ptr<BatchAnswer> batch) : batch_(std::move(batch)) {}

  void respond(int /*status*/, std::string_view content_type, std::string_view body,
               const Fields& /*fields*/) override {
    const std::shared_ptr<BatchAnswer> batch = std::exchange(batch_, nullptr);
    if (batch == nullptr) return;
    // A notification is answered with nothing, and what is no JSON has no place in the array.
    if (content_type == "application/json") batch->messages_.emplace_back(body);
    batch->finish_part();
  }
  void open_stream(const Fields& /*fields*/) override {
    if (batch_ != nullptr) batch_->open_stream();
  }
  void write(std::string_view events) override {
    if (batch_ != nullptr) batch_->write(events);
  }
  void end_stream() override {
    const std::shared_ptr<BatchAnswer> batch = std::exchange(batch_, nullptr);
    if (batch != nullptr) batch->finish_part();
  }
  bool is_behind() const override { return batch_ != nullptr && batch_->whole_->is_behind(); }
  void lose() {
    batch_ = nullptr;
    const std::function<void()> told = std::exchange(gone, nullptr);
    if (told) told();
  }

 private:
  std::shared_ptr<BatchAnswer> batch_;  // null once this part is answered
};

BatchAnswer::BatchAnswer(std::shared_ptr<Responder> whole, Fields fields,
                         std::shared_ptr<EndpointSession> session)
    : whole_(std::move(whole)), fields_(std::move(fields)), session_(std::move(session)) {}

void BatchAnswer::start() {
  whole_->gone = [weak = weak_from_this()] {
    if (const auto batch = weak.lock()) batch->lose();
  };
}

std::shared_ptr<Responder> BatchAnswer::add_part() {
  auto part = std::make_shared<Part>(shared_from_this());
  parts_.push_back(part);
  ++open_;
  return part;
}

void BatchAnswer::seal() { finish_part(); }

void BatchAnswer::open_stream() {
  if (streaming_) return;
  streaming_ = true;
  whole_->open_stream(fields_);
}

void BatchAnswer::write(std::string_view events) { whole_->write(events); }

void BatchAnswer::finish_part() {
  if (--open_ != 0) return;
  whole_->gone = nullptr;
  if (!streaming_) {
    if (messages_.empty()) return whole_->respond(202, "", "", fields_);
    return whole_->respond(200, "application/json", protocol::write_batch(messages_), fields_);
  }
  if (messages_.empty()) return whole_->end_stream();
  const std::uint64_t stream = session_->open(whole_);
  session_->send(stream, protocol::write_batch(messages_));
  session_->finish(stream);
}

void BatchAnswer::lose() {
  const std::shared_ptr<BatchAnswer> alive = shared_from_this();
  for (const std::weak_ptr<Part>& known : std::exchange(parts_, {})) {
    if (const std::shared_ptr<Part> part = known.lock()) part->lose();
  }
}

}  // namespace signet::transport
