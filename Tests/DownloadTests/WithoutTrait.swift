#if !HTTP
  import Testing

  @Test(.disabled("needs the trait HTTP: swift test --enable-all-traits")) func `Downloads`() {}
#endif
