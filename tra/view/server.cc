#include "tra/view/server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>

namespace tra {

extern const char kViewPage[];
extern const size_t kViewPageSize;

namespace {

constexpr char kAddress[] = "127.0.0.1";
constexpr size_t kLongestRequest = size_t{1} << 20;
constexpr time_t kPatience = 10;      // seconds that a request may pause
constexpr time_t kFirstPatience = 2;  // seconds that a connection may wait before its request; browsers open some early
constexpr size_t kConnections = 24;   // that are served at a time; the others wait

// Allows the page its own script and style, and requests to this server; nothing else.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Lets the port fail if another program has it. The library's own choice, SO_REUSEPORT, would share it.
void SetSocketOptions(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
}

}  // namespace

struct ViewServer::Implementation {
  // Says whether a request comes from our page. Another page in the same browser can reach this address too, under a
  // name of its own (hence Host) or by sending a form (hence Origin and the type of the body).
  bool FromOurPage(const httplib::Request& request) const {
    const std::string at = ":" + std::to_string(port);
    const std::string host = request.get_header_value("Host");
    if (host != kAddress + at && host != "localhost" + at) return false;
    return !request.has_header("Origin") || request.get_header_value("Origin") == "http://" + host;
  }

  using Next = httplib::Server::HandlerResponse;

  // Refuses a request before its body is read if the body's size would not be bounded: by what it is unpacked to, or by
  // coming in chunks or parts. The connection then closes with the body unread, and may lose the answer.
  static Next CheckHead(const httplib::Request& request, httplib::Response& response) {
    const std::string type = request.get_header_value("Content-Type");
    const bool bounded = !request.has_header("Transfer-Encoding") && !request.has_header("Content-Encoding") &&
                         type.rfind("multipart", 0) != 0;
    if (bounded) return Next::Unhandled;
    Refuse(response, 415, "requests have a Content-Length, and are neither compressed nor in parts");
    return Next::Handled;
  }

  void Handle(const httplib::Request& request, httplib::Response& response) const {
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Cache-Control", "no-store");
    response.set_header("Cross-Origin-Resource-Policy", "same-origin");
    response.set_header("Referrer-Policy", "no-referrer");
    if (!FromOurPage(request)) {
      Refuse(response, 403,
             "only the explorer's own page may ask, at http://127.0.0.1:" + std::to_string(port) +
                 "/; a tunnel must have this port at both ends");
      return;
    }
    if (request.method == "GET" && request.path == "/") {
      response.set_header("Content-Security-Policy", kPolicy);
      response.set_content(kViewPage, kViewPageSize, "text/html; charset=utf-8");
      return;
    }
    if (request.method == "POST" && request.get_header_value("Content-Type").rfind("application/json", 0) != 0) {
      Refuse(response, 415, "requests are application/json");
      return;
    }
    Send(response, explorer.Answer(request.method, request.path, request.body));
  }

  static void Refuse(httplib::Response& response, int status, const std::string& why) {
    Send(response, {status, "application/json", R"({"error":")" + why + R"("})"});
  }

  static void Send(httplib::Response& response, const ViewAnswer& answer) {
    response.status = answer.status;
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    response.set_content(answer.body, answer.type);
  }

  Explorer& explorer;
  httplib::Server server = {};
  int port = 0;
  std::atomic<bool> serving{false}, stopped{false};
};

ViewServer::ViewServer(Explorer& explorer, int port) : implementation_(new Implementation{explorer}) {
  httplib::Server& server = implementation_->server;
  server.set_socket_options(SetSocketOptions);
  server.set_payload_max_length(kLongestRequest);
  server.set_read_timeout(kPatience);
  server.set_write_timeout(kPatience);
  server.set_keep_alive_timeout(kFirstPatience);
  // One request a connection: what is left of a request that was refused can then not pass for another one.
  server.set_keep_alive_max_count(1);
  server.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };
  server.set_pre_routing_handler(Implementation::CheckHead);
  const auto handle = [this](const httplib::Request& request, httplib::Response& response) {
    implementation_->Handle(request, response);
  };
  server.Get(".*", handle);
  server.Post(".*", handle);
  if (port == 0) {
    port = server.bind_to_any_port(kAddress);
    if (port < 0) throw std::runtime_error("no port of 127.0.0.1 is free");
  } else if (!server.bind_to_port(kAddress, port)) {
    throw std::runtime_error("port " + std::to_string(port) +
                             " of 127.0.0.1 cannot be used; another program may have it: "
                             "choose another with --port, or 0 for any that is free");
  }
  implementation_->port = port;
}

ViewServer::~ViewServer() = default;

int ViewServer::Port() const { return implementation_->port; }

void ViewServer::Serve() {
  implementation_->serving = true;
  if (!implementation_->stopped) implementation_->server.listen_after_bind();
  implementation_->serving = false;
}

// The library's stop has no effect before it listens, so a server that is about to is waited for.
void ViewServer::Stop() {
  implementation_->stopped = true;
  while (implementation_->serving && !implementation_->server.is_running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  implementation_->server.stop();
}

}  // namespace tra
