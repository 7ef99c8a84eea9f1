#if !Postgres
  import Testing

  @Test(.disabled("needs the trait Postgres: swift test --enable-all-traits")) func `PostgreSQL`() {}
#endif
