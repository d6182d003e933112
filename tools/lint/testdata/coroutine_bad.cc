// Every line marked `bad` is a spelling that g++ 12 miscompiles or refuses. Read by coroutines.py, never compiled.
Task<int> aggregates(Call& call) {
  co_await call.elicit("k", {.message = m});  // bad: braces
  co_await call.elicit("k", Form{m, 1});  // bad: braces
  auto a = co_await call.elicit(
      "k",
      Form{  // bad: braces
          m, {1, 2}});
  Pair p{co_await x(), 1};  // bad: braces
  auto q = Pair{1,  // bad: braces
                co_await x()};  // bad: braces
  co_await send(std::vector<std::string>{"a", "b"});  // bad: braces
  co_await all({1, 2, 3});  // bad: braces
  co_return combine(Req{a}, co_await x());  // bad: braces
}
Task<int> lambdas(Call& call) {
  co_await call.step("k", [path] { return 1; });  // bad: capture
  co_await call.step("k", [=](int i) -> int { return i; });  // bad: capture
  co_await call.step("k", [&, p = std::move(path)]() mutable { return p; });  // bad: capture
  co_await call.step("k",
                     [name = std::string("a")] {  // bad: capture
                       return name;
                     });
  auto f = [value = co_await x()] { return value; };  // bad: capture
}
Task<int> conditions(Call& call) {
  if ((co_await call.elicit("k", form(m))).accepted()) return 1;  // bad: condition
  if (co_await yes()) co_return 1;  // bad: condition
  if (const auto r = co_await yes()) co_return 1;  // bad: condition
  if (int i = 0; co_await yes()) co_return 1;  // bad: condition
  if (
      co_await yes()  // bad: condition
  ) co_return 1;
  while (co_await more()) step();  // bad: condition
  do {
  } while (co_await more());  // bad: condition
  switch (co_await kind()) { default: break; }  // bad: condition
  for (int i = 0; co_await more(); ++i) step();  // bad: condition
  if constexpr (true) {
  } else if (co_await yes()) {  // bad: condition
  }
}
Task<bool> operators(Call& call) {
  const bool a = !co_await yes();  // bad: operator
  const bool b = !(co_await yes());  // bad: operator
  const bool c = ready && co_await yes();  // bad: operator
  const bool d = co_await yes() || ready;  // bad: operator
  const int e = ready ? co_await one() : 2;  // bad: operator
  const int f = co_await yes() ? 1 : 2;  // bad: operator
  const bool g = use(1, ready && (co_await yes()).value);  // bad: operator
  const bool h = ready &&
                 co_await  // bad: operator
                     yes();
  co_return a || co_await yes();  // bad: operator
}
Task<void> macros(Call& call) {
  EXPECT_EQ(co_await one(), 1);  // bad: macro
  ASSERT_TRUE(
      (co_await one()).good());  // bad: macro
}
void coroutine_lambdas() {
  auto f = [&]() -> Task<int> { co_return 1; };  // bad: coroutine_lambda
  auto g = [this, n](int i) -> Task<int> {  // bad: coroutine_lambda
    const int value = co_await one();
    co_return value;
  };
  server.tool("a", [x] { co_return x; });  // bad: coroutine_lambda
}
