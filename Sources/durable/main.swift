#if Shell
  import ArgumentParser
  import Subprocess
#endif
print("x")
