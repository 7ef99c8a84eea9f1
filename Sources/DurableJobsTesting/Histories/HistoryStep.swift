import DurableJobs
import Foundation

/// One step of a random history.
enum HistoryStep: Sendable {
  case insert([NewJob], BatchMembership?)
  /// One of them can't be stored, so none is.
  case insertBroken([NewJob])
  case claim(ClaimRequest)
  case settle([ClaimSettlement], ClaimRequest?)
  case renew(RenewalRequest)
  case change(JobChange, JobFilter, limit: Int)
  case recover(RecoveryRequest)
  /// Nobody gives a sign of life for so long, and then somebody looks; and again when the doubt is over, if it lasts.
  case silence(Duration, isLasting: Bool)
  case pause(String, Bool)
  case limit(String, JobLimits?)
  case widen(String, Int)
  case pace(String, JobRate?)
  case constrain(JobConstraint, Bool?)
  case page(JobQuery)
  case advance(Duration)
  case stepClock(Duration)
}
