#if Postgres
  import DurableJobs
  import Foundation
  import PostgresTestServer
  import Testing

  extension NewJob {
    static func plain(_ kind: String = "work", terms: JobTerms = JobTerms(), after edges: [JobEdge] = []) -> NewJob {
      NewJob(queue: "default", kind: kind, payload: Data("{}".utf8), terms: terms, edges: edges)
    }
  }

  extension ClaimRequest {
    static func of(_ capacity: Int, worker: String = "w", kinds: Set<String> = ["work"]) -> ClaimRequest {
      ClaimRequest(worker: WorkerID(worker), kinds: kinds, free: ["default": capacity])
    }
  }

  extension ClaimedJob {
    func settled(_ result: ClaimSettlement.Result = .succeeded(output: nil)) -> ClaimSettlement {
      ClaimSettlement(token: token, result: result)
    }
  }

  extension WholeStore {
    static func expect(
      of server: TestServer, schema: String, database: String = "postgres",
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      #expect(try faults(of: server, schema: schema, database: database) == [], sourceLocation: sourceLocation)
    }
  }
#endif
