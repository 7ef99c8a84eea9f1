#if HTTP
  /// Why an attempt ended without the file, and with that what comes next.
  enum Setback: Error {
    /// Another attempt would meet the same.
    case final(DownloadError)
    case forNow(DownloadError)
    /// The connection broke, but the file is further than it was: no attempt is used.
    case wentFurther(DownloadError)
    /// Nothing is wrong with the download; something else must happen first.
    case heldUp(by: String, for: Duration)
    /// Others that talk to the same host go first, and there is nothing to tell.
    case hasNoTurn(Duration)
    /// The server at that origin can't serve it now, and may say when to come again.
    case busy(DownloadError, RetryAfter?, by: String)
  }
#endif
