import Testing

#if !Postgres
  @Test(.disabled("the trait Postgres is off")) func postgres() {}
#endif
