#if Shell
  /// A bar of so many columns; empty if it would be too short to tell anything.
  package struct ProgressBar {
    /// From 0 to 1; nil if nobody knows.
    package let fraction: Double?
    package let width: Int

    package init(fraction: Double?, width: Int) {
      self.fraction = fraction
      self.width = width
    }

    package var text: String {
      guard width >= 4 else { return "" }
      guard let fraction else { return String(repeating: "░", count: width) }
      // Full only when it is done.
      let full = fraction >= 1 ? width : min(width - 1, Int(max(0, fraction) * Double(width)))
      return String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
    }
  }

  extension Double {
    /// This fraction in percent; 100 only when it is all.
    package var percent: String { "\(self >= 1 ? 100 : min(99, Int(Swift.max(0, self) * 100))) %" }
  }
#endif
