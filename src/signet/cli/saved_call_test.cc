#include <signet/cli/saved_call.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

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
  ASSERT_TRUE(save_call(path, call, Existing::refused).ok());
  const Result<SavedCall> read = load_call(path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->server_name, "tickets");
  EXPECT_EQ(read->target.command, call.target.command);
  EXPECT_EQ(read->continuation.serialize(), call.continuation.serialize());
}

TEST_F(SavedCallTest, IsReadBackWhereTheServerHasNoName) {
  ASSERT_TRUE(save_call(path, call, Existing::refused).ok());
  const Result<SavedCall> read = load_call(path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->server_name, "");
}

TEST_F(SavedCallTest, AFileThatIsThereStaysAsItIsUnlessItMayBeReplaced) {
  std::ofstream(path) << "precious";
  const Result<void> refused = save_call(path, call, Existing::refused);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("--force"), std::string::npos);
  EXPECT_EQ(read_file(path).value(), "precious");
  EXPECT_TRUE(save_call(path, call, Existing::replaced).ok());
  EXPECT_TRUE(load_call(path).ok());
  // And nothing else is left in the folder.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(SavedCallTest, IsForItsOwnerAloneHoweverItIsWritten) {
  for (const Existing existing : {Existing::refused, Existing::replaced}) {
    ASSERT_TRUE(save_call(path, call, existing).ok());
    EXPECT_EQ(std::filesystem::status(path).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    std::filesystem::permissions(path, std::filesystem::perms::all);
  }
}

TEST_F(SavedCallTest, ACommandIsTakenFromAFileThatOthersCannotWriteAlone) {
  ASSERT_TRUE(save_call(path, call, Existing::refused).ok());
  std::filesystem::permissions(path, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_FALSE(load_call(path).ok());
  Target named;
  named.command = {"mine"};
  const Result<SavedCall> at_named = load_call(path, named);
  ASSERT_TRUE(at_named.ok()) << "what it names is not run";
  EXPECT_EQ(at_named->target.command, named.command);
  call.target.command.clear();
  call.target.url = "http://localhost/mcp";
  ASSERT_TRUE(save_call(path, call, Existing::replaced).ok());
  std::filesystem::permissions(path, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_TRUE(load_call(path).ok()) << "an address is run by nobody";
}

TEST_F(SavedCallTest, WhatIsThereIsKnownBeforehand) {
  EXPECT_FALSE(is_there(path));
  EXPECT_FALSE(is_same_file(path, path));
  ASSERT_TRUE(save_call(path, call, Existing::refused).ok());
  EXPECT_TRUE(is_there(path));
  EXPECT_TRUE(is_same_file(path, folder / "." / "call.json"));
  std::filesystem::create_symlink("nowhere", folder / "link");
  EXPECT_TRUE(is_there(folder / "link"));
  EXPECT_FALSE(is_same_file(path, folder / "link"));
}

TEST_F(SavedCallTest, SaysHowTheCallIsMadeAnew) {
  EXPECT_EQ(restart_line(call), "signet call -- tickets --ring ring.json -- t");
  const auto with = [&](const std::string& method, const std::string& params) {
    call.continuation =
        Continuation::parse(R"({"signetContinuation":1,"method":")" + method + R"(","params":)" + params +
                            R"(,"rounds":1,"inputRequests":null,"requestState":"s"})")
            .value();
    return restart_line(call);
  };
  EXPECT_EQ(with("tools/call", R"({"name":"t","arguments":{"n":2}})"),
            R"(signet call -- tickets --ring ring.json -- t --json '{"n":2}')");
  EXPECT_EQ(with("prompts/get", R"({"name":"p","arguments":{"who":"Ada L"}})"),
            "signet prompt -- tickets --ring ring.json -- p 'who=Ada L'");
  EXPECT_EQ(with("resources/read", R"({"uri":"file:///n"})"),
            "signet read -- tickets --ring ring.json -- file:///n");
}

}  // namespace
}  // namespace signet::cli
