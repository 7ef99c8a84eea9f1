#if Shell
  import Console
  import DurableJobs
  import Foundation
  import Testing

  @testable import durable

  @Suite("Texts that are cut")
  struct DistinctTextsTests {
    @Test(
      "keep what tells them from each other",
      arguments: [
        (
          ["ubuntu-24.04.3-live-server-amd64.iso", "ubuntu-24.04.3-desktop-amd64.iso"], 19,
          ["ubun….3-live-s….iso", "ubun….3-deskto….iso"]
        ),
        (
          ["backup-of-the-photos-part-01-of-12.tar", "backup-of-the-photos-part-02-of-12.tar"], 19,
          ["back…t-01-of-1….tar", "back…t-02-of-1….tar"]
        ),
        (["one-long-name-that-is-alone.bin"], 19, ["one-long-nam…ne.bin"]),
        (
          ["a-name-that-ends-so-1.bin", "a-name-that-ends-so-2.bin"], 19,
          ["a-name-that-…-1.bin", "a-name-that-…-2.bin"]
        ),
        (
          ["same-name-that-is-long.bin", "same-name-that-is-long.bin"], 19,
          ["same-name-th…ng.bin", "same-name-th…ng.bin"]
        ),
        (["short", "shorn"], 19, ["short", "shorn"]),
      ])
    func apart(texts: [String], width: Int, shown: [String]) {
      let all = DistinctTexts(texts)
      #expect(texts.map { all.shortened($0, to: width) } == shown)
    }

    @Test("are different wherever they differ, and never too wide", arguments: [14, 15, 19, 27, 40])
    func everywhere(width: Int) {
      for filler in ["x", "漢", "e\u{301}"] {
        for place in 0..<50 {
          let texts = ["1", "2"].map { number in
            String(repeating: filler, count: place) + number + String(repeating: filler, count: 49 - place)
          }
          let all = DistinctTexts(texts)
          let shown = texts.map { all.shortened($0, to: width) }
          #expect(shown[0] != shown[1], "\(place): \(shown)")
          for text in shown { #expect(text.columns <= width, "\(text)") }
        }
      }
    }

    @Test("of many alike are all different")
    func many() {
      let texts = (1...300).map { "a-long-beginning-that-all-have-S\($0 / 20)E\($0 % 20)-and-an-end-that-all-have.mkv" }
      let all = DistinctTexts(texts)
      #expect(Set(texts.map { all.shortened($0, to: 24) }).count == 300)
    }

    @Test("are told apart in the bars of get and in the table of status, on 80 columns")
    func shown() {
      let names = [1, 2].map { "backup-of-all-the-photos-of-2026-part-\($0)-of-2-encrypted-and-compressed.tar.gz" }
      var screen = DownloadScreen()
      for (number, name) in zip(1..., names) {
        screen.add(JobID(rawValue: Int64(number)), name: name, size: nil)
        screen.began(JobID(rawValue: Int64(number)), name: name, at: .zero)
      }
      let bars = screen.lines(at: .seconds(1), width: 80, height: 24)
      #expect(bars[0].contains("rt-1-of") && bars[1].contains("rt-2-of"), "\(bars)")
      let jobs = zip(1..., names).map { number, name in
        JobSnapshot(id: JobID(rawValue: Int64(number)), queue: "q", kind: name, state: .ready, createdAt: Date())
      }
      let table = JobTable(jobs: jobs)
      let lines = table.lines(for: .out, width: 80, JobTable.Columns(jobs, now: table.now))
      #expect(lines[0].contains("part-1") && lines[1].contains("part-2"), "\(lines)")
    }
  }
#endif
