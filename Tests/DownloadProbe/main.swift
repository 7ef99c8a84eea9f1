#if HTTP
#endif
