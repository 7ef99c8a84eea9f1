#if HTTP
  import Testing

  @testable import DurableJobsHTTP

  /// How much may come before it is flushed.
  @Suite struct MeterTests {
    @Test func `No more than 32 MB come before some of them are flushed, and what is flushed makes room`() {
      let meter = Meter()
      meter.begin(.receiving(from: "a host", of: nil), length: 10, at: .zero)
      let most = 10 + Int64(32 << 20)
      #expect(!meter.wrote(length: most))
      #expect(meter.wrote(length: most + 1))
      #expect(meter.isFull)
      meter.whileReceiving { length, _, isFlushed in #expect(length == most + 1 && !isFlushed) }
      #expect(!meter.isFull)
      #expect(!meter.wrote(length: most + Int64(32 << 20)))
    }

    @Test func `A flush that fails makes no room`() {
      let meter = Meter()
      meter.begin(.receiving(from: "a host", of: nil), length: 0, at: .zero)
      #expect(meter.wrote(length: 33 << 20))
      #expect(throws: DownloadError.self) {
        try meter.whileReceiving { _, _, _ in throw DownloadError(.noRoom, "full") }
      }
      #expect(meter.isFull)
    }
  }
#endif
