/// A rule got wrong on purpose, to see that random histories find it: an oracle with one of these must differ from every
/// whole store.
package enum WrongRule: String, Sendable, CaseIterable {
  // Ends of attempts
  case retryBeatsCancel, successLosesToCancel, failureLosesToCancel
  case interruptionCounts, snoozeCounts, snoozeOfNoTime, suspensionCounts, lastAttemptIsSpent
  case handlersReasonWins
  // Deaths
  case deathCounts, firstDeathWaits, backOffHasNoCap, anyProgressForgives, onlyRowsOfDeathsEnd
  // Steps
  case stepsAreNoProgress, stepsStay, retryForgetsSteps
  // Deadlines
  case overdueIsClaimed, begunIsOverdue, overdueRetries, retryKeepsDeadline
  // What people do
  case suspensionBeatsCancel, handlersHoldStays, resumeForgetsTime, resetCounts, retryKeepsAttempts, retryKeepsCrashes
  case completionKeepsClaim, priorityStays, startStays, payloadStays
  // Unique keys
  case cancelledKeepsKey, suspendedLosesKey, retryTakesKey, windowEndsWithJob, replaceSparesWaiting, appendsToNobody
  case successorKeepsKey
  // Needs
  case waitingIsReady, anyEndIsSuccess, skipsStop, returnedGoesOn, retryLeavesSkipped, removalFrees, neededIsRemoved
  case neededExpires, skippedKeepsKey, anySkipIsFailure, suspendedIsSkipped, causeStays
  // Keys that are waited for
  case oldestBringsKey, endedBringsNoKey, endedIsBound, circleIsStored, retriedBringsNoKey
  // What follows
  case lostClaimIsFollowed, nothingFollows
  // Batches
  case failureKeepsBatchOpen, retryOpensBatch, removedIsNotCounted, keptJoinsBatch, emptyBatchStays
  case openBatchIsDone
  // Lanes
  case laneIgnored, laneIsAStack, failedHeadLetsGo, failedHeadKeepsItsCatchOut
  // Claims
  case priorityIgnored, newestFirst, pausedIsClaimed, dueWaitsForRecovery
  // Limits
  case limitIsOneMore, restIsSaved, retriesAreFree
  case laneRateIgnored, laneRetriesAreFree, laneCountsEnds
  // Conditions
  case absentIsClaimed, absentIsActive, workersWordGoesFirst, wakeEndsAnyWait
  // Time
  case dateMoves, waitKeepsDate, waitStartsAnew, failedExpireEarly, cancelledNeverExpire
  case kindIsKeptAsAny
  // Workers
  case doubtIsLoss, renewalEndsNoDoubt, lostClaimHolds, retirementIsDeath, unlistedStays, repetitionIsRefused
  // Idleness
  case pausedIsActive, firstStartReturns, pacedIsIdle, silentWorkerServes
}
