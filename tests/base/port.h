// Finds ports for tests of processes that talk to each other.
#ifndef TESTS_BASE_PORT_H_
#define TESTS_BASE_PORT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace tra {

// Listens on a free TCP port of 127.0.0.1: takes connections and never answers.
class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_, any, size) != 0 || listen(socket_, 8) != 0 || getsockname(socket_, any, &size) != 0) {
      throw std::runtime_error("no free port");
    }
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::string Port() const { return std::to_string(port_); }

 private:
  int socket_;
  int port_ = 0;
};

inline std::string FreePort() { return Listener().Port(); }

}  // namespace tra

#endif  // TESTS_BASE_PORT_H_
