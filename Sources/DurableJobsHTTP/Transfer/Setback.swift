#if HTTP
  /// Why an attempt ended without the file, which decides what comes next.
  enum Setback: Error {
    /// Another attempt would fail alike.
    case final(DownloadError)
    case forNow(DownloadError)
    /// The connection broke, but the file has grown: no attempt is used.
    case wentFurther(DownloadError)
    /// Nothing is wrong with the download; something else must happen first.
    case heldUp(by: String, for: Duration)
    /// Others that talk to the same host go first, and there is nothing to report.
    case hasNoTurn(Duration)
    /// The server at that origin can't serve it now, and may say when to come again.
    case busy(DownloadError, RetryAfter?, by: String)
  }
#endif
