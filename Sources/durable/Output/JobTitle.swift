#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess

  extension JobSnapshot {
    /// What it does, in a line: a command as one could type it, a download's URL, a request, or the kind. Without passwords.
    var title: String {
      ShellCommand(self)?.withoutSecrets.typed ?? Download(self)?.title ?? SendRequest(self)?.title ?? kind
    }
  }
#endif
