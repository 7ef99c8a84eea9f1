// A server that takes requests and does their work later: POST a text to /mails and it answers 202 at once, with the place where
// to look. What it has answered so for is done, whatever becomes of the process.
//
//   mail-server FOLDER [PORT]
#if Examples
  import DurableJobs
  import DurableJobsSQLite
  import DurableJobsService
  import Foundation
  import Hummingbird
  import Logging
  import ServiceLifecycle

  struct SendMail: Job {
    static let kind = "send-mail"
    var text: String
    var folder: String

    /// In place of a mail server: a file for each.
    func run(in context: JobContext) async throws {
      try Data(text.utf8).write(to: URL(filePath: folder).appending(path: "\(context.id).sent"), options: .atomic)
    }
  }

  struct Status: ResponseEncodable {
    var id: String
    var state: String
    var error: String?
  }

  let arguments = CommandLine.arguments.dropFirst()
  guard let folder = arguments.first, let port = Int(arguments.dropFirst().first ?? "8080") else {
    print("usage: mail-server FOLDER [PORT]")
    exit(2)
  }
  let metrics = JobMetrics()
  let mails = JobQueue(
    "mails", store: try SQLiteStore(path: "\(folder)/jobs.sqlite"), middleware: [JobTracing(), metrics])
  let worker = JobWorker(mails, maxConcurrentJobs: 8)
  worker.register(SendMail.self)

  let router = Router()
  router.post("mails") { request, context -> Response in
    let text = String(buffer: try await request.body.collect(upTo: 64 * 1024))
    // A request that the client repeats, since it did not hear the answer, leads to the same job.
    let key = request.headers[.init("Idempotency-Key")!].map { UniqueKey($0, scope: .whileStored) }
    let job = try await mails.enqueue(SendMail(text: text, folder: folder), options: JobOptions(unique: key))
    return Response(status: .accepted, headers: [.location: "/jobs/\(job.id)"])
  }
  router.get("jobs/:id") { _, context -> Status in
    guard let id = context.parameters.get("id", as: Int64.self).map(JobID.init),
      let job = try? await mails.job(id)
    else { throw HTTPError(.notFound) }
    return Status(id: "\(id)", state: job.state.rawValue, error: job.failures.last?.message)
  }

  let application = Application(
    router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
    onServerRunning: { channel in
      print("listening on port \(channel.localAddress?.port ?? 0)")
      fflush(nil)
    })
  // The last is ended first: no request is taken any more, and then the worker lets its jobs end.
  let group = ServiceGroup(
    services: [metrics.gauges(of: [mails]), worker.service(), application],
    gracefulShutdownSignals: [.sigterm, .sigint],
    logger: Logger(label: "mail-server"))
  try await group.run()
#else
  print("mail-server is built with the trait Examples")
#endif
