#include <signet/cli/saved_call.h>

#include <gtest/gtest.h>

#include <filesystem>

namespace signet::cli {
namespace {

class SavedCallTest : public ::testing::Test {
 protected:
  SavedCallTest() {
    std::string name = std::filesystem::temp_directory_path() / "signet-saved-XXXXXX";
    folder = ::mkdtemp(name.data());
    path = folder / "call.json";
    call.target.command = {"tickets", "--ring", "ring.json"};
    call.continuation =
        Continuation::parse(R"({"signetContinuation":1,"method":"tools/call","params":{"name":"t"},)"
                            R"("rounds":1,"inputRequests":null,"requestState":"s"})")
            .value();
  }
  ~SavedCallTest() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  std::string path;
  SavedCall call;
};

TEST_F(SavedCallTest, IsReadBackWithTheNameOfTheServer) {
  call.server_name = "tickets";
  ASSERT_TRUE(save_call(path, call).ok());
  const Result<SavedCall> read = load_call(path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->server_name, "tickets");
  EXPECT_EQ(read->target.command, call.target.command);
  EXPECT_EQ(read->continuation.serialize(), call.continuation.serialize());
}

TEST_F(SavedCallTest, IsReadBackWhereTheServerHasNoName) {
  ASSERT_TRUE(save_call(path, call).ok());
  const Result<SavedCall> read = load_call(path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->server_name, "");
}

}  // namespace
}  // namespace signet::cli
