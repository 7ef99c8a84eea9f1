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

    /// What leads a connection string to it.
    package var way: String { "host=\(folder) port=6432" }

    private static let script = """
      trap '' INT TERM HUP
      folder=$(mktemp -d /tmp/durable-pgb.XXXXXX) || exit 1
      cat >"$folder/ini" <<END
      [databases]
      * = host=$1 user=postgres
      [pgbouncer]
      listen_addr =
      listen_port = 6432
      unix_socket_dir = $folder
      auth_type = any
      pool_mode = transaction
      max_client_conn = 2000
      listen_backlog = 2000
      default_pool_size = 40
      END
      "$2" -q "$folder/ini" >"$folder/log" 2>&1 &
      pid=$!
      while [ ! -S "$folder/.s.PGSQL.6432" ] && kill -0 $pid 2>/dev/null; do sleep 0.05; done
      if kill -0 $pid 2>/dev/null; then echo "ready $folder"; else echo "failed: $(tail -n 3 "$folder/log" | tr '\\n' ' ')"; fi
      read -r end
      kill -KILL $pid 2>/dev/null
      wait $pid 2>/dev/null
      rm -rf "$folder"
      """

    package init(before server: TestServer) throws {
      let places = [
        "/usr/sbin/pgbouncer", "/usr/local/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer", "/usr/bin/pgbouncer",
      ]
      guard let program = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
        throw TestServer.Missing(description: "PgBouncer is missing: run `make setup`")
      }
      let (input, output) = (Pipe(), Pipe())
      let command = ["sh", "-c", Self.script, "sh", server.folder, program]
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

    deinit {
      try? input.close()
      shell.wait()
    }
  }
#endif
