#if Shell
  extension BinaryInteger {
    /// As in "1 job", "3 jobs".
    package var jobs: String { "\(self) job\(self == 1 ? "" : "s")" }
  }
#endif
