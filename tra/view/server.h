// Serves the explorer's page and answers its requests, to this machine only.
#ifndef TRA_VIEW_SERVER_H_
#define TRA_VIEW_SERVER_H_

#include <memory>
#include <string>

#include "tra/view/explorer.h"

namespace tra {

class ViewServer {
 public:
  // Binds a port of 127.0.0.1; 0: any that is free. Throws std::runtime_error if the port is in use.
  ViewServer(Explorer& explorer, int port);
  ~ViewServer();
  ViewServer(const ViewServer&) = delete;
  ViewServer& operator=(const ViewServer&) = delete;

  int Port() const;
  void Serve();  // returns after Stop
  void Stop();   // may be called from another thread, also before Serve

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace tra

#endif  // TRA_VIEW_SERVER_H_
