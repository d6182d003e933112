// Spellings that are right on every compiler here. Read by coroutines.py, never compiled.
Task<int> right(Call& call, Args args) {
  co_await call.elicit("k", form(m).boolean("sure"));
  const auto answer = co_await call.elicit<Resolution>("resolution", "How was it resolved? if (co_await x) {");
  if (!answer.accepted()) co_return text("Left open.");
  if (auto r = co_await yes(); r.good() && ready) co_return 1;
  auto [a, b] = co_await all(x, y);
  auto&& c = co_await one();
  Form f{m, {1, 2}};
  co_await call.elicit("k", std::move(f));
  for (auto& item : co_await items()) use(item);
  for (int i = 0; i < 3 && ready; ++i) {
    const int value = co_await one();
    sum += value;
  }
  if (ready && !late) co_await call.step("k", [] { return 1; });
  else co_await one();
  while (more && again) co_await one();
  co_await call.step("k", [&path] { return path && true; });
  co_await call.step("k", [this](int i) -> int { return Pair{i, 2}.sum(); });
  co_await use(a && b);
  co_await use(flag ? 1 : 2);
  switch (kind) {
    case Kind::one:
      co_await one();
      break;
    default: {
      co_await one();
    }
  }
  // if (co_await commented_out()) return;
  /* while (co_await commented_out()) */
  const char* text = R"(if (co_await quoted()) {})";
  const int million = 1'000'000;
  try {
    co_await one();
  } catch (const std::exception& error) {
    co_return 2;
  }
  co_return co_await one();
}
void lambdas() {
  auto f = [](Call& call) -> Task<ToolResult> {
    const auto answer = co_await call.elicit("k", question);
    co_return text("ok");
  };
  server.tool("a", [](Call& call, Args args) -> Task<ToolResult> { co_return text("ok"); });
  auto g = [&] { return values[index]; };
  task.start([&done] { done = true; });
  loop.post([weak = std::weak_ptr(self)] { if (auto s = weak.lock(); s && s->open) s->go(); });
}
struct Awaitable {
  auto operator co_await() const noexcept { return Awaiter{handle_}; }
};
