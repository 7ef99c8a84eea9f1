// An app's uploads with the model of their screen, in a module whose default isolation is the main actor, as new Xcode projects
// have it. Here is no view: what it would show is printed.
//
//   photo-app FOLDER PHOTO…   uploads photos, shows them until all are done, and ends
//   photo-app FOLDER          goes on with those that are there
import Foundation
import Observation

let arguments = CommandLine.arguments.dropFirst()
guard let folder = arguments.first else {
  print("usage: photo-app FOLDER [PHOTO …]")
  exit(2)
}
let screen = try PhotoScreen(folder: folder)
if arguments.count > 1 { await screen.upload(Array(arguments.dropFirst())) }
if let trouble = screen.trouble { print(trouble) }
screen.open()
repeat {
  // Waits, as a view does, until something of what it has read has changed.
  await withCheckedContinuation { changed in
    withObservationTracking {
      print(([screen.title] + screen.photos.map { "\($0.name) \($0.words)" }).joined(separator: ", "))
    } onChange: {
      changed.resume()
    }
  }
  await Task.yield()
} while screen.isBusy
print(screen.title)
await screen.close()
