// A file server that is no bottleneck: a thread a connection, sendfile, keep-alive, and nothing else. It serves the files
// of one folder on 127.0.0.1, prints its port, and ends when its standard input does.
//
//     server FOLDER

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int folder;

static int send_all(int socket, const char *text, size_t length, int flags) {
  while (length > 0) {
    ssize_t count = send(socket, text, length, flags);
    if (count <= 0) return -1;
    text += count;
    length -= count;
  }
  return 0;
}

// Answers one request. Returns -1 to close the connection.
static int answer(int socket, char *request) {
  char name[256];
  if (sscanf(request, "GET /%255[^ ?/]", name) != 1) return -1;
  int file = openat(folder, name, O_RDONLY | O_NOFOLLOW);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) {
    if (file >= 0) close(file);
    const char *none = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    return send_all(socket, none, strlen(none), 0);
  }
  off_t offset = 0;
  long long from = 0;
  char *range = strcasestr(request, "\r\nRange: bytes=");
  if (range && sscanf(range + 15, "%lld-", &from) == 1 && from < status.st_size) offset = from;
  char head[512];
  int length = snprintf(
    head, sizeof head,
    "HTTP/1.1 %s\r\nContent-Length: %lld\r\nContent-Range: bytes %lld-%lld/%lld\r\nETag: \"%lld-%lld\"\r\n"
    "Content-Type: application/octet-stream\r\n\r\n",
    offset > 0 ? "206 Partial Content" : "200 OK", (long long)(status.st_size - offset), (long long)offset,
    (long long)status.st_size - 1, (long long)status.st_size, (long long)status.st_size, (long long)status.st_mtime);
  int result = send_all(socket, head, length, MSG_MORE);
  while (result == 0 && offset < status.st_size) {
    ssize_t count = sendfile(socket, file, &offset, status.st_size - offset);
    if (count <= 0) result = -1;
  }
  close(file);
  return result;
}

static void *serve(void *argument) {
  int socket = (int)(long)argument;
  int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  char buffer[16384];
  size_t filled = 0;
  for (;;) {
    ssize_t count = recv(socket, buffer + filled, sizeof buffer - 1 - filled, 0);
    if (count <= 0) break;
    filled += count;
    buffer[filled] = 0;
    char *end;
    while ((end = strstr(buffer, "\r\n\r\n"))) {
      end[2] = 0;
      if (answer(socket, buffer) != 0) goto done;
      size_t used = end + 4 - buffer;
      memmove(buffer, buffer + used, filled - used + 1);
      filled -= used;
    }
    if (filled == sizeof buffer - 1) break;
  }
done:
  close(socket);
  return NULL;
}

static void *accept_all(void *argument) {
  int listener = (int)(long)argument;
  for (;;) {
    int socket = accept(listener, NULL, NULL);
    if (socket < 0) continue;
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, (void *)(long)socket) != 0) close(socket);
    else pthread_detach(thread);
  }
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 2 || (folder = open(arguments[1], O_RDONLY | O_DIRECTORY)) < 0) {
    fprintf(stderr, "usage: server FOLDER\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 1024) != 0
      || getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
    perror("server");
    return 1;
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, NULL, accept_all, (void *)(long)listener);
  char byte;
  while (read(0, &byte, 1) > 0) {}
  return 0;
}
