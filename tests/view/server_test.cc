// Tests the server from outside, byte by byte: whom it answers, and that garbage does not end it.
#include "tra/view/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/inspect/trained.h"

namespace tra {
namespace {

class Serving : public ::testing::Test {
 protected:
  Serving() : explorer_({testing::TrainFlipFlop(directory_, "tra")}, at::kCPU, {}, nullptr), server_(explorer_, 0) {
    thread_ = std::thread([this] { server_.Serve(); });
  }
  ~Serving() override {
    server_.Stop();
    thread_.join();
  }

  // What a client does when it has sent its bytes.
  enum class Then { kWait, kSayItIsAll, kLeave };

  // Sends bytes and returns all that comes back until the server closes the connection or stays silent.
  std::string Send(const std::string& bytes, Then then = Then::kWait) const {
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_.Port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const timeval patience = {5, 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t now = send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) break;
      sent += static_cast<size_t>(now);
    }
    std::string answer;
    if (then == Then::kSayItIsAll) shutdown(connection, SHUT_WR);
    if (then != Then::kLeave) {
      char buffer[4096];
      for (ssize_t got = 1; got > 0;) {
        got = recv(connection, buffer, sizeof(buffer), 0);
        if (got > 0) answer.append(buffer, static_cast<size_t>(got));
      }
    }
    close(connection);
    return answer;
  }
  std::string Get(const std::string& path, const std::string& host, const std::string& more = "") const {
    return Send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + more + "\r\n");
  }
  std::string Post(const std::string& body, const std::string& more) const {
    return Send("POST /api/pass HTTP/1.1\r\nHost: " + Here() + "\r\nConnection: close\r\n" + more +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  std::string Here() const { return "127.0.0.1:" + std::to_string(server_.Port()); }
  static std::string Status(const std::string& answer) { return answer.substr(0, 12); }

  const TemporaryDirectory directory_;
  Explorer explorer_;
  ViewServer server_;
  std::thread thread_;
};

TEST_F(Serving, ThePageAndItsRequests) {
  const std::string page = Get("/", Here());
  EXPECT_EQ(Status(page), "HTTP/1.1 200");
  EXPECT_NE(page.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("<!doctype html>"), std::string::npos);
  EXPECT_NE(Get("/api/runs", Here()).find("\"threshold\""), std::string::npos);
  EXPECT_NE(Get("/api/runs", "localhost:" + std::to_string(server_.Port())).find("\"threshold\""), std::string::npos);
  EXPECT_NE(Post(R"({"run":0,"tokens":[1,4]})", "Content-Type: application/json\r\n").find("\"predictions\""),
            std::string::npos);
}

TEST_F(Serving, OtherPagesAndPathsAreRefused) {
  EXPECT_EQ(Status(Get("/api/runs", "evil.example")), "HTTP/1.1 403");  // a name that was made to point here
  EXPECT_EQ(Status(Get("/api/runs", "127.0.0.1:1")), "HTTP/1.1 403");
  EXPECT_EQ(Status(Get("/", Here(), "Origin: http://evil.example\r\n")), "HTTP/1.1 403");
  EXPECT_EQ(Status(Get("/api/runs", Here(), "Origin: http://" + Here() + "\r\n")), "HTTP/1.1 200");
  EXPECT_EQ(Status(Post(R"({"run":0,"tokens":[1,4]})", "Content-Type: text/plain\r\n")), "HTTP/1.1 415");
  EXPECT_EQ(Status(Send("PUT /api/runs HTTP/1.1\r\nHost: " + Here() + "\r\nContent-Length: 0\r\n\r\n")),
            "HTTP/1.1 404");
  for (const char* path : {"/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/config.toml", "//etc/passwd"}) {
    EXPECT_NE(Status(Get(path, Here())), "HTTP/1.1 200") << path;
  }
}

TEST_F(Serving, LongRequestsAreRefused) {
  EXPECT_EQ(Status(Post(std::string(3 << 20, ' '), "Content-Type: application/json\r\n")), "HTTP/1.1 413");
}

TEST_F(Serving, BodiesOfUnknownSizeAreRefusedUnread) {
  const std::string start = "POST /api/pass HTTP/1.1\r\nHost: " + Here() + "\r\nContent-Type: application/json\r\n";
  // The answer is lost if the connection is closed before the rest of the body came.
  const auto expect_refused = [&](const std::string& request) {
    const std::string answer = Send(start + request);
    EXPECT_TRUE(answer.empty() || Status(answer) == "HTTP/1.1 415") << answer;
  };
  expect_refused("Transfer-Encoding: chunked\r\n\r\nffffffff\r\n");
  expect_refused("Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n12345");
  EXPECT_EQ(Status(Get("/api/runs", Here())), "HTTP/1.1 200");
}

TEST_F(Serving, WhatFollowsARequestIsNotAnotherRequest) {
  // A page elsewhere can make a browser send such a body, though not these headers.
  const std::string inner = "GET /api/runs HTTP/1.1\r\nHost: " + Here() + "\r\n\r\n";
  const std::string answer = Send("POST /api/pass HTTP/1.1\r\nHost: " + Here() +
                                  "\r\nOrigin: http://evil.example\r\nContent-Type: text/plain\r\nContent-Length: " +
                                  std::to_string(inner.size()) + "\r\n\r\n" + inner);
  EXPECT_EQ(Status(answer), "HTTP/1.1 403");
  EXPECT_EQ(answer.find("threshold"), std::string::npos) << answer;
}

TEST_F(Serving, ListensOnLoopbackOnly) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server_.Port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);  // 127.0.0.2 would answer if all addresses were bound
  EXPECT_NE(connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(connection);
}

TEST_F(Serving, SurvivesGarbage) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    std::string bytes(random() % 3000, '\0');
    for (char& each : bytes) each = static_cast<char>(random());
    if (i % 3 == 0) bytes = "POST /api/row HTTP/1.1\r\nHost: " + Here() + "\r\nContent-Length: 10\r\n\r\n" + bytes;
    if (i % 3 == 1) bytes = "GET / HTTP/1.1\r\n" + bytes;
    Send(bytes, i % 2 == 0 ? Then::kLeave : Then::kSayItIsAll);
  }
  EXPECT_EQ(Status(Get("/api/runs", Here())), "HTTP/1.1 200");
}

TEST_F(Serving, AServerThatIsStoppedFirstDoesNotServe) {
  ViewServer stopped(explorer_, 0);
  stopped.Stop();
  stopped.Serve();  // returns
}

TEST_F(Serving, APortInUseIsAnError) {
  try {
    const ViewServer second(explorer_, server_.Port());
    FAIL() << "two servers share a port";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("choose another with --port"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tra
