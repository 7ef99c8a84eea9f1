#if Postgres
  import Foundation
  import TestProcesses

  /// A PgBouncer in transaction mode before the tests' server. A shell ends it and deletes its folder when the test process ends,
  /// however that ends.
  package final class TestPooler: Sendable {
    package static let shared = Result { try TestPooler(before: TestServer.shared.get()) }

    private let shell: ChildProcess
    private let input: FileHandle
    private let folder: String

    private let port: Int?

    /// What leads a connection string to it.
    package var way: String { port.map { "host=127.0.0.1 port=\($0) sslmode=require" } ?? "host=\(folder) port=6432" }

    private static let script = """
      trap '' INT TERM HUP
      folder=$(mktemp -d /tmp/durable-pgb.XXXXXX) || exit 1
      cat >"$folder/ini" <<END
      [databases]
      * = host=$1 user=postgres
      [pgbouncer]
      listen_addr = $3
      listen_port = ${4:-6432}
      unix_socket_dir = $folder
      auth_type = any
      pool_mode = transaction
      max_client_conn = 2000
      listen_backlog = 2000
      default_pool_size = 40
      END
      if [ -n "$4" ]; then cat >>"$folder/ini" <<END
      pkt_buf = 16384
      client_tls_sslmode = require
      client_tls_cert_file = $5
      client_tls_key_file = $6
      END
      fi
      "$2" -q "$folder/ini" >"$folder/log" 2>&1 &
      pid=$!
      while [ ! -S "$folder/.s.PGSQL.${4:-6432}" ] && kill -0 $pid 2>/dev/null; do sleep 0.05; done
      if kill -0 $pid 2>/dev/null; then echo "ready $folder"; else echo "failed: $(tail -n 3 "$folder/log" | tr '\\n' ' ')"; fi
      read -r end
      kill -KILL $pid 2>/dev/null
      wait $pid 2>/dev/null
      rm -rf "$folder"
      """

    /// With a certificate and its key, it answers over TLS, in records of 16 kB.
    package init(before server: TestServer, encryptedWith files: (certificate: String, key: String)? = nil) throws {
      let places = [
        "/usr/sbin/pgbouncer", "/usr/local/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer", "/usr/bin/pgbouncer",
      ]
      guard let program = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
        throw TestServer.Missing(description: "PgBouncer is missing: run `make setup`")
      }
      let (input, output) = (Pipe(), Pipe())
      let port = files == nil ? nil : try Self.freePort()
      self.port = port
      let encrypted = files.map { ["127.0.0.1", "\(port ?? 0)", $0.certificate, $0.key] } ?? []
      let command = ["sh", "-c", Self.script, "sh", server.folder, program] + encrypted
      let asOther = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
      shell = try ChildProcess(
        "/usr/bin/env", geteuid() == 0 ? asOther + command : command,
        input: input.fileHandleForReading.fileDescriptor, output: output.fileHandleForWriting.fileDescriptor)
      try input.fileHandleForReading.close()
      try output.fileHandleForWriting.close()
      self.input = input.fileHandleForWriting
      var line: [UInt8] = []
      while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 10 { line.append(byte) }
      let text = String(decoding: line, as: UTF8.self)
      guard text.hasPrefix("ready ") else { throw TestServer.Missing(description: "PgBouncer did not begin: \(text)") }
      folder = String(text.dropFirst(6))
    }

    /// One that the system had free just now.
    private static func freePort() throws -> Int {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
      }
      guard isBound else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
      return Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
      try? input.close()
      shell.wait()
    }
  }
#endif
