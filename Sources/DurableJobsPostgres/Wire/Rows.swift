#if Postgres
  import CPostgres
  import DurableJobs
  import Foundation

  /// The result of a statement, in PostgreSQL's binary format.
  struct Rows {
    let result: OpaquePointer
    /// The number of changed rows, if none were returned.
    var changes: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }
    var count: Int { Int(PQntuples(result)) }

    func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(result, Int32(row), Int32(column)) == 1 }

    /// A value of any of its integer types; 0 for NULL.
    func int(_ row: Int, _ column: Int) -> Int64 {
      let bytes = bytes(row, column)
      guard let first = bytes.first else { return 0 }
      return bytes.reduce(first >= 0x80 ? -1 : 0) { $0 << 8 | Int64($1) }
    }

    func count(_ row: Int, _ column: Int) -> Int { Int(max(int(row, column), 0)) }
    func intOrNull(_ row: Int, _ column: Int) -> Int64? { isNull(row, column) ? nil : int(row, column) }
    func bool(_ row: Int, _ column: Int) -> Bool { int(row, column) != 0 }
    func double(_ row: Int, _ column: Int) -> Double { Double(bitPattern: UInt64(bitPattern: int(row, column))) }
    func id(_ row: Int, _ column: Int) -> JobID { JobID(rawValue: int(row, column)) }

    func text(_ row: Int, _ column: Int) -> String? {
      isNull(row, column) ? nil : String(decoding: bytes(row, column), as: UTF8.self).unescaped
    }

    /// All values, if they were requested as text.
    var texts: [[String?]] {
      let columns = Int(PQnfields(result))
      return (0..<count).map { row in
        (0..<columns).map { column in
          isNull(row, column) ? nil : String(decoding: bytes(row, column), as: UTF8.self)
        }
      }
    }

    func data(_ row: Int, _ column: Int) -> Data? { isNull(row, column) ? nil : Data(bytes(row, column)) }

    /// Valid as long as the result is.
    private func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
      let (row, column) = (Int32(row), Int32(column))
      return UnsafeRawBufferPointer(
        start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    }
  }
#endif
